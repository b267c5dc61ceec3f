import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDay, readDay } from '../time.ts'
import { annualReturns, monthlyReturns, type PeriodReturn, summarizeMonths } from './months.ts'
import { equitySeries } from './series.ts'

const monthsOf = (startDate: string, rows: Record<string, number>) =>
  monthlyReturns(
    equitySeries({
      startDay: readDay(startDate)!,
      startingCash: 100,
      days: Int32Array.from(Object.keys(rows), (date) => readDay(date)!),
      values: Float64Array.from(Object.values(rows)),
    }),
  )
const show = (rows: readonly PeriodReturn[]) =>
  rows.map(({ year, month, percent }) => `${year}-${month} ${Number(percent.toFixed(9))}`)
const months = (...percents: number[]): PeriodReturn[] =>
  percents.map((percent, at) => ({ year: 2024, month: at + 1, percent }))

describe('months', () => {
  // biome-ignore format: a table
  test.each<[string, string, Record<string, number>, string[], string[]]>([
    ['no day', '2024-01-15', {}, [], []],
    ['one day', '2024-01-15', { '2024-01-16': 101 }, ['2024-1 1'], ['2024-0 1']],
    ['the first month from the starting cash, the current one to its last value', '2024-01-15',
      { '2024-01-16': 90, '2024-01-31': 110, '2024-02-01': 105, '2024-02-29': 121, '2024-03-01': 60.5 },
      ['2024-1 10', '2024-2 10', '2024-3 -50'], ['2024-0 -39.5']],
    ['a month without a value merges into the next', '2024-01-15', { '2024-01-31': 110, '2024-03-28': 132 },
      ['2024-1 10', '2024-3 20'], ['2024-0 32']],
    ['a year without a value has no row', '2022-12-01', { '2022-12-30': 110, '2024-01-02': 132 },
      ['2022-12 10', '2024-1 20'], ['2022-0 10', '2024-0 20']],
    ['years ascending', '2023-11-30', { '2023-12-01': 50, '2023-12-29': 120, '2024-01-31': 60, '2024-12-31': 90 },
      ['2023-12 20', '2024-1 -50', '2024-12 50'], ['2023-0 20', '2024-0 -25']],
    ['leap days', '2023-02-01', { '2023-02-28': 110, '2023-03-01': 121, '2024-02-29': 121, '2024-03-01': 242 },
      ['2023-2 10', '2023-3 10', '2024-2 0', '2024-3 100'], ['2023-0 21', '2024-0 100']],
    ['a year without one', '2100-02-01', { '2100-02-28': 110, '2100-03-01': 121 }, ['2100-2 10', '2100-3 10'], ['2100-0 21']],
    ['nothing left', '2024-01-15', { '2024-01-31': 0, '2024-02-01': 50, '2024-03-01': 75 },
      ['2024-1 -100', '2024-2 0', '2024-3 50'], ['2024-0 -100']],
  ])('%s', (_, startDate, rows, expectedMonths, expectedYears) => {
    const found = monthsOf(startDate, rows)
    expect(show(found)).toEqual(expectedMonths)
    expect(show(annualReturns(found))).toEqual(expectedYears)
  })

  test('are those of the calendar, and compound to the whole', () => {
    const step = fc.tuple(fc.integer({ min: 1, max: 70 }), fc.integer({ min: 50, max: 200 }))
    fc.assert(
      fc.property(fc.nat(20_000), fc.array(step, { minLength: 1, maxLength: 60 }), (first, steps) => {
        let day = first
        const rows = Object.fromEntries(
          steps.map(([days, value]) => {
            day += days
            return [formatDay(day), value]
          }),
        )
        const found = monthsOf(formatDay(first), rows)
        const names = new Set(Object.keys(rows).map((date) => date.slice(0, 7)))
        expect(found.map(({ year, month }) => `${year}-${String(month).padStart(2, '0')}`)).toEqual([
          ...names,
        ])
        const grown = (list: PeriodReturn[]) =>
          list.reduce((all, { percent }) => all * (1 + percent / 100), 100)
        expect(grown(found)).toBeCloseTo(Object.values(rows).at(-1)!, 8)
        expect(grown(annualReturns(found))).toBeCloseTo(Object.values(rows).at(-1)!, 8)
      }),
    )
  })
})

describe('months that won', () => {
  test.each<[string, PeriodReturn[], [number, number, number, number | null]]>([
    ['none', [], [0, 0, 0, null]],
    ['a flat month won nothing', months(0), [1, 0, 0, 0]],
    ['a win that shows as 0.0', months(0.04, -0.04), [2, 1, 0, 0.5]],
    ['half of the last digit shows as 0.1', months(0.05, 100 * (100.05 / 100 - 1)), [2, 2, 2, 1]],
    ['all lost', months(-1, -2, -0.01), [3, 0, 0, 0]],
    ['some won', months(5, -2, 1, 0.01), [4, 3, 2, 0.75]],
  ])('%s', (_, rows, [count, wins, winsShown, winRatio]) => {
    expect(summarizeMonths(rows)).toEqual({ count, wins, winsShown, winRatio })
  })
})
