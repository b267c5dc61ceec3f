/** What payment providers tell by themselves: taken in once each, in any order, and applied by a worker. */

import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { ProviderName } from './charges.ts'
import type { ChargeAnswer } from './settlement.ts'

export interface NewPaymentEvent {
  readonly provider: ProviderName
  /** The provider's name of the event; one that is known changes nothing. */
  readonly eventRef: string
  readonly kind: 'paid' | 'declined'
  /** In minor units, with its currency. */
  readonly amount: number
  readonly currency: string
  readonly paymentRef: string
  readonly chargeId: number
  readonly attempt: number
  /** Of the charge: it tells this platform's from one of the same number elsewhere. Null where it was not said. */
  readonly periodStartedAt: number | null
  readonly reason: string | null
}

/** A condition in SQL: the charge is the one that somebody has named. */
const isNamed = (named: Pick<NewPaymentEvent, 'chargeId' | 'periodStartedAt'> | null): Fragment => fragment`
  charge.id = ${named?.chargeId ?? null}::bigint and charge.period_started_at
    = coalesce(${instant(named?.periodStartedAt ?? null)}::timestamptz, charge.period_started_at)`

/** That a payment was given back, or its payer wants it back, and gets it or not. */
export interface PaymentAfterwards {
  readonly provider: ProviderName
  readonly eventRef: string
  readonly kind: 'paymentRefunded' | 'paymentDisputed' | 'disputeWon' | 'disputeLost'
  readonly paymentRef: string
  /** In minor units: of several refunds all together. */
  readonly amount: number
  /** What was paid, where the provider says so: it may tell of this before it tells that it was. */
  readonly payer: Pick<NewPaymentEvent, 'chargeId' | 'periodStartedAt'> | null
}

/**
 * Takes an event in and wakes the workers; one about a charge that does not exist is left. A payment of another amount,
 * or that was taken for another charge, pays nothing: the operator is told.
 */
export async function takePaymentEvent(sql: Sql, event: NewPaymentEvent, at: number): Promise<void> {
  const { provider, eventRef, paymentRef, kind } = event
  await sql.run`
    with named as (
      select charge.id, ${kind} = 'declined' or (charge.amount = ${event.amount}::bigint
        and charge.currency = ${event.currency} and not exists (
          select from charge other where other.provider = charge.provider and other.payment_ref = ${paymentRef}
            and other.id <> charge.id)) as fits
      from charge where ${isNamed(event)} and charge.provider = ${provider}
    ), taken as (
      insert into payment_event (provider, event_ref, kind, payment_ref, charge_id, attempt, reason, occurred_at)
      select ${provider}, ${eventRef}, ${kind}, ${paymentRef}, named.id, ${event.attempt}::int, ${event.reason},
        ${instant(at)}::timestamptz
      from named where fits
      on conflict (provider, event_ref) do nothing
      returning id
    ), told as (
      insert into incident (incident_key, kind, detail, occurred_at)
      select ${`paidOtherwise ${provider} ${paymentRef}`}, 'paidOtherwise', jsonb_build_object('chargeId', named.id,
        'paymentRef', ${paymentRef}::text, 'amount', ${event.amount}::bigint, 'currency', ${event.currency}::text),
        ${instant(at)}::timestamptz
      from named where not fits
      on conflict (incident_key) do nothing
    )
    select pg_notify('work', '') from taken`
}

/** Tells the operator, once, what became of a payment of ours; the books go on showing it as paid. */
export const notePaymentAfterwards = (sql: Sql, event: PaymentAfterwards, at: number): Promise<number> =>
  sql.run`
    insert into incident (incident_key, kind, detail, occurred_at)
    select ${`${event.kind} ${event.provider} ${event.eventRef}`}, ${event.kind}, jsonb_build_object('chargeId',
      charge.id, 'paymentRef', ${event.paymentRef}::text, 'amount', ${event.amount}::bigint), ${instant(at)}::timestamptz
    from charge where charge.provider = ${event.provider} and (charge.payment_ref = ${event.paymentRef}
      or charge.payment_ref is null and ${isNamed(event.payer)})
    on conflict (incident_key) do nothing`

/** A condition in SQL: an event waits. */
export const areEventsWaiting: Fragment = fragment`exists (select from payment_event where applied_at is null)`

/** Takes waiting events out of the queue, the oldest first, as answers to their charges. */
export async function takeWaitingEvents(
  tx: Transaction,
  now: number,
  limit: number,
): Promise<ChargeAnswer[]> {
  const rows = await tx.rows<{
    chargeId: number
    attempt: number
    kind: 'paid' | 'declined'
    paymentRef: string
    reason: string | null
    at: number
  }>`
    update payment_event set applied_at = ${instant(now)}::timestamptz
    where id = any(array(select id from payment_event where applied_at is null order by id limit ${limit}::int
      for update skip locked))
    returning charge_id as "chargeId", attempt, kind, payment_ref as "paymentRef", reason, occurred_at as at`
  return rows.map(({ kind, reason, ...answer }) =>
    kind === 'paid'
      ? { outcome: 'paid', ...answer }
      : { outcome: 'declined', reason: reason ?? 'declined', ...answer },
  )
}
