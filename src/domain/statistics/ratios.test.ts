import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec, one, sum, zero } from '../decimal.ts'
import { deepestDrawdown } from './drawdown.ts'
import { annualReturn, calmar, excessMoments, sharpe, sortino, treynor } from './ratios.ts'

const percents = (...values: number[]) => Float64Array.from(values, (value) => value / 100)
const growth = (returns: Float64Array) => returns.reduce((grown, each) => grown * (1 + each), 1)
const depth = (returns: Float64Array): number => {
  const wealth = [1]
  for (const each of returns) wealth.push(wealth.at(-1)! * (1 + each))
  return deepestDrawdown(Float64Array.from(wealth))?.depth ?? 0
}

/** Series and figures of the tests of empyrical (github.com/quantopian/empyrical), 8 decimals. */
const mixed = percents(0, 1, 10, -4, 2, 3, 2, 1, -10)
const negative = percents(0, -6, -7, -1, -9, -2, -6, -8, -5)
const positive = percents(1, 2, 1, 1, 1, 1, 1, 1, 1)
const first = Float64Array.of(
  -0.00171614,
  0.01322056,
  0.03063862,
  -0.01422057,
  -0.00489779,
  0.01268925,
  -0.03357711,
  0.01797036,
)
const second = Float64Array.of(
  0.01846232,
  0.00793951,
  -0.01448395,
  0.00422537,
  -0.00339611,
  0.03756813,
  0.0151531,
  0.03549769,
)
/** Bacon, Practical Portfolio Performance Measurement and Attribution (2008); figures of PerformanceAnalytics 2.1. */
const bacon = Float64Array.of(
  0.003,
  0.026,
  0.011,
  -0.01,
  0.015,
  0.025,
  0.016,
  0.067,
  -0.014,
  0.04,
  -0.005,
  0.081,
  0.04,
  -0.037,
  -0.061,
  0.017,
  -0.049,
  -0.022,
  0.07,
  0.058,
  -0.065,
  0.024,
  -0.005,
  -0.009,
)
/** A losing week, checked by the same R package. */
const losing = Float64Array.of(
  -0.018720930383,
  -0.014303070725,
  -0.014572173794,
  -0.003467788444,
  -0.025038397377,
  -0.001677869157,
  -0.010129521509,
)

describe('published figures', () => {
  test.each<[string, Float64Array, number, number]>([
    ['empyrical positive', positive, 252, 52.915026221291804],
    ['empyrical negative', negative, 252, -24.406808633910085],
    ['empyrical mixed', mixed.subarray(1), 252, 1.7238613961706866],
    ['Bacon', bacon, 12, 0.7883202548144859],
    ['losing week', losing, 252, -24.183404779195588],
  ])('Sharpe of %s', (_, returns, perYear, expected) => {
    expect(sharpe(excessMoments(returns), perYear)).toBeCloseTo(expected, 8)
  })

  test('Sharpe above a rate', () => {
    const above = mixed.subarray(1).map((each, at) => each - [0.01, 0][at % 2]!)
    expect(sharpe(excessMoments(above), 252)).toBeCloseTo(0.34111411441060574, 8)
  })

  test.each<[string, Float64Array, number, number, number]>([
    ['empyrical mixed', mixed.subarray(1), 0, 252, 2.605531251673693],
    ['empyrical mixed above 1 %', mixed.subarray(1), 0.01, 252, -1.3934779588919977],
    ['empyrical negative', negative, 0, 252, -13.532743075043401],
    ['empyrical one', first, 0, 252, 3.0639640966566306],
    ['empyrical second', second, 0, 252, 38.090963117002495],
    ['Bacon', bacon, 0, 12, 1.3592165786838633],
    ['losing week', losing, 0, 252, -13.565806946540524],
  ])('Sortino of %s', (_, returns, riskFree, perYear, expected) => {
    expect(sortino(excessMoments(returns, riskFree), perYear)).toBeCloseTo(expected, 8)
  })

  test.each<[string, Float64Array, number, number, number]>([
    ['empyrical mixed', mixed.subarray(1), 0, 252, 0.60448325038829653],
    ['empyrical mixed above 10 %', mixed.subarray(1), 0.1, 252, 1.7161730681956295],
    ['empyrical weekly', mixed, 0, 52, 0.25888650451930134],
    ['empyrical monthly above 10 %', mixed, 0.1, 12, 0.37148351242013422],
    ['empyrical one', first, 0, 252, 0.20671788246185202],
  ])('downside of %s', (_, returns, riskFree, perYear, expected) => {
    expect(excessMoments(returns, riskFree).downside * Math.sqrt(perYear)).toBeCloseTo(expected, 8)
  })

  test.each<[string, Float64Array, number, number]>([
    ['empyrical mixed', mixed.subarray(1), 252, 0.9136465399704637],
    ['empyrical weekly', mixed, 52, 0.38851569394870583],
    ['empyrical monthly', mixed, 12, 0.18663690238892558],
    ['Bacon', bacon, 12, 0.13700015867969229],
    ['losing week', losing, 252, 0.13086457754395944],
  ])('volatility of %s', (_, returns, perYear, expected) => {
    expect(excessMoments(returns).deviation * Math.sqrt(perYear)).toBeCloseTo(expected, 8)
  })

  test.each<[string, Float64Array, number, number, number]>([
    ['empyrical mixed', mixed, 252, 1.9135925373194231, 19.135925373194233],
    ['empyrical weekly', mixed, 52, 0.24690830513998208, 2.4690830513998208],
    ['empyrical monthly', mixed, 12, 0.052242061386048144, 0.52242061386048144],
    ['Bacon', bacon, 12, 0.10367828972980941, 0.7166390511623746],
    ['losing week', losing, 252, -0.9589235732751437, -11.30038738924165],
  ])('annual return and Calmar of %s', (_, returns, perYear, annual, perDrawdown) => {
    const found = annualReturn(growth(returns), returns.length, perYear)
    expect(found).toBeCloseTo(annual, 8)
    expect(calmar(found, depth(returns))).toBeCloseTo(perDrawdown, 8)
  })
})

