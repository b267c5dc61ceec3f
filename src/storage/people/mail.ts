/**
 * Mail on its way. A message is written in the transaction of what it tells of, sent afterwards at least once,
 * and deleted when it was sent. Claims go by the database's clock, tries by the business clock.
 */
import type { ExternalReason } from '../../domain/positions/external-activity.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** What the words of each kind of message need. */
export interface MailFacts {
  readonly 'confirm-email': {
    readonly firstName: string
    readonly siteName: string
    /** What the link's token is made of. */
    readonly seed: string
  }
  readonly 'autosync-off': {
    readonly firstName: string
    readonly siteName: string
    readonly account: string
    readonly brokerName: string
    readonly reason: ExternalReason
  }
  readonly 'payment-failed': {
    readonly firstName: string
    readonly siteName: string
    /** The strategy or plan that it was for. */
    readonly offer: string
    /** In decimal text. */
    readonly amount: string
    readonly currency: string
    /** In the provider's words. */
    readonly reason: string
    readonly effect: FailedPayment['effect']
    /** Null where it is not tried again by itself. */
    readonly againAt: Instant | null
    /** Until when everything goes on with what no provider collects; null, or absent from before it was told, for others. */
    readonly untilAt?: Instant | null
  }
}

/** What a subscription was asked for and has not paid. */
export interface FailedPayment {
  readonly chargeId: number
  /** In decimal text: of several charges of the subscription together. */
  readonly amount: string
  readonly reason: string
  readonly at: Instant
  readonly againAt: Instant | null
  readonly untilAt: Instant | null
  /**
   * suspends: the subscription, if it goes on like this. suspended: it is, from now on. owed: it has ended, and a fee on
   * gains is left.
   */
  readonly effect: 'nothingOpened' | 'nothingChanged' | 'suspends' | 'suspended' | 'owed'
}

interface Mail<Kind extends keyof MailFacts> {
  readonly id: number
  readonly kind: Kind
  readonly address: string
  readonly facts: MailFacts[Kind]
  readonly createdAt: Instant
  readonly attempts: number
}

/** A message of any kind. */
export type MailRow = { [Kind in keyof MailFacts]: Mail<Kind> }[keyof MailFacts]

/** A message that goes out as soon as a worker finds it. */
export const insertMail = <Kind extends keyof MailFacts>(
  sql: Sql,
  mail: Pick<Mail<Kind>, 'kind' | 'address' | 'facts'>,
  now: number,
): Promise<number> =>
  sql.run`
    insert into mail (kind, address, facts, created_at, next_try_at)
    values (${mail.kind}, ${mail.address}, ${JSON.stringify(mail.facts)}::jsonb, ${instant(now)}::timestamptz,
      ${instant(now)}::timestamptz)`

/** Tells the holders of accounts that AutoSync was switched off there; the address of one who was removed may be another's. */
export const insertSyncMail = (
  sql: Sql,
  accountIds: readonly number[],
  reason: ExternalReason,
  now: number,
): Promise<number> =>
  sql.run`
    insert into mail (kind, address, facts, created_at, next_try_at)
    select 'autosync-off', p.email, jsonb_build_object('firstName', p.first_name, 'siteName', site.name,
      'account', a.account, 'brokerName', b.name, 'reason', ${reason}::text),
      ${instant(now)}::timestamptz, ${instant(now)}::timestamptz
    from account a join person p on p.id = a.person_id and p.is_alive join site on site.id = p.site_id
    join broker b on b.id = a.broker_id
    where a.id = any(${accountIds}::bigint[]) order by a.id`

/**
 * Tells people that payments of theirs have failed, before the failures are noted: who was told in this term, or since
 * the end, is told again only as it suspends the subscription, which stops what trades by it. Of what is owed after the end
 * only fees are told. That of a change of plans is another matter, and has no later try; and so is what no provider collects,
 * by `isCollectible`, a condition in SQL on a charge `c`.
 */
export async function insertPaymentMail(
  sql: Sql,
  failed: readonly FailedPayment[],
  isCollectible: Fragment,
): Promise<void> {
  if (failed.length === 0) return
  await sql.run`
    insert into mail (kind, address, facts, created_at, next_try_at)
    select 'payment-failed', p.email, jsonb_build_object('firstName', p.first_name, 'siteName', site.name,
      'offer', coalesce(plan.name, site_catalog.display_name, strategy.name), 'amount', failed.amount,
      'currency', c.currency, 'reason', failed.reason, 'effect', failed.effect, 'againAt', failed.again_at,
      'untilAt', failed.until_at),
      failed.at, failed.at
    from unnest(${failed.map(({ chargeId }) => chargeId)}::bigint[], ${failed.map(({ amount }) => amount)}::text[],
      ${failed.map(({ reason }) => reason)}::text[], ${failed.map(({ at }) => instant(at))}::timestamptz[],
      ${failed.map(({ againAt }) => againAt)}::bigint[], ${failed.map(({ untilAt }) => untilAt)}::bigint[],
      ${failed.map(({ effect }) => effect)}::text[])
      failed (charge_id, amount, reason, at, again_at, until_at, effect)
    join charge c on c.id = failed.charge_id join subscription s on s.id = c.subscription_id
    join person p on p.id = s.person_id and p.is_alive join site on site.id = p.site_id
    left join plan on plan.id = coalesce(c.plan_id, s.plan_id) left join strategy on strategy.id = s.strategy_id
    left join site_catalog on site_catalog.site_id = p.site_id and site_catalog.strategy_id = s.strategy_id
    where c.purpose = 'upgrade' or failed.effect = 'suspended' and s.status = 'active' or not exists (
      select from charge c where c.subscription_id = s.id
        and (c.purpose = 'performance' or c.purpose = 'term' and s.ended_at is null)
        and c.failed_at >= greatest(s.term_started_at, s.ended_at) and (${isCollectible}) = (failed.until_at is null))
    order by c.id`
}

/** Condition: a message is due at the business time `now`. */
export const isMailDue = (now: number): Fragment =>
  fragment`exists (select from mail where ${hasCome(fragment`next_try_at`, now)}
    and (claimed_until is null or claimed_until < clock_timestamp()))`

/** How long a message is claimed for; longer than a server may take to accept it, with ten answers of two minutes. */
export const mailClaimSeconds = 1_500

/** Claims the oldest due message. It is looked for once: as a list to be joined with, it could be once per row. */
export const claimMail = (sql: Sql, now: number): Promise<MailRow | undefined> =>
  sql.maybe<MailRow>`
    update mail set claimed_until = clock_timestamp() + ${mailClaimSeconds} * interval '1 second'
    where id = (
      select id from mail where ${hasCome(fragment`next_try_at`, now)}
        and (claimed_until is null or claimed_until < clock_timestamp())
      order by id limit 1 for update skip locked
    )
    returning id, kind, address, facts, created_at as "createdAt", attempts`

/** Forgets a message that was sent. */
export const deleteMail = (sql: Sql, id: number): Promise<number> =>
  sql.run`delete from mail where id = ${id}::bigint`

/** Puts a message back whose sending failed. */
export const postponeMail = (sql: Sql, id: number, nextTryAt: number): Promise<number> =>
  sql.run`
    update mail set attempts = attempts + 1, next_try_at = ${instant(nextTryAt)}::timestamptz, claimed_until = null
    where id = ${id}::bigint`

/** The earliest moment at which a message is tried again. */
export const nextMailAt = firstMoment`select min(next_try_at) from mail`
