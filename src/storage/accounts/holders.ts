/**
 * Who is concerned by what happens to an instrument: strategies that hold it or have orders in it, and what they
 * hold. The rows of its quotes are locked first, so nobody trades meanwhile.
 */

import { type Decimal, dec, decOrNull } from '../../domain/decimal.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { fragment, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { lastFx } from '../orders/order-books.ts'
import { lockStrategies } from '../orders/signals.ts'
import { type BookKey, bookKeys } from '../work/matching.ts'

/** The last quote of an instrument, valid or not. */
export interface LastMark {
  readonly bid: Decimal
  readonly ask: Decimal
  readonly at: Instant
}

/** Locks the last quotes of instruments against every other batch; one without a quote is missing. */
export async function lockMarks(
  tx: Transaction,
  instrumentIds: readonly number[],
): Promise<Map<number, LastMark>> {
  const rows = await tx.rows<{ id: number; bid: string; ask: string; at: Instant }>`
    select instrument_id as id, bid, ask, quoted_at as at from quote
    where instrument_id = any(${instrumentIds}::bigint[]) order by instrument_id for update`
  return new Map(rows.map(({ id, bid, ask, at }) => [id, { bid: dec(bid), ask: dec(ask), at }]))
}

/**
 * Locks the strategies that hold the instruments or have live orders in them, and names the books. Named until nobody
 * new is among them: while locks are waited for, who holds them may place orders.
 */
export async function lockHolders(tx: Transaction, instrumentIds: readonly number[]): Promise<BookKey[]> {
  const locked = new Set<number>()
  for (;;) {
    const keys = await listHolders(tx, instrumentIds)
    const more = keys.flatMap(({ strategyId }) => (locked.has(strategyId) ? [] : [strategyId]))
    if (more.length === 0) return keys
    await lockStrategies(tx, more)
    for (const id of more) locked.add(id)
  }
}

const listHolders = (sql: Sql, instrumentIds: readonly number[]): Promise<BookKey[]> =>
  sql.rows<BookKey>`
    select strategy_id as "strategyId", instrument_id as "instrumentId" from position
    where instrument_id = any(${instrumentIds}::bigint[]) and quantity <> 0
    union
    select strategy_id, instrument_id from signal
    where instrument_id = any(${instrumentIds}::bigint[]) and status in ${live}
    order by 1, 2`

/**
 * Locks the accounts that hold the instrument or have live orders in it: nobody is told of a trade in it meanwhile.
 * `andFormer`: also those that held it once.
 */
export const lockHoldingAccounts = (
  tx: Transaction,
  instrumentId: number,
  andFormer = false,
): Promise<number> =>
  tx.run`
    select id from account where id in (
      select account_id from account_position
      where instrument_id = ${instrumentId}::bigint and (quantity <> 0 or ${andFormer}::boolean)
      union
      select account_id from account_order
      where instrument_id = ${instrumentId}::bigint and status in ${live}
      union
      select account_id from position_gap g join instrument i on i.symbol = g.symbol
      where i.id = ${instrumentId}::bigint
    ) order by id for no key update`

/** What a strategy has in an instrument, orders or not. */
export interface HoldingRow extends BookKey {
  readonly calendar: CalendarName
  readonly quantity: Decimal
  readonly avgPx: Decimal | null
  readonly openedAt: Instant | null
  /** Last rate this strategy booked in the instrument; null in the account's own currency or without a fill. */
  readonly lastFx: Decimal | null
}

/** What the books hold; flat where they never held anything. The caller has locked the strategies. */
export async function loadHoldingRows(sql: Sql, keys: readonly BookKey[]): Promise<HoldingRow[]> {
  const rows = await sql.rows<
    Omit<HoldingRow, 'quantity' | 'avgPx' | 'lastFx'> & Record<'quantity' | 'avgPx' | 'lastFx', string | null>
  >`
    select book.strategy_id as "strategyId", i.id as "instrumentId", i.calendar, p.quantity, p.avg_px as "avgPx",
      p.opened_at as "openedAt", ${lastFx(fragment`book.strategy_id`)} as "lastFx"
    from unnest(${bookKeys(keys)}) book (strategy_id, instrument_id)
    join instrument i on i.id = book.instrument_id
    left join position p on p.strategy_id = book.strategy_id and p.instrument_id = i.id`
  return rows.map((row) => ({
    ...row,
    quantity: dec(row.quantity ?? 0),
    avgPx: decOrNull(row.avgPx),
    lastFx: decOrNull(row.lastFx),
  }))
}

/** Strategies with a fill in one of the instruments at `since` or later. */
export async function listTradersSince(
  sql: Sql,
  instrumentIds: readonly number[],
  since: Instant,
): Promise<Set<number>> {
  const rows = await sql.rows<{ id: number }>`
    select distinct strategy_id as id from fill
    where instrument_id = any(${instrumentIds}::bigint[]) and filled_at >= ${instant(since)}::timestamptz`
  return new Set(rows.map(({ id }) => id))
}

/** Strategies that are flat and were not at `since`: what they traded from then on does not add up to nothing. */
export const listFlattenedSince = (
  sql: Sql,
  instrumentIds: readonly number[],
  since: Instant,
): Promise<number[]> =>
  idsOf(sql.rows`
    select f.strategy_id as id from fill f join position p using (strategy_id, instrument_id)
    where f.instrument_id = any(${instrumentIds}::bigint[]) and f.filled_at >= ${instant(since)}::timestamptz
      and p.quantity = 0
    group by f.strategy_id, f.instrument_id
    having sum(case f.side when '1' then f.quantity else -f.quantity end) <> 0`)
