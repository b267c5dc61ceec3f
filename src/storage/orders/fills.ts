/**
 * What the market did to strategies, written for many of them at once: signals, fills, positions and cash
 * move in one transaction or not at all. An execution id exists once, so a repeat cannot book twice.
 */
import type { OrdStatus, Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type BookKey, bookKeys } from '../work/matching.ts'
import { touchStrategies } from '../work/record-changes.ts'

export interface SignalChange {
  readonly signalId: number
  readonly status: OrdStatus
  readonly orderQty: Decimal
  readonly cumQty: Decimal
  readonly avgPx: Decimal | null
  readonly isHeld: boolean
  readonly isTriggered: boolean
  readonly parentSignalId: number | null
  readonly waitsForParent: boolean
  readonly isParked: boolean
  /** It was held and works from now on. */
  readonly starts: boolean
  /** Having started, it was held against the last quote already. */
  readonly isServed: boolean
  readonly workingAt: string | null
  /** Of an order that starts; the others keep theirs. */
  readonly expiresAt: string | null
  /** Null while it lives. */
  readonly endedAt: string | null
  /** Why it ended, where the status does not say it; null leaves what is there. */
  readonly info: string | null
  readonly rejectText: string | null
}

export interface NewFill extends BookKey {
  readonly execId: string
  readonly signalId: number
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
  readonly fx: Decimal
  readonly commission: Decimal
  readonly cashChange: Decimal
  readonly filledAt: Instant
  readonly tradeId: number | null
}

/** A book with what its strategy holds. */
interface HeldBook extends BookKey {
  readonly position: { readonly quantity: Decimal; readonly avgPx: Decimal | null }
  readonly openedAt: Instant | null
}

/**
 * Writes signals' new state. One that starts to work meets the last quote and its followers of this moment; one
 * that ended is due for mirroring again, because its copies follow it.
 */
export async function updateSignals(sql: Sql, changes: readonly SignalChange[]): Promise<void> {
  const column = <K extends keyof SignalChange>(name: K): SignalChange[K][] =>
    changes.map((change) => change[name])
  await sql.run`
    update signal s set status = c.status, order_qty = c.order_qty, cum_qty = c.cum_qty, avg_px = c.avg_px,
      is_held = c.is_held, is_triggered = c.is_triggered, parent_signal_id = c.parent, waits_for_parent = c.waits,
      is_parked = c.is_parked, working_at = c.working_at, ended_at = coalesce(s.ended_at, c.ended_at),
      expires_at = case when c.starts then c.expires_at else s.expires_at end,
      info = coalesce(c.info, s.info), reject_text = coalesce(c.reject_text, s.reject_text),
      needs_match = c.ended_at is null and (s.needs_match or c.starts and not c.is_served),
      mirror_due = s.mirror_due or c.working_at is not null and (c.starts or c.ended_at is not null),
      membership_horizon = case when c.starts then (
        select membership_version from strategy where strategy.id = s.strategy_id) else s.membership_horizon end,
      reference_px = case when c.starts then coalesce(s.limit_px, s.stop_px, (
        select case s.side when '1' then ask else bid end from quote q where q.instrument_id = s.instrument_id),
        s.reference_px) else s.reference_px end
    from unnest(${uncounted(column('signalId'), 'bigint')}, ${column('status')}::text[], ${column('orderQty')}::numeric[],
      ${column('cumQty')}::numeric[], ${column('avgPx')}::numeric[], ${column('isHeld')}::boolean[],
      ${column('isTriggered')}::boolean[], ${column('parentSignalId')}::bigint[],
      ${column('waitsForParent')}::boolean[], ${column('isParked')}::boolean[], ${column('starts')}::boolean[],
      ${column('isServed')}::boolean[], ${column('workingAt')}::timestamptz[],
      ${column('expiresAt')}::timestamptz[], ${column('endedAt')}::timestamptz[], ${column('info')}::text[],
      ${column('rejectText')}::text[])
      c (id, status, order_qty, cum_qty, avg_px, is_held, is_triggered, parent, waits, is_parked, starts, is_served,
        working_at, expires_at, ended_at, info, reject_text)
    where s.id = c.id`
}

/** Books fills and adds what they did to the cash of their strategies. */
export async function insertFills(tx: Transaction, fills: readonly NewFill[], now: Instant): Promise<void> {
  const column = <K extends keyof NewFill>(name: K): NewFill[K][] => fills.map((fill) => fill[name])
  await tx.run`
    with booked as (
      insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, commission,
        cash_change, filled_at, trade_id)
      select * from unnest(${column('execId')}::text[], ${column('signalId')}::bigint[],
        ${column('strategyId')}::bigint[], ${column('instrumentId')}::bigint[], ${column('side')}::text[],
        ${column('quantity')}::numeric[], ${column('px')}::numeric[], ${column('fx')}::numeric[],
        ${column('commission')}::numeric[], ${column('cashChange')}::numeric[],
        ${fills.map(({ filledAt }) => instant(filledAt))}::timestamptz[], ${column('tradeId')}::bigint[])
      returning strategy_id, cash_change
    )
    update strategy set cash = cash + change.total
    from (select strategy_id, sum(cash_change) as total from booked group by strategy_id) change
    where strategy.id = change.strategy_id`
  await touchStrategies(
    tx,
    fills.map(({ strategyId, filledAt }) => ({ id: strategyId, at: filledAt, isFill: true })),
    now,
  )
}

/** Writes positions as they are now; one that is flat stays as a row without an average. */
export async function savePositions(tx: Transaction, books: readonly HeldBook[]): Promise<void> {
  await tx.run`
    insert into position (strategy_id, instrument_id, quantity, avg_px, opened_at)
    select * from unnest(${bookKeys(books)}, ${books.map(({ position }) => position.quantity)}::numeric[],
      ${books.map(({ position }) => position.avgPx)}::numeric[],
      ${books.map(({ openedAt }) => instant(openedAt))}::timestamptz[])
    on conflict (strategy_id, instrument_id) do update
      set quantity = excluded.quantity, avg_px = excluded.avg_px, opened_at = excluded.opened_at`
}
