/**
 * Conditional orders: children that wait until their parent is completely filled, then meet the checks that any
 * new order meets. They die with a parent that ends before; only a closing child of a part-filled parent starts
 * for what there is to close.
 */

import { isLive, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, min, zero } from '../decimal.ts'
import { decideOpenClose } from '../positions/open-close.ts'
import { reducible } from '../positions/position.ts'
import { amend, applyTo, type BookChange, orderIn, restate, withdraw } from './book-change.ts'
import type { BookOrder, BookRefusal } from './order-book.ts'
import { relativesOf } from './order-relatives.ts'

/** Most ancestors that an order may have. */
const ancestorsMax = 10

/** A parent as far as its children depend on it; it may belong to another symbol of the strategy. */
export type Parent = Pick<BookOrder, 'id' | 'side' | 'positionEffect' | 'status' | 'depth' | 'filledQuantity'>

/** Why an order cannot depend on this parent; null when it can. */
export function refusedParent(parent: Parent): BookRefusal | null {
  if (!isLive(parent.status) && parent.status !== '2') return 'parentEnded'
  return parent.depth >= ancestorsMax ? 'tooManyAncestors' : null
}

/** What a child is that was sent without a word: it closes what its parent opens, otherwise it opens. */
export const effectOfChild = (parent: Parent, side: Side): PositionEffect =>
  parent.positionEffect === 'O' && parent.side !== side ? 'C' : 'O'

/** Why an order may not start to work against the position as it is; null when it may. */
export function rejectionOf(change: BookChange, order: BookOrder): string | null {
  const { positionEffect, side, orderQuantity } = order
  // A child is cut to the position instead.
  const isCut = order.parent !== null && positionEffect === 'C'
  const quantity = isCut ? reducible(change.position, side, orderQuantity) : orderQuantity
  const decision = decideOpenClose(positionEffect, side, quantity, change.position)
  if ('rejected' in decision) return decision.rejected
  return positionEffect === 'O' ? change.context.rejection(order, change.position) : null
}

/** A held order starts to work, or is rejected. */
export function start(change: BookChange, id: string): void {
  const order = orderIn(change, id)
  const info = rejectionOf(change, order)
  if (info !== null) {
    applyTo(change, id, { event: 'REJECT' }, { info })
    return
  }
  if (order.positionEffect === 'C')
    restate(change, id, reducible(change.position, order.side, order.orderQuantity))
  amend(change, id, { workingSince: change.context.at })
  applyTo(change, id, { event: 'ACK' })
}

/** The parent ended: its children start, or end with it. */
export function followParentEnd(change: BookChange, parent: Parent, isComplete: boolean): void {
  for (const child of relativesOf(change.orders, parent.id)) {
    if (child.parent !== parent.id || !child.waitsForParent || !child.held) continue
    if (isComplete) release(change, child, child.orderQuantity)
    else if (child.positionEffect === 'C' && parent.filledQuantity.greaterThan(zero)) {
      release(change, child, min(child.orderQuantity, parent.filledQuantity))
    } else withdraw(change, child.id, 'parent ended')
  }
}

/** The parent no longer holds the child; a date still may. */
function release(change: BookChange, child: BookOrder, quantity: Decimal): void {
  amend(change, child.id, { waitsForParent: false })
  restate(change, child.id, quantity)
  if (!child.isParked) start(change, child.id)
}

/** The parent was replaced: its children, exits too, depend on the replacement. */
export function followReplacement(change: BookChange, replaced: string, replacement: string): void {
  for (const { id, parent } of relativesOf(change.orders, replaced)) {
    if (parent === replaced) amend(change, id, { parent: replacement })
  }
}
