/**
 * A paper account begins anew: flat, and with the cash it started with. Nothing that happened is deleted. What is
 * held is closed by executions that move no cash, on the platform's side and in the paper broker's book alike,
 * and an entry for each setup takes back what it earned and says when. The caller has locked the account.
 *
 * What is on its way is dropped at the paper broker, which is where it can still happen: what works there ends with the
 * reset, what it has filled and nobody has booked is canceled, and what has yet to arrive is canceled there beforehand,
 * so that all of it comes to nothing.
 */
import { clientOrderId, type OrderSource } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { cancelOrders } from '../mirror/account-orders.ts'
import { touchAccounts } from '../work/record-changes.ts'
import { endPaperOrders, toldCanceled } from './paper.ts'
import { bustPaperExecution } from './paper-reports.ts'

/** Resets an account that no money is in; `environment` is the code in this platform's client order ids. */
export async function resetPaperAccount(
  sql: Sql,
  accountId: number,
  { at, environment }: { readonly at: Instant; readonly environment: string },
): Promise<void> {
  const ofAccount = fragment`o.account_id = ${accountId}::bigint`
  await cancelOrders(sql, ofAccount, { at, info: 'paper account reset' })
  // Before what works is ended: one that arrives at this moment is waited for, and ended with the others.
  await cancelUnarrived(sql, accountId, environment, at)
  await endPaperOrders(sql, '4', ofAccount, fragment`${instant(at)}::timestamptz`)
  await cancelUnbooked(sql, accountId, at)
  await closeAtCost(sql, accountId, at)
  await sql.run`
    with entry as (
      insert into account_entry (account_id, setup_id, kind, cash_change, booked_at)
      select ${accountId}::bigint, setup_id, 'reset', -sum(cash_change), ${instant(at)}::timestamptz
      from (
        select setup_id, cash_change from execution where account_id = ${accountId}::bigint
        union all
        select setup_id, cash_change from account_adjustment where account_id = ${accountId}::bigint
        union all
        select setup_id, cash_change from account_entry where account_id = ${accountId}::bigint
      ) booked
      group by setup_id
      having sum(cash_change) <> 0 or setup_id in (
        select id from setup where account_id = ${accountId}::bigint and stopped_at is null)
    )
    update account set cash = starting_cash where id = ${accountId}::bigint`
  await sql.run`
    update setup set started_equity = account.starting_cash from account
    where account.id = setup.account_id and account.id = ${accountId}::bigint and setup.stopped_at is null`
  await touchAccounts(sql, [{ id: accountId, at }])
}

/**
 * Cancels what a sender has claimed and the broker does not have yet: a market order would be filled before the cancel
 * comes that is to follow it. The book has each as canceled, so one that arrives finds itself known. Not a replacement
 * of what works there: that ends, and then there is nothing to replace.
 */
async function cancelUnarrived(sql: Sql, accountId: number, environment: string, at: Instant): Promise<void> {
  const sent = await sql.rows<{
    id: number
    setupId: number
    source: OrderSource
    sourceId: number
    revision: number
  }>`
    select o.id, o.setup_id as "setupId", o.source, o.source_id as "sourceId", o.revision from account_order o
    left join account_order x on x.account_id = o.account_id and x.id = o.replaces_order_id
    where o.account_id = ${accountId}::bigint and o.status = '6' and o.attempts > 0
      and x.status is distinct from '6'
    order by o.id`
  const names = sent.map((order) => clientOrderId({ environment, ...order }))
  await sql.run`
    with known as (
      insert into paper_order (account_id, client_order_id, broker_id, instrument_id, side, ord_type, time_in_force,
        position_effect, order_qty, limit_px, stop_px, status, needs_match, accepted_at)
      select o.account_id, sent.name, o.broker_id, o.instrument_id, o.side, o.ord_type, o.time_in_force,
        o.position_effect, greatest(o.order_qty - o.carried_qty, 0), o.limit_px, o.stop_px, '4', false, ${instant(at)}::timestamptz
      from unnest(${sent.map(({ id }) => id)}::bigint[], ${names}::text[]) sent (id, name)
      join account_order o on o.account_id = ${accountId}::bigint and o.id = sent.id
      order by o.id
      on conflict (account_id, client_order_id) do nothing
      returning broker_id, account_id, client_order_id, instrument_id
    ) ${toldCanceled(fragment`known`, at)}`
}

