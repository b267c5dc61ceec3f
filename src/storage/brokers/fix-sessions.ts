/**
 * FIX sessions that outlive their worker: how far numbers have come on both sides, moved under the lease of whoever
 * holds the session, and what the adapter must know of orders and accounts to write and read messages.
 */

import type { PositionEffect, PutOrCall, SecurityType, Side } from '../../domain/codes.ts'
import type { ClientOrderKey } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import type { Database } from '../database/database.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { netExecutions, sinceSplits, wasAlive } from '../market/units-since-splits.ts'
import { insertIncidents, type NewIncident } from '../work/incidents.ts'
import { guardLease, type Lease } from '../work/leases.ts'
import { insertToldReports } from './report-intake.ts'
import type { NewReport, NewTotal } from './reports.ts'
import { chainsOfNamed, type NamedOrder, ordersNamed } from './sent-orders.ts'

export interface FixSessionRow {
  /** The first number that has not been booked. */
  readonly nextInbound: number
  /** The first number that nobody has set aside. */
  readonly nextOutbound: number
  readonly isResetDue: boolean
}

/**
 * Takes a session up where it was left, and sets `ahead` more outbound numbers aside. One that began before `since`
 * is to begin anew.
 */
export const openFixSession = (
  db: Database,
  lease: Lease,
  connection: string,
  { ahead, since }: { readonly ahead: number; readonly since: Instant | null },
): Promise<FixSessionRow> =>
  db.transaction(async (tx) => {
    await guardLease(tx, lease)
    await tx.run`insert into fix_session (connection) values (${connection}) on conflict do nothing`
    return tx.one<FixSessionRow>`
      with before as (
        select *, is_reset_due or coalesce(started_at, '-infinity') < ${instant(since)}::timestamptz as is_due
        from fix_session where connection = ${connection} for update)
      update fix_session s set is_reset_due = coalesce(before.is_due, false),
        next_outbound = case when before.is_due then 1 else before.next_outbound end + ${ahead}::bigint,
        next_inbound = case when before.is_due then 1 else before.next_inbound end
      from before where s.connection = before.connection
      returning s.next_inbound as "nextInbound", s.next_outbound - ${ahead}::bigint as "nextOutbound",
        s.is_reset_due as "isResetDue"`
  })

/** Both sides have begun anew. */
export const startFixSession = (db: Database, lease: Lease, connection: string, at: Instant): Promise<void> =>
  db.transaction(async (tx) => {
    await guardLease(tx, lease)
    await tx.run`
      update fix_session set is_reset_due = false, started_at = ${instant(at)}::timestamptz
      where connection = ${connection}`
  })

/** The first outbound number that nobody has set aside from now on. */
export const setFixOutbound = (
  db: Database,
  lease: Lease,
  connection: string,
  outbound: number,
): Promise<void> =>
  db.transaction(async (tx) => {
    await guardLease(tx, lease)
    await tx.run`update fix_session set next_outbound = ${outbound}::bigint where connection = ${connection}`
  })

/** What arrived in order, and how far that is. */
export interface FixIntake {
  readonly reports: readonly (NewReport | NewTotal)[]
  readonly incidents: readonly NewIncident[]
  readonly nextInbound: number
}

/** Books what arrived together with the number after it: a crash in between makes it come again, never get lost. */
export const takeFixMessages = (
  db: Database,
  lease: Lease,
  connection: string,
  { reports, incidents, nextInbound }: FixIntake,
): Promise<void> =>
  db.transaction(async (tx) => {
    await guardLease(tx, lease)
    await insertToldReports(tx, reports)
    await insertIncidents(tx, incidents)
    await tx.run`update fix_session set next_inbound = ${nextInbound}::bigint where connection = ${connection}`
    if (reports.length > 0) await tx.run`select pg_notify('work', '')`
  })

/** Wants both sides of a session to begin anew; false when there is none of that name. */
export const requestFixReset = async (sql: Sql, connection: string): Promise<boolean> =>
  (await sql.run`update fix_session set is_reset_due = true where connection = ${connection}`) > 0

/** Whose account a report may be about: by the broker's number of it, and by the setup that an order id names. */
export interface ReportedPlace {
  readonly byNumber: number | null
  readonly bySetup: number | null
  /** The broker of the account found by its number, else by setup. */
  readonly brokerId: number | null
  /** Of the order that the id names. */
  readonly instrumentId: number | null
}

