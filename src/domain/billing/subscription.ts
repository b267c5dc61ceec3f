/**
 * Subscriptions: a person's access to a strategy or a plan, term after term. A term is never shortened: it is
 * paid in advance and what is canceled ends with it. A simulated subscription has no terms, costs nothing and
 * shows no orders.
 */
import { dayLength, type Instant } from '../time.ts'

/** paper: paid like a live one, but followed in paper accounts alone. */
export type SubscriptionKind = 'paid' | 'paper' | 'simulated'

/** pending: its first payment is awaited. suspended: a later payment failed for good. */
export type SubscriptionStatus = 'pending' | 'active' | 'suspended' | 'ended'

export interface SubscriptionState {
  readonly kind: SubscriptionKind
  readonly status: SubscriptionStatus
}

/** Days of a term of a strategy's subscription. */
export const strategyTermDays = 30

/** The end of a term that begins at `start`; it belongs to the next one. */
export const termEnd = (start: Instant, days = strategyTermDays): Instant => start + days * dayLength

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

/** Whether what the person has is already what is wanted, though it may wait for its payment: nothing is opened. */
export function isCovered(present: SubscriptionState | undefined, wanted: SubscriptionKind): boolean {
  const opening = decideOpening(present, wanted)
  return opening === 'join' || opening === 'unpaid'
}

/** The kind after joining: once followed with money it stays a paid one, and a real one never becomes simulated. */
export const joinedKind = (present: SubscriptionKind, wanted: SubscriptionKind): SubscriptionKind =>
  wanted === 'paid' ? 'paid' : present

/** What the end of a term comes to. */
export type TermEnd = { readonly act: 'renew' } | { readonly act: 'end'; readonly reason: EndReason }
/** Why what a subscription is for is gone. */
export type Gone = 'strategyEnded' | 'planEnded'
export type EndReason = 'canceled' | 'unpaid' | Gone

/** Decides at the end of a term: it goes on unless it was canceled, was never paid, or has nothing left to give. */
export function decideTermEnd(facts: {
  readonly status: SubscriptionStatus
  readonly isCancelPending: boolean
  /** Null while it is there. */
  readonly gone: Gone | null
}): TermEnd {
  if (facts.status !== 'active') return { act: 'end', reason: 'unpaid' }
  if (facts.isCancelPending) return { act: 'end', reason: 'canceled' }
  return facts.gone === null ? { act: 'renew' } : { act: 'end', reason: facts.gone }
}

/** Days after the first, second, ... failure of a payment until it is tried again. */
const retryDays = [1, 3, 5, 7] as const

/** After so many failures a payment is given up, unless somebody asks for it once more. */
export const triesMax = retryDays.length + 1

/** When a payment is tried again after its `failures`-th failure; undefined when it is given up. */
export const nextTry = (failures: number, failedAt: Instant): Instant | undefined => {
  const days = retryDays[failures - 1]
  return days === undefined ? undefined : failedAt + days * dayLength
}

/** When a payment is given up that goes on failing after its `failures`-th failure. */
export const lastTry = (failures: number, failedAt: Instant): Instant => {
  const next = nextTry(failures, failedAt)
  return next === undefined ? failedAt : lastTry(failures + 1, next)
}
