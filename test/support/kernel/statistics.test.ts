/**
 * Statistics through the kernel: the fields of StrategyDetails against a second, plain computation on random
 * records, and what each op prints.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isTradeDate } from '../../../src/domain/market/calendar.ts'
import { type Day, formatDay, readDay } from '../../../src/domain/time.ts'
import { kernel } from '../kernel.ts'
import { deviation, type PlainRecord, plainEquity, plainSharpe, plainSortino } from '../plain-statistics.ts'

type Fields = Record<string, unknown>

const firstDay = readDay('2019-11-20')!
const tradingDays = Array.from({ length: 900 }, (_, at): Day => firstDay + at).filter((day) =>
  isTradeDate('US_EQUITY', day),
)

/** A day of trading: whether the record and the index have it, and how they move, in hundredths of a percent. */
const move = fc.record({
  traded: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  quoted: fc.oneof({ weight: 9, arbitrary: fc.constant(true) }, fc.constant(false)),
  gain: fc.oneof(
    { weight: 300, arbitrary: fc.integer({ min: -900, max: 950 }) },
    fc.constantFrom(-10_000, -15_000),
  ),
  indexGain: fc.integer({ min: -500, max: 510 }),
  flow: fc.integer({ min: -100, max: 200 }),
})

const records = fc
  .record({
    moves: fc.array(move, { minLength: 1, maxLength: 120 }),
    step: fc.integer({ min: 1, max: 5 }),
    startGap: fc.integer({ min: 0, max: 9 }),
    startingCash: fc.integer({ min: 1, max: 1_000_000 }),
    hasIndex: fc.boolean(),
    hasFlows: fc.boolean(),
    riskFree: fc.constantFrom(0, 0.02, 0.05),
  })
  .map(({ moves, step, startGap, startingCash, hasIndex, hasFlows, riskFree }): PlainRecord => {
    const equity: PlainRecord['equity'] = []
    const benchmark = [{ date: formatDay(tradingDays[0]!), value: 3000 }]
    let value = startingCash
    let close = 3000
    moves.forEach(({ traded, quoted, gain, indexGain, flow }, at) => {
      const date = formatDay(tradingDays[10 + at * step]!)
      close *= 1 + indexGain / 1e4
      if (quoted) benchmark.push({ date, value: close })
      if (!traded) return
      const moved = hasFlows ? (value * flow) / 1e3 : 0
      value = value * (1 + gain / 1e4) + moved
      equity.push({ date, value, ...(hasFlows ? { flow: moved } : {}) })
    })
    const first = readDay(equity[0]?.date ?? benchmark[0]!.date)!
    const startDate = formatDay(first - startGap)
    const base = { startDate, startingCash, equity, riskFreeAnnual: riskFree }
    return hasIndex ? { ...base, benchmark } : base
  })

/** Equal texts and nulls; numbers equal to nine digits. */
function expectSame(found: unknown, expected: unknown, path = ''): void {
  if (typeof expected === 'number' && typeof found === 'number') {
    expect(Number.isFinite(found), path).toBe(true)
    const scale = Math.max(1e-4, Math.abs(expected))
    expect(Math.abs(found - expected) / scale, `${path}: ${found} for ${expected}`).toBeLessThan(1e-8)
  } else if (typeof expected === 'object' && expected !== null) {
    expect(Object.keys(found as Fields).sort(), path).toEqual(Object.keys(expected).sort())
    for (const [name, each] of Object.entries(expected))
      expectSame((found as Fields)[name], each, `${path}.${name}`)
  } else expect(found, path).toBe(expected)
}

