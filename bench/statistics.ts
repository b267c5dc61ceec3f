/**
 * The statistics of ten years of days: equity, ratios, drawdown, months and the comparison with the index. The peer
 * computes the same figures as one reads their definitions, over rows of objects with map and reduce.
 */

import { isTradeDate } from '../src/domain/calendar.ts'
import { summarizeEquity } from '../src/domain/statistics/equity.ts'
import { equitySeries } from '../src/domain/statistics/series.ts'
import { formatDay, readDay } from '../src/domain/time.ts'
import { type Bench, interleaved, type Method, ratioOf } from './support/report.ts'

const dayCount = 2_520
const strategies = 40
const rounds = 9

interface Row {
  date: string
  day: number
  value: number
}

/** A walk with its own seed; the same in every run. */
function walk(days: readonly number[], seed: number, start: number): Row[] {
  let state = seed
  let value = start
  return days.map((day) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    value *= 1 + (state / 2_147_483_648 - 0.499) * 0.03
    return { date: formatDay(day), day, value }
  })
}

function tradingDays(): number[] {
  const days: number[] = []
  for (let day = readDay('2010-01-05') ?? 0; days.length < dayCount; day++) {
    if (isTradeDate('US_EQUITY', day)) days.push(day)
  }
  return days
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: readonly number[]): number => sum(values) / values.length
const deviation = (values: readonly number[]): number => {
  const middle = mean(values)
  return Math.sqrt(sum(values.map((value) => (value - middle) ** 2)) / (values.length - 1))
}

/** The same figures over objects. */
function plain(start: number, rows: readonly Row[], index: readonly Row[]) {
  const way = [{ date: '', value: start }, ...rows]
  const returns = rows.map((row, at) => row.value / way[at]!.value - 1)
  const closes = new Map(index.map((row) => [row.date, row.value]))
  const joined = rows.filter((row) => closes.has(row.date))
  const own = joined.slice(1).map((row, at) => row.value / joined[at]!.value - 1)
  const other = joined.slice(1).map((row, at) => closes.get(row.date)! / closes.get(joined[at]!.date)! - 1)
  const [ownMean, otherMean] = [mean(own), mean(other)]
  const covariance = sum(own.map((value, at) => (value - ownMean) * (other[at]! - otherMean)))
  const beta = covariance / sum(other.map((value) => (value - otherMean) ** 2))
  const correlation = covariance / (own.length - 1) / deviation(own) / deviation(other)
  const falls = way.reduce<{ peak: number; depth: number }>(
    ({ peak, depth }, { value }) => ({
      peak: Math.max(peak, value),
      depth: Math.max(depth, 1 - value / Math.max(peak, value)),
    }),
    { peak: start, depth: 0 },
  )
  const months = new Map(rows.map((row) => [row.date.slice(0, 7), row.value]))
  const annual = (rows.at(-1)!.value / start) ** (252 / returns.length) - 1
  return {
    sharpe: (mean(returns) / deviation(returns)) * Math.sqrt(252),
    sortino:
      (mean(returns) / Math.sqrt(mean(returns.map((value) => Math.min(value, 0) ** 2)))) * Math.sqrt(252),
    beta,
    alpha: (1 + ownMean - beta * otherMean) ** 252 - 1,
    correlation,
    treynor: annual / beta,
    calmar: annual / falls.depth,
    months: [...months.values()].map((value, at, all) => value / (all[at - 1] ?? start) - 1),
  }
}

async function run() {
  const days = tradingDays()
  const index = walk(days, 7, 1_000)
  const records = Array.from({ length: strategies }, (_, seed) => walk(days, seed + 11, 100_000))
  const columns = records.map((rows) => ({
    startDay: (days[0] ?? 0) - 1,
    startingCash: 100_000,
    days: Int32Array.from(days),
    values: Float64Array.from(rows, ({ value }) => value),
  }))
  const indexColumns = { days: Int32Array.from(days), closes: Float64Array.from(index, ({ value }) => value) }
  let kept = 0
  /** Per second of computing: what else the machine does is not counted. */
  const rate = (count: number, work: () => void): number => {
    const before = process.cpuUsage()
    work()
    const { user, system } = process.cpuUsage(before)
    return (count * 1e6) / (user + system)
  }
  const product: Method = {
    name: 'product',
    unit: 'strategies/s',
    measure: async () =>
      rate(strategies * 10, () => {
        for (let again = 0; again < 10; again++) {
          for (const record of columns)
            kept += summarizeEquity(equitySeries(record), { riskFree: 0, index: indexColumns }).sharpe ?? 0
        }
      }),
  }
  const peer: Method = {
    name: 'objects, map and reduce',
    unit: 'strategies/s',
    measure: async () =>
      rate(strategies, () => {
        for (const rows of records) kept += plain(100_000, rows, index).sharpe
      }),
  }
  const figures = await interleaved([product, peer], rounds)
  if (!Number.isFinite(kept)) throw new Error('the figures are no numbers')
  return { figures, ratios: [ratioOf(figures, 'product', 'objects, map and reduce', { atLeast: 15 })] }
}

export const bench: Bench = { name: 'statistics', run }
