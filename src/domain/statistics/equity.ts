/**
 * Every figure of a strategy that follows from its daily account values and an index. Percentages are numbers
 * like 12.5, ratios plain numbers; null is a figure that is not defined.
 */
import { type Day, formatDay } from '../time.ts'
import { alpha, beta, comovementWith, correlation, type IndexSeries, indexReturn } from './benchmark.ts'
import { deepestDrawdown } from './drawdown.ts'
import {
  annualReturns,
  type MonthSummary,
  monthlyReturns,
  type PeriodReturn,
  summarizeMonths,
} from './months.ts'
import {
  annualReturn,
  calmar,
  excessMoments,
  sharpe,
  sortino,
  tradingDaysPerYear,
  treynor,
} from './ratios.ts'
import { type EquitySeries, finite, growthOf } from './series.ts'

interface Valuation {
  /** Absent: the last day of the series. */
  readonly day?: Day
  readonly index?: IndexSeries
  /** Annual rate, a fraction. */
  readonly riskFree: number
}

export interface EquityStatistics {
  readonly ageInDays: number
  readonly returnPercent: number | null
  readonly returnLabel: 'Cumul. Return' | 'Annual Return (Compounded)'
  /** Annualised by trading days. */
  readonly annualPercent: number | null
  readonly sharpe: number | null
  readonly sortino: number | null
  readonly calmar: number | null
  readonly drawdown: DrawdownFigures
  readonly beta: number | null
  /** A fraction. */
  readonly alpha: number | null
  readonly correlation: number | null
  readonly treynor: number | null
  readonly indexPercent: number | null
  /** Cumulative percent of the strategy less that of the index. */
  readonly percentAboveIndex: number | null
  /** All months ascending, then all years. */
  readonly periods: readonly PeriodReturn[]
  readonly months: MonthSummary
}

interface DrawdownFigures {
  readonly percent: number
  /** YYYYMMDD: last day of the peak, first day of the valley. */
  readonly startDate: string | null
  readonly endDate: string | null
  /** Calendar days from peak to valley. */
  readonly days: number
}

type Ratios = Pick<
  EquityStatistics,
  'annualPercent' | 'sharpe' | 'sortino' | 'calmar' | 'beta' | 'alpha' | 'correlation' | 'treynor'
>

const daysOfYear = 365
const noRatios: Ratios = {
  annualPercent: null,
  sharpe: null,
  sortino: null,
  calmar: null,
  beta: null,
  alpha: null,
  correlation: null,
  treynor: null,
}

/** All equity figures of a strategy at a valuation. A series without a trading day is valued on its start. */
export function summarizeEquity(series: EquitySeries, valuation: Valuation): EquityStatistics {
  const { startDay, days } = series
  const { index } = valuation
  const valued = valuation.day ?? days[days.length - 1]!
  const ageInDays = valued - startDay
  const growth = growthOf(series)
  const fall = deepestDrawdown(series.wealth)
  const months = monthlyReturns(series)
  const indexPercent = percentOf(index ? indexReturn(index, startDay, valued) : null)
  const cumulative = growth === null ? null : 100 * (growth - 1)
  return {
    ageInDays,
    returnPercent: ageInDays < daysOfYear ? cumulative : yearlyPercent(growth, ageInDays),
    returnLabel: ageInDays < daysOfYear ? 'Cumul. Return' : 'Annual Return (Compounded)',
    ...(series.isSolvent ? ratiosOf(series, growth, fall?.depth ?? 0, valuation) : noRatios),
    drawdown: {
      percent: 100 * (fall?.depth ?? 0),
      startDate: fall && compactDate(days[fall.peakAt]!),
      endDate: fall && compactDate(days[fall.valleyAt]!),
      days: fall ? days[fall.valleyAt]! - days[fall.peakAt]! : 0,
    },
    indexPercent,
    percentAboveIndex: cumulative === null || indexPercent === null ? null : cumulative - indexPercent,
    periods: [...months, ...annualReturns(months)],
    months: summarizeMonths(months),
  }
}

function ratiosOf(
  series: EquitySeries,
  growth: number | null,
  depth: number,
  { riskFree, index }: Valuation,
): Ratios {
  const dailyRiskFree = (1 + riskFree) ** (1 / tradingDaysPerYear) - 1
  const moments = excessMoments(series.returns, dailyRiskFree)
  const annual = annualReturn(growth, moments.count, tradingDaysPerYear)
  const own = {
    annualPercent: percentOf(annual),
    sharpe: sharpe(moments, tradingDaysPerYear),
    sortino: sortino(moments, tradingDaysPerYear),
    calmar: calmar(annual, depth),
  }
  if (!index) return { ...noRatios, ...own }
  const moved = comovementWith(series, index)
  const slope = beta(moved)
  return {
    beta: slope,
    alpha: alpha(moved, dailyRiskFree, tradingDaysPerYear),
    correlation: correlation(moved),
    treynor: treynor(annual, riskFree, slope),
    ...own,
  }
}

/** growth^(365 / age) - 1 in percent; what fell to nothing or below lost all of it. */
const yearlyPercent = (growth: number | null, ageInDays: number): number | null =>
  growth === null ? null : finite(100 * (Math.max(growth, 0) ** (daysOfYear / ageInDays) - 1))

const percentOf = (fraction: number | null): number | null =>
  fraction === null ? null : finite(100 * fraction)

const compactDate = (day: Day): string => formatDay(day).replaceAll('-', '')
