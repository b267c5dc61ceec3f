/**
 * The money of a strategy at one moment: its cash, what it holds at the last marks, and whether that bears one
 * more order. One pool for all classes; nothing is rounded and nothing is reserved.
 */
import type { PositionEffect, Side } from '../codes.ts'
import { ceilTo, type Decimal, dec, zero } from '../decimal.ts'
import { midOf } from '../market/quote.ts'
import type { BookContext } from '../orders/order-book.ts'
import { orderCommission, type PlanRates, turnoverOf } from '../positions/commission.ts'
import { isPaidInFull } from '../positions/position.ts'
import type { Instant } from '../time.ts'
import { leverageOf } from './leverage.ts'
import { isAffordable, marginUsed } from './margin.ts'
import { type MarginInstrument, type MarginPosition, marginPositionOf } from './margin-position.ts'

/** A position, or an instrument about to become one. */
export interface Holding {
  readonly instrumentId: number
  readonly instrument: MarginInstrument
  /** Signed. */
  readonly quantity: Decimal
  /** Null when flat. */
  readonly avgPx: Decimal | null
  /** Null before the first quote. */
  readonly bid: Decimal | null
  readonly ask: Decimal | null
  /** Account currency per unit of quote currency. */
  readonly fx: Decimal
  /** Of an option; null without a quote. */
  readonly underlyingPrice: Decimal | null
  /** Of a currency pair: account currency per unit of its base currency; null where no pair tells it. */
  readonly baseRate: Decimal | null
  /** From when on nothing is opened in it; null where that never comes. */
  readonly cutoffAt: Instant | null
}

export interface ModelAccount {
  readonly cash: Decimal
  readonly holdings: readonly Holding[]
  /** By which its fills are charged; null: without commission. */
  readonly rates: PlanRates | null
}

/** What an order would trade. */
export interface Intent {
  readonly instrumentId: number
  readonly side: Side
  readonly positionEffect: PositionEffect
  /** Unsigned. */
  readonly quantity: Decimal
  /** Null: what the market asks of its side now. */
  readonly price: Decimal | null
  readonly commission: Decimal
}

/** Why an order ends that the account cannot bear. */
export const insufficientBuyingPower = 'insufficient buying power'

/** Why an order ends that would carry the position beyond what is kept of it everywhere. */
export const positionTooLarge = 'position too large'

/**
 * The largest position that is opened. What is entered may have a hundred times the units, ten times the money: room for
 * followers who trade ten times as much, for splits, and for what prices do.
 */
const largestPosition = { units: dec(10_000_000_000), worth: dec(100_000_000_000) }

/** What the market asks of this side now. */
const marketPriceOf = ({ bid, ask }: Holding, side: Side): Decimal | null => (side === '1' ? ask : bid)

/** Long at the bid, short at the ask, options in the middle; what was paid where nobody quotes. */
function markOf({ instrument, quantity, bid, ask, avgPx }: Holding): Decimal {
  const side = quantity.isNegative() ? ask : bid
  const quoted = instrument.securityType === 'OPT' && bid && ask ? midOf({ bid, ask }) : side
  return quoted?.greaterThan(0) || (quoted && instrument.securityType === 'OPT') ? quoted : (avgPx ?? zero)
}

/** ModelAccountValue: cash, stocks and options at their marks, and what futures and forex would realise. */
export const accountValue = ({ cash, holdings }: Pick<ModelAccount, 'cash' | 'holdings'>): Decimal =>
  holdings.reduce(
    (value, holding) => (holding.quantity.isZero() ? value : value.plus(worthOf(holding))),
    cash,
  )

function worthOf(holding: Holding): Decimal {
  const { instrument, quantity, avgPx } = holding
  const mark = markOf(holding)
  const perUnit = isPaidInFull(instrument.securityType) || avgPx === null ? mark : mark.minus(avgPx)
  return perUnit.times(quantity).times(unitValue(holding))
}

/** Account currency per point and unit. */
const unitValue = ({ instrument, fx }: Holding): Decimal => instrument.pointValue.times(fx)

/** The positions as margin sees them. */
export const marginPositions = ({ holdings }: Pick<ModelAccount, 'holdings'>): MarginPosition[] =>
  holdings.filter(({ quantity }) => !quantity.isZero()).map((holding) => marginPosition(holding))

const marginPosition = (holding: Holding, price = markOf(holding)): MarginPosition => {
  const { instrument, quantity, avgPx, fx, underlyingPrice, baseRate } = holding
  const rates = { underlyingPrice: underlyingPrice ?? undefined, baseRate: baseRate ?? undefined }
  return marginPositionOf(instrument, { quantity, avgPx, price, fx, ...rates })
}

/** A hundredth of a cent: more than what the last digit of an average is short of on a hundred million units. */
const leastMoney = dec('0.0001')

/** The account value as margin is held against it: averages keep twelve digits, what these lose calls for nothing. */
export const marginableValue = (account: Pick<ModelAccount, 'cash' | 'holdings'>): Decimal =>
  ceilTo(accountValue(account), leastMoney)

