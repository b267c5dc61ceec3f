/**
 * Fills against bars, where quotes are missing: the worst case that the bar allows, without guessing its
 * path. First the open; inside the bar closing orders before opening ones and stops before limits, so of an
 * exit pair inside one bar the stop wins. A limit must be penetrated, not touched.
 */

import type { Decimal } from '../decimal.ts'
import { participate } from '../market/quote.ts'
import type { Instant } from '../time.ts'
import {
  betterThanLimit,
  type FillConfig,
  type FillPort,
  inProcessingOrder,
  isMarket,
  type Offer,
  reachesStop,
  type SimulatedFill,
  serve,
  type WorkingOrder,
} from './fill.ts'

export interface Bar {
  readonly start: Instant
  readonly open: Decimal
  readonly high: Decimal
  readonly low: Decimal
  /** Null when the source shows none. */
  readonly volume: Decimal | null
}

interface Run<Book> {
  readonly port: FillPort<Book>
  readonly bar: Bar
  readonly config: FillConfig
  book: Book
  /** What both sides together may still take of the bar; null: no limit. */
  volume: Decimal | null
}

/**
 * Serves the orders at work on one bar of the session and returns the book. An order takes part when it
 * started to work at or before the bar's start, or when it was there by then and a fill at this bar's open set it
 * to work; of orders set to work later only the stop loss of an entry that filled inside the bar.
 */
export function fillAgainstBar<Book>(book: Book, port: FillPort<Book>, bar: Bar, config: FillConfig): Book {
  const run: Run<Book> = { port, bar, config, book, volume: participate(config.participation, bar.volume) }
  const late = new Set(idsWhere(run, (order) => order.workingSince > bar.start))
  // Whoever sent an order after the bar began may have seen a part of it.
  const takesPart = (order: WorkingOrder): boolean => order.acceptedAt <= bar.start && !late.has(order.id)
  fillAtOpen(run, takesPart)
  const closing = idsWhere(run, (order) => takesPart(order) && order.positionEffect === 'C')
  const opening = idsWhere(run, (order) => takesPart(order) && order.positionEffect === 'O')
  fillInside(run, closing)
  const entered = fillInside(run, opening)
  fillInside(
    run,
    idsWhere(run, (order) => takesPart(order) && order.type === '3' && entered.has(order.exitOf ?? '')),
  )
  return run.book
}

/** The open, again until nothing changes: what a fill here sets to work takes part. */
function fillAtOpen<Book>(run: Run<Book>, takesPart: (order: WorkingOrder) => boolean): void {
  const offer = (order: WorkingOrder): Offer | null => offerAtOpen(order, run.bar.open)
  for (let isChanging = true; isChanging; ) {
    isChanging = false
    for (const id of idsWhere(run, takesPart)) {
      if (serveInBar(run, id, 'open', offer)) isChanging = true
    }
  }
}

/**
 * Inside the bar: stops that are touched, then limits that are penetrated, as the processing order has them.
 * Returns the orders that traded.
 */
function fillInside<Book>(run: Run<Book>, ids: readonly string[]): ReadonlySet<string> {
  const offer = (order: WorkingOrder): Offer | null => offerInside(order, run.bar)
  return new Set(ids.filter((id) => serveInBar(run, id, 'intrabar', offer)))
}

/** Serves one order and tells whether it traded. */
function serveInBar<Book>(
  run: Run<Book>,
  orderId: string,
  phase: SimulatedFill['phase'],
  offer: (order: WorkingOrder) => Offer | null,
): boolean {
  const { book, taken } = serve(run.book, run.port, run.config, orderId, {
    phase,
    available: run.volume,
    offer,
  })
  run.book = book
  run.volume = run.volume?.minus(taken) ?? null
  return taken.greaterThan(0)
}

const idsWhere = <Book>(run: Run<Book>, takesPart: (order: WorkingOrder) => boolean): string[] =>
  inProcessingOrder(run.port.working(run.book).filter(takesPart)).map((order) => order.id)

/** At the open market orders and stops beyond it trade, and limits that the open betters. */
function offerAtOpen(order: WorkingOrder, price: Decimal): Offer | null {
  if (isMarket(order)) return { price, slips: true, triggers: false }
  if (order.type === '3') return reachesStop(order, price) ? { price, slips: true, triggers: true } : null
  return betterThanLimit(order, price) ? { price, slips: false, triggers: false } : null
}

/**
 * Inside the bar a touched stop trades at its stop price, a penetrated limit at its limit. A stop that the
 * whole bar lies beyond trades at the bar's nearest price: nothing traded at its own.
 */
function offerInside(order: WorkingOrder, bar: Bar): Offer | null {
  if (isMarket(order)) return null
  const [worst, best] = order.side === '1' ? [bar.high, bar.low] : [bar.low, bar.high]
  if (order.type === '3') {
    if (order.stop === null || !reachesStop(order, worst)) return null
    return { price: reachesStop(order, best) ? best : order.stop, slips: true, triggers: true }
  }
  return order.limit !== null && betterThanLimit(order, best)
    ? { price: order.limit, slips: false, triggers: false }
    : null
}
