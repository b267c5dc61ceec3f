/**
 * What changes a track record: a fill, an execution, a dividend, a correction of the past. Whoever changes cash or positions says
 * so here, in the same transaction: it then waits for a close that is just reading the books, and days that were
 * closed before it are closed again.
 */

import { bookedDay } from '../../domain/market/trading-day.ts'
import { type Day, formatDay, type Instant } from '../../domain/time.ts'
import { fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

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

/** Notes fills and corrections of strategies' books. */
export async function touchStrategies(tx: Transaction, changes: readonly BookChange[]): Promise<void> {
  if (changes.length === 0) return
  const rows = summarized(changes)
  const { ids, days, firsts, lasts } = columnsOf(rows)
  await tx.run`
    update strategy_record r set moved_at = greatest(r.moved_at, c.last),
      last_fill_at = greatest(r.last_fill_at, c.last_fill),
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
): Promise<void> {
  const strategies = await tx.rows<{ id: number }>`
    select distinct strategy_id as id from position_adjustment where action_id = any(${actionIds}::bigint[])`
  await touchStrategies(
    tx,
    strategies.map(({ id }) => ({ id, at })),
  )
  const accounts = await tx.rows<{ id: number }>`
    select distinct account_id as id from account_adjustment where action_id = any(${actionIds}::bigint[])`
  await touchAccounts(
    tx,
    accounts.map(({ id }) => ({ id, at })),
  )
}

/** A price that counts into the day of its moment. */
export interface LateMark {
  readonly instrumentId: number
  readonly at: Instant
}

/**
 * Notes prices that have come when their day may be closed already. They value what is held in the instrument, in
 * options on it, and, of a pair, in a currency of the pair by books in another. Strategies keep theirs in `currency`.
 */
export async function touchHolders(
  tx: Transaction,
  marks: readonly LateMark[],
  currency: string,
): Promise<void> {
  const ids = marks.map(({ instrumentId }) => instrumentId)
  const valued = fragment`
    with late as (
      select i.id, i.symbol, i.security_type, m.at
      from unnest(${uncounted(ids, 'bigint')}, ${marks.map(({ at }) => instant(at))}::timestamptz[]) m (id, at)
      join instrument i on i.id = m.id join quote q on q.instrument_id = m.id and q.quoted_at <= m.at
    ), valued as (
      select id, at, null as currency from late
      union all
      select i.id, late.at, null from late join instrument i on i.security_type = 'OPT' and i.underlying = late.symbol
      union all
      select i.id, late.at, i.currency from late join instrument i
        on late.security_type = 'FOR' and strpos(late.symbol, i.currency) > 0
    )`
  const strategies = await tx.rows<{ id: number; at: Instant }>`
    ${valued} select p.strategy_id as id, min(valued.at) as at
    from valued join position p on p.instrument_id = valued.id
    where valued.currency is distinct from ${currency} group by p.strategy_id`
  await touchStrategies(tx, strategies)
  const accounts = await tx.rows<{ id: number; at: Instant }>`
    ${valued} select p.account_id as id, min(valued.at) as at
    from valued join account_position p on p.instrument_id = valued.id join account a on a.id = p.account_id
    where valued.currency is distinct from a.currency group by p.account_id`
  await touchAccounts(tx, accounts)
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
