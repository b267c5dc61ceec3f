/**
 * The monitor of fills that left their strategy's: a follower's execution is an exception when its price or its
 * moment is further from the strategy's own fill than the tolerance. Slippage is positive when the follower fared
 * worse; the delay runs from the moment at which the signal went out.
 */

import type { Instant } from '../time.ts'
import { isOpen } from './calendar.ts'

/** Beyond these an execution is an exception. */
export const fillTolerance = { ticks: 2, seconds: 30 } as const

/** RTH: regular trading hours, in which US stocks trade. ETH: all others. */
export type TradingHours = 'RTH' | 'ETH'

/** The hours to which an execution belongs; the opening instant is regular, the closing one is not. */
export const tradingHoursAt = (at: Instant): TradingHours => (isOpen('US_EQUITY', at) ? 'RTH' : 'ETH')

export interface FillException {
  /** Positive: worse for the follower than the strategy's fill. */
  readonly slippageTicks: number
  /** From the signal to the fill. */
  readonly delaySeconds: number
  readonly session: TradingHours
}

export interface ExceptionFigures {
  readonly total: number
  readonly favorable: number
  readonly unfavorable: number
  readonly rth: number
  readonly eth: number
  /** These four are null where nothing is counted. */
  readonly averageSlippageTicks: number | null
  readonly maximumSlippageTicks: number | null
  readonly averageDelaySeconds: number | null
  /** Nearest rank. */
  readonly p90DelaySeconds: number | null
}

/** Counts exceptions and says how far they were off. */
export function figuresOf(exceptions: readonly FillException[]): ExceptionFigures {
  const total = exceptions.length
  const count = (matches: (one: FillException) => boolean): number => exceptions.filter(matches).length
  const sum = (of: (one: FillException) => number): number =>
    exceptions.reduce((subtotal, one) => subtotal + of(one), 0)
  const delays = exceptions.map(({ delaySeconds }) => delaySeconds).sort((one, other) => one - other)
  const isAny = total > 0
  return {
    total,
    favorable: count(({ slippageTicks }) => slippageTicks < 0),
    unfavorable: count(({ slippageTicks }) => slippageTicks > 0),
    rth: count(({ session }) => session === 'RTH'),
    eth: count(({ session }) => session === 'ETH'),
    averageSlippageTicks: isAny ? sum(({ slippageTicks }) => slippageTicks) / total : null,
    maximumSlippageTicks: isAny
      ? exceptions.reduce((most, { slippageTicks }) => Math.max(most, Math.abs(slippageTicks)), 0)
      : null,
    averageDelaySeconds: isAny ? sum(({ delaySeconds }) => delaySeconds) / total : null,
    p90DelaySeconds: delays[Math.ceil(total * 0.9) - 1] ?? null,
  }
}
