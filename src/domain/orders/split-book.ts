/**
 * What a split does to the orders of a book: totals and what is filled of them in new units, leaves truncated,
 * prices on the tick. Families stay as they were: an exit group still has to close what its entry left open.
 * Orders that have ended stay as they were booked; what came after the opening is in new units already, but for what a
 * replacement took over.
 */

import { isLive } from '../codes.ts'
import { type Decimal, quantityPlaces, roundTo } from '../decimal.ts'
import { priceAfter, type SplitRatio, splitOptionOrder, splitOrder, unitsAfter } from '../positions/split.ts'
import { type BookChange, openChange, restateUnits, shiftCover, withdraw } from './book-change.ts'
import { settle } from './book-settle.ts'
import { openLots } from './oca.ts'
import type { BookContext, BookOrder, BookResult, OrderBook } from './order-book.ts'
import { remainingQuantity } from './order-state.ts'

/** A split as the book of one symbol sees it. */
export interface BookSplit {
  readonly ratio: SplitRatio
  readonly tick: Decimal
  /** The book is one of options on what splits. */
  readonly isOption: boolean
  /** Whether contracts and shares multiply; otherwise an option's contract has changed its size instead. */
  readonly multiplies: boolean
}

/** Why an order ends of which less than a unit would be left. */
export const splitInfo = 'split'

/**
 * The orders after a split; `position` is the restated one. Of orders accepted at the opening (`context.at`) or later
 * only what they took over is: nobody has traded since.
 */
export function splitOrderBook(
  book: OrderBook,
  split: BookSplit,
  position: Decimal,
  context: BookContext,
): BookResult {
  const change = openChange({ ...book, position }, context)
  const live = [...book.orders.values()].filter(
    ({ status, acceptedAt, filledQuantity }) =>
      isLive(status) && (acceptedAt < context.at || !filledQuantity.isZero()),
  )
  const lots = live.map((order) => openLots(change, order))
  const units = live.map((order) => restated(order, split, order.acceptedAt < context.at))
  const isLeft = units.map(({ orderQuantity, filledQuantity }) => orderQuantity.greaterThan(filledQuantity))
  for (const [place, { id }] of live.entries()) if (isLeft[place]) restateUnits(change, id, units[place]!)
  for (const [place, { id }] of live.entries()) {
    const open = lots[place]
    if (open) coverAgain(change, id, unitsOf(open, split))
  }
  // One of which nothing is left ends as it was.
  for (const [place, { id }] of live.entries()) if (!isLeft[place]) withdraw(change, id, splitInfo)
  return settle(change, 'applied')
}

const unitsOf = (quantity: Decimal, { ratio, multiplies }: BookSplit): Decimal =>
  multiplies ? unitsAfter(quantity, ratio) : quantity

function restated(order: BookOrder, split: BookSplit, isOlder: boolean) {
  const { id, status, limit, stop } = order
  const whole = { id, status, leaves: remainingQuantity(order), limitPx: limit, stopPx: stop }
  const splitOne = split.isOption ? splitOptionOrder : splitOrder
  const { leaves, limitPx, stopPx } = isOlder ? splitOne(whole, split.ratio, split.tick) : whole
  const filledQuantity = roundTo(unitsOf(order.filledQuantity, split), quantityPlaces)
  return {
    orderQuantity: filledQuantity.plus(leaves),
    filledQuantity,
    // Price times quantity: what a changed size takes out of the price is not put into the quantity.
    filledValue: split.multiplies ? order.filledValue : priceAfter(order.filledValue, split.ratio),
    limit: limitPx,
    stop: stopPx,
  }
}

/** The entry of the exit may have ended in old units: the cover takes up the difference. */
function coverAgain(change: BookChange, id: string, wanted: Decimal): void {
  const order = change.orders.get(id)
  const open = order && openLots(change, order)
  if (open) shiftCover(change, id, open.minus(wanted))
}
