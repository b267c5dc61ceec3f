/** The whole history of a strategy is made beside others: no part of it holds the event loop for more than a page. */
import { expect, test } from 'vitest'
import type { Context } from '../../src/operations/context.ts'
import { getStrategyHistoricalClosedTrades } from '../../src/operations/strategies/trades.ts'
import { rowsAtOnce } from '../../src/operations/turns.ts'
import { fragment, type Sql } from '../../src/storage/database/sql.ts'
import { besideOthers } from '../support/beside-others.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()

const trades = 3 * rowsAtOnce

await db.transaction(async (tx) => {
  // Triggers and references would only cost time.
  await tx.run`set local session_replication_role = replica`
  for (const statement of [
    fragment`insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
      values ('S', 'CS', 'S', 'S', 'USD', 1, 0.01, 'US_EQUITY')`,
    fragment`insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
      values (1, 1, 'S', now(), 0, 0)`,
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
      select 1, 1, id, '1', posted_at, posted_at, posted_at + interval '1 minute', 1, 1, 100 + id % 7,
        100 + (id + 1) % 7, 0, 0, 1, (id + 1) % 7 - id % 7 from signal where id % 2 = 1 order by signal.id`,
  ])
    await tx.run`${statement}`
})

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

test.each([
  ['as booked', '0', [trades]],
  ['under a plan', '1', [2 * trades, 2 * trades, trades]],
] as const)('closed trades %s', async (_name, CommissionPlan, lists) => {
  const { first, again } = answeredAgain(db.read)
  const answerOf = (sql: Sql) =>
    getStrategyHistoricalClosedTrades({ sql } as Context, { StrategyId: 1, CommissionPlan })
  const whole = (await answerOf(first)) as { results: readonly { TradeId: number }[] }
  const signals = Array.from({ length: trades }, (_, place) => 2 * (trades - place) - 1)
  expect(whole.results.map(({ TradeId }) => TradeId)).toEqual(signals)
  const { answer, turns } = await besideOthers(() => answerOf(again))
  expect(answer).toEqual(whole)
  const between = lists.map((length) => length / rowsAtOnce - 1)
  expect(turns).toBeGreaterThanOrEqual(between.reduce((sum, count) => sum + count))
})
