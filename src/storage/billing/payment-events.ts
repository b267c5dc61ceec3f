/** What payment providers tell by themselves: taken in once each, in any order, and applied by a worker. */

import { type GivenBack, surplusOf, surplusReturned } from '../../domain/billing/ledger.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { insertIncidents } from '../work/incidents.ts'
import type { ProviderName } from './charges.ts'
import { book, findSurplus } from './ledger.ts'
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
 * or that was taken for another charge, pays nothing: the operator is told. The former is booked apart.
 */
export async function takePaymentEvent(tx: Transaction, event: NewPaymentEvent, at: number): Promise<void> {
  const { provider, paymentRef, kind, amount, currency } = event
  const named = await tx.maybe<{ chargeId: number; isOfAnother: boolean; isAsked: boolean }>`
    select charge.id as "chargeId", charge.amount = ${amount}::bigint and charge.currency = ${currency} as "isAsked",
      exists (select from charge other where other.provider = charge.provider
        and other.payment_ref = ${paymentRef} and other.id <> charge.id) as "isOfAnother"
    from charge where ${isNamed(event)} and charge.provider = ${provider}`
  if (!named) return
  const { chargeId, isAsked, isOfAnother } = named
  if (kind === 'declined' || (isAsked && !isOfAnother)) return takeIn(tx, event, at)
  const key = `paidOtherwise ${provider} ${paymentRef}`
  const detail = { chargeId, paymentRef, amount, currency }
  await insertIncidents(tx, [{ key, kind: 'paidOtherwise', detail, occurredAt: at }])
  if (isOfAnother || amount === 0) return
  await book(tx, [{ chargeId, currency, at, paymentRef, ...surplusOf(provider, BigInt(amount)) }])
}

async function takeIn(tx: Transaction, event: NewPaymentEvent, at: number): Promise<void> {
  await tx.run`
    with taken as (
      insert into payment_event (provider, event_ref, kind, payment_ref, charge_id, attempt, reason, occurred_at)
      values (${event.provider}, ${event.eventRef}, ${event.kind}, ${event.paymentRef}, ${event.chargeId}::bigint,
        ${event.attempt}::int, ${event.reason}, ${instant(at)}::timestamptz)
      on conflict (provider, event_ref) do nothing
      returning id
    )
    select pg_notify('work', '') from taken`
}

/** The charge that a payment came for, locked: the one that it pays, or the one that it came beside. */
const lockPaid = (tx: Transaction, { provider, paymentRef, payer }: PaymentAfterwards) =>
  tx.maybe<{ id: number; amount: number; currency: string; paymentRef: string | null }>`
    select id, amount::float8 as amount, currency, payment_ref as "paymentRef" from charge where id = coalesce(
      (select id from charge where provider = ${provider} and payment_ref = ${paymentRef}),
      (select charge_id from ledger_transfer where payment_ref = ${paymentRef} and reason = 'surplus' limit 1),
      (select id from charge where provider = ${provider} and ${isNamed(payer)})) for update`

const givenBack: Readonly<Partial<Record<PaymentAfterwards['kind'], GivenBack['kind']>>> = {
  paymentRefunded: 'refund',
  disputeLost: 'dispute',
}

/**
 * Tells the operator, once, what became of a payment of ours. The books go on showing one that pays something as paid; what
 * came beside it is booked as given back.
 */
export async function notePaymentAfterwards(
  tx: Transaction,
  event: PaymentAfterwards,
  at: number,
): Promise<void> {
  const charge = await lockPaid(tx, event)
  if (!charge) return
  const { provider, paymentRef, kind, eventRef, amount } = event
  const { id: chargeId } = charge
  const surplus = await findSurplus(tx, chargeId, paymentRef)
  const isSurplus = surplus !== undefined || (charge.paymentRef ?? paymentRef) !== paymentRef
  const { currency } = surplus ?? charge
  // Of a payment that nobody has told of yet this is not known.
  const paid = surplus ? Number(surplus.amount) : isSurplus ? null : charge.amount
  const detail = { chargeId, paymentRef, amount, paid, currency, isSurplus }
  await insertIncidents(tx, [{ key: `${kind} ${provider} ${eventRef}`, kind, detail, occurredAt: at }])
  const how = givenBack[kind]
  const returned = surplus && how && surplusReturned(provider, surplus, { kind: how, amount: BigInt(amount) })
  if (returned) await book(tx, [{ chargeId, currency, at, paymentRef, eventRef, ...returned }])
}

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
