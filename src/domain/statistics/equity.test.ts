import { describe, expect, test } from 'vitest'
import { type Day, readDay } from '../time.ts'
import { summarizeEquity } from './equity.ts'
import { equitySeries } from './series.ts'

type Rows = Record<string, number>

const columns = (rows: Rows) => ({
  days: Int32Array.from(Object.keys(rows), (date) => readDay(date)!),
  values: Float64Array.from(Object.values(rows)),
})

function summarize(
  startDate: string,
  rows: Rows,
  options: { index?: Rows; day?: string; riskFree?: number } = {},
) {
  const series = equitySeries({ startDay: readDay(startDate)!, startingCash: 100, ...columns(rows) })
  const index = options.index && columns(options.index)
  const day: { day?: Day } = options.day ? { day: readDay(options.day)! } : {}
  return summarizeEquity(series, {
    riskFree: options.riskFree ?? 0,
    ...(index ? { index: { days: index.days, closes: index.values } } : {}),
    ...day,
  })
}

const noRatios = {
  annualPercent: null,
  sharpe: null,
  sortino: null,
  calmar: null,
  beta: null,
  alpha: null,
  correlation: null,
  treynor: null,
}

describe('return and its label', () => {
  // biome-ignore format: a table
  test.each<[string, Rows, string | undefined, number, string, number]>([
    ['a day before a year: cumulative', { '2023-12-29': 121 }, '2024-03-03', 364, 'Cumul. Return', 21],
    ['from a year on: compounded per 365 days', { '2023-12-29': 121 }, '2024-03-04', 365, 'Annual Return (Compounded)', 21],
    ['two years', { '2025-03-04': 121 }, undefined, 730, 'Annual Return (Compounded)', 10],
    ['nothing left within a year', { '2023-03-08': 0 }, undefined, 3, 'Cumul. Return', -100],
    ['less than nothing within a year', { '2023-03-08': -50 }, undefined, 3, 'Cumul. Return', -150],
    ['less than nothing after exactly a year', { '2024-03-04': -50 }, undefined, 365, 'Annual Return (Compounded)', -100],
    ['less than nothing after a year', { '2024-03-08': -50 }, undefined, 369, 'Annual Return (Compounded)', -100],
  ])('%s', (_, rows, day, age, label, percent) => {
    const found = summarize('2023-03-05', rows, day ? { day } : {})
    expect([found.ageInDays, found.returnLabel]).toEqual([age, label])
    expect(found.returnPercent).toBeCloseTo(percent, 10)
  })
})

