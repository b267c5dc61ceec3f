/**
 * What a simulated fill costs beyond the price seen: always against the trader. Limit orders never slip, so
 * their fills do not come here.
 */
import { directionOf, type Side } from '../codes.ts'
import { ceilTo, type Decimal, floorTo, min } from '../decimal.ts'

export interface SlippageConfig {
  /** Price increment; null when unknown, then nothing is rounded. */
  readonly tick: Decimal | null
  readonly slippageTicks: Decimal
  /** Hundredths of a percent of the price. */
  readonly slippageBps: Decimal
}

/**
 * The price of a market or stop fill: `price` moved by ticks and basis points, then rounded to the tick
 * against the trader. Without slippage the price stays as it was seen, off the tick or not.
 */
export function slippedPrice(price: Decimal, side: Side, config: SlippageConfig): Decimal {
  const ticks = config.tick === null ? config.slippageTicks.times(0) : config.slippageTicks.times(config.tick)
  const amount = ticks.plus(price.abs().times(config.slippageBps).div(10_000))
  if (amount.isZero()) return price
  const slipped = price.plus(amount.times(directionOf(side)))
  if (config.tick === null || config.tick.isZero()) return slipped
  return side === '1' ? ceilTo(slipped, config.tick) : floorTo(slipped, config.tick)
}

/** An order against the volume of its bar. */
export interface VolumeShare {
  readonly price: Decimal
  readonly quantity: Decimal
  /** Null or not positive: the bar shows no volume. */
  readonly barVolume: Decimal | null
  readonly volumeLimit: Decimal
  readonly priceImpact: Decimal
  readonly isForex: boolean
}

/**
 * Slippage in price points that grows with the square of the order's share of the bar's volume:
 * price * impact * min(quantity/volume, limit)^2 (Lean's volume-share model). Without volume forex slips
 * nothing, other classes as much as the limit allows.
 */
export function volumeShareSlippage(order: VolumeShare): Decimal {
  const { barVolume, volumeLimit } = order
  const hasVolume = barVolume?.greaterThan(0) === true
  if (!hasVolume && order.isForex) return order.price.times(0)
  const share = hasVolume ? min(order.quantity.abs().div(barVolume), volumeLimit) : volumeLimit
  return order.price.times(order.priceImpact).times(share.pow(2))
}
