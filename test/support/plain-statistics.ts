/**
 * The statistics of a record written down a second time, as one reads the definitions: rows of objects, dates
 * as text, map and reduce, every mean before its deviation. Slow and plain; tests hold the product against it.
 */
import { isTradeDate } from '../../src/domain/market/calendar.ts'
import { formatDay, readDay } from '../../src/domain/time.ts'

export interface PlainRow {
  date: string
  value: number
  flow?: number
}

export interface PlainRecord {
  startDate: string
  startingCash: number
  equity: PlainRow[]
  benchmark?: PlainRow[]
  riskFreeAnnual: number
}

interface Point {
  date: string
  value: number
}

const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
const mean = (values: number[]): number => sum(values) / values.length
const known = (value: number): number | null => (Number.isFinite(value) ? value : null)
const dayNumber = (date: string): number => Date.parse(`${date}T00:00:00Z`) / 86_400_000
const percentBetween = (from: number, to: number): number => (from > 0 ? (to / from - 1) * 100 : 0)

const covariance = (a: number[], b: number[]): number =>
  sum(a.map((value, at) => (value - mean(a)) * (b[at]! - mean(b)))) / (a.length - 1)
export const deviation = (values: number[]): number => Math.sqrt(covariance(values, values))

export function plainSharpe(excess: number[], perYear: number): number | null {
  if (excess.length < 2 || deviation(excess) <= 1e-12) return null
  return known((mean(excess) / deviation(excess)) * Math.sqrt(perYear))
}

export function plainSortino(excess: number[], perYear: number): number | null {
  const downside = Math.sqrt(mean(excess.map((value) => Math.min(value, 0) ** 2)))
  if (excess.length < 2 || downside <= 1e-12) return null
  return known((mean(excess) / downside) * Math.sqrt(perYear))
}

function tradingDayBefore(date: string): string {
  const before = (readDay(date) ?? 0) - 1
  return isTradeDate('US_EQUITY', before) ? formatDay(before) : tradingDayBefore(formatDay(before))
}

function returnsOf({ startingCash, equity }: PlainRecord): { returns: number[]; isSolvent: boolean } {
  const before = [startingCash, ...equity.map((row) => row.value)]
  const returns = equity.map(({ value, flow = 0 }, at) =>
    before[at]! > 0 ? (value - flow) / before[at]! - 1 : 0,
  )
  return { returns, isSolvent: before.slice(0, equity.length).every((value) => value > 0) }
}

/** The way of the starting cash; with flows the chained returns. */
function wayOf(record: PlainRecord, returns: number[]): Point[] {
  const { startDate, startingCash, equity } = record
  const hasFlows = equity.some((row) => row.flow)
  const date = equity[0]?.date === startDate ? tradingDayBefore(startDate) : startDate
  return [
    { date, value: startingCash },
    ...equity.map((row, at) => ({
      date: row.date,
      value: hasFlows
        ? returns.slice(0, at + 1).reduce((value, each) => value * (1 + each), startingCash)
        : row.value,
    })),
  ]
}

function drawdownOf(way: Point[]) {
  const falls = way.map(({ value }, at) => {
    const peak = Math.max(...way.slice(0, at + 1).map((point) => point.value))
    return peak > 0 ? 1 - value / peak : 0
  })
  const depth = Math.max(...falls)
  if (depth <= 1e-12) return { depth: 0, start: null, end: null }
  const end = falls.indexOf(depth)
  const until = way.slice(0, end + 1)
  const peak = Math.max(...until.map((point) => point.value))
  return { depth, start: until.findLast((point) => point.value === peak)!.date, end: way[end]!.date }
}

function beside(way: Point[], returns: number[], benchmark: PlainRow[], riskFree: number) {
  const closes = new Map(benchmark.map((row) => [row.date, row.value]))
  const joined = way.filter((point) => closes.has(point.date))
  // After a total loss the way stays at nothing, but what is paid in afterwards still has returns.
  const own = joined.slice(1).map((point, at) => {
    const between = way.flatMap(({ date }, place) =>
      date > joined[at]!.date && date <= point.date ? [returns[place - 1]!] : [],
    )
    return between.reduce((grown, each) => grown * (1 + each), 1) - 1
  })
  const index = joined
    .slice(1)
    .map((point, at) => closes.get(point.date)! / closes.get(joined[at]!.date)! - 1)
  if (own.length < 2 || deviation(index) <= 1e-12) return { beta: null, alpha: null, correlation: null }
  const beta = covariance(own, index) / covariance(index, index)
  const daily =
    mean(own.map((value) => value - riskFree)) - beta * mean(index.map((value) => value - riskFree))
  const isFlat = deviation(own) <= 1e-12
  const correlation = isFlat ? null : covariance(own, index) / deviation(own) / deviation(index)
  // Who loses more than everything in a day has nothing left; an even power would make a fortune of it.
  return { beta, alpha: known(Math.max(1 + daily, 0) ** 252 - 1), correlation }
}

