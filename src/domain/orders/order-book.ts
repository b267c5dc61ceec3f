/**
 * The order book of one strategy in one symbol: a position and the orders around it, with their families.
 * A plain value; operations return a new one and tell what happened, event by event.
 * Invariants: an order moves only as the order table allows; closing orders only reduce the position; an exit
 * points at the entry that carries its chain now, as does every child.
 * Orders come in the order in which they were made; how few of them a book needs, withoutEnded tells.
 */
import { isLive, type OrdType, type PositionEffect, type Side, type TimeInForce } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
import type { ChainOrder } from './order-chain.ts'
import type { OrderEvent, OrderState, Outcome } from './order-state.ts'

export type ExitRole = 'profitTarget' | 'stopLoss'

export interface BookOrder extends ChainOrder<string> {
  readonly side: Side
  readonly type: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  readonly limit: Decimal | null
  readonly stop: Decimal | null
  /** The order that this one depends on: the entry of an exit, otherwise what must fill first. */
  readonly parent: string | null
  /** Ancestors of the order. */
  readonly depth: number
  /** What it is to its parent when it is a bracket exit. */
  readonly exit: ExitRole | null
  /** Of an exit: how much of its entry earlier exits stood for. */
  readonly coversFrom: Decimal
  readonly ocaGroup: string | null
  /** Held until the parent is filled; never true for an exit, which starts with the first lot. */
  readonly waitsForParent: boolean
  /** Held until a date. */
  readonly isParked: boolean
  readonly acceptedAt: Instant
  /** Null while held. */
  readonly workingSince: Instant | null
  /** A stop that has become a market order. */
  readonly isTriggered: boolean
  /** Why the book ended it; of a rejected order the reason. Null when its owner or the market did. */
  readonly info: string | null
}

export interface OrderBook {
  /** Signed. */
  readonly position: Decimal
  readonly orders: ReadonlyMap<string, BookOrder>
}

/** One step in the life of an order, to be appended to its record. */
export interface BookEvent {
  readonly orderId: string
  /** NEW: it exists from now on. RESTATE: its quantity changed without a request (FIX ExecType 150 = D). */
  readonly event: OrderEvent['event'] | 'NEW' | 'RESTATE'
  readonly status: OrderState['status']
  readonly orderQuantity: Decimal
  readonly info: string | null
}

/**
 * What an operator must see. exitLost: an exit expired or a venue rejected it; the others stay.
 * exitsReopened: an entry traded after its exits had ended and got new ones.
 */
export interface BookAlert {
  readonly orderId: string
  readonly alert: 'exitLost' | 'exitsReopened'
}

/** An order that ended in an operation. */
export interface EndedOrder {
  readonly orderId: string
  readonly event: OrderEvent['event']
  /** Its children may start: it is filled, or closed all that there was to close. */
  readonly isComplete: boolean
}

/** rejected: the order exists, with status 8. refused: nothing changed and no order came to be. */
export type BookOutcome = Outcome | 'rejected'

export type BookRefusal =
  | 'duplicateId'
  | 'quantityNotPositive'
  | 'unknownOrder'
  | 'unknownParent'
  | 'parentEnded'
  | 'tooManyAncestors'
  | 'exitsOfClosingOrder'
  | 'profitTargetOnWrongSide'
  | 'stopLossOnWrongSide'
  /** The order's status does not allow the request. */
  | 'notAllowedNow'

export interface BookResult {
  readonly book: OrderBook
  readonly outcome: BookOutcome
  /** Why the outcome is refused; null otherwise. */
  readonly refusal: BookRefusal | null
  readonly events: readonly BookEvent[]
  readonly alerts: readonly BookAlert[]
  /** In the order in which they ended; the strategy's books of other symbols follow (followParents). */
  readonly ended: readonly EndedOrder[]
}

/** What an operation needs from outside the book. */
export interface BookContext {
  readonly at: Instant
  /** A fresh id for what the book creates on account of an order. */
  newId(kind: ExitRole | 'ocaGroup' | 'reversal', orderId: string): string
  /** Why an opening order may not start to work now although the position allows it (margin); null: it may. */
  rejection(order: BookOrder, position: Decimal): string | null
}

/** The members in which a new order differs from a plain one. */
export type BookOrderFields = Pick<BookOrder, 'id' | 'side' | 'type' | 'positionEffect' | 'acceptedAt'> &
  Partial<Omit<BookOrder, keyof OrderState>>

/**
 * A new order: pending, held, at no venue and in no family unless `fields` say so. Member by member, also those that say
 * nothing: all orders are of one shape then, and a copy with other values is as cheap as a copy; one that gets a member
 * which it did not have takes forty times as long.
 */
export const newBookOrder = (orderQuantity: Decimal, fields: BookOrderFields): BookOrder => ({
  id: fields.id,
  side: fields.side,
  type: fields.type,
  timeInForce: fields.timeInForce ?? '1',
  positionEffect: fields.positionEffect,
  limit: fields.limit ?? null,
  stop: fields.stop ?? null,
  parent: fields.parent ?? null,
  depth: fields.depth ?? 0,
  exit: fields.exit ?? null,
  coversFrom: fields.coversFrom ?? zero,
  ocaGroup: fields.ocaGroup ?? null,
  waitsForParent: fields.waitsForParent ?? false,
  isParked: fields.isParked ?? false,
  acceptedAt: fields.acceptedAt,
  workingSince: fields.workingSince ?? null,
  isTriggered: fields.isTriggered ?? false,
  info: fields.info ?? null,
  replaces: fields.replaces,
  status: 'A',
  orderQuantity,
  filledQuantity: zero,
  filledValue: zero,
  acknowledged: false,
  held: true,
})

/** A book without orders that holds the position. */
export const emptyBook = (position: Decimal): OrderBook => ({ position, orders: new Map() })

/**
 * The book without the orders that no rule looks at any more, however long its past. What stays: every live order
 * and what it replaced, the entry of every exit that stays, the exits of every entry that stays.
 */
export function withoutEnded({ position, orders }: OrderBook): OrderBook {
  const all = [...orders.values()]
  const kept = new Set(all.filter(({ status }) => isLive(status)))
  // Orders that are added meanwhile are visited by the same loop.
  for (const order of kept) {
    for (const other of all) if (isNeededBy(order, other)) kept.add(other)
  }
  return { position, orders: new Map([...orders].filter(([, order]) => kept.has(order))) }
}

const isNeededBy = (order: BookOrder, other: BookOrder): boolean =>
  other.id === order.replaces ||
  (order.exit !== null && other.id === order.parent) ||
  (other.exit !== null && other.parent === order.id)
