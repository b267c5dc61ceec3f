/**
 * Subscriptions: a person's access to a strategy or a plan, term after term. A term is never shortened: it is
 * paid in advance and what is canceled ends with it. A simulated subscription has no terms, costs nothing and
 * shows no orders.
 */
import type { Instant } from './time.ts'

/** paper: paid like a live one, but followed in paper accounts alone. */
export type SubscriptionKind = 'paid' | 'paper' | 'simulated'

/** pending: its first payment is awaited. suspended: a later payment failed for good. */
export type SubscriptionStatus = 'pending' | 'active' | 'suspended' | 'ended'

export interface SubscriptionState {
  readonly kind: SubscriptionKind
  readonly status: SubscriptionStatus
}

export const dayMs = 86_400_000

/** Days of a term of a strategy's subscription. */
export const strategyTermDays = 30

/** The end of a term that begins at `start`; it belongs to the next one. */
export const termEnd = (start: Instant, days = strategyTermDays): Instant => start + days * dayMs

/** What a wish for a subscription comes to. Joining keeps the present term and its price. */
export type Opening = 'open' | 'replace' | 'join' | 'unpaid'

/**
 * Decides from the person's present subscription to the strategy, if there is one: a simulated one gives way to
 * a real one, a real one is joined. A suspended one must be paid first.
 */
export function decideOpening(present: SubscriptionState | undefined, wanted: SubscriptionKind): Opening {
  if (!present || present.status === 'ended') return 'open'
  if (present.kind === 'simulated') return wanted === 'simulated' ? 'join' : 'replace'
  return present.status === 'suspended' ? 'unpaid' : 'join'
}

/** The kind after joining: once followed with money it stays a paid one, and a real one never becomes simulated. */
export const joinedKind = (present: SubscriptionKind, wanted: SubscriptionKind): SubscriptionKind =>
  wanted === 'paid' ? 'paid' : present
