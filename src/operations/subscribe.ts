/**
 * Opening a subscription to a strategy, by whatever way it comes: a start of Autotrade, the dashboard, a test.
 * The strategy is locked by then. A term is paid before it begins: the built-in provider answers within the
 * request; with another one the subscription waits, shows nothing and mirrors nothing until the worker was paid.
 */
import { isCollected, textOfCents, totalOf } from '../domain/billing/revenue.ts'
import { decideOpening, joinedKind, type SubscriptionKind, termEnd } from '../domain/billing/subscription.ts'
import { noteSimulationEnd, noteSimulationStart } from '../storage/accounts/simulations.ts'
import {
  claimCharges,
  collectedBy,
  findProvider,
  insertCharges,
  type ProviderName,
} from '../storage/billing/charges.ts'
import { passGains } from '../storage/billing/performance-fees.ts'
import { settleCharges } from '../storage/billing/settlement.ts'
import { answerSimulated } from '../storage/billing/simulated-payments.ts'
import type { Sql } from '../storage/database/sql.ts'
import { holdPerson } from '../storage/people/people.ts'
import {
  cancelSubscription,
  endSubscription,
  findOffer,
  hasPaymentMethod,
  insertSubscription,
  keepSubscription,
  lockSubscription,
  type Offer,
} from '../storage/people/subscriptions.ts'
import { isRefused, type Refused, refuse } from './context.ts'

export interface Subscribing {
  readonly personId: number | bigint
  readonly strategyId: number | bigint
  readonly kind: SubscriptionKind
  /** When the first term begins. */
  readonly at: number
}

/** Whose subscription to what ends, and when. */
type Ending = Omit<Subscribing, 'kind'>

/** The site of the person in whose name something is to begin. Refuses who is not there, and who was removed. */
export async function beginFor(sql: Sql, personId: number | bigint): Promise<number | Refused> {
  const person = await holdPerson(sql, personId)
  if (!person) return refuse('NotFound', 'PersonId')
  return person.isAlive ? person.siteId : refuse('StateConflict', 'PersonId', 'The person is not alive')
}

/** Opens or joins; answers the subscription's id. Refuses what is not paid for. */
export async function subscribe(sql: Sql, wanted: Subscribing): Promise<number | Refused> {
  const { personId, strategyId, kind } = wanted
  const present = await lockSubscription(sql, personId, strategyId)
  const opening = decideOpening(present, kind)
  if (opening === 'unpaid')
    return refuse('StateConflict', 'StrategyId', 'The subscription is suspended until it is paid')
  if (present && opening === 'join') {
    const joined = joinedKind(present.kind, kind)
    await keepSubscription(sql, present.id, joined)
    if (joined !== present.kind) await passGains(sql, present.id, wanted.at)
    return present.id
  }
  const offer = await findOffer(sql, wanted)
  if (!offer) return refuse('NotFound', 'StrategyId')
  if (present) await endSimulation(sql, present.id, wanted, 'replaced')
  return totalOf(offer.price) > 0n ? openPaid(sql, wanted, offer) : openFree(sql, wanted, offer)
}

/** Ends a simulated subscription now, and notes what it has brought. */
export async function endSimulation(
  sql: Sql,
  id: number,
  ended: Ending,
  reason: 'replaced' | 'stopped',
): Promise<void> {
  await endSubscription(sql, id, ended.at, reason)
  await noteSimulationEnd(sql, ended)
}

/** Ends a person's subscription to a strategy with its term; a simulated one, which has none, now. */
export async function terminateSubscription(sql: Sql, wanted: Ending): Promise<void> {
  const present = await lockSubscription(sql, wanted.personId, wanted.strategyId)
  if (!present) return
  if (present.kind === 'simulated') await endSimulation(sql, present.id, wanted, 'stopped')
  else await cancelSubscription(sql, present.id)
}

const termOf = ({ kind, at }: Subscribing) => ({
  startedAt: at,
  termEndsAt: kind === 'simulated' ? null : termEnd(at),
})

async function openFree(sql: Sql, wanted: Subscribing, offer: Offer): Promise<number> {
  const id = await insertSubscription(sql, { status: 'active', ...wanted, ...offer, ...termOf(wanted) })
  if (wanted.kind === 'simulated') await noteSimulationStart(sql, wanted, wanted.at)
  else await passGains(sql, id, wanted.at)
  return id
}

async function openPaid(sql: Sql, wanted: Subscribing, offer: Offer): Promise<number | Refused> {
  const { personId, at } = wanted
  const provider = await readyProvider(sql, personId, totalOf(offer.price))
  if (isRefused(provider)) return provider
  const id = await insertSubscription(sql, { status: 'pending', ...wanted, ...offer, ...termOf(wanted) })
  await passGains(sql, id, at)
  const period = { from: at, to: termEnd(at), dueAt: at }
  const ids = await insertCharges(sql, [
    { subscriptionId: id, purpose: 'term', price: offer.price, provider, ...period },
  ])
  return (await collectNow(sql, provider, ids, at)) ?? id
}

/** Who collects such a payment now, in minor units; refuses what is not collected there. */
export async function collectorOf(sql: Sql, amount: bigint): Promise<ProviderName | Refused> {
  const provider = await findProvider(sql)
  const limits = collectedBy[provider]
  if (isCollected(amount, limits)) return provider
  const range = `${textOfCents(limits.least)} to ${textOfCents(limits.most)} USD`
  const says = `No payment of ${textOfCents(amount)} USD is collected by ${provider}, only of ${range}`
  return refuse('StateConflict', 'StrategyId', says)
}

/** The same; also refuses a person who has not said how to pay there. */
export async function readyProvider(
  sql: Sql,
  personId: number | bigint,
  amount: bigint,
): Promise<ProviderName | Refused> {
  const provider = await collectorOf(sql, amount)
  if (isRefused(provider) || provider === 'simulated' || (await hasPaymentMethod(sql, personId, provider)))
    return provider
  return refuse('StateConflict', 'StrategyId', 'The subscription needs a payment method first')
}

/** Asks the built-in provider at once; others are asked by the worker. Refuses what was declined. */
export async function collectNow(
  sql: Sql,
  provider: ProviderName,
  ids: readonly number[],
  at: number,
): Promise<Refused | undefined> {
  if (provider !== 'simulated' || ids.length === 0) return undefined
  const answers = await answerSimulated(sql, await claimCharges(sql, { provider, now: at, limit: 1, ids }))
  await settleCharges(sql, answers)
  const [answer] = answers
  return answer?.outcome === 'declined'
    ? refuse('StateConflict', 'StrategyId', `The payment was declined: ${answer.reason}`)
    : undefined
}
