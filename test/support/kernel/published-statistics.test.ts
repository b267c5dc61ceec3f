/**
 * Statistics against numbers that a public library publishes. The returns and the expected values are those of the
 * tests of empyrical-reloaded (github.com/stefan-jansen/empyrical-reloaded, tests/test_stats.py at commit 7e6d055) as
 * far as its definitions are ours: sample deviations, losses of all periods, compounded means. Earlier versions of the
 * library took other periods per year for Sortino by week and month. Returns are in percent.
 */
import { expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

const percent = (...values: number[]): number[] => values.map((value) => value / 100)
const series = {
  mixed: percent(1, 10, -4, 2, 3, 2, 1, -10),
  // A first period without a move, by week and by month.
  paused: percent(0, 1, 10, -4, 2, 3, 2, 1, -10),
  positive: percent(1, 2, 1, 1, 1, 1, 1, 1, 1),
  negative: percent(0, -6, -7, -1, -9, -2, -6, -8, -5),
  fallen: percent(-6, -7, -1, -9, -2, -6, -8, -5),
  upAndDown: percent(10, -10, 10),
  flat: percent(1, 1, 1, 1, 1, 1, 1, 1, 1),
  one: [-0.00171614, 0.01322056, 0.03063862, -0.01422057, -0.00489779, 0.01268925, -0.03357711, 0.01797036],
  two: [0.01846232, 0.00793951, -0.01448395, 0.00422537, -0.00339611, 0.03756813, 0.0151531, 0.03549769],
}
type Name = keyof typeof series

// biome-ignore format: a table
test.each<[string, Name, { periodsPerYear?: number; riskFree?: number; benchmark?: Name }, number]>([
  ['totalReturn', 'mixed', {}, 0.038931091700480147],
  ['totalReturn', 'negative', {}, -0.3659073],
  ['annualReturn', 'paused', { periodsPerYear: 52 }, 0.24690830513998208],
  ['annualReturn', 'paused', { periodsPerYear: 12 }, 0.052242061386048144],
  ['annualVolatility', 'flat', {}, 0],
  ['annualVolatility', 'paused', { periodsPerYear: 52 }, 0.38851569394870583],
  ['annualVolatility', 'paused', { periodsPerYear: 12 }, 0.18663690238892558],
  ['maxDrawdown', 'mixed', {}, -0.1],
  ['maxDrawdown', 'positive', {}, 0],
  ['maxDrawdown', 'negative', {}, -0.3659073],
  ['maxDrawdown', 'upAndDown', {}, -0.1],
  ['calmar', 'paused', { periodsPerYear: 52 }, 2.4690830513998208],
  ['calmar', 'paused', { periodsPerYear: 12 }, 0.52242061386048144],
  ['sharpe', 'positive', {}, 52.915026221291804],
  ['sharpe', 'negative', {}, -24.406808633910085],
  ['sortino', 'negative', {}, -13.532743075043401],
  ['sharpe', 'mixed', {}, 1.7238613961706866],
  ['sortino', 'mixed', {}, 2.605531251673693],
  ['sortino', 'mixed', { riskFree: 0.01 }, -1.3934779588919977],
  ['sortino', 'paused', { periodsPerYear: 52 }, 1.1158901056866439],
  ['sortino', 'paused', { periodsPerYear: 12 }, 0.53605626741889756],
  ['sortino', 'one', {}, 3.0639640966566306],
  ['sortino', 'two', {}, 38.090963117002495],
  ['sortino', 'one', { periodsPerYear: 52 }, 1.3918264112070571],
  ['sortino', 'two', { periodsPerYear: 52 }, 17.303077589064618],
  ['sortino', 'one', { periodsPerYear: 12 }, 0.6686117809312383],
  ['sortino', 'two', { periodsPerYear: 12 }, 8.3121296084492844],
  ['beta', 'mixed', { benchmark: 'fallen' }, -0.71296296296296313],
  ['alpha', 'mixed', { benchmark: 'fallen' }, -0.9997853834885004],
])('%s of %s with %j', (statistic, name, { benchmark, ...more }, published) => {
  const given = { statistic, returns: series[name], ...(benchmark && { benchmark: series[benchmark] }), ...more }
  expect((kernel('stats.returns', given) as { value: number }).value).toBeCloseTo(published, 8)
})

// Published with the square root of the periods; ours is per period.
test.each<[Name, number, number, number]>([
  ['paused', 52, 0, 0.25888650451930134],
  ['paused', 52, 0.1, 0.7733045971672482],
  ['paused', 12, 0, 0.1243650540411842],
  ['paused', 12, 0.1, 0.37148351242013422],
  ['one', 252, 0, 0.20671788246185202],
  ['two', 252, 0, 0.083495680595704475],
])('downsideDeviation of %s over %i periods below %d', (name, periods, riskFree, published) => {
  const given = { statistic: 'downsideDeviation', returns: series[name], riskFree }
  const { value } = kernel('stats.returns', given) as { value: number }
  expect(value * Math.sqrt(periods)).toBeCloseTo(published, 8)
})

test.each<[Name, number]>([
  ['mixed', 10],
  ['positive', 0],
  ['negative', 36.59073],
])('stats.drawdown of %s', (name, published) => {
  let value = 100
  const values = [value, ...series[name].map((gain) => (value *= 1 + gain))]
  expect(kernel('stats.drawdown', { values })).toMatchObject({
    maxDrawdownPercent: expect.closeTo(published, 6),
  })
})
