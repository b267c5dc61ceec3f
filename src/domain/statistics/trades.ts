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

/** Finished trades that are gone through one by one, in any order. */
export interface TradeSummary {
  add(result: TradeResult): void
  /** Counts, sums and averages; null where there is nothing to average. */
  end(): TradeStatistics
}

/** Sums trades up without holding them. */
export function summarizeTrades(): TradeSummary {
  let [trades, winners, losers, held] = [0, 0, 0, 0]
  let [won, lost] = [zero, zero]
  return {
    add: ({ openedAt, closedAt, profitLoss }) => {
      trades += 1
      held += closedAt - openedAt
      if (profitLoss > 0) {
        winners += 1
        won = won.plus(dec(profitLoss))
      } else if (profitLoss < 0) {
        losers += 1
        lost = lost.minus(dec(profitLoss))
      }
    },
    end: () => ({
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
    }),
  }
}

/** Of amounts without the noise of added doubles: an average on half a cent is to be shown rounded up. */
const exactly = (value: Decimal, by: Decimal): number | null =>
  by.isZero() ? null : value.div(by).toNumber()

const per = (value: number, count: number): number | null => (count === 0 ? null : value / count)
