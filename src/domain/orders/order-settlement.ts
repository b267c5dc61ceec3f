/**
 * An order on which its broker and we disagree and no rule decides, ended by an operator who has asked the broker: what
 * it executed in all, and that it works no more. Said in the words of reports, which the books are made from.
 */
import { isLive, type OrdStatus } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import { isSameCount } from './order-gap.ts'

/** Quantities are of the order's own client order id, in the units of today. */
export interface DisputedOrder {
  readonly status: OrdStatus
  readonly isReplacement: boolean
  /** It was alive at a split: what it executed before may be rounded. */
  readonly isRestated: boolean
  readonly booked: Decimal
  /** Quantity times price of what is booked. */
  readonly amount: Decimal
  /** What it may execute beyond. */
  readonly open: Decimal
  /** Its broker counts executions that are not booked. */
  readonly isShort: boolean
}

/** What an order executed in all, and its average price where more was executed than is booked. */
export interface StatedTotal {
  readonly quantity: Decimal
  readonly average: Decimal | null
}

export type SettlingReport = 'ack' | 'replace' | 'total' | 'replaceReject' | 'cancel'
export type NotSettled = 'nothingToSettle' | 'totalUnsaid' | 'bookedMore' | 'aboveQuantity' | 'noPrice'

/** The reports that settle the order, in the order in which they are to be told, or why it cannot be settled so. */
export function settlement(order: DisputedOrder, total: StatedTotal | null): SettlingReport[] | NotSettled {
  const missing = missingOf(order, total)
  if (typeof missing === 'string') return missing
  const isExecuted = missing.greaterThan(zero)
  if (!isLive(order.status)) return isExecuted ? ['total'] : 'nothingToSettle'
  if (order.status !== 'A') return isExecuted ? ['total', 'cancel'] : ['cancel']
  if (isExecuted) return [order.isReplacement ? 'replace' : 'ack', 'total', 'cancel']
  // The order that an unanswered replacement was to replace works on.
  return [order.isReplacement ? 'replaceReject' : 'cancel']
}

function missingOf(
  { booked, amount, open, isRestated, isShort }: DisputedOrder,
  total: StatedTotal | null,
): Decimal | NotSettled {
  if (total === null) return isShort ? 'totalUnsaid' : zero
  const { quantity, average } = total
  if (quantity.equals(booked) || (isRestated && isSameCount(quantity, booked))) return zero
  const missing = quantity.minus(booked)
  if (missing.isNegative()) return 'bookedMore'
  if (missing.greaterThan(open)) return 'aboveQuantity'
  return average !== null && quantity.times(average).greaterThan(amount) ? missing : 'noPrice'
}
