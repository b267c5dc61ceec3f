/**
 * Stock splits at the opening of their day: quantities times new over old, prices times old over new. What is
 * left of a whole unit is paid out in cash, longs receive and shorts pay; at the previous close the account
 * value does not move. Finished trades stay as they were booked.
 */

import { isLive, type OrdStatus, type Side } from '../codes.ts'
import { cents, type Decimal, min, one, quantityPlaces, roundTo } from '../decimal.ts'
import { flat, type Position, type PositionFill } from './position.ts'
import type { OpenTrade } from './trade.ts'

/** `new` units for each `old` ones, both above 0: 2 and 1 doubles, 1 and 10 is a reverse split. */
export interface SplitRatio {
  readonly new: Decimal
  readonly old: Decimal
}

/** What splits have made of a unit and of a price. */
export interface Restated {
  readonly units: Decimal
  readonly price: Decimal
}

/** What a split did to a book: its units multiplied, or an option's contracts changed their size. */
export interface BookedSplit {
  readonly ratio: SplitRatio
  readonly multiplies: boolean
}

export interface SplitPosition {
  /** Whole units; flat when none is left. */
  readonly position: Position
  /** The closing of the fraction at its unrounded price; null when the units come out whole. */
  readonly fraction: PositionFill | null
  /** Signed, in quote currency, to the cent; 0 without a fraction. */
  readonly cashInLieu: Decimal
}

/** What a split changes in an order; prices it does not have are null. */
export interface SplitOrder<Id> {
  readonly id: Id
  readonly status: OrdStatus
  readonly leaves: Decimal
  readonly limitPx: Decimal | null
  readonly stopPx: Decimal | null
}

/** An option contract as far as a split of its underlying changes it. */
export interface AdjustedContract {
  readonly strike: Decimal
  readonly pointValue: Decimal
}

/** What a split makes of a number of units. */
export const unitsAfter = (units: Decimal, ratio: SplitRatio): Decimal =>
  units.times(ratio.new).div(ratio.old)

/** What it makes of the price of one. */
export const priceAfter = (price: Decimal, ratio: SplitRatio): Decimal =>
  price.times(ratio.old).div(ratio.new)

/** The position after a split: truncated toward zero, its fraction closed at the restated previous close. */
export function splitPosition(position: Position, ratio: SplitRatio, previousClose: Decimal): SplitPosition {
  const restated = restatePosition(position, ratio)
  const whole = restated.quantity.trunc()
  // Counted in units of 1/old, so that a third of a unit is paid for exactly.
  const remainder = position.quantity.times(ratio.new).mod(ratio.old)
  return {
    position: whole.isZero() ? flat : { ...restated, quantity: whole },
    fraction: fractionOf(restated.quantity, priceAfter(previousClose, ratio)),
    cashInLieu: cents(remainder.times(previousClose).div(ratio.new)),
  }
}

/**
 * A working order after a split of its stock: leaves truncated, prices rounded half up to the tick. Nothing
 * left cancels it; an order that has ended stays as it is.
 */
export function splitOrder<Id>(order: SplitOrder<Id>, ratio: SplitRatio, tick: Decimal): SplitOrder<Id> {
  if (!isLive(order.status)) return order
  const leaves = unitsAfter(order.leaves, ratio).trunc()
  const priced = {
    ...order,
    leaves,
    limitPx: order.limitPx && restatePrice(order.limitPx, ratio, tick),
    stopPx: order.stopPx && restatePrice(order.stopPx, ratio, tick),
  }
  return leaves.isZero() ? { ...priced, status: '4' } : priced
}

/**
 * The contract of an option on a stock that splits, as the clearing house adjusts it (OCC By-Laws, article VI,
 * section 11A): a whole ratio leaves the contract's size and multiplies the contracts, any other one changes
 * its size and leaves their number. The strike is divided, to the cent.
 */
export function splitContract(contract: AdjustedContract, ratio: SplitRatio): AdjustedContract {
  const strike = cents(priceAfter(contract.strike, ratio))
  const pointValue = isWholeRatio(ratio) ? contract.pointValue : unitsAfter(contract.pointValue, ratio)
  return { strike, pointValue }
}

/** The position in an option after a split of its underlying. */
export const splitOptionPosition = (position: Position, ratio: SplitRatio): Position =>
  isWholeRatio(ratio) ? restatePosition(position, ratio) : resizePosition(position, ratio)

/** The contract's size has changed: the average falls per unit, the cost of a contract stays. */
const resizePosition = (position: Position, ratio: SplitRatio): Position => ({
  ...position,
  avgPx: position.avgPx && priceAfter(position.avgPx, ratio),
})

