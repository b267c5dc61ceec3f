/**
 * What comes of payments: the charge, the subscription and the ledger move in one transaction. An answer counts
 * once, for the attempt it was given to. That a payment was made is a fact: it is booked also when nobody waits
 * for it any more, and then told to the operator. A second one for the same charge is booked apart. Of one that failed
 * whoever pays is told by mail.
 */
import { surplusOf, transfersOf } from '../../domain/billing/ledger.ts'
import { isCollected, textOfCents, totalOf } from '../../domain/billing/revenue.ts'
import { lastTry, nextTry, type SubscriptionStatus, triesMax } from '../../domain/billing/subscription.ts'
import { groupBy } from '../../domain/group.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type FailedPayment, insertPaymentMail } from '../people/mail.ts'
import { insertIncidents, type NewIncident } from '../work/incidents.ts'
import {
  collectedBy,
  endedReason,
  isCollectibleCharge,
  type NewCharge,
  type ProviderName,
} from './charges.ts'
import { book } from './ledger.ts'
import { beginUpgrades } from './plan-subscriptions.ts'

export type ChargeAnswer = {
  readonly chargeId: number
  readonly attempt: number
  /** Business time. */
  readonly at: number
  /** The provider's name of the payment. */
  readonly paymentRef: string | null
} & (
  | { readonly outcome: 'paid'; readonly isPaidOtherwise?: true }
  | { readonly outcome: 'declined'; readonly reason: string }
)

/** A charge with whom it feeds, and the subscription that it is for. */
export interface ChargeRow {
  id: number
  subscriptionId: number
  attempt: number
  status: 'due' | 'paid' | 'failed' | 'waived'
  readonly isWaived: boolean
  purpose: NewCharge['purpose']
  /** Whether the attempt has no answer yet. */
  isAsked: boolean
  paymentRef: string | null
  provider: ProviderName
  basePrice: number | bigint
  markup: number | bigint
  currency: string
  personId: number
  ownerPersonId: number | null
  ownerPercent: number | null
  siteId: number
  subscriptionStatus: SubscriptionStatus
}

/** Books the answers that are news, and tells the operator of money that nobody asked for; answers how many were news. */
export async function settleCharges(sql: Sql, answers: readonly ChargeAnswer[]): Promise<number> {
  const { news, unexpected } = await bookAnswers(sql, answers)
  await insertIncidents(sql, unexpected)
  return news
}

interface Booked {
  /** How many answers were. */
  readonly news: number
  /** Of money that nobody asked for, or that nothing begins by. */
  readonly unexpected: readonly NewIncident[]
}

/** Books the answers that are news. */
export async function bookAnswers(sql: Sql, answers: readonly ChargeAnswer[]): Promise<Booked> {
  const rows = await lockCharges(
    sql,
    answers.map(({ chargeId }) => chargeId),
  )
  const found = new Map(rows.map((row) => [row.id, row]))
  const paid: Settled<'paid'>[] = []
  const again: Settled<'paid'>[] = []
  const declined: Settled<'declined'>[] = []
  const unexpected: NewIncident[] = []
  for (const answer of answers) {
    const charge = found.get(answer.chargeId)
    if (!charge) continue
    if (answer.outcome === 'paid') {
      if (charge.status === 'paid') {
        if (charge.paymentRef !== answer.paymentRef) again.push({ charge, answer })
        continue
      }
      const one = { charge, answer }
      paid.push(one)
      if (isOver(charge)) unexpected.push(incidentOf('paidAfterTheEnd', charge, answer))
      else if (isLetGo(one)) unexpected.push(incidentOf('paidAfterWaiver', charge, answer))
      charge.status = 'paid'
      charge.paymentRef = answer.paymentRef
    } else if (charge.isAsked && charge.attempt === answer.attempt) {
      charge.isAsked = false
      declined.push({ charge, answer })
    }
  }
  const refused = declined.filter(({ charge }) => charge.status === 'due')
  const idle = await savePaid(sql, paid)
  await saveDeclined(sql, refused)
  await saveAgain(sql, again)
  unexpected.push(...again.map(({ charge, answer }) => incidentOf('paidTwice', charge, answer)))
  unexpected.push(...idle.map(({ charge, answer }) => incidentOf('paidTooLate', charge, answer)))
  return { news: paid.length + refused.length, unexpected }
}

/** In minor units. */
export const amountOf = ({ basePrice, markup }: Pick<ChargeRow, 'basePrice' | 'markup'>): bigint =>
  totalOf({ base: BigInt(basePrice), markup: BigInt(markup) })

/** A fee is settled when its term is over, and that may be the last one. */
const isOver = ({ subscriptionStatus, purpose }: ChargeRow): boolean =>
  subscriptionStatus === 'ended' && purpose !== 'performance'

/** Whoever has let it go asks nobody for it, and may have said since that it was paid. */
const isLetGo = ({ charge, answer }: Settled<'paid'>): boolean => charge.isWaived && !answer.isPaidOtherwise

interface Settled<Outcome extends ChargeAnswer['outcome']> {
  readonly charge: ChargeRow
  readonly answer: Extract<ChargeAnswer, { outcome: Outcome }>
}