/**
 * Cancels what the broker has executed and the platform not booked; no order works any more, so nothing is added to
 * it. An order that was complete is told to have ended: the platform has asked for that, and nobody else will say so.
 */
async function cancelUnbooked(sql: Sql, accountId: number, at: Instant): Promise<void> {
  const unbooked = await sql.rows<{ execId: string; completes: string | null }>`
    select r.report_key as "execId", (select client_order_id from paper_order o
      where o.account_id = r.account_id and o.client_order_id = r.client_order_id and o.status = '2') as completes
    from paper_report r
    where r.account_id = ${accountId}::bigint and r.kind = 'fill'
      and not exists (select from execution e where e.broker_id = r.broker_id and e.account_id = r.account_id
        and e.exec_id = r.report_key)
      and not exists (select from paper_report b where b.broker_id = r.broker_id and b.account_id = r.account_id
        and b.report_key = 'bust:' || r.report_key)
    order by r.id`
  for (const { execId } of unbooked) await bustPaperExecution(sql, execId, at)
  await sql.run`
    ${toldCanceled(fragment`paper_order`, at)}
    where o.account_id = ${accountId}::bigint
      and o.client_order_id = any(${unbooked.flatMap(({ completes }) => completes ?? [])}::text[])`
}

/** Closes every position by an execution that both books know; those of no setup as well. */
async function closeAtCost(sql: Sql, accountId: number, at: Instant): Promise<void> {
  await sql.run`
    with held as (
      select e.broker_id, e.setup_id, e.instrument_id, i.symbol, sum(e.quantity) as quantity
      from (
        select broker_id, setup_id, instrument_id, case side when '1' then quantity else -quantity end as quantity
        from execution where account_id = ${accountId}::bigint
        union all
        select a.broker_id, j.setup_id, c.instrument_id, j.quantity_change
        from account_adjustment j join corporate_action c on c.id = j.action_id join account a on a.id = j.account_id
        where j.account_id = ${accountId}::bigint
      ) e join instrument i on i.id = e.instrument_id
      group by e.broker_id, e.setup_id, e.instrument_id, i.symbol having sum(e.quantity) <> 0
    ), closed as (
      select held.*, coalesce(p.avg_px, last.px) as px, last.fx, case when held.quantity > 0 then '2' else '1' end as side,
        'R' || nextval('paper_report_id_seq') as exec_id
      from held
      left join account_position p on p.account_id = ${accountId}::bigint and p.instrument_id = held.instrument_id
        and p.setup_id is not distinct from held.setup_id
      cross join lateral (
        select px, fx from execution e where e.account_id = ${accountId}::bigint
          and e.instrument_id = held.instrument_id order by e.executed_at desc limit 1) last
    ), told as (
      insert into paper_report (broker_id, report_key, account_id, kind, symbol, side, quantity, px, occurred_at,
        is_delivered)
      select broker_id, exec_id, ${accountId}::bigint, 'fill', symbol, side, abs(quantity), px,
        ${instant(at)}::timestamptz, true
      from closed
    ), booked as (
      insert into execution (broker_id, account_id, exec_id, setup_id, instrument_id, side, quantity, px, fx,
        cash_change, executed_at)
      select broker_id, ${accountId}::bigint, exec_id, setup_id, instrument_id, side, abs(quantity), px, fx,
        0, ${instant(at)}::timestamptz
      from closed
    )
    update account_position set quantity = 0, avg_px = null, opened_at = null
    where account_id = ${accountId}::bigint and quantity <> 0`
}
