/**
 * Signals as they are listed: one row per signal with its instrument beside it. Also the same rows for account
 * orders, so that both kinds of listing are shown by one function.
 */

import type {
  OrdStatus,
  OrdType,
  PositionEffect,
  SecurityType,
  Side,
  SignalType,
  TimeInForce,
} from '../../domain/codes.ts'
import type { OrderSource } from '../../domain/orders/client-order-id.ts'
import { asked } from '../database/asked.ts'
import { ended, live } from '../database/order-statuses.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { byPlace, distinct } from '../database/places.ts'
import { type Fragment, fragment, type Sql, uncounted } from '../database/sql.ts'
import { type InstrumentColumns, instrumentColumns } from '../market/instruments.ts'
import { orderNumber } from './account-orders.ts'

/** An order of a listing, strategy signal and account order alike. */
export interface OrderRow extends InstrumentColumns {
  id: number
  signalId: number
  /** Account orders only: what the client order id is made of. */
  setupId: number | null
  source: OrderSource
  sourceId: number
  revision: number | null
  brokerId: number | null
  strategyId: number
  strategyName: string
  signalType: SignalType
  side: Side
  ordType: OrdType
  timeInForce: TimeInForce
  positionEffect: PositionEffect
  orderQty: string
  cumQty: string
  avgPx: string | null
  limitPx: string | null
  stopPx: string | null
  status: OrdStatus
  postedAt: number
  replacesSignalId: number | null
  parentSignalId: number | null
  parkedUntil: number | null
  profitTarget: string | null
  stopLoss: string | null
  doNotCreateOcaGroup: boolean
  doNotSyncToOpen: boolean
  rejectText: string | null
  info: string | null
}

const signalColumns: Fragment = fragment`
  o.id, o.id as "signalId", null::bigint as "setupId", 'S' as source, o.id as "sourceId", null::int as revision, null::int as "brokerId",
  o.strategy_id as "strategyId", strategy.name as "strategyName", o.signal_type as "signalType", o.side,
  o.ord_type as "ordType", o.time_in_force as "timeInForce", o.position_effect as "positionEffect",
  o.order_qty as "orderQty", o.cum_qty as "cumQty", o.avg_px as "avgPx", o.limit_px as "limitPx",
  o.stop_px as "stopPx", o.status, o.posted_at as "postedAt", o.replaces_signal_id as "replacesSignalId",
  o.parent_signal_id as "parentSignalId", o.parked_until as "parkedUntil", o.profit_target as "profitTarget",
  o.stop_loss as "stopLoss", o.do_not_create_oca_group as "doNotCreateOcaGroup",
  o.do_not_sync_to_open as "doNotSyncToOpen", o.reject_text as "rejectText", o.info, ${instrumentColumns}`

const signalTables: Fragment = fragment`
  signal o join strategy on strategy.id = o.strategy_id join instrument i on i.id = o.instrument_id`

/** A signal with the state of everything that its row in a listing shows. */
export interface SignalVersion {
  id: number
  /** Another text whenever the signal or its instrument was written, or the strategy got another name. */
  version: string
}

const signalVersion: Fragment = fragment`
  o.id, o.xmin::text || ' ' || i.xmin::text || ' ' || hashtext(strategy.name) as version`

export interface ActiveSignalFilter {
  strategyIds: readonly (number | bigint)[]
  securityType?: SecurityType | undefined
  ordType?: OrdType | undefined
}

/** Live signals for each filter, oldest first; one statement for all of them. */
export async function listActiveSignals(
  sql: Sql,
  filters: readonly ActiveSignalFilter[],
): Promise<SignalVersion[][]> {
  const { asked, places } = distinct(filters, ({ strategyIds, securityType, ordType }) =>
    [securityType, ordType, ...strategyIds].join(' '),
  )
  const wanted = asked.flatMap((filter, place) =>
    [...new Set(filter.strategyIds)].map((id) => ({ id, place, ...filter })),
  )
  const ids = wanted.map(({ id }) => id)
  const rows = await sql.rows<SignalVersion & { place: number }>`
    select wanted.place, ${signalVersion}
    from unnest(${uncounted(ids, 'bigint')}, ${wanted.map(({ place }) => place)}::int[],
      ${wanted.map(({ securityType }) => securityType)}::text[], ${wanted.map(({ ordType }) => ordType)}::text[])
      wanted (strategy_id, place, security_type, ord_type)
    -- Fenced: from many questions the planner would conclude that reading every live signal is cheaper.
    cross join lateral (
      select id, xmin, instrument_id, strategy_id, ord_type from signal
      where strategy_id = wanted.strategy_id and status in ${live} offset 0) o
    join strategy on strategy.id = o.strategy_id join instrument i on i.id = o.instrument_id
    where (wanted.security_type is null or i.security_type = wanted.security_type)
      and (wanted.ord_type is null or o.ord_type = wanted.ord_type)
    order by o.id`
  const lists = byPlace(rows, asked.length)
  return places.map((place) => lists[place] ?? [])
}

