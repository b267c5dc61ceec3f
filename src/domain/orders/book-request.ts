/**
 * What an owner, the calendar and a venue ask of an order in the book: cancel, replace, expire, reject, release.
 * The platform's own venue confirms a request at once; request and confirmation stay two events.
 */

import { isLive, type OrdType, type TimeInForce } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import {
  addOrder,
  amend,
  applyTo,
  type BookChange,
  openChange,
  orderIn,
  refused,
  unchanged,
  withdraw,
} from './book-change.ts'
import { settle } from './book-settle.ts'
import { followEntryQuantity } from './bracket.ts'
import { followParentEnd, followReplacement, type Parent, start } from './conditional.ts'
import {
  type BookContext,
  type BookOrder,
  type BookResult,
  newBookOrder,
  type OrderBook,
} from './order-book.ts'

/** Cancels an order for its owner. Canceling what is canceled succeeds and changes nothing. */
export function cancelOrder(book: OrderBook, id: string, context: BookContext): BookResult {
  if (!book.orders.has(id)) return refused(book, 'unknownOrder')
  const change = openChange(book, context)
  const outcome = applyTo(change, id, { event: 'CANCEL_REQUEST' })
  if (outcome === 'refused') return refused(book, 'notAllowedNow')
  if (outcome === 'ignored') return unchanged(book)
  if (orderIn(change, id).status === '6') applyTo(change, id, { event: 'CANCEL_ACK' })
  return settle(change, outcome)
}

/** Ends an order on the platform's own account, with a reason its owner can read. */
export function withdrawOrder(book: OrderBook, id: string, info: string, context: BookContext): BookResult {
  if (!isLive(book.orders.get(id)?.status ?? '4')) return unchanged(book)
  const change = openChange(book, context)
  withdraw(change, id, info)
  return settle(change, 'applied')
}

/** The order's day is over, or its instrument's. */
export const expireOrder = (book: OrderBook, id: string, context: BookContext): BookResult =>
  applyPlain(book, id, 'EXPIRE', null, context)

/** A venue rejects an order that the book had accepted. */
export const rejectOrder = (
  book: OrderBook,
  id: string,
  info: string | null,
  context: BookContext,
): BookResult => applyPlain(book, id, 'REJECT', info, context)

function applyPlain(
  book: OrderBook,
  id: string,
  event: 'EXPIRE' | 'REJECT',
  info: string | null,
  context: BookContext,
): BookResult {
  if (!book.orders.has(id)) return unchanged(book)
  const change = openChange(book, context)
  const outcome = applyTo(change, id, { event }, { info })
  return outcome === 'ignored' ? unchanged(book) : settle(change, outcome)
}

/** What a replacement may change. */
export interface Replacement {
  readonly newId: string
  /** The total of the chain, what is filled included. */
  readonly quantity: Decimal
  readonly type: OrdType
  readonly timeInForce: TimeInForce
  readonly limit: Decimal | null
  readonly stop: Decimal | null
}

/** Replaces an order: the new one takes its place in its group, and its exits and children follow. */
export function replaceOrder(
  book: OrderBook,
  id: string,
  { newId, quantity, ...terms }: Replacement,
  context: BookContext,
): BookResult {
  if (!book.orders.has(id)) return refused(book, 'unknownOrder')
  if (book.orders.has(newId)) return refused(book, 'duplicateId')
  if (quantity.lessThanOrEqualTo(zero)) return refused(book, 'quantityNotPositive')
  const change = openChange(book, context)
  const outcome = applyTo(change, id, { event: 'REPLACE_REQUEST', quantity, newId })
  if (outcome === 'refused') return refused(book, 'notAllowedNow')
  const { at } = context
  const workingSince = orderIn(change, newId).held ? null : at
  amend(change, newId, { acceptedAt: at, workingSince, isTriggered: false, ...terms })
  if (orderIn(change, id).status === 'E') applyTo(change, id, { event: 'REPLACE_ACK' })
  followReplacement(change, id, newId)
  followEntryQuantity(change, orderIn(change, newId))
  return settle(change, outcome)
}

/**
 * Replaces an order as its owner asks for it. What opens meets the check of an entry with what it has still to trade; a
 * replacement that does not pass stands there rejected, and the order goes on as it was.
 */
export function requestReplacement(
  book: OrderBook,
  id: string,
  replacement: Replacement,
  context: BookContext,
): BookResult {
  const order = book.orders.get(id)
  const info = order ? entryRejection(order, replacement, book.position, context) : null
  if (!order || info === null) return replaceOrder(book, id, replacement, context)
  const change = openChange(book, context)
  const { newId, quantity, ...terms } = replacement
  const { side, positionEffect, parent, depth } = order
  const own = { id: newId, replaces: id, acceptedAt: context.at, side, positionEffect, parent, depth }
  addOrder(change, newBookOrder(quantity, { ...own, ...terms }))
  applyTo(change, newId, { event: 'REJECT' }, { info })
  return settle(change, 'rejected')
}

/** Why what is left of an opening replacement may not start; null also for one that waits for its parent. */
function entryRejection(
  order: BookOrder,
  { quantity, limit, stop }: Replacement,
  position: Decimal,
  context: BookContext,
): string | null {
  const leaves = quantity.minus(order.filledQuantity)
  if (order.positionEffect === 'C' || order.waitsForParent || leaves.lessThanOrEqualTo(zero)) return null
  return context.rejection({ ...order, orderQuantity: leaves, limit, stop }, position)
}

/** The date came until which an order was parked: it starts, is rejected, or goes on waiting for its parent. */
export function releaseParked(book: OrderBook, id: string, context: BookContext): BookResult {
  const order = book.orders.get(id)
  if (!order?.isParked || !order.held) return unchanged(book)
  const change = openChange(book, context)
  amend(change, id, { isParked: false })
  if (!order.waitsForParent) start(change, id)
  return settle(change, orderIn(change, id).status === '8' ? 'rejected' : 'applied')
}

/**
 * News from the strategy's book of another symbol: these parents ended or were replaced there. The children in
 * this book start, end, or follow the replacement.
 */
export function followParents(
  book: OrderBook,
  news: readonly ParentNews[],
  context: BookContext,
): BookResult {
  const change: BookChange = openChange(book, context)
  for (const { parent, isComplete, replacedBy } of news) {
    if (replacedBy !== undefined) followReplacement(change, parent.id, replacedBy)
    else followParentEnd(change, parent, isComplete)
  }
  return settle(change, 'applied')
}

export type ParentNews =
  | { readonly parent: Parent; readonly isComplete: boolean; readonly replacedBy?: undefined }
  | { readonly parent: Pick<Parent, 'id'>; readonly replacedBy: string; readonly isComplete?: undefined }
