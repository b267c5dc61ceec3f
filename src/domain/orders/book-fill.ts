/**
 * A fill in the book, with all its consequences, and the book as the fill simulation sees it.
 * Invariants: a closing order trades at most the position, an opening one never against it; when the position
 * is gone, the orders that would close it go too, and so does the rest of every entry that opened it.
 */

import { directionOf, isLive } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import { actsAgainst } from '../positions/open-close.ts'
import { reducible } from '../positions/position.ts'
import { applyTo, type BookChange, openChange, orderIn, unchanged, withdraw } from './book-change.ts'
import { settle } from './book-settle.ts'
import { protect, withdrawEntry } from './bracket.ts'
import type { WorkingOrder } from './fill.ts'
import { shrinkGroup } from './oca.ts'
import type { BookContext, BookOrder, BookResult, OrderBook } from './order-book.ts'
import { lastOfChain } from './order-chain.ts'
import { leavesQuantity } from './order-state.ts'
import { withEntry } from './overlay-map.ts'

export interface FillResult extends BookResult {
  /** What really traded; 0: nothing. */
  readonly quantity: Decimal
}

/** What may be traded of an order now: of a closing order at most the position. */
const tradable = (book: Pick<OrderBook, 'position'>, order: BookOrder, quantity: Decimal): Decimal =>
  order.positionEffect === 'C' ? reducible(book.position, order.side, quantity) : quantity

/**
 * Books a fill of `quantity` units at `price`. An opening order that would act against the position ends
 * instead; a fill of nothing, or of an unknown order, is ignored.
 */
export function fillOrder(
  book: OrderBook,
  id: string,
  fill: { readonly quantity: Decimal; readonly price: Decimal },
  context: BookContext,
): FillResult {
  const order = book.orders.get(id)
  const quantity = order ? tradable(book, order, fill.quantity) : zero
  if (!order || quantity.lessThanOrEqualTo(zero)) return { quantity: zero, ...unchanged(book) }
  const change = openChange(book, context)
  if (order.positionEffect === 'O' && actsAgainst(order.side, book.position)) {
    if (!isLive(order.status)) return { quantity: zero, ...unchanged(book) }
    withdraw(change, id, 'position changed')
    return { quantity: zero, ...settle(change, 'applied') }
  }
  // Of a replaced order it is the replacement that its family belongs to.
  const carrier = order.status === '5' ? lastOfChain([...book.orders.values()], order) : order
  const outcome = applyTo(change, id, { event: 'FILL', quantity, price: fill.price })
  change.position = change.position.plus(quantity.times(directionOf(order.side)))
  if (order.positionEffect === 'O') protect(change, carrier.id, quantity, !isLive(carrier.status))
  else reduce(change, carrier.id, quantity)
  return { quantity, ...settle(change, outcome) }
}

function reduce(change: BookChange, id: string, quantity: Decimal): void {
  const isFlat = change.position.isZero()
  if (isFlat) withdraw(change, id, 'position closed', true)
  shrinkGroup(change, id, quantity)
  if (isFlat) cleanUp(change)
  withdrawEntry(change, orderIn(change, id))
}

function cleanUp(change: BookChange): void {
  for (const { id, status, positionEffect } of [...change.orders.values()]) {
    if (status === '1' || (status === '0' && positionEffect === 'C')) withdraw(change, id, 'position closed')
  }
}

/** The orders at work, as the fill simulation serves them. */
export const workingOrders = (book: OrderBook): WorkingOrder[] =>
  [...book.orders.keys()].flatMap((id) => workingOrder(book, id) ?? [])

/** One of them; undefined when the order is not at work. */
export function workingOrder(book: OrderBook, id: string): WorkingOrder | undefined {
  const order = book.orders.get(id)
  if (!order || !isLive(order.status) || order.held) return undefined
  return {
    id: order.id,
    side: order.side,
    type: order.type,
    positionEffect: order.positionEffect,
    leaves: tradable(book, order, leavesQuantity(order)),
    limit: order.limit,
    stop: order.stop,
    acceptedAt: order.acceptedAt,
    workingSince: order.workingSince ?? order.acceptedAt,
    triggered: order.isTriggered,
    exitOf: order.exit && order.parent,
  }
}

/** Remembers that a stop has become a market order. Throws when the book does not have it. */
export function triggerStop(book: OrderBook, id: string): OrderBook {
  const order = book.orders.get(id)
  if (!order) throw new RangeError(`no order ${id} in the book`)
  return { ...book, orders: withEntry(book.orders, id, { ...order, isTriggered: true }) }
}
