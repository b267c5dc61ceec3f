/**
 * Return against risk. Moments are gathered in one pass that keeps the running mean, so nothing cancels and a
 * series that does not move has no deviation. Null stands for what is not defined: too few values, no
 * deviation.
 */
import { finite, negligible } from './series.ts'

export const tradingDaysPerYear = 252

/** Moments of returns above a risk-free rate of the same period. */
export interface ExcessMoments {
  readonly count: number
  readonly mean: number
  /** Sample deviation (n - 1). */
  readonly deviation: number
  /** Root of the mean square of the losses; every value counts in the mean. */
  readonly downside: number
}

/**
 * Moments of `returns - riskFree`; of no returns, and the deviation of a single one, they are NaN. Welford,
 * Note on a Method for Calculating Corrected Sums of Squares and Products (1962).
 */
export function excessMoments(returns: Float64Array, riskFree = 0): ExcessMoments {
  const count = returns.length
  let mean = 0
  let squares = 0
  let losses = 0
  for (let at = 0; at < count; at++) {
    const excess = returns[at]! - riskFree
    const off = excess - mean
    mean += off * (1 / (at + 1))
    squares += off * (excess - mean)
    // Twice the loss, 0 for a gain: exact, and without a branch that nobody can foresee.
    const loss = excess - Math.abs(excess)
    losses += loss * loss
  }
  // One value less than there are; without any, that is no number rather than one below nothing.
  const freedom = Math.max(count - 1, 0)
  return { count, mean, deviation: Math.sqrt(squares / freedom), downside: Math.sqrt(losses / count) / 2 }
}

/** mean / deviation * sqrt(periods per year). Sharpe, The Sharpe Ratio (1994). */
export const sharpe = ({ count, mean, deviation }: ExcessMoments, periodsPerYear: number): number | null =>
  count < 2 ? null : perDeviation(mean * Math.sqrt(periodsPerYear), deviation)

/** mean / downside deviation * sqrt(periods per year). Sortino and van der Meer, Downside Risk (1991). */
export const sortino = ({ count, mean, downside }: ExcessMoments, periodsPerYear: number): number | null =>
  count < 2 ? null : perDeviation(mean * Math.sqrt(periodsPerYear), downside)

/** growth^(periods per year / periods) - 1, a fraction; -1 when nothing is left, null without a period. */
export const annualReturn = (
  growth: number | null,
  periods: number,
  periodsPerYear: number,
): number | null =>
  growth === null || periods === 0 ? null : finite(Math.max(growth, 0) ** (periodsPerYear / periods) - 1)

/** Annual return per drawdown, both fractions, `depth` positive. Null without a drawdown. */
export const calmar = (annual: number | null, depth: number): number | null =>
  annual === null ? null : perDeviation(annual, depth)

/** (annual return - annual risk-free rate) / beta. Treynor, How to Rate Management (1965). */
export const treynor = (annual: number | null, annualRiskFree: number, beta: number | null): number | null =>
  annual === null || beta === null || Math.abs(beta) <= negligible
    ? null
    : finite((annual - annualRiskFree) / beta)

/** A deviation too large for a number is unknown: divided by it, everything would be 0. */
const perDeviation = (value: number, deviation: number): number | null =>
  deviation <= negligible || deviation === Number.POSITIVE_INFINITY ? null : finite(value / deviation)
