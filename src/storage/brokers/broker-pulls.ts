/**
 * What an adapter that follows its accounts one by one has to know of them: whom to follow, how far their history
 * was read, and which of their orders are being replaced.
 */
import type { Instant } from '../../domain/time.ts'
import { fragment, idsOf, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { mayBeDone } from '../market/calendar-effects.ts'
import { toldOf } from '../market/units-since-splits.ts'
import { chainsOfNamed, type NamedOrder, ordersNamed } from './sent-orders.ts'

/** Accounts that follow, or followed, a strategy at an enabled broker of the adapter and have their credentials. */
export const listFollowedAccounts = (sql: Sql, adapter: string): Promise<number[]> =>
  idsOf(sql.rows`
    select a.id from account a join broker b on b.id = a.broker_id
    where b.adapter = ${adapter} and b.is_enabled and a.broker_user_id is not null
      and exists (select from account_credential c where c.account_id = a.id)
      and exists (select from setup where setup.account_id = a.id)
    order by a.id`)

/** How far each account's history was read; what lies before its first setup is not ours to book. */
export const loadPulls = (
  sql: Sql,
  accountIds: readonly number[],
): Promise<{ accountId: number; startedAt: Instant; pulledUntil: Instant | null }[]> =>
  sql.rows`
    select s.account_id as "accountId", min(s.started_at) as "startedAt", max(p.pulled_until) as "pulledUntil"
    from setup s left join broker_pull p on p.account_id = s.account_id
    where s.account_id = any(${accountIds}::bigint[]) group by s.account_id`

/** Notes how far an account's history was read; never back. */
export async function savePull(sql: Sql, accountId: number, until: Instant): Promise<void> {
  await sql.run`
    insert into broker_pull (account_id, pulled_until)
    values (${accountId}::bigint, ${instant(until)}::timestamptz)
    on conflict (account_id) do update
      set pulled_until = greatest(broker_pull.pulled_until, excluded.pulled_until)`
}

/** Whether the order has a replacement that was sent and not refused. */
export const hasReplacement = async (sql: Sql, order: NamedOrder): Promise<boolean> =>
  (
    await sql.one<{ found: boolean }>`
      select exists (
        select from ${ordersNamed([order])} join account_order n
          on n.account_id = o.account_id and n.replaces_order_id = o.id
        where n.attempts > 0 and n.status not in ('4', '8')) as found`
  ).found

/** An order of a chain, with what it is known to have executed. */
export interface ExecutedOrder extends NamedOrder {
  readonly isLast: boolean
  readonly executed: string
  /** Over a split that is booked or about to be: the same in the units of now; otherwise null. */
  readonly restated: string | null
}

/** An order and those that it has replaced in turn, as far as the broker counts them into its quantity. */
export const listReplaced = async (sql: Sql, order: NamedOrder, now: Instant): Promise<ExecutedOrder[]> =>
  sql.rows<ExecutedOrder>`
    with recursive named as (
      select k.place, o.account_id, o.id from ${ordersNamed([order])}
    ), ${chainsOfNamed}
    select ${order.environment} as environment, o.account_id as "accountId", o.setup_id as "setupId", o.source,
      o.source_id as "sourceId", o.revision, chain.depth = 0 as "isLast", told.executed,
      case when exists (
        select from corporate_action a where a.kind = 'split' and a.instrument_id = o.instrument_id
          and a.takes_effect_at > o.posted_at and ${mayBeDone(now)}
      ) then round(told.restated, 8) end as restated
    from chain join account_order o on o.account_id = chain.account_id and o.id = chain.id
    join instrument i on i.id = o.instrument_id
    ${toldOf(fragment`true`)}
    where chain.depth = 0 or o.attempts > 0`
