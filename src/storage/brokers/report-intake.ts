/**
 * Reports are taken in once each, in the order in which they arrive. What names the instrument of its order has the symbol
 * of that, whatever it says.
 */
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { NewReport, NewTotal } from './reports.ts'

type Reports = readonly (NewReport | NewTotal)[]

/** Takes in what is known of orders under their symbols of today; what is known changes nothing. */
export const insertReports = (sql: Sql, reports: Reports): Promise<void> =>
  insertUnder(sql, reports, { isTold: false, symbol: fragment`told.symbol` })

/**
 * Takes in what brokers tell, each under the symbol of its own time; what is known changes nothing. A split that lists its
 * option anew is over by then, or comes later and finds it.
 */
export async function insertToldReports(tx: Transaction, reports: Reports): Promise<void> {
  if (reports.length === 0) return
  await tx.run`
    select from instrument where security_type = 'OPT' and (
      symbol = any(${reports.map(({ symbol }) => symbol)}::text[])
      or id = any(${reports.map(({ instrumentId }) => instrumentId)}::bigint[]))
    order by id for key share`
  const symbol = fragment`coalesce((
    select i.symbol from former_symbol f join instrument i on i.id = f.instrument_id
    where f.symbol = told.symbol and f.until > told.occurred_at order by f.until limit 1), told.symbol)`
  await insertUnder(tx, reports, { isTold: true, symbol })
}

async function insertUnder(
  sql: Sql,
  reports: Reports,
  { isTold, symbol }: { readonly isTold: boolean; readonly symbol: Fragment },
): Promise<void> {
  if (reports.length === 0) return
  const column = <K extends keyof NewReport>(name: K): NewReport[K][] => reports.map((report) => report[name])
  const total = <K extends 'side' | 'quantity' | 'px'>(name: K): (NewTotal[K] | null)[] =>
    reports.map((report) => (name in report ? (report as NewTotal)[name] : null))
  await sql.run`
    insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, is_told, text,
      occurred_at, side, quantity, px, cum_qty)
    select broker_id, report_key, account_id, client_order_id, kind, coalesce((
        select i.symbol from instrument i where i.id = told.instrument_id), ${symbol}),
      ${isTold}::boolean and instrument_id is null, text, occurred_at, side, quantity, px, cum_qty
    from unnest(${column('brokerId')}::int[], ${column('reportKey')}::text[], ${column('accountId')}::bigint[],
      ${column('clientOrderId')}::text[], ${column('kind')}::text[], ${column('symbol')}::text[],
      ${column('instrumentId')}::bigint[], ${column('text')}::text[],
      ${reports.map((report) => instant(report.occurredAt))}::timestamptz[],
      ${total('side')}::text[], ${total('quantity')}::numeric[], ${total('px')}::numeric[],
      ${reports.map(({ cumQty }) => cumQty ?? null)}::numeric[])
      told (broker_id, report_key, account_id, client_order_id, kind, symbol, instrument_id, text, occurred_at, side,
        quantity, px, cum_qty)
    on conflict (broker_id, account_id, report_key) do nothing`
}
