/**
 * What changes a track record: a fill, an execution, a dividend, a correction of the past. Whoever changes cash or positions says
 * so here, in the same transaction: it then waits for a close that is just reading the books, and days that were
 * closed before it are closed again.
 */

import { bookedDay } from '../../domain/market/trading-day.ts'
import { type Day, formatDay, type Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { LatePrice } from './late-prices.ts'

/** The books of a strategy, or of an account, moved at a moment of business time. */
export interface BookChange {
  readonly id: number
  readonly at: Instant
  /** A strategy's trade: its last one is shown. */
  readonly isFill?: boolean
}

/** One per book: its first and last moment. */
interface Summary {
  readonly id: number
  readonly day: Day
  readonly first: Instant
  readonly last: Instant
  readonly lastFill: Instant | null
}

function summarized(changes: readonly BookChange[]): Summary[] {
  const found = new Map<number, Summary>()
  for (const { id, at, isFill = false } of changes) {
    const known = found.get(id)
    const first = Math.min(at, known?.first ?? at)
    const last = Math.max(at, known?.last ?? at)
    const lastFill = isFill ? Math.max(at, known?.lastFill ?? at) : (known?.lastFill ?? null)
    found.set(id, { id, day: bookedDay(first), first, last, lastFill })
  }
  return [...found.values()].sort((a, b) => a.id - b.id)
}

const columnsOf = (rows: readonly Summary[]) => ({
  ids: rows.map(({ id }) => id),
  days: rows.map(({ day }) => formatDay(day)),
  firsts: rows.map(({ first }) => instant(first)),
  lasts: rows.map(({ last }) => instant(last)),
})

/** A change of a day that is closed has the record `r` closed again from there. */
const reopened = fragment`
  stale_from = case when r.closed_day >= c.day then least(r.stale_from, c.day) else r.stale_from end,
  next_close_at = case when r.closed_day >= c.day then least(r.next_close_at, c.first) else r.next_close_at end`

/** Notes fills and corrections of strategies' books, which are news from `now` on, whenever they were. */
export async function touchStrategies(
  tx: Transaction,
  changes: readonly BookChange[],
  now: Instant,
): Promise<void> {
  if (changes.length === 0) return
  const rows = summarized(changes)
  const { ids, days, firsts, lasts } = columnsOf(rows)
  await tx.run`
    update strategy_record r set moved_at = greatest(r.moved_at, c.last),
      last_fill_at = greatest(r.last_fill_at, c.last_fill),
      noted_at = greatest(r.noted_at, ${instant(now)}::timestamptz),
      ${reopened}
    from unnest(${uncounted(ids, 'bigint')}, ${days}::date[], ${firsts}::timestamptz[], ${lasts}::timestamptz[],
      ${rows.map(({ lastFill }) => instant(lastFill))}::timestamptz[]) c (id, day, first, last, last_fill)
    where r.strategy_id = c.id`
}

/** Notes executions and corrections of accounts' books. */
export async function touchAccounts(tx: Sql, changes: readonly BookChange[]): Promise<void> {
  if (changes.length === 0) return
  const rows = summarized(changes)
  const { ids, days, firsts, lasts } = columnsOf(rows)
  await tx.run`
    update account_record r set moved_at = greatest(r.moved_at, c.last),
      ${reopened}
    from unnest(${uncounted(ids, 'bigint')}, ${days}::date[], ${firsts}::timestamptz[], ${lasts}::timestamptz[]) c (id, day, first, last)
    where r.account_id = c.id`
}

/** Notes what dividends and splits, all of one moment, did to the books of strategies and accounts. */
export async function touchAdjusted(
  tx: Transaction,
  actionIds: readonly number[],
  at: Instant,
  now: Instant,
): Promise<void> {
  const strategies = await tx.rows<{ id: number }>`
    select distinct strategy_id as id from position_adjustment where action_id = any(${actionIds}::bigint[])`
  await touchStrategies(
    tx,
    strategies.map(({ id }) => ({ id, at })),
    now,
  )
  const accounts = await tx.rows<{ id: number }>`
    select distinct account_id as id from account_adjustment where action_id = any(${actionIds}::bigint[])`
  await touchAccounts(
    tx,
    accounts.map(({ id }) => ({ id, at })),
  )
}

/** Rows of what the books of strategies, kept in `currency`, have held, with their currency and when they moved last. */
const heldByStrategies = (currency: string): Fragment => fragment`
  select p.strategy_id as book_id, p.instrument_id, p.quantity, ${currency}::text as currency, r.moved_at
  from position p join strategy_record r using (strategy_id)`

/** The same of accounts. */
const heldByAccounts: Fragment = fragment`
  select p.account_id as book_id, p.instrument_id, p.quantity, a.currency, r.moved_at
  from account_position p join account a on a.id = p.account_id join account_record r on r.account_id = a.id`

/**
 * Notes prices of moments whose days may be closed already. They value what is held in the instrument, in options on it,
 * and, of a pair, what is in another currency than its books: a rate may go through the dollar, by the pairs of both. Who
 * holds it no more may have held it then. Strategies keep their books in `currency`.
 */
export async function touchHolders(
  tx: Transaction,
  prices: readonly LatePrice[],
  currency: string,
  now: Instant,
): Promise<void> {
  const ids = prices.map(({ instrumentId }) => instrumentId)
  const holders = (held: Fragment): Promise<BookChange[]> => tx.rows<BookChange>`
    with held as not materialized (${held}), late as (
      select i.id, i.symbol, i.security_type, m.at
      from unnest(${uncounted(ids, 'bigint')}, ${prices.map(({ at }) => instant(at))}::timestamptz[]) m (id, at)
      join instrument i on i.id = m.id
    ), valued as (
      select book_id, quantity, moved_at, at from late join held on held.instrument_id = late.id
      union all
      select book_id, quantity, moved_at, at from late
      join instrument i on i.security_type = 'OPT' and i.underlying = late.symbol
      join held on held.instrument_id = i.id
      union all
      select book_id, quantity, moved_at, at from late join held on late.security_type = 'FOR'
      join instrument i on i.id = held.instrument_id and i.currency <> held.currency
      where strpos(late.symbol, i.currency) > 0 or strpos(late.symbol, held.currency) > 0
    )
    select book_id as id, min(at) as at from valued where quantity <> 0 or moved_at > at group by book_id`
  await touchStrategies(tx, await holders(heldByStrategies(currency)), now)
  await touchAccounts(tx, await holders(heldByAccounts))
}

/**
 * The figures of these strategies no longer say how things are. A mark that is there may be one that is just being taken
 * away by who computes them and cannot see what is told here, so it is set anew and waits for him.
 */
export async function outdateStatistics(sql: Sql, strategyIds: readonly number[]): Promise<void> {
  if (strategyIds.length === 0) return
  await sql.run`
    update strategy_record set statistics_due = true
    where strategy_id = any(${uncounted(strategyIds, 'bigint')}::bigint[])`
}
