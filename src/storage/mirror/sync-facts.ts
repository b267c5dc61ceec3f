/**
 * What AutoSync is decided from, read for many setups in a few statements: the strategies' positions and signals,
 * the accounts' positions and orders. The caller holds the strategies' and the accounts' locks, or only looks.
 */

import type {
  OrdStatus,
  OrdType,
  PositionEffect,
  SecurityType,
  Side,
  TimeInForce,
} from '../../domain/codes.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Sql, uncounted } from '../database/sql.ts'
import { type InstrumentColumns, instrumentColumns } from '../market/instruments.ts'
import { lapseOfSetup } from '../people/subscriptions.ts'
import { type CopyRow, copyColumns } from './account-orders.ts'
import { type AsEnded, inNewUnits, sinceEnd, sinceEndColumns } from './ended-orders.ts'
import { chainOf, type EntryColumns, entryColumns } from './entry-fills.ts'
import { isVariantExit } from './mirror-due.ts'

/** A setup's own columns by their names. */
export type SetupColumns = Readonly<
  Record<string, string | number | boolean | null | readonly SecurityType[]>
>

export interface SyncSetupRow extends SetupColumns {
  readonly id: number
  readonly accountId: number
  readonly strategyId: number
  readonly brokerId: number
  readonly isSyncEnabled: boolean
  readonly isAutotradeDisabled: boolean
  readonly isBrokerEnabled: boolean
  /** Null where the broker's adapter says nothing of what it trades. */
  readonly tradedTypes: readonly SecurityType[] | null
  readonly tradedCurrency: string | null
  /** Under the mass switch, or because the subscription has lapsed. */
  readonly noOpening: boolean
  readonly currency: string
}

export interface HeldRow {
  /** The strategy, or the setup. */
  readonly ownerId: number
  readonly instrumentId: number
  readonly quantity: string
  readonly avgPx: string | null
}

/** A strategy's order that works and whose copies were planned. */
export interface SyncSignalRow extends EntryColumns {
  readonly id: number
  readonly strategyId: number
  readonly instrumentId: number
  readonly side: Side
  readonly ordType: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  readonly orderQty: string
  readonly cumQty: string
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly referencePx: string | null
  readonly doNotSyncToOpen: boolean
  readonly ocaGroupId: number | null
  /** It protects what a variant has bought, like the exit of an entry, without naming one. */
  readonly isVariantExit: boolean
  /** Itself and the signals that it replaced. */
  readonly chain: readonly number[]
}

/** An order at work, or a finished copy of a signal at work. */
export interface SyncOrderRow extends CopyRow {
  readonly unknownAt: Instant | null
  /** When it is to be turned to market by itself; null before its signal has filled, and after. */
  readonly chaseAt: Instant | null
  /** An opening copy that its broker refused or never saw, before its owner last asked to synchronise: it may be made anew. */
  readonly isForgiven: boolean
  /** Of a copy whose signal no longer works. */
  readonly signalStatus: OrdStatus | null
  readonly signalEndedAt: Instant | null
  readonly signalDoNotSyncToOpen: boolean | null
}

export interface SyncInstrumentRow extends InstrumentColumns {
  readonly id: number
  readonly calendar: CalendarName
  /** YYYY-MM-DD; null where trading does not end. */
  readonly lastTradingDay: string | null
  readonly tick: string
  readonly pointValue: string
  readonly bid: string | null
  readonly ask: string | null
}

export interface ExclusionRow {
  readonly setupId: number
  readonly instrumentId: number
  readonly sign: 1 | -1
}

/** The last order of a symbol, which the broker refused. */
export interface RejectionRow {
  readonly setupId: number
  readonly instrumentId: number
  readonly text: string
  readonly closes: boolean
  /** It was to rest at a price, and nothing was refused at market since an order of the symbol went through. */
  readonly rests: boolean
}

/** What the broker refused last to make of an order at work. */
export interface RefusalRow {
  readonly setupId: number
  readonly orderId: number
  readonly orderQty: string
  readonly ordType: OrdType
  readonly limitPx: string | null
  readonly stopPx: string | null
}

export interface SyncFacts {
  readonly setups: readonly SyncSetupRow[]
  readonly strategyPositions: readonly HeldRow[]
  readonly signals: readonly SyncSignalRow[]
  readonly accountPositions: readonly HeldRow[]
  readonly orders: readonly SyncOrderRow[]
  readonly exclusions: readonly ExclusionRow[]
  readonly rejections: readonly RejectionRow[]
  readonly refusals: readonly RefusalRow[]
  readonly instruments: readonly SyncInstrumentRow[]
}

