import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  alpha,
  beta,
  comovementOf,
  comovementWith,
  correlation,
  type IndexSeries,
  indexReturn,
} from './benchmark.ts'
import { equitySeries } from './series.ts'

const percents = (...values: number[]) => Float64Array.from(values, (value) => value / 100)
const mixed = percents(1, 10, -4, 2, 3, 2, 1, -10)
const negative = percents(-6, -7, -1, -9, -2, -6, -8, -5)
const indexOf = (...rows: [day: number, close: number][]): IndexSeries => ({
  days: Int32Array.from(rows, ([day]) => day),
  closes: Float64Array.from(rows, ([, close]) => close),
})
const seriesOf = (startDay: number, startingCash: number, ...rows: [day: number, value: number][]) =>
  equitySeries({
    startDay,
    startingCash,
    days: Int32Array.from(rows, ([day]) => day),
    values: Float64Array.from(rows, ([, value]) => value),
  })

describe('published figures of empyrical', () => {
  test.each<[string, Float64Array, Float64Array, number, number]>([
    ['against losses', mixed, negative, -0.9997853834885004, -0.71296296296296313],
    ['against itself', mixed, mixed, 0, 1],
    ['against its opposite', mixed, mixed.map((each) => -each), 0, -1],
  ])('alpha and beta %s', (_, own, index, expectedAlpha, expectedBeta) => {
    const moved = comovementOf(own, index)
    expect(alpha(moved, 0, 252)).toBeCloseTo(expectedAlpha, 8)
    expect(beta(moved)).toBeCloseTo(expectedBeta, 8)
  })
})

describe('what is not defined', () => {
  test.each<[string, Float64Array, Float64Array, unknown[]]>([
    ['nothing', percents(), percents(), [null, null, null]],
    ['a single pair', percents(1), percents(1), [null, null, null]],
    ['a flat index', mixed, mixed.map(() => 0.1), [null, null, null]],
    ['a flat strategy', percents(1, 1, 1), percents(1, 2, 3), [0, 1.01 ** 252 - 1, null]],
    [
      'an index that hardly moves',
      percents(1, 2),
      Float64Array.of(0, Math.SQRT2 * 0.99e-12),
      [null, null, null],
    ],
    ['a strategy that hardly moves', Float64Array.of(0, Math.SQRT2 * 0.99e-12), percents(1, 2), [0, 0, null]],
    ['one that moves', Float64Array.of(0, Math.SQRT2 * 1.01e-12), percents(1, 2), [0, 0, 1]],
    ['a longer index', percents(1, 2), percents(1, 2, 90), [1, 0, 1]],
    ['alpha beyond all numbers', percents(2000, 4000), percents(1, -1), [-1000, null, -1]],
    ['a mean below a total loss', percents(-300, -310), percents(0, 0.01), [-1000, -1, -1]],
  ])('%s', (_, own, index, expected) => {
    const moved = comovementOf(own, index)
    const found = [beta(moved), alpha(moved, 0, 252), correlation(moved)]
    expect(found).toEqual(expected.map((each) => (typeof each === 'number' ? expect.closeTo(each, 8) : each)))
  })
})

test('what is merged over a total loss is what was made of a later deposit', () => {
  const series = seriesOf(9, 100, [10, 0], [11, 50], [12, 60], [13, 75])
  const joined = comovementWith(series, indexOf([9, 100], [10, 100], [13, 110]))
  expect([joined.count, joined.ownMean]).toEqual([2, expect.closeTo((-1 + 0.5) / 2, 12)])
})

