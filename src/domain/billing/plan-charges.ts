/**
 * A record under another commission plan: every order priced anew after each of its fills, everything else as it was
 * booked. Equity and trades differ from the booked ones by what the plan would have charged more.
 */

import { firstFrom } from '../ascending.ts'
import type { SecurityType, Side } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import {
  addTurnover,
  fillCommission,
  noTurnover,
  type OrderTurnover,
  type PlanRates,
} from '../positions/commission.ts'
import type { BookedAdjustment } from '../positions/ledger-state.ts'
import { applyFill, flat, type Position } from '../positions/position.ts'
import { splitHolding } from '../positions/split.ts'
import { type FinishedTrade, type OpenTrade, tradeAfterFill } from '../positions/trade.ts'
import type { Instant } from '../time.ts'

/** A fill of a strategy, in the order of booking. */
export interface ChargedFill {
  readonly signalId: number
  readonly instrumentId: number
  readonly side: Side
  readonly quantity: Decimal
  readonly price: Decimal
  readonly securityType: SecurityType
  /** Of the day of the fill. */
  readonly pointValue: Decimal
  readonly fx: Decimal
  readonly commission: Decimal
  readonly at: Instant
  /** Of an order that the books made themselves: no plan charges it. */
  readonly isInternal: boolean
}

/** A fill at what it costs under a plan. */
export interface PricedFill extends ChargedFill {
  /** What that is more than was booked. */
  readonly extra: Decimal
}

/** Prices one fill after the other, in order. */
export function planPricer(rates: PlanRates): (fill: ChargedFill) => PricedFill {
  const traded = new Map<number, OrderTurnover>()
  return (fill) => {
    if (fill.isInternal) return { ...fill, extra: zero }
    const before = traded.get(fill.signalId) ?? noTurnover
    const pointValue = fill.pointValue.times(fill.fx)
    const after = addTurnover(before, { quantity: fill.quantity, price: fill.price, pointValue })
    traded.set(fill.signalId, after)
    const commission = fillCommission(rates[fill.securityType], before, after)
    return { ...fill, commission, extra: commission.minus(fill.commission) }
  }
}

/** What is charged more, gathered fill by fill: they are booked in another order than that of their moments. */
export interface ExtraCharges {
  add(fill: Pick<PricedFill, 'at' | 'extra'>): void
  /** For each moment, what falls to it and not to the one before. */
  readonly between: readonly Decimal[]
}

/** Gathers what is charged more for fills up to each of `moments` (ascending). */
export function extraCharges(moments: ArrayLike<Instant>): ExtraCharges {
  const between = Array.from(moments, () => zero)
  return {
    between,
    add: ({ at, extra }) => {
      const place = firstFrom(moments, at)
      const before = between[place]
      if (before) between[place] = before.plus(extra)
    },
  }
}

/** Says of one amount after the other what they come to with those before. */
export function runningTotal(): (amount: Decimal) => Decimal {
  let total = zero
  return (amount) => {
    total = total.plus(amount)
    return total
  }
}

export interface FinishedPlanTrade extends FinishedTrade {
  readonly instrumentId: number
}

/** A dividend belongs to no trade; a split restates the open one. */
export type PlanAdjustment = Pick<BookedAdjustment, 'instrumentId' | 'at' | 'split'>

/** The fills with the size that their contracts had on their day; `pointValue` is the present one. */
export function inTheirSize<Fill extends Pick<ChargedFill, 'instrumentId' | 'at' | 'pointValue'>>(
  fills: readonly Fill[],
  adjustments: readonly PlanAdjustment[],
): Fill[] {
  const resized = adjustments.filter(({ split }) => split?.multiplies === false)
  if (resized.length === 0) return [...fills]
  return fills.map((fill) => {
    const later = resized.filter(({ instrumentId, at }) => instrumentId === fill.instrumentId && at > fill.at)
    const pointValue = later.reduce(
      (value, { split }) => (split ? value.times(split.ratio.old).div(split.ratio.new) : value),
      fill.pointValue,
    )
    return { ...fill, pointValue }
  })
}

interface PlanHolding {
  readonly position: Position
  readonly trade: OpenTrade | null
}

/**
 * Books one step after the other and says which trades it finished: one or none. What it is worth meanwhile, and what else
 * is held, says nothing about a trade's result.
 */
export function planBooks(): (step: ChargedFill | PlanAdjustment) => FinishedPlanTrade[] {
  const holdings = new Map<number | null, PlanHolding>()
  return (step) => {
    const { instrumentId } = step
    const held = holdings.get(instrumentId) ?? { position: flat, trade: null }
    if (!('side' in step)) {
      if (step.split) holdings.set(instrumentId, splitHolding(held, step.split))
      return []
    }
    const change = applyFill(held.position, step, step)
    const { trade, finished } = tradeAfterFill(held.trade, String(instrumentId), step, change)
    holdings.set(instrumentId, { position: change.position, trade })
    return finished ? [{ instrumentId: step.instrumentId, ...finished }] : []
  }
}
