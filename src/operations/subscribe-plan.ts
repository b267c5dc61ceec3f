/**
 * Choosing a plan. A person has one plan of a kind: the first is opened and paid, another one is a change. What costs
 * more is paid for the rest of the term and begins with the payment; what costs less begins when the term ends.
 */
import { decidePlanChange } from '../domain/billing/plan-change.ts'
import { type Price, totalOf } from '../domain/billing/revenue.ts'
import { termEnd } from '../domain/billing/subscription.ts'
import type { Instant } from '../domain/time.ts'
import { collectedBy, findProvider, insertCharges, type ProviderName } from '../storage/billing/charges.ts'
import {
  continueWith,
  insertPlanSubscription,
  lockPlanOffer,
  lockPresentPlan,
  type PlanOffer,
  type PresentPlan,
  wishToGoOnWith,
} from '../storage/billing/plan-subscriptions.ts'
import type { Transaction } from '../storage/database/sql.ts'
import { isRefused, type Refused, refuse } from './context.ts'
import { collectNow, collectorOf, readyProvider } from './subscribe.ts'

export interface ChosenPlan {
  readonly subscriptionId: number
  /** withPayment: as soon as its provider has answered that it is paid. later: when the present term ends. */
  readonly begins: 'now' | 'withPayment' | 'later'
}

/** Opens or changes a person's plan. Refuses what is not paid for. */
export async function choosePlan(
  tx: Transaction,
  wanted: { readonly personId: number; readonly planId: number; readonly at: Instant },
): Promise<ChosenPlan | Refused> {
  const offer = await lockPlanOffer(tx, wanted.personId, wanted.planId)
  if (!offer) return refuse('NotFound', 'PlanId', 'The person is not offered such a plan')
  const present = await lockPresentPlan(tx, wanted.personId, offer.kind)
  if (!present) return open(tx, offer, wanted.at)
  if (present.status !== 'active' || present.isOwed)
    return refuse('StateConflict', 'PlanId', 'The present plan waits for a payment')
  const next = { price: totalOf(offer.price), days: offer.days }
  // Of a plan whose price is not collected each term would be let go.
  const isAsWas = present.planId === offer.planId || next.price === 0n
  const provider = isAsWas ? await findProvider(tx) : await collectorOf(tx, next.price)
  if (isRefused(provider)) return provider
  const change = decidePlanChange(present, next, wanted.at, collectedBy[provider].least)
  if (present.planId === offer.planId || change.act === 'later') {
    await continueWith(tx, present.id, offer.planId)
    return { subscriptionId: present.id, begins: present.planId === offer.planId ? 'now' : 'later' }
  }
  return upgrade(tx, present, offer, { at: wanted.at, ...change })
}

async function open(tx: Transaction, offer: PlanOffer, at: Instant): Promise<ChosenPlan | Refused> {
  const { price, days, personId } = offer
  const term = { from: at, to: termEnd(at, days) }
  const isFree = totalOf(price) === 0n
  const provider = isFree ? 'simulated' : await readyProvider(tx, personId, totalOf(price))
  if (isRefused(provider)) return provider
  const subscriptionId = await insertPlanSubscription(tx, offer, {
    status: isFree ? 'active' : 'pending',
    ...term,
  })
  const charge = { subscriptionId, purpose: 'term', price, provider, dueAt: at, ...term } as const
  const declined = await collectNow(tx, provider, await insertCharges(tx, [charge]), at)
  return declined ?? { subscriptionId, begins: beginningBy(provider) }
}

async function upgrade(
  tx: Transaction,
  { id: subscriptionId }: PresentPlan,
  { personId, planId, price: whole }: PlanOffer,
  { cost, to, at }: { readonly cost: bigint; readonly to: Instant; readonly at: Instant },
): Promise<ChosenPlan | Refused> {
  const provider = await readyProvider(tx, personId, cost)
  if (isRefused(provider)) return provider
  // Earned by who earns the plan.
  const price: Price = whole.markup > 0n ? { base: 0n, markup: cost } : { base: cost, markup: 0n }
  const period = { from: at, to, dueAt: at }
  const plan = { id: planId, price: totalOf(whole) }
  const charge = { subscriptionId, purpose: 'upgrade', price, provider, plan, ...period } as const
  const ids = await insertCharges(tx, [charge])
  if (ids.length === 0)
    return refuse('StateConflict', 'PlanId', 'A change of this moment was asked for already')
  await wishToGoOnWith(tx, subscriptionId, planId)
  return (await collectNow(tx, provider, ids, at)) ?? { subscriptionId, begins: beginningBy(provider) }
}

/** The built-in provider has answered already. */
const beginningBy = (provider: ProviderName): ChosenPlan['begins'] =>
  provider === 'simulated' ? 'now' : 'withPayment'
