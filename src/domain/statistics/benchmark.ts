/**
 * A record beside an index. Both are joined on their dates first and only then turned into returns, so a day
 * that one of them misses merges into the next return of both.
 */
import type { Day } from '../time.ts'
import { type EquitySeries, finite, negligible } from './series.ts'

/** Closes of an index, days ascending. A close at or below zero is read as missing. */
export interface IndexSeries {
  readonly days: Int32Array
  readonly closes: Float64Array
}

/** How two series of returns move together: means, and sums of products of what differs from them. */
export interface Comovement {
  readonly count: number
  readonly ownMean: number
  readonly indexMean: number
  readonly ownSquares: number
  readonly indexSquares: number
  readonly products: number
}

/**
 * Of the returns between the dates that both series have; the record's are its daily returns chained, which stay
 * defined when deposits follow a total loss.
 */
export function comovementWith({ days, wealth, returns }: EquitySeries, index: IndexSeries): Comovement {
  const { days: indexDays, closes } = index
  const own = new Float64Array(days.length)
  const other = new Float64Array(days.length)
  let count = 0
  let from = -1
  let indexFrom = -1
  let indexAt = Math.max(0, lastAtOrBefore(indexDays, days[0]!))
  for (let at = 0; at < days.length; at++) {
    const day = days[at]!
    while (indexAt < indexDays.length && indexDays[indexAt]! < day) indexAt += 1
    if (indexDays[indexAt] !== day || !(closes[indexAt]! > 0)) continue
    if (from >= 0) {
      own[count] = (wealth[from]! > 0 ? wealth[at]! / wealth[from]! : chained(returns, from, at)) - 1
      other[count] = closes[indexAt]! / closes[indexFrom]! - 1
      count += 1
    }
    from = at
    indexFrom = indexAt
  }
  return comovementOf(own.subarray(0, count), other.subarray(0, count))
}

/**
 * Of returns over the same periods; what one list has beyond the other is left out. Means first, so that nothing
 * cancels.
 */
export function comovementOf(own: Float64Array, index: Float64Array): Comovement {
  const count = Math.min(own.length, index.length)
  let ownSum = 0
  let indexSum = 0
  for (let at = 0; at < count; at++) {
    ownSum += own[at]!
    indexSum += index[at]!
  }
  const ownMean = count === 0 ? 0 : ownSum / count
  const indexMean = count === 0 ? 0 : indexSum / count
  let ownSquares = 0
  let indexSquares = 0
  let products = 0
  for (let at = 0; at < count; at++) {
    const ownOff = own[at]! - ownMean
    const indexOff = index[at]! - indexMean
    ownSquares += ownOff * ownOff
    indexSquares += indexOff * indexOff
    products += ownOff * indexOff
  }
  return { count, ownMean, indexMean, ownSquares, indexSquares, products }
}

/** What one unit became after the position `from` until the position `at` of a record. */
function chained(returns: Float64Array, from: number, at: number): number {
  let growth = 1
  for (let next = from; next < at; next++) growth *= 1 + returns[next]!
  return growth
}

/** Covariance over the variance of the index. Null for fewer than two returns and for a flat index. */
export const beta = ({ count, indexSquares, products }: Comovement): number | null =>
  isFlat(count, indexSquares) ? null : finite(products / indexSquares)

/**
 * Jensen's alpha compounded over a year, a fraction: (1 + mean excess - beta * mean excess of the index)^N - 1.
 * `riskFree` per period. A mean below a total loss stays a total loss. Null as beta.
 */
export function alpha(moved: Comovement, riskFree: number, periodsPerYear: number): number | null {
  const slope = beta(moved)
  if (slope === null) return null
  const mean = moved.ownMean - riskFree - slope * (moved.indexMean - riskFree)
  return finite(Math.max(1 + mean, 0) ** periodsPerYear - 1)
}

/** Pearson's coefficient, -1 to 1. Null for fewer than two returns and where either series is flat. */
export function correlation({ count, ownSquares, indexSquares, products }: Comovement): number | null {
  if (isFlat(count, ownSquares) || isFlat(count, indexSquares)) return null
  const scale = Math.sqrt(ownSquares) * Math.sqrt(indexSquares)
  return finite(Math.max(-1, Math.min(1, products / scale)))
}

/** What the index made from its close at or before `from` to its last one at or before `until`, a fraction. */
export function indexReturn({ days, closes }: IndexSeries, from: Day, until: Day): number | null {
  const closeAtOrBefore = (day: Day): number | undefined => {
    let at = lastAtOrBefore(days, day)
    while (at >= 0 && !(closes[at]! > 0)) at -= 1
    return closes[at]
  }
  const first = closeAtOrBefore(from)
  const last = closeAtOrBefore(until)
  return first === undefined || last === undefined ? null : last / first - 1
}

/** Position of the last day at or before `day`; -1 when all are later. */
function lastAtOrBefore(days: Int32Array, day: Day): number {
  let low = 0
  let high = days.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (days[middle]! <= day) low = middle + 1
    else high = middle
  }
  return low - 1
}

/** Without a sample deviation: fewer than two values, or all the same. */
const isFlat = (count: number, squares: number): boolean =>
  count < 2 || Math.sqrt(squares / (count - 1)) <= negligible
