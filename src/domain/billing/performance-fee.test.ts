import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { type FeeSettlement, settleChain, settleFee, shortfallOf } from './performance-fee.ts'

/** The fees of settlements one after the other, at these gains and percentages. */
function feesOf(steps: readonly (readonly [gain: number, percent: number])[], equity = 10_000): number[] {
  let last: FeeSettlement | null = null
  return steps.map(([gain, percent]) => {
    last = settleFee(last, { startedEquity: dec(equity), gain: dec(gain) }, dec(percent).div(100))
    return last.fee.toNumber()
  })
}

describe('the fee of each settlement', () => {
  test.each([
    ['of a gain', [[1000, 20]], [200]],
    ['of nothing', [[0, 20]], [0]],
    ['of a loss', [[-500, 20]], [0]],
    [
      'of the gain above the last one',
      [
        [1000, 20],
        [1200, 20],
      ],
      [200, 40],
    ],
    [
      'not twice of the same gain',
      [
        [1000, 20],
        [400, 20],
        [1000, 20],
      ],
      [200, 0, 0],
    ],
    [
      'of what exceeds an earlier height alone',
      [
        [1000, 10],
        [-400, 10],
        [1500, 10],
      ],
      [100, 0, 50],
    ],
    [
      'at the rate of each settlement',
      [
        [1000, 10],
        [2000, 30],
      ],
      [100, 300],
    ],
    [
      'nothing later of what passed free',
      [
        [1000, 0],
        [1000, 20],
        [1500, 20],
      ],
      [0, 0, 100],
    ],
    ['in whole cents', [[0.37, 20]], [0.07]],
  ] as const)('%s', (_, steps, fees) => {
    expect(feesOf(steps)).toEqual(fees)
  })

  test('is the same whatever the account was worth', () => {
    const steps = [
      [1000, 20],
      [700, 20],
      [1900, 20],
    ] as const
    expect(feesOf(steps, 0)).toEqual(feesOf(steps))
    expect(feesOf(steps, 2_000_000)).toEqual(feesOf(steps))
  })
})

