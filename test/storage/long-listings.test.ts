/** On a platform of many a listing reads what it is asked for, and everything else at most once. */
import { expect, test } from 'vitest'
import { dayLength } from '../../src/domain/time.ts'
import { pageAccounts, pageAutotraded } from '../../src/storage/accounts/account-listings.ts'
import { listAccounts } from '../../src/storage/accounts/accounts.ts'
import { listPendingAccounts } from '../../src/storage/accounts/approved-accounts.ts'
import { listSimulations } from '../../src/storage/accounts/simulations.ts'
import { pageRevenue } from '../../src/storage/billing/subscription-listings.ts'
import { type Fragment, fragment, type Sql } from '../../src/storage/database/sql.ts'
import { listFillExceptions } from '../../src/storage/market/fill-exceptions.ts'
import { pageSetups } from '../../src/storage/mirror/setup-listings.ts'
import { pageAccountOrders } from '../../src/storage/mirror/signal-listings.ts'
import { exportExecutions } from '../../src/storage/operating/site-export.ts'
import { listInternalOrders } from '../../src/storage/orders/internal-orders.ts'
import { pagePeople } from '../../src/storage/people/people.ts'
import { testDatabase } from '../support/database.ts'
import { looked, type Node, plansOf } from '../support/plans.ts'

const { db } = await testDatabase()

const accounts = 3_000
/** Every strategy has three followers. */
const strategies = 1_000
/** The last accounts belong to a site of their own. */
const members = 50
/** Of each of them, and of every other account. */
const [executions, few] = [200, 10]
/** What was executed beside its strategy's price, in days ago. */
const strays = [1, 40, 41, 400]

const tables: readonly Fragment[] = [
  fragment`insert into site (kind, code, name, parent_site_id, created_at) values ('geo', 'G', 'G', 1, now())`,
  fragment`insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper')`,
  fragment`insert into person (site_id, role, alias, first_name, last_name, email, created_at)
    select 1, 'user', n, 'A', 'B', n || '@test', now() from generate_series(1, ${accounts}::int) n`,
  fragment`insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
      settings_changed_at, created_at)
    select case when n > ${accounts - members}::int then 2 else 1 end, n, 1, 'paper', 1, n, 0, 0, now(), now()
    from generate_series(1, ${accounts}::int) n`,
  fragment`insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
    values ('S', 'CS', 'S', 'S', 'USD', 1, 0.01, 'US_EQUITY')`,
  fragment`insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    select 1, 1, n, now(), 0, 0 from generate_series(1, ${strategies}::int) n`,
  fragment`insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
      options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
      forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
    select n, 1 + n % ${strategies}::int, 100, true, true, true, true, true, true, true, true, true, true, true, true,
      true, 1, now(), now() from generate_series(1, ${accounts}::int) n`,
  fragment`insert into approval_request (id, account_id, strategy_id, action, status, choices, created_at, expires_at,
      ended_at)
    select gen_random_uuid(), n, 1, 'start', 'Completed', '{}', now(), now(), now()
    from generate_series(1, ${accounts}::int) n`,
  fragment`insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      status, posted_at, working_at, ended_at, membership_horizon)
    select 1 + n % ${strategies}::int, 1, '1', '1', '0', 'O', 1, '4', now(), now(), now(), 1
    from generate_series(1, ${5 * accounts}::int) n`,
  fragment`insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change, filled_at)
    select id, id, strategy_id, 1, '1', 1, 100, 1, -100, now() from signal`,
  fragment`insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, side, ord_type,
      time_in_force, position_effect, order_qty, status, posted_at, ended_at, strategy_qty, scaling_percentage, held_qty,
      setup_fence)
    select account_id, 1, account_id, 1, signal_id, 1, '1', '1', '0', 'O', 1, '2', now(), now(), 1, 100, 0, 1 from (
      select n as account_id, n + k * ${members}::int as signal_id from generate_series(1, ${accounts}::int) n,
        generate_series(0, case when n > ${accounts - members}::int then ${executions - 1}::int else ${few - 1}::int end) k) copy`,
  fragment`insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
      cash_change, executed_at, fx)
    select 1, account_id, id, id, setup_id, 1, '1', 1, 100, -100, now() - account_id * interval '1 second', 1
    from account_order`,
  fragment`insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
      cash_change, executed_at, fx)
    select 1, account_id, 'stray ' || days, order_id, setup_id, 1, '1', 1, 101, -101, now() - days * interval '1 day', 1
    from execution, unnest(${strays}::int[]) days where order_id = (select max(id) from account_order)`,
  fragment`insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
      term_ends_at)
    select 1, n, 1 + n % ${strategies}::int, 'paid', 1, now(), now(), now() + interval '1 day'
    from generate_series(1, ${accounts}::int) n`,
  fragment`insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at)
    select 1, n, 1 + (n + 1) % ${strategies}::int, 'simulated', 0, now(), now() from generate_series(1, 100) n`,
  // Each on another page than the one before.
  fragment`insert into sign_in (site_id, person_id, kind, outcome, occurred_at)
    select 1, n, 'login', 'success', now() - k * interval '12 hours'
    from generate_series(1, 400) k, generate_series(1, 100) n`,
  fragment`insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, status, paid_at)
    select n, 'term', now(), now() + interval '1 day', 1, 0, 'USD', 'simulated', 'paid', now()
    from generate_series(1, ${accounts}::int) n`,
  fragment`insert into ledger_transfer (charge_id, reason, from_account_id, to_account_id, amount, currency, booked_at)
    select n, 'payment', 1 + n, 1, 1, 'USD', now() from generate_series(1, ${accounts}::int) n`,
]

