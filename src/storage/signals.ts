/**
 * Signals as they are placed, replaced and canceled, many in one statement. Every writer locks the strategy's
 * row first, so what it then reads about the strategy cannot change before it commits.
 */
import type { CalendarName } from '../domain/calendar.ts'
import type { OrdStatus, OrdType, PositionEffect, SecurityType, Side, TimeInForce } from '../domain/codes.ts'
import type { Sql } from './sql.ts'

export interface LockedStrategy {
  id: number
  isAlive: boolean
  noSubsAllowed: boolean
  membershipVersion: number
}

/** Locks the strategies against every other placement, fill and change of followers until the commit. */
export async function lockStrategies(
  sql: Sql,
  ids: readonly (number | bigint)[],
): Promise<Map<number, LockedStrategy>> {
  const rows = await sql.rows<LockedStrategy>`
    select id, is_alive as "isAlive", no_subs_allowed as "noSubsAllowed", membership_version as "membershipVersion"
    from strategy where id = any(${ids}::bigint[]) order by id for no key update`
  return new Map(rows.map((row) => [row.id, row]))
}

/** One order's question: what would it trade, and what does its strategy hold of it? */
export interface PlacingQuestion {
  strategyId: number | bigint
  securityType: SecurityType
  /** Every spelling under which the instrument may be stored. */
  spellings: readonly string[]
}

export interface PlacingRow {
  place: number
  /** The id the signal will have. */
  signalId: number
  instrumentId: number
  calendar: CalendarName
  tick: string
  isTradable: boolean
  /** YYYY-MM-DD; null where trading does not end. */
  lastTradingDay: string | null
  position: string
  bid: string | null
  ask: string | null
}

/** Answers the questions that have a known instrument; `place` is the question's index. */
export async function loadPlacing(
  sql: Sql,
  questions: readonly PlacingQuestion[],
): Promise<Map<number, PlacingRow>> {
  const asked = questions.flatMap((question, place) =>
    question.spellings.map((symbol) => ({ ...question, place, symbol })),
  )
  const rows = await sql.rows<PlacingRow>`
    select asked.place, i.id as "instrumentId", i.calendar, i.tick, i.is_tradable as "isTradable",
      i.last_trading_day as "lastTradingDay",
      coalesce(p.quantity, 0) as position, q.bid, q.ask,
      nextval(pg_get_serial_sequence('signal', 'id')) as "signalId"
    from unnest(${asked.map((row) => row.place)}::int[], ${asked.map((row) => row.strategyId)}::bigint[],
      ${asked.map((row) => row.symbol)}::text[], ${asked.map((row) => row.securityType)}::text[])
      asked (place, strategy_id, symbol, security_type)
    join instrument i on i.symbol = asked.symbol and i.security_type = asked.security_type
    left join position p on p.strategy_id = asked.strategy_id and p.instrument_id = i.id
    left join quote q on q.instrument_id = i.id`
  return new Map(rows.map((row) => [row.place, row]))
}

export interface NewSignal {
  id: number
  strategyId: number | bigint
  instrumentId: number
  side: Side
  ordType: OrdType
  timeInForce: TimeInForce
  positionEffect: PositionEffect
  orderQty: string
  limitPx: string | null
  stopPx: string | null
  status: OrdStatus
  cumQty: string
  avgPx: string | null
  postedAt: string
  workingAt: string | null
  expiresAt: string | null
  endedAt: string | null
  replacesSignalId: number | null
  doNotSyncToOpen: boolean
  /** Made to reach desired positions. */
  fromDesired: boolean
  rejectText: string | null
  requestId: string
  referencePx: string | null
  membershipHorizon: number | null
}

