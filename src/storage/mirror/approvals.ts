/**
 * Requests for a customer's approval as rows. At most one per account and strategy is open. Whoever writes one
 * has locked the strategy and the account.
 */
import type { ApprovalStatus } from '../../domain/people/approval.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { lapseOfSetup } from '../people/subscriptions.ts'
import type { SetupChoices } from './setups.ts'

/** What is asked for; `joinsPositions` is null where a setup is modified. */
export interface ApprovalChoices extends SetupChoices {
  readonly joinsPositions: boolean | null
  /** What the customer agreed to pay; written where the broker has the last word. */
  readonly agreedCosts?: string
}

export interface ApprovalRow {
  readonly id: string
  readonly accountId: number
  readonly strategyId: number
  readonly personId: number
  readonly siteId: number
  readonly parentSiteId: number | null
  readonly status: ApprovalStatus
  readonly choices: ApprovalChoices
  readonly createdAt: Instant
  readonly expiresAt: Instant
  readonly endedAt: Instant | null
  readonly failure: string | null
  readonly supersededBy: string | null
  /** As the site of the account's holder calls it. */
  readonly strategyName: string
  readonly account: string
  readonly accountKind: 0 | 1 | 2
  readonly accountCurrency: string
  readonly brokerId: number
  readonly brokerName: string
  readonly firstName: string
  readonly siteName: string
  /** What the strategy's owner takes of gains in the term that runs or would begin; none of paper or the owner's own. */
  readonly feePercent: number
  /** The same for later terms. */
  readonly laterFeePercent: number
  /** The broker enables accounts one by one, and has not enabled this one. */
  readonly awaitsBroker: boolean
  /** The account follows the strategy already. */
  readonly isFollowing: boolean
  /** Whether AutoSync of the account is on, which joins what the strategy holds. */
  readonly isSyncEnabled: boolean
  /** No subscription runs under which anything would be opened. */
  readonly hasLapsed: boolean
}

const columns: Fragment = fragment`
  r.id, r.account_id as "accountId", r.strategy_id as "strategyId", a.person_id as "personId",
  site.id as "siteId", site.parent_site_id as "parentSiteId", r.status, r.choices, r.created_at as "createdAt",
  r.expires_at as "expiresAt", r.ended_at as "endedAt", r.failure, r.superseded_by as "supersededBy",
  coalesce(site_catalog.display_name, strategy.name) as "strategyName", a.account, a.kind as "accountKind",
  a.currency as "accountCurrency",
  a.broker_id as "brokerId", b.name as "brokerName", p.first_name as "firstName", site.name as "siteName",
  case when a.kind = 0 and strategy.owner_person_id <> p.id then coalesce((
    select s.performance_fee_percent from subscription s where s.person_id = p.id and s.strategy_id = strategy.id
      and s.ended_at is null and s.kind <> 'simulated'), strategy.performance_fee_percent) else 0 end as "feePercent",
  case when a.kind = 0 and strategy.owner_person_id <> p.id then strategy.performance_fee_percent else 0 end
    as "laterFeePercent",
  b.needs_authorization and a.broker_authorization <> 'Authorized' as "awaitsBroker",
  exists (select from setup where setup.account_id = a.id and setup.strategy_id = strategy.id
    and setup.stopped_at is null) as "isFollowing", a.is_sync_enabled as "isSyncEnabled",
  (select ${lapseOfSetup} from (select r.strategy_id) t) as "hasLapsed"`

const tables: Fragment = fragment`
  approval_request r join account a on a.id = r.account_id join broker b on b.id = a.broker_id
  join person p on p.id = a.person_id join site on site.id = p.site_id
  join strategy on strategy.id = r.strategy_id
  left join site_catalog on site_catalog.site_id = site.id and site_catalog.strategy_id = strategy.id`

const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** A request by its id; what is no id names none. */
export const findApproval = async (sql: Sql, id: string): Promise<ApprovalRow | undefined> =>
  uuid.test(id)
    ? sql.maybe<ApprovalRow>`select ${columns} from ${tables} where r.id = ${id}::uuid`
    : undefined

/** Open requests that wait for a broker, the oldest first. */
export const listAwaitingBroker = (sql: Sql): Promise<ApprovalRow[]> =>
  sql.rows<ApprovalRow>`
    select ${columns} from ${tables} where r.status = 'PendingBroker' order by r.created_at, r.id`

/** Of a request that waits for its customer: too late for an answer. */
const isOver = (now: Instant): Fragment => hasCome(fragment`expires_at`, now)