/** These signals, whatever became of them, in the order of the ids. */
export async function listSignals(sql: Sql, ids: readonly number[]): Promise<OrderRow[]> {
  const rows = await sql.rows<OrderRow>`
    select ${signalColumns} from ${signalTables} where o.id = any(${ids}::bigint[])`
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

interface PostedBetween {
  /** Posted in [from, until], epoch milliseconds. */
  from?: number | undefined
  until?: number | undefined
}

const postedBetween = ({ from, until }: PostedBetween): Fragment => fragment`
  ${asked`o.posted_at >= to_timestamp(${from}::float8 / 1000)`}
  and ${asked`o.posted_at <= to_timestamp(${until}::float8 / 1000)`}`

export interface HistoricalSignalFilter extends PostedBetween {
  strategyId?: number | bigint | undefined
  signalId?: number | bigint | undefined
  status?: OrdStatus | undefined
}

/** Ended signals that pass the filter, by id. A signal is new to this listing when it ends, whenever it was posted. */
export const pageSignals = (sql: Sql, filter: HistoricalSignalFilter, request: PageRequest) =>
  page<SignalVersion>(sql, request, {
    select: signalVersion,
    from: signalTables,
    where: fragment`o.status in ${ended}
      and ${asked`o.strategy_id = ${filter.strategyId}::bigint`}
      and ${asked`o.id = ${filter.signalId}::bigint`}
      and ${asked`o.status = ${filter.status}::text`}
      and ${postedBetween(filter)}`,
    ...keyedById(fragment`signal`, fragment`o`),
    indexed: fragment`o.status in ${ended}`,
  })

/** Executed by the order itself: its totals are the whole copy's, orders that had ended before it included. */
const ownExecuted: Fragment = fragment`greatest(o.cum_qty - o.carried_qty, 0)`

const ownStatus: Fragment = fragment`case when o.status = '1' and ${ownExecuted} = 0 then '0' else o.status end`

const accountOrderColumns: Fragment = fragment`
  ${orderNumber} as id, ${orderNumber} as "signalId",
  o.setup_id as "setupId", o.source, o.source_id as "sourceId", o.revision, o.broker_id as "brokerId",
  o.strategy_id as "strategyId", strategy.name as "strategyName", o.signal_type as "signalType", o.side,
  o.ord_type as "ordType", o.time_in_force as "timeInForce", o.position_effect as "positionEffect",
  o.order_qty - o.carried_qty as "orderQty", ${ownExecuted} as "cumQty",
  case when o.carried_qty = 0 then o.avg_px else (o.filled_value - o.carried_value) / nullif(${ownExecuted}, 0) end
    as "avgPx", o.limit_px as "limitPx", o.stop_px as "stopPx", ${ownStatus} as status, o.posted_at as "postedAt",
  null::bigint as "replacesSignalId",
  null::bigint as "parentSignalId", null::timestamptz as "parkedUntil", null::numeric as "profitTarget",
  null::numeric as "stopLoss", false as "doNotCreateOcaGroup", false as "doNotSyncToOpen",
  o.reject_text as "rejectText", o.info, ${instrumentColumns}`

const accountOrderTables: Fragment = fragment`
  account_order o join strategy on strategy.id = o.strategy_id join instrument i on i.id = o.instrument_id`

/** Live orders of accounts, oldest first. */
export const listActiveAccountOrders = (
  sql: Sql,
  accountIds: readonly number[],
  strategyId: number | bigint | undefined,
): Promise<OrderRow[]> =>
  sql.rows<OrderRow>`
    select ${accountOrderColumns} from ${accountOrderTables} join setup on setup.id = o.setup_id
    where setup.account_id = any(${accountIds}::bigint[]) and o.status in ${live}
      and ${asked`o.strategy_id = ${strategyId}::bigint`}
    order by o.id`

export interface AccountOrderFilter extends PostedBetween {
  accountIds: readonly number[]
  strategyId?: number | bigint | undefined
  status?: OrdStatus | undefined
}

/** Of one account, as nearly always, the key gives the orders in their order; of several all would be read and sorted. */
const ofAccounts = (ids: readonly number[]): Fragment =>
  ids.length === 1
    ? fragment`o.account_id = ${ids[0]}::bigint`
    : fragment`o.account_id = any(${ids}::bigint[])`

/** Orders of accounts that pass the filter, by id. */
export const pageAccountOrders = (sql: Sql, filter: AccountOrderFilter, request: PageRequest) =>
  page<OrderRow>(sql, request, {
    select: accountOrderColumns,
    from: accountOrderTables,
    where: fragment`${ofAccounts(filter.accountIds)}
      and ${asked`o.strategy_id = ${filter.strategyId}::bigint`}
      and ${asked`${ownStatus} = ${filter.status}::text`}
      and ${postedBetween(filter)}`,
    ...keyedById(fragment`account_order`, fragment`o`),
  })
