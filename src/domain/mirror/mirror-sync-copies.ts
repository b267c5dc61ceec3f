/**
 * How the working orders of one symbol follow their signals: what is canceled, turned to market, replaced and
 * placed. A copy whose signal filled first has a grace in which it may still trade by itself. Closing orders
 * together never exceed the position: the younger copies shrink first, all of them before a correction.
 */
import { directionOf, type OrdType, type Side } from '../codes.ts'
import { type Decimal, max, min, sign, sum, zero } from '../decimal.ts'
import { actsAgainst, closesNothing } from '../positions/open-close.ts'
import { type CopyQuantity, clampClosing, copyQuantity } from './mirror-copy.ts'
import { limitOf } from './mirror-plan.ts'
import {
  type LiveCopy,
  leavesOf,
  type SymbolState,
  type SyncInput,
  type SyncOrder,
  type SyncSignal,
  signed,
} from './mirror-sync-state.ts'
import { size, target } from './mirror-target.ts'

/** A new copy, or the next revision of one that ended; its `filledBefore` is the signal's filled quantity now. */
export type Placement = { signal: SyncSignal; quantity: Decimal }

/** A copy at new leaves and its signal's present type and prices. */
export type Replacement = {
  clientOrderId: string
  type: OrdType
  quantity: Decimal
  limit: Decimal | null
  stop: Decimal | null
}

export type CopyActions = {
  cancel: string[]
  toMarket: { clientOrderId: string; quantity: Decimal }[]
  replace: Replacement[]
  place: Placement[]
}

/** An order that will trade without a signal of its own: it counts as if it had. */
export type InFlight = Pick<SyncOrder, 'side' | 'positionEffect' | 'leaves'>

export type Settled = { cancel: string[]; toMarket: CopyActions['toMarket']; inFlight: InFlight[] }

/** How much of a copy left behind still brings the account to the strategy's position. */
function chased(state: SymbolState, order: SyncOrder, position: Decimal): Decimal {
  const direction = directionOf(order.side)
  const goal = (order.positionEffect === 'O' ? target : size)(state.strategyPosition, state.sizing)
  const missing = max(zero, goal.quantity.minus(position).times(direction))
  const most = order.positionEffect === 'O' ? missing : min(missing, max(zero, position.times(-direction)))
  return min(order.leaves, most)
}

/**
 * What a copy in its grace that closes may still trade, unsigned: what is held against its side. Where a reversal's second
 * half has traded before its first, that one finds less than it was made for, or nothing, and with all of it brings the
 * account to the strategy's other side; not with what works to open it, or will when this cycle is over.
 */
export function reachInGrace(state: SymbolState, side: Side): Decimal {
  const direction = directionOf(side)
  const held = max(zero, state.accountPosition.times(-direction))
  const goal = target(state.strategyPosition, state.sizing).quantity
  if (state.excluded || sign(goal) !== direction) return held
  return max(held, goal.minus(state.accountPosition).times(direction).minus(leavesToOpen(state, side)))
}

/**
 * Unsigned leaves of a side that open, once the copies of live signals are what they should be. What opens is never
 * worked by hand: an owner changes exits alone.
 */
function leavesToOpen(state: SymbolState, side: Side): Decimal {
  const opens = ({ positionEffect, side: of }: Pick<SyncOrder, 'positionEffect' | 'side'>) =>
    positionEffect === 'O' && of === side
  const live = state.copies.filter(({ signal }) => opens(signal))
  const counted = new Set(live.flatMap(({ orders }) => orders))
  const others = state.orders.filter((order) => opens(order) && !counted.has(order))
  return live
    .filter((copy) => workingOf(copy).length > 0 || mayPlace(copy))
    .reduce((total, copy) => total.plus(wantedLeaves(state, copy)), leavesOf(others))
}

/**
 * Copies without a live signal: in grace, turned to market, or canceled. What may only close has no grace once there is
 * nothing to close.
 */
