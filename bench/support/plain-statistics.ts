/**
 * The figures of a record as one writes them down from their definitions: rows of objects with map, filter and
 * reduce, a new list for every step. It answers all that `summarizeEquity` answers of a record that has trading
 * days, gains and losses; the cases that are not defined are left out.
 */
import type { EquityStatistics } from '../../src/domain/statistics/equity.ts'
import type { PeriodReturn } from '../../src/domain/statistics/months.ts'

export interface Row {
  readonly date: string
  readonly value: number
}

const dayLength = 86_400_000
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length
const deviation = (values: readonly number[]): number => {
  const middle = mean(values)
  return Math.sqrt(sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1))
}
const daysBetween = (from: string, until: string): number =>
  (Date.parse(until) - Date.parse(from)) / dayLength
const compact = (date: string): string => date.replaceAll('-', '')
const changes = (rows: readonly Row[]): number[] =>
  rows.slice(1).map(({ value }, at) => value / (rows[at]?.value ?? 0) - 1)

/** `rows[0]` is the starting cash on the day of the start. Without interest on cash. */
export function plainStatistics(rows: readonly Row[], index: readonly Row[]): EquityStatistics {
  const [first, last] = [rows[0], rows.at(-1)]
  if (!first || !last) throw new Error('a record has a start')
  const ageInDays = daysBetween(first.date, last.date)
  const growth = last.value / first.value
  const returns = changes(rows)
  const annual = growth ** (252 / returns.length) - 1
  const moved = comparison(rows, index)
  const fall = deepestFall(rows)
  const indexPercent = 100 * indexGain(index, first.date, last.date)
  const months = monthly(rows)
  const shown = months.map(({ percent }) => Math.round(percent * 10) / 10)
  const wins = months.filter(({ percent }) => percent > 0).length
  return {
    ageInDays,
    returnPercent: 100 * (ageInDays < 365 ? growth - 1 : growth ** (365 / ageInDays) - 1),
    returnLabel: ageInDays < 365 ? 'Cumul. Return' : 'Annual Return (Compounded)',
    annualPercent: 100 * annual,
    sharpe: (mean(returns) / deviation(returns)) * Math.sqrt(252),
    sortino:
      (mean(returns) / Math.sqrt(mean(returns.map((value) => Math.min(value, 0) ** 2)))) * Math.sqrt(252),
    calmar: annual / fall.depth,
    drawdown: {
      percent: 100 * fall.depth,
      startDate: compact(fall.peak.date),
      endDate: compact(fall.valley.date),
      days: daysBetween(fall.peak.date, fall.valley.date),
    },
    ...moved,
    treynor: annual / moved.beta,
    indexPercent,
    percentAboveIndex: 100 * (growth - 1) - indexPercent,
    periods: [...months, ...yearly(months)],
    months: {
      count: months.length,
      wins,
      winsShown: shown.filter((percent) => percent > 0).length,
      winRatio: wins / months.length,
    },
  }
}

function comparison(rows: readonly Row[], index: readonly Row[]) {
  const closes = new Map(index.map(({ date, value }) => [date, value]))
  const joined = rows.flatMap(({ date, value }) => {
    const close = closes.get(date)
    return close === undefined ? [] : [{ date, value, close }]
  })
  const own = changes(joined)
  const other = changes(joined.map(({ date, close }) => ({ date, value: close })))
  const [ownMean, otherMean] = [mean(own), mean(other)]
  const covariance =
    sum(own.map((value, at) => (value - ownMean) * ((other[at] ?? 0) - otherMean))) / (own.length - 1)
  const beta = covariance / deviation(other) ** 2
  return {
    beta,
    alpha: (1 + ownMean - beta * otherMean) ** 252 - 1,
    correlation: covariance / deviation(own) / deviation(other),
  }
}

/** The deepest fall below the highest value so far; a peak counts with its last day. */
function deepestFall(rows: readonly Row[]): { peak: Row; valley: Row; depth: number } {
  let highest = rows[0] as Row
  return rows
    .map((row) => {
      if (row.value >= highest.value) highest = row
      return { peak: highest, valley: row, depth: 1 - row.value / highest.value }
    })
    .reduce((deepest, fall) => (fall.depth > deepest.depth ? fall : deepest))
}

function indexGain(index: readonly Row[], from: string, until: string): number {
  const closeAt = (day: string): number => index.findLast(({ date }) => date <= day)?.value ?? Number.NaN
  return closeAt(until) / closeAt(from) - 1
}

function monthly(rows: readonly Row[]): PeriodReturn[] {
  const ends = new Map(rows.slice(1).map(({ date, value }) => [date.slice(0, 7), value]))
  return [...ends].map(([month, value], at, all) => ({
    year: Number(month.slice(0, 4)),
    month: Number(month.slice(5)),
    percent: 100 * (value / (all[at - 1]?.[1] ?? rows[0]?.value ?? 0) - 1),
  }))
}

function yearly(months: readonly PeriodReturn[]): PeriodReturn[] {
  return [...new Set(months.map(({ year }) => year))].map((year) => ({
    year,
    month: 0,
    percent:
      100 *
      (months
        .filter((month) => month.year === year)
        .reduce((growth, { percent }) => growth * (1 + percent / 100), 1) -
        1),
  }))
}
