/**
 * Where a follower's result differs from the leader's on one closed trade: four parts that, added to the ideal,
 * give the follower's net result exactly. Money in account currency, unrounded.
 */
import { directionOf, type Side } from '../codes.ts'
import { type Decimal, dec } from '../decimal.ts'

export type GapTrade = { quantity: Decimal; open: Decimal; close: Decimal; commission: Decimal }

export type ExecutionGap = {
  /** The leader's result at the follower's scaling, without commission. */
  ideal: Decimal
  quantity: Decimal
  entry: Decimal
  exit: Decimal
  fees: Decimal
  /** The sum of the four parts. */
  total: Decimal
  actual: Decimal
}

/**
 * The gap of one trade. Quantities are unsigned, `openSide` is the leader's; a follower who missed the
 * trade has quantity 0 and counts no prices. `perPoint` = point value times account currency per quote currency.
 */
export function executionGap(
  openSide: Side,
  leader: GapTrade,
  follower: GapTrade,
  scalingPercentage: Decimal,
  perPoint: Decimal,
): ExecutionGap {
  const value = perPoint.times(directionOf(openSide))
  const scaled = leader.quantity.times(scalingPercentage).times(dec('0.01'))
  const move = leader.close.minus(leader.open).times(value)
  const worth = (difference: Decimal): Decimal => difference.times(follower.quantity).times(value)
  const ideal = scaled.times(move)
  const quantity = follower.quantity.minus(scaled).times(move)
  const entry = worth(leader.open.minus(follower.open))
  const exit = worth(follower.close.minus(leader.close))
  const fees = follower.commission.negated()
  const total = quantity.plus(entry).plus(exit).plus(fees)
  return { ideal, quantity, entry, exit, fees, total, actual: ideal.plus(total) }
}