/** BuyingPower: the account value less what the positions bind; negative in a margin call. */
export const buyingPower = (account: ModelAccount): Decimal =>
  marginableValue(account).minus(marginUsed(marginPositions(account)))

/** How far the account is stretched; null when it is worth nothing. */
export const accountLeverage = (account: ModelAccount): Decimal | null =>
  leverageOf({ positions: marginPositions(account), modelAccountValue: accountValue(account) })

/** What a full fill of an opening order leads to. */
interface Prospect {
  readonly holding: Holding
  /** Held before it, signed. */
  readonly held: Decimal
  /** Held after it, signed. */
  readonly quantity: Decimal
  /** At which it is held against the account; null where nobody has told one. */
  readonly price: Decimal | null
}

/** Nothing for a closing order, and for an instrument that the account was not loaded with. */
function prospectOf({ holdings }: ModelAccount, intent: Intent, position?: Decimal): Prospect | undefined {
  const { instrumentId, side, positionEffect } = intent
  const holding = holdings.find((candidate) => candidate.instrumentId === instrumentId)
  if (!holding || positionEffect === 'C') return undefined
  const held = position ?? holding.quantity
  const quantity = side === '1' ? held.plus(intent.quantity) : held.minus(intent.quantity)
  return { holding, held, quantity, price: intent.price ?? marketPriceOf(holding, side) }
}

/** Whether the account bears a full fill of the order; without any price there is nothing to hold against it. */
function isBorne(
  account: ModelAccount,
  intent: Intent,
  { holding, held, quantity, price }: Prospect,
): boolean {
  if (!price) return true
  const others = account.holdings.filter((candidate) => candidate !== holding)
  const avgPx = averageAfter(holding, held, intent.quantity, price)
  const grown = marginPosition({ ...holding, quantity, avgPx }, price)
  const positionsAfter = [...marginPositions({ holdings: others }), grown]
  const { positionEffect, commission } = intent
  return isAffordable({
    positionEffect,
    modelAccountValue: marginableValue(account),
    positionsAfter,
    commission,
  })
}

/** What was paid per unit once `added` are added at the price. */
function averageAfter({ avgPx }: Holding, held: Decimal, added: Decimal, price: Decimal): Decimal {
  if (held.isZero()) return price
  const size = held.abs()
  const paid = (avgPx ?? price).times(size).plus(price.times(added))
  return paid.div(size.plus(added))
}

/** Why the account does not take a full fill of the order on top of `position`; null when it does. */
export function openingRefusal(account: ModelAccount, intent: Intent, position?: Decimal): string | null {
  const prospect = prospectOf(account, intent, position)
  if (prospect === undefined) return null
  if (isTooLarge(prospect)) return positionTooLarge
  return isBorne(account, intent, prospect) ? null : insufficientBuyingPower
}

function isTooLarge({ holding, quantity, price }: Prospect): boolean {
  if (quantity.abs().greaterThan(largestPosition.units)) return true
  if (price === null) return false
  return price.times(quantity).times(unitValue(holding)).abs().greaterThan(largestPosition.worth)
}

/** The account after trades in one instrument: what it holds of it now, and what that did to its cash. */
export const afterTrades = (
  account: ModelAccount,
  instrumentId: number,
  position: Pick<Holding, 'quantity' | 'avgPx'>,
  cashChange: Decimal,
): ModelAccount => ({
  ...account,
  cash: account.cash.plus(cashChange),
  holdings: account.holdings.map((holding) =>
    holding.instrumentId === instrumentId
      ? { ...holding, quantity: position.quantity, avgPx: position.avgPx }
      : holding,
  ),
})

/** Why an opening order is rejected whose contract is about to end. */
export const contractExpiring = 'contract expiring'

/** What the account says to an opening order that wants to start at `at`: nothing, or why it may not. */
export const openingRejection =
  (account: ModelAccount | undefined, instrumentId: number, at: Instant): BookContext['rejection'] =>
  ({ side, positionEffect, orderQuantity, limit, stop }, position) => {
    if (account === undefined) return null
    const held = account.holdings.find((holding) => holding.instrumentId === instrumentId)
    if (held && held.cutoffAt !== null && held.cutoffAt <= at) return contractExpiring
    const order = { instrumentId, side, positionEffect, quantity: orderQuantity, price: limit ?? stop }
    return openingRefusal(account, { commission: commissionOf(account, order), ...order }, position)
  }

/** What a full fill of the order would be charged; nothing without a price to charge it by. */
function commissionOf(account: ModelAccount, order: Omit<Intent, 'commission'>): Decimal {
  const holding = account.holdings.find(({ instrumentId }) => instrumentId === order.instrumentId)
  const price = holding && (order.price ?? marketPriceOf(holding, order.side))
  if (!holding || !price || !account.rates) return zero
  const { securityType } = holding.instrument
  const fill = { quantity: order.quantity, price, pointValue: unitValue(holding) }
  return orderCommission(account.rates[securityType], turnoverOf(fill))
}