const listSetups = (sql: Sql, ids: readonly number[]): Promise<SyncSetupRow[]> =>
  sql.rows<SyncSetupRow>`
    select t.*, t.account_id as "accountId", t.strategy_id as "strategyId", a.broker_id as "brokerId",
      a.is_sync_enabled as "isSyncEnabled", a.is_autotrade_disabled as "isAutotradeDisabled",
      b.is_enabled as "isBrokerEnabled", b.traded_types as "tradedTypes",
      b.traded_currency as "tradedCurrency", a.currency,
      subscribed.lapsed or exists (
        select from platform_switch where name = 'noOpeningOrders' and value = 'true') as "noOpening"
    from setup t join account a on a.id = t.account_id join broker b on b.id = a.broker_id
      cross join lateral ${lapseOfSetup} subscribed
    where t.id = any(${ids}::bigint[]) and t.stopped_at is null order by t.id`

/** What strategies hold. */
export const listStrategyPositions = (sql: Sql, strategyIds: readonly number[]): Promise<HeldRow[]> =>
  sql.rows<HeldRow>`
    select strategy_id as "ownerId", instrument_id as "instrumentId", quantity, avg_px as "avgPx" from position
    where strategy_id = any(${uncounted(strategyIds, 'bigint')}::bigint[]) and quantity <> 0`

/** Strategies' orders at work whose copies were planned, or all of them. */
export const listSignals = (
  sql: Sql,
  strategyIds: readonly number[],
  { alsoUnplanned = false } = {},
): Promise<SyncSignalRow[]> =>
  sql.rows<SyncSignalRow>`
    select s.id, s.strategy_id as "strategyId", s.instrument_id as "instrumentId", s.side, s.ord_type as "ordType",
      s.time_in_force as "timeInForce", s.position_effect as "positionEffect", s.order_qty as "orderQty",
      s.cum_qty as "cumQty", s.limit_px as "limitPx", s.stop_px as "stopPx", s.reference_px as "referencePx",
      s.do_not_sync_to_open as "doNotSyncToOpen", s.oca_group_id as "ocaGroupId",
      ${isVariantExit} as "isVariantExit", ${entryColumns},
      case when s.replaces_signal_id is null then array[s.id] else ${chainOf(fragment`s.id`)} end as chain
    -- Fenced: beside what is asked of each, walking through all signals in their order looks as cheap.
    from (
      select * from signal where strategy_id = any(${strategyIds}::bigint[]) and status in ${live} and not is_held
        and (mirrored_at is not null or ${alsoUnplanned}) offset 0) s
    order by s.id`

const listAccountPositions = (sql: Sql, ids: readonly number[]): Promise<HeldRow[]> =>
  sql.rows<HeldRow>`
    select setup_id as "ownerId", instrument_id as "instrumentId", quantity, avg_px as "avgPx"
    from account_position where setup_id = any(${uncounted(ids, 'bigint')}::bigint[]) and quantity <> 0`

const listOrders = async (
  sql: Sql,
  ids: readonly number[],
  signalIds: readonly number[],
): Promise<SyncOrderRow[]> => {
  const rows = await sql.rows<AsEnded<SyncOrderRow>>`
    select ${copyColumns}, o.unknown_at as "unknownAt", o.chase_at as "chaseAt", ${sinceEndColumns},
      o.position_effect = 'O' and (o.status = '8' or o.status in ('4', '5') and o.attempts = 0) and o.cum_qty = 0
        and o.id <= t.retries_after and o.ended_at <= t.changed_at as "isForgiven",
      s.status as "signalStatus", s.ended_at as "signalEndedAt", s.do_not_sync_to_open as "signalDoNotSyncToOpen"
    from (
      select account_id, id from account_order
      where setup_id = any(${ids}::bigint[]) and status in ${live}
      union
      select account_id, id from account_order
      where source = 'S' and source_id = any(${signalIds}::bigint[]) and setup_id = any(${ids}::bigint[])
    ) named join account_order o using (account_id, id) join setup t on t.id = o.setup_id
    left join signal s on o.source = 'S' and s.id = o.source_id
    ${sinceEnd}
    order by o.id`
  return rows.map(inNewUnits)
}

const listExclusions = (sql: Sql, ids: readonly number[]): Promise<ExclusionRow[]> =>
  sql.rows<ExclusionRow>`
    select setup_id as "setupId", instrument_id as "instrumentId", sign from setup_exclusion
    where ended_at is null and setup_id = any(${uncounted(ids, 'bigint')}::bigint[])`

