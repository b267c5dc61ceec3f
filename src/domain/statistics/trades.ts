/**
 * Figures of finished trades, from their net results as they are listed, so that a reader of the list can
 * recompute them. Losses are shown as positive amounts.
 */
import { dayLength, type Instant } from '../time.ts'

export interface TradeResult {
  readonly openedAt: Instant
  readonly closedAt: Instant
  /** Net of commission, in account currency. */
  readonly profitLoss: number
}

export interface TradeStatistics {
  /** A trade that made exactly nothing is neither winner nor loser. */
  readonly trades: number
  readonly winners: number
  readonly losers: number
  readonly winPercent: number | null
  readonly wonAmount: number
  readonly lostAmount: number
  readonly averageWin: number | null
  readonly averageLoss: number | null
  /** Amount won per amount lost; null without a loser. */
  readonly profitFactor: number | null
  /** Mean time from open to close in days of 24 hours. */
  readonly averageDays: number | null
}

/** Counts, sums and averages of finished trades; null where there is nothing to average. */
export function summarizeTrades(results: readonly TradeResult[]): TradeStatistics {
  let winners = 0
  let losers = 0
  let wonAmount = 0
  let lostAmount = 0
  let held = 0
  for (const { openedAt, closedAt, profitLoss } of results) {
    held += closedAt - openedAt
    if (profitLoss > 0) {
      winners += 1
      wonAmount += profitLoss
    } else if (profitLoss < 0) {
      losers += 1
      lostAmount -= profitLoss
    }
  }
  const trades = results.length
  return {
    trades,
    winners,
    losers,
    winPercent: per(100 * winners, trades),
    wonAmount,
    lostAmount,
    averageWin: per(wonAmount, winners),
    averageLoss: per(lostAmount, losers),
    profitFactor: per(wonAmount, lostAmount),
    averageDays: per(held / dayLength, trades),
  }
}

const per = (value: number, count: number): number | null => (count === 0 ? null : value / count)
