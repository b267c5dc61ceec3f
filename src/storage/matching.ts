/**
 * Orders and the market: which strategies prices reach, and everything their fills are decided from. Locks are
 * taken in one order: quote, strategy, account, order. Under its strategy's lock nothing else changes a signal.
 */
import type { OrdStatus, OrdType, PositionEffect, Side } from '../domain/codes.ts'
import type { Decimal } from '../domain/decimal.ts'
import type { Instant } from '../domain/time.ts'
import { fragment, type Sql, type Transaction } from './sql.ts'
import { instant } from './wire.ts'

/** What one strategy has in one instrument. */
export interface BookKey {
  readonly strategyId: number
  readonly instrumentId: number
}

/** The best and worst prices of a batch for each side. */
export interface PriceRange {
  readonly instrumentId: number
  readonly buyLow: Decimal
  readonly buyHigh: Decimal
  readonly sellLow: Decimal
  readonly sellHigh: Decimal
}

/**
 * Locks every strategy with an order at work that prices in these ranges may fill or trigger, and names the
 * books. A condition too wide only costs time: what really fills is decided afterwards.
 */
export async function lockReached(tx: Transaction, ranges: readonly PriceRange[]): Promise<BookKey[]> {
  const column = <K extends keyof PriceRange>(name: K): PriceRange[K][] => ranges.map((range) => range[name])
  return tx.rows<BookKey>`
    with reached as materialized (
      select distinct s.strategy_id, s.instrument_id
      from unnest(${column('instrumentId')}::bigint[], ${column('buyLow')}::numeric[], ${column('buyHigh')}::numeric[],
        ${column('sellLow')}::numeric[], ${column('sellHigh')}::numeric[])
        r (instrument_id, buy_low, buy_high, sell_low, sell_high)
      join signal s on s.instrument_id = r.instrument_id and s.status in ('0', '1', '6', 'E')
      where s.ord_type = '1' or s.is_triggered
        or s.ord_type = '2' and (s.side = '1' and s.limit_px >= r.buy_low or s.side = '2' and s.limit_px <= r.sell_high)
        or s.ord_type = '3' and (s.side = '1' and s.stop_px <= r.buy_high or s.side = '2' and s.stop_px >= r.sell_low)
    ), locked as (
      select id from strategy where id in (select strategy_id from reached) order by id for no key update
    )
    select strategy_id as "strategyId", instrument_id as "instrumentId"
    from reached join locked on locked.id = strategy_id`
}

/**
 * True of a signal that waits to be held against the last quote. Before the first quote of its instrument there
 * is nothing to hold it against, and no row by which to wait for a batch that is just bringing one.
 */
export const isArrival = fragment`needs_match and exists (
  select from quote q where q.instrument_id = signal.instrument_id)`

/** Books with arrivals, oldest signals first. */
export const listArrivals = (tx: Transaction, limit: number): Promise<BookKey[]> =>
  tx.rows<BookKey>`
    select distinct strategy_id as "strategyId", instrument_id as "instrumentId"
    from (select strategy_id, instrument_id from signal where ${isArrival} order by id limit ${limit}) due`

/** Locks those of the strategies that nobody else has locked. */
export async function claimStrategies(tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx.rows<{ id: number }>`
    select id from strategy where id = any(${ids}::bigint[]) order by id for no key update skip locked`
  return new Set(rows.map((row) => row.id))
}

/** Notes that every signal of these books was held against the last quote. */
export async function settleArrivals(tx: Transaction, keys: readonly BookKey[]): Promise<number> {
  return tx.run`
    update signal set needs_match = false
    from unnest(${keys.map((key) => key.strategyId)}::bigint[], ${keys.map((key) => key.instrumentId)}::bigint[])
      book (strategy_id, instrument_id)
    where needs_match and signal.strategy_id = book.strategy_id and signal.instrument_id = book.instrument_id`
}

/** A signal at work, and its book's position beside it. Numbers are exact texts. */
export interface WorkingSignalRow extends BookKey {
  readonly signalId: number
  readonly side: Side
  readonly ordType: OrdType
  readonly positionEffect: PositionEffect
  readonly orderQty: string
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly status: OrdStatus
  readonly isTriggered: boolean
  readonly cumQty: string
  /** Quantity times price over the fills of the whole chain of replacements. */
  readonly filledValue: string
  /** Of its own fills: how many, how much, and what they were worth per point in account currency. */
  readonly fills: number
  readonly ownQty: string
  readonly ownNotional: string
  readonly postedAt: Instant
  readonly workingAt: Instant
  readonly expiresAt: Instant | null
  readonly needsMatch: boolean
  readonly positionQty: string
  readonly positionAvgPx: string | null
  readonly openedAt: Instant | null
  /** Last rate this strategy booked in the instrument; null in the account's own currency or without a fill. */
  readonly lastFx: string | null
}

