/**
 * 10,000 accounts held against the paper broker's word, each with three positions and a working order: asked, compared
 * and concluded, first while all agree, then with one in a hundred differing. The naive form does the same account by
 * account: four questions and a transaction for each.
 */
import { clientOrderId } from '../src/domain/orders/client-order-id.ts'
import { createPaperBroker } from '../src/execution/brokers/paper.ts'
import type { WorkContext } from '../src/execution/context.ts'
import { reconcile } from '../src/execution/reports/reconciliation.ts'
import { conclude } from '../src/execution/reports/reconciliation-gaps.ts'
import { lastReport, lockQuietAccounts, sumBooked } from '../src/storage/brokers/reconciliation.ts'
import { listSentOrders } from '../src/storage/brokers/sent-orders.ts'
import type { Database } from '../src/storage/database/database.ts'
import { startPlatform, workContext } from './support/platform.ts'
import { type Bench, interleaved, type Method, ratioOf, seconds } from './support/report.ts'

const accounts = 10_000
const naiveAccounts = 300
const oneIn = 100
const rounds = 3
const environment = 'B'
const signalId = 1
const begun = '2024-03-12T14:00:00Z'
const now = Date.parse('2024-03-12T15:00:00Z')

/** Followers whose positions and orders stand in our books and in the broker's alike. */
async function fill(db: Database, ownerId: number, strategyId: number): Promise<void> {
  await db.transaction(
    async (tx) => {
      await tx.script(`
        insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
        select 'B' || n, 'CS', 'B' || n, 'B' || n, 'USD', 1, 0.01, 'US_EQUITY' from generate_series(1, 50) n;
        insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper');
        insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
          settings_changed_at, created_at)
        select p.site_id, p.id, b.id, 'paper', 1, 'A' || n, 50000, 20000, '${begun}', '${begun}'
        from person p, broker b, generate_series(1, ${accounts}) n where p.id = ${ownerId} and b.name = 'B';
        insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
          options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
          forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
        select a.id, ${strategyId}, 100, true, true, true, false, false, false, false, false, false, false,
          false, false, true, 1, '${begun}', '${begun}' from account a;
        insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity, avg_px, opened_at)
        select s.id, i.id, s.account_id, s.strategy_id, 5 + n, 99.5, '${begun}'
        from setup s, generate_series(1, 3) n, instrument i where i.symbol = 'B' || 1 + (s.id * 3 + n * 17) % 50;
        insert into paper_report (broker_id, report_key, account_id, kind, symbol, side, quantity, px, occurred_at,
          is_delivered)
        select a.broker_id, 'P' || i.symbol, p.account_id, 'fill', i.symbol, '1', p.quantity, p.avg_px, '${begun}', true
        from account_position p join account a on a.id = p.account_id join instrument i on i.id = p.instrument_id;`)
      const setups = await tx.rows<{ id: number }>`select id from setup order by id`
      const ids = setups.map(({ id }) => id)
      const names = ids.map((setupId) =>
        clientOrderId({ environment, setupId, source: 'S', sourceId: signalId, revision: 0 }),
      )
      await tx.run`
        with ordered as (
          insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, side,
            ord_type, time_in_force, position_effect, order_qty, limit_px, status, is_acknowledged, posted_at, attempts,
            strategy_qty, scaling_percentage, held_qty, setup_fence)
          select s.account_id, a.broker_id, s.id, s.strategy_id, ${signalId}, 1, '1', '2', '1', 'O', 5, 50, '0', true,
            ${begun}::timestamptz, 1, 5, 100, 0, s.fence
          from setup s join account a on a.id = s.account_id returning account_id, setup_id, broker_id)
        insert into paper_order (account_id, client_order_id, broker_id, instrument_id, side, ord_type, time_in_force,
          position_effect, order_qty, limit_px, status, accepted_at, needs_match)
        select o.account_id, n.name, o.broker_id, 1, '1', '2', '1', 'O', 5, 50, '0', ${begun}::timestamptz, false
        from ordered o join unnest(${ids}::bigint[], ${names}::text[]) n (setup_id, name) using (setup_id)`
    },
    { statementTimeoutMs: 300_000 },
  )
  await db.write.run`analyze`
}

const countGaps = async (db: Database): Promise<number> =>
  (await db.read.one<{ count: number }>`select count(*)::int as count from position_gap`).count

const paper = createPaperBroker().broker

/** Throws where a pass has not found exactly what differs. */
async function pass(ctx: WorkContext, differing: number): Promise<number> {
  await ctx.db.write.run`truncate position_gap, order_gap`
  const spent = await seconds(() => reconcile(ctx, 'paper', paper, true))
  const found = await countGaps(ctx.db)
  if (found !== differing) throw new Error(`${found} accounts differ instead of ${differing}`)
  return accounts / spent
}

/** What one account needs, by the same functions. */
async function alone(ctx: WorkContext, brokerId: number, id: number): Promise<void> {
  const mark = await lastReport(ctx.db.read)
  const [snapshot] = await paper.snapshot(ctx, [id])
  if (!snapshot) throw new Error(`the broker does not know account ${id}`)
  await sumBooked(ctx.db.read, [id], environment)
  const working = new Map(snapshot.working.map((order) => [order.clientOrderId, order]))
  const standings = (await listSentOrders(ctx.db.read, [id], ctx.clock.now())).map((order) => {
    const name = clientOrderId({ environment, ...order })
    return { order, clientOrderId: name, standing: working.get(name) ?? null }
  })
  const findings = {
    brokerId,
    snapshots: new Map([[id, snapshot]]),
    unreadable: [],
    unanswered: new Set<number>(),
    standings,
  }
  await ctx.db.transaction(async (tx) => conclude(ctx, tx, findings, await lockQuietAccounts(tx, [id], mark)))
}

function methods(ctx: WorkContext, brokerId: number): Method[] {
  const { db } = ctx
  const stray = (quantity: string) => db.write.run`
    update paper_report set quantity = quantity + ${quantity}::numeric
    where account_id % ${oneIn} = 0 and id in (select min(id) from paper_report group by account_id)`
  return [
    { name: 'all agree', unit: 'accounts/s', measure: () => pass(ctx, 0) },
    {
      name: 'one in a hundred differs',
      unit: 'accounts/s',
      measure: async () => {
        await stray('1')
        const speed = await pass(ctx, accounts / oneIn)
        await stray('-1')
        return speed
      },
    },
    {
      name: 'account by account',
      unit: 'accounts/s',
      measure: async () => {
        const ids = await db.read.rows<{ id: number }>`
          select id from account where broker_id = ${brokerId} order by id limit ${naiveAccounts}`
        const spent = await seconds(async () => {
          for (const { id } of ids) await alone(ctx, brokerId, id)
        })
        return naiveAccounts / spent
      },
    },
  ]
}

async function run() {
  const platform = await startPlatform(1)
  const { db, ownerId, strategyIds } = platform
  const ctx = workContext(db, () => now)
  await fill(db, ownerId, strategyIds[0] ?? 0)
  const { id: brokerId } = await db.read.one<{ id: number }>`select id from broker where name = 'B'`
  const figures = await interleaved(methods(ctx, brokerId), rounds)
  await platform.close()
  return { figures, ratios: [ratioOf(figures, 'all agree', 'account by account', { atLeast: 20 })] }
}

export const bench: Bench = { name: 'sync', run }