/** A stop that the strategy trails, refused each time, would else have the close at market tried again with each move. */
const wasRefusedAtMarket: Fragment = fragment`exists (
  select from account_order m where m.account_id = o.account_id and m.setup_id = o.setup_id
    and m.instrument_id = o.instrument_id and m.id between t.retries_after + 1 and o.id and m.status = '8'
    and m.attempts > 0 and m.position_effect = 'C' and m.ord_type = '1' and not exists (
      select from account_order k where k.account_id = o.account_id and k.id between m.id and o.id
        and k.setup_id = o.setup_id and k.instrument_id = o.instrument_id and k.status not in ('8', 'A')))`

/**
 * What brokers refused last; an order that is on its way has not gone through yet. One that no broker was asked for (by
 * hand, with nothing to close) and a replacement that was refused because its order had traded first (a successor sent by
 * itself carries what that one executed) say nothing about the symbol.
 */
const listRejections = (sql: Sql, ids: readonly number[]): Promise<RejectionRow[]> =>
  sql.rows<RejectionRow>`
    select distinct on (o.setup_id, o.instrument_id) o.setup_id as "setupId", o.instrument_id as "instrumentId",
      coalesce(o.reject_text, 'rejected by the broker') as text, o.position_effect = 'C' as closes,
      o.ord_type <> '1' and not ${wasRefusedAtMarket} as rests
    from account_order o join setup t on t.id = o.setup_id
    where o.setup_id = any(${ids}::bigint[]) and o.status = '8' and o.attempts > 0
      and o.id > t.retries_after and not exists (
      select from account_order n where n.account_id = o.account_id and n.id > o.id and n.setup_id = o.setup_id
        and n.instrument_id = o.instrument_id and n.status <> 'A')
      and not exists (
        select from account_order x where x.account_id = o.account_id and x.id = o.replaces_order_id
          and x.status in ('2', '4', 'C') and x.cum_qty > o.carried_qty)
    order by o.setup_id, o.instrument_id, o.id desc`

/** What brokers refused last to make of orders at work, before their owners asked to synchronise. */
const listRefusals = (sql: Sql, ids: readonly number[]): Promise<RefusalRow[]> =>
  sql.rows<RefusalRow>`
    select distinct on (r.account_id, r.replaces_order_id) r.setup_id as "setupId", r.replaces_order_id as "orderId",
      r.order_qty as "orderQty", r.ord_type as "ordType", r.limit_px as "limitPx", r.stop_px as "stopPx"
    from account_order r join setup t on t.id = r.setup_id
      join account_order x on x.account_id = r.account_id and x.id = r.replaces_order_id and x.status in ${live}
    where r.setup_id = any(${ids}::bigint[]) and r.status = '8' and r.attempts > 0 and r.id > t.retries_after
    order by r.account_id, r.replaces_order_id, r.id desc`

/** Instruments with their last quotes. */
export const listInstruments = (sql: Sql, ids: readonly number[]): Promise<SyncInstrumentRow[]> =>
  sql.rows<SyncInstrumentRow>`
    select i.id, i.calendar, i.last_trading_day as "lastTradingDay", i.tick, i.point_value as "pointValue", q.bid, q.ask,
      ${instrumentColumns}
    from instrument i left join quote q on q.instrument_id = i.id where i.id = any(${uncounted(ids, 'bigint')}::bigint[])`

/** Everything about these setups; stopped ones are left out. */
export async function loadSyncFacts(sql: Sql, setupIds: readonly number[]): Promise<SyncFacts> {
  const setups = await listSetups(sql, setupIds)
  const ids = setups.map(({ id }) => id)
  const strategyIds = [...new Set(setups.map(({ strategyId }) => strategyId))]
  const [strategyPositions, signals, accountPositions, exclusions, rejections, refusals] = await Promise.all([
    listStrategyPositions(sql, strategyIds),
    listSignals(sql, strategyIds),
    listAccountPositions(sql, ids),
    listExclusions(sql, ids),
    listRejections(sql, ids),
    listRefusals(sql, ids),
  ])
  const orders = await listOrders(
    sql,
    ids,
    signals.flatMap(({ chain }) => chain),
  )
  const named = [...strategyPositions, ...signals, ...accountPositions, ...orders, ...exclusions]
  const instruments = await listInstruments(sql, [...new Set(named.map(({ instrumentId }) => instrumentId))])
  const ours = { accountPositions, orders, exclusions, rejections, refusals }
  return { setups, strategyPositions, signals, ...ours, instruments }
}
