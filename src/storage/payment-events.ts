/** What payment providers tell by themselves: taken in once each, in any order, and applied by a worker. */
import type { ProviderName } from './charges.ts'
import type { ChargeAnswer } from './settlement.ts'
import { type Fragment, fragment, type Sql, type Transaction } from './sql.ts'
import { instant } from './wire.ts'

export interface NewPaymentEvent {
  readonly provider: ProviderName
  /** The provider's name of the event; one that is known changes nothing. */
  readonly eventRef: string
  readonly kind: 'paid' | 'declined'
  readonly paymentRef: string
  readonly chargeId: number
  readonly attempt: number
  readonly reason: string | null
}

/** Takes an event in and wakes the workers; one about a charge that does not exist is left. */
export async function takePaymentEvent(sql: Sql, event: NewPaymentEvent, at: number): Promise<void> {
  await sql.run`
    with taken as (
      insert into payment_event (provider, event_ref, kind, payment_ref, charge_id, attempt, reason, occurred_at)
      select ${event.provider}, ${event.eventRef}, ${event.kind}, ${event.paymentRef}, charge.id,
        ${event.attempt}::int, ${event.reason}, ${instant(at)}::timestamptz
      from charge where charge.id = ${event.chargeId}::bigint and charge.provider = ${event.provider}
      on conflict (provider, event_ref) do nothing
      returning id
    )
    select pg_notify('work', '') from taken`
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
    where id in (select id from payment_event where applied_at is null order by id limit ${limit}::int
      for update skip locked)
    returning charge_id as "chargeId", attempt, kind, payment_ref as "paymentRef", reason, occurred_at as at`
  return rows.map(({ kind, reason, ...answer }) =>
    kind === 'paid'
      ? { outcome: 'paid', ...answer }
      : { outcome: 'declined', reason: reason ?? 'declined', ...answer },
  )
}