await db.transaction(async (tx) => {
  // Triggers and references would only cost time.
  await tx.run`set local session_replication_role = replica`
  for (const statement of tables) await tx.run`${statement}`
})
await db.write.run`analyze`
// What is known of the pages of a table is what an index alone can answer.
await db.write.run`vacuum sign_in`

/** Of its last statement. */
const planOf = async (listing: (sql: Sql) => Promise<unknown>): Promise<Node> =>
  (await plansOf(db, listing, false)).at(-1) as Node

const rowsLookedAt = async (listing: (sql: Sql) => Promise<unknown>): Promise<number> =>
  looked(await planOf(listing))

const everybody = { rows: 'all' } as Parameters<typeof pageSetups>[2]

const request = { limit: 10, now: 0, order: 'asc', operation: 'listing', filters: '', keyId: '' } as never

test('the followers of one strategy', async () => {
  const count = await rowsLookedAt((sql) => pageSetups(sql, { strategyId: 7 }, everybody, request))
  expect(count).toBeLessThan(100)
})

test('accounts that wait', async () => {
  const count = await rowsLookedAt((sql) => listPendingAccounts(sql, { scope: everybody }, {}, 0))
  expect(count).toBeLessThan(20 * accounts)
})

test('what the books of a strategy ordered themselves', async () => {
  const count = await rowsLookedAt((sql) => listInternalOrders(sql, 7))
  expect(count).toBeLessThan(100)
})

test.each(['asc', 'desc'])('a page of the orders of an account: %s', async (order) => {
  const ofLast = { accountIds: [accounts] }
  const asked = { ...(request as object), order } as never
  expect(await rowsLookedAt((sql) => pageAccountOrders(sql, ofLast, asked))).toBeLessThan(100)
})

const years = 1_000 * dayLength
const watch = {
  siteId: 2,
  now: Date.now(),
  since: Date.now() - years,
  ticks: 2,
  seconds: 1e9,
  limit: 10,
  isWanted: () => true,
  comparedAtOnce: 1e9,
}

const exportedOf = {
  siteId: 2,
  from: watch.since,
  until: watch.now + dayLength,
  now: watch.now,
  personId: null,
  strategyId: null,
}

test('what orders executed: what is listed alone is shown, and each is held once against what was taken back', async () => {
  const [, plan] = await plansOf(db, (sql) => exportExecutions(sql, exportedOf, 10), true)
  expect(looked(plan as Node)).toBeLessThan(members * executions)
})

/** Counts what is asked for. */
function counting(): { sql: Sql; statements: () => number } {
  let count = 0
  const counted =
    <Args extends unknown[], Answer>(ask: (...args: Args) => Answer) =>
    (...args: Args): Answer => {
      count += 1
      return ask(...args)
    }
  const sql = {
    ...db.read,
    rows: counted(db.read.rows) as Sql['rows'],
    one: counted(db.read.one) as Sql['one'],
  }
  return { sql, statements: () => count }
}

test('what orders executed: worked through part by part it is what it is at once, and an order counts once', async () => {
  const whole = await exportExecutions(db.read, exportedOf, 3_000)
  expect([whole.rows.length, whole.total]).toEqual([3_000, members * executions])
  const { sql, statements } = counting()
  const inParts = await exportExecutions(sql, exportedOf, 3_000, 1_000)
  const shown = ({ rows: all }: typeof whole) => all.map((row) => ({ ...row, total: null }))
  expect(shown(inParts)).toEqual(shown(whole))
  expect(inParts.total).toBe(whole.total)
  expect(statements()).toBeGreaterThanOrEqual((members * executions) / 1_000)
})

test('what orders executed: years in which nothing has happened yet are not gone through', async () => {
  const { sql, statements } = counting()
  const found = await exportExecutions(sql, { ...exportedOf, until: watch.now + 20 * years }, 1)
  expect(found.total).toBe(members * executions)
  expect(statements()).toBeLessThan(10)
})

/** The last order of all has executed on several days, each of another part. */
const [last] = await db.read.rows<{ id: number }>`select max(id) as id from account_order`