/** All signals at work in the books, in the order of their ids. The caller has locked the strategies. */
export const loadWorkingSignals = (
  tx: Transaction,
  keys: readonly BookKey[],
  currency: string,
): Promise<WorkingSignalRow[]> =>
  tx.rows<WorkingSignalRow>`
    select s.id as "signalId", s.strategy_id as "strategyId", s.instrument_id as "instrumentId", s.side,
      s.ord_type as "ordType", s.position_effect as "positionEffect", s.order_qty as "orderQty",
      s.limit_px as "limitPx", s.stop_px as "stopPx", s.status, s.is_triggered as "isTriggered",
      s.cum_qty as "cumQty", coalesce(done.value, 0) as "filledValue", coalesce(done.fills, 0) as fills,
      coalesce(done.own_qty, 0) as "ownQty", coalesce(done.own_notional, 0) as "ownNotional",
      s.posted_at as "postedAt", s.working_at as "workingAt", s.expires_at as "expiresAt",
      s.needs_match as "needsMatch", coalesce(p.quantity, 0) as "positionQty", p.avg_px as "positionAvgPx",
      p.opened_at as "openedAt", case when i.currency <> ${currency} then (
        select f.fx from fill f where f.strategy_id = s.strategy_id and f.instrument_id = s.instrument_id
        order by f.id desc limit 1) end as "lastFx"
    from unnest(${keys.map((key) => key.strategyId)}::bigint[], ${keys.map((key) => key.instrumentId)}::bigint[])
      book (strategy_id, instrument_id)
    join signal s on s.strategy_id = book.strategy_id and s.instrument_id = book.instrument_id
      and s.status in ('0', '1', '6', 'E')
    join instrument i on i.id = s.instrument_id
    left join position p on p.strategy_id = s.strategy_id and p.instrument_id = s.instrument_id
    left join lateral (
      with recursive chain (id, before) as (
        select s.id, s.replaces_signal_id where s.cum_qty > 0
        union all select e.id, e.replaces_signal_id from chain join signal e on e.id = chain.before
      )
      select sum(f.quantity * f.px) as value, count(*) filter (where f.signal_id = s.id) as fills,
        sum(f.quantity) filter (where f.signal_id = s.id) as own_qty,
        sum(f.quantity * abs(f.px) * f.fx) filter (where f.signal_id = s.id) as own_notional
      from chain join fill f on f.signal_id = chain.id
    ) done on true
    order by s.id`

export interface ExpiringSignal {
  readonly signalId: number
  readonly status: OrdStatus
  readonly isHeld: boolean
  readonly isTriggered: boolean
  readonly orderQty: string
  readonly cumQty: string
  readonly avgPx: string | null
  readonly expiresAt: Instant
}

/** Strategies with live signals whose day has ended. */
export async function listExpiringStrategies(
  tx: Transaction,
  now: Instant,
  limit: number,
): Promise<number[]> {
  const rows = await tx.rows<{ strategyId: number }>`
    select distinct strategy_id as "strategyId" from (
      select strategy_id from signal where expires_at <= ${instant(now)}::timestamptz
        and status in ('A', '0', '1', '6', 'E') order by expires_at limit ${limit}) due`
  return rows.map((row) => row.strategyId)
}

/** Live signals of these strategies whose day has ended, earliest first. The caller has locked the strategies. */
export const loadExpiring = (
  tx: Transaction,
  strategyIds: readonly number[],
  now: Instant,
): Promise<ExpiringSignal[]> =>
  tx.rows<ExpiringSignal>`
    select id as "signalId", status, is_held as "isHeld", is_triggered as "isTriggered", order_qty as "orderQty",
      cum_qty as "cumQty", avg_px as "avgPx", expires_at as "expiresAt"
    from signal
    where strategy_id = any(${strategyIds}::bigint[]) and expires_at <= ${instant(now)}::timestamptz
      and status in ('A', '0', '1', '6', 'E')
    order by expires_at, id`

/** When the next live signal's day ends; undefined when none does. */
export async function findNextExpiry(sql: Sql): Promise<Instant | undefined> {
  const next = await sql.maybe<{ at: Instant }>`
    select expires_at as at from signal where expires_at is not null and status in ('A', '0', '1', '6', 'E')
    order by expires_at limit 1`
  return next?.at
}
