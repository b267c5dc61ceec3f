/**
 * Accounts held against what their brokers say: when each broker is asked, what is booked here, and what has been
 * seen to differ. A difference has to last; one that changes begins anew.
 */

import type { Decimal } from '../../domain/decimal.ts'
import { clientOrderIdPrefix } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment } from '../database/moments.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { netExecutions, sinceSplits } from '../market/units-since-splits.ts'

/** Brokers of the adapter with accounts, whose time has come; all of them where `isForced`. */
const dueBrokers = (adapter: string, now: Instant, isForced: boolean): Fragment => fragment`
  broker b left join reconciliation r on r.broker_id = b.id
  where b.adapter = ${adapter} and (${isForced}::boolean or coalesce(r.due_at <= ${instant(now)}::timestamptz, true))
    and exists (select from account a where a.broker_id = b.id)`

/** True while a broker is to be asked. */
export const isReconciliationDue = (adapter: string, now: Instant): Fragment =>
  fragment`exists (select from ${dueBrokers(adapter, now, false)})`

/** The brokers to ask now. */
export const listReconciledBrokers = (
  sql: Sql,
  adapter: string,
  now: Instant,
  isForced: boolean,
): Promise<number[]> => idsOf(sql.rows`select b.id from ${dueBrokers(adapter, now, isForced)} order by b.id`)

/** The broker is asked again at this time, whatever was planned before; `answeredAt`: it has answered just now. */
export async function scheduleReconciliation(
  sql: Sql,
  brokerId: number,
  at: Instant,
  answeredAt: Instant | null,
): Promise<void> {
  const answered = answeredAt === null ? null : instant(answeredAt)
  await sql.run`
    insert into reconciliation as r (broker_id, due_at, answered_at)
    values (${brokerId}::int, ${instant(at)}::timestamptz, ${answered}::timestamptz)
    on conflict (broker_id) do update
      set due_at = excluded.due_at, answered_at = coalesce(excluded.answered_at, r.answered_at)`
}

/** Brokers that have not said since `since` what the accounts hold that follow strategies there, and when they last did. */
export const listSilentBrokers = (
  sql: Sql,
  since: Instant,
): Promise<{ readonly name: string; readonly answeredAt: Instant | null }[]> =>
  sql.rows`
    select b.name, r.answered_at as "answeredAt" from broker b left join reconciliation r on r.broker_id = b.id
    where b.is_enabled and coalesce(r.answered_at, '-infinity') < ${instant(since)}::timestamptz and exists (
      select from account a join setup on setup.account_id = a.id
      where a.broker_id = b.id and setup.started_at < ${instant(since)}::timestamptz
        -- Of who has left nothing is waited for any more: whose key may be gone as well.
        and (setup.stopped_at is null or setup.closed_at is null and not setup.positions_left_open))
    order by b.id`

/** When a difference has lasted long enough to be believed; undefined when none is watched. */
export const findNextConfirmation = (patience: number) => firstMoment`
  select min(greatest(r.due_at, g.since + ${patience + 1} * interval '1 millisecond'))
  from (
    select account_id, since from order_gap where confirmed_at is null
    union all
    select account_id, since from position_gap where confirmed_at is null and difference <> 0
  ) g join account a on a.id = g.account_id join reconciliation r on r.broker_id = a.broker_id`

/** Accounts that follow, or followed, a strategy at the broker, by id after `after`. */
export const listReconciledAccounts = (
  sql: Sql,
  brokerId: number,
  after: number,
  limit: number,
): Promise<number[]> =>
  idsOf(sql.rows`
    select a.id from account a
    where a.broker_id = ${brokerId}::int and a.id > ${after}::bigint
      and exists (select from setup where setup.account_id = a.id)
    order by a.id limit ${limit}::int`)

