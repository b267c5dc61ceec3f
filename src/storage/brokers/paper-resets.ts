/**
 * A paper account begins anew: flat, and with the cash it started with. Nothing that happened is deleted. What is
 * held is closed by executions that move no cash, on the platform's side and in the paper broker's book alike,
 * and an entry for each setup takes back what it earned and says when. The caller has locked the account.
 */
import type { Instant } from '../../domain/time.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { cancelOrders } from '../mirror/account-orders.ts'
import { touchAccounts } from '../work/record-changes.ts'

/** Resets an account that no money is in. */
export async function resetPaperAccount(sql: Sql, accountId: number, at: Instant): Promise<void> {
  await cancelOrders(sql, fragment`o.account_id = ${accountId}::bigint`, { at, info: 'paper account reset' })
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