test('however it went, all fees together are the share of the highest gain that was settled', () => {
  const gains = fc.array(fc.integer({ min: -100_000, max: 100_000 }), { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(gains, fc.integer({ min: 0, max: 100 }), (given, percent) => {
      const rate = dec(percent).div(100)
      const start = { startedEquity: dec(50_000) }
      const last = given.reduce<FeeSettlement | null>(
        (before, gain) => settleFee(before, { ...start, gain: dec(gain) }, rate),
        null,
      )
      const highest = dec(Math.max(0, ...given))
      expect(last?.fees.toNumber()).toBe(highest.times(rate).toNumber())
      const again = settleFee(last, { ...start, gain: dec(given.at(-1) ?? 0) }, rate)
      expect(again.fee.toNumber()).toBe(0)
    }),
  )
})

test.each([
  [-1000, 1000, 0],
  [-1000, 1600, 120],
  [500, 1000, 200],
])(
  'of a setup that lost or gained %d before a stop, a gain of %d after it costs %d',
  (first, second, fee) => {
    const rate = dec('0.2')
    const stopped = settleFee(null, { startedEquity: dec(10_000), gain: dec(first) }, rate)
    const shortfall = shortfallOf(stopped.holding)
    const anew = settleFee(null, { startedEquity: dec(70_000), gain: dec(second), shortfall }, rate)
    expect(anew.fee.toNumber()).toBe(fee)
  },
)

type Step =
  | readonly ['begin' | 'stop' | 'settle']
  /** Of the setup that began last. */
  | readonly ['gain', by: number]
  /** Of the one that began at this place, which has stopped. */
  | readonly ['correct', by: number, place: number]

interface Followed {
  gain: number
  before: (FeeSettlement & { settledAt: number }) | null
  isLive: boolean
  isDue: boolean
}

/** The fees of settlements one after the other of one account and strategy, and the highest gain of any of them. */
function follow(steps: readonly Step[], percent: number) {
  const setups: Followed[] = []
  let settledAt = 0
  let highest = 0
  const settle = (): number => {
    settledAt += 1
    const chain = setups.map((of) => ({
      of,
      before: of.before,
      isDue: of.isDue,
      isClosed: !of.isLive,
      gain: dec(of.gain),
      startedEquity: dec(700 * setups.indexOf(of)),
    }))
    const isAnyDue = chain.some(({ isDue }) => isDue)
    const settled = settleChain(chain, dec(percent).div(100))
    // What was taken back of one that has stopped counts with the first that is due: where none is, not yet.
    const counted = setups.reduce((sum, { gain }) => sum + gain, 0)
    if (isAnyDue) highest = Math.max(highest, counted)
    for (const { setup, settlement } of settled) setup.of.before = { ...settlement, settledAt }
    for (const setup of setups) setup.isDue = setup.isLive
    return settled.reduce((sum, { settlement }) => sum.plus(settlement.fee), dec(0)).toNumber()
  }
  const fees = steps.flatMap(([act, by = 0, place = -1]) => {
    const [setup, stopped] = [setups.at(-1), setups[place]]
    if (act === 'settle') return [settle()]
    if (act === 'begin' && !setup?.isLive) setups.push({ gain: 0, before: null, isLive: true, isDue: true })
    if (act === 'stop' && setup) setup.isLive = false
    if (act === 'gain' && setup?.isLive) setup.gain += by
    if (act === 'correct' && stopped && !stopped.isLive) stopped.gain += by
    return []
  })
  return { fees, highest }
}

const stopped = [['begin'], ['gain', 2000], ['stop'], ['settle']] as const
const takenBack = ['correct', -3000, 0] as const

describe('a gain and a loss of one term with a stop between them', () => {
  test.each<[number, number, number[]]>([
    [2000, -2000, [0, 200]],
    [2000, -500, [300, 200]],
    [-2000, 2500, [100, 200]],
  ])('%d before it and %d after it', (first, second, fees) => {
    const steps: Step[] = [['begin'], ['gain', first], ['stop'], ['begin'], ['gain', second], ['settle']]
    expect(follow([...steps, ['gain', 1000], ['settle']], 20).fees).toEqual(fees)
  })
})

describe('what is taken back of a setup that was stopped and settled', () => {
  test.each<[string, Step[], number[]]>([
    [
      'is a loss of the next one',
      [...stopped, takenBack, ['begin'], ['gain', 3500], ['settle'], ['settle']],
      [400, 100, 0],
    ],
    [
      'that had begun and was settled',
      [...stopped, ['begin'], ['settle'], takenBack, ['gain', 3500], ['settle'], ['settle']],
      [400, 0, 100, 0],
    ],
    [
      'counts once where several follow',
      [
        ...stopped,
        ['begin'],
        ['settle'],
        ['stop'],
        takenBack,
        ['begin'],
        ['gain', 3500],
        ['settle'],
        ['settle'],
      ],
      [400, 0, 100, 0],
    ],
    [
      'counts once where one follows that was settled with the last one',
      [['begin'], ['gain', 2000], ['stop'], ['begin'], ['settle'], takenBack, ['gain', 3500], ['settle']],
      [400, 100],
    ],
    [
      'carries on beyond the next settlement',
      [
        ...stopped,
        takenBack,
        ['begin'],
        ['gain', 1000],
        ['settle'],
        ['stop'],
        ['begin'],
        ['gain', 2500],
        ['settle'],
      ],
      [400, 0, 100],
    ],
    [
      'more than once counts each time',
      [...stopped, takenBack, ['begin'], ['settle'], takenBack, ['gain', 6500], ['settle']],
      [400, 0, 100],
    ],
    [
      'before it was settled is a loss of its own',
      [['begin'], ['gain', 2000], ['stop'], ['correct', -500, 0], ['settle']],
      [300],
    ],
    [
      'and given back makes up for what was counted',
      [
        ...stopped,
        takenBack,
        ['begin'],
        ['gain', 1000],
        ['settle'],
        ['correct', 3000, 0],
        ['settle'],
        ['settle'],
      ],
      [400, 0, 200, 0],
    ],
    [
      'and given back before anything was settled was never lost',
      [...stopped, takenBack, ['begin'], ['correct', 3000, 0], ['gain', 1000], ['settle']],
      [400, 200],
    ],
  ])('%s', (_, steps, fees) => {
    expect(follow(steps, 20).fees).toEqual(fees)
  })

  test('leaves all fees together the share of the highest gain of all setups that was settled', () => {
    const by = fc.integer({ min: -10_000, max: 10_000 })
    const step: fc.Arbitrary<Step> = fc.oneof(
      fc.constantFrom<Step>(['begin'], ['stop'], ['settle'], ['settle']),
      fc.tuple(fc.constant('gain' as const), by),
      fc.tuple(fc.constant('correct' as const), by, fc.nat(4)),
    )
    fc.assert(
      fc.property(
        fc.array(step, { maxLength: 60, size: 'max' }),
        fc.integer({ min: 0, max: 100 }),
        (steps, percent) => {
          const { fees, highest } = follow([['begin'], ...steps, ['settle']], percent)
          const sum = fees.reduce((total, fee) => total.plus(fee), dec(0))
          expect(sum.toNumber()).toBe(dec(highest).times(percent).div(100).toNumber())
        },
      ),
      { numRuns: 500 },
    )
  })
})
