/** Rows of orders and reports as the state machine of orders knows them. */
import { dec } from '../../domain/decimal.ts'
import type { ChainEvent, ChainOrder } from '../../domain/orders/order-chain.ts'
import type { ReportedOrder, ReportRow } from '../../storage/brokers/reports.ts'

/** The order as its state machine knows it. */
export function chainOrderOf(row: ReportedOrder): ChainOrder<number> {
  return {
    id: row.id,
    status: row.status,
    orderQuantity: dec(row.orderQty),
    filledQuantity: dec(row.cumQty),
    filledValue: dec(row.filledValue),
    acknowledged: row.isAcknowledged,
    held: row.status === 'A' && row.attempts === 0,
    ...(row.replacesOrderId !== null && { replaces: row.replacesOrderId }),
  }
}

/** The report as an event of the order it names; undefined where an execution says no quantity or price. */
export function eventOf({ kind, quantity, px, inLast }: ReportRow): ChainEvent<number> | undefined {
  switch (kind) {
    case 'ack':
      return { event: 'ACK' }
    case 'reject':
      return { event: 'REJECT' }
    case 'cancel':
      return { event: 'CANCEL_ACK' }
    case 'expire':
      return { event: 'EXPIRE' }
    case 'replace':
      return { event: 'REPLACE_ACK' }
    case 'replaceReject':
      return { event: 'REPLACE_REJECT' }
    case 'cancelReject':
      return { event: 'CANCEL_REJECT', unknownOrder: false }
    case 'cancelUnknown':
      return { event: 'CANCEL_REJECT', unknownOrder: true }
    case 'fill':
      return quantity === null || px === null || !dec(quantity).greaterThan(0)
        ? undefined
        : { event: 'FILL', quantity: dec(quantity), price: dec(px), inLast }
    // These are no event of an order: executions taken back, totals, and what happens to accounts.
    case 'bust':
    case 'total':
    case 'delink':
    case 'marginCall':
    case 'patternDayTrader':
    case 'restriction':
      return undefined
  }
}
