/** On a platform of years a worker asks whether anything is due without reading what is long over. */
import { expect, test } from 'vitest'
import { assembleWork } from '../../src/execution/assembly.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import { approvalExpiryStep } from '../../src/execution/mirror/approvals.ts'
import { listWorkingPaper } from '../../src/storage/brokers/paper.ts'
import { sumPaperPositions } from '../../src/storage/brokers/paper-reports.ts'
import { lockQuietAccounts } from '../../src/storage/brokers/reconciliation.ts'
import {
  type Fragment,
  fragment,
  join,
  makeSql,
  type Sql,
  type Transaction,
} from '../../src/storage/database/sql.ts'
import { listClosingSetups } from '../../src/storage/mirror/closings.ts'
import { endShutOut, isShutOut } from '../../src/storage/mirror/sending.ts'
import { lapseOfSetup } from '../../src/storage/people/subscriptions.ts'
import { claimDeliveries } from '../../src/storage/people/webhook-deliveries.ts'
import { everybody } from '../../src/storage/work/among.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'

const { db } = await testDatabase()

/** Enough that reading all of them is not the cheapest way. */
const rows = 5_000

/** Rows as old ones are, of nobody and with nothing to be done about them: the plan sees their number alone. */
const old: Readonly<Record<string, Fragment>> = {
  account: fragment`insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash,
      cash, settings_changed_at, created_at)
    select 1, n, 1, 'paper', 1, n, 1, 1, now(), now()`,
  account_order: fragment`insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id,
      instrument_id, side, ord_type, time_in_force, position_effect, order_qty, status, posted_at, ended_at,
      strategy_qty, scaling_percentage, held_qty, setup_fence)
    select n, 1, n, 1, n, 1, '1', '1', '0', 'O', 1, '4', now(), now(), 1, 100, 0, 1`,
  account_position: fragment`insert into account_position (setup_id, instrument_id, account_id, strategy_id, quantity,
      avg_px)
    select n, 1, n, 1, 1, 1`,
  account_record: fragment`insert into account_record (account_id, next_close_at) select n, now() + interval '1 day'`,
  broker_report: fragment`insert into broker_report (broker_id, account_id, report_key, kind, symbol, occurred_at,
      applied_at)
    select 1, 1 + n % 50, n, 'ack', '', now(), now()`,
  dashboard_session: fragment`insert into dashboard_session (person_id, csrf_hash, created_at) select n, '', now()`,
  // As many were used as were not.
  email_confirmation: fragment`insert into email_confirmation (person_id, email, token_hash, created_at, expires_at,
      confirmed_at)
    select n, '', n::text::bytea, now(), now() + (n % 2 * 2 - 1) * interval '1 day',
      case when n % 2 = 0 then now() end`,
  idempotency: fragment`insert into idempotency (access_key_id, idempotency_key, operation, fingerprint, created_at)
    select n, 'key', 'POST', '', now()`,
  // Half of them work.
  paper_order: fragment`insert into paper_order (account_id, client_order_id, broker_id, instrument_id, side, ord_type,
      time_in_force, position_effect, order_qty, status, accepted_at)
    select 1 + n % 50, n, 1, 1, '1', '2', '1', 'O', 1, case when n % 1000 < 500 then '0' else '2' end, now()`,
  paper_report: fragment`insert into paper_report (broker_id, report_key, account_id, kind, symbol, side, quantity, px,
      occurred_at, is_delivered)
    select 1, n, 1 + n % 50, 'fill', n % 7, '1', 1, 1, now(), true`,
  rate_window: fragment`insert into rate_window (subject, window_seconds, started_at, used) select n, 10, now(), 1`,
  // As many go on as have ended: those are not closed yet and not stopped either.
  setup: fragment`insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long,
      stocks_short, options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short,
      forex_enabled, forex_long, forex_short, joins_positions, joined_version, left_version, started_at, changed_at,
      stopped_at, positions_left_open, closed_at)
    select n, 1, 100, true, true, true, true, true, true, true, true, true, true, true, true, true, 1,
      case when n % 2 = 0 then 2 end, now(), now(), case when n % 2 = 0 then now() end,
      case when n % 2 = 0 then false end, case when n % 2 = 0 then now() end`,
  subscription: fragment`insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at,
      term_started_at, term_ends_at)
    select 1, n, 1, 'paid', 1, now(), now(), now() + interval '1 day'`,
  webhook_delivery: fragment`insert into webhook_delivery (endpoint_id, approval_request_id, event_type, body,
      created_at, delivered_at)
    select n % 5, gen_random_uuid(), '', '', case when n % 5 = 1 then now() - interval '1 year' else now() end,
      case when n % 2 = 0 then now() end`,
  // The second was disabled by the operator.
  webhook_endpoint: fragment`insert into webhook_endpoint (site_id, url, event_types, created_at, disabled_at,
      disabled_reason)
    select 1, n, '{approval.failed}', now(), case when n = 2 then now() end,
      case when n = 2 then 'the operator has disabled it' end`,
}

