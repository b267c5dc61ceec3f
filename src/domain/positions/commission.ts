/**
 * Commission of an order that fills in several parts. The plan prices the order as a whole after each fill;
 * the fill is charged what that adds, so the parts always sum to the price of one fill of the whole.
 */
import type { SecurityType } from '../codes.ts'
import { cents, type Decimal, max, min, zero } from '../decimal.ts'

/** Rates of one asset class. Fractions: 0.01 is one percent; null means there is no such rate. */
export interface CommissionRates {
  readonly perUnit: Decimal | null
  readonly minPerOrder: Decimal | null
  readonly pctOfNotional: Decimal | null
  readonly maxPctOfNotional: Decimal | null
}

/** A plan: the rates of every asset class. */
export type PlanRates = Readonly<Record<SecurityType, CommissionRates>>

/** What an order has traded so far. */
export interface OrderTurnover {
  readonly quantity: Decimal
  /** |price| * quantity * point value. */
  readonly notional: Decimal
}

export const noTurnover: OrderTurnover = { quantity: zero, notional: zero }

/** What is charged for. `pointValue` includes the currency rate where the plan's money differs. */
interface ChargedFill {
  readonly quantity: Decimal
  readonly price: Decimal
  readonly pointValue: Decimal
}

/** The turnover of one fill. */
export const turnoverOf = ({ quantity, price, pointValue }: ChargedFill): OrderTurnover => ({
  quantity,
  notional: price.abs().times(quantity).times(pointValue),
})

/** The turnover after one more fill. */
export function addTurnover(before: OrderTurnover, fill: ChargedFill): OrderTurnover {
  const { quantity, notional } = turnoverOf(fill)
  return { quantity: before.quantity.plus(quantity), notional: before.notional.plus(notional) }
}

/** Price of an order in cents: the larger of minimum and rates, capped by the share of its notional. */
export function orderCommission(rates: CommissionRates, turnover: OrderTurnover): Decimal {
  if (turnover.quantity.isZero()) return zero
  const { perUnit, minPerOrder, pctOfNotional, maxPctOfNotional } = rates
  const byUnit = perUnit === null ? zero : turnover.quantity.times(perUnit)
  const byRates = pctOfNotional === null ? byUnit : byUnit.plus(turnover.notional.times(pctOfNotional))
  const charged = max(minPerOrder ?? zero, byRates)
  return cents(maxPctOfNotional === null ? charged : min(charged, turnover.notional.times(maxPctOfNotional)))
}

/** What the fill that moved an order's turnover from `before` to `after` is charged; may be 0. */
export const fillCommission = (
  rates: CommissionRates,
  before: OrderTurnover,
  after: OrderTurnover,
): Decimal => orderCommission(rates, after).minus(orderCommission(rates, before))
