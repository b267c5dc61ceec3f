/** Books of years are gone through part by part, whoever asks what they came to: nobody holds them whole. */
import { expect, test } from 'vitest'
import { closeDays } from '../../src/execution/orders/daily-close.ts'
import { updateStatistics } from '../../src/execution/orders/statistics.ts'
import { type BookFillRow, readBookFills, readFillsOf } from '../../src/storage/accounts/book-history.ts'
import { type Fragment, fragment, type Sql } from '../../src/storage/database/sql.ts'
import { besideOthers } from '../support/beside-others.ts'
import { testDatabase } from '../support/database.ts'
import { looked, plansOf } from '../support/plans.ts'
import { addInstrument, addStrategy, close, makeWorld, opening } from './world.ts'

const { db } = await testDatabase()

const readAtOnce = 1_000
const day = 86_400_000

/** Without triggers and references: they would only cost time. */
const seed = (...statements: Fragment[]): Promise<void> =>
  db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    for (const statement of statements) await tx.run`${statement}`
  })

const { id: instrumentId } = await addInstrument(db)

/** Buys and sells, a second apart from the opening on, at a gain of a dollar for each two. */
const fillsOf = (strategyId: number, count: number): Fragment => fragment`
  insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change, filled_at)
  select gen_random_uuid(), 0, ${strategyId}::bigint, ${instrumentId}::bigint, case n % 2 when 0 then '1' else '2' end, 1,
    100 + n % 2, 1, case n % 2 when 0 then -100 else 101 end, to_timestamp(${opening / 1000}::float8 + n)
  from generate_series(0, ${count - 1}::int) n`

/** How many rows each statement answers that lists fills, or whatever has the column. */
const watched = (sql: Sql, lengths: number[], column = 'takesBack'): Pick<Sql, 'rows'> => ({
  rows: async (...asked) => {
    const found = await sql.rows<object>(...asked)
    if (found.some((row) => column in row)) lengths.push(found.length)
    return found as never
  },
})

async function whole(parts: AsyncIterable<readonly BookFillRow[]>): Promise<BookFillRow[]> {
  const rows: BookFillRow[] = []
  for await (const part of parts) {
    expect(part.length).toBeLessThanOrEqual(readAtOnce)
    rows.push(...part)
  }
  return rows
}

test('the fills of several strategies come in pages, one strategy after the other', async () => {
  const counts = [300, 2_500, 0, 700, 1_000]
  const ids: number[] = []
  for (const count of counts) {
    const id = await addStrategy(db)
    ids.push(id)
    await seed(fillsOf(id, count))
  }
  const lengths: number[] = []
  const sql = { ...db.read, ...watched(db.read, lengths) }
  const rows = await whole(readBookFills(sql, 'strategy', ids))
  const expected = await db.read.rows<{ bookId: number; at: number }>`
    select strategy_id as "bookId", filled_at as at from fill where strategy_id = any(${ids}::bigint[])
    order by strategy_id, id`
  expect(rows.map(({ bookId, at }) => ({ bookId, at }))).toEqual(expected)
  expect(Math.max(...lengths)).toBe(readAtOnce)
})

test('a day of a strategy of many fills is closed page by page', async () => {
  const id = await addStrategy(db)
  const count = 2_500
  await seed(
    fillsOf(id, count),
    fragment`update strategy set started_at = to_timestamp(${opening / 1000}::float8)`,
  )
  await db.write.run`update strategy_record set next_close_at = 'infinity' where strategy_id <> ${id}`
  await db.write.run`
    update strategy_record set moved_at = to_timestamp(${(opening + day) / 1000}::float8),
      next_close_at = to_timestamp(${close / 1000}::float8) where strategy_id = ${id}`
  const { ctx, clock } = makeWorld(db)
  clock.time = close
  const lengths: number[] = []
  const transaction: typeof db.transaction = (work, options) =>
    db.transaction((tx) => work({ ...tx, ...watched(tx, lengths) }), options)
  expect(await closeDays({ ...ctx, db: { ...db, transaction } }, 'strategy')).toBe(1)
  const { starting, value } = await db.read.one<{ starting: number; value: number }>`
    select s.starting_cash::float8 as starting, d.value::float8 as value
    from strategy_day d join strategy s on s.id = d.strategy_id where d.strategy_id = ${id}`
  expect(value - starting).toBe(count / 2)
  expect(lengths).toEqual([readAtOnce, readAtOnce, 500])
})

