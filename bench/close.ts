/**
 * The daily close of 10,000 strategies with five positions each and of 100,000 accounts with three: from the first
 * statement to the commit of every row. The naive form reads, values and commits book by book.
 */
import { accountValue } from '../src/domain/margin/model-account.ts'
import { endOfDay } from '../src/domain/market/trading-day.ts'
import { readDay } from '../src/domain/time.ts'
import type { WorkContext } from '../src/execution/context.ts'
import { closeDays } from '../src/execution/orders/daily-close.ts'
import type { Database } from '../src/storage/database/database.ts'
import { loadHeldAccounts } from '../src/storage/orders/model-accounts.ts'
import { startPlatform, workContext } from './support/platform.ts'
import { type Bench, interleaved, type Method, ratioOf, seconds } from './support/report.ts'

const strategies = 10_000
const accounts = 100_000
const naiveStrategies = 300
const rounds = 3
const day = '2024-03-12'
const now = endOfDay(readDay(day) ?? 0)

/** Instruments with a mark, strategies and accounts with positions; everything began that morning. */
async function fill(db: Database, ownerId: number): Promise<void> {
  const begun = '2024-03-12T14:00:00Z'
  await db.transaction(
    async (tx) => {
      await tx.script(`
        insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
        select 'B' || n, 'CS', 'B' || n, 'B' || n, 'USD', 1, 0.01, 'US_EQUITY' from generate_series(1, 50) n;
        insert into quote (instrument_id, bid, ask, quoted_at, day, is_valid)
        select id, 90 + id, 91 + id, '${begun}', '${day}', true from instrument;
        insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
        select p.site_id, p.id, 'S' || n, '${begun}', 100000, 50000 from person p, generate_series(1, ${strategies}) n
        where p.id = ${ownerId};
        insert into position (strategy_id, instrument_id, quantity, avg_px, opened_at)
        select s.id, 1 + (s.id * 7 + n * 11) % 50, 10 + n, 100.5, '${begun}' from strategy s, generate_series(1, 5) n;
        insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper');
        insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
          settings_changed_at, created_at)
        select p.site_id, p.id, b.id, 'paper', 1, 'A' || n, 50000, 20000, '${begun}', '${begun}'
        from person p, broker b, generate_series(1, ${accounts}) n where p.id = ${ownerId};
        insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
          options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
          forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
        select a.id, 1 + a.id % ${strategies}, 100, true, true, true, false, false, false, false, false, false, false,
          false, false, true, 1, '${begun}', '${begun}' from account a;
        insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity, avg_px, opened_at)
        select s.id, 1 + (s.id * 3 + n * 17) % 50, s.account_id, s.strategy_id, 5 + n, 99.5, '${begun}'
        from setup s, generate_series(1, 3) n;`)
    },
    { statementTimeoutMs: 300_000 },
  )
  await db.write.run`analyze`
}

async function reopen(db: Database): Promise<void> {
  await db.write.run`truncate strategy_day, account_day`
  await db.write.run`
    update strategy_record set closed_day = null, stale_from = null, next_close_at = '2024-03-12T14:00:00Z'`
  await db.write.run`
    update account_record set closed_day = null, stale_from = null, next_close_at = '2024-03-12T14:00:00Z'`
  await db.write.run`vacuum strategy_record, account_record`
}

const drained = async (ctx: WorkContext, kind: 'strategy' | 'account'): Promise<void> => {
  while ((await closeDays(ctx, kind)) > 0);
}

function methods(db: Database, ctx: WorkContext): Method[] {
  const closing = (name: string, kind: 'strategy' | 'account', count: number): Method => ({
    name,
    unit: 'books/s',
    measure: async () => {
      await reopen(db)
      return count / (await seconds(() => drained(ctx, kind)))
    },
  })
  return [
    closing('strategies', 'strategy', strategies),
    closing('accounts', 'account', accounts),
    {
      name: 'strategy by strategy, a commit each',
      unit: 'books/s',
      measure: async () => {
        await reopen(db)
        return naiveStrategies / (await seconds(() => naive(db)))
      },
    },
  ]
}

async function naive(db: Database): Promise<void> {
  for (let strategyId = 1; strategyId <= naiveStrategies; strategyId++) {
    await db.transaction(async (tx) => {
      const account = (await loadHeldAccounts(tx, [strategyId])).get(strategyId)
      if (!account) throw new Error(`strategy ${strategyId} holds nothing`)
      await tx.run`
        insert into strategy_day (strategy_id, day, cash, value)
        values (${strategyId}, ${day}::date, ${account.cash}::numeric, ${accountValue(account)}::numeric)`
    })
  }
}

async function run() {
  const platform = await startPlatform(0)
  const { db } = platform
  const ctx = workContext(db, () => now)
  await fill(db, platform.ownerId)
  const figures = await interleaved(methods(db, ctx), rounds)
  await platform.close()
  return {
    figures,
    ratios: [
      ratioOf(figures, 'strategies', 'strategy by strategy, a commit each', { atLeast: 10 }),
      ratioOf(figures, 'accounts', 'strategy by strategy, a commit each', { atLeast: 20 }),
    ],
  }
}

export const bench: Bench = { name: 'close', run }