function settleStrays(state: SymbolState, input: SyncInput): Settled {
  const settled: Settled = { cancel: [], toMarket: [], inFlight: [] }
  let position = state.accountPosition
  for (const order of state.strays) {
    const signal = input.finished.get(`${order.signalId}`)
    const isInGrace = signal?.status === '2' && signal.ageSeconds < input.driftGraceSeconds
    const hasWork = order.positionEffect === 'O' || !reachInGrace(state, order.side).isZero()
    if (isInGrace && hasWork && !state.excluded) {
      settled.inFlight.push(order)
      continue
    }
    const mayChase = signal?.status === '2' && input.chaseFilled && !signal.doNotSyncToOpen && !state.excluded
    const quantity = mayChase ? chased(state, order, position) : zero
    if (quantity.isZero()) {
      settled.cancel.push(order.clientOrderId)
      continue
    }
    position = position.plus(signed(quantity, order.side))
    settled.inFlight.push({ ...order, leaves: quantity })
    const isTurned = order.type === '1' && order.leaves.equals(quantity)
    if (!isTurned) settled.toMarket.push({ clientOrderId: order.clientOrderId, quantity })
  }
  return settled
}

/**
 * Orders without a live signal. A sync order that would carry the account past its size is no longer wanted, nor is a
 * close when there is nothing left to close: it would open. `effective` is the position once all that stays has traded.
 */
export function settleInFlight(state: SymbolState, input: SyncInput): Settled & { effective: Decimal } {
  const settled = settleStrays(state, input)
  let effective = settled.inFlight.reduce(
    (reached, order) => reached.plus(signed(order.leaves, order.side)),
    state.accountPosition,
  )
  for (const order of state.syncOrders) {
    const reached = effective.plus(signed(order.leaves, order.side))
    const isPast = signed(reached.minus(state.expected), order.side).greaterThan(0)
    if (isPast || closesNothing(order, state.accountPosition)) {
      settled.cancel.push(order.clientOrderId)
    } else {
      settled.inFlight.push(order)
      effective = reached
    }
  }
  return { ...settled, effective }
}

/** Unsigned leaves that work against the account's position. */
export const closingInFlight = (state: SymbolState, inFlight: readonly InFlight[]): Decimal =>
  leavesOf(inFlight.filter(({ side }) => actsAgainst(side, state.accountPosition)))

const workingOf = (copy: LiveCopy): readonly SyncOrder[] =>
  copy.orders.filter(({ leaves }) => leaves.greaterThan(0))

const isByHand = (copy: LiveCopy): boolean => workingOf(copy).some(({ care }) => care !== 'follow')

/** Unsigned quantity of the signal that was still to trade when its copy was made. */
const remainingOf = ({ signal, filledBefore }: LiveCopy): Decimal =>
  max(zero, signal.quantity.minus(filledBefore))

/** What the copy of a live signal should work for, whatever the others of its group have done. */
function quantityAlone(state: SymbolState, copy: LiveCopy): CopyQuantity {
  const { signal, executed } = copy
  const entry = signal.entry === null ? undefined : state.copyOf.get(`${signal.entry}`)
  return copyQuantity({
    side: signal.side,
    positionEffect: signal.positionEffect,
    remaining: remainingOf(copy),
    executed,
    strategyBase: state.strategyBase,
    sizing: { ...state.baseSizing, referencePrice: signal.referencePrice ?? state.baseSizing.referencePrice },
    entryExecuted: entry?.executed ?? null,
    entryKept: signal.entryKept,
  })
}

const leavesAlone = (state: SymbolState, copy: LiveCopy): Decimal => quantityAlone(state, copy).leaves

/** The numbers that the size of a copy is decided from, as those of a signal's plan. */
export function explainCopy(state: SymbolState, copy: LiveCopy) {
  const { reason } = quantityAlone(state, copy)
  return {
    reason,
    strategyQuantity: state.strategyBase.plus(signed(remainingOf(copy), copy.signal.side)),
    limit: limitOf(state.terms, state.terms.settings, reason),
  }
}

/** What a copy has executed here before its signal did: nothing has told the others of its group yet. Unsigned. */
function executedAhead(state: SymbolState, { signal, filledBefore, executed }: LiveCopy): Decimal {
  const sizeOf = (position: Decimal): Decimal => size(position, state.baseSizing).quantity.abs()
  const filled = signed(signal.filled.minus(filledBefore), signal.side)
  const told = sizeOf(state.strategyBase).minus(sizeOf(state.strategyBase.plus(filled)))
  return max(zero, executed.minus(max(zero, told)))
}