describe('stats.equity', () => {
  test('every field is what its definition says', () => {
    fc.assert(
      fc.property(records, (record) => {
        expectSame(kernel('stats.equity', record), plainEquity(record))
      }),
      { numRuns: 150 },
    )
  })

  test('a record that lives on deposits after a total loss has the returns of what was paid in', () => {
    const dates = ['2024-03-05', '2024-03-06', '2024-03-07']
    const record = {
      startDate: '2024-03-04',
      startingCash: 1,
      equity: dates.map((date, at) => ({ date, value: 0.001 * 1.1 ** at, flow: at === 0 ? 0.001 : 0 })),
      benchmark: ['2024-03-04', ...dates].map((date, at) => ({ date, value: [3000, 2900, 2950, 3100][at]! })),
      riskFreeAnnual: 0,
    }
    const found = kernel('stats.equity', record) as Fields
    expectSame(found, plainEquity(record))
    const own = [-1, 0.1, 0.1]
    const index = [2900 / 3000 - 1, 2950 / 2900 - 1, 3100 / 2950 - 1]
    const mean = (list: number[]) => list.reduce((sum, each) => sum + each, 0) / list.length
    const products = own.map((each, at) => (each - mean(own)) * (index[at]! - mean(index)))
    const squares = index.map((each) => (each - mean(index)) ** 2)
    expect(found.Beta).toBeCloseTo(mean(products) / mean(squares), 8)
  })

  test('the stake changes nothing', () => {
    fc.assert(
      fc.property(records, fc.integer({ min: 2, max: 1000 }), (record, times) => {
        const scaled = {
          ...record,
          startingCash: record.startingCash * times,
          equity: record.equity.map(({ date, value, flow }) => ({
            date,
            value: value * times,
            ...(flow === undefined ? {} : { flow: flow * times }),
          })),
        }
        const found = kernel('stats.equity', scaled) as Fields
        const expected = kernel('stats.equity', record) as Fields
        for (const name of [
          'Sharpe',
          'Sortino',
          'Calmar',
          'Beta',
          'CorrelationSP500',
          'Return',
          'MaxDrawdown',
        ]) {
          expectSame(found[name], expected[name], name)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('rows in any order, dates with a time of day', () => {
    const equity = [
      { date: '2024-03-06T21:00:00Z', value: 120 },
      { date: '2024-03-05', value: 110 },
    ]
    const found = kernel('stats.equity', { startDate: '2024-03-04T14:30:00Z', startingCash: 100, equity })
    expect(found).toMatchObject({
      AgeInDays: 2,
      Return: expect.closeTo(20, 10),
      ReturnLabel: 'Cumul. Return',
      SP500Return: null,
      Beta: null,
      MonthlyResults: [
        { Year: 2024, Month: 3, Return: expect.closeTo(20, 10), IsAnnual: false },
        { Year: 2024, Month: 0, Return: expect.closeTo(20, 10), IsAnnual: true },
      ],
    })
  })
})

describe('stats.returns', () => {
  const value = (statistic: string, returns: number[], more: Fields = {}) =>
    (kernel('stats.returns', { statistic, returns, ...more }) as { value: number | null }).value
  const returns = [0.01, -0.02, 0.03, -0.01, 0.02]
  const benchmark = [0.02, -0.01, 0.02, -0.02, 0.01]

  // biome-ignore format: a table
  test.each<[string, number[], Fields, number | null]>([
    ['sharpe', returns, {}, plainSharpe(returns, 252)],
    ['sharpe', returns, { riskFree: 0.005, periodsPerYear: 12 }, plainSharpe(returns.map((each) => each - 0.005), 12)],
    ['sharpe', returns, { riskFree: benchmark }, plainSharpe(returns.map((each, at) => each - benchmark[at]!), 252)],
    ['sharpe', returns, { riskFree: returns }, null],
    ['sharpe', [0.01], {}, null],
    ['sortino', returns, { riskFree: 0.01 }, plainSortino(returns.map((each) => each - 0.01), 252)],
    ['sortino', [0.01, 0.02], {}, null],
    ['downsideDeviation', returns, { riskFree: 0.01 }, Math.sqrt((0.03 ** 2 + 0.02 ** 2) / 5)],
    ['downsideDeviation', [0.01, 0.02], {}, 0],
    ['downsideDeviation', [], {}, null],
    ['annualReturn', [0.1, 0.1], { periodsPerYear: 4 }, 1.1 ** 4 - 1],
    ['annualReturn', [0.1, -1], {}, -1],
    ['annualReturn', [], {}, null],
    ['totalReturn', [0.1, 0.1, -0.5], {}, 1.21 / 2 - 1],
    ['totalReturn', [], {}, 0],
    ['annualVolatility', returns, { periodsPerYear: 12 }, deviation(returns) * Math.sqrt(12)],
    ['annualVolatility', [0.1], {}, null],
    ['annualVolatility', [], {}, null],
    ['maxDrawdown', [-0.1, 0.05, -0.1], {}, 0.9 * 1.05 * 0.9 - 1],
    ['maxDrawdown', [0.1, 0], {}, 0],
    ['maxDrawdown', [], {}, 0],
    ['calmar', [0.1, -0.1], { periodsPerYear: 2 }, -0.1],
    ['calmar', [0.1, 0.1], {}, null],
    ['beta', returns, { benchmark: returns.map((each) => each / 2) }, 2],
    ['beta', returns, { benchmark, riskFree: benchmark }, null],
    ['beta', returns, {}, null],
    ['beta', returns, { benchmark: [0.01, 0.01, 0.01, 0.01, 0.01] }, null],
    ['alpha', returns, { benchmark: returns.map((each) => each - 0.001) }, 1.001 ** 252 - 1],
    ['alpha', returns, { benchmark: returns.map((each) => each / 2), riskFree: 0.01, periodsPerYear: 12 }, 1.01 ** 12 - 1],
    ['correlation', returns, { benchmark: returns.map((each) => 0.5 - 3 * each) }, -1],
    ['correlation', returns, { benchmark: returns.map(() => 0.01) }, null],
    ['correlation', returns, { benchmark, riskFree: benchmark }, 0.00128 / Math.sqrt(0.00172 * 0.00132)],
    ['treynor', [0.1, -0.05], { benchmark: [0.2, -0.1], periodsPerYear: 2, riskFree: 0.01 }, (1.1 * 0.95 - 1.01 ** 2) / 0.5],
    ['treynor', [0.1, -0.05], { benchmark: [0.2, -0.1], periodsPerYear: 2, riskFree: [0.01, 0.01] }, (1.1 * 0.95 - 1.01 ** 2) / 0.5],
    ['treynor', returns, {}, null],
  ])('%s of %j with %j', (statistic, list, more, expected) => {
    const found = value(statistic, list, more)
    if (expected === null) expect(found).toBeNull()
    else expect(found).toBeCloseTo(expected, 10)
  })

  test('a drawdown of nothing is no negative zero', () => {
    expect(Object.is(value('maxDrawdown', [0.1]), 0)).toBe(true)
  })

  test.each(['sharpe', 'sortino', 'downsideDeviation', 'annualVolatility'])(
    'a deviation beyond what a number holds leaves %s null, not 0',
    (statistic) => {
      expect(kernel('stats.returns', { statistic, returns: [1e200, -5e199, 1e199] })).toEqual({ value: null })
    },
  )

  test('an unknown statistic is a mistake', () => {
    expect(() => value('omega', returns)).toThrow('omega')
  })
})

test('no return over a falling beta is the plain zero', () => {
  const given = { statistic: 'treynor', returns: [1, -0.5], benchmark: [-0.01, 0.02] }
  expect(kernel('stats.returns', given)).toEqual({ value: 0 })
})

test('stats.trades', () => {
  const trades = [
    { openDate: '2024-03-04T15:00:00Z', closeDate: '2024-03-05T03:00:00Z', profitLoss: 150 },
    { openDate: 0, closeDate: 86_400 * 2, profitLoss: -50 },
    { openDate: '2024-03-04', closeDate: '2024-03-04', profitLoss: 0 },
  ]
  expect(kernel('stats.trades', { trades })).toEqual({
    NumTrades: 3,
    NumWinners: 1,
    NumLosers: 1,
    PercentWinTrades: expect.closeTo(100 / 3, 10),
    SumDollarWinners: 150,
    SumDollarLosers: 50,
    AvgWinDollars: 150,
    AvgLossDollars: 50,
    ProfitFactor: 3,
    AvgTradeDuration: expect.closeTo(2.5 / 3, 10),
  })
})

test.each<[number[], number, number]>([
  [[100, 80, 90, 100, 110], 20, 3],
  [[100, 120], 0, 0],
  [[], 0, 0],
])('stats.drawdown of %j', (values, maxDrawdownPercent, longestRecoveryDays) => {
  expect(kernel('stats.drawdown', { values })).toEqual({
    maxDrawdownPercent: expect.closeTo(maxDrawdownPercent, 10),
    longestRecoveryDays,
  })
})

test('fees.highWaterMark', () => {
  const events = [
    { type: 'deposit', amount: 1000 },
    { type: 'value', value: 1200 },
    { type: 'withdraw', amount: 580 },
    { type: 'crystallise', value: 600.1 },
    { type: 'crystallise' },
  ]
  expect(kernel('fees.highWaterMark', { events, rate: 0.2 })).toEqual({
    crystallisations: [
      { fee: 40, valueAfter: 1160, highWaterMarkPerUnit: 1.16 },
      { fee: 4.02, valueAfter: 596.08, highWaterMarkPerUnit: 1.19216 },
      { fee: 0, valueAfter: 596.08, highWaterMarkPerUnit: 1.19216 },
    ],
  })
})