await db.transaction(async (tx) => {
  // Whom they belong to says nothing to the planner.
  await tx.run`set local session_replication_role = replica`
  for (const insert of Object.values(old)) await tx.run`${insert} from generate_series(1, ${rows}::int) n`
})
await db.write.run`analyze`

/** How a statement is carried out on a connection that has asked some times and keeps its plan. */
const planOf = (ask: (sql: Sql) => Promise<unknown>): Promise<string> =>
  db.transaction(async (tx) => {
    await tx.run`set local plan_cache_mode = force_generic_plan`
    let plan: unknown
    const explaining = makeSql(async ({ text, values }) => {
      const given = values.map((value) => `'${String(value)}'`).join(', ')
      await tx.script(`prepare looking as ${text}`)
      const how = {
        strings: [`explain (analyze, format json) execute looking${given && `(${given})`}`],
        values: [],
      }
      plan = await tx.rows`${how}`
      await tx.script('deallocate looking')
      return { rows: [], rowCount: 0, command: '' }
    })
    await ask(explaining)
    return JSON.stringify(plan)
  })

/** The most that a step of the plan read in vain, or handed on. */
const mostOf = (plan: string, what: 'Rows Removed by Filter' | 'Actual Rows'): number =>
  Math.max(0, ...[...plan.matchAll(new RegExp(`"${what}":(\\d+)`, 'g'))].map(([, count]) => Number(count)))

test('a question of an idle worker reads no table row by row', async () => {
  const { steps } = assembleWork({
    db,
    clock: { now: () => Date.now() },
    log: silentLog,
    workerId: 'idle',
    environment: 'B',
  })
  const due = steps.map((step) => {
    const condition = step.due(Date.now())
    return typeof condition === 'boolean' ? fragment`${condition}::boolean` : condition
  })
  const plan = await planOf((sql) => sql.rows`select array[${join(due, ', ')}]`)
  expect(mostOf(plan, 'Rows Removed by Filter')).toBeLessThan(rows / 10)
})

test.each([
  [false, true],
  [true, false],
])('old webhooks are forgotten, but not by a test door: scripted %s', (isScripted, isSwept) => {
  const { steps } = assembleWork({
    db,
    clock: { now: () => 0 },
    log: silentLog,
    workerId: 'idle',
    environment: 'B',
    isScripted,
  })
  expect(steps.some(({ name }) => name === 'sweepWebhooks')).toBe(isSwept)
})

test('a setup that is to be closed is found without a look at all positions', async () => {
  await db.write.run`
    update setup set stopped_at = now(), left_version = 2, positions_left_open = false where account_id = 1`
  const plan = await planOf((sql) => listClosingSetups(sql, everybody, 10))
  expect(mostOf(plan, 'Actual Rows')).toBeLessThan(rows / 10)
})

