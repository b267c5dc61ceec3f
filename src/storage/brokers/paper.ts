/**
 * The paper broker's own book. It is another party that happens to live in the same database: it shares no row
 * with the platform's side but instruments and quotes, and tells what it did through reports alone. An
 * order exists once per account and client order id, whatever is asked how often.
 */

import type { OrdStatus, OrdType, PositionEffect, Side, TimeInForce } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { PaperExecution } from './paper-reports.ts'

/** A request as the book takes it; `quantity` is the total, of a replacement with what its chain has filled. */
export interface PaperRequest {
  readonly accountId: number
  readonly clientOrderId: string
  readonly instrumentId: number
  readonly symbol: string
  readonly side: Side
  readonly ordType: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  readonly quantity: string
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly acceptedAt: Instant
  readonly expiresAt: Instant | null
  /** Scripted: refused with this text, or filled no further than this. */
  readonly rejectText: string | null
  readonly fillCap: string | null
}

/** What the book says of a request; `text` where it refuses. */
export interface PaperAnswer {
  readonly place: number
  readonly status: OrdStatus | null
  readonly text: string | null
}

/** The calendar that each instrument trades by. */
export const loadCalendars = async (
  sql: Sql,
  instrumentIds: readonly number[],
): Promise<Map<number, CalendarName>> => {
  const rows = await sql.rows<{ id: number; calendar: CalendarName }>`
    select id, calendar from instrument where id = any(${uncounted(instrumentIds, 'bigint')}::bigint[])`
  return new Map(rows.map(({ id, calendar }) => [id, calendar]))
}

const requestRows = (requests: readonly PaperRequest[]): Fragment => {
  const column = <K extends keyof PaperRequest>(name: K): PaperRequest[K][] =>
    requests.map((request) => request[name])
  return fragment`unnest(${requests.map((_, place) => place)}::int[], ${column('accountId')}::bigint[],
    ${column('clientOrderId')}::text[], ${column('instrumentId')}::bigint[], ${column('symbol')}::text[],
    ${column('side')}::text[], ${column('ordType')}::text[], ${column('timeInForce')}::text[],
    ${column('positionEffect')}::text[], ${column('quantity')}::numeric[], ${column('limitPx')}::numeric[],
    ${column('stopPx')}::numeric[], ${requests.map(({ acceptedAt }) => instant(acceptedAt))}::timestamptz[],
    ${requests.map(({ expiresAt }) => instant(expiresAt))}::timestamptz[], ${column('rejectText')}::text[],
    ${column('fillCap')}::numeric[])
    asked (place, account_id, client_order_id, instrument_id, symbol, side, ord_type, time_in_force,
      position_effect, quantity, limit_px, stop_px, accepted_at, expires_at, reject_text, fill_cap)`
}

/**
 * The ids of orders at work (as `o`), locked in the order in which a quote locks those that it reaches: who takes several
 * in another order and the quote stand in each other's way.
 */
export const workingPaper = (which: Fragment): Fragment => fragment`any(array(
  select o.id from paper_order o where o.status in ('0', '1') and ${which} order by o.account_id, o.id for update))`

/** An answer's key: the broker numbers what it says. */
const nextKey = fragment`'A' || nextval('paper_report_id_seq')`

/** Tells the ends of orders of the book; `ended` names rows or a table (as `o`) with the columns of `paper_order`. */
const told = (kind: 'cancel' | 'expire', ended: Fragment, at: Fragment): Fragment => fragment`
  insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, occurred_at)
  select o.broker_id, ${nextKey}, o.account_id, o.client_order_id, ${kind}::text, i.symbol, ${at}
  from ${ended} o join instrument i on i.id = o.instrument_id`

/** Tells that orders of the book were canceled. */
export const toldCanceled = (canceled: Fragment, at: Instant): Fragment =>
  told('cancel', canceled, fragment`${instant(at)}::timestamptz`)

/** Ends the orders `o` at work that `which` names, canceled or expired at a moment or by a column, and tells of it. */
export const endPaperOrders = (sql: Sql, status: '4' | 'C', which: Fragment, at: Fragment): Promise<number> =>
  sql.run`
    with ended as (
      update paper_order o set status = ${status}, needs_match = false where o.id = ${workingPaper(which)}
      returning o.broker_id, o.account_id, o.client_order_id, o.instrument_id, o.expires_at
    ) ${told(status === '4' ? 'cancel' : 'expire', fragment`ended`, at)}`

