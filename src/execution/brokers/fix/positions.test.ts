import { describe, expect, test } from 'vitest'
import { fixMessage } from '../../../../test/support/fix-message.ts'
import { positionsOf, positionsProgress, unreadable, workingProgress } from './positions.ts'

const position = (rest: string) => fixMessage(`35=AP|710=P1|1=ACC|55=AAPL|${rest}`)

describe('positions', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['long', ['703=TQ|704=10'], { AAPL: '10' }],
    ['short', ['703=TQ|705=10'], { AAPL: '-10' }],
    ['both sides', ['703=TQ|704=10|705=4'], { AAPL: '6' }],
    ['flat', ['703=TQ|704=0'], {}],
    ['told in two parts', ['703=TQ|704=10', '703=TQ|704=5'], { AAPL: '15' }],
    ['a quantity that is none', ['703=TQ|704=NaN'], { AAPL: unreadable }],
    ['no quantity', ['703=TQ'], { AAPL: unreadable }],
    ['several kinds of quantity', ['703=TQ|704=1|703=SOD|704=2'], { AAPL: unreadable }],
    ['a part that cannot be read', ['703=TQ|704=10', '703=TQ|704=x'], { AAPL: unreadable }],
  ])('%s', (_, rests, expected) => {
    expect(
      Object.fromEntries(
        positionsOf(
          'ACC',
          rests.map((rest) => position(rest)),
        ),
      ),
    ).toEqual(expected)
  })

  test('of another account, or of nothing, cannot be read', () => {
    expect([...positionsOf('ACC', [fixMessage('35=AP|1=OTHER|55=AAPL|703=TQ|704=1')]).values()]).toEqual([
      unreadable,
    ])
    expect([...positionsOf('ACC', [fixMessage('35=AP|1=ACC|703=TQ|704=1')]).values()]).toEqual([unreadable])
  })

  test.each<[string, string[], string]>([
    ['nothing yet', [], 'waiting'],
    ['acknowledged, two to come', ['35=AO|728=0|727=2'], 'waiting'],
    ['one of two', ['35=AO|728=0|727=2', '35=AP|727=2'], 'waiting'],
    ['two of two', ['35=AO|728=0|727=2', '35=AP|727=2', '35=AP|727=2'], 'complete'],
    ['none found', ['35=AO|728=2'], 'complete'],
    ['valid, and none', ['35=AO|728=0|727=0'], 'complete'],
    ['invalid', ['35=AO|728=1'], 'refused'],
    ['not supported', ['35=AO|728=4'], 'refused'],
    ['acknowledged without a result', ['35=AO|727=0'], 'refused'],
    ['no total at all', ['35=AO|728=0', '35=AP'], 'waiting'],
  ])('the answer is complete: %s', (_, heard, expected) => {
    expect(positionsProgress(heard.map(fixMessage))).toBe(expected)
  })

  test.each<[string, string[], string]>([
    ['nothing yet', [], 'waiting'],
    ['one of two', ['39=0|911=2|912=N'], 'waiting'],
    ['the last', ['39=0|911=2|912=N', '39=0|911=2|912=Y'], 'complete'],
    ['as many as there are', ['39=0|911=1'], 'complete'],
    ['none', ['39=8|103=5'], 'complete'],
  ])('the list of working orders is complete: %s', (_, heard, expected) => {
    expect(workingProgress(heard.map(fixMessage))).toBe(expected)
  })
})
