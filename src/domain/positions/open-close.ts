/**
 * Whether an order opens or closes, from what its owner sent and the strategy's position.
 * Invariants: an opening order never acts against the position, a closing order never exceeds it; an order
 * that would do both is cut into two.
 */
import { directionOf, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, sign } from '../decimal.ts'

export type OpenCloseRejection =
  | 'close the opposite position first'
  | 'no position to close'
  | 'quantity exceeds the position'

export type OpenCloseDecision =
  | { readonly positionEffect: PositionEffect }
  /** Unsigned quantities: the whole position first, then the remainder on the other side. */
  | { readonly reversal: { readonly close: Decimal; readonly open: Decimal } }
  | { readonly rejected: OpenCloseRejection }

/** True when a fill on `side` would bring the signed `position` nearer to zero. */
export const actsAgainst = (side: Side, position: Decimal): boolean => sign(position) === -directionOf(side)

/** True for a closing order that would not bring the signed `position` nearer to zero: it could only open. */
export const closesNothing = (
  { side, positionEffect }: { readonly side: Side; readonly positionEffect: PositionEffect },
  position: Decimal,
): boolean => positionEffect === 'C' && !actsAgainst(side, position)

/**
 * Decides for an order of the unsigned `quantity` against the signed `position`. `sent` is what the owner asked
 * for, undefined when he left it to us; only then can an order reverse.
 */
export function decideOpenClose(
  sent: PositionEffect | undefined,
  side: Side,
  quantity: Decimal,
  position: Decimal,
): OpenCloseDecision {
  const against = actsAgainst(side, position)
  const held = position.abs()
  if (sent === 'O')
    return against ? { rejected: 'close the opposite position first' } : { positionEffect: 'O' }
  if (sent === 'C' && !against) return { rejected: 'no position to close' }
  if (!against) return { positionEffect: 'O' }
  if (quantity.lessThanOrEqualTo(held)) return { positionEffect: 'C' }
  if (sent === 'C') return { rejected: 'quantity exceeds the position' }
  return { reversal: { close: held, open: quantity.minus(held) } }
}