test.each<[string, (row: { id: number }) => boolean, Fragment]>([
  [
    'told of a later one',
    () => true,
    fragment`insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
        cash_change, executed_at, fx)
      select 1, account_id, 'told', order_id, setup_id, 1, '1', 1, 100, -100, ${new Date(watch.now).toISOString()}::timestamptz, 1
      from execution where exec_id = ${String(last?.id)}`,
  ],
  [
    'the latest is taken back',
    ({ id }) => id === last?.id,
    fragment`insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px,
        cash_change, executed_at, fx, busts)
      select 1, account_id, 'busted', order_id, setup_id, 1, '2', quantity, px, px, now(), 1, exec_id
      from execution where exec_id = any(${[String(last?.id), 'told']}::text[])
      order by executed_at desc limit 1`,
  ],
])('what orders executed: between two parts %s, and an order counts once', async (_name, isThen, happens) => {
  let isToCome = true
  const rows: Sql['rows'] = async (...asked) => {
    const found = await db.read.rows<{ id: number }>(...asked)
    if (isToCome && found.some((row) => 'avgPx' in row && isThen(row))) {
      isToCome = false
      await db.write.run`${happens}`
    }
    return found as never
  }
  const before = await exportExecutions(db.read, exportedOf, 2 * members * executions)
  const found = await exportExecutions({ ...db.read, rows }, exportedOf, 2 * members * executions, 1_000)
  expect(isToCome).toBe(false)
  expect(found.total).toBe(before.total)
  const shown = ({ rows: all }: typeof before) => all.map((row) => ({ ...row, total: null }))
  expect(shown(found)).toEqual(shown(before))
})

test('fills beside their strategy’s: the orders of other sites are not read', async () => {
  const count = await rowsLookedAt((sql) =>
    listFillExceptions(sql, { ...watch, since: watch.now - 30 * dayLength }),
  )
  expect(count).toBeLessThan(5 * members * executions)
})

test.each([
  [1_000, 10, strays],
  [1_000, 3, strays.slice(0, 3)],
  [50, 10, strays.slice(0, 3)],
  [30, 10, strays.slice(0, 1)],
])('fills beside their strategy’s of %i days, at most %i', async (days, limit, found) => {
  const since = watch.now - days * dayLength
  const rows = await listFillExceptions(db.read, { ...watch, since, limit })
  expect(rows.map(({ filledAt }) => Math.round((watch.now - filledAt) / dayLength))).toEqual(found)
})

/** Of a plan, how often the fills of a signal were asked for. */
const asksForFills = ({ Plans = [], ...node }: Node): number =>
  Plans.reduce((sum, plan) => sum + asksForFills(plan), 0) +
  (node['Relation Name'] === 'fill' ? node['Actual Loops'] : 0)

test('fills beside their strategy’s: of a busy month not all are compared at once', async () => {
  let found: unknown
  const plans = await plansOf(
    db,
    async (sql) => {
      found = await listFillExceptions(sql, { ...watch, comparedAtOnce: 1_000 })
    },
    true,
  )
  expect(found).toHaveLength(strays.length)
  const compared = plans.map(asksForFills)
  expect(Math.max(...compared)).toBeLessThanOrEqual(1_000 + executions)
  expect(compared.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(members * executions)
})

test('fills beside their strategy’s: those that are not asked for take no place of others', async () => {
  const daysAgo = (at: number): number => Math.round((watch.now - at) / dayLength)
  const oldest = Math.max(...strays)
  const isWanted = (at: number): boolean => daysAgo(at) === oldest
  const rows = await listFillExceptions(db.read, { ...watch, limit: 1, isWanted })
  expect(rows.map(({ filledAt }) => daysAgo(filledAt))).toEqual([oldest])
})

test.each<[string, (sql: Sql) => Promise<unknown>]>([
  ['the first accounts', (sql) => pageAccounts(sql, {}, everybody, request)],
  ['the accounts of a person', (sql) => pageAccounts(sql, { personId: 7 }, everybody, request)],
  ['the accounts of a number', (sql) => listAccounts(sql, { account: '7' })],
  ['what is autotraded', (sql) => pageAutotraded(sql, {}, everybody, request)],
  ['who autotrades a strategy', (sql) => pageAutotraded(sql, { strategyId: 7 }, everybody, request)],
  ['a person', (sql) => pagePeople(sql, { personId: 7 }, everybody, request)],
  ['the first payments', (sql) => pageRevenue(sql, { from: null, to: null }, everybody, request)],
  [
    'payments of a person',
    (sql) => pageRevenue(sql, { from: null, to: null, subscriberPersonId: 7 }, everybody, request),
  ],
])('%s', async (_name, listing) => {
  expect(await rowsLookedAt(listing)).toBeLessThan(accounts / 2)
})

test('on how many days somebody has signed in is read from an index alone', async () => {
  const filter = { scope: everybody, activeOnly: true, loginDays: 200, from: 0 }
  expect(await listSimulations(db.read, filter)).toHaveLength(100)
  expect(await listSimulations(db.read, { ...filter, loginDays: 202 })).toEqual([])
  expect(JSON.stringify(await planOf((sql) => listSimulations(sql, filter)))).toMatch(
    /"Index Only Scan"[^{}]*"sign_in_person"/,
  )
})
