/**
 * The equity that positions bind, in account currency; initial and maintenance requirements are equal. One
 * pool for all classes: buying power is the account value less what is bound. Nothing is rounded.
 */
import type { PositionEffect } from '../codes.ts'
import { type Decimal, dec, sum, zero } from '../decimal.ts'
import { matchOptions, matchRequirement } from './margin-options.ts'
import { type MarginPosition, nominalValue } from './margin-position.ts'

/** Stocks whose basis is above this bind half their value, others all of it. */
const fullMarginBasis = dec(5)
const stockShare = dec('0.5')

/** MarginUsed: the requirement of the whole portfolio, options matched; never negative. */
export function marginUsed(positions: readonly MarginPosition[]): Decimal {
  const alone = positions.map(requirementAlone)
  const options = matchOptions(positions).map(matchRequirement)
  return sum([...alone, ...options])
}

/**
 * Whether an order may be accepted, released or filled: the margin of the portfolio after a full fill at the
 * reference price, plus commission, fits the account value. Closing orders are never refused for margin.
 */
export const isAffordable = (order: {
  readonly positionEffect: PositionEffect
  readonly modelAccountValue: Decimal
  readonly positionsAfter: readonly MarginPosition[]
  readonly commission: Decimal
}): boolean =>
  order.positionEffect === 'C' ||
  marginUsed(order.positionsAfter).plus(order.commission).lessThanOrEqualTo(order.modelAccountValue)

/** What a position binds whatever else is held; options are matched first and bind nothing here. */
function requirementAlone(position: MarginPosition): Decimal {
  switch (position.securityType) {
    case 'CS': {
      // The price that was paid decides, so that a fall does not double what is already held.
      const basis = position.avgPx ?? position.price
      return nominalValue(position).times(basis.greaterThan(fullMarginBasis) ? stockShare : 1)
    }
    case 'FUT':
      return position.initialMargin.times(position.quantity.abs()).times(position.fx)
    case 'FOR':
      return nominalValue(position).div(position.leverage).times(position.fx)
    case 'OPT':
      return zero
  }
}
