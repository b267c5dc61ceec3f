/**
 * A new order enters the book: alone, with its exits, as a child that waits, or as the two orders of a reversal.
 * Refused is what contradicts itself, and leaves nothing; rejected is what the position or the margin forbids,
 * and is kept with its reason.
 */

import { isLive, type OrdType, type PositionEffect, type Side, type TimeInForce } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import { decideOpenClose } from '../positions/open-close.ts'
import { addOrder, applyTo, type BookChange, openChange, orderIn, refused } from './book-change.ts'
import { settle } from './book-settle.ts'
import { addExits, type Bracket, misplacedExit } from './bracket.ts'
import { effectOfChild, type Parent, refusedParent, rejectionOf, start } from './conditional.ts'
import {
  type BookContext,
  type BookRefusal,
  type BookResult,
  newBookOrder,
  type OrderBook,
} from './order-book.ts'

/** An order as its owner sends it. */
export interface BookDraft extends Bracket {
  readonly id: string
  readonly side: Side
  readonly type: OrdType
  readonly timeInForce: TimeInForce
  /** Unsigned. */
  readonly quantity: Decimal
  readonly limit: Decimal | null
  readonly stop: Decimal | null
  /** Null: the position, or the parent, decides. */
  readonly positionEffect: PositionEffect | null
  /** An id in this book, or an order of the strategy in another symbol. */
  readonly parent: string | Parent | null
  readonly isParked: boolean
  /** The group of exits that it joins; absent: none. */
  readonly ocaGroup?: string | null
  /** What it says of itself; absent: nothing. */
  readonly info?: string
  /** What the exits of a market order are compared with: the current mid; null when there is none. */
  readonly mid: Decimal | null
}

type MarketOrder = Pick<BookDraft, 'id' | 'side' | 'quantity' | 'positionEffect'> &
  Partial<Pick<BookDraft, 'timeInForce' | 'info'>>

/** A market order with nothing around it; good till it is done unless it says otherwise. */
export const marketOrder = (own: MarketOrder): BookDraft => ({
  type: '1',
  timeInForce: '1',
  limit: null,
  stop: null,
  parent: null,
  isParked: false,
  mid: null,
  profitTarget: null,
  stopLoss: null,
  doNotCreateOcaGroup: false,
  ...own,
})

interface Placement {
  readonly positionEffect: PositionEffect
  readonly quantity: Decimal
  readonly parent: Parent | null
}

/** Takes in a new order. */
export function submitOrder(book: OrderBook, draft: BookDraft, context: BookContext): BookResult {
  const parent = typeof draft.parent === 'string' ? (book.orders.get(draft.parent) ?? null) : draft.parent
  if (draft.parent !== null && parent === null) return refused(book, 'unknownParent')
  const decision = parent
    ? { positionEffect: draft.positionEffect ?? effectOfChild(parent, draft.side) }
    : decideOpenClose(draft.positionEffect ?? undefined, draft.side, draft.quantity, book.position)
  // Only an order sent with a word about it can be rejected for it.
  const positionEffect =
    'positionEffect' in decision ? decision.positionEffect : (draft.positionEffect ?? 'O')
  const refusal = refusalOf(book, draft, parent, positionEffect)
  if (refusal) return refused(book, refusal)
  const change = openChange(book, context)
  if ('reversal' in decision) reverse(change, draft, decision.reversal)
  else place(change, draft, { positionEffect, quantity: draft.quantity, parent })
  return settle(change, orderIn(change, draft.id).status === '8' ? 'rejected' : 'applied')
}

function refusalOf(
  book: OrderBook,
  draft: BookDraft,
  parent: Parent | null,
  positionEffect: PositionEffect,
): BookRefusal | null {
  if (book.orders.has(draft.id)) return 'duplicateId'
  if (draft.quantity.lessThanOrEqualTo(zero)) return 'quantityNotPositive'
  const byParent = parent && refusedParent(parent)
  if (byParent) return byParent
  if (draft.profitTarget === null && draft.stopLoss === null) return null
  if (positionEffect === 'C') return 'exitsOfClosingOrder'
  const misplaced = misplacedExit(draft.side, draft, referenceOf(draft))
  return misplaced && (misplaced === 'profitTarget' ? 'profitTargetOnWrongSide' : 'stopLossOnWrongSide')
}

const referenceOf = ({ type, limit, stop, mid }: BookDraft): Decimal | null =>
  type === '2' ? limit : type === '3' ? stop : mid

/** Two orders: the first closes the position, the second opens the remainder when the first is filled. */
function reverse(
  change: BookChange,
  draft: BookDraft,
  quantities: { readonly close: Decimal; readonly open: Decimal },
): void {
  const plain = { ...draft, profitTarget: null, stopLoss: null }
  place(change, plain, { positionEffect: 'C', quantity: quantities.close, parent: null })
  const second = { ...draft, id: change.context.newId('reversal', draft.id), isParked: false }
  place(change, second, { positionEffect: 'O', quantity: quantities.open, parent: orderIn(change, draft.id) })
}

function place(change: BookChange, draft: BookDraft, { positionEffect, quantity, parent }: Placement): void {
  const { id, side, type, timeInForce, limit, stop, isParked, ocaGroup = null, info = null } = draft
  const acceptedAt = change.context.at
  const waitsForParent = parent !== null && isLive(parent.status)
  const depth = parent ? parent.depth + 1 : 0
  const family = { parent: parent?.id ?? null, depth, waitsForParent }
  const order = newBookOrder(quantity, {
    id,
    side,
    type,
    timeInForce,
    limit,
    stop,
    positionEffect,
    isParked,
    acceptedAt,
    ocaGroup,
    info,
    ...family,
  })
  addOrder(change, order)
  if (!waitsForParent) {
    if (isParked) check(change, id)
    else start(change, id)
  }
  const placed = orderIn(change, id)
  if (placed.status !== '8' && (draft.profitTarget || draft.stopLoss)) addExits(change, placed, draft)
}

/** A parked order meets the checks when it is sent and again when it is released. */
function check(change: BookChange, id: string): void {
  const info = rejectionOf(change, orderIn(change, id))
  if (info !== null) applyTo(change, id, { event: 'REJECT' }, { info })
}