/** Writes signals; one that works is due for matching and mirroring. Wakes the workers at the commit. */
export async function insertSignals(sql: Sql, signals: readonly NewSignal[]): Promise<void> {
  const column = <K extends keyof NewSignal>(name: K): NewSignal[K][] => signals.map((signal) => signal[name])
  await sql.run`
    insert into signal (id, strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      limit_px, stop_px, status, cum_qty, avg_px, posted_at, working_at, expires_at, ended_at, replaces_signal_id,
      do_not_sync_to_open, reject_text, request_id, reference_px, membership_horizon, from_desired, needs_match, mirror_due)
    overriding system value
    select id, strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      limit_px, stop_px, status, cum_qty, avg_px, posted_at, working_at, expires_at, ended_at, replaces_signal_id,
      do_not_sync_to_open, reject_text, request_id, reference_px, membership_horizon, from_desired,
      status in ('0', '1'), working_at is not null
    from unnest(${column('id')}::bigint[], ${column('strategyId')}::bigint[], ${column('instrumentId')}::bigint[],
      ${column('side')}::text[], ${column('ordType')}::text[], ${column('timeInForce')}::text[],
      ${column('positionEffect')}::text[], ${column('orderQty')}::numeric[], ${column('limitPx')}::numeric[],
      ${column('stopPx')}::numeric[], ${column('status')}::text[], ${column('cumQty')}::numeric[],
      ${column('avgPx')}::numeric[], ${column('postedAt')}::timestamptz[], ${column('workingAt')}::timestamptz[],
      ${column('expiresAt')}::timestamptz[], ${column('endedAt')}::timestamptz[],
      ${column('replacesSignalId')}::bigint[], ${column('doNotSyncToOpen')}::boolean[],
      ${column('rejectText')}::text[], ${column('requestId')}::text[], ${column('referencePx')}::numeric[],
      ${column('membershipHorizon')}::bigint[], ${column('fromDesired')}::boolean[])
      new (id, strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty, limit_px,
        stop_px, status, cum_qty, avg_px, posted_at, working_at, expires_at, ended_at, replaces_signal_id,
        do_not_sync_to_open, reject_text, request_id, reference_px, membership_horizon, from_desired)`
}

export interface NewSignalEvent {
  signalId: number
  /** Place among the events written by this statement for the signal, from 0. */
  offset: number
  /** True when the signal is new too: then the event's number is known without looking. */
  isFirst?: boolean
  event: string
  status: OrdStatus
  occurredAt: string
  cause: Record<string, unknown>
}

/** Appends events behind those a signal has already. The signal's strategy is locked by the caller. */
export async function insertSignalEvents(sql: Sql, events: readonly NewSignalEvent[]): Promise<void> {
  const column = <K extends keyof NewSignalEvent>(name: K): NewSignalEvent[K][] =>
    events.map((event) => event[name])
  await sql.run`
    insert into signal_event (signal_id, seq, event, status, occurred_at, cause)
    select signal_id,
      1 + place + case when is_first then 0 else
        (select coalesce(max(seq), 0) from signal_event known where known.signal_id = new.signal_id) end,
      event, status, occurred_at, cause
    from unnest(${column('signalId')}::bigint[], ${column('offset')}::int[], ${events.map(({ isFirst = false }) => isFirst)}::boolean[],
      ${column('event')}::text[], ${column('status')}::text[], ${column('occurredAt')}::timestamptz[],
      ${events.map((event) => JSON.stringify(event.cause))}::jsonb[])
      new (signal_id, place, is_first, event, status, occurred_at, cause)`
}

export interface StoredSignal {
  id: number
  strategyId: number
  instrumentId: number
  side: Side
  positionEffect: PositionEffect
  orderQty: string
  cumQty: string
  avgPx: string | null
  status: OrdStatus
  isHeld: boolean
}

/** A signal as it stands; the caller has locked its strategy. */
export const findSignal = (sql: Sql, id: number | bigint): Promise<StoredSignal | undefined> =>
  sql.maybe<StoredSignal>`
    select id, strategy_id as "strategyId", instrument_id as "instrumentId", side,
      position_effect as "positionEffect", order_qty as "orderQty", cum_qty as "cumQty", avg_px as "avgPx",
      status, is_held as "isHeld"
    from signal where id = ${id}::bigint`

/** Ends a signal by request. Its copies follow, so it is due for mirroring again. */
export async function endSignal(sql: Sql, id: number, status: OrdStatus, endedAt: string): Promise<void> {
  await sql.run`
    update signal set status = ${status}::text, ended_at = ${endedAt}::timestamptz, is_held = false,
      needs_match = false, mirror_due = working_at is not null
    where id = ${id}::bigint`
}

/** Tells every worker that there is work; they find it themselves. */
export async function wakeWorkers(sql: Sql): Promise<void> {
  await sql.run`select pg_notify('work', '')`
}
