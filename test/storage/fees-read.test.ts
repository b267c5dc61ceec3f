/** How the books of setups are read for their fees, also where there are many, and while they are traded in. */
import { beforeAll, expect, test } from 'vitest'
import { settleFees } from '../../src/storage/billing/performance-fees.ts'
import type { Transaction } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'

const setups = 150
const executionsEach = 20
const { db } = await testDatabase()

/** Live until June, and stopped, settled and closed before that but for the last one; each has gained 10. */
beforeAll(() =>
  db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into strategy (id, owner_person_id, site_id, name, starting_cash, cash, started_at, performance_fee_percent)
      overriding system value values (1, 2, 1, 'Trend', 1000, 1000, '2024-01-01', 20)`
    await tx.run`
      insert into instrument (id, symbol, security_type, description, root, currency, point_value, tick, calendar)
      overriding system value values (1, 'A', 'CS', 'A', 'A', 'USD', 1, 0.01, 'US_EQUITY')`
    await tx.run`
      insert into account (id, site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
        settings_changed_at, created_at)
      overriding system value values (1, 1, 1, 1, 'live', 0, 'U1', 1000, 1000, '2024-01-01', '2024-01-01')`
    await tx.run`
      insert into subscription (id, site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
        term_ends_at, performance_fee_percent)
      overriding system value values (1, 1, 1, 1, 'paid', 0, '2024-01-01', '2024-05-01', '2024-06-01', 20)`
    await tx.run`
      insert into setup (id, account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
        options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
        forex_long, forex_short, joins_positions, joined_version, started_at, changed_at, stopped_at, left_version,
        positions_left_open, closed_at)
      overriding system value
      select n, 1, 1, 100, true, true, true, true, true, true, true, true, true, true, true, true, true, 1, '2024-01-01',
        '2024-01-01', '2024-02-01', 2, false, '2024-02-01' from generate_series(1, ${setups}::int) n`
    await tx.run`
      update setup set stopped_at = null, left_version = null, positions_left_open = null, closed_at = null
      where id = ${setups}::bigint`
    await tx.run`
      insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
        cash_change, executed_at, fx)
      select 1, 1, setup.id || '.' || n, n, setup.id, 1, (1 + n % 2)::text, 5, 10, 49 * (n % 2) - 48 * (1 - n % 2),
        '2024-01-15', 1
      from setup, generate_series(1, ${executionsEach}::int) n`
    await tx.run`
      insert into fee_settlement (setup_id, settled_at, subscription_id, percent, capital, gain, fee, charged, units,
        price, mark, fees)
      select id, '2024-03-01', 1, 20, 1000, 10, 2, 200, 1000, 1.008, 1.008, 2 from setup
      where stopped_at is not null`
  }),
)

// Read once for each of them, the setups of an account of a few thousand took longer than a statement may.
test('the executions of an account are read once for all of its setups', async () => {
  await db.transaction(async (tx) => {
    const charged = await settleFees(tx, [{ id: 1, endsAt: Date.parse('2024-06-01T00:00:00Z') }])
    expect([...charged]).toEqual([[1, 200n]])
    const { read } = await tx.one<{ read: number }>`
      select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables
      where relname = 'execution'`
    expect(read).toBeLessThanOrEqual(2 * setups * executionsEach)
  })
})

/** The live setup buys for 1000. */
const buy = () =>
  db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
        cash_change, executed_at, fx)
      values (1, 1, 'bought', 1, ${setups}::bigint, 1, '1', 100, 10, -1000, '2024-06-30', 1)`
    await tx.run`
      insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity, avg_px, opened_at)
      values (${setups}::bigint, 1, 1, 1, 100, 10, '2024-06-30')`
  })

/** A transaction beside which something else is committed once it has read something. */
function interrupted(tx: Transaction, act: () => Promise<void>): Transaction {
  let interrupts = 1
  const rows = async (...asked: Parameters<Transaction['rows']>) => {
    const read = await tx.rows(...asked)
    if (interrupts-- > 0) await act()
    return read
  }
  return Object.assign(Object.create(tx), { rows, run: tx.run.bind(tx) })
}

test('what is bought while fees are settled is no gain', async () => {
  const charged = await db.transaction((tx) =>
    settleFees(interrupted(tx, buy), [{ id: 1, endsAt: Date.parse('2024-07-01T00:00:00Z') }]),
  )
  expect([...charged]).toEqual([[1, 0n]])
})
