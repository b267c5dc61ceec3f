/**
 * What an order must be before its book decides about it: prices on the tick, a replacement that changes only
 * what it may; and the prices that the market gives it.
 */
import type { PositionEffect, Side } from '../codes.ts'
import { type Decimal, dec, zero } from '../decimal.ts'

/** The prices of an order as its owner sent it. */
export interface OrderPrices {
  limitPx?: Decimal | undefined
  stopPx?: Decimal | undefined
  profitTarget?: Decimal | undefined
  stopLoss?: Decimal | undefined
}

/** The first price that is no multiple of the tick. */
export function offTick(prices: OrderPrices, tick: Decimal): keyof OrderPrices | undefined {
  const names = ['limitPx', 'stopPx', 'profitTarget', 'stopLoss'] as const
  return names.find((name) => prices[name] && !isOnTick(prices[name], tick))
}

/** A price that the instrument can be quoted at; prices may be negative (spreads, crude oil in 2020). */
const isOnTick = (price: Decimal, tick: Decimal): boolean => price.mod(tick).isZero()

/** The order that a replacement replaces, as far as the two are compared. */
interface ReplacedOrder {
  instrumentId: number
  side: Side
  positionEffect: PositionEffect
}

/** The member in which a replacement differs from the order it replaces where it must not. */
export function immutableDifference(
  replaced: ReplacedOrder,
  draft: { side: Side; positionEffect?: PositionEffect | undefined },
  instrumentId: number,
): 'Symbol' | 'Side' | 'OpenClose' | undefined {
  if (replaced.instrumentId !== instrumentId) return 'Symbol'
  if (replaced.side !== draft.side) return 'Side'
  if (draft.positionEffect !== undefined && draft.positionEffect !== replaced.positionEffect)
    return 'OpenClose'
  return undefined
}

/** The price an order of this side would trade at now; zero is no price. */
export function currentPriceOf(side: Side, bid: string | null, ask: string | null): Decimal | undefined {
  const text = side === '1' ? ask : bid
  const price = text === null ? undefined : dec(text)
  return price?.greaterThan(zero) ? price : undefined
}
