/**
 * A record under another commission plan: every order priced anew after each of its fills, everything else as it was
 * booked. Equity and trades differ from the booked ones by what the plan would have charged more.
 */

import type { SecurityType, Side } from '../codes.ts'
import { type Decimal, zero } from '../decimal.ts'
import { type AccountBook, bookFill, openBook, type TradedInstrument } from '../positions/account-book.ts'
import {
  addTurnover,
  fillCommission,
  noTurnover,
  type OrderTurnover,
  type PlanRates,
} from '../positions/commission.ts'
import { type BookedAdjustment, inOrder } from '../positions/ledger-state.ts'
import { splitHolding } from '../positions/split.ts'
import type { FinishedTrade } from '../positions/trade.ts'
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

/** Says of one fill after the other, in order, what it costs under the plan. Null rates are the booked plan. */
export function planPricer(rates: PlanRates | null): (fill: ChargedFill) => Decimal {
  const traded = new Map<number, OrderTurnover>()
  return (fill) => {
    if (!rates || fill.isInternal) return fill.commission
    const before = traded.get(fill.signalId) ?? noTurnover
    const pointValue = fill.pointValue.times(fill.fx)
    const after = addTurnover(before, { quantity: fill.quantity, price: fill.price, pointValue })
    traded.set(fill.signalId, after)
    return fillCommission(rates[fill.securityType], before, after)
  }
}

/**
 * The sum of what `charges`, one for each fill, are more than what was booked, for fills up to each of `moments`
 * (ascending).
 */
export function extraCharges(
  fills: readonly ChargedFill[],
  charges: readonly Decimal[],
  moments: readonly Instant[],
): Decimal[] {
  const inTime = fills
    .map(({ at, commission }, place) => ({ at, extra: (charges[place] ?? commission).minus(commission) }))
    .sort((a, b) => a.at - b.at)
  let total = zero
  let next = 0
  return moments.map((moment) => {
    for (let fill = inTime[next]; fill && fill.at <= moment; fill = inTime[++next])
      total = total.plus(fill.extra)
    return total
  })
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

/** What happened to the books of a strategy, in order, where the fills cost what `charges` say. */
export function planSteps(
  fills: readonly ChargedFill[],
  adjustments: readonly PlanAdjustment[],
  charges: readonly Decimal[],
): (ChargedFill | PlanAdjustment)[] {
  const charged = fills.map((fill, place) => ({ ...fill, commission: charges[place] ?? zero }))
  return inOrder<ChargedFill, PlanAdjustment>(charged, adjustments)
}

/**
 * Books one step after the other and says which trades it finished: one or none. Each instrument has a book of its own:
 * every fill values its whole book, and what the others are worth says nothing about a trade's result.
 */
export function planBooks(): (step: ChargedFill | PlanAdjustment) => FinishedPlanTrade[] {
  const books = new Map<number | null, AccountBook>()
  return (step) => {
    const book = books.get(step.instrumentId) ?? openBook(zero)
    if (!('side' in step)) {
      books.set(step.instrumentId, afterSplit(book, step))
      return []
    }
    const { instrumentId, securityType, pointValue } = step
    const instrument: TradedInstrument = { symbol: String(instrumentId), securityType, pointValue }
    const booked = bookFill(book, instrument, step)
    books.set(instrumentId, booked.book)
    return booked.finished ? [{ instrumentId, ...booked.finished }] : []
  }
}

function afterSplit(book: AccountBook, { instrumentId, split }: PlanAdjustment): AccountBook {
  const symbol = String(instrumentId)
  const held = book.holdings.get(symbol)
  if (!held || !split) return book
  const moved = { ...held, ...splitHolding(held, split) }
  return { ...book, holdings: new Map(book.holdings).set(symbol, moved) }
}
