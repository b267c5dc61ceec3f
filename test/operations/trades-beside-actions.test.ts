/** What befell another instrument changes no trade under a plan, however late a fill of it was told. */
import { expect, test } from 'vitest'
import type { Context } from '../../src/operations/context.ts'
import { getStrategyHistoricalClosedTrades } from '../../src/operations/strategies/trades.ts'
import { fragment } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()

/** Bought and sold on the days 10 and 12, bought on day 5, as was told after both, split on day 20, and sold. */
const rows = [
  fragment`insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
    select symbol, 'CS', 'S', 'S', 'USD', 1, 0.01, 'US_EQUITY' from unnest(array['TRADED', 'OTHER']) symbol`,
  fragment`insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    values (1, 1, 'n', now(), 0, 0)`,
  fragment`insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change, filled_at)
    select 'fill ' || at, 0, 1, 1, side, quantity, px, 1, 0, timestamptz '2020-01-01' + at * interval '1 day'
    from (values (10, '1', 1, 100), (12, '2', 1, 110), (5, '1', 1, 120), (22, '2', 2, 70)) told (at, side, quantity, px)`,
  fragment`insert into trade (strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, closed_at, opened_qty,
      closed_qty, open_turnover, close_turnover, commission, realised, fx, profit_loss)
    select 1, 1, 0, '1', '2020-01-06', closed, closed, 1, 1, 100, 110, 0, gain, 1, gain
    from (values (10, timestamptz '2020-01-13'), (20, '2020-01-23')) made (gain, closed)`,
  fragment`insert into corporate_action (instrument_id, kind, ex_date, new_units, old_units, takes_effect_at, imported_at,
      booked_at) values (1, 'split', '2020-01-21', 2, 1, '2020-01-21', now(), now())`,
  fragment`insert into corporate_action (instrument_id, kind, ex_date, amount, takes_effect_at, imported_at, booked_at)
    values (2, 'dividend', '2020-01-08', 1, '2020-01-08', now(), now())`,
  fragment`insert into position_adjustment (action_id, strategy_id, quantity_before, quantity_change, cash_change)
    values (1, 1, 1, 1, 0), (2, 1, 5, 0, 5)`,
]

test('a dividend between them leaves the trades of another instrument as they were booked', async () => {
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    for (const row of rows) await tx.run`${row}`
  })
  const asked = { StrategyId: 1, CommissionPlan: '1' } as const
  const answer = await getStrategyHistoricalClosedTrades({ sql: db.read } as Context, asked)
  const trades = (answer as { results: readonly { ProfitLoss: unknown; Commission: unknown }[] }).results
  const gains = trades.map(({ ProfitLoss, Commission }) => Number(ProfitLoss) + Number(Commission))
  expect(gains).toEqual([20, 10])
})
