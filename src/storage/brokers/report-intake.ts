/** Reports are taken in once each, in the order in which they arrive. */
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { NewReport, NewTotal } from './reports.ts'

/** Takes in what is known of orders under their symbols of today; what is known changes nothing. */
export const insertReports = (sql: Sql, reports: readonly (NewReport | NewTotal)[]): Promise<void> =>
  insertUnder(sql, reports, fragment`symbol`)

/** Takes in what brokers tell, each under the symbol of its own time; what is known changes nothing. */
export const insertToldReports = (sql: Sql, reports: readonly (NewReport | NewTotal)[]): Promise<void> =>
  insertUnder(
    sql,
    reports,
    fragment`coalesce((
      select i.symbol from former_symbol f join instrument i on i.id = f.instrument_id
      where f.symbol = told.symbol and f.until > told.occurred_at order by f.until limit 1), symbol)`,
  )

async function insertUnder(
  sql: Sql,
  reports: readonly (NewReport | NewTotal)[],
  symbol: Fragment,
): Promise<void> {
  if (reports.length === 0) return
  const column = <K extends keyof NewReport>(name: K): NewReport[K][] => reports.map((report) => report[name])
  const total = <K extends 'side' | 'quantity' | 'px'>(name: K): (NewTotal[K] | null)[] =>
    reports.map((report) => (name in report ? (report as NewTotal)[name] : null))
  await sql.run`
    insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, text, occurred_at,
      side, quantity, px, cum_qty)
    select broker_id, report_key, account_id, client_order_id, kind, ${symbol}, text, occurred_at, side, quantity, px,
      cum_qty
    from unnest(${column('brokerId')}::int[], ${column('reportKey')}::text[], ${column('accountId')}::bigint[],
      ${column('clientOrderId')}::text[], ${column('kind')}::text[], ${column('symbol')}::text[],
      ${column('text')}::text[], ${reports.map((report) => instant(report.occurredAt))}::timestamptz[],
      ${total('side')}::text[], ${total('quantity')}::numeric[], ${total('px')}::numeric[],
      ${reports.map(({ cumQty }) => cumQty ?? null)}::numeric[])
      told (broker_id, report_key, account_id, client_order_id, kind, symbol, text, occurred_at, side, quantity, px, cum_qty)
    on conflict (broker_id, account_id, report_key) do nothing`
}
