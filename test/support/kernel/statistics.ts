/** Statistics over plain JSON, with the field names of StrategyDetails: stats.* */
import {
  alpha,
  beta,
  comovementOf,
  correlation,
  type IndexSeries,
} from '../../../src/domain/statistics/benchmark.ts'
import { deepestDrawdown, longestRecovery } from '../../../src/domain/statistics/drawdown.ts'
import { type EquityStatistics, summarizeEquity } from '../../../src/domain/statistics/equity.ts'
import {
  annualReturn,
  calmar,
  excessMoments,
  sharpe,
  sortino,
  treynor,
} from '../../../src/domain/statistics/ratios.ts'
import { equitySeries, finite } from '../../../src/domain/statistics/series.ts'
import { summarizeTrades } from '../../../src/domain/statistics/trades.ts'
import { type Day, dayIn, newYork, readDay, readInstant } from '../../../src/domain/time.ts'
import { momentOf, type Num, type Time } from './numbers.ts'
import type { KernelOp } from './types.ts'

interface ReturnsInput {
  statistic: string
  returns: number[]
  benchmark?: number[] | null
  riskFree?: number | number[] | null
  periodsPerYear?: number | null
}

/** What a statistic of plain returns is computed from; the risk-free rate may differ from period to period. */
interface Returns {
  own: Float64Array
  excess: Float64Array
  index: Float64Array
  excessIndex: Float64Array
  riskFree: Float64Array
  perYear: number
}

const statistics: Record<string, (given: Returns) => number | null> = {
  sharpe: ({ excess, perYear }) => sharpe(excessMoments(excess), perYear),
  sortino: ({ excess, perYear }) => sortino(excessMoments(excess), perYear),
  downsideDeviation: ({ excess }) => finite(excessMoments(excess).downside),
  annualReturn: ({ own, perYear }) => yearly(own, perYear),
  totalReturn: ({ own }) => finite(compound(own) - 1),
  annualVolatility: ({ own, perYear }) => finite(excessMoments(own).deviation * Math.sqrt(perYear)),
  maxDrawdown: ({ own }) => 0 - depthOf(own),
  calmar: ({ own, perYear }) => calmar(yearly(own, perYear), depthOf(own)),
  beta: ({ excess, excessIndex }) => beta(comovementOf(excess, excessIndex)),
  alpha: ({ excess, excessIndex, perYear }) => alpha(comovementOf(excess, excessIndex), 0, perYear),
  correlation: ({ own, index }) => correlation(comovementOf(own, index)),
  treynor: ({ own, excess, excessIndex, riskFree, perYear }) =>
    treynor(yearly(own, perYear), yearly(riskFree, perYear) ?? 0, beta(comovementOf(excess, excessIndex))),
}

const compound = (returns: Float64Array): number => returns.reduce((grown, each) => grown * (1 + each), 1)

const yearly = (returns: Float64Array, perYear: number): number | null =>
  annualReturn(compound(returns), returns.length, perYear)

function depthOf(returns: Float64Array): number {
  const wealth = new Float64Array(returns.length + 1).fill(1)
  returns.forEach((each, at) => {
    wealth[at + 1] = wealth[at]! * (1 + each)
  })
  return deepestDrawdown(wealth)?.depth ?? 0
}

/** Values that go with the returns, period by period, or none: otherwise the pairs would be anybody's guess. */
function checkPaired(name: string, values: readonly number[] | null | undefined, returns: readonly number[]) {
  if (!values?.length || values.length === returns.length) return
  throw new Error(`${name} has ${values.length} values; returns has ${returns.length}`)
}

function statsReturns({ statistic, returns, benchmark, riskFree: rate, periodsPerYear }: ReturnsInput) {
  const compute = Object.hasOwn(statistics, statistic) ? statistics[statistic] : undefined
  if (!compute)
    throw new Error(`unknown statistic ${statistic}; known: ${Object.keys(statistics).join(', ')}`)
  checkPaired('benchmark', benchmark, returns)
  checkPaired('riskFree', Array.isArray(rate) ? rate : null, returns)
  const own = Float64Array.from(returns)
  const index = Float64Array.from(benchmark ?? [])
  const riskFree = own.map((_, at) => (Array.isArray(rate) ? (rate[at] ?? 0) : (rate ?? 0)))
  const aboveRiskFree = (series: Float64Array) => series.map((each, at) => each - (riskFree[at] ?? 0))
  const excess = aboveRiskFree(own)
  const excessIndex = aboveRiskFree(index)
  return { value: compute({ own, excess, index, excessIndex, riskFree, perYear: periodsPerYear ?? 252 }) }
}

