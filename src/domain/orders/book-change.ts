/**
 * One operation on an order book under way: a working copy that rules change step by step, and the record of
 * what they did. It lives only inside an operation; outside there are values.
 * Invariant: whatever ends an order puts it in `ended`, so that its family follows before the operation is over.
 */
import { isLive, type OrdStatus } from '../codes.ts'
import type { Decimal } from '../decimal.ts'
import type {
  BookAlert,
  BookContext,
  BookEvent,
  BookOrder,
  BookOutcome,
  BookRefusal,
  BookResult,
  EndedOrder,
  OrderBook,
} from './order-book.ts'
import { applyToChain, type ChainEvent, type ChainOrder } from './order-chain.ts'
import { relativesOf } from './order-relatives.ts'
import type { Outcome } from './order-state.ts'
import { withEntry } from './overlay-map.ts'

export interface BookChange {
  readonly context: BookContext
  position: Decimal
  orders: OrderBook['orders']
  readonly events: BookEvent[]
  readonly alerts: BookAlert[]
  readonly ended: EndedOrder[]
}

/** A change that has not done anything yet. */
export const openChange = (book: OrderBook, context: BookContext): BookChange => ({
  context,
  position: book.position,
  orders: book.orders,
  events: [],
  alerts: [],
  ended: [],
})

/** What a change has come to. */
export const closeChange = (change: BookChange, outcome: BookOutcome): BookResult => ({
  book: { position: change.position, orders: change.orders },
  outcome,
  refusal: null,
  events: change.events,
  alerts: change.alerts,
  ended: change.ended,
})

const nothing = { events: [], alerts: [], ended: [] }

/** Of a repetition, or of news that comes too late: nothing happens. */
export const unchanged = (book: OrderBook): BookResult => ({
  book,
  outcome: 'ignored',
  refusal: null,
  ...nothing,
})

/** The book stays as it was. */
export const refused = (book: OrderBook, refusal: BookRefusal): BookResult => ({
  book,
  outcome: 'refused',
  refusal,
  ...nothing,
})

/** The order as it stands now. Throws when the book does not have it. */
export function orderIn(change: BookChange, id: string): BookOrder {
  const order = change.orders.get(id)
  if (!order) throw new RangeError(`no order ${id} in the book`)
  return order
}

function setOrder(change: BookChange, order: BookOrder): void {
  change.orders = withEntry(change.orders, order.id, order)
}

/** Puts a new order into the book. */
export function addOrder(change: BookChange, order: BookOrder): void {
  setOrder(change, order)
  record(change, order, 'NEW', null)
}

/** Changes members that no event of the order table changes. */
export function amend(
  change: BookChange,
  id: string,
  part: Partial<Omit<BookOrder, 'id' | 'status' | 'orderQuantity'>>,
): void {
  setOrder(change, { ...orderIn(change, id), ...part })
}

/** Gives a live order another quantity without a request. */
export function restate(change: BookChange, id: string, orderQuantity: Decimal): void {
  const before = orderIn(change, id)
  if (before.orderQuantity.equals(orderQuantity)) return
  const order = { ...before, orderQuantity }
  setOrder(change, order)
  record(change, order, 'RESTATE', null)
}

/** Gives a live order its quantities and prices in other units, without a request. */
export function restateUnits(
  change: BookChange,
  id: string,
  units: Pick<BookOrder, 'orderQuantity' | 'filledQuantity' | 'filledValue' | 'limit' | 'stop'>,
): void {
  const order = { ...orderIn(change, id), ...units }
  setOrder(change, order)
  record(change, order, 'RESTATE', null)
}

/** Lets an exit stand for that much less of its entry than before. */
export function shiftCover(change: BookChange, id: string, by: Decimal): void {
  const order = orderIn(change, id)
  setOrder(change, { ...order, coversFrom: order.coversFrom.plus(by) })
}

/**
 * Applies an event of the order table to the order and to the chain that it stands in. `countsAsComplete`: if
 * this ends the order, its children start as if it were filled.
 */
export function applyTo(
  change: BookChange,
  id: string,
  event: ChainEvent<string>,
  { info = null, countsAsComplete = false }: { info?: string | null; countsAsComplete?: boolean } = {},
): Outcome {
  const { outcome, chain } = applyToChain<string>(chainOf(change, id), id, event)
  for (const state of chain) {
    const before = change.orders.get(state.id)
    if (state === before) continue
    const order = merged(change, before, state, info)
    setOrder(change, order)
    record(change, order, before ? event.event : 'NEW', info)
    if (before && hasJustEnded(before.status, order.status)) {
      const isComplete = order.status === '2' || countsAsComplete
      change.ended.push({ orderId: order.id, event: event.event, isComplete })
    }
  }
  return outcome
}

/** A late fill that completes an order ends it once more: the others of its group hear of it. */
const hasJustEnded = (before: OrdStatus, now: OrdStatus): boolean =>
  isLive(before) ? !isLive(now) && now !== '5' : before !== '2' && now === '2'

/** Ends a live order on the platform's own account. */
export function withdraw(change: BookChange, id: string, info: string, countsAsComplete = false): void {
  applyTo(change, id, { event: 'UNSOLICITED_CANCEL' }, { info, countsAsComplete })
}

/** The order with its new state; a replacement takes everything else from the order it replaces. */
function merged(
  change: BookChange,
  before: BookOrder | undefined,
  state: ChainOrder<string>,
  info: string | null,
): BookOrder {
  const { id, status, orderQuantity, filledQuantity, filledValue, acknowledged, held, replaces } = state
  const known = before ?? orderIn(change, replaces ?? id)
  return {
    ...known,
    id,
    status,
    orderQuantity,
    filledQuantity,
    filledValue,
    acknowledged,
    held,
    replaces: replaces ?? known.replaces,
    info: info ?? known.info,
  }
}

/** The orders that replaced each other before and after this one, as far as the book has them. */
function chainOf(change: BookChange, id: string): readonly BookOrder[] {
  let first = orderIn(change, id)
  for (;;) {
    const earlier = first.replaces === undefined ? undefined : change.orders.get(first.replaces)
    if (!earlier) break
    first = earlier
  }
  const chain = [first]
  // Replacements that are found meanwhile are visited by the same loop.
  for (const { id: replaced } of chain) {
    chain.push(...relativesOf(change.orders, replaced).filter(({ replaces }) => replaces === replaced))
  }
  return chain
}

function record(change: BookChange, order: BookOrder, event: BookEvent['event'], info: string | null): void {
  const { id: orderId, status, orderQuantity } = order
  change.events.push({ orderId, event, status, orderQuantity, info })
}
