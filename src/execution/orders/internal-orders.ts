/**
 * Orders that the books make themselves: deliveries, payments and fractions that nobody asked a market for. They
 * are filled as they are made, at a price that is given, without commission and without asking for margin.
 * Nobody copies them: what they do to followers is booked on the followers' own ledgers. What an account has traded
 * for a strategy that it feeds is booked the same way, and copied.
 */

import type { Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import { marketOrder, submitOrder } from '../../domain/orders/book-submit.ts'
import type { BookContext } from '../../domain/orders/order-book.ts'
import type { Instant } from '../../domain/time.ts'
import { causedBy, worked } from '../../storage/orders/order-books.ts'
import { noWish, type SavedBook, type SignalWish } from '../../storage/orders/save-books.ts'
import { bookContext, bookingPort, type MarketMoment, type SignalBook } from './booking.ts'

/** A trade that a book makes by itself. */
export interface InternalTrade {
  readonly side: Side
  readonly quantity: Decimal
  readonly price: Decimal
  readonly at: Instant
  /** What the order says of itself. */
  readonly info: string
  /** Ids for its orders: a delivery through zero needs two. */
  readonly ids: readonly string[]
  /** The numbers it was decided from. */
  readonly told: Record<string, unknown>
  /** What somebody has traded elsewhere: it costs commission and is copied like any other. */
  readonly isTransmitted?: boolean
}

/** A book with what its own orders are remembered with. */
export type InternalBook = SignalBook & Pick<SavedBook, 'wishes'>

const wish: SignalWish = { ...noWish, isInternal: true }

/** Places a market order in the book and fills it; one that carries the position through zero becomes two. */
export function tradeInternally(book: InternalBook, trade: InternalTrade): InternalBook {
  const { side, quantity, price, at, info, told } = trade
  const [id = '', other = ''] = trade.ids
  const plain = bookContext(at)
  const context: BookContext = {
    ...plain,
    newId: (kind, orderId) => (kind === 'reversal' ? other : plain.newId(kind, orderId)),
  }
  const draft = marketOrder({ id, side, quantity, positionEffect: null, info })
  const placed = worked(book, submitOrder(book.book, draft, context), at, causedBy({ ...told, info }))
  const isFree = trade.isTransmitted !== true
  const free = { ...placed, account: null, terms: { ...book.terms, ...(isFree && { rates: null }) } }
  const moment: MarketMoment = {
    takesPart: () => true,
    timeOf: () => at,
    seenPrice: () => price,
    seen: { ...told, info },
  }
  const port = bookingPort(moment)
  const wished = isFree ? wish : { ...noWish, referencePx: price.toFixed() }
  const own = [id, other].filter((name) => placed.book.orders.has(name))
  const filled = own.reduce<SignalBook>((current, orderId) => {
    const order = current.book.orders.get(orderId)
    if (!order) return current
    return port.fill(current, { orderId, quantity: order.orderQuantity, price, phase: 'quote' }).book
  }, free)
  return {
    ...filled,
    terms: book.terms,
    // Behind the book: it carries the wishes of earlier trades, which its type does not say.
    wishes: new Map([...(book.wishes ?? []), ...own.map((name) => [name, wished] as const)]),
  }
}