/** How far reports have come: what is taken in later has a greater number. */
export const lastReport = async (sql: Sql): Promise<number> =>
  (await sql.one<{ id: number }>`select coalesce(max(id), 0) as id from broker_report`).id

/**
 * What the ledgers of accounts add up to, by symbol, those of owners included; flat symbols left out. An execution
 * under an id of ours that no order explains is nobody's: it is left out, and so found.
 */
export const sumBooked = (
  sql: Sql,
  accountIds: readonly number[],
  environment: string,
): Promise<{ accountId: number; symbol: string; quantity: string }[]> =>
  sql.rows`
    select booked.account_id as "accountId", i.symbol, sum(booked.quantity) as quantity from (
      select account_id, instrument_id, quantity from account_position
      where account_id = any(${accountIds}::bigint[]) and quantity <> 0
      union all
      select e.account_id, e.instrument_id,
        trunc(round(case e.side when '1' then -since.units else since.units end * e.quantity, 8))
      from execution e
      join broker_report r on r.broker_id = e.broker_id and r.account_id = e.account_id and r.report_key = e.exec_id
      ${sinceSplits(fragment`e.instrument_id`, fragment`e.executed_at`, fragment`true`)}
      where e.setup_id is null and e.account_id = any(${accountIds}::bigint[])
        and starts_with(upper(r.client_order_id), ${clientOrderIdPrefix(environment)}::text)
    ) booked join instrument i on i.id = booked.instrument_id
    group by booked.account_id, i.symbol having sum(booked.quantity) <> 0`

export interface ReconciledAccount {
  readonly id: number
  readonly isSyncEnabled: boolean
  readonly ignoresManualOrders: boolean
}

/**
 * Locks those of the accounts of which nothing was reported after `mark` and nothing waits to be applied. What came after
 * `mark` is asked for by itself, account by account the whole history of each would be read for it; and by both ends,
 * since of one alone the planner believes that it leaves a third of the table.
 */
export const lockQuietAccounts = (
  tx: Transaction,
  accountIds: readonly number[],
  mark: number,
): Promise<ReconciledAccount[]> =>
  tx.rows<ReconciledAccount>`
    with later as materialized (
      select distinct account_id from broker_report
      where id between ${mark + 1}::bigint and ${Number.MAX_SAFE_INTEGER}::bigint
    )
    select id, is_sync_enabled as "isSyncEnabled", ignore_manual_orders as "ignoresManualOrders" from account
    where id = any(${accountIds}::bigint[])
      and not exists (select from later where later.account_id = account.id)
      and not exists (select from broker_report r where r.applied_at is null and r.account_id = account.id)
    order by id for no key update skip locked`

/** A difference that was seen before. */
export interface OrderGapRow {
  readonly accountId: number
  readonly orderId: number
  readonly told: string
  readonly since: Instant
  readonly isConfirmed: boolean
}

export interface PositionGapRow {
  readonly accountId: number
  readonly symbol: string
  readonly difference: string
  readonly accepted: string
  readonly since: Instant
  readonly isConfirmed: boolean
}

/** An order that has ended, and what its broker counted of it by then. */
export interface EndedOrder {
  readonly accountId: number
  readonly orderId: number
  readonly cumQty: string
}

/**
 * Has the brokers asked for those of these orders of which they count something else than is booked: nothing else asks
 * for an order that has ended. How long a difference lasts is counted from the first answer, so nothing is noted of it.
 */
export async function watchEnds(tx: Transaction, ends: readonly EndedOrder[], now: Instant): Promise<void> {
  if (ends.length === 0) return
  await tx.run`
    insert into order_gap (account_id, order_id, told, since)
    select o.account_id, o.id, '', ${instant(now)}::timestamptz
    from unnest(${ends.map(({ accountId }) => accountId)}::bigint[], ${ends.map(({ orderId }) => orderId)}::bigint[],
      ${ends.map(({ cumQty }) => cumQty)}::numeric[]) t (account_id, id, cum_qty)
    join account_order o using (account_id, id)
    where o.attempts > 0 and o.status not in ${live} and t.cum_qty <> (
      select coalesce(sum(e.quantity), 0) from ${netExecutions} e where e.account_id = o.account_id and e.order_id = o.id)
    on conflict (account_id, order_id) do nothing`
}

