/**
 * Signals as they are placed, many in one statement. Every writer locks the strategy's row first, so what it then
 * reads about the strategy cannot change before it commits.
 */

import type { OrdStatus, OrdType, PositionEffect, Side, TimeInForce } from '../../domain/codes.ts'
import type { ExitRole } from '../../domain/orders/order-book.ts'
import { type Sql, uncounted } from '../database/sql.ts'
import type { Scalar } from '../database/wire.ts'

export interface LockedStrategy {
  id: number
  ownerPersonId: number
  cash: string
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
    select id, owner_person_id as "ownerPersonId", cash, is_alive as "isAlive", no_subs_allowed as "noSubsAllowed",
      membership_version as "membershipVersion"
    from strategy where id = any(${uncounted(ids, 'bigint')}::bigint[]) order by id for no key update`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Ids for signals and groups that do not exist yet, rising. */
export async function newSignalIds(sql: Sql, count: number): Promise<number[]> {
  const { ids } = await sql.one<{ ids: number[] }>`
    select array(select nextval('signal_id_seq') from generate_series(1, (select ${count}::int))) as ids`
  return ids
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
  isHeld: boolean
  cumQty: string
  avgPx: string | null
  postedAt: string
  workingAt: string | null
  expiresAt: string | null
  endedAt: string | null
  replacesSignalId: number | null
  parentSignalId: number | null
  depth: number
  exitRole: ExitRole | null
  coversFrom: string
  ocaGroupId: number | null
  waitsForParent: boolean
  isParked: boolean
  parkedUntil: string | null
  profitTarget: string | null
  stopLoss: string | null
  doNotCreateOcaGroup: boolean
  doNotSyncToOpen: boolean
  /** Made to reach desired positions. */
  fromDesired: boolean
  rejectText: string | null
  info: string | null
  requestId: string | null
  referencePx: string | null
  needsMatch: boolean
  /** The strategy's, as its lock has shown it; null: looked up. */
  membershipVersion: number | null
  /** Of an order that nobody copies; null for one that its followers wait for. */
  mirroredAt: string | null
  /** What happened to it as it was posted, and why, where that is all; null: its events are written apart. */
  event: string | null
  cause: Cause | null
}

/** Who or what brought an event about, with the numbers it was decided from. */
type Cause = Readonly<Record<string, unknown>>

type Column = readonly [read: (signal: NewSignal) => Scalar, name: string, type: string]

/** Columns of every new signal. */
const usualColumns: readonly Column[] = [
  [({ id }) => id, 'id', 'bigint'],
  [({ strategyId }) => strategyId, 'strategy_id', 'bigint'],
  [({ instrumentId }) => instrumentId, 'instrument_id', 'bigint'],
  [({ side }) => side, 'side', 'text'],
  [({ ordType }) => ordType, 'ord_type', 'text'],
  [({ timeInForce }) => timeInForce, 'time_in_force', 'text'],
  [({ positionEffect }) => positionEffect, 'position_effect', 'text'],
  [({ orderQty }) => orderQty, 'order_qty', 'numeric'],
  [({ limitPx }) => limitPx, 'limit_px', 'numeric'],
  [({ stopPx }) => stopPx, 'stop_px', 'numeric'],
  [({ status }) => status, 'status', 'text'],
  [({ postedAt }) => postedAt, 'posted_at', 'timestamptz'],
  [({ workingAt }) => workingAt, 'working_at', 'timestamptz'],
  [({ expiresAt }) => expiresAt, 'expires_at', 'timestamptz'],
  [({ requestId }) => requestId, 'request_id', 'text'],
  [({ referencePx }) => referencePx, 'reference_px', 'numeric'],
  [({ needsMatch }) => needsMatch, 'needs_match', 'boolean'],
]

/** Columns that most signals have at the table's own default, which stands behind the type. */
const rareColumns: readonly (readonly [...Column, usual: Scalar])[] = [
  [({ isHeld }) => isHeld, 'is_held', 'boolean', false],
  [({ cumQty }) => cumQty, 'cum_qty', 'numeric', '0'],
  [({ avgPx }) => avgPx, 'avg_px', 'numeric', null],
  [({ endedAt }) => endedAt, 'ended_at', 'timestamptz', null],
  [({ replacesSignalId }) => replacesSignalId, 'replaces_signal_id', 'bigint', null],
  [({ parentSignalId }) => parentSignalId, 'parent_signal_id', 'bigint', null],
  [({ depth }) => depth, 'depth', 'smallint', 0],
  [({ exitRole }) => exitRole, 'exit_role', 'text', null],
  [({ coversFrom }) => coversFrom, 'covers_from', 'numeric', '0'],
  [({ ocaGroupId }) => ocaGroupId, 'oca_group_id', 'bigint', null],
  [({ waitsForParent }) => waitsForParent, 'waits_for_parent', 'boolean', false],
  [({ isParked }) => isParked, 'is_parked', 'boolean', false],
  [({ parkedUntil }) => parkedUntil, 'parked_until', 'timestamptz', null],
  [({ profitTarget }) => profitTarget, 'profit_target', 'numeric', null],
  [({ stopLoss }) => stopLoss, 'stop_loss', 'numeric', null],
  [({ doNotCreateOcaGroup }) => doNotCreateOcaGroup, 'do_not_create_oca_group', 'boolean', false],
  [({ doNotSyncToOpen }) => doNotSyncToOpen, 'do_not_sync_to_open', 'boolean', false],
  [({ fromDesired }) => fromDesired, 'from_desired', 'boolean', false],
  [({ rejectText }) => rejectText, 'reject_text', 'text', null],
  [({ info }) => info, 'info', 'text', null],
  [({ mirroredAt }) => mirroredAt, 'mirrored_at', 'timestamptz', null],
]

const isPlain = (signal: NewSignal): boolean =>
  rareColumns.every(([read, , , usual]) => read(signal) === usual)

/** What is told of the signals beside their columns. */
const besides: readonly Column[] = [
  [({ membershipVersion }) => membershipVersion, 'membership_version', 'bigint'],
  [({ event }) => event, 'event', 'text'],
  [({ cause }) => cause && JSON.stringify(cause), 'cause', 'jsonb'],
]

/** The statement that writes these columns, with a question mark for each array. */
function insertion(columns: readonly Column[], isDue: string): Insertion {
  const names = columns.map(([, name]) => name).join(', ')
  const told = [...columns, ...besides]
  // Not to be counted: see `uncounted`.
  const arrays = told.map(([, , type], at) => (at === 0 ? `(select ?::${type}[])` : `?::${type}[]`))
  const text = `
    with new as materialized (
      select * from unnest(${arrays.join(', ')}) new (${told.map(([, name]) => name).join(', ')})
    ), made as (
      insert into signal (${names}, mirror_due, membership_horizon)
      overriding system value
      select ${names}, ${isDue}, case when ${isDue} then coalesce(membership_version, (
        select strategy.membership_version from strategy where strategy.id = new.strategy_id)) end
      from new
    )
    insert into signal_event (signal_id, seq, event, status, occurred_at, cause)
    select id, 1, event, status, posted_at, cause from new where event is not null`
  return { columns: told, statement: text.split('?') as readonly string[] as TemplateStringsArray }
}

interface Insertion {
  readonly columns: readonly Column[]
  readonly statement: TemplateStringsArray
}

/** Two statements for all there is: a column that says nothing costs as much to read as any other. */
const plainInsertion = insertion(usualColumns, 'working_at is not null')
const wholeInsertion = insertion(
  [...usualColumns, ...rareColumns.map(([read, name, type]): Column => [read, name, type])],
  'working_at is not null and mirrored_at is null',
)

/** Writes signals and what they say of themselves. One that works is due for mirroring, to those who follow its strategy now. */
export async function insertSignals(sql: Sql, signals: readonly NewSignal[]): Promise<void> {
  const { columns, statement } = signals.every(isPlain) ? plainInsertion : wholeInsertion
  await sql.run(statement, ...columns.map(([read]) => signals.map(read)))
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
  cause: Cause
}

/** Appends events behind those a signal has already. The signal's strategy is locked by the caller. */
export async function insertSignalEvents(sql: Sql, events: readonly NewSignalEvent[]): Promise<void> {
  if (events.length === 0) return
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
  parentSignalId: number | null
  isParked: boolean
  parkedUntil: number | null
  profitTarget: string | null
  stopLoss: string | null
  doNotCreateOcaGroup: boolean
}

/** A signal as it stands; the caller has locked its strategy. */
export const findSignal = (sql: Sql, id: number | bigint): Promise<StoredSignal | undefined> =>
  sql.maybe<StoredSignal>`
    select id, strategy_id as "strategyId", instrument_id as "instrumentId", side,
      position_effect as "positionEffect", order_qty as "orderQty", cum_qty as "cumQty", avg_px as "avgPx",
      status, is_held as "isHeld", parent_signal_id as "parentSignalId", is_parked as "isParked",
      parked_until as "parkedUntil", profit_target as "profitTarget", stop_loss as "stopLoss",
      do_not_create_oca_group as "doNotCreateOcaGroup"
    from signal where id = ${id}::bigint`

/** A signal that others are to depend on. */
export interface ParentRow {
  id: number
  strategyId: number
  side: Side
  positionEffect: PositionEffect
  status: OrdStatus
  depth: number
  cumQty: string
}

/** The signals of these ids; the caller has locked their strategies. */
export async function loadParents(
  sql: Sql,
  ids: readonly (number | bigint)[],
): Promise<Map<string, ParentRow>> {
  if (ids.length === 0) return new Map()
  const rows = await sql.rows<ParentRow>`
    select id, strategy_id as "strategyId", side, position_effect as "positionEffect", status, depth, cum_qty as "cumQty"
    from signal where id = any(${ids}::bigint[])`
  return new Map(rows.map((row) => [String(row.id), row]))
}

/** Tells every worker that there is work; they find it themselves. */
export async function wakeWorkers(sql: Sql): Promise<void> {
  await sql.run`select pg_notify('work', '')`
}