/** The open request of an account and strategy. One whose time is over is not open, written down or not. */
export const findOpenApproval = async (
  sql: Sql,
  accountId: number,
  strategyId: number | bigint,
  now: Instant,
): Promise<string | undefined> =>
  (
    await sql.maybe<{ id: string }>`
      select id from approval_request
      where account_id = ${accountId}::bigint and strategy_id = ${strategyId}::bigint
        and (status in ('Processing', 'PendingBroker') or status = 'PendingCustomer' and not ${isOver(now)})`
  )?.id

export interface NewApproval {
  readonly id: string
  readonly accountId: number
  readonly strategyId: number | bigint
  readonly action: 'start' | 'stop'
  readonly status: 'PendingCustomer' | 'Completed'
  readonly choices: object
  readonly createdAt: Instant
  readonly expiresAt: Instant
}

/** Writes a request, in the place of the one that is open. */
export async function insertApproval(sql: Sql, request: NewApproval): Promise<void> {
  const { id, accountId, strategyId } = request
  const createdAt = instant(request.createdAt)
  // One that its customer has seen expired stays so: it is not for whoever comes first to say what became of it.
  await sql.run`
    update approval_request set status = 'Expired', ended_at = expires_at
    where account_id = ${accountId}::bigint and strategy_id = ${strategyId}::bigint
      and status = 'PendingCustomer' and ${isOver(request.createdAt)}`
  // The old request must have ended before the new one may be open; it can name it only when that is there.
  const old = await findOpenApproval(sql, accountId, strategyId, request.createdAt)
  await sql.run`
    insert into approval_request (id, account_id, strategy_id, action, status, choices, created_at, expires_at, ended_at)
    values (${id}::uuid, ${accountId}::bigint, ${strategyId}::bigint, ${request.action}, 'Completed',
      ${JSON.stringify(request.choices)}::jsonb, ${createdAt}::timestamptz,
      ${instant(request.expiresAt)}::timestamptz, ${createdAt}::timestamptz)`
  if (old !== undefined) {
    await sql.run`
      update approval_request set status = 'Superseded', superseded_by = ${id}::uuid,
        ended_at = ${createdAt}::timestamptz
      where id = ${old}::uuid`
    await endWaiting(sql, accountId, request.createdAt)
  }
  if (request.status === 'PendingCustomer')
    await sql.run`
      update approval_request set status = 'PendingCustomer', ended_at = null where id = ${id}::uuid`
}

/** Locks a request. */
export const lockApproval = (sql: Sql, id: string): Promise<number> =>
  sql.run`select from approval_request where id = ${id}::uuid for update`

/** Moves a request; `endedAt` is null while it stays open. */
export async function saveApproval(
  sql: Sql,
  id: string,
  change: { status: ApprovalStatus; endedAt: Instant | null; failure: string | null },
): Promise<void> {
  await sql.run`
    update approval_request set status = ${change.status}, ended_at = ${instant(change.endedAt)}::timestamptz,
      failure = ${change.failure}
    where id = ${id}::uuid`
}

/** Keeps with a request what its customer agreed to pay. */
export async function saveAgreedCosts(sql: Sql, id: string, costs: string): Promise<void> {
  await sql.run`
    update approval_request set choices = choices || jsonb_build_object('agreedCosts', ${costs}::text)
    where id = ${id}::uuid`
}

/** What the broker allows in an account. */
export async function saveBrokerAuthorization(
  sql: Sql,
  accountId: number,
  status: 'Pending' | 'Authorized',
  changedAt: Instant,
): Promise<void> {
  await sql.run`
    update account set broker_authorization = ${status}, settings_changed_at = ${instant(changedAt)}::timestamptz
    where id = ${accountId}::bigint`
}

/** An account of which the broker is asked nothing any more waits for nothing: it is as it was before the question. */
export async function endWaiting(sql: Sql, accountId: number, endedAt: Instant): Promise<void> {
  await sql.run`
    update account set broker_authorization = 'NotRequired', settings_changed_at = ${instant(endedAt)}::timestamptz
    where id = ${accountId}::bigint and broker_authorization = 'Pending' and not exists (
      select from approval_request r where r.account_id = account.id and r.status = 'PendingBroker')`
}

/** True when a customer's time is over. */
export const isApprovalExpiryDue = (now: Instant): Fragment => fragment`exists (
  select from approval_request where status = 'PendingCustomer' and ${isOver(now)})`

/** Ends requests that nobody answered in time; answers how many. */
export const expireApprovals = (sql: Sql, now: Instant, count: number): Promise<number> =>
  sql.run`
    update approval_request set status = 'Expired', ended_at = expires_at
    where id in (
      select id from approval_request
      where status = 'PendingCustomer' and ${isOver(now)}
      order by expires_at, id limit ${count}::int for update skip locked)`

/** When the next customer's time is over. */
export const findNextApprovalExpiry = firstMoment`
  select min(expires_at) from approval_request where status = 'PendingCustomer'`
