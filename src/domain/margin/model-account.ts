/**
 * The money of a strategy at one moment: its cash, what it holds at the last marks, and whether that bears one
 * more order. One pool for all classes; nothing is rounded and nothing is reserved.
 */
import { directionOf, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, dec, zero } from '../decimal.ts'
import type { BookContext } from '../orders/order-book.ts'
import { addTurnover, noTurnover, orderCommission, type PlanRates } from '../positions/commission.ts'
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
  readonly openClose: PositionEffect
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
  const quoted = instrument.securityType === 'OPT' && bid && ask ? bid.plus(ask).div(2) : side
  return quoted?.greaterThan(0) || (quoted && instrument.securityType === 'OPT') ? quoted : (avgPx ?? zero)
}

/** ModelAccountValue: cash, stocks and options at their marks, and what futures and forex would realise. */
export function accountValue({ cash, holdings }: Pick<ModelAccount, 'cash' | 'holdings'>): Decimal {
  return holdings.reduce((value, holding) => {
    const { instrument, quantity, avgPx, fx } = holding
    const basis = isPaidInFull(instrument.securityType) ? zero : (avgPx ?? zero)
    return value.plus(markOf(holding).minus(basis).times(quantity).times(instrument.pointValue).times(fx))
  }, cash)
}

/** The positions as margin sees them. */
export const marginPositions = ({ holdings }: Pick<ModelAccount, 'holdings'>): MarginPosition[] =>
  holdings.filter(({ quantity }) => !quantity.isZero()).map((holding) => marginPosition(holding))

const marginPosition = (holding: Holding, price = markOf(holding)): MarginPosition => {
  const { instrument, quantity, avgPx, fx, underlyingPrice, baseRate } = holding
  const rates = { underlyingPrice: underlyingPrice ?? undefined, baseRate: baseRate ?? undefined }
  return marginPositionOf(instrument, { quantity, avgPx, price, fx, ...rates })
}

/** BuyingPower: the account value less what the positions bind; negative in a margin call. */
export const buyingPower = (account: ModelAccount): Decimal =>
  accountValue(account).minus(marginUsed(marginPositions(account)))

/** How far the account is stretched; null when it is worth nothing. */
export const accountLeverage = (account: ModelAccount): Decimal | null =>
  leverageOf({ positions: marginPositions(account), modelAccountValue: accountValue(account) })

/**
 * Whether the account bears a full fill of the order on top of `position`. Without any price, and for an
 * instrument that the account was not loaded with, there is nothing to hold against it.
 */
export function bears(account: ModelAccount, intent: Intent, position?: Decimal): boolean {
  const { instrumentId, side, openClose, commission } = intent
  const holding = account.holdings.find((candidate) => candidate.instrumentId === instrumentId)
  if (!holding || openClose === 'C') return true
  const price = intent.price ?? marketPriceOf(holding, side)
  if (!price) return true
  const held = position ?? holding.quantity
  const quantity = held.plus(intent.quantity.times(directionOf(side)))
  const paid = (holding.avgPx ?? price).times(held.abs()).plus(price.times(intent.quantity))
  const avgPx = quantity.isZero() ? null : paid.div(held.abs().plus(intent.quantity))
  const others = account.holdings.filter((candidate) => candidate !== holding)
  const positionsAfter = [
    ...marginPositions({ holdings: others }),
    ...(quantity.isZero() ? [] : [marginPosition({ ...holding, quantity, avgPx }, price)]),
  ]
  return isAffordable({ openClose, modelAccountValue: accountValue(account), positionsAfter, commission })
}

/** Why the account does not take a full fill of the order on top of `position`; null when it does. */
export function openingRefusal(account: ModelAccount, intent: Intent, position?: Decimal): string | null {
  if (isTooLarge(account, intent, position)) return positionTooLarge
  return bears(account, intent, position) ? null : insufficientBuyingPower
}

function isTooLarge({ holdings }: ModelAccount, intent: Intent, position?: Decimal): boolean {
  const holding = holdings.find(({ instrumentId }) => instrumentId === intent.instrumentId)
  if (!holding || intent.openClose === 'C') return false
  const held = position ?? holding.quantity
  const units = held.plus(intent.quantity.times(directionOf(intent.side))).abs()
  const price = intent.price ?? marketPriceOf(holding, intent.side) ?? zero
  const worth = price.abs().times(units).times(holding.instrument.pointValue).times(holding.fx)
  return units.greaterThan(largestPosition.units) || worth.greaterThan(largestPosition.worth)
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
  ({ side, openClose, orderQuantity, limit, stop }, position) => {
    if (account === undefined) return null
    const held = account.holdings.find((holding) => holding.instrumentId === instrumentId)
    if (held && held.cutoffAt !== null && held.cutoffAt <= at) return contractExpiring
    const order = { instrumentId, side, openClose, quantity: orderQuantity, price: limit ?? stop }
    return openingRefusal(account, { commission: commissionOf(account, order), ...order }, position)
  }

/** What a full fill of the order would be charged; nothing without a price to charge it by. */
function commissionOf(account: ModelAccount, order: Omit<Intent, 'commission'>): Decimal {
  const holding = account.holdings.find(({ instrumentId }) => instrumentId === order.instrumentId)
  const price = holding && (order.price ?? marketPriceOf(holding, order.side))
  if (!holding || !price || !account.rates) return zero
  const { securityType, pointValue } = holding.instrument
  const fill = { quantity: order.quantity, price, pointValue: pointValue.times(holding.fx) }
  return orderCommission(account.rates[securityType], addTurnover(noTurnover, fill))
}
