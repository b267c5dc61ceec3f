/**
 * One cancels all: the exits of one entry in one group. What one member closes the others need not close.
 * Invariant: no member works for more than the entry's filled quantity that the group has not yet closed.
 */

import { isLive } from '../codes.ts'
import { type Decimal, max, min, sum, zero } from '../decimal.ts'
import { type BookChange, orderIn, restate, withdraw } from './book-change.ts'
import type { BookOrder, EndedOrder } from './order-book.ts'
import { relativesOf } from './order-relatives.ts'
import { remainingQuantity } from './order-state.ts'

/**
 * A member traded without completing: the others keep at most what is left to close. With equal members that
 * is what traded less; one that its owner made smaller stays as long as lots are unprotected.
 */
export function shrinkGroup(change: BookChange, memberId: string, traded: Decimal): void {
  const member = orderIn(change, memberId)
  if (member.status === '2') return
  const open = openLots(change, member)
  for (const other of othersOf(change, member)) {
    const own = remainingQuantity(other)
    const leaves = max(zero, min(own, open ?? own.minus(traded)))
    if (leaves.isZero()) withdraw(change, other.id, 'other exit filled')
    else restate(change, other.id, other.filledQuantity.plus(leaves))
  }
}

/** What the entry filled for this group and no member has closed; null when the entry is unknown. */
export function openLots(change: BookChange, member: BookOrder): Decimal | null {
  const entry = member.exit === null || member.parent === null ? undefined : change.orders.get(member.parent)
  if (!entry) return null
  // The last order of a chain shows the chain's total; the replaced ones before it would count twice.
  const counted = membersOf(change, member).filter(({ status }) => status !== '5')
  const closed = sum(counted.map(({ filledQuantity }) => filledQuantity))
  return entry.filledQuantity.minus(member.coversFrom).minus(closed)
}

/**
 * A member ended. Filled, or canceled by its owner: the others end too. Expired or rejected: they stay, since
 * protection comes first, and somebody must look. What the book itself ends has no further consequence here.
 */
export function followMemberEnd(change: BookChange, member: BookOrder, { event }: EndedOrder): void {
  const others = othersOf(change, member)
  if (member.status === '2') for (const { id } of others) withdraw(change, id, 'other exit filled')
  else if (event === 'CANCEL_REQUEST' || event === 'CANCEL_ACK') {
    for (const { id } of others) withdraw(change, id, 'other exit canceled')
  } else if ((event === 'EXPIRE' || event === 'REJECT') && member.exit !== null) {
    change.alerts.push({ orderId: member.id, alert: 'exitLost' })
  }
}

const membersOf = (change: BookChange, { ocaGroup }: BookOrder): BookOrder[] =>
  ocaGroup === null ? [] : relativesOf(change.orders, ocaGroup).filter((order) => order.ocaGroup === ocaGroup)

const othersOf = (change: BookChange, member: BookOrder): BookOrder[] =>
  membersOf(change, member).filter(({ id, status }) => id !== member.id && isLive(status))