/** A second payment is booked apart, all others as what they pay. */
const incidentOf = (
  kind: 'paidTwice' | 'paidAfterTheEnd' | 'paidAfterWaiver' | 'paidTooLate',
  charge: ChargeRow,
  answer: ChargeAnswer,
): NewIncident => ({
  key: `payment ${charge.provider} ${answer.paymentRef}`,
  kind,
  detail: {
    chargeId: charge.id,
    paymentRef: answer.paymentRef,
    amount: Number(amountOf(charge)),
    currency: charge.currency,
  },
  occurredAt: answer.at,
})

/** Locked, then read: a statement that waited would have looked for the plan of before, and for whom it feeds. */
export async function lockCharges(sql: Sql, ids: readonly number[]): Promise<ChargeRow[]> {
  await sql.run`
    select from charge c join subscription s on s.id = c.subscription_id
    where c.id = any(${ids}::bigint[]) order by s.id, c.id for update of s, c`
  return sql.rows<ChargeRow>`
    select c.id, c.subscription_id as "subscriptionId", c.attempts as attempt, c.status, c.purpose,
      c.status = 'waived' as "isWaived",
      c.claimed_until is not null as "isAsked",
      c.payment_ref as "paymentRef", c.provider, c.base_price as "basePrice", c.markup, c.currency,
      s.person_id as "personId", strategy.owner_person_id as "ownerPersonId",
      strategy.owner_share_percent as "ownerPercent", coalesce(plan.site_id, s.site_id) as "siteId",
      s.status as "subscriptionStatus"
    from charge c join subscription s on s.id = c.subscription_id
      left join strategy on strategy.id = s.strategy_id left join plan on plan.id = coalesce(c.plan_id, s.plan_id)
    where c.id = any(${ids}::bigint[]) order by s.id, c.id`
}

/** Answers the changes of plans that were paid and begin nothing: a later one has their place, or no term comes for them. */
async function savePaid(sql: Sql, settled: readonly Settled<'paid'>[]): Promise<Settled<'paid'>[]> {
  if (settled.length === 0) return []
  const ids = settled.map(({ charge }) => charge.id)
  const times = settled.map(({ answer }) => instant(answer.at))
  await sql.run`
    update charge set status = 'paid', paid_at = answer.at, payment_ref = answer.ref, next_try_at = null,
      claimed_until = null
    from unnest(${ids}::bigint[], ${times}::timestamptz[],
      ${settled.map(({ answer }) => answer.paymentRef)}::text[]) answer (id, at, ref)
    where charge.id = answer.id`
  const wished = settled.filter((one) => one.charge.purpose === 'upgrade' && !isLetGo(one))
  const begun = new Set(
    await beginUpgrades(
      sql,
      wished.map(({ charge }) => charge.id),
    ),
  )
  await resume(
    sql,
    settled.map(({ charge }) => charge.subscriptionId),
  )
  await book(
    sql,
    settled.flatMap(({ charge, answer }) =>
      transfersOf({
        price: { base: BigInt(charge.basePrice), markup: BigInt(charge.markup) },
        ...charge,
        // What came otherwise stands in the book of no provider.
        provider: answer.isPaidOtherwise ? 'otherwise' : charge.provider,
        ownerPercent: charge.ownerPercent ?? 0,
      }).map((transfer) => ({ chargeId: charge.id, currency: charge.currency, at: answer.at, ...transfer })),
    ),
  )
  return wished.filter(({ charge }) => !isOver(charge) && !begun.has(charge.id))
}

/** Books second payments of what is paid: they pay nothing, and are to be given back. */
const saveAgain = (sql: Sql, again: readonly Settled<'paid'>[]): Promise<void> =>
  book(
    sql,
    again.map(({ charge, answer: { at, paymentRef } }) => {
      const { id: chargeId, currency, provider } = charge
      return { chargeId, currency, at, paymentRef, ...surplusOf(provider, amountOf(charge)) }
    }),
  )

/** What subscriptions owed is paid or let go: they go on unless more was given up, be it that it is tried once more. */
export async function resume(sql: Sql, subscriptionIds: readonly number[]): Promise<void> {
  // Failures are counted as long as any payment that was declined is tried again, or was given up: after an end, too.
  await sql.run`
    update subscription set status = case when ended_at is null then 'active' else status end, billing_failures = case when exists (
        select from charge declined where declined.subscription_id = subscription.id
          and declined.status = 'due' and declined.failed_at is not null) then billing_failures else 0 end
    where id = any(${subscriptionIds}::bigint[])
      and not exists (select from charge owed where owed.subscription_id = subscription.id
        and (owed.status = 'failed' or owed.status = 'due' and owed.failed_at is not null and owed.attempts >= ${triesMax}::int)
        and owed.purpose <> 'upgrade')`
}

/**
 * A first payment that fails opens nothing, an upgrade that fails changes nothing; a later payment is tried again until
 * the subscription is suspended.
 */
