/**
 * Fills against quotes: buy at the ask, sell at the bid. Orders meet every valid quote, and once the last
 * one when they start to work; the caller brings quotes before orders of the same instant, so no order ever
 * sees data older than itself but that last quote.
 */

import { isTradable, type LastQuote, midOf, priceFor, type Quote } from '../market/quote.ts'
import {
  type FillConfig,
  type FillPort,
  inProcessingOrder,
  isMarket,
  type Offer,
  reachesStop,
  serve,
  type WorkingOrder,
} from './fill.ts'

/**
 * Serves the orders at work on the last valid quote and returns the book and what is left of the quote.
 * With `arrivals` only those orders are served (they start to work now: check `isFresh` first), otherwise
 * all. Orders that a fill sets to work are served too, after the ones before them.
 */
export function fillAgainstQuote<Book>(
  book: Book,
  port: FillPort<Book>,
  last: LastQuote,
  config: FillConfig,
  arrivals?: readonly string[],
): { readonly book: Book; readonly last: LastQuote } {
  const served = new Set(arrivals && port.working(book).map((order) => order.id))
  for (const id of arrivals ?? []) served.delete(id)
  const offer = (order: WorkingOrder): Offer | null => offerAtQuote(order, last.quote, config)
  let current = book
  let unused = last.unused
  for (;;) {
    const queue = inProcessingOrder(port.working(current).filter((order) => !served.has(order.id)))
    if (queue.length === 0) return { book: current, last: { ...last, unused } }
    for (const { id, side } of queue) {
      served.add(id)
      const available = unused[side]
      const result = serve(current, port, config, id, { phase: 'quote', available, offer })
      current = result.book
      if (available !== null) unused = { ...unused, [side]: available.minus(result.taken) }
    }
  }
}

/** The price at which a quote fills an order; null when it does not. */
function offerAtQuote(order: WorkingOrder, quote: Quote, config: FillConfig): Offer | null {
  if (!isTradable(quote, order.side)) return null
  const price = priceFor(quote, order.side)
  if (isMarket(order)) return { price, slips: true, triggers: false }
  if (order.type === '3') {
    return reachesStop(order, price) && !isTooWide(quote, config)
      ? { price, slips: true, triggers: true }
      : null
  }
  if (order.limit === null) return null
  const isReached =
    order.side === '1' ? price.lessThanOrEqualTo(order.limit) : price.greaterThanOrEqualTo(order.limit)
  return isReached ? { price, slips: false, triggers: false } : null
}

/** A wide quote says little about the market: it triggers no stop. */
const isTooWide = (quote: Quote, config: FillConfig): boolean =>
  config.maxTriggerSpread !== null &&
  quote.ask.minus(quote.bid).greaterThan(config.maxTriggerSpread.times(midOf(quote)))