describe('what a short or a ruined record has', () => {
  test('no day: age 0, nothing gained, nothing else', () => {
    expect(summarize('2024-03-04', {}, { index: { '2024-03-01': 10, '2024-03-04': 11 } })).toEqual({
      ...noRatios,
      ageInDays: 0,
      returnPercent: 0,
      returnLabel: 'Cumul. Return',
      drawdown: { percent: 0, startDate: null, endDate: null, days: 0 },
      indexPercent: 0,
      percentAboveIndex: 0,
      periods: [],
      months: { count: 0, wins: 0, winsShown: 0, winRatio: null },
    })
  })

  test('one day has no deviation and no beta, but a drawdown and an annual return', () => {
    const found = summarize(
      '2024-03-04',
      { '2024-03-05': 99 },
      { index: { '2024-03-04': 10, '2024-03-05': 11 } },
    )
    expect(found).toMatchObject({
      ...noRatios,
      annualPercent: expect.closeTo(100 * (0.99 ** 252 - 1), 8),
      calmar: expect.closeTo((0.99 ** 252 - 1) / 0.01, 8),
      drawdown: { percent: expect.closeTo(1, 10), startDate: '20240304', endDate: '20240305', days: 1 },
      indexPercent: expect.closeTo(10, 10),
      percentAboveIndex: expect.closeTo(-11, 10),
    })
  })

  test('nothing left on the last day: the ratios still count', () => {
    const found = summarize('2024-03-04', { '2024-03-05': 110, '2024-03-06': -11 })
    expect(found.annualPercent).toBe(-100)
    expect(found.calmar).toBeCloseTo(-1 / 1.1, 10)
    expect(found.sharpe).toBeCloseTo(((0.1 - 1.1) / 2 / (Math.SQRT2 * 0.6)) * Math.sqrt(252), 10)
    expect(found.drawdown.percent).toBeCloseTo(110, 10)
  })

  test('a day that begins with nothing ends all ratios, not the record', () => {
    const rows = { '2024-03-05': 110, '2024-03-06': 0, '2024-03-07': 55 }
    const index = { '2024-03-04': 10, '2024-03-05': 11, '2024-03-06': 10, '2024-03-07': 12 }
    const found = summarize('2024-03-04', rows, { index })
    expect(found).toMatchObject(noRatios)
    expect(found.returnPercent).toBeCloseTo(-45, 10)
    expect(found.indexPercent).toBeCloseTo(20, 10)
    expect(found.drawdown).toEqual({ percent: 100, startDate: '20240305', endDate: '20240306', days: 1 })
    expect(found.months).toEqual({ count: 1, wins: 0, winsShown: 0, winRatio: 0 })
  })

  test('a flat record: no ratio, no drawdown', () => {
    const rows = { '2024-03-05': 100, '2024-03-06': 100, '2024-03-07': 100 }
    const found = summarize('2024-03-04', rows, { index: { '2024-03-04': 100, ...rows } })
    expect(found).toMatchObject({ ...noRatios, annualPercent: 0, returnPercent: 0, indexPercent: 0 })
    expect(found.drawdown).toEqual({ percent: 0, startDate: null, endDate: null, days: 0 })
  })

  test('all days lost', () => {
    const rows = { '2024-03-05': 90, '2024-03-06': 81, '2024-03-07': 64.8 }
    const index = { '2024-03-04': 50, '2024-03-05': 50, '2024-03-06': 50, '2024-03-07': 50 }
    const found = summarize('2024-03-04', rows, { index })
    expect(found).toMatchObject({ beta: null, alpha: null, correlation: null, treynor: null })
    expect(found.sharpe).toBeLessThan(0)
    expect(found.sortino).toBeLessThan(0)
    expect(found.drawdown).toMatchObject({ startDate: '20240304', endDate: '20240307', days: 3 })
    expect(found.months).toEqual({ count: 1, wins: 0, winsShown: 0, winRatio: 0 })
  })
})

describe('the index', () => {
  const rows = { '2024-03-05': 110, '2024-03-06': 99 }

  test('without a close at or before the start there is no comparison of returns', () => {
    const found = summarize('2024-03-04', rows, { index: { '2024-03-05': 10, '2024-03-06': 11 } })
    expect([found.indexPercent, found.percentAboveIndex]).toEqual([null, null])
  })

  test('an entry on the start begins at the close of the trading day before', () => {
    const index = { '2024-03-01': 10, '2024-03-04': 11, '2024-03-05': 12.1, '2024-03-06': 12.1 }
    const found = summarize(
      '2024-03-04',
      { '2024-03-04': 110, '2024-03-05': 121, '2024-03-06': 121 },
      { index },
    )
    expect(found.beta).toBeCloseTo(1, 10)
    expect(found.drawdown.percent).toBe(0)
    expect(found.indexPercent).toBeCloseTo(10, 10)
  })

  test('a drawdown from the starting cash begins there', () => {
    const found = summarize('2024-03-04', { '2024-03-04': 90, '2024-03-05': 95 })
    expect(found.drawdown).toMatchObject({ startDate: '20240301', endDate: '20240304', days: 3 })
  })

  test('closes after the valuation do not count', () => {
    const index = { '2024-03-04': 10, '2024-03-06': 12, '2024-03-07': 24 }
    const found = summarize('2024-03-04', rows, { index })
    expect(found.indexPercent).toBeCloseTo(20, 10)
    expect(found.percentAboveIndex).toBeCloseTo(-21, 10)
    expect(summarize('2024-03-04', rows, { index, day: '2024-03-09' }).indexPercent).toBeCloseTo(140, 10)
  })

  test('the risk-free rate counts per trading day and per year', () => {
    const index = { '2024-03-04': 10, '2024-03-05': 11, '2024-03-06': 10.5 }
    const plain = summarize('2024-03-04', rows, { index })
    const above = summarize('2024-03-04', rows, { index, riskFree: 0.05 })
    const daily = 1.05 ** (1 / 252) - 1
    expect(above.sharpe).toBeCloseTo(plain.sharpe! - (daily / (0.2 / Math.SQRT2)) * Math.sqrt(252), 10)
    expect(above.treynor).toBeCloseTo(plain.treynor! - 0.05 / plain.beta!, 10)
    expect(above.beta).toBe(plain.beta)
    expect(above.annualPercent).toBe(plain.annualPercent)
  })
})
