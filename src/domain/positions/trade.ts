/**
 * A trade runs from flat to flat. While it is open it gathers its fills, its results and its worst moment;
 * when the position is flat again it becomes a finished trade, and only those are listed. Money is rounded
 * to cents here and nowhere earlier.
 */
import { oppositeOf, type Side } from '../codes.ts'
import { cents, type Decimal, ledgerPlaces, roundTo, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
import type { Position, PositionChange, PositionFill } from './position.ts'

/** The mark at which a trade stood lowest, and what was held then. */
interface WorstMark {
  /** Unrealised profit and loss in account currency, below 0. */
  readonly drawdown: Decimal
  readonly price: Decimal
  readonly at: Instant
  readonly entryPrice: Decimal
  /** Unsigned. */
  readonly openQuantity: Decimal
  /** Model account value at that moment. */
  readonly strategyEquity: Decimal
}

export interface OpenTrade {
  readonly tradeId: number
  readonly openedAt: Instant
  readonly openSide: Side
  readonly openedQuantity: Decimal
  readonly closedQuantity: Decimal
  /** Price times quantity of all opening and of all closing fills. */
  readonly openTurnover: Decimal
  readonly closeTurnover: Decimal
  readonly commission: Decimal
  readonly realised: Decimal
  /** Null while the trade has never been under water. */
  readonly worst: WorstMark | null
}

export interface FinishedTrade extends OpenTrade {
  readonly symbol: string
  readonly closedAt: Instant
  readonly closeSide: Side
  readonly avgOpenFillPrice: Decimal
  readonly avgCloseFillPrice: Decimal
  /** Net of commission, in cents. */
  readonly profitLoss: Decimal
}

/** A fill as a trade sees it. */
export interface TradeFill extends PositionFill {
  readonly at: Instant
  readonly commission: Decimal
  /** The signal that filled: names the trade if this fill opens one. */
  readonly signalId: number
}

/**
 * The trade after a fill that moved the position by `change`, and the one that it finished. A fill through
 * zero finishes one trade and opens the next; its commission is split by quantity, the finished trade's
 * part to the cent, the remainder to the new one.
 */
export function tradeAfterFill(
  trade: OpenTrade | null,
  symbol: string,
  fill: TradeFill,
  change: PositionChange,
): { readonly trade: OpenTrade | null; readonly finished: FinishedTrade | null } {
  const { closed, opened, realised } = change
  const { commission } = fill
  if (trade === null || closed.isZero()) {
    return {
      trade: gather(trade ?? opening(fill), fill, { closed: zero, opened, realised: zero, commission }),
      finished: null,
    }
  }
  const closingCommission = opened.isZero() ? commission : cents(commission.times(closed).div(fill.quantity))
  const reduced = gather(trade, fill, { closed, opened: zero, realised, commission: closingCommission })
  if (opened.isZero() && !change.position.quantity.isZero()) return { trade: reduced, finished: null }
  const rest = { closed: zero, opened, realised: zero, commission: commission.minus(closingCommission) }
  return {
    trade: opened.isZero() ? null : gather(opening(fill), fill, rest),
    finished: finish(reduced, symbol, fill.at),
  }
}

const opening = (fill: TradeFill): OpenTrade => ({
  tradeId: fill.signalId,
  openedAt: fill.at,
  openSide: fill.side,
  openedQuantity: zero,
  closedQuantity: zero,
  openTurnover: zero,
  closeTurnover: zero,
  commission: zero,
  realised: zero,
  worst: null,
})

/** What one fill adds to one trade. */
interface Addition {
  readonly closed: Decimal
  readonly opened: Decimal
  readonly realised: Decimal
  readonly commission: Decimal
}

const gather = (trade: OpenTrade, fill: TradeFill, added: Addition): OpenTrade => ({
  ...trade,
  openedQuantity: trade.openedQuantity.plus(added.opened),
  closedQuantity: trade.closedQuantity.plus(added.closed),
  openTurnover: trade.openTurnover.plus(fill.price.times(added.opened)),
  closeTurnover: trade.closeTurnover.plus(fill.price.times(added.closed)),
  commission: trade.commission.plus(added.commission),
  realised: trade.realised.plus(added.realised),
})

const finish = (trade: OpenTrade, symbol: string, closedAt: Instant): FinishedTrade => ({
  symbol,
  closedAt,
  closeSide: oppositeOf(trade.openSide),
  avgOpenFillPrice: trade.openTurnover.div(trade.openedQuantity),
  avgCloseFillPrice: trade.closeTurnover.div(trade.closedQuantity),
  profitLoss: cents(trade.realised.minus(trade.commission)),
  ...trade,
})

/** At its average, but for the digits a stored price cannot keep, however many units multiply them. */
const isAtCost = (price: Decimal, average: Decimal): boolean =>
  roundTo(average, ledgerPlaces).equals(roundTo(price, ledgerPlaces))

/** The trade after a mark: the lowest unrealised result is kept, of equal ones the first. */
export function tradeAfterMark(
  trade: OpenTrade,
  position: Position,
  mark: {
    readonly price: Decimal
    readonly at: Instant
    readonly unrealised: Decimal
    readonly strategyEquity: Decimal
  },
): OpenTrade {
  const drawdown = roundTo(mark.unrealised, ledgerPlaces)
  const { price, at, strategyEquity } = mark
  if (position.avgPx === null || isAtCost(price, position.avgPx)) return trade
  if (!drawdown.lessThan(trade.worst?.drawdown ?? zero)) return trade
  const openQuantity = position.quantity.abs()
  return {
    ...trade,
    worst: { drawdown, price, at, entryPrice: position.avgPx, openQuantity, strategyEquity },
  }
}