describe('joining', () => {
  const index = indexOf([8, 90], [9, 95], [10, 100], [11, 110], [12, 99], [15, 198], [16, 200])
  const all = (series: ReturnType<typeof seriesOf>, closes = index) => {
    const { count, ownMean, indexMean } = comovementWith(series, closes)
    return [count, ownMean, indexMean].map((each) => Number(each.toFixed(12)))
  }

  test.each<[string, unknown[], unknown[]]>([
    ['every day', all(seriesOf(10, 100, [11, 120], [12, 108])), [2, 0.05, 0]],
    [
      'a day that the index misses merges',
      all(seriesOf(10, 100, [11, 120], [13, 500], [15, 60])),
      [2, -0.15, 0.45],
    ],
    ['a day that the strategy misses merges', all(seriesOf(10, 100, [12, 120], [15, 240])), [2, 0.6, 0.495]],
    [
      'starting cash on a day without a close',
      all(seriesOf(13, 100, [15, 120], [16, 132])),
      [1, 0.1, 0.010101010101],
    ],
    ['nothing in common', all(seriesOf(20, 100, [21, 120])), [0, 0, 0]],
    ['no index at all', all(seriesOf(10, 100, [11, 120]), indexOf()), [0, 0, 0]],
    [
      'a close of nothing is missing',
      all(seriesOf(10, 100, [11, 120], [12, 150]), indexOf([10, 100], [11, 0], [12, 99])),
      [1, 0.5, -0.01],
    ],
  ])('%s', (_, found, expected) => {
    expect(found).toEqual(expected)
  })

  test('does not depend on days that only one of them has', () => {
    const gap = fc.integer({ min: 1, max: 4 })
    const rows = fc.array(fc.tuple(gap, fc.integer({ min: 50, max: 200 })), { minLength: 3, maxLength: 30 })
    const dated = rows.map((list) => {
      let day = 100
      return list.map(([step, value]): [number, number] => {
        day += step
        return [day, value]
      })
    })
    fc.assert(
      fc.property(dated, dated, (own, closes) => {
        const ownDays = new Set([100, ...own.map(([day]) => day)])
        const index: [number, number][] = [[100, 100], ...closes]
        const common = index.filter(([day]) => ownDays.has(day))
        const commonDays = new Set(common.map(([day]) => day))
        const found = comovementWith(seriesOf(100, 77, ...own), indexOf(...index))
        const expected = comovementWith(
          seriesOf(100, 77, ...own.filter(([day]) => commonDays.has(day))),
          indexOf(...common),
        )
        expect(found).toEqual(expected)
        expect(found.count).toBe(common.length - 1)
      }),
    )
  })
})

describe('one pass over pairs', () => {
  const pair = fc.tuple(fc.integer({ min: -900, max: 900 }), fc.integer({ min: -900, max: 900 }))

  test('equals two passes', () => {
    fc.assert(
      fc.property(fc.array(pair, { minLength: 2, maxLength: 50 }), (pairs) => {
        const own = pairs.map(([each]) => each / 1000)
        const index = pairs.map(([, each]) => each / 1000)
        const mean = (list: number[]) => list.reduce((sum, each) => sum + each, 0) / list.length
        const sum = (list: number[]) => list.reduce((total, each) => total + each, 0)
        const off = (list: number[]) => list.map((each) => each - mean(list))
        const found = comovementOf(Float64Array.from(own), Float64Array.from(index))
        const near = (value: number, expected: number) =>
          expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-12 * pairs.length)
        near(found.ownSquares, sum(off(own).map((each) => each ** 2)))
        near(found.indexSquares, sum(off(index).map((each) => each ** 2)))
        near(found.products, sum(off(own).map((each, at) => each * off(index)[at]!)))
        const coefficient = correlation(found)
        if (coefficient !== null) expect(Math.abs(coefficient)).toBeLessThanOrEqual(1)
      }),
    )
  })

  test('beta is linear in the strategy, correlation knows only its sign', () => {
    fc.assert(
      fc.property(
        fc.array(pair, { minLength: 3, maxLength: 50 }),
        fc.integer({ min: -9, max: 9 }),
        (pairs, times) => {
          const own = Float64Array.from(pairs, ([each]) => each / 1e5)
          const index = Float64Array.from(pairs, ([, each]) => each / 1e5)
          const once = comovementOf(own, index)
          const more = comovementOf(
            own.map((each) => each * times),
            index,
          )
          const slope = beta(once)
          if (slope !== null) expect(beta(more)).toBeCloseTo(times * slope, 9)
          const coefficient = correlation(once)
          if (coefficient !== null && times !== 0) {
            expect(correlation(more)).toBeCloseTo(Math.sign(times) * coefficient, 9)
          }
        },
      ),
    )
  })
})

describe('return of the index', () => {
  const index = indexOf([10, 100], [11, 110], [12, 121], [15, 90], [16, 0])
  test.each<[string, number, number, number | null]>([
    ['from close to close', 10, 12, 0.21],
    ['from the close before a weekend', 13, 15, 90 / 121 - 1],
    ['to the last close before the valuation', 10, 14, 0.21],
    ['a close of nothing is missing', 11, 20, 90 / 110 - 1],
    ['the day of the start', 12, 12, 0],
    ['no close at the start', 9, 12, null],
  ])('%s', (_, from, until, expected) => {
    const found = indexReturn(index, from, until)
    if (expected === null) expect(found).toBeNull()
    else expect(found).toBeCloseTo(expected, 12)
  })

  test('of no closes', () => expect(indexReturn(indexOf(), 1, 2)).toBeNull())
})
