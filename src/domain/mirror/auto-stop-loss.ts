/**
 * The stop that bounds what a follower can lose in one symbol, beside whatever stops the strategy has. Its price
 * is rounded toward the position's average, so the planned loss never exceeds the setting. GTC, for the whole
 * position, recomputed after every change of quantity or average.
 */
import { oppositeOf, type Side } from '../codes.ts'
import { ceilTo, type Decimal, floorTo, sign } from '../decimal.ts'

export type AutoStopLoss = { stop: Decimal; side: Side; quantity: Decimal }

/**
 * The protective stop of a position, or null where none is placed: flat, no amount set, or a long position whose
 * stop would not be above 0. `dollars` in account currency, `exchangeRate` account currency per quote currency.
 */
export function autoStopLoss(position: {
  quantity: Decimal
  averagePrice: Decimal
  dollars: Decimal | null
  pointValue: Decimal
  exchangeRate: Decimal
  tick: Decimal
}): AutoStopLoss | null {
  const { quantity, averagePrice, dollars, pointValue, exchangeRate, tick } = position
  if (quantity.isZero() || dollars === null || !dollars.greaterThan(0)) return null
  const distance = dollars.div(quantity.abs().times(pointValue).times(exchangeRate))
  const isLong = sign(quantity) > 0
  const stop = isLong
    ? ceilTo(averagePrice.minus(distance), tick)
    : floorTo(averagePrice.plus(distance), tick)
  if (isLong && !stop.greaterThan(0)) return null
  return { stop, side: oppositeOf(isLong ? '1' : '2'), quantity: quantity.abs() }
}
