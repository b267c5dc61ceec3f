/**
 * Chains of replacements: each order but the first replaces one before it, and shows the totals of the chain.
 * A chain is the list of its orders as they were created; a refused replacement stays in it as a dead end.
 * Invariant: what the last confirmed order of a chain shows as filled is what the whole chain executed.
 */
import type { Decimal } from '../decimal.ts'
import type { Restated } from '../positions/split.ts'
import { applyEvent } from './order.ts'
import type { OrderEvent, OrderState, Outcome } from './order-state.ts'

export interface ChainOrder<Id> extends OrderState {
  readonly id: Id
  /** The order that this one replaces. */
  readonly replaces?: Id | undefined
}

/** What splits since an execution have made of its units and price in the last of its chain, where its order was replaced before them. */
export interface InLast {
  readonly inLast?: Restated | undefined
}

/** `newId` names the order that a replace request creates. */
export type ChainEvent<Id> =
  | Exclude<OrderEvent, { readonly event: 'REPLACE_REQUEST' | 'FILL' | 'BUST' }>
  | (Extract<OrderEvent, { readonly event: 'FILL' | 'BUST' }> & InLast)
  | { readonly event: 'REPLACE_REQUEST'; readonly quantity: Decimal; readonly newId: Id }

export interface ChainApplied<Id> {
  readonly outcome: Outcome
  /** Orders that the event did not touch are the same objects as before. */
  readonly chain: readonly ChainOrder<Id>[]
}

type Chain<Id> = readonly ChainOrder<Id>[]

/**
 * Applies an event that names the order `id` to its chain. The outcome is the named order's. Throws when the
 * chain has no such order.
 */
export function applyToChain<Id>(chain: Chain<Id>, id: Id, event: ChainEvent<Id>): ChainApplied<Id> {
  const order = find(chain, id)
  const waitingFor = chain.find((other) => pendingReplacement(chain, other) === order)
  return waitingFor ? applyBeforeAnswer(chain, waitingFor, order, event) : applyToOrder(chain, order, event)
}

/** The order's replacement that the venue has not answered yet. */
export function pendingReplacement<Id>(chain: Chain<Id>, order: ChainOrder<Id>): ChainOrder<Id> | undefined {
  if (order.status !== 'E' && order.status !== '6') return undefined
  const latest = replacementOf(chain, order)
  return latest?.status === 'A' ? latest : undefined
}

/** The order that carries the chain's totals now: the one after which no replacement is confirmed. */
export function lastOfChain<Id>(chain: Chain<Id>, order: ChainOrder<Id>): ChainOrder<Id> {
  const next = order.status === '5' ? replacementOf(chain, order) : undefined
  return next ? lastOfChain(chain, next) : order
}

/** An event that names a replacement whose answer is still out is news about the order it replaces. */
function applyBeforeAnswer<Id>(
  chain: Chain<Id>,
  replaced: ChainOrder<Id>,
  pending: ChainOrder<Id>,
  event: ChainEvent<Id>,
): ChainApplied<Id> {
  switch (event.event) {
    case 'ACK':
      return applyToOrder(chain, replaced, { event: 'REPLACE_ACK' })
    case 'REJECT':
      return applyToOrder(chain, replaced, { event: 'REPLACE_REJECT' })
    case 'FILL': {
      const confirmed = applyToOrder(chain, replaced, { event: 'REPLACE_ACK' }).chain
      return applyToOrder(confirmed, find(confirmed, pending.id), event)
    }
    case 'CANCEL_REJECT':
      // A venue that does not know the new id yet may well be working the old one.
      return applyToOrder(chain, replaced, { event: 'CANCEL_REJECT', unknownOrder: false })
    case 'REPLACE_REQUEST':
    case 'BUST':
      return applyToOrder(chain, pending, event)
    case 'REPLACE_ACK':
    case 'REPLACE_REJECT':
    case 'CANCEL_REQUEST':
    case 'CANCEL_ACK':
    case 'EXPIRE':
    case 'UNSOLICITED_CANCEL':
      return applyToOrder(chain, replaced, event)
  }
}

function applyToOrder<Id>(chain: Chain<Id>, order: ChainOrder<Id>, event: ChainEvent<Id>): ChainApplied<Id> {
  const last = lastOfChain(chain, order)
  if (last !== order && event.event === 'BUST') return bustReplaced(chain, order, last, event)
  const replacement = pendingReplacement(chain, order)
  const applied = applyEvent(order, event, replacement)
  const own = put(chain, order, applied.order)
  if (event.event === 'REPLACE_REQUEST' && applied.replacement && applied.outcome === 'applied') {
    const created = { ...applied.replacement, id: event.newId, replaces: order.id }
    return { outcome: applied.outcome, chain: [...own, created] }
  }
  const both = replacement && applied.replacement ? put(own, replacement, applied.replacement) : own
  const all =
    last !== order && event.event === 'FILL' ? applyToOrder(both, last, asOfLast(event)).chain : both
  return { outcome: applied.outcome, chain: all }
}

/** Whether the venue still works a replaced order is a question to the last of its chain: its row decides. */
function bustReplaced<Id>(
  chain: Chain<Id>,
  order: ChainOrder<Id>,
  last: ChainOrder<Id>,
  event: Extract<ChainEvent<Id>, { event: 'BUST' }>,
): ChainApplied<Id> {
  const { outcome, chain: next } = applyToOrder(chain, last, asOfLast(event))
  if (outcome === 'ignored') return { outcome, chain }
  return { outcome, chain: put(next, order, applyEvent(order, { ...event, live: true }).order) }
}

/** The last of a chain counts in the units of today, what was replaced before a split in those of then. */
const asOfLast = <Traded extends InLast & { readonly quantity: Decimal; readonly price: Decimal }>({
  inLast,
  ...event
}: Traded) =>
  inLast
    ? { ...event, quantity: event.quantity.times(inLast.units), price: event.price.times(inLast.price) }
    : event

/** A second replacement exists only after the first was refused, so the latest one counts. */
const replacementOf = <Id>(chain: Chain<Id>, order: ChainOrder<Id>): ChainOrder<Id> | undefined =>
  chain.findLast((other) => other.replaces === order.id)

function find<Id>(chain: Chain<Id>, id: Id): ChainOrder<Id> {
  const order = chain.find((candidate) => candidate.id === id)
  if (!order) throw new RangeError(`no order ${String(id)} in the chain`)
  return order
}

const put = <Id>(chain: Chain<Id>, order: ChainOrder<Id>, state: OrderState): Chain<Id> =>
  state === order ? chain : chain.map((other) => (other.id === order.id ? withState(other, state) : other))

/** Members that the order has already: to spread the state over it would take four times as long. */
const withState = <Order extends OrderState>(order: Order, state: OrderState): Order => ({
  ...order,
  status: state.status,
  orderQuantity: state.orderQuantity,
  filledQuantity: state.filledQuantity,
  filledValue: state.filledValue,
  acknowledged: state.acknowledged,
  held: state.held,
})
