/**
 * A record beside an index. Both are joined on their dates first and only then turned into returns, so a day
 * that one of them misses merges into the next return of both.
 */
import { firstFrom } from '../ascending.ts'
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
export function comovementWith(series: EquitySeries, index: IndexSeries): Comovement {
  const { days, returns } = series
  const { days: indexDays, closes } = index
  const moved = still()
  let from = -1
  let indexFrom = -1
  let indexAt = firstFrom(indexDays, days[0]!)
  for (let at = 0; at < days.length; at++) {
    const day = days[at]!
    while (indexAt < indexDays.length && indexDays[indexAt]! < day) indexAt += 1
    if (indexDays[indexAt] !== day || !(closes[indexAt]! > 0)) continue
    if (from >= 0) {
      const own = from === at - 1 ? returns[from]! : growthBetween(series, from, at) - 1
      move(moved, own, closes[indexAt]! / closes[indexFrom]! - 1)
    }
    from = at
    indexFrom = indexAt
  }
  return { ...moved }
}

/** Of returns over the same periods; what one list has beyond the other is left out. */
export function comovementOf(own: Float64Array, index: Float64Array): Comovement {
  const count = Math.min(own.length, index.length)
  const moved = still()
  for (let at = 0; at < count; at++) move(moved, own[at]!, index[at]!)
  return { ...moved }
}

type Gathering = { -readonly [Field in keyof Comovement]: number }

const still = (): Gathering => ({
  count: 0,
  ownMean: 0,
  indexMean: 0,
  ownSquares: 0,
  indexSquares: 0,
  products: 0,
})

/** Takes in the returns of one more period; the running means as in `excessMoments`, so that nothing cancels. */
function move(moved: Gathering, own: number, index: number): void {
  moved.count += 1
  const share = 1 / moved.count
  const ownOff = own - moved.ownMean
  const indexOff = index - moved.indexMean
  moved.ownMean += ownOff * share
  moved.indexMean += indexOff * share
  const indexLeft = index - moved.indexMean
  moved.ownSquares += ownOff * (own - moved.ownMean)
  moved.indexSquares += indexOff * indexLeft
  moved.products += ownOff * indexLeft
}

/** What one unit became after the position `from` until the position `until` of a record. */
function growthBetween({ wealth, returns }: EquitySeries, from: number, until: number): number {
  if (wealth[from]! > 0) return wealth[until]! / wealth[from]!
  let growth = 1
  for (let at = from; at < until; at++) growth *= 1 + returns[at]!
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
    let at = firstFrom(days, day + 1) - 1
    while (at >= 0 && !(closes[at]! > 0)) at -= 1
    return closes[at]
  }
  const first = closeAtOrBefore(from)
  const last = closeAtOrBefore(until)
  return first === undefined || last === undefined ? null : last / first - 1
}

/** Without a sample deviation: fewer than two values, or all the same. */
const isFlat = (count: number, squares: number): boolean =>
  count < 2 || Math.sqrt(squares / (count - 1)) <= negligible
