/**
 * Figures of finished trades, from their net results as they are listed, so that a reader of the list can
 * recompute them. Losses are shown as positive amounts.
 */
import { type Decimal, dec, zero } from '../decimal.ts'
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
  let won = zero
  let lost = zero
  let held = 0
  for (const { openedAt, closedAt, profitLoss } of results) {
    held += closedAt - openedAt
    if (profitLoss > 0) {
      winners += 1
      won = won.plus(dec(profitLoss))
    } else if (profitLoss < 0) {
      losers += 1
      lost = lost.minus(dec(profitLoss))
    }
  }
  const trades = results.length
  return {
    trades,
    winners,
    losers,
    winPercent: per(100 * winners, trades),
    wonAmount: won.toNumber(),
    lostAmount: lost.toNumber(),
    averageWin: exactly(won, dec(winners)),
    averageLoss: exactly(lost, dec(losers)),
    profitFactor: exactly(won, lost),
    averageDays: per(held / dayLength, trades),
  }
}

/** Of amounts without the noise of added doubles: an average on half a cent is to be shown rounded up. */
const exactly = (value: Decimal, by: Decimal): number | null =>
  by.isZero() ? null : value.div(by).toNumber()

const per = (value: number, count: number): number | null => (count === 0 ? null : value / count)
