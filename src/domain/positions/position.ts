/**
 * The position of one strategy in one symbol: average-cost netting. A fill increases, reduces or crosses
 * zero; crossing is a reduction to flat and an opening of the rest at the same price. Pure values, nothing
 * is rounded.
 */
import { directionOf, type SecurityType, type Side } from '../codes.ts'
import { type Decimal, min, sign, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
import { actsAgainst } from './open-close.ts'

export interface Position {
  /** Signed. */
  readonly quantity: Decimal
  /** Average price; null when flat. */
  readonly avgPx: Decimal | null
  /** Average cost of one unit in account currency, each lot at the rate of its own day; null when flat. */
  readonly avgCost: Decimal | null
}

export const flat: Position = { quantity: zero, avgPx: null, avgCost: null }

/** How a price becomes money: point value, and account currency per unit of quote currency. */
export interface Conversion {
  readonly securityType: SecurityType
  readonly pointValue: Decimal
  readonly fx: Decimal
}

export interface PositionFill {
  readonly side: Side
  /** Unsigned. */
  readonly quantity: Decimal
  readonly price: Decimal
}

export interface PositionChange {
  readonly position: Position
  /** Quantities that this fill closed and opened; both only when it crosses zero. */
  readonly closed: Decimal
  readonly opened: Decimal
  /** Realised profit and loss in account currency, before commission. */
  readonly realised: Decimal
  /** What it moves in cash, before commission. */
  readonly cash: Decimal
}

/** Stocks and options are paid for; futures and forex only settle their results. */
export const isPaidInFull = (securityType: SecurityType): boolean =>
  securityType === 'CS' || securityType === 'OPT'

/** The part of `leaves` that an order of this side may trade and still only reduce the position. */
export const reducible = (position: Decimal, side: Side, leaves: Decimal): Decimal =>
  actsAgainst(side, position) ? min(leaves, position.abs()) : zero

/** Since when it is held: as long as the fill that opened it from flat, or that carried it through zero. */
export function openedAtAfter(
  before: Instant | null,
  { position, opened }: Pick<PositionChange, 'position' | 'opened'>,
  at: Instant,
): Instant | null {
  if (position.quantity.isZero()) return null
  return position.quantity.abs().equals(opened) ? at : (before ?? at)
}

/**
 * Applies a fill. Increase: avg' = (avg*|q| + px*d) / (|q|+d). Reduction by d: realises
 * (px - avg)*d*direction*pointValue*fx and keeps the average. What is paid in full realises what came in
 * minus what went out, each at the rate of its own day, so that cash and results agree in any currency.
 */
export function applyFill(position: Position, fill: PositionFill, conversion: Conversion): PositionChange {
  const { pointValue, fx, securityType } = conversion
  const direction = directionOf(fill.side)
  const worth = fill.price.times(pointValue).times(fx)
  const closed = reducible(position.quantity, fill.side, fill.quantity)
  const opened = fill.quantity.minus(closed)
  const gain = isPaidInFull(securityType)
    ? worth.minus(position.avgCost ?? zero)
    : fill.price
        .minus(position.avgPx ?? zero)
        .times(pointValue)
        .times(fx)
  const realised = closed.isZero() ? zero : gain.times(closed).times(-direction)
  const cash = isPaidInFull(securityType) ? worth.times(fill.quantity).times(-direction) : realised
  const quantity = position.quantity.plus(fill.quantity.times(direction))
  return {
    position: afterFill(position, quantity, opened, fill.price, worth),
    closed,
    opened,
    realised,
    cash,
  }
}

/**
 * The position without a fill that a venue has canceled, as far as the position alone tells; `fill` is the opposite of
 * it. Taking an increase back undoes its share of the average; taking a reduction back keeps the average.
 */
export function takeBack(position: Position, fill: PositionFill, conversion: Conversion): Position {
  const costOf = (price: Decimal): Decimal => price.times(conversion.pointValue).times(conversion.fx)
  const direction = directionOf(fill.side)
  const quantity = position.quantity.plus(fill.quantity.times(direction))
  if (quantity.isZero()) return flat
  if (position.avgPx === null || position.avgCost === null || sign(quantity) !== sign(position.quantity)) {
    return { quantity, avgPx: fill.price, avgCost: costOf(fill.price) }
  }
  if (!actsAgainst(fill.side, position.quantity)) return { ...position, quantity }
  const spent = position.avgPx.times(position.quantity.abs()).minus(fill.price.times(fill.quantity))
  const avgPx = spent.div(quantity.abs())
  // Futures alone trade at nothing and below; of anything else it is no price that was paid.
  if (conversion.securityType !== 'FUT' && !avgPx.greaterThan(0)) return { ...position, quantity }
  const avgCost = position.avgPx.isZero() ? costOf(avgPx) : position.avgCost.times(avgPx).div(position.avgPx)
  return { quantity, avgPx, avgCost }
}

/**
 * What taking a fill back moves in cash where nothing is paid in full, with the positions before and after: the result
 * that neither shows any more. Of a close that has left nothing the average is gone, and it is the close's own price
 * again: its result is then still booked.
 */
export function cashTakenBack(
  before: Position,
  after: Position,
  fill: PositionFill,
  { pointValue, fx }: Pick<Conversion, 'pointValue' | 'fx'>,
): Decimal {
  const paid = ({ quantity, avgPx }: Position): Decimal => quantity.times(avgPx ?? zero)
  const traded = fill.price.times(fill.quantity).times(directionOf(fill.side))
  return paid(after).minus(paid(before)).minus(traded).times(pointValue).times(fx)
}

function afterFill(
  before: Position,
  quantity: Decimal,
  opened: Decimal,
  price: Decimal,
  cost: Decimal,
): Position {
  if (quantity.isZero()) return flat
  if (opened.isZero()) return { ...before, quantity }
  if (before.avgPx === null || before.avgCost === null || sign(before.quantity) !== sign(quantity)) {
    return { quantity, avgPx: price, avgCost: cost }
  }
  const held = before.quantity.abs()
  const average = (old: Decimal, added: Decimal): Decimal =>
    old.times(held).plus(added.times(opened)).div(held.plus(opened))
  return { quantity, avgPx: average(before.avgPx, price), avgCost: average(before.avgCost, cost) }
}

/** Unrealised profit and loss at a price, in account currency at the current rate; 0 when flat. */
export const unrealised = (position: Position, price: Decimal, conversion: Conversion): Decimal =>
  position.avgPx === null
    ? zero
    : price.minus(position.avgPx).times(position.quantity).times(conversion.pointValue).times(conversion.fx)

type Held = Pick<Position, 'quantity' | 'avgPx'>

/**
 * The price of the one fill that turns a position into a reported one: for an increase or a flip the price
 * that yields the reported average, for a reduction or a close the average at hand. Null when nothing
 * changes, the average needed is unknown, or the price would not be positive.
 */
export function inferredFillPrice(position: Held, target: Held): Decimal | null {
  const price = adjustingPrice(position, target)
  return price?.greaterThan(0) ? price : null
}

function adjustingPrice(position: Held, target: Held): Decimal | null {
  const change = target.quantity.minus(position.quantity)
  if (change.isZero()) return null
  const isSameSide = sign(position.quantity) === sign(target.quantity)
  const grows = target.quantity.abs().greaterThan(position.quantity.abs())
  if (target.quantity.isZero() || (isSameSide && !grows)) return position.avgPx
  if (!isSameSide) return target.avgPx
  if (target.avgPx === null || position.avgPx === null) return null
  const paid = position.quantity.times(position.avgPx)
  return target.quantity.times(target.avgPx).minus(paid).div(change)
}
