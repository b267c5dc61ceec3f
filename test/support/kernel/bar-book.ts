/**
 * A small book of one symbol for simulations in tests: orders with parents, brackets and OCA groups around
 * one position. It keeps the rules of exits (partial trigger, reduce only, shrink together, clean up when
 * flat) without the life cycle of orders, which has its own tests.
 */
import { directionOf } from '../../../src/domain/codes.ts'
import { type Decimal, max, min, zero } from '../../../src/domain/decimal.ts'
import type { FillPort, SimulatedFill, WorkingOrder } from '../../../src/domain/fill.ts'
import { actsAgainst } from '../../../src/domain/open-close.ts'
import { reducible } from '../../../src/domain/position.ts'

export interface BookOrder extends WorkingOrder {
  readonly state: 'held' | 'working' | 'complete' | 'canceled'
  readonly filled: Decimal
  readonly parent: string | null
  readonly oca: string | null
  /** False for an order sent without open or close: it nets against whatever is held. */
  readonly isChecked: boolean
}

export interface BarBook {
  readonly orders: readonly BookOrder[]
  readonly position: Decimal
  readonly fills: readonly (SimulatedFill & { readonly bar: number })[]
  readonly bar: number
  readonly barStart: number
}

const find = (book: BarBook, id: string | null): BookOrder | undefined =>
  book.orders.find((order) => order.id === id)

const change = (book: BarBook, id: string, part: Partial<BookOrder>): BarBook => ({
  ...book,
  orders: book.orders.map((order) => (order.id === id ? { ...order, ...part } : order)),
})

const fold = (
  book: BarBook,
  orders: readonly BookOrder[],
  step: (book: BarBook, order: BookOrder) => BarBook,
): BarBook => orders.reduce((current, { id }) => step(current, find(current, id)!), book)

const isLive = (order: BookOrder): boolean => order.state === 'held' || order.state === 'working'
const isExit = (order: BookOrder): boolean => order.exitOf !== null
const childrenOf = (book: BarBook, id: string): BookOrder[] =>
  book.orders.filter((order) => order.parent === id)

/** Ends an order and its held children; closing children of a part-filled parent start for what it filled. */
function cancel(book: BarBook, order: BookOrder): BarBook {
  if (!isLive(order)) return book
  const ended = change(book, order.id, { state: 'canceled', leaves: zero })
  const held = childrenOf(ended, order.id).filter((child) => child.state === 'held')
  return fold(ended, held, (current, child) =>
    order.filled.greaterThan(0) && child.openClose === 'C' && !isExit(child)
      ? release(current, { ...child, leaves: min(child.leaves, order.filled) })
      : cancel(current, child),
  )
}

/** A conditional order starts to work; a closing one is cut to the position, one against its sense is rejected. */
function release(book: BarBook, order: BookOrder): BarBook {
  const isClosing = order.openClose === 'C'
  const leaves = isClosing ? reducible(book.position, order.side, order.leaves) : order.leaves
  const isRefused = leaves.isZero() || (!isClosing && actsAgainst(order.side, book.position))
  if (isRefused) return cancel(book, order)
  return change(book, order.id, {
    state: 'working',
    leaves,
    workingSince: Math.max(order.workingSince, book.barStart),
  })
}

/** Exits of an entry work for every lot that it fills. */
const raiseExits = (book: BarBook, entry: BookOrder, quantity: Decimal): BarBook =>
  fold(book, childrenOf(book, entry.id).filter(isExit).filter(isLive), (current, exit) =>
    change(current, exit.id, {
      state: 'working',
      leaves: exit.state === 'held' ? quantity : exit.leaves.plus(quantity),
      workingSince: exit.state === 'held' ? Math.max(exit.workingSince, book.barStart) : exit.workingSince,
    }),
  )

/** The other members keep what the group still has to close; a member that completes ends them. */
function shrinkGroup(book: BarBook, filled: BookOrder): BarBook {
  const group = book.orders.filter((order) => order.oca !== null && order.oca === filled.oca)
  const closed = group.reduce((sum, order) => sum.plus(order.filled), zero)
  const largest = group.map((order) => order.filled.plus(order.leaves)).reduce(max, zero)
  const remaining = (find(book, filled.exitOf)?.filled ?? largest).minus(closed)
  const others = group.filter((order) => order.id !== filled.id && isLive(order))
  return fold(book, others, (current, other) => {
    const leaves = max(zero, min(other.leaves, remaining))
    return filled.leaves.isZero() || leaves.isZero()
      ? cancel(current, other)
      : change(current, other.id, { leaves })
  })
}

/** Flat: closing orders have nothing left to close, part-filled entries would go on without protection. */
const cleanUp = (book: BarBook): BarBook =>
  fold(
    book,
    book.orders.filter(
      (order) => order.state === 'working' && (order.openClose === 'C' || order.filled.greaterThan(0)),
    ),
    cancel,
  )

function fill(before: BarBook, given: SimulatedFill): { book: BarBook; quantity: Decimal } {
  const order = find(before, given.orderId)!
  if (order.isChecked && order.openClose === 'O' && actsAgainst(order.side, before.position)) {
    return { book: cancel(before, order), quantity: zero }
  }
  const { quantity } = given
  const position = before.position.plus(quantity.times(directionOf(order.side)))
  const isFlat = position.isZero()
  const traded: BookOrder = {
    ...order,
    leaves: order.leaves.minus(quantity),
    filled: order.filled.plus(quantity),
  }
  const isComplete = traded.leaves.isZero() || (isFlat && order.openClose === 'C')
  const fills = [...before.fills, { ...given, bar: before.bar }]
  let book = change({ ...before, position, fills }, order.id, {
    leaves: traded.leaves,
    filled: traded.filled,
    state: isComplete ? 'complete' : 'working',
  })
  book = raiseExits(book, order, quantity)
  const entry = find(book, order.exitOf)
  if (entry) book = cancel(book, entry)
  if (order.oca !== null) book = shrinkGroup(book, traded)
  if (isFlat) book = cleanUp(book)
  if (isComplete) {
    const waiting = childrenOf(book, order.id).filter((child) => child.state === 'held' && !isExit(child))
    book = fold(book, waiting, release)
  }
  return { book, quantity }
}

/** The book as the simulation sees it: a closing order never offers more than the position. */
export const barBook: FillPort<BarBook> = {
  working: (book) =>
    book.orders
      .filter((order) => order.state === 'working')
      .map((order) =>
        order.openClose === 'C'
          ? { ...order, leaves: reducible(book.position, order.side, order.leaves) }
          : order,
      ),
  trigger: (book, id) => change(book, id, { triggered: true }),
  fill,
}
