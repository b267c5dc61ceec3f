/** Copies that their signal left behind: what is decided from when their grace is over. */
import type { SecurityType } from '../../domain/codes.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { type Among, isAmong } from '../work/among.ts'
import { type CopyRow, copyColumns, type OrderKey, theseOrders } from './account-orders.ts'
import type { SetupColumns } from './sync-facts.ts'

/** True when the grace of a copy is over. */
export const isChaseDue = (now: Instant): Fragment =>
  fragment`exists (select from account_order where ${hasCome(fragment`chase_at`, now)})`

const isDue = (now: Instant, accounts: Among): Fragment =>
  fragment`${hasCome(fragment`o.chase_at`, now)} and ${isAmong(fragment`o.account_id`, accounts)}`

/** Accounts in which the grace of a copy is over. */
export const listChasedAccounts = (sql: Sql, now: Instant, among: Among, limit: number): Promise<number[]> =>
  idsOf(sql.rows`
    select distinct o.account_id as id from account_order o where ${isDue(now, among)}
    order by id limit ${limit}::int`)

/** When the next grace is over. */
export const findNextChase = firstMoment`select min(chase_at) from account_order where chase_at is not null`

/** A copy with what it is to be brought to. */
export interface ChaseRow extends CopyRow {
  readonly securityType: SecurityType
  readonly strategyPosition: string
  readonly position: string
  /** The owner, the follower, or a circumstance forbids to go after the price. */
  readonly isLeft: boolean
  readonly scalingPercentage: number
  readonly setup: SetupColumns
  /** Another order is to take its place: what becomes of the copy is decided there. */
  readonly isReplaced: boolean
  /** The highest revision that this copy has had. */
  readonly lastRevision: number
}

/**
 * Locks due copies and everything they are decided from: first their strategies (those that others hold are
 * passed over), then the orders. Read once they are locked: who waits for an order that is being booked would see its
 * executions and not yet what is held by them.
 */
export async function lockDueChases(
  tx: Transaction,
  now: Instant,
  accounts: Among,
  limit: number,
): Promise<ChaseRow[]> {
  const strategies = await tx.rows<{ id: number }>`
    select id from strategy where id in (
      select o.strategy_id from account_order o where ${isDue(now, accounts)}
      order by o.chase_at limit ${limit}::int)
    order by id for no key update skip locked`
  if (strategies.length === 0) return []
  const keys = await tx.rows<OrderKey>`
    select o.account_id as "accountId", o.id from account_order o
    where ${isDue(now, accounts)} and o.source = 'S'
      and o.strategy_id = any(${strategies.map(({ id }) => id)}::bigint[])
    order by o.account_id, o.id limit ${limit}::int for update`
  if (keys.length === 0) return []
  // Few joins: planning grows with their number faster than anything else here.
  return tx.rows<ChaseRow>`
    select ${copyColumns}, i.security_type as "securityType",
      coalesce((select quantity from position where strategy_id = o.strategy_id and instrument_id = i.id), 0)
        as "strategyPosition",
      coalesce((select quantity from account_position where setup_id = t.id and instrument_id = i.id), 0) as position,
      s.do_not_sync_to_open or not t.chase_filled or t.stopped_at is not null or a.is_autotrade_disabled
        or (select not is_enabled from broker where id = o.broker_id) or exists (
          select from setup_exclusion x where x.setup_id = t.id and x.instrument_id = i.id
            and x.ended_at is null) as "isLeft",
      t.scaling_percentage as "scalingPercentage", to_jsonb(t) as setup,
      exists (select from account_order n where n.account_id = o.account_id and n.replaces_order_id = o.id
        and n.status in ${live}) as "isReplaced",
      (select max(n.revision) from account_order n
        where n.source_id = o.source_id and n.setup_id = o.setup_id and n.source = 'S') as "lastRevision"
    from account_order o
    join signal s on s.id = o.source_id
    join instrument i on i.id = o.instrument_id
    join setup t on t.id = o.setup_id
    join account a on a.id = o.account_id
    where ${theseOrders(keys)}
    order by o.account_id, o.id`
}

/** The copies go on as they are. */
export const settleChases = (tx: Transaction, keys: readonly OrderKey[]): Promise<number> =>
  tx.run`update account_order o set chase_at = null where ${theseOrders(keys)}`
