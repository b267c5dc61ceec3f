import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deepestDrawdown, longestRecovery } from './drawdown.ts'

const of = (...values: number[]) => Float64Array.from(values)

describe('the deepest drawdown', () => {
  test.each<[string, number[], [depth: number, peakAt: number, valleyAt: number] | null]>([
    ['nothing', [], null],
    ['one value', [100], null],
    ['only up', [100, 100, 101, 120], null],
    ['noise of doubles', [100, 100 * (1 - 1e-13), 100], null],
    ['down from the start', [100, 90, 80], [0.2, 0, 2]],
    ['the deeper of two', [100, 90, 120, 60, 130], [0.5, 2, 3]],
    ['deeper in percent, not in money', [10, 5, 100, 80], [0.5, 0, 1]],
    ['the first of equals', [100, 75, 200, 150, 100, 50, 400, 100], [0.75, 2, 5]],
    ['the first of equals, whatever doubles make of them', [1000, 543, 3000, 1629], [0.457, 0, 1]],
    ['the last day of the peak', [100, 120, 110, 120, 120, 90, 95], [0.25, 4, 5]],
    ['the first day of the valley', [100, 50, 60, 50, 100], [0.5, 0, 1]],
    ['a peak that is only reached is the same peak', [100, 90, 100, 80], [0.2, 2, 3]],
    ['everything lost', [100, 0, 50], [1, 0, 1]],
    ['more than everything lost', [100, -50, 80], [1.5, 0, 1]],
    ['never above zero', [0, -5, -10], null],
  ])('%s', (_, values, expected) => {
    const found = deepestDrawdown(of(...values))
    if (expected === null) return expect(found).toBeNull()
    expect(found).toEqual({
      depth: expect.closeTo(expected[0], 14),
      peakAt: expected[1],
      valleyAt: expected[2],
    })
  })

  const path = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 40 })
  const depthOf = (values: number[]) => deepestDrawdown(of(...values))?.depth ?? 0

  test('is that of all pairs of days', () => {
    fc.assert(
      fc.property(path, (values) => {
        const falls = values.flatMap((peak, at) => values.slice(at).map((value) => 1 - value / peak))
        expect(depthOf(values)).toBeCloseTo(Math.max(...falls), 14)
      }),
    )
  })

  test('never shrinks with another day and never depends on the stake', () => {
    fc.assert(
      fc.property(path, fc.integer({ min: 1, max: 9999 }), (values, stake) => {
        const whole = depthOf(values)
        expect(depthOf(values.slice(0, -1))).toBeLessThanOrEqual(whole)
        expect(depthOf(values.map((value) => value * stake))).toBeCloseTo(whole, 12)
      }),
    )
  })
})

describe('the longest recovery', () => {
  test.each<[string, number[], number]>([
    ['nothing', [], 0],
    ['one value', [5], 0],
    ['only up', [1, 2, 3], 0],
    ['flat', [1, 1, 1], 0],
    ['one day below', [100, 90, 100], 2],
    ['from the last day of the peak', [100, 100, 90, 100], 2],
    ['above the peak counts as reaching it', [100, 90, 95, 130, 120, 130], 3],
    ['the longer of two', [100, 90, 100, 80, 90, 95, 101], 4],
    ['never recovered', [100, 90, 99.99], 0],
    ['an unrecovered one leaves the earlier one', [100, 90, 100, 80, 90, 99, 99], 2],
  ])('%s', (_, values, expected) => {
    expect(longestRecovery(of(...values))).toBe(expected)
  })
})
