/**
 * Bracket exits: the profit target and the stop loss of an entry. They exist from the start, held; they work for
 * every lot that the entry fills, as soon as it is filled.
 * Invariants: no filled lot stays without an exit unless its owner took the exits away; once an exit has traded
 * the entry trades no more, otherwise it would open again what the exit just closed.
 */

import { isLive, oppositeOf, type Side } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import { addOrder, amend, applyTo, type BookChange, orderIn, restate, withdraw } from './book-change.ts'
import { type BookOrder, type ExitRole, newBookOrder } from './order-book.ts'
import { relativesOf } from './order-relatives.ts'

/** Prices of the exits as their owner wants them. */
export interface Bracket {
  readonly profitTarget: Decimal | null
  readonly stopLoss: Decimal | null
  /** The exits know nothing of each other. */
  readonly doNotCreateOcaGroup: boolean
}

/**
 * Which exit lies on the wrong side of the entry's reference price. Without one, the two are compared with each
 * other.
 */
export function misplacedExit(
  side: Side,
  { profitTarget, stopLoss }: Bracket,
  reference: Decimal | null,
): ExitRole | null {
  const isBeyond = (far: Decimal, near: Decimal): boolean =>
    side === '1' ? far.greaterThan(near) : far.lessThan(near)
  const middle = reference ?? profitTarget
  if (reference && profitTarget && !isBeyond(profitTarget, reference)) return 'profitTarget'
  if (middle && stopLoss && !isBeyond(middle, stopLoss)) return 'stopLoss'
  return null
}

/** Adds the exits of a new entry: held, for its quantity. */
export function addExits(change: BookChange, entry: BookOrder, bracket: Bracket): void {
  createExits(change, entry, bracket, entry.orderQuantity, zero)
}

function createExits(
  change: BookChange,
  entry: BookOrder,
  { profitTarget, stopLoss, doNotCreateOcaGroup }: Bracket,
  quantity: Decimal,
  coversFrom: Decimal,
): string[] {
  const { at, newId } = change.context
  const isGroup = profitTarget !== null && stopLoss !== null && !doNotCreateOcaGroup
  const shared = {
    side: oppositeOf(entry.side),
    positionEffect: 'C',
    acceptedAt: at,
    parent: entry.id,
    depth: entry.depth + 1,
    ocaGroup: isGroup ? newId('ocaGroup', entry.id) : null,
    coversFrom,
  } as const
  const exits: BookOrder[] = []
  if (profitTarget) {
    const own = {
      id: newId('profitTarget', entry.id),
      exit: 'profitTarget',
      type: '2',
      limit: profitTarget,
    } as const
    exits.push(newBookOrder(quantity, { ...shared, ...own }))
  }
  if (stopLoss) {
    const own = { id: newId('stopLoss', entry.id), exit: 'stopLoss', type: '3', stop: stopLoss } as const
    exits.push(newBookOrder(quantity, { ...shared, ...own }))
  }
  for (const exit of exits) addOrder(change, exit)
  return exits.map(({ id }) => id)
}

/**
 * The entry traded: its exits work for that quantity too. When none is left they are opened anew, unless their
 * owner took them away while the entry worked. `isLate`: the entry had ended before.
 */
export function protect(change: BookChange, entryId: string, traded: Decimal, isLate: boolean): void {
  const entry = orderIn(change, entryId)
  const exits = exitsOf(change, entryId)
  const live = exits.filter(({ status }) => isLive(status))
  for (const exit of live) {
    if (exit.held) startExit(change, exit.id, entry.filledQuantity)
    else restate(change, exit.id, exit.orderQuantity.plus(traded))
  }
  if (exits.length === 0 || live.length > 0) return
  const lostToOthers = exits.every(({ status }) => status === '5' || status === '8' || status === 'C')
  if (isLate || lostToOthers) reopenExits(change, entry, exits, traded)
}

/** New exits in place of those that ended, at their last prices, for what has just traded. */
function reopenExits(
  change: BookChange,
  entry: BookOrder,
  ended: readonly BookOrder[],
  traded: Decimal,
): void {
  const target = ended.findLast(({ exit }) => exit === 'profitTarget')
  const loss = ended.findLast(({ exit }) => exit === 'stopLoss')
  const bracket = {
    profitTarget: target?.limit ?? null,
    stopLoss: loss?.stop ?? null,
    doNotCreateOcaGroup: (target?.ocaGroup ?? null) === null,
  }
  const coversFrom = entry.filledQuantity.minus(traded)
  for (const id of createExits(change, entry, bracket, traded, coversFrom)) startExit(change, id, traded)
  change.alerts.push({ orderId: entry.id, alert: 'exitsReopened' })
}

function startExit(change: BookChange, id: string, quantity: Decimal): void {
  restate(change, id, quantity)
  amend(change, id, { workingSince: change.context.at })
  applyTo(change, id, { event: 'ACK' })
}

/** An exit traded: what its entry has not filled is withdrawn. */
export function withdrawEntry(change: BookChange, exit: BookOrder): void {
  const entry = exit.exit === null || exit.parent === null ? undefined : change.orders.get(exit.parent)
  if (entry) withdraw(change, entry.id, 'exit filled')
}

/** The entry ended: exits of a filled quantity go on, those of nothing end with it. */
export function followEntryEnd(change: BookChange, entry: BookOrder): void {
  if (entry.filledQuantity.greaterThan(zero)) return
  for (const { id } of exitsOf(change, entry.id)) withdraw(change, id, 'entry ended')
}

/** The entry was replaced before it traded: its exits carry the new quantity. */
export function followEntryQuantity(change: BookChange, entry: BookOrder): void {
  for (const { id, held } of exitsOf(change, entry.id)) {
    if (held) restate(change, id, entry.orderQuantity)
  }
}

const exitsOf = (change: BookChange, entryId: string): BookOrder[] =>
  relativesOf(change.orders, entryId).filter(({ exit, parent }) => exit !== null && parent === entryId)
