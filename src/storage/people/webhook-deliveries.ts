/**
 * What sites are told, from the end of a request to the receiver's word. A delivery keeps its id and bytes on every
 * try. Claims go by the database's clock, tries by the business clock.
 */
import type { ApprovalStatus } from '../../domain/people/approval.ts'
import { dayLength, type Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { disableWebhook, operatorsReason } from './webhooks.ts'

/** Condition: a request has ended and nobody has been told. */
export const isAnnouncementDue = (): Fragment =>
  fragment`exists (select from approval_request where ended_at is not null and announced_at is null)`

export interface EndedApproval {
  readonly id: string
  readonly status: ApprovalStatus
  readonly personId: number
  readonly siteId: number
  readonly strategyId: number
  readonly endedAt: Instant
}

/** Takes requests that have ended and of which nobody has been told, the oldest first. */
export const takeEndedApprovals = (tx: Transaction, now: Instant, count: number): Promise<EndedApproval[]> =>
  tx.rows<EndedApproval>`
    update approval_request r set announced_at = ${instant(now)}::timestamptz
    from account a join person p on p.id = a.person_id
    where a.id = r.account_id and r.id = any(array(
      select id from approval_request where ended_at is not null and announced_at is null
      order by ended_at limit ${count}::int for update skip locked))
    returning r.id, r.status, a.person_id as "personId", p.site_id as "siteId", r.strategy_id as "strategyId",
      r.ended_at as "endedAt"`

export interface Announcement {
  readonly requestId: string
  readonly siteId: number
  readonly eventType: string
  readonly body: string
}

/**
 * Writes a delivery for every endpoint of the sites that wants the event; one that is disabled gets it later. Whoever
 * disables or enables one waits, lest the deliveries that are written meanwhile go on as it was before.
 */
export const insertDeliveries = (
  tx: Transaction,
  announcements: readonly Announcement[],
  now: Instant,
): Promise<number> => {
  const column = (name: keyof Announcement) => announcements.map((one) => one[name])
  return tx.run`
    insert into webhook_delivery (endpoint_id, approval_request_id, event_type, body, created_at, next_try_at)
    select e.id, a.request_id, a.event_type, a.body, ${instant(now)}::timestamptz,
      case when e.disabled_at is null then ${instant(now)}::timestamptz end
    from unnest(${column('requestId')}::uuid[], ${column('siteId')}::bigint[], ${column('eventType')}::text[],
        ${column('body')}::text[]) a (request_id, site_id, event_type, body)
      join webhook_endpoint e on e.site_id = a.site_id and a.event_type = any(e.event_types)
    for share of e
    on conflict do nothing`
}

/** Of an endpoint `e`: nothing is to be sent while it rests. */
const isAwake = (now: Instant): Fragment =>
  fragment`(e.rests_until is null or e.rests_until <= ${instant(now)}::timestamptz)`

/** Of a delivery `d`: it is to be sent at the business time `now`, and nobody is at it. */
const isWaiting = (now: Instant): Fragment =>
  fragment`${hasCome(fragment`d.next_try_at`, now)} and (d.claimed_until is null or d.claimed_until < clock_timestamp())`

/**
 * Condition: something is to be sent at the business time `now`. Asked endpoint by endpoint: what waits for one that rests
 * may be much, and is not read through for the others.
 */
export const isDeliveryDue = (now: Instant): Fragment => fragment`exists (
  select from webhook_endpoint e cross join lateral (
    select from webhook_delivery d where d.endpoint_id = e.id and ${isWaiting(now)} order by d.next_try_at limit 1) due
  where ${isAwake(now)})`

/** When the next try is due. */
export const findNextDelivery = firstMoment`
  select min(greatest(next.at, e.rests_until))
  from webhook_endpoint e cross join lateral (
    select d.next_try_at as at from webhook_delivery d where d.endpoint_id = e.id and d.next_try_at is not null
    order by d.next_try_at limit 1) next`

export interface ClaimedDelivery {
  readonly id: string
  readonly endpointId: number
  readonly url: string
  readonly body: string
  /** Tries before this one. */
  readonly attempts: number
  /** Tries of the endpoint that failed one after the other. */
  readonly failures: number
  /** The endpoint has taken something since this was written. */
  readonly hasTakenSince: boolean
}

/** How long a delivery is claimed for; longer than a receiver may take. */
export const webhookClaimSeconds = 30

/** Claims what is due, at most so many of one endpoint at once, so that none holds up others. */
export const claimDeliveries = (
  sql: Sql,
  now: Instant,
  { count, perEndpoint }: { count: number; perEndpoint: number },
): Promise<ClaimedDelivery[]> =>
  sql.rows<ClaimedDelivery>`
    with endpoint as (
      select e.id from webhook_endpoint e cross join lateral (
        select from webhook_delivery d where d.endpoint_id = e.id and ${hasCome(fragment`d.next_try_at`, now)}
        order by d.next_try_at limit 1) due
      where ${isAwake(now)} order by e.id for update of e skip locked
    ), due as (
      select d.id from endpoint cross join lateral (
        select d.id, d.next_try_at from webhook_delivery d where d.endpoint_id = endpoint.id and ${isWaiting(now)}
        order by d.next_try_at, d.id
        limit greatest(0, ${perEndpoint}::int - (
          select count(*) from webhook_delivery busy where busy.endpoint_id = endpoint.id
            and busy.claimed_until is not null and busy.claimed_until >= clock_timestamp()))
      ) d order by d.next_try_at, d.id limit ${count}::int
    )
    update webhook_delivery d set claimed_until = clock_timestamp() + ${webhookClaimSeconds} * interval '1 second'
    from webhook_endpoint e
    where d.id in (select id from due) and e.id = d.endpoint_id
      and (d.claimed_until is null or d.claimed_until < clock_timestamp())
    returning d.id, e.id as "endpointId", e.url, d.body, d.attempts, e.failures,
      coalesce(e.delivered_at >= d.created_at, false) as "hasTakenSince"`

export interface WebhookTry {
  readonly attemptedAt: Instant
  readonly signature: string
  readonly status: number | undefined
  readonly failure: string | undefined
}

/** Writes down a try, whatever became of it. */
export async function insertAttempt(tx: Transaction, deliveryId: string, tried: WebhookTry): Promise<void> {
  await tx.run`
    insert into webhook_attempt (delivery_id, attempted_at, signature, status, failure)
    values (${deliveryId}::uuid, ${instant(tried.attemptedAt)}::timestamptz, ${tried.signature},
      ${tried.status ?? null}::int, ${tried.failure ?? null}::text)`
}

/** Notes that a delivery was taken. */
export async function saveDelivered(tx: Transaction, row: ClaimedDelivery, now: Instant): Promise<void> {
  await tx.run`
    update webhook_delivery set attempts = ${row.attempts + 1}, next_try_at = null, claimed_until = null,
      delivered_at = ${instant(now)}::timestamptz
    where id = ${row.id}::uuid`
  await tx.run`
    update webhook_endpoint set failures = 0, rests_until = null, delivered_at = ${instant(now)}::timestamptz
    where id = ${row.endpointId}::bigint`
}

export interface FailedTry {
  /** Null: this was the last one. */
  readonly nextTryAt: Instant | null
  readonly disables: string | null
  readonly restsUntil: Instant | null
}

/** Puts a delivery back whose try failed. What somebody else has settled meanwhile stays settled. */
export async function saveFailed(
  tx: Transaction,
  row: ClaimedDelivery,
  { nextTryAt, disables, restsUntil }: FailedTry,
  now: Instant,
): Promise<void> {
  const isOurs = await tx.run`
    update webhook_delivery set attempts = ${row.attempts + 1}, claimed_until = null,
      next_try_at = case when next_try_at is null then null else ${instant(nextTryAt)}::timestamptz end
    where id = ${row.id}::uuid and attempts = ${row.attempts} and delivered_at is null`
  if (isOurs === 0) return
  await tx.run`
    update webhook_endpoint set failures = failures + 1, rests_until = ${instant(restsUntil)}::timestamptz
    where id = ${row.endpointId}::bigint`
  if (disables !== null) await disableWebhook(tx, row.endpointId, disables, now)
}

export interface DeliveryRow {
  readonly id: string
  readonly endpointId: number
  readonly eventType: string
  readonly requestId: string
  readonly attempts: number
  readonly nextTryAt: Instant | null
  readonly deliveredAt: Instant | null
}

/** What an endpoint was told or is to be told, the newest first, at most a hundred. */
export const listDeliveries = (sql: Sql, endpointId: number): Promise<DeliveryRow[]> =>
  sql.rows<DeliveryRow>`
    select id, endpoint_id as "endpointId", event_type as "eventType", approval_request_id as "requestId", attempts,
      next_try_at as "nextTryAt", delivered_at as "deliveredAt"
    from webhook_delivery where endpoint_id = ${endpointId}::bigint order by created_at desc, id limit 100`

/**
 * Sends a delivery again from the first try on; false when there is none, or its endpoint is disabled. Whoever disables
 * that meanwhile waits or is waited for.
 */
export const resendDelivery = async (sql: Sql, id: string, now: Instant): Promise<boolean> =>
  (await sql.run`
    with enabled as materialized (
      select id from webhook_endpoint where disabled_at is null
        and id = (select endpoint_id from webhook_delivery where id::text = ${id}) for share
    )
    update webhook_delivery d set attempts = 0, delivered_at = null, next_try_at = ${instant(now)}::timestamptz
    from enabled where d.id::text = ${id} and enabled.id = d.endpoint_id`) > 0

export interface AttemptRow {
  readonly id: string
  readonly siteId: number
  readonly url: string
  readonly body: string
  readonly attemptedAt: Instant
  readonly signature: string
  readonly status: number | null
  readonly failure: string | null
}

/** Every try so far, in order. */
export const listAttempts = (sql: Sql): Promise<AttemptRow[]> =>
  sql.rows<AttemptRow>`
    select d.id, e.site_id as "siteId", e.url, d.body, t.attempted_at as "attemptedAt", t.signature, t.status, t.failure
    from webhook_attempt t join webhook_delivery d on d.id = t.delivery_id
      join webhook_endpoint e on e.id = d.endpoint_id
    order by t.id`

/** How long a delivery is kept that was taken, or was given up at an endpoint that the operator does not want. */
export const deliveryKeptMs = 30 * dayLength

/** Who does not take what it is told gets it once it is enabled again; where the operator ended it, not what is old. */
const oldDeliveries = (now: Instant): Fragment => {
  const until = now - deliveryKeptMs
  return fragment`(
    select id from webhook_delivery where ${hasCome(fragment`delivered_at`, until)}
    union all
    select d.id from webhook_endpoint e join webhook_delivery d on d.endpoint_id = e.id
    where e.disabled_reason = ${operatorsReason} and d.delivered_at is null and d.next_try_at is null
      and ${hasCome(fragment`d.created_at`, until)}
      and (d.claimed_until is null or d.claimed_until < clock_timestamp())) old`
}

/** True while there are deliveries to forget at `now`; a condition for a larger statement. */
export const areDeliveriesOld = (now: Instant): Fragment =>
  fragment`exists (select from ${oldDeliveries(now)})`

/** Forgets at most so many of them, with their tries. One that is being sent again stays. */
export const sweepDeliveries = (tx: Transaction, now: Instant, count: number): Promise<number> =>
  tx.run`
    with swept as materialized (
      select d.id from webhook_delivery d
      where d.id = any(array(select id from ${oldDeliveries(now)} limit ${count}::int)) and d.next_try_at is null
      for update skip locked
    ), tries as (
      delete from webhook_attempt where delivery_id = any(array(select id from swept))
    )
    delete from webhook_delivery where id = any(array(select id from swept))`
