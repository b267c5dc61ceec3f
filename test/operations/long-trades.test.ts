/**
 * The whole history of a strategy is read in pages and made beside others: no part of it holds the event loop for more
 * than a page, and no statement takes longer the longer the history is.
 */
import { expect, test } from 'vitest'
import type { Context } from '../../src/operations/context.ts'
import { getStrategyHistoricalClosedTrades } from '../../src/operations/strategies/trades.ts'
import { rowsAtOnce } from '../../src/operations/turns.ts'
import { readBookFills } from '../../src/storage/accounts/book-history.ts'
import { fragment, type Sql } from '../../src/storage/database/sql.ts'
import { readClosedTrades } from '../../src/storage/strategies/trade-listings.ts'
import { besideOthers } from '../support/beside-others.ts'
import { testDatabase } from '../support/database.ts'
import { looked, plansOf } from '../support/plans.ts'

const { db } = await testDatabase()

const trades = 3 * rowsAtOnce
/** Of another strategy, before all of these. */
const others = 5 * trades
/** So many trades are closed at one moment: a page ends among them. */
const together = 7

await db.transaction(async (tx) => {
  // Triggers and references would only cost time.
  await tx.run`set local session_replication_role = replica`
  for (const statement of [
    fragment`insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
      select symbol, 'CS', 'S', 'S', 'USD', 1, 0.01, 'US_EQUITY' from unnest(array['S', 'SPLIT']) symbol`,
    fragment`insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
      select 1, 1, n, now(), 0, 0 from generate_series(1, 2) n`,
    fragment`insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change,
        filled_at)
      select 'other ' || n, 0, 2, 1, '1', 1, 100, 1, -100, '2023-01-01' from generate_series(1, ${others}::int) n`,
    fragment`insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
        status, posted_at, working_at, ended_at, membership_horizon)
      select 1, 1, case n % 2 when 1 then '1' else '2' end, '1', '0', 'O', 1, '2', at, at, at, 1
      from generate_series(1, ${2 * trades}::int) n,
        lateral (select timestamptz '2024-01-01' + n * interval '1 minute' as at) moment`,
    fragment`insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change,
        filled_at)
      select id, id, 1, 1, side, 1, 100 + id % 7, 1, -100, posted_at from signal order by id`,
    fragment`insert into trade (strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, closed_at,
        opened_qty, closed_qty, open_turnover, close_turnover, commission, realised, fx, profit_loss)
      select 1, 1, id, '1', posted_at, posted_at,
        timestamptz '2024-01-01' + (id / (2 * ${together}::int)) * ${together}::int * interval '2 minutes', 1, 1,
        100 + id % 7, 100 + (id + 1) % 7, 0, 0, 1, (id + 1) % 7 - id % 7 from signal where id % 2 = 1 order by signal.id`,
    // The first trade of all, over a split: half of what it was opened with was told when all else was booked.
    fragment`insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change,
        filled_at)
      select 'split ' || at, 0, 1, 2, side, quantity, 100, 1, 0, timestamptz '2020-01-01' + at * interval '1 day'
      from (values (1, '1', 10), (3, '2', 40), (0, '1', 10)) told (at, side, quantity)`,
    fragment`insert into corporate_action (instrument_id, kind, ex_date, new_units, old_units, takes_effect_at, imported_at,
        booked_at)
      values (2, 'split', '2020-01-03', 2, 1, '2020-01-03', now(), now())`,
    fragment`insert into position_adjustment values (1, 1, 20, 20, 0)`,
    fragment`insert into trade (strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, closed_at,
        opened_qty, closed_qty, open_turnover, close_turnover, commission, realised, fx, profit_loss)
      values (1, 2, 0, '1', '2020-01-01', '2020-01-04', '2020-01-04', 40, 40, 2000, 4000, 0, 2000, 1, 2000)`,
  ])
    await tx.run`${statement}`
})
await db.write.run`analyze`

