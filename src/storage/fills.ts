/**
 * What the market did to strategies, written for many of them at once: signals, fills, positions and cash
 * move in one transaction or not at all. An execution id exists once, so a repeat cannot book twice.
 */
import type { OrdStatus, Side } from '../domain/codes.ts'
import type { Decimal } from '../domain/decimal.ts'
import type { Instant } from '../domain/time.ts'
import type { BookKey } from './matching.ts'
import type { Transaction } from './sql.ts'
import { instant } from './wire.ts'

export interface SignalChange {
  readonly signalId: number
  readonly status: OrdStatus
  readonly isTriggered: boolean
  readonly cumQty: Decimal
  readonly avgPx: Decimal | null
  /** Null while it lives. */
  readonly endedAt: Instant | null
  /** Why it ended, where the status does not say it; null leaves what is there. */
  readonly info: string | null
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

export interface PositionRow extends BookKey {
  readonly quantity: Decimal
  readonly avgPx: Decimal | null
  readonly openedAt: Instant | null
}

/** Writes signals' new state. A signal that ended is due for mirroring: its copies follow. */
export async function updateSignals(tx: Transaction, changes: readonly SignalChange[]): Promise<void> {
  const column = <K extends keyof SignalChange>(name: K): SignalChange[K][] =>
    changes.map((change) => change[name])
  await tx.run`
    update signal s set status = c.status, is_triggered = c.is_triggered, cum_qty = c.cum_qty, avg_px = c.avg_px,
      ended_at = c.ended_at, info = coalesce(c.info, s.info), needs_match = s.needs_match and c.ended_at is null,
      is_held = s.is_held and c.status = 'A', mirror_due = s.mirror_due or c.ended_at is not null
    from unnest(${column('signalId')}::bigint[], ${column('status')}::text[], ${column('isTriggered')}::boolean[],
      ${column('cumQty')}::numeric[], ${column('avgPx')}::numeric[],
      ${changes.map(({ endedAt }) => instant(endedAt))}::timestamptz[], ${column('info')}::text[])
      c (id, status, is_triggered, cum_qty, avg_px, ended_at, info)
    where s.id = c.id`
}

/** Books fills and adds what they did to the cash of their strategies. */
export async function insertFills(tx: Transaction, fills: readonly NewFill[]): Promise<void> {
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
}

/** Writes positions as they are now; one that is flat stays as a row without an average. */
export async function savePositions(tx: Transaction, positions: readonly PositionRow[]): Promise<void> {
  const column = <K extends keyof PositionRow>(name: K): PositionRow[K][] => positions.map((row) => row[name])
  await tx.run`
    insert into position (strategy_id, instrument_id, quantity, avg_px, opened_at)
    select * from unnest(${column('strategyId')}::bigint[], ${column('instrumentId')}::bigint[],
      ${column('quantity')}::numeric[], ${column('avgPx')}::numeric[],
      ${positions.map(({ openedAt }) => instant(openedAt))}::timestamptz[])
    on conflict (strategy_id, instrument_id) do update
      set quantity = excluded.quantity, avg_px = excluded.avg_px, opened_at = excluded.opened_at`
}
