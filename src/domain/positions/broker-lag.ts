/**
 * Splits and the ends of contracts reach a position at its broker hours before or days after they are booked here: a
 * broker does them by itself, over night or when its clearing house has. Until then such a difference is nobody's doing.
 */
import { type Decimal, max, min } from '../decimal.ts'
import { type SplitRatio, unitsAfter } from './split.ts'

/** What the calendar does to one position in these days. */
export interface NearEffects {
  /** Units that ended contracts brought, and took, in the books; both from 0. */
  readonly added: Decimal
  readonly taken: Decimal
  /** Splits that are booked, and those that are still to come. */
  readonly splits: readonly (SplitRatio & { readonly isBooked: boolean })[]
  /** It is an option whose stock is split: it goes on under another symbol, there and here at different times. */
  readonly isListedAnew: boolean
}

/** Whether the broker may be ahead or behind by this `difference` (its position less the `total` of the books). */
export function isLag(total: Decimal, difference: Decimal, effects: NearEffects): boolean {
  const { added, taken, splits } = effects
  if (effects.isListedAnew) return true
  const others = splits.flatMap((split) => unitsElsewhere(total, split))
  const changes = others.map((other) => other.minus(total))
  const least = changes.reduce((one, other) => min(one, other), added.negated())
  const most = changes.reduce((one, other) => max(one, other), taken)
  return difference.greaterThanOrEqualTo(least) && difference.lessThanOrEqualTo(most)
}

/** What a broker has that is on the other side of the split; what was cut off made up to one unit here. */
function unitsElsewhere(total: Decimal, split: NearEffects['splits'][number]): Decimal[] {
  if (!split.isBooked) return [unitsAfter(total, split).trunc()]
  return [total.minus(1), total, total.plus(1)].map((units) => units.times(split.old).div(split.new))
}
