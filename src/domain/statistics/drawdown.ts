/**
 * How far and how long a series stood below its highest value so far. A peak counts with its last day, a
 * valley with its first.
 */
import { negligible } from './series.ts'

export interface Drawdown {
  /** A fraction of the peak, above 0; above 1 when the value fell below zero. */
  readonly depth: number
  /** Positions in the series. */
  readonly peakAt: number
  readonly valleyAt: number
}

/** The deepest fall from a peak, the first one of equals; null when the series never fell. */
export function deepestDrawdown(values: Float64Array): Drawdown | null {
  let peak = Number.NEGATIVE_INFINITY
  let peakAt = 0
  let depth = 0
  let floor = Number.NEGATIVE_INFINITY
  let deepestFrom = 0
  let valleyAt = -1
  for (let at = 0; at < values.length; at++) {
    const value = values[at]!
    if (value >= peak) {
      peak = value
      peakAt = at
      // Deeper by more than noise: an equal fall from another peak is not a deeper one.
      if (peak > 0) floor = peak * (1 - depth - negligible)
    } else if (value < floor) {
      depth = 1 - value / peak
      floor = value
      deepestFrom = peakAt
      valleyAt = at
    }
  }
  return valleyAt < 0 ? null : { depth, peakAt: deepestFrom, valleyAt }
}

/** Positions from the last day of a peak to the first later day that reaches it again, the longest; 0 if none. */
export function longestRecovery(values: Float64Array): number {
  let longest = 0
  let peakAt = 0
  for (let at = 1; at < values.length; at++) {
    if (values[at]! < values[peakAt]!) continue
    if (at - peakAt > 1) longest = Math.max(longest, at - peakAt)
    peakAt = at
  }
  return longest
}
