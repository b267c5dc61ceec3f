/**
 * From one plan to another within a term that is paid. What costs more begins at once, and what is left of the present
 * term is taken off its price; what costs less begins when the present term ends. Amounts are whole minor units.
 */

import type { Instant } from '../time.ts'
import { unusedOf } from './revenue.ts'
import { termEnd } from './subscription.ts'

/** The term that is paid, and a plan to go on with. */
export interface PaidTerm {
  readonly price: bigint
  readonly from: Instant
  readonly to: Instant
  readonly days: number
}

export type PlanChange =
  | { readonly act: 'later' }
  /** The plan begins when `cost` is paid: for the rest of the term, or for a term of its own. */
  | { readonly act: 'now'; readonly cost: bigint; readonly to: Instant }

/**
 * Decides a change at `at`. Between terms of the same length the rest of the present one is priced anew; a term of
 * another length begins at once. What comes to less than `least` nobody collects: it waits for the term's end, too.
 */
export function decidePlanChange(
  present: PaidTerm,
  next: { readonly price: bigint; readonly days: number },
  at: Instant,
  least = 1n,
): PlanChange {
  const isRest = next.days === present.days
  const worth = isRest ? unusedOf(next.price, present, at) : next.price
  const cost = worth - unusedOf(present.price, present, at)
  if (cost < least) return { act: 'later' }
  return { act: 'now', cost, to: isRest ? present.to : termEnd(at, next.days) }
}
