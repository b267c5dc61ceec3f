/**
 * What quote and bar simulation share: the orders at work, the order in which they are served, and the port
 * through which every fill is booked at once. A fill changes what the next order may do (exits start to
 * work, closing orders shrink to the position), so the simulation asks the book again before each order and
 * never works from a copy.
 */
import type { OrdType, PositionEffect, SecurityType, Side } from '../codes.ts'
import { type Decimal, dec, min, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
import { type SlippageConfig, slippedPrice } from './slippage.ts'

/** An order that works now. */
export interface WorkingOrder {
  readonly id: string
  readonly side: Side
  readonly type: OrdType
  readonly positionEffect: PositionEffect
  /** What it may trade at this moment; for a closing order at most the position it closes. */
  readonly leaves: Decimal
  readonly limit: Decimal | null
  readonly stop: Decimal | null
  /** When it was accepted: decides between orders of one rank. */
  readonly acceptedAt: Instant
  /** When it started to work: a bar that began earlier does not fill it. */
  readonly workingSince: Instant
  /** A triggered stop is a market order from then on. */
  readonly triggered: boolean
  /** The entry that this order is a bracket exit of. */
  readonly exitOf: string | null
}

export interface SimulatedFill {
  readonly orderId: string
  readonly quantity: Decimal
  readonly price: Decimal
  /** At a quote, at the open of a bar, or inside it. */
  readonly phase: 'quote' | 'open' | 'intrabar'
}

export interface FillConfig extends SlippageConfig {
  /** Largest share of a displayed size or a bar's volume that orders take; null or 0: no limit. */
  readonly participation: Decimal | null
  /** An arriving order trades on a last quote up to this age. */
  readonly maxQuoteAgeSec: number
  /** Widest spread, as a fraction of the mid, that still triggers stops; null: any. */
  readonly maxTriggerSpread: Decimal | null
}

/** The product's configuration: no slippage, no participation limit, quotes up to a minute old. */
export const defaultFillConfig = (securityType: SecurityType, tick: Decimal | null): FillConfig => ({
  tick,
  slippageTicks: zero,
  slippageBps: zero,
  participation: null,
  maxQuoteAgeSec: 60,
  maxTriggerSpread: dec(securityType === 'OPT' ? '0.5' : '0.1'),
})

/** A book of one symbol, seen by the simulation. `Book` is the caller's own value. */
export interface FillPort<Book> {
  /** The orders at work now, in the order in which they were listed. */
  working(book: Book): readonly WorkingOrder[]
  /** One of these; undefined when it is not among them. */
  find(book: Book, orderId: string): WorkingOrder | undefined
  /** Remembers that a stop has become a market order. */
  trigger(book: Book, orderId: string): Book
  /** Books a fill with all its consequences; `quantity` is what really traded, 0 when the fill was refused. */
  fill(book: Book, fill: SimulatedFill): { readonly book: Book; readonly quantity: Decimal }
}

/** A price at which an order trades now, and whether it is one that slips. */
export interface Offer {
  readonly price: Decimal
  readonly slips: boolean
  readonly triggers: boolean
}

/** Market orders, and stops that have become one. */
export const isMarket = (order: WorkingOrder): boolean => order.type === '1' || order.triggered

const rankOf = (order: WorkingOrder): number => {
  const kind = isMarket(order) ? 'market' : order.type === '3' ? 'stop' : 'limit'
  return order.positionEffect === 'C'
    ? { stop: 0, limit: 1, market: 2 }[kind]
    : { market: 3, stop: 4, limit: 5 }[kind]
}

/**
 * Orders as they are served on one quote or at one open: closing orders first (stop, limit, market), then
 * opening ones (market, stop, limit), then by time of acceptance, then as listed.
 */
export const inProcessingOrder = (orders: readonly WorkingOrder[]): WorkingOrder[] =>
  [...orders].sort((a, b) => rankOf(a) - rankOf(b) || a.acceptedAt - b.acceptedAt)

/** Whether a price reaches a stop: a buy stop from below, a sell stop from above. */
export const reachesStop = (order: WorkingOrder, price: Decimal): boolean =>
  order.stop !== null &&
  (order.side === '1' ? price.greaterThanOrEqualTo(order.stop) : price.lessThanOrEqualTo(order.stop))

/** Whether a price is strictly better for the trader than the limit. */
export const betterThanLimit = (order: WorkingOrder, price: Decimal): boolean =>
  order.limit !== null && (order.side === '1' ? price.lessThan(order.limit) : price.greaterThan(order.limit))

/** What a market moment asks of an order: where in the simulation it is and what is left to take. */
export interface Moment {
  readonly phase: SimulatedFill['phase']
  /** Null: no limit. */
  readonly available: Decimal | null
  /** The price at which the order trades now; null when it does not. */
  offer(order: WorkingOrder): Offer | null
}

/**
 * Serves one order, by id because bookings since may have changed it: asks for its offer, notes a trigger
 * even when no size is left, and books what the order and the available size allow. `taken` is what traded.
 */
export function serve<Book>(
  book: Book,
  port: FillPort<Book>,
  config: FillConfig,
  orderId: string,
  moment: Moment,
): { readonly book: Book; readonly taken: Decimal } {
  const order = port.find(book, orderId)
  const offer = order?.leaves.greaterThan(0) ? moment.offer(order) : null
  if (!order || !offer) return { book, taken: zero }
  const ready = offer.triggers ? port.trigger(book, orderId) : book
  const quantity = moment.available === null ? order.leaves : min(order.leaves, moment.available)
  if (!quantity.greaterThan(0)) return { book: ready, taken: zero }
  const price = offer.slips ? slippedPrice(offer.price, order.side, config) : offer.price
  const booked = port.fill(ready, { orderId, quantity, price, phase: moment.phase })
  return { book: booked.book, taken: booked.quantity }
}