test('of accounts so many are read at once as can be held, and what was read leaves others their turns', async () => {
  const counts = [9_000, 10_000, 2_000, 21_000, 1_000]
  await seed(fragment`
    insert into execution (broker_id, account_id, exec_id, instrument_id, side, quantity, px, cash_change, executed_at, fx)
    select 1, account_id, account_id || ' ' || n, ${instrumentId}::bigint, '1', 1, 100, -100, now(), 1
    from unnest(${counts}::int[]) with ordinality as counted (count, account_id), generate_series(1, count) n`)
  const ids = counts.map((_, place) => place + 1)
  const lengths: number[] = []
  const answers: unknown[] = []
  const keep = async (answer: Promise<unknown>) => answers[answers.push(await answer) - 1] as never
  const sql = { ...db.read, ...watched(db.read, lengths) }
  const first = await whole(
    readBookFills({ ...sql, rows: (...asked) => keep(sql.rows(...asked)) }, 'account', ids),
  )
  expect(lengths).toEqual([19_000, 2_000, 21_000, 1_000])
  expect(counts.map((_, place) => first.filter(({ bookId }) => bookId === ids[place]).length)).toEqual(counts)
  // Answered without waiting, others have only the turns that they are given.
  const again = { ...db.read, rows: async () => answers.shift() as never }
  const { answer, turns } = await besideOthers(() => whole(readBookFills(again, 'account', ids)))
  expect(answer.length).toBe(first.length)
  expect(turns).toBeGreaterThanOrEqual(first.length / readAtOnce - lengths.length)
})

test('of an account its own executions alone are looked at, however many it has', async () => {
  await db.write.run`analyze execution`
  const { own, all } = await db.read.one<{ own: number; all: number }>`
    select count(*) filter (where account_id = 4)::int as own, count(*)::int as all from execution`
  expect(all).toBeGreaterThan(2 * own)
  const read = (sql: Sql) => whole(readFillsOf(sql, [4], [instrumentId]))
  const plans = await plansOf(db, read, false, 'force_custom_plan')
  expect(Math.max(...plans.map(looked))).toBeLessThan(own + 100)
})

test('the trades of several strategies are summed up page by page', async () => {
  const counts = [700, 2_500, 1_000]
  await db.write.run`update strategy_record set statistics_due = false`
  const ids: number[] = []
  for (const count of counts) {
    const id = await addStrategy(db)
    ids.push(id)
    // Several are closed at one moment: a page ends among them.
    await seed(fragment`
      insert into trade (strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, closed_at, opened_qty,
        closed_qty, open_turnover, close_turnover, commission, realised, fx, profit_loss)
      select ${id}::bigint, ${instrumentId}::bigint, 0, '1', at - interval '1 day', at, at, 1, 1, 100, 100, 0, 0, 1, n % 3 - 1
      from generate_series(0, ${count - 1}::int) n, lateral (
        select to_timestamp(${opening / 1000}::float8 + n / 7) as at) moment`)
  }
  const lengths: number[] = []
  const transaction: typeof db.transaction = (work, options) =>
    db.transaction((tx) => work({ ...tx, ...watched(tx, lengths, 'profitLoss') }), options)
  expect(await updateStatistics({ ...makeWorld(db).ctx, db: { ...db, transaction } })).toBe(counts.length)
  const figures = await db.read.rows`
    select trades, winners, losers, stock_trades as stocks, average_trade_days as days from strategy_statistics
    where strategy_id = any(${ids}::bigint[]) order by strategy_id`
  const third = (count: number, rest: number): number => Math.floor((count + 2 - rest) / 3)
  expect(figures).toEqual(
    counts.map((count) => ({
      trades: count,
      winners: third(count, 2),
      losers: third(count, 0),
      stocks: count,
      days: 1,
    })),
  )
  expect(lengths).toEqual([readAtOnce, readAtOnce, readAtOnce, readAtOnce, 200])
})