test('accounts are compared with their broker without a look at all that was ever reported of them', async () => {
  const plan = await planOf((sql) => lockQuietAccounts(sql as Transaction, [1, 2], rows))
  expect(mostOf(plan, 'Rows Removed by Filter')).toBeLessThan(10)
})

test('nor at all that they ever ordered of the paper broker', async () => {
  const plan = await planOf((sql) => listWorkingPaper(sql, [1, 2]))
  expect(mostOf(plan, 'Rows Removed by Filter')).toBeLessThan(10)
})

test('nor at all that they ever executed there', async () => {
  const plan = await planOf((sql) => sumPaperPositions(sql, [1, 2]))
  expect(mostOf(plan, 'Actual Rows')).toBeLessThan(20)
})

test('what is told to an endpoint is found without a look at all that it was ever told, or that waits for others', async () => {
  await db.write.run`
    update webhook_delivery set next_try_at = now() where delivered_at is null and endpoint_id in (3, 4)`
  await db.write.run`update webhook_endpoint set rests_until = now() + interval '1 hour' where id = 3`
  await db.write.run`analyze webhook_delivery`
  const plan = await planOf((sql) => claimDeliveries(sql, Date.now(), { count: 100, perEndpoint: 2 }))
  expect(mostOf(plan, 'Rows Removed by Filter')).toBeLessThan(10)
  const { claimed } = await db.read.one<{ claimed: number[] }>`
    select array_agg(endpoint_id::int) as claimed from webhook_delivery where claimed_until is not null`
  expect(claimed).toEqual([4, 4])
})

test('requests of many customers that run out at once are ended some at a time', async () => {
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into approval_request (id, account_id, strategy_id, action, status, choices, created_at, expires_at)
      select gen_random_uuid(), n, 1, 'start', 'PendingCustomer', '{}', now(), now() from generate_series(1, 2500) n`
  })
  const ctx = { db, clock: { now: () => Date.now() } } as WorkContext
  const ended = [
    await approvalExpiryStep.run(ctx),
    await approvalExpiryStep.run(ctx),
    await approvalExpiryStep.run(ctx),
  ]
  expect(ended).toEqual([2_000, 500, 0])
})

test('whether the followers of a strategy subscribe is asked without a look at all who subscribe to it', async () => {
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`
      insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
        term_ends_at)
      select 1, n, 2 + (n * 7 + other * 37) % 299, 'paid', 1, now(), now(), now() + interval '1 day'
      from generate_series(1, ${rows}::int) n, generate_series(1, 8) other`
  })
  await db.write.run`analyze subscription`
  const ids = Array.from({ length: 50 }, (_, at) => at + 1)
  const plan = await planOf(
    (sql) => sql.rows`
      select t.id, subscribed.lapsed from setup t join account a on a.id = t.account_id
        cross join lateral ${lapseOfSetup} subscribed
      where t.id = any(${`{${ids}}`}::bigint[])`,
  )
  expect(mostOf(plan, 'Actual Rows')).toBeLessThan(100)
})

test('while no broker is disabled none of the orders that wait is looked at for one', async () => {
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`update account_order set status = 'A', ended_at = null, pending_action = 'new'`
  })
  await db.write.run`analyze account_order`
  const plan = await planOf((sql) => sql.rows`select ${isShutOut('paper')}`)
  expect(mostOf(plan, 'Rows Removed by Filter')).toBeLessThan(10)
})

test('once one is disabled its orders are ended some at a time, however many wait', async () => {
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    const { id } = await tx.one<{ id: number }>`
      insert into broker (name, connection_name, environment, adapter, is_enabled)
      values ('Away', 'away', 'paper', 'paper', false) returning id`
    await tx.run`update account_order set broker_id = ${id}`
  })
  const end = () => db.transaction((tx) => endShutOut(tx, 'paper', Date.now()))
  expect([await end(), await end(), await end(), await end()]).toEqual([2000, 2000, 1000, 0])
})