/** The accounts at the connection's brokers, and the orders, that these numbers and ids stand for, in their order. */
export function findReportedPlaces(
  sql: Sql,
  connection: string,
  names: readonly { readonly account: string | null; readonly key: ClientOrderKey | null }[],
): Promise<ReportedPlace[]> {
  const column = <K extends keyof ClientOrderKey>(name: K): (ClientOrderKey[K] | null)[] =>
    names.map(({ key }) => key?.[name] ?? null)
  return sql.rows<ReportedPlace>`
    with own as (
      select a.id, a.account, a.broker_id from account a join broker b on b.id = a.broker_id
      where b.adapter = ${connection})
    select n.id as "byNumber", s.id as "bySetup", coalesce(n.broker_id, s.broker_id) as "brokerId",
      o.instrument_id as "instrumentId"
    from unnest(${names.map((_, place) => place)}::int[], ${names.map(({ account }) => account)}::text[],
      ${column('setupId')}::bigint[], ${column('source')}::text[], ${column('sourceId')}::bigint[],
      ${column('revision')}::int[]) named (place, account, setup_id, source, source_id, revision)
    left join own n on n.account = named.account
    left join setup on setup.id = named.setup_id
    left join own s on s.id = setup.account_id
    left join account_order o on o.source_id = named.source_id and o.setup_id = named.setup_id
      and o.source = named.source and o.revision = named.revision and o.account_id = s.id
    order by named.place`
}

/** An order as messages name it. */
export interface FixOrder {
  readonly clientOrderId: string
  readonly account: string
  readonly symbol: string
  readonly side: Side
  readonly positionEffect: PositionEffect
  readonly orderQty: string
  readonly securityType: SecurityType
  readonly maturityMonthYear: string | null
  readonly putOrCall: PutOrCall | null
  readonly strike: string | null
  readonly currency: string
  /**
   * What the orders that it replaced have executed, and the value of that: a broker counts whole chains, and by the
   * standard in the units of today (CumQty 14 and AvgPx 6 of a GT order over a split).
   */
  readonly replacedQty: string
  readonly replacedValue: string
}

/** The orders of these ids, in their order; undefined where there is none. */
export async function loadFixOrders(
  sql: Sql,
  names: readonly (NamedOrder & { readonly clientOrderId: string })[],
): Promise<(FixOrder | undefined)[]> {
  const rows = await sql.rows<Omit<FixOrder, 'clientOrderId'> & { readonly place: number }>`
    with recursive named as (
      select k.place, o.account_id, o.id, o.instrument_id, o.side, o.position_effect,
        o.order_qty - o.carried_qty as order_qty
      from ${ordersNamed(names)}
    ), ${chainsOfNamed}, executed as (
      select n.place, round(sum(e.quantity * since.units), 8) as quantity,
        sum(e.quantity * since.units * e.px * since.price) as value
      from named n join account_order o on o.account_id = n.account_id and o.id = n.id
      join chain r on r.place = n.place and r.depth > 0
      join ${netExecutions} e on e.account_id = r.account_id and e.order_id = r.id
      ${sinceSplits(fragment`o.instrument_id`, fragment`e.executed_at`, wasAlive)}
      group by n.place
    )
    select n.place, a.account, i.symbol, n.side,
      n.position_effect as "positionEffect", n.order_qty as "orderQty", i.security_type as "securityType",
      i.maturity_month_year as "maturityMonthYear", i.put_or_call as "putOrCall", i.strike, i.currency,
      coalesce(e.quantity, 0) as "replacedQty", coalesce(e.value, 0) as "replacedValue"
    from named n join account a on a.id = n.account_id join instrument i on i.id = n.instrument_id
    left join executed e on e.place = n.place`
  const byPlace = new Map(rows.map(({ place, ...row }) => [place, row]))
  return names.map(({ clientOrderId }, place) => {
    const row = byPlace.get(place)
    return row && { clientOrderId, ...row }
  })
}

/** The brokers' numbers of these accounts. */
export const loadAccountNumbers = (
  sql: Sql,
  accountIds: readonly number[],
): Promise<{ id: number; account: string; brokerId: number }[]> =>
  sql.rows`select id, account, broker_id as "brokerId" from account where id = any(${accountIds}::bigint[]) order by id`