/** Takes new orders; one whose id is known stays what it is. */
export const insertPaperOrders = async (
  sql: Sql,
  brokerId: number,
  requests: readonly PaperRequest[],
): Promise<PaperAnswer[]> =>
  withTaken(
    sql,
    requests,
    await sql.rows<PaperAnswer>`
    with asked as materialized (select * from ${requestRows(requests)}), taken as (
      insert into paper_order (account_id, client_order_id, broker_id, instrument_id, side, ord_type, time_in_force,
        position_effect, order_qty, limit_px, stop_px, status, needs_match, accepted_at, expires_at, reject_text,
        fill_cap)
      select account_id, client_order_id, ${brokerId}::int, instrument_id, side, ord_type, time_in_force,
        position_effect, quantity, limit_px, stop_px, case when reject_text is null then '0' else '8' end,
        reject_text is null, accepted_at, expires_at, reject_text, fill_cap
      from asked
      on conflict (account_id, client_order_id) do nothing
      returning account_id, client_order_id, status, reject_text, accepted_at
    ), told as (
      insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, text, occurred_at)
      select ${brokerId}::int, ${nextKey}, account_id, client_order_id,
        case taken.status when '0' then 'ack' else 'reject' end, symbol, taken.reject_text, taken.accepted_at
      from taken join asked using (account_id, client_order_id)
    )
    select asked.place, coalesce(taken.status, known.status) as status,
      coalesce(taken.reject_text, known.reject_text) as text
    from asked left join taken using (account_id, client_order_id)
    left join paper_order known using (account_id, client_order_id)`,
  )

/** Replaces working orders: the new one starts with what is left of the total. */
export const replacePaperOrders = async (
  tx: Transaction,
  brokerId: number,
  requests: readonly PaperRequest[],
  replaced: readonly string[],
): Promise<PaperAnswer[]> =>
  withTaken(
    tx,
    requests,
    await tx.rows<PaperAnswer>`
    with asked as materialized (
      select asked.*, x.client_order_id as replaced from ${requestRows(requests)}
      join unnest(${replaced.map((_, place) => place)}::int[], ${replaced}::text[]) x (place, client_order_id)
        using (place)
    ), old as (
      update paper_order o set status = '5', needs_match = false
      from asked
      where o.account_id = asked.account_id and o.client_order_id = asked.replaced
        and o.id = ${workingPaper(fragment`(o.account_id, o.client_order_id) in (select account_id, replaced from asked)`)}
        and not exists (select from paper_order known where known.account_id = asked.account_id
          and known.client_order_id = asked.client_order_id)
      returning asked.place, o.carried_qty + o.cum_qty as executed
    ), taken as (
      insert into paper_order (account_id, client_order_id, broker_id, instrument_id, side, ord_type, time_in_force,
        position_effect, order_qty, carried_qty, limit_px, stop_px, status, needs_match, accepted_at, expires_at, replaces)
      select account_id, client_order_id, ${brokerId}::int, instrument_id, side, ord_type, time_in_force,
        position_effect, greatest(quantity - executed, 0), executed, limit_px, stop_px,
        case when quantity > executed then '0' else '2' end, quantity > executed, accepted_at, expires_at, replaced
      from asked join old using (place)
      on conflict (account_id, client_order_id) do nothing
      returning account_id, client_order_id, status, accepted_at
    ), told as (
      insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, occurred_at)
      select ${brokerId}::int, ${nextKey}, account_id, client_order_id, 'replace', symbol, taken.accepted_at
      from taken join asked using (account_id, client_order_id)
    )
    select asked.place, coalesce(taken.status, known.status) as status,
      case when coalesce(taken.status, known.status) is null then 'the order is not working' end as text
    from asked left join taken using (account_id, client_order_id)
    left join paper_order known using (account_id, client_order_id)`,
  )

/** With the orders that another call has taken while this one waited for it: no statement sees what came after it began. */
async function withTaken(
  sql: Sql,
  requests: readonly PaperRequest[],
  answers: readonly PaperAnswer[],
): Promise<PaperAnswer[]> {
  const missing = answers.filter(({ status }) => status === null)
  if (missing.length === 0) return [...answers]
  const names = missing.flatMap(({ place }) => requests[place] ?? [])
  const found = await findPaperOrders(sql, names)
  const taken = new Map(found.map(({ place, status }) => [missing[place]?.place, status]))
  return answers.map((answer) => {
    const status = taken.get(answer.place)
    return status === undefined ? answer : { place: answer.place, status, text: null }
  })
}

type PaperName = Pick<PaperRequest, 'accountId' | 'clientOrderId'>

/** The names as rows `asked`, each with its place. */
const namedRows = (names: readonly PaperName[]): Fragment => fragment`
  unnest(${names.map((_, place) => place)}::int[], ${names.map(({ accountId }) => accountId)}::bigint[],
    ${names.map(({ clientOrderId }) => clientOrderId)}::text[]) asked (place, account_id, client_order_id)`

