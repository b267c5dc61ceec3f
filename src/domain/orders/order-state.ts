/**
 * What one order is made of and what can happen to it. The same shape serves strategy orders and the orders
 * sent to brokers, and is small enough to be one database row: executions stay outside, only their sums are kept.
 * Invariant: `filledValue` is the sum of quantity times price of exactly the executions in `filledQuantity`.
 */
import { isLive, type OrdStatus } from '../codes.ts'
import { type Decimal, max, zero } from '../decimal.ts'

export interface OrderState {
  readonly status: OrdStatus
  /** Of a replacement: the total of the whole chain, what is already filled included. */
  readonly orderQuantity: Decimal
  readonly filledQuantity: Decimal
  readonly filledValue: Decimal
  /** A venue has accepted the order at least once; a fill proves it as well. */
  readonly acknowledged: boolean
  /** Pending new and at no venue: parked, or waiting for its parent. */
  readonly held: boolean
}

export type OrderEvent =
  | { readonly event: 'ACK' | 'REJECT' | 'CANCEL_REQUEST' | 'CANCEL_ACK' }
  | { readonly event: 'REPLACE_ACK' | 'REPLACE_REJECT' | 'EXPIRE' | 'UNSOLICITED_CANCEL' }
  /** `unknownOrder`: the venue refused because it does not have the order (FIX CxlRejReason 102 = 1). */
  | { readonly event: 'CANCEL_REJECT'; readonly unknownOrder: boolean }
  /** `quantity` is the requested total of the chain. */
  | { readonly event: 'REPLACE_REQUEST'; readonly quantity: Decimal }
  | { readonly event: 'FILL'; readonly quantity: Decimal; readonly price: Decimal }
  /** An execution of this quantity and price is canceled. */
  | { readonly event: 'BUST'; readonly quantity: Decimal; readonly price: Decimal; readonly live: boolean }

/**
 * applied; ignored (no change, a success); refused (no change, a conflict); duplicate (execution known, no
 * change). The other three are applied and raise an operator alert.
 */
export type Outcome = 'applied' | 'ignored' | 'refused' | 'duplicate' | 'lateFill' | 'overfill' | 'anomaly'

/** An order before its first event: pending new, either held here or on its way to a venue. */
export const newOrder = (orderQuantity: Decimal, held: boolean): OrderState => ({
  status: 'A',
  orderQuantity,
  filledQuantity: zero,
  filledValue: zero,
  acknowledged: false,
  held,
})

/** Whether nothing is left to execute. */
export const isComplete = (order: OrderState): boolean =>
  order.filledQuantity.greaterThanOrEqualTo(order.orderQuantity)

/** The status without any request under way: what a refused cancel or replace returns to. */
export function baseStatus(order: OrderState): OrdStatus {
  if (isComplete(order)) return '2'
  if (order.filledQuantity.greaterThan(zero)) return '1'
  return order.acknowledged ? '0' : 'A'
}

/** What is left to fill, whatever the status: never negative. */
export const remainingQuantity = (order: OrderState): Decimal =>
  max(zero, order.orderQuantity.minus(order.filledQuantity))

/** FIX LeavesQty 151: what may still trade, 0 in a terminal status. */
export const leavesQuantity = (order: OrderState): Decimal =>
  isLive(order.status) ? remainingQuantity(order) : zero

/** FIX AvgPx 6: the quantity-weighted mean price, absent while nothing is filled. */
export const averageFillPrice = (order: OrderState): Decimal | undefined =>
  order.filledQuantity.isZero() ? undefined : order.filledValue.div(order.filledQuantity)
