import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { type FeeSettlement, settleFee, shortfallOf } from './performance-fee.ts'

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
