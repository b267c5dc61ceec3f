/** What the reports of a batch have made of each order: what is written down of it. Pure. */
import { isLive } from '../../domain/codes.ts'
import type { ChainOrder } from '../../domain/orders/order-chain.ts'
import { averageFillPrice, type OrderState } from '../../domain/orders/order-state.ts'
import type { Instant } from '../../domain/time.ts'
import type { LateChange, OrderChange, ReportedOrder } from '../../storage/brokers/reports.ts'

/** An order of the batch with its state so far. */
export interface TrackedOrder {
  readonly row: ReportedOrder
  readonly before: OrderState
  readonly rejectText: string | null
  readonly endedAt: number | null
  /** Its cancel was refused beside a replacement that was sent and not answered: the wish is that one's, or asked again. */
  readonly isAskedAgain: boolean
  /** What has come after it had ended. */
  readonly late: readonly LateChange[]
}

/** The row of an order after the batch; `now` is its state by then. */
export function changeOf(
  { row, rejectText, endedAt, isAskedAgain, late }: TrackedOrder,
  now: ChainOrder<number>,
): OrderChange {
  return {
    accountId: row.accountId,
    id: row.id,
    status: now.status,
    pendingAction: isAskedAgain && now.status === '6' ? 'cancel' : pendingAfter(row, now),
    isAcknowledged: now.acknowledged,
    orderQty: now.orderQuantity,
    cumQty: now.filledQuantity,
    avgPx: averageFillPrice(now) ?? null,
    filledValue: now.filledValue,
    endedAt,
    rejectText,
    late,
  }
}

/** What came to an order that had ended before the batch. A replaced one's late executions are those of the last of its chain. */
export function lateOf({ status }: OrderState, was: OrderState, now: OrderState, at: Instant): LateChange[] {
  const quantity = now.filledQuantity.minus(was.filledQuantity)
  const value = now.filledValue.minus(was.filledValue)
  return isLive(status) || status === '5' || (quantity.isZero() && value.isZero())
    ? []
    : [{ quantity, value, at }]
}

/** What is still to be sent: nothing of an order that is over, nor what the report has answered. */
function pendingAfter(
  { pendingAction, status }: ReportedOrder,
  now: ChainOrder<number>,
): ReportedOrder['pendingAction'] {
  if (!isLive(now.status)) return null
  if (pendingAction === 'cancel') return now.status === '6' ? 'cancel' : null
  // The wish to cancel has moved from the order it replaced.
  if (now.status === '6' && status !== '6') return 'cancel'
  return now.status === 'A' ? pendingAction : null
}