/** Orders of the accounts whose count at the broker was another one. */
export const loadOrderGaps = (tx: Transaction, accountIds: readonly number[]): Promise<OrderGapRow[]> =>
  tx.rows<OrderGapRow>`
    select account_id as "accountId", order_id as "orderId", told, since, confirmed_at is not null as "isConfirmed"
    from order_gap where account_id = any(${accountIds}::bigint[])`

/** Positions of the accounts that the broker held otherwise. */
export const loadPositionGaps = (tx: Transaction, accountIds: readonly number[]): Promise<PositionGapRow[]> =>
  tx.rows<PositionGapRow>`
    select account_id as "accountId", symbol, difference, accepted, since, confirmed_at is not null as "isConfirmed"
    from position_gap where account_id = any(${accountIds}::bigint[])`

export type PositionGapChange = Omit<PositionGapRow, 'difference' | 'accepted'> & {
  readonly difference: Decimal
  readonly accepted: Decimal
}

/** Writes what differs in these accounts; what does not any more is forgotten. */
export async function saveOrderGaps(
  tx: Transaction,
  accountIds: readonly number[],
  gaps: readonly OrderGapRow[],
  now: Instant,
): Promise<void> {
  await tx.run`
    with gap as (
      select * from unnest(${gaps.map(({ accountId }) => accountId)}::bigint[],
        ${gaps.map(({ orderId }) => orderId)}::bigint[], ${gaps.map(({ told }) => told)}::text[],
        ${gaps.map(({ since }) => instant(since))}::timestamptz[],
        ${gaps.map(({ isConfirmed }) => isConfirmed)}::boolean[]) g (account_id, order_id, told, since, is_confirmed)
    ), gone as (
      delete from order_gap o where o.account_id = any(${accountIds}::bigint[])
        and (o.account_id, o.order_id) not in (select account_id, order_id from gap)
    )
    insert into order_gap (account_id, order_id, told, since, confirmed_at)
    select account_id, order_id, told, since, case when is_confirmed then ${instant(now)}::timestamptz end from gap
    on conflict (account_id, order_id) do update
      set told = excluded.told, since = excluded.since, confirmed_at = excluded.confirmed_at`
}

/** Writes what these accounts hold beyond the books; what is explained is forgotten. */
export async function savePositionGaps(
  tx: Transaction,
  accountIds: readonly number[],
  gaps: readonly PositionGapChange[],
  now: Instant,
): Promise<void> {
  await tx.run`
    with gap as (
      select * from unnest(${gaps.map(({ accountId }) => accountId)}::bigint[],
        ${gaps.map(({ symbol }) => symbol)}::text[], ${gaps.map(({ difference }) => difference)}::numeric[],
        ${gaps.map(({ accepted }) => accepted)}::numeric[],
        ${gaps.map(({ since }) => instant(since))}::timestamptz[],
        ${gaps.map(({ isConfirmed }) => isConfirmed)}::boolean[])
        g (account_id, symbol, difference, accepted, since, is_confirmed)
    ), gone as (
      delete from position_gap p where p.account_id = any(${accountIds}::bigint[])
        and (p.account_id, p.symbol) not in (select account_id, symbol from gap)
    )
    insert into position_gap (account_id, symbol, difference, accepted, since, confirmed_at)
    select account_id, symbol, difference, accepted, since, case when is_confirmed then ${instant(now)}::timestamptz end
    from gap
    on conflict (account_id, symbol) do update set difference = excluded.difference, accepted = excluded.accepted,
      since = excluded.since, confirmed_at = excluded.confirmed_at`
}
