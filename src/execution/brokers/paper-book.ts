/**
 * The paper broker's book of one account in one instrument, as the fill rules see it. Like a real broker it
 * fills what it was told to, whether that opens or closes; only the order in which orders are served knows the
 * difference.
 */
import { type Decimal, dec, decOrNull, max, min, zero } from '../../domain/decimal.ts'
import type { FillPort, SimulatedFill, WorkingOrder } from '../../domain/orders/fill.ts'
import { withEntry } from '../../domain/orders/overlay-map.ts'
import type { Instant } from '../../domain/time.ts'
import type { PaperOrderRow } from '../../storage/brokers/paper-market.ts'

export interface PaperOrder {
  readonly row: PaperOrderRow
  readonly cumQty: Decimal
  readonly fills: number
  readonly isTriggered: boolean
  /** Of the exits it belongs to; null where it stands alone. */
  readonly group: number | null
}

export interface PaperFill {
  readonly row: PaperOrderRow
  readonly execId: string
  readonly quantity: Decimal
  readonly price: Decimal
  /** What the order and those it replaced have executed with it, in the units of now. */
  readonly cumQty: Decimal
  readonly at: Instant
}

export interface PaperBook {
  readonly orders: ReadonlyMap<string, PaperOrder>
  readonly fills: readonly PaperFill[]
  /** What each group of exits may still trade. */
  readonly rooms: ReadonlyMap<number, Decimal>
}

/**
 * The book of the waiting paper orders, before anything has been filled. Exits of one group, by the ids of the orders,
 * shrink together while the book is served: the platform hears of a fill, and cancels the others, only afterwards.
 */
export function paperBook(
  rows: readonly PaperOrderRow[],
  groups: ReadonlyMap<number, number> = new Map(),
): PaperBook {
  const orders = rows.map(
    (row): PaperOrder => ({
      row,
      cumQty: dec(row.cumQty),
      fills: row.fills,
      isTriggered: row.isTriggered,
      group: groups.get(row.id) ?? null,
    }),
  )
  const rooms = new Map<number, Decimal>()
  for (const order of orders)
    if (order.group !== null) rooms.set(order.group, max(rooms.get(order.group) ?? zero, ownLeaves(order)))
  return { orders: new Map(orders.map((order) => [String(order.row.id), order])), fills: [], rooms }
}

/** Who takes part in a moment of the market, and when a fill there happened. */
export interface PaperMoment {
  takesPart(row: PaperOrderRow): boolean
  timeOf(phase: SimulatedFill['phase'], row: PaperOrderRow): Instant
}

/** What an order may still trade of its own: a script may hold it below its quantity. */
function ownLeaves({ row, cumQty }: PaperOrder): Decimal {
  const most = row.fillCap === null ? dec(row.orderQty) : min(dec(row.orderQty), dec(row.fillCap))
  return max(zero, most.minus(cumQty))
}

/** What it may still trade now that others of its group have traded. */
function leavesOf({ rooms }: PaperBook, order: PaperOrder): Decimal {
  const room = order.group === null ? undefined : rooms.get(order.group)
  return room ? min(ownLeaves(order), room) : ownLeaves(order)
}

function withRoom({ rooms }: PaperBook, { group }: PaperOrder, taken: Decimal): PaperBook['rooms'] {
  const room = group === null ? undefined : rooms.get(group)
  return group === null || !room ? rooms : new Map(rooms).set(group, room.minus(taken))
}

/** A day order does not trade at or after its end, however late its expiry is noticed. */
export const worksAt = ({ expiresAt }: PaperOrderRow, at: Instant): boolean =>
  expiresAt === null || at < expiresAt

function workingOrder(book: PaperBook, id: string, order: PaperOrder): WorkingOrder {
  const { row } = order
  return {
    id,
    side: row.side,
    type: row.ordType,
    positionEffect: row.positionEffect,
    leaves: leavesOf(book, order),
    limit: decOrNull(row.limitPx),
    stop: decOrNull(row.stopPx),
    acceptedAt: row.acceptedAt,
    workingSince: row.acceptedAt,
    triggered: order.isTriggered,
    exitOf: null,
  }
}

/** Opens a book to the fill simulation at one moment of the market. */
export function paperPort(moment: PaperMoment): FillPort<PaperBook> {
  const takesPart = (book: PaperBook, order: PaperOrder): boolean =>
    moment.takesPart(order.row) && leavesOf(book, order).greaterThan(0)
  return {
    working: (book) =>
      [...book.orders]
        .filter(([, order]) => takesPart(book, order))
        .map(([id, order]) => workingOrder(book, id, order)),
    find: (book, id) => {
      const order = book.orders.get(id)
      return order && takesPart(book, order) ? workingOrder(book, id, order) : undefined
    },
    trigger: (book, id) => change(book, id, (order) => ({ ...order, isTriggered: true })),
    fill: (book, { orderId, quantity, price, phase }) => {
      const order = orderOf(book, orderId)
      const { row, fills, cumQty: before } = order
      const cumQty = before.plus(quantity)
      const filled = change(book, orderId, (found) => ({ ...found, cumQty, fills: fills + 1 }))
      const execId = `P${row.id}-${fills + 1}`
      const fill: PaperFill = {
        row,
        execId,
        quantity,
        price,
        cumQty: cumQty.plus(row.carriedQty),
        at: moment.timeOf(phase, row),
      }
      const rooms = withRoom(book, order, quantity)
      return { book: { ...filled, fills: [...filled.fills, fill], rooms }, quantity }
    },
  }
}

function orderOf(book: PaperBook, id: string): PaperOrder {
  const order = book.orders.get(id)
  if (!order) throw new RangeError(`no order ${id} in the paper book`)
  return order
}

const change = (book: PaperBook, id: string, to: (order: PaperOrder) => PaperOrder): PaperBook => ({
  ...book,
  orders: withEntry(book.orders, id, to(orderOf(book, id))),
})
