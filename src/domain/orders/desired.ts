/**
 * From the positions that a strategy wants to those it has: the market orders that are missing, and what of its
 * working orders has become wrong. Orders of an earlier call that still wait, as for a market to open, count as
 * done, so the same call again changes nothing.
 */
import { directionOf, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, sign, zero } from '../decimal.ts'
import { groupBy } from '../group.ts'
import { actsAgainst } from '../positions/open-close.ts'

export interface DesiredPosition {
  readonly symbol: string
  /** Signed. */
  readonly quantity: Decimal
}

/** An order that is pending new, new or partially filled. */
export interface WorkingOrder<Id> {
  readonly signalId: Id
  readonly symbol: string
  readonly side: Side
  readonly positionEffect: PositionEffect
  readonly leaves: Decimal
  /** The order whose cancellation ends this one: its parent while that has not traded; null for none. */
  readonly diesWith: Id | null
  /** A market order made by an earlier call. */
  readonly fromDesired: boolean
}

/** A market order. */
export interface DesiredOrder {
  readonly symbol: string
  readonly side: Side
  readonly positionEffect: PositionEffect
  /** Unsigned. */
  readonly quantity: Decimal
  /** Held until the order before it, which closes the other side of the same symbol, is complete. */
  readonly conditional: boolean
}

export interface DesiredPlan<Id> {
  readonly newOrders: readonly DesiredOrder[]
  /** In the order in which the working orders came. */
  readonly canceled: readonly Id[]
  /** Protective exits that are cut to the new size. */
  readonly reduced: readonly { readonly signalId: Id; readonly leaves: Decimal }[]
}

export type DesiredRefusal = 'ZeroQuantity' | 'RepeatedSymbol'

export interface DesiredRequest<Id> {
  /** Signed quantities. */
  readonly current: ReadonlyMap<string, Decimal>
  readonly working: readonly WorkingOrder<Id>[]
  readonly desired: readonly DesiredPosition[]
  /** Whether a quantity of 0 means "no position"; otherwise it is refused. */
  readonly zeroMeansFlat: boolean
}

/**
 * What makes the desired positions out of the current ones; a symbol that is not desired is closed. New orders
 * come in the order of the request, then of the current positions. A refused request changes nothing.
 */
export function planDesired<Id>(request: DesiredRequest<Id>): DesiredPlan<Id> | DesiredRefusal {
  const wanted = new Map(request.desired.map(({ symbol, quantity }) => [symbol, quantity]))
  if (wanted.size < request.desired.length) return 'RepeatedSymbol'
  if (!request.zeroMeansFlat && request.desired.some(({ quantity }) => quantity.isZero()))
    return 'ZeroQuantity'
  const bySymbol = groupBy(request.working, ({ symbol }) => symbol)
  const symbols = new Set([...wanted.keys(), ...request.current.keys(), ...bySymbol.keys()])
  const steps = [...symbols].map((symbol) => {
    const held = request.current.get(symbol) ?? zero
    return stepTo(symbol, held, wanted.get(symbol) ?? zero, bySymbol.get(symbol) ?? [])
  })
  const canceled = withDependents(request.working, new Set(steps.flatMap((step) => step.canceled)))
  return {
    newOrders: steps.flatMap(({ newOrders }) => newOrders),
    canceled: [...canceled],
    reduced: steps.flatMap(({ reduced }) => reduced).filter(({ signalId }) => !canceled.has(signalId)),
  }
}

/**
 * One symbol. Waiting orders of an earlier call are kept as long as the way leads on in their direction;
 * otherwise they are canceled and the way starts from what is held, so that nothing is traded to and fro and
 * no close is sent against a position that is not there yet.
 */
function stepTo<Id>(
  symbol: string,
  held: Decimal,
  desired: Decimal,
  working: readonly WorkingOrder<Id>[],
): DesiredPlan<Id> {
  const waiting = working.filter(({ fromDesired }) => fromDesired)
  const reached = waiting.reduce((sum, { side, leaves }) => sum.plus(leaves.times(directionOf(side))), held)
  const isKept = desired.equals(reached) || leadsOn(held, reached, desired, waiting)
  const from = isKept ? reached : held
  const others = working.filter(({ fromDesired }) => !fromDesired)
  const { canceled, reduced } = adjusted(others, from, desired)
  return {
    newOrders: ordersBetween(symbol, from, desired),
    canceled: isKept ? canceled : [...idsOf(waiting), ...canceled],
    reduced,
  }
}

const idsOf = <Id>(orders: readonly WorkingOrder<Id>[]): Id[] => orders.map(({ signalId }) => signalId)

/** Whether only more of the same is needed, and nothing through zero. */
const leadsOn = <Id>(
  held: Decimal,
  reached: Decimal,
  desired: Decimal,
  waiting: readonly WorkingOrder<Id>[],
): boolean =>
  waiting.every(({ side }) => directionOf(side) === sign(desired.minus(reached))) &&
  sign(held) * sign(desired) >= 0

function ordersBetween(symbol: string, from: Decimal, to: Decimal): DesiredOrder[] {
  if (from.equals(to)) return []
  const side: Side = to.greaterThan(from) ? '1' : '2'
  const order = (positionEffect: PositionEffect, quantity: Decimal, conditional = false): DesiredOrder => ({
    symbol,
    side,
    positionEffect,
    quantity,
    conditional,
  })
  if (sign(from) * sign(to) < 0) return [order('C', from.abs()), order('O', to.abs(), true)]
  return [order(actsAgainst(side, from) ? 'C' : 'O', to.minus(from).abs())]
}

/**
 * What becomes of the other orders of a symbol. All go when it becomes or stays flat, or takes a side; all stay
 * when nothing changes. Where only the size changes, opening orders go, and exits stay but cover no more than
 * the new size.
 */
function adjusted<Id>(
  orders: readonly WorkingOrder<Id>[],
  from: Decimal,
  to: Decimal,
): Pick<DesiredPlan<Id>, 'canceled' | 'reduced'> {
  if (to.isZero() || sign(from) !== sign(to)) return { canceled: idsOf(orders), reduced: [] }
  if (from.equals(to)) return { canceled: [], reduced: [] }
  return {
    canceled: idsOf(orders.filter(({ positionEffect }) => positionEffect === 'O')),
    reduced: orders
      .filter(({ positionEffect, leaves }) => positionEffect === 'C' && leaves.greaterThan(to.abs()))
      .map(({ signalId }) => ({ signalId, leaves: to.abs() })),
  }
}

/** The canceled orders and all that die with them, in the order of the working orders. */
function withDependents<Id>(working: readonly WorkingOrder<Id>[], canceled: ReadonlySet<Id>): Set<Id> {
  const ended = working.filter(
    ({ signalId, diesWith }) => canceled.has(signalId) || (diesWith !== null && canceled.has(diesWith)),
  )
  const all = new Set(ended.map(({ signalId }) => signalId))
  return all.size === canceled.size ? all : withDependents(working, all)
}
