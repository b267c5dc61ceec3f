/**
 * The order book behind the port of the fill simulation, as one value: the book, what traded in it, and the
 * moment of the market it stands in.
 */

import { directionOf } from '../../../src/domain/codes.ts'
import { zero } from '../../../src/domain/decimal.ts'
import { fillOrder, triggerStop, workingOrder, workingOrders } from '../../../src/domain/orders/book-fill.ts'
import type { FillPort, SimulatedFill, WorkingOrder } from '../../../src/domain/orders/fill.ts'
import type { BookContext, BookOrder, OrderBook } from '../../../src/domain/orders/order-book.ts'
import { actsAgainst } from '../../../src/domain/positions/open-close.ts'
import type { Instant } from '../../../src/domain/time.ts'

export interface SimulatedBook {
  readonly book: OrderBook
  readonly fills: readonly (SimulatedFill & { readonly bar: number })[]
  /** Orders sent without open or close that may do both: they net against whatever is held. */
  readonly netting: ReadonlySet<string>
  readonly bar: number
  readonly at: Instant
}

export const simulatedBook = (
  position: OrderBook['position'],
  orders: readonly BookOrder[],
  netting: Iterable<string> = [],
): SimulatedBook => ({
  book: { position, orders: new Map(orders.map((order) => [order.id, order])) },
  fills: [],
  netting: new Set(netting),
  bar: 0,
  at: 0,
})

const startedAt = (order: WorkingOrder): WorkingOrder => ({
  ...order,
  workingSince: Math.max(order.workingSince, order.acceptedAt),
})

export const simulatedPort: FillPort<SimulatedBook> = {
  working: ({ book }) => workingOrders(book).map(startedAt),
  find: ({ book }, id) => {
    const order = workingOrder(book, id)
    return order && startedAt(order)
  },
  trigger: (run, id) => ({ ...run, book: triggerStop(run.book, id) }),
  fill: (run, fill) => {
    const { book, quantity } = trade(run, fill)
    const fills = quantity.isZero() ? run.fills : [...run.fills, { ...fill, quantity, bar: run.bar }]
    return { book: { ...run, book, fills }, quantity }
  },
}

function trade(
  { book, netting, at, bar }: SimulatedBook,
  fill: SimulatedFill,
): { readonly book: OrderBook; readonly quantity: SimulatedFill['quantity'] } {
  const context: BookContext = { at, newId: (kind, id) => `${id} ${kind} ${bar}`, rejection: () => null }
  const order = book.orders.get(fill.orderId)
  if (!order || !netting.has(order.id) || !actsAgainst(order.side, book.position)) {
    return fillOrder(book, fill.orderId, fill, context)
  }
  const apart = fillOrder({ ...book, position: zero }, fill.orderId, fill, context)
  const position = book.position.plus(apart.quantity.times(directionOf(order.side)))
  return { book: { ...apart.book, position }, quantity: apart.quantity }
}
