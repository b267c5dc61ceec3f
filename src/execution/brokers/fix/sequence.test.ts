import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type Numbered, placeOf } from './sequence.ts'

const plain: Numbered = {
  type: '8',
  seqNum: 5,
  isPossDup: false,
  isGapFill: false,
  newSeqNo: null,
  isReset: false,
}

describe('the order of what arrives', () => {
  test.each<[string, Partial<Numbered>, ReturnType<typeof placeOf>]>([
    ['the next one', {}, { place: 'take', next: 6 }],
    ['the next one, sent again', { isPossDup: true }, { place: 'take', next: 6 }],
    ['one too far', { seqNum: 7 }, { place: 'gap', isHeeded: false }],
    ['one too far, sent again', { seqNum: 7, isPossDup: true }, { place: 'gap', isHeeded: false }],
    ['a known one, sent again', { seqNum: 4, isPossDup: true }, { place: 'ignore' }],
    ['a known number as a new message', { seqNum: 4 }, { place: 'broken' }],
    ['a Logon before the gap is closed', { type: 'A', seqNum: 9 }, { place: 'gap', isHeeded: true }],
    ['a Logout before the gap is closed', { type: '5', seqNum: 9 }, { place: 'gap', isHeeded: true }],
    ['a ResendRequest before the gap is closed', { type: '2', seqNum: 9 }, { place: 'gap', isHeeded: true }],
    ['a Heartbeat before the gap is closed', { type: '0', seqNum: 9 }, { place: 'gap', isHeeded: false }],
    ['a Logon that begins anew', { type: 'A', seqNum: 1, isReset: true }, { place: 'restart', next: 2 }],
    ['a Logon with a number of the past', { type: 'A', seqNum: 1 }, { place: 'broken' }],
    ['a gap fill', { type: '4', isGapFill: true, newSeqNo: 9 }, { place: 'take', next: 9 }],
    ['a gap fill to itself', { type: '4', isGapFill: true, newSeqNo: 5 }, { place: 'broken' }],
    ['a gap fill backwards', { type: '4', isGapFill: true, newSeqNo: 2 }, { place: 'broken' }],
    ['a gap fill to nowhere', { type: '4', isGapFill: true }, { place: 'broken' }],
    [
      'a gap fill of the past, sent again',
      { type: '4', isGapFill: true, newSeqNo: 9, seqNum: 2, isPossDup: true },
      { place: 'ignore' },
    ],
    [
      'a gap fill too far',
      { type: '4', isGapFill: true, newSeqNo: 9, seqNum: 6 },
      { place: 'gap', isHeeded: false },
    ],
    [
      'a reset forwards, whatever its own number',
      { type: '4', seqNum: 1, newSeqNo: 9 },
      { place: 'lost', next: 9 },
    ],
    ['a reset to the next number', { type: '4', seqNum: 1, newSeqNo: 5 }, { place: 'ignore' }],
    ['a reset backwards', { type: '4', seqNum: 1, newSeqNo: 4 }, { place: 'broken' }],
    ['a reset to nowhere', { type: '4' }, { place: 'broken' }],
  ])('%s', (_, change, expected) => {
    expect(placeOf(5, { ...plain, ...change })).toEqual(expected)
  })

  test('whatever is lost, doubled or late, every number is taken once and in order', () => {
    const arrivals = fc.array(fc.integer({ min: 1, max: 12 }), { maxLength: 60 })
    fc.assert(
      fc.property(arrivals, (numbers) => {
        let expected = 1
        const taken: number[] = []
        for (const seqNum of numbers) {
          const placed = placeOf(expected, { ...plain, seqNum, isPossDup: true })
          if (placed.place !== 'take') continue
          taken.push(seqNum)
          expected = placed.next
        }
        expect(taken).toEqual(taken.map((_, index) => index + 1))
      }),
    )
  })
})