/** Cancels working orders; the answer is the status before, null where there is no such order. */
export const cancelPaperOrders = (
  sql: Sql,
  names: readonly PaperName[],
  at: Instant,
): Promise<PaperAnswer[]> =>
  sql.rows<PaperAnswer>`
    with asked as materialized (select * from ${namedRows(names)}), canceled as (
      update paper_order o set status = '4', needs_match = false
      where o.id = ${workingPaper(fragment`(o.account_id, o.client_order_id) in (select account_id, client_order_id from asked)`)}
      returning o.broker_id, o.account_id, o.client_order_id, o.instrument_id
    ), told as (${toldCanceled(fragment`canceled`, at)})
    select asked.place, case when canceled.account_id is null then known.status else '4' end as status,
      null::text as text
    from asked left join canceled using (account_id, client_order_id)
    left join paper_order known using (account_id, client_order_id)`

/** How an order of the book stands; `place` counts the names that were asked for. */
export interface PaperStanding {
  readonly place: number
  readonly accountId: number
  readonly clientOrderId: string
  readonly status: OrdStatus
  readonly cumQty: string
  readonly avgPx: string | null
}

const standing = fragment`
  o.account_id as "accountId", o.client_order_id as "clientOrderId", o.status, o.cum_qty as "cumQty", (
    select sum(case r.kind when 'fill' then r.quantity else -r.quantity end * r.px) / nullif(o.cum_qty, 0)
    from paper_report r where r.account_id = o.account_id and r.client_order_id = o.client_order_id
      and r.kind in ('fill', 'bust')) as "avgPx"`

/** How these orders stand, those that exist. */
export const findPaperOrders = (sql: Sql, names: readonly PaperName[]): Promise<PaperStanding[]> =>
  sql.rows<PaperStanding>`
    select asked.place, ${standing} from ${namedRows(names)}
    join paper_order o using (account_id, client_order_id)`

/** True when a working order's day is over. */
export const isPaperExpiryDue = (now: Instant): Fragment => fragment`exists (
  select from paper_order where ${hasCome(fragment`expires_at`, now)} and status in ('0', '1'))`

/** Ends day orders whose session is over and tells of it; answers how many. */
export const expirePaperOrders = (sql: Sql, now: Instant): Promise<number> =>
  endPaperOrders(sql, 'C', hasCome(fragment`o.expires_at`, now), fragment`o.expires_at`)

/** When the book next acts by time alone. */
export const findNextPaperMoment = firstMoment`
  select least(
    (select min(expires_at) from paper_order where expires_at is not null and status in ('0', '1')),
    (select min(accepted_at) from paper_order where needs_match))`

/**
 * Counts a scripted execution on the order that it names, if it is one of that; answers its total as `PaperFill` has it,
 * null where there is no such order.
 */
export async function fillPaperOrder(
  tx: Transaction,
  {
    accountId,
    clientOrderId,
    symbol,
    side,
    quantity,
  }: Pick<PaperExecution, 'accountId' | 'symbol' | 'side' | 'quantity'> & { readonly clientOrderId: string },
): Promise<Decimal | null> {
  const [filled] = await tx.rows<{ cumQty: string }>`
    update paper_order set cum_qty = cum_qty + ${quantity}::numeric, fills = fills + 1,
      status = case when status not in ('0', '1') then status
        when cum_qty + ${quantity}::numeric >= order_qty then '2' else '1' end,
      needs_match = needs_match and cum_qty + ${quantity}::numeric < order_qty
    where account_id = ${accountId}::bigint and client_order_id = ${clientOrderId}::text and side = ${side}
      and instrument_id = (select id from instrument where symbol = ${symbol}::text)
    returning carried_qty + cum_qty as "cumQty"`
  return filled ? dec(filled.cumQty) : null
}

/** The working orders of accounts. */
export const listWorkingPaper = (sql: Sql, accountIds: readonly number[]): Promise<PaperStanding[]> =>
  sql.rows<PaperStanding>`
    select 0 as place, ${standing} from paper_order o
    where o.account_id = any(${accountIds}::bigint[]) and o.status in ('0', '1') order by o.id`

/** What accounts own; the paper broker keeps no money of its own beside the account's. */
export const listPaperBalances = (
  sql: Sql,
  accountIds: readonly number[],
): Promise<{ accountId: number; currency: string; cash: string }[]> =>
  sql.rows`select id as "accountId", currency, cash from account where id = any(${accountIds}::bigint[])`
