/**
 * Simulated subscriptions: whether one may begin, and what it has brought. It follows the aggregate performance of
 * its strategy, so its result is what the strategy's model account gained meanwhile.
 */
import { type Decimal, zero } from '../decimal.ts'
import { dayLength, type Instant } from '../time.ts'
import type { SubscriptionKind } from './subscription.ts'

export type SimSkip =
  | 'already_subscribed'
  | 'already_simulated'
  | 'simulated_recently'
  | 'strategy_not_found'
  | 'strategy_not_alive'
  | 'strategy_private'
  | 'not_in_site_catalog'

/** How long after its end a simulation may not begin again, in milliseconds. */
const pause = 30 * dayLength

export interface SimFacts {
  readonly isAlive: boolean
  /** Private, and the person is neither its owner nor a subscriber. */
  readonly isHidden: boolean
  /** The site resells it, or it is the site's own. */
  readonly isOffered: boolean
  /** The person's present subscription to it. */
  readonly present: SubscriptionKind | null
  readonly lastSimulationEndedAt: Instant | null
}

/** Why a simulation cannot begin; undefined when it can. What the person may not know of is not there. */
export function simSkip(facts: SimFacts | undefined, now: Instant): SimSkip | undefined {
  if (!facts) return 'strategy_not_found'
  if (!facts.isAlive) return 'strategy_not_alive'
  if (facts.isHidden) return 'strategy_private'
  if (!facts.isOffered) return 'not_in_site_catalog'
  if (facts.present === 'simulated') return 'already_simulated'
  if (facts.present !== null) return 'already_subscribed'
  const endedAt = facts.lastSimulationEndedAt
  return endedAt !== null && now < endedAt + pause ? 'simulated_recently' : undefined
}

/** What it has brought: money, and percent of what the strategy was worth when it began. */
export function simResult(
  started: Decimal | null,
  ended: Decimal | null,
): { readonly delta: Decimal | null; readonly percent: Decimal | null } {
  if (started === null || ended === null) return { delta: null, percent: null }
  const delta = ended.minus(started)
  return { delta, percent: started.greaterThan(zero) ? delta.div(started).times(100) : null }
}
