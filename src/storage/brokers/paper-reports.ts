/**
 * What the paper broker tells: executions and answers as durable reports, delivered when its link is up and as
 * often as a script wants. Its word on what an account holds is the sum of the executions it told of.
 */
import type { Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { noise, sinceSplits } from '../market/units-since-splits.ts'

export interface PaperExecution {
  readonly brokerId: number
  readonly accountId: number
  readonly execId: string
  readonly clientOrderId: string | null
  readonly symbol: string
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
  /** What its order has executed with it; null where it is no order's. */
  readonly cumQty: Decimal | null
  readonly at: Instant
}

/** Tells of executions. */
export async function insertPaperExecutions(sql: Sql, executions: readonly PaperExecution[]): Promise<void> {
  if (executions.length === 0) return
  const column = <K extends keyof PaperExecution>(name: K): PaperExecution[K][] =>
    executions.map((execution) => execution[name])
  await sql.run`
    insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
      cum_qty, occurred_at)
    select broker_id, exec_id, account_id, client_order_id, 'fill', symbol, side, quantity, px, cum_qty, executed_at
    from unnest(${column('brokerId')}::int[], ${column('execId')}::text[], ${column('accountId')}::bigint[],
      ${column('clientOrderId')}::text[], ${column('symbol')}::text[], ${column('side')}::text[],
      ${column('quantity')}::numeric[], ${column('px')}::numeric[],
      ${column('cumQty')}::numeric[], ${executions.map(({ at }) => instant(at))}::timestamptz[])
      e (broker_id, exec_id, account_id, client_order_id, symbol, side, quantity, px, cum_qty, executed_at)`
}

/** True while reports wait for their delivery. */
export const isPaperDeliveryDue = fragment`exists (select from paper_report where not is_delivered)`

/**
 * Delivers reports over the link; what arrives a second time is dropped on the platform's side. Executions stay, since
 * what an account holds is their sum; of anything else nobody asks again once it was told.
 */
export const deliverPaperReports = async (sql: Sql, limit: number): Promise<number> =>
  (
    await sql.one<{ count: number }>`
      with due as (
        select * from paper_report where not is_delivered order by id limit ${limit}::int for update skip locked
      ), arrived as (
        insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity,
          px, cum_qty, text, occurred_at)
        select broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px, cum_qty, text,
          occurred_at
        from due order by id
        on conflict (broker_id, account_id, report_key) do nothing
      ), kept as (
        update paper_report set is_delivered = true
        where id = any(array(select id from due where kind in ('fill', 'bust')))
      ), forgotten as (
        delete from paper_report where id = any(array(select id from due where kind not in ('fill', 'bust')))
      )
      select count(*)::int as count from due`
  ).count

/** Lets a report be delivered once more; false when there is none of that execution. */
export const repeatPaperReport = async (sql: Sql, execId: string): Promise<boolean> =>
  (await sql.run`update paper_report set is_delivered = false where report_key = ${execId}`) > 0

/**
 * Cancels an execution and tells of it. What it leaves of a filled order is not worked again; a working order, or
 * the one that works in its place, has it back in the units of now. False when there is none.
 */
export const bustPaperExecution = async (sql: Sql, execId: string, at: Instant): Promise<boolean> =>
  (
    await sql.one<{ isKnown: boolean }>`
      with recursive busted as (
        insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
          text, occurred_at)
        select broker_id, 'bust:' || report_key, account_id, client_order_id, 'bust', symbol, side, quantity, px,
          report_key, ${instant(at)}::timestamptz
        from paper_report where report_key = ${execId} and kind = 'fill'
        on conflict (broker_id, account_id, report_key) do nothing
        returning account_id, client_order_id, quantity
      ), chain as (
        select account_id, client_order_id, quantity::numeric as own from busted
        union all
        select o.account_id, o.client_order_id, 0 from chain join paper_order o
          on o.account_id = chain.account_id and o.replaces = chain.client_order_id
      ), restated as (
        select o.account_id, o.id, chain.own, case when o.status = '5' then 0 else back.units - chain.own end as more
        from chain join paper_order o using (account_id, client_order_id) cross join busted b
        join paper_report r on r.broker_id = o.broker_id and r.account_id = o.account_id and r.report_key = ${execId}
        ${sinceSplits(fragment`o.instrument_id`, fragment`r.occurred_at`, fragment`o.status in ('0', '1')`)}
        cross join lateral (
          select case when abs(o.carried_qty + o.cum_qty - b.quantity * since.units) < ${noise}
            then o.carried_qty + o.cum_qty else round(b.quantity * since.units, 8) end as units) back
      ), unfilled as (
        update paper_order o set cum_qty = o.cum_qty - c.own, order_qty = o.order_qty + c.more,
          carried_qty = o.carried_qty - c.more, status = case o.status when '2' then '4'
          when '1' then case when o.cum_qty = c.own then '0' else '1' end else o.status end
        from restated c where o.account_id = c.account_id and o.id = c.id
      )
      select exists (select from paper_report where report_key = ${execId} and kind = 'fill') as "isKnown"`
  ).isKnown

/** Tells something of an account as a whole. */
export async function insertPaperNotice(
  sql: Sql,
  notice: { brokerId: number; accountId: number; kind: string; text: string | null; at: Instant },
): Promise<void> {
  await sql.run`
    insert into paper_report (broker_id, report_key, account_id, kind, symbol, text, occurred_at)
    values (${notice.brokerId}::int, 'N' || nextval('paper_report_id_seq'),
      ${notice.accountId}::bigint, ${notice.kind}, '', ${notice.text}, ${instant(notice.at)}::timestamptz)`
}

export interface PaperPosition {
  readonly accountId: number
  readonly symbol: string
  readonly quantity: string
}

/**
 * What the executions of these accounts add up to, with what splits and the ends of contracts did, flat symbols left
 * out. The broker does these by itself, by the same arithmetic, and tells of none; what it told of counts once, and its
 * total is kept: there may be any number of them.
 */
export const sumPaperPositions = (sql: Sql, accountIds: readonly number[]): Promise<PaperPosition[]> =>
  sql.rows<PaperPosition>`
    select account_id as "accountId", symbol, sum(quantity) as quantity from (
      select account_id, symbol, quantity from paper_total where account_id = any(${accountIds}::bigint[])
      union all
      select e.account_id, i.symbol, case e.side when '1' then e.quantity else -e.quantity end
      from execution e join instrument i on i.id = e.instrument_id
      where e.account_id = any(${accountIds}::bigint[]) and e.order_id is null
        and not exists (select from paper_report r
          where r.broker_id = e.broker_id and r.account_id = e.account_id and r.report_key = e.exec_id)
      union all
      select j.account_id, i.symbol, j.quantity_change
      from account_adjustment j join corporate_action a on a.id = j.action_id
      join instrument i on i.id = a.instrument_id
      where j.account_id = any(${accountIds}::bigint[])
    ) entry group by account_id, symbol having sum(quantity) <> 0 order by account_id, symbol`