/** A working order in an option after a split of its underlying; prices rounded half up to the tick. */
export function splitOptionOrder<Id>(
  order: SplitOrder<Id>,
  ratio: SplitRatio,
  tick: Decimal,
): SplitOrder<Id> {
  const restated = splitOrder(order, ratio, tick)
  return isWholeRatio(ratio) ? restated : { ...restated, status: order.status, leaves: order.leaves }
}

/** Whether every unit becomes a whole number of units. */
export const isWholeRatio = (ratio: SplitRatio): boolean => unitsAfter(one, ratio).isInteger()

/** Average cost follows the price, so the position costs what it cost. */
export const restatePosition = (position: Position, ratio: SplitRatio): Position => ({
  quantity: unitsAfter(position.quantity, ratio),
  avgPx: position.avgPx && priceAfter(position.avgPx, ratio),
  avgCost: position.avgCost && priceAfter(position.avgCost, ratio),
})

/** Turnovers are price times quantity and do not change; the averages made of them follow the quantities. */
const restateTrade = (trade: OpenTrade, ratio: SplitRatio): OpenTrade => ({
  ...trade,
  openedQuantity: unitsAfter(trade.openedQuantity, ratio),
  closedQuantity: unitsAfter(trade.closedQuantity, ratio),
  worst: trade.worst && {
    ...trade.worst,
    price: priceAfter(trade.worst.price, ratio),
    entryPrice: priceAfter(trade.worst.entryPrice, ratio),
    openQuantity: unitsAfter(trade.worst.openQuantity, ratio),
  },
})

/** An open trade in contracts whose size has changed: prices fall, quantities stay. */
const resizeTrade = (trade: OpenTrade, ratio: SplitRatio): OpenTrade => ({
  ...trade,
  openTurnover: priceAfter(trade.openTurnover, ratio),
  closeTurnover: priceAfter(trade.closeTurnover, ratio),
  worst: trade.worst && {
    ...trade.worst,
    price: priceAfter(trade.worst.price, ratio),
    entryPrice: priceAfter(trade.worst.entryPrice, ratio),
  },
})

/** Quantities as the books keep them, and turnovers with them: the averages of a trade are what they were, restated. */
function keptTrade(trade: OpenTrade, openedQuantity: Decimal, closedQuantity: Decimal): OpenTrade {
  const kept = (turnover: Decimal, exact: Decimal, rounded: Decimal): Decimal =>
    exact.equals(rounded) ? turnover : turnover.times(rounded).div(exact)
  const { worst } = trade
  return {
    ...trade,
    openedQuantity,
    closedQuantity,
    // It was never more than what was opened, however either is rounded.
    worst: worst && { ...worst, openQuantity: min(worst.openQuantity, openedQuantity) },
    openTurnover: kept(trade.openTurnover, trade.openedQuantity, openedQuantity),
    closeTurnover: kept(trade.closeTurnover, trade.closedQuantity, closedQuantity),
  }
}

/**
 * A holding after a split as the books keep it: quantities to eight decimals, the fraction still a part of it. What is
 * open of the trade is the position; the rest of the division goes to what is closed. The position costs what it cost:
 * what rounding adds to its size is taken out of the cost of a unit.
 */
export function splitHolding<Trade extends OpenTrade | null>(
  held: { readonly position: Position; readonly trade: Trade },
  { ratio, multiplies }: BookedSplit,
): { readonly position: Position; readonly trade: OpenTrade | Trade } {
  const exact = multiplies ? restatePosition(held.position, ratio) : resizePosition(held.position, ratio)
  const quantity = roundTo(exact.quantity, quantityPlaces)
  const cost = held.position.avgCost?.times(held.position.quantity)
  const position = quantity.isZero() ? flat : { ...exact, quantity, avgCost: cost?.div(quantity) ?? null }
  if (!held.trade) return { position, trade: held.trade }
  const restated = (multiplies ? restateTrade : resizeTrade)(held.trade, ratio)
  const closedQuantity = roundTo(restated.closedQuantity, quantityPlaces)
  return { position, trade: keptTrade(restated, closedQuantity.plus(quantity.abs()), closedQuantity) }
}

/** What is more than whole units of a position, as the fill that closes it; null when the units are whole. */
export function fractionOf(quantity: Decimal, price: Decimal): PositionFill | null {
  const part = quantity.minus(quantity.trunc())
  if (part.isZero()) return null
  const side: Side = part.isNegative() ? '1' : '2'
  return { side, quantity: part.abs(), price }
}

const restatePrice = (price: Decimal, ratio: SplitRatio, tick: Decimal): Decimal =>
  roundTo(priceAfter(price, ratio).div(tick), 0).times(tick)
