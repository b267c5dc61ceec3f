import { describe, expect, test, vi } from 'vitest'
import { fixMessage } from '../../../../test/support/fix-message.ts'
import { Conversation } from './conversation.ts'

/** A conversation that expects a number, and what it did. */
function talk(next = 20, expected = 5) {
  const sent: unknown[] = []
  const taken: number[] = []
  const alarms: string[] = []
  const conversation = new Conversation(
    {
      transmit: (type, { StandardHeader, ...fields }) =>
        sent.push([type, fields, (StandardHeader as { MsgSeqNum: number } | undefined)?.MsgSeqNum]),
      nextOutbound: () => next,
      hangUp: (reason) => sent.push(['hang up', reason]),
    },
    {
      take: ({ seqNum }) => taken.push(seqNum),
      moved: () => taken.push(Number.NaN),
      loggedOn: () => undefined,
      alarm: (kind) => alarms.push(kind),
    },
    { sender: 'US', target: 'THEM' },
    expected,
  )
  const hear = (text: string): boolean => conversation.arrived(fixMessage(`49=THEM|56=US|${text}`))
  return { conversation, sent, taken, alarms, hear }
}

describe('a conversation', () => {
  test('hands on reports and refusals, leaves the session’s messages to the engine', () => {
    const { hear, taken, conversation } = talk()
    expect(hear('35=A|34=5')).toBe(true)
    conversation.loggedOn()
    expect([hear('35=8|34=6'), hear('35=0|34=7'), hear('35=3|34=8'), hear('35=j|34=9')]).toEqual([
      ...[false, true, false, false],
    ])
    expect(taken).toEqual([6, 8, 9])
    expect([conversation.expected, conversation.isReady]).toEqual([10, true])
  })

  test('a gap is asked for once, and nothing after it is taken before it is closed', () => {
    const { hear, sent, taken, conversation } = talk()
    expect(hear('35=A|34=9')).toBe(true)
    conversation.loggedOn()
    expect(conversation.isReady).toBe(false)
    hear('35=8|34=10')
    expect(sent).toEqual([['2', { BeginSeqNo: 5, EndSeqNo: 0 }, undefined]])
    hear('35=8|34=5|43=Y')
    hear('35=4|34=6|43=Y|123=Y|36=10')
    expect(conversation.isReady).toBe(false)
    hear('35=8|34=10|43=Y')
    expect(taken).toEqual([5, 10])
    expect([conversation.expected, conversation.isReady]).toEqual([11, true])
    expect(sent).toHaveLength(1)
  })

  test('what does not come is asked for three times, ten seconds apart, and then the connection ends', () => {
    const time = vi.spyOn(performance, 'now')
    const { hear, sent, alarms } = talk()
    const asks = [0, 9_999, 10_000, 20_000, 30_000].map((at, place) => {
      time.mockReturnValue(at)
      hear(`35=0|34=${9 + place}`)
      return sent.length
    })
    time.mockRestore()
    expect(asks).toEqual([1, 1, 2, 3, 4])
    expect(sent.at(-1)).toEqual(['hang up', 'messages from 5 on were asked for 3 times'])
    expect(alarms).toEqual(['FixMessagesMissing'])
  })

  test('a connection that has ended is not ready, whatever it had heard', () => {
    const { conversation } = talk()
    conversation.loggedOn()
    expect(conversation.isReady).toBe(true)
    conversation.ended()
    expect(conversation.isReady).toBe(false)
  })

  test('a known number is passed over as a duplicate and ends the session as news', () => {
    const { hear, sent, taken, alarms } = talk()
    hear('35=8|34=4|43=Y')
    expect([taken, alarms, sent]).toEqual([[], [], []])
    hear('35=8|34=4')
    expect(alarms).toEqual(['FixSequenceBroken'])
    expect(sent).toEqual([['hang up', 'number 4 was taken before, 5 is expected']])
  })

  test('who is somebody else is not listened to', () => {
    const { conversation, taken, alarms } = talk()
    expect(conversation.arrived(fixMessage('35=8|34=5|49=OTHER|56=US'))).toBe(false)
    expect(conversation.arrived(fixMessage('35=8|34=5|49=THEM|56=OTHER'))).toBe(false)
    expect([taken, alarms]).toEqual([[], ['FixSequenceBroken', 'FixSequenceBroken']])
  })

  test('a counterparty that begins anew, or gives numbers up, is followed with an alarm', () => {
    const { hear, alarms, taken, conversation } = talk()
    expect(hear('35=A|34=1|141=Y')).toBe(true)
    expect(conversation.expected).toBe(2)
    hear('35=4|34=2|36=40')
    expect(conversation.expected).toBe(40)
    expect(alarms).toEqual(['FixSessionRestarted', 'FixMessagesLost'])
    expect(taken).toEqual([Number.NaN, Number.NaN])
  })

  test('a counterparty that begins anew owes nothing of what was missing before', () => {
    const { hear, sent, conversation } = talk()
    conversation.loggedOn()
    hear('35=8|34=50')
    hear('35=A|34=1|141=Y')
    hear('35=0|34=2')
    expect([conversation.expected, conversation.isReady, sent.length]).toEqual([3, true, 1])
  })

  test('the first session of all begins without an alarm', () => {
    const { hear, alarms } = talk(1, 1)
    hear('35=A|34=1|141=Y')
    expect(alarms).toEqual([])
  })

  test.each([
    ['in its place', 5],
    ['with messages missing before it', 9],
  ])('the words of a Logout are told: %s', (_, seqNum) => {
    const { hear, alarms } = talk()
    expect(hear(`35=5|34=${seqNum}|58=wrong password`)).toBe(true)
    expect(alarms).toEqual(['FixLoggedOut'])
  })

  test.each([
    ['to the end', 3, 0, ['4', { GapFillFlag: true, NewSeqNo: 20 }, 3]],
    ['to a number', 3, 7, ['4', { GapFillFlag: true, NewSeqNo: 8 }, 3]],
    ['beyond what was sent', 3, 99, ['4', { GapFillFlag: true, NewSeqNo: 20 }, 3]],
    ['of what was not sent', 20, 0, undefined],
    ['of nothing', 0, 0, undefined],
    ['backwards', 9, 7, undefined],
  ])('a ResendRequest %s is answered by one gap fill', (_, begin, end, expected) => {
    const { conversation, sent } = talk()
    conversation.resend(begin, end)
    expect(sent).toEqual(expected ? [expected] : [])
  })
})