interface DatedValue {
  date: string
  value: number
  flow?: number
}

interface EquityInput {
  startDate: string
  startingCash: number
  equity: DatedValue[]
  benchmark?: DatedValue[] | null
  riskFreeAnnual?: Num | null
}

function tradingDay(text: string): Day {
  const day = readDay(text) ?? dayIn(readInstant(text) ?? Number.NaN, newYork)
  if (Number.isNaN(day)) throw new Error(`no date: ${text}`)
  return day
}

function columnsOf(rows: readonly DatedValue[]) {
  const sorted = rows
    .map(({ date, value, flow }) => ({ day: tradingDay(date), value, flow: flow ?? 0 }))
    .sort((a, b) => a.day - b.day)
  return {
    days: Int32Array.from(sorted, ({ day }) => day),
    values: Float64Array.from(sorted, ({ value }) => value),
    flows: Float64Array.from(sorted, ({ flow }) => flow),
  }
}

function indexOf(rows: readonly DatedValue[] | null | undefined): { index?: IndexSeries } {
  if (!rows || rows.length === 0) return {}
  const { days, values } = columnsOf(rows)
  return { index: { days, closes: values } }
}

function statsEquity({ startDate, startingCash, equity, benchmark, riskFreeAnnual }: EquityInput) {
  const { days, values, flows } = columnsOf(equity)
  const series = equitySeries({
    startDay: tradingDay(startDate),
    startingCash,
    days,
    values,
    ...(flows.some((flow) => flow !== 0) ? { flows } : {}),
  })
  return equityFields(
    summarizeEquity(series, { ...indexOf(benchmark), riskFree: Number(riskFreeAnnual ?? 0) }),
  )
}

const equityFields = (found: EquityStatistics) => ({
  Return: found.returnPercent,
  ReturnLabel: found.returnLabel,
  AgeInDays: found.ageInDays,
  AnnualReturnTradingDays: found.annualPercent,
  Sharpe: found.sharpe,
  Sortino: found.sortino,
  Calmar: found.calmar,
  MaxDrawdown: found.drawdown.percent,
  MaxDrawdownStartDate: found.drawdown.startDate,
  MaxDrawdownEndDate: found.drawdown.endDate,
  MaxDrawdownDays: found.drawdown.days,
  Beta: found.beta,
  Alpha: found.alpha,
  CorrelationSP500: found.correlation,
  CorrelationToSP500: found.correlation,
  Treynor: found.treynor,
  SP500Return: found.indexPercent,
  ReturnVsSP500: found.percentAboveIndex,
  MonthlyResults: found.periods.map(({ year, month, percent }) => ({
    Year: year,
    Month: month,
    Return: percent,
    IsAnnual: month === 0,
  })),
  NumMonths: found.months.count,
  WinMonths: found.months.wins,
  WinMonthsInUI: found.months.winsShown,
  WinMonthsRatio: found.months.winRatio,
})

function statsTrades({ trades }: { trades: { openDate: Time; closeDate: Time; profitLoss: number }[] }) {
  const summary = summarizeTrades()
  for (const { openDate, closeDate, profitLoss } of trades)
    summary.add({ openedAt: momentOf(openDate), closedAt: momentOf(closeDate), profitLoss })
  const found = summary.end()
  return {
    NumTrades: found.trades,
    NumWinners: found.winners,
    NumLosers: found.losers,
    PercentWinTrades: found.winPercent,
    SumDollarWinners: found.wonAmount,
    SumDollarLosers: found.lostAmount,
    AvgWinDollars: found.averageWin,
    AvgLossDollars: found.averageLoss,
    ProfitFactor: found.profitFactor,
    AvgTradeDuration: found.averageDays,
  }
}

function statsDrawdown(input: { values: number[] }) {
  const values = Float64Array.from(input.values)
  return {
    maxDrawdownPercent: 100 * (deepestDrawdown(values)?.depth ?? 0),
    longestRecoveryDays: longestRecovery(values),
  }
}

export const statisticsOps: Record<string, KernelOp> = {
  'stats.returns': statsReturns,
  'stats.equity': statsEquity,
  'stats.trades': statsTrades,
  'stats.drawdown': statsDrawdown,
}