async function saveDeclined(sql: Sql, settled: readonly Settled<'declined'>[]): Promise<void> {
  if (settled.length === 0) return
  const verdicts = settled.map(({ charge, answer }) => {
    const isFirst = charge.subscriptionStatus === 'pending'
    const isUpgrade = charge.purpose === 'upgrade'
    const again = isFirst || isUpgrade || isOver(charge) ? undefined : nextTry(charge.attempt, answer.at)
    const status = isFirst ? 'ended' : again === undefined && !isUpgrade ? 'suspended' : 'active'
    return { charge, answer, again, status }
  })
  // What was given up with its subscription nobody has declined.
  const failures = verdicts.filter(({ answer }) => answer.reason !== endedReason)
  await tellOfFailures(sql, failures)
  await sql.run`
    update charge set status = case when answer.again is null then 'failed' else 'due' end,
      next_try_at = answer.again, claimed_until = null, payment_ref = answer.ref, failure_reason = answer.reason,
      failed_at = answer.at
    from unnest(${settled.map(({ charge }) => charge.id)}::bigint[],
      ${settled.map(({ answer }) => instant(answer.at))}::timestamptz[],
      ${verdicts.map(({ again }) => instant(again ?? null))}::timestamptz[],
      ${settled.map(({ answer }) => answer.reason)}::text[],
      ${settled.map(({ answer }) => answer.paymentRef)}::text[]) answer (id, at, again, reason, ref)
    where charge.id = answer.id`
  await countFailures(sql, failures)
}

interface Failure extends Settled<'declined'> {
  /** Of the subscription, by this payment. */
  readonly status: string
  /** The next try; undefined where there is none. */
  readonly again: number | undefined
}

/** What is owed after an end, but for fees, is not asked for any more, and needs no word. */
async function tellOfFailures(sql: Sql, failures: readonly Failure[]): Promise<void> {
  const owed = failures.filter(({ charge }) => !isOver(charge))
  const told = groupBy(
    owed,
    ({ charge }) => `${charge.subscriptionId} ${charge.purpose === 'upgrade'} ${isCollectible(charge)}`,
  )
  await insertPaymentMail(sql, [...told.values()].map(failedPaymentOf), isCollectibleCharge)
}

/** Whether its provider collects such an amount: of another it is asked in vain, or not at all, as the days of tries pass. */
export const isCollectible = (charge: ChargeRow): boolean =>
  isCollected(amountOf(charge), collectedBy[charge.provider])

/**
 * A term and a fee that are declined at once are one word; a change of plans has its own, as other things follow, and so has
 * what is to be paid otherwise.
 */
function failedPaymentOf(failures: readonly [Failure, ...Failure[]]): FailedPayment {
  const [first] = failures
  const amount = failures.reduce((sum, { charge }) => sum + amountOf(charge), 0n)
  const isTried = isCollectible(first.charge)
  const tries = failures.flatMap(({ again }) => (isTried ? (again ?? []) : []))
  const { attempt, at } = first.answer
  const effects = failures.map(effectOf)
  return {
    chargeId: first.charge.id,
    amount: textOfCents(amount),
    reason: first.answer.reason,
    at,
    againAt: tries.length === 0 ? null : Math.min(...tries),
    untilAt: isTried ? null : lastTry(attempt, at),
    effect: effects.includes('suspended') ? 'suspended' : effectOf(first),
  }
}

function effectOf({ charge: { subscriptionStatus, purpose }, status }: Failure): FailedPayment['effect'] {
  if (subscriptionStatus === 'pending') return 'nothingOpened'
  if (purpose === 'upgrade') return 'nothingChanged'
  if (subscriptionStatus === 'ended') return 'owed'
  return status === 'suspended' ? 'suspended' : 'suspends'
}

async function countFailures(sql: Sql, failures: readonly Failure[]): Promise<void> {
  if (failures.length === 0) return
  // Of one subscription a term and a fee may be declined at once: each counts, and the worst of it holds. What is made up
  // for, or told late, may have been declined before what is known: that stays the last.
  const worst = ['active', 'suspended', 'ended'] as const
  await sql.run`
    update subscription set billing_failures = billing_failures + answer.failures,
      billing_failure_reason = case when billing_failed_at > answer.at then billing_failure_reason else answer.reason end,
      billing_failed_at = greatest(billing_failed_at, answer.at),
      status = case when ended_at is not null or answer.status = 'active' then subscription.status
        else answer.status end,
      ended_at = case when answer.status = 'ended' then coalesce(ended_at, answer.at) else ended_at end,
      end_reason = case when answer.status = 'ended' then coalesce(end_reason, 'unpaid') else end_reason end
    from (
      select id, count(*)::int as failures, max(at) as at, (array_agg(reason order by at desc, place desc))[1] as reason,
        (${worst}::text[])[max(array_position(${worst}::text[], status))] as status
      from unnest(${failures.map(({ charge }) => charge.subscriptionId)}::bigint[],
        ${failures.map(({ answer }) => instant(answer.at))}::timestamptz[],
        ${failures.map(({ status }) => status)}::text[], ${failures.map(({ answer }) => answer.reason)}::text[])
        with ordinality said (id, at, status, reason, place)
      group by id
    ) answer
    where subscription.id = answer.id`
}
