/** Orders as every listing shows them, strategy signals and account orders alike. */
import { clientOrderId } from '../domain/orders/client-order-id.ts'
import type { OrderRow } from '../storage/mirror/signal-listings.ts'
import { shownSymbols } from './symbols.ts'

/** An order of an answer. `environment` is the code that this platform's client order ids carry. */
export function shownOrder(row: OrderRow, environment: string) {
  const filledPx = row.avgPx ?? '0'
  return {
    OrderStatus: row.status,
    FilledQuantity: row.cumQty,
    AvgFillPrice: filledPx,
    PostedDate: row.postedAt,
    SignalType: row.signalType,
    Id: row.id,
    OrderId: orderIdOf(row, environment),
    StrategyId: row.strategyId,
    StrategyName: row.strategyName,
    SignalId: row.signalId,
    AvgPx: filledPx,
    OrderType: row.ordType,
    Side: row.side,
    OpenClose: row.positionEffect,
    OrderQuantity: row.orderQty,
    Limit: row.limitPx,
    Stop: row.stopPx,
    TIF: row.timeInForce,
    ProfitTarget: row.profitTarget,
    StopLoss: row.stopLoss,
    // Wishes that were not made are left out.
    DoNotCreateOCAGroup: row.doNotCreateOcaGroup || null,
    CancelReplaceSignalId: row.replacesSignalId,
    ParentSignalId: row.parentSignalId,
    ParkedUntilDate: row.parkedUntil,
    DoNotSyncToOpen: row.doNotSyncToOpen || null,
    ...shownSymbols(row),
    RejectMessage: row.rejectText,
    BrokerId: row.brokerId,
    Info: row.info,
  } as const
}

/** An account order's is our client order id, a strategy order's its signal id as text. */
function orderIdOf(row: OrderRow, environment: string): string {
  if (row.setupId === null || row.revision === null) return String(row.signalId)
  const { setupId, source, sourceId, revision } = row
  return clientOrderId({ environment, setupId, source, sourceId, revision })
}