/**
 * Exits of one group shrink together: leaves that the others leave this closing copy with what they have executed ahead
 * of their signals; null where none has.
 */
export function leavesInGroup(state: SymbolState, copy: LiveCopy): Decimal | null {
  const { ocaGroup, positionEffect } = copy.signal
  if (ocaGroup === null || positionEffect === 'O') return null
  const others = state.copies.filter((other) => other !== copy && other.signal.ocaGroup === ocaGroup)
  const ahead = sum(others.map((other) => executedAhead(state, other)))
  return ahead.isZero() ? null : max(zero, leavesAlone(state, copy).minus(ahead))
}

/**
 * Leaves the copy of a live signal should have, before closing copies share the position. One that closes works against
 * the position or not at all.
 */
function wantedLeaves(state: SymbolState, copy: LiveCopy): Decimal {
  if (closesNothing(copy.signal, state.accountPosition)) return zero
  return leavesInGroup(state, copy) ?? leavesAlone(state, copy)
}

/** What has no working copy now: none ever, or one that ended. Only closing is attempted a second time. */
const mayPlace = ({ signal, orders }: LiveCopy): boolean =>
  signal.positionEffect === 'C' || (orders.length === 0 && !signal.doNotSyncToOpen)

/** Live copies that may need an order, in the order of their age, those still to be placed last. */
function byAge(state: SymbolState): LiveCopy[] {
  const ages = new Map(state.orders.map((order, age) => [order, age]))
  const ageOf = (copy: LiveCopy): number => {
    const oldest = workingOf(copy)[0]
    return (oldest && ages.get(oldest)) ?? state.orders.length
  }
  return state.copies
    .filter((copy) => !isByHand(copy) && (workingOf(copy).length > 0 || mayPlace(copy)))
    .sort((one, other) => ageOf(one) - ageOf(other))
}

/** Whether two prices are the same; none is only the same as none. */
export const samePrice = (one: Decimal | null, other: Decimal | null): boolean =>
  one === null || other === null ? one === other : one.equals(other)

/** Brings one copy to its wanted leaves and its signal's prices. */
function follow(state: SymbolState, copy: LiveCopy, leaves: Decimal, actions: CopyActions): void {
  const { signal } = copy
  const working = workingOf(copy)
  const current = working.at(-1)
  const isWanted = leaves.greaterThan(0)
  const superseded = isWanted ? working.slice(0, -1) : working
  actions.cancel.push(...superseded.map(({ clientOrderId }) => clientOrderId))
  if (!isWanted || state.excluded) return
  const limit = signal.type === '2' ? signal.limit : null
  const stop = signal.type === '3' ? signal.stop : null
  if (!current) actions.place.push({ signal, quantity: leaves })
  else if (
    !current.leaves.equals(leaves) ||
    !samePrice(current.limit, limit) ||
    !samePrice(current.stop, stop)
  ) {
    const { clientOrderId } = current
    actions.replace.push({ clientOrderId, type: signal.type, quantity: leaves, limit, stop })
  }
}

export type Followed = CopyActions & {
  /** Whether a market order that closes will be working. */
  closesAtMarket: boolean
}

/** The live signals' copies, their closing orders within `room` (unsigned). */
export function followSignals(state: SymbolState, room: Decimal): Followed {
  const copies = byAge(state)
  const closing = copies.filter(({ signal }) => signal.positionEffect === 'C')
  const wanted = closing.map((copy) => ({
    ocaGroup: copy.signal.ocaGroup,
    leaves: wantedLeaves(state, copy),
  }))
  // What the owner works takes its share first and is left alone.
  const clamped = clampClosing([...state.byHand, ...wanted], room).slice(state.byHand.length)
  const shares = new Map(closing.map((copy, place) => [copy, clamped[place]]))
  const leftOf = (copy: LiveCopy): Decimal => shares.get(copy) ?? wantedLeaves(state, copy)
  const followed: Followed = { cancel: [], toMarket: [], replace: [], place: [], closesAtMarket: false }
  for (const copy of copies) {
    const leaves = leftOf(copy)
    follow(state, copy, leaves, followed)
    const { positionEffect, type } = copy.signal
    if (positionEffect === 'C' && type === '1' && leaves.greaterThan(0)) followed.closesAtMarket = true
  }
  return followed
}