describe('what is not defined', () => {
  const moments = (...values: number[]) => excessMoments(Float64Array.from(values))

  test.each<[string, number | null, number | null]>([
    ['Sharpe of nothing', sharpe(moments(), 252), null],
    ['Sharpe of one return', sharpe(moments(0.01), 252), null],
    ['Sharpe of equal returns', sharpe(moments(0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1), 252), null],
    ['Sharpe at the limit', sharpe(moments(0, Math.SQRT2 * 0.99e-12), 252), null],
    ['Sharpe of equal losses', sharpe(moments(-0.1, -0.1, -0.1), 252), null],
    ['Sortino of one return', sortino(moments(-0.01), 252), null],
    ['Sortino without a loss', sortino(moments(0.01, 0, 0.02), 252), null],
    ['Calmar without a drawdown', calmar(0.1, 0), null],
    ['Calmar without a return', calmar(null, 0.1), null],
    ['annual return without a period', annualReturn(1, 0, 252), null],
    ['annual return without capital', annualReturn(null, 5, 252), null],
    ['annual return beyond all numbers', annualReturn(1e4, 1, 252), null],
    ['annual return of nothing left', annualReturn(0, 1, 252), -1],
    ['annual return of less than nothing', annualReturn(-0.5, 252, 252), -1],
    ['annual return of less than nothing in a day', annualReturn(-0.5, 1, 252), -1],
    ['Treynor without beta', treynor(0.1, 0, null), null],
    ['Treynor of a beta of nothing', treynor(0.1, 0, -1e-12), null],
    ['Treynor without a return', treynor(null, 0, 1), null],
    ['Treynor', treynor(0.1, 0.02, -0.5), -0.16],
  ])('%s', (_, found, expected) => {
    if (expected === null) expect(found).toBeNull()
    else expect(found).toBeCloseTo(expected, 14)
  })

  test('equal losses have a Sortino all the same', () => {
    expect(sortino(moments(-0.1, -0.1, -0.1), 252)).toBeCloseTo(-Math.sqrt(252), 10)
  })
})

describe('one pass', () => {
  const anyReturns = fc
    .array(fc.double({ min: -0.99, max: 5, noNaN: true }), { minLength: 2, maxLength: 60 })
    .map((values) => values.map((value) => Number(value.toFixed(6))))

  /** Exact to 40 digits, second passes. */
  const exact = (returns: number[]) => {
    const values = returns.map(dec)
    const mean = sum(values).div(values.length)
    const squares = sum(values.map((value) => value.minus(mean).pow(2)))
    const losses = sum(values.map((value) => (value.lessThan(0) ? value.pow(2) : zero)))
    return {
      mean: mean.toNumber(),
      deviation: squares
        .div(values.length - 1)
        .sqrt()
        .toNumber(),
      downside: losses.div(values.length).sqrt().toNumber(),
    }
  }

  const near = (found: number, expected: number, scale = Math.abs(expected)) =>
    expect(Math.abs(found - expected)).toBeLessThanOrEqual(1e-12 * scale)

  test('equals exact arithmetic to 1e-12', () => {
    fc.assert(
      fc.property(anyReturns, (returns) => {
        const found = excessMoments(Float64Array.from(returns))
        const expected = exact(returns)
        near(found.mean, expected.mean, Math.max(...returns.map(Math.abs)))
        near(found.downside, expected.downside)
        if (expected.deviation > 0) near(found.deviation, expected.deviation)
        else expect(found.deviation).toBeLessThanOrEqual(1e-12)
      }),
    )
  })

  test('survives a first return far from all others', () => {
    const returns = [4, ...Array.from({ length: 2519 }, (_, at) => ((at * 7919) % 400) / 1e6 - 0.0001)]
    const found = excessMoments(Float64Array.from(returns))
    near(found.deviation, exact(returns).deviation)
    near(found.mean, exact(returns).mean)
  })

  test('a rate moves the mean alone', () => {
    fc.assert(
      fc.property(anyReturns, fc.integer({ min: -50, max: 50 }), (returns, rate) => {
        const plain = excessMoments(Float64Array.from(returns))
        const above = excessMoments(Float64Array.from(returns), rate / 1000)
        expect(above.mean).toBeCloseTo(plain.mean - rate / 1000, 12)
        expect(above.deviation).toBeCloseTo(plain.deviation, 12)
        if (rate > 0) expect(above.downside).toBeGreaterThanOrEqual(plain.downside)
      }),
    )
  })

  test('twice the stake, the same ratio', () => {
    fc.assert(
      fc.property(anyReturns, (returns) => {
        const moments = excessMoments(Float64Array.from(returns))
        const doubled = excessMoments(Float64Array.from(returns, (each) => 2 * each))
        for (const ratio of [sharpe, sortino]) {
          const expected = ratio(moments, 252)
          if (expected !== null)
            expect(ratio(doubled, 252)! / (expected || 1)).toBeCloseTo(expected ? 1 : 0, 12)
        }
      }),
    )
  })

  test('one is the unit of growth', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3000 }), fc.integer({ min: 1, max: 400 }), (grown, perYear) => {
        expect(annualReturn(grown / 1000, perYear, perYear)).toBeCloseTo(
          dec(grown).div(1000).minus(one).toNumber(),
          12,
        )
      }),
    )
  })
})