/** What the database answers, and the same again without waiting for it: then others have only the turns they are given. */
function answeredAgain(sql: Sql): { first: Sql; again: Sql } {
  const answers: unknown[] = []
  const keep = async <T>(answer: Promise<T>): Promise<T> => {
    answers.push(await answer)
    return answers.at(-1) as T
  }
  const repeat = async () => answers.shift() as never
  return {
    first: {
      ...sql,
      rows: (...asked) => keep(sql.rows(...asked)),
      one: (...asked) => keep(sql.one(...asked)),
      maybe: (...asked) => keep(sql.maybe(...asked)),
    },
    again: { ...sql, rows: repeat, one: repeat, maybe: repeat },
  }
}

interface Trade {
  readonly TradeId: number
  readonly Commission: unknown
  readonly ProfitLoss: unknown
}

const answerOf = async (sql: Sql, CommissionPlan: '0' | '1'): Promise<readonly Trade[]> => {
  const answer = await getStrategyHistoricalClosedTrades({ sql } as Context, {
    StrategyId: 1,
    CommissionPlan,
  })
  return (answer as { results: readonly Trade[] }).results
}

/** The signals that opened them, the last closed first. */
const signals = [...Array.from({ length: trades }, (_, place) => 2 * (trades - place) - 1), 0]

test.each(['0', '1'] as const)('under the plan %s no statement answers more than a page', async (plan) => {
  const lengths: number[] = []
  const rows = async <Row>(...asked: Parameters<Sql['rows']>): Promise<Row[]> => {
    const found = await db.read.rows<Row>(...asked)
    lengths.push(found.length)
    return found
  }
  const answer = await answerOf({ ...db.read, rows }, plan)
  expect(answer.map(({ TradeId }) => TradeId)).toEqual(signals)
  expect(Math.max(...lengths)).toBe(rowsAtOnce)
})

test('each trade pays by the plan, also one whose fills were told after a split of them', async () => {
  const answer = await answerOf(db.read, '1')
  const paid = answer.map(({ Commission, ProfitLoss }) => [Number(Commission), Number(ProfitLoss)])
  // Three dollars an order at least. Of the fills over the split the books call one order: 0.05 % of 6,000.
  const ofShares = signals.slice(0, -1).map((id) => [6, ((id + 1) % 7) - (id % 7) - 6])
  expect(paid.slice(0, -1)).toEqual(ofShares)
  expect(paid.at(-1)).toEqual([3, 1997])
})

test('what is made of the pages leaves others their turns', async () => {
  const { first, again } = answeredAgain(db.read)
  const whole = await answerOf(first, '1')
  const { answer, turns } = await besideOthers(() => answerOf(again, '1'))
  expect(answer).toEqual(whole)
  expect(turns).toBeGreaterThanOrEqual((2 * trades) / rowsAtOnce)
})

test.each<
  [string, 'force_generic_plan' | 'force_custom_plan', (sql: Sql) => AsyncIterable<readonly object[]>]
>([
  ['fills, by a plan that is kept', 'force_generic_plan', (sql) => readBookFills(sql, 'strategy', [1])],
  ['fills, by plans for each page', 'force_custom_plan', (sql) => readBookFills(sql, 'strategy', [1])],
  [
    'fills of two, by a plan that is kept',
    'force_generic_plan',
    (sql) => readBookFills(sql, 'strategy', [1, 2]),
  ],
  [
    'fills of two, by plans for each page',
    'force_custom_plan',
    (sql) => readBookFills(sql, 'strategy', [1, 2]),
  ],
  ['closed trades, by a plan that is kept', 'force_generic_plan', (sql) => readClosedTrades(sql, 1)],
  ['closed trades, by plans for each page', 'force_custom_plan', (sql) => readClosedTrades(sql, 1)],
])('a page looks at its own rows alone: %s', async (_name, mode, read) => {
  const walk = async (sql: Sql): Promise<void> => {
    for await (const part of read(sql)) expect(part.length).toBeLessThanOrEqual(rowsAtOnce)
  }
  const plans = await plansOf(db, walk, true, mode)
  expect(plans.length).toBeGreaterThan(trades / rowsAtOnce)
  // Beside each its instrument, by whichever way.
  expect(Math.max(...plans.map(looked))).toBeLessThanOrEqual(2 * rowsAtOnce + 10)
})