function monthsOf(way: Point[]) {
  const names = [...new Set(way.slice(1).map((point) => point.date.slice(0, 7)))]
  const ends = names.map((name) => way.slice(1).findLast((point) => point.date.startsWith(name))!.value)
  const months = names.map((name, at) => ({
    Year: Number(name.slice(0, 4)),
    Month: Number(name.slice(5)),
    Return: percentBetween(ends[at - 1] ?? way[0]!.value, ends[at]!),
    IsAnnual: false,
  }))
  const years = [...new Set(months.map((month) => month.Year))].map((year) => ({
    Year: year,
    Month: 0,
    Return:
      100 *
      (months.filter((row) => row.Year === year).reduce((grown, row) => grown * (1 + row.Return / 100), 1) -
        1),
    IsAnnual: true,
  }))
  return { months, years }
}

function indexPercent({ startDate, equity, benchmark = [] }: PlainRecord): number | null {
  const from = benchmark.findLast((row) => row.date <= startDate)
  const to = benchmark.findLast((row) => row.date <= (equity.at(-1)?.date ?? startDate))
  return from && to ? percentBetween(from.value, to.value) : null
}

/** Every equity field of StrategyDetails, by its definition. */
export function plainEquity(record: PlainRecord) {
  const { startDate, equity, riskFreeAnnual } = record
  const { returns, isSolvent } = returnsOf(record)
  const way = wayOf(record, returns)
  const riskFree = (1 + riskFreeAnnual) ** (1 / 252) - 1
  const excess = returns.map((each) => each - riskFree)
  const growth = way.at(-1)!.value / way[0]!.value
  const age = dayNumber(equity.at(-1)?.date ?? startDate) - dayNumber(startDate)
  const annual =
    isSolvent && returns.length > 0 ? known(Math.max(growth, 0) ** (252 / returns.length) - 1) : null
  const { depth, start, end } = drawdownOf(way)
  const none = { beta: null, alpha: null, correlation: null }
  const moved = isSolvent && record.benchmark ? beside(way, returns, record.benchmark, riskFree) : none
  const { months, years } = monthsOf(way)
  const index = indexPercent(record)
  const cumulative = (growth - 1) * 100
  return {
    Return: age < 365 ? cumulative : growth > 0 ? (growth ** (365 / age) - 1) * 100 : -100,
    ReturnLabel: age < 365 ? 'Cumul. Return' : 'Annual Return (Compounded)',
    AgeInDays: age,
    AnnualReturnTradingDays: annual === null ? null : annual * 100,
    Sharpe: isSolvent ? plainSharpe(excess, 252) : null,
    Sortino: isSolvent ? plainSortino(excess, 252) : null,
    Calmar: annual === null || depth === 0 ? null : annual / depth,
    MaxDrawdown: depth * 100,
    MaxDrawdownStartDate: start?.replaceAll('-', '') ?? null,
    MaxDrawdownEndDate: end?.replaceAll('-', '') ?? null,
    MaxDrawdownDays: start && end ? dayNumber(end) - dayNumber(start) : 0,
    Beta: moved.beta,
    Alpha: moved.alpha,
    CorrelationSP500: moved.correlation,
    CorrelationToSP500: moved.correlation,
    Treynor:
      annual === null || moved.beta === null || Math.abs(moved.beta) <= 1e-12
        ? null
        : (annual - riskFreeAnnual) / moved.beta,
    SP500Return: index,
    ReturnVsSP500: index === null ? null : cumulative - index,
    MonthlyResults: [...months, ...years],
    NumMonths: months.length,
    WinMonths: months.filter((row) => row.Return > 0).length,
    // 0.05 percent written as a double may lie a hair below: what prints as 0.05 rounds up.
    WinMonthsInUI: months.filter((row) => Math.round(Number(row.Return.toPrecision(12)) * 10) > 0).length,
    WinMonthsRatio:
      months.length === 0 ? null : months.filter((row) => row.Return > 0).length / months.length,
  }
}
