/**
 * Where one of many has nearly everything: a page at depth reads what the first one does, and what belongs to a row of
 * a page is looked up for it.
 */
import { describe, expect, test } from 'vitest'
import { pageAccounts, pageAutotraded } from '../../src/storage/accounts/account-listings.ts'
import { pageRevenue, pageSubscribers } from '../../src/storage/billing/subscription-listings.ts'
import type { CursorRefusal, Page } from '../../src/storage/database/page.ts'
import { type Fragment, fragment, type Sql } from '../../src/storage/database/sql.ts'
import { pageInstruments } from '../../src/storage/market/instruments.ts'
import { pageSetups } from '../../src/storage/mirror/setup-listings.ts'
import { pageAccountOrders, pageSignals } from '../../src/storage/mirror/signal-listings.ts'
import { pagePeople } from '../../src/storage/people/people.ts'
import { pageStrategies } from '../../src/storage/strategies/strategy-listings.ts'
import { pageWatchListMembers, pageWatchLists } from '../../src/storage/strategies/watch-lists.ts'
import { testDatabase } from '../support/database.ts'
import { looked, plansOf } from '../support/plans.ts'

const { db } = await testDatabase()

/** Of each listing; the first account, strategy, owner and subscription have all but a few for each of the others. */
const [many, others, few] = [3_000, 1_000, 20]
const limit = 10

const tables: readonly Fragment[] = [
  fragment`insert into broker (name, connection_name, environment, adapter) values ('B', 'B', 'paper', 'paper')`,
  fragment`insert into person (site_id, role, alias, first_name, last_name, email, created_at)
    select 1, 'user', n, 'A', 'B', n || '@test', now() from generate_series(1, ${many}::int) n`,
  fragment`insert into account (site_id, person_id, broker_id, broker_environment, kind, account, starting_cash, cash,
      settings_changed_at, created_at)
    select 1, n, 1, 'paper', 1, n, 0, 0, now(), now() from generate_series(1, ${many}::int) n`,
  fragment`insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
    select 'S' || n, 'CS', 'S', 'S', 'USD', 1, 0.01, 'US_EQUITY' from generate_series(1, ${many}::int) n`,
  fragment`insert into strategy (site_id, owner_person_id, name, started_at, starting_cash, cash)
    select 1, 1, n, now(), 0, 0 from generate_series(1, ${many}::int) n`,
  fragment`insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
      options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
      forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
    select n, 1, 100, true, true, true, true, true, true, true, true, true, true, true, true, true, 1, now(), now()
    from generate_series(1, ${many}::int) n`,
  fragment`insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty,
      status, posted_at, working_at, ended_at, membership_horizon)
    select 1 + greatest(n - ${many}::int, 0) / ${few}::int, 1, '1', '1', '0', 'O', 1, '4', now(), now(), now(), 1
    from generate_series(1, ${many + others}::int) n`,
  fragment`insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id, instrument_id, side, ord_type,
      time_in_force, position_effect, order_qty, status, posted_at, ended_at, strategy_qty, scaling_percentage, held_qty,
      setup_fence)
    select strategy_id, 1, strategy_id, 1, id, 1, '1', '1', '0', 'O', 1, '2', now(), now(), 1, 100, 0, 1 from signal`,
  fragment`insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
      term_ends_at)
    select 1, n, 1, 'paid', 1, now(), now(), now() + interval '1 day' from generate_series(1, ${many}::int) n`,
  fragment`insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, status, paid_at)
    select 1, 'term', now() + n * interval '1 day', now() + (n + 1) * interval '1 day', 1, 0, 'USD', 'simulated', 'paid',
      now() from generate_series(1, ${many}::int) n`,
  fragment`insert into ledger_transfer (charge_id, reason, from_account_id, to_account_id, amount, currency, booked_at)
    select n, 'payment', 1 + n, 1, 1, 'USD', now() from generate_series(1, ${many}::int) n`,
  fragment`insert into watch_list (person_id, name, created_at) select 1, n, now() from generate_series(1, ${many}::int) n`,
  fragment`insert into watch_list_member (watch_list_id, strategy_id, added_at)
    select 1, n, now() from generate_series(1, ${many}::int) n`,
]

const ordersOfSecond = fragment`insert into account_order (account_id, broker_id, setup_id, strategy_id, source_id,
      instrument_id, side, ord_type, time_in_force, position_effect, order_qty, status, posted_at, ended_at, strategy_qty,
      scaling_percentage, held_qty, setup_fence)
    select 2, 1, 2, 1, last.id + n, 1, '1', '1', '0', 'O', 1, '2', now(), now(), 1, 100, 0, 1
    from (select max(source_id) as id from account_order) last, generate_series(1, ${many}::int) n`

const entered = (statements: readonly Fragment[]): Promise<void> =>
  db.transaction(async (tx) => {
    // Triggers and references would only cost time.
    await tx.run`set local session_replication_role = replica`
    for (const statement of statements) await tx.run`${statement}`
  })
await entered(tables)
await db.write.run`analyze`

const everybody = { rows: 'all' } as Parameters<typeof pageSetups>[2]
const viewer = { personId: 1, role: 'platform_admin', siteId: 1 } as Parameters<typeof pageStrategies>[1]

type Request = Parameters<typeof pageSetups>[3]
type Listing = (sql: Sql, request: Request) => Promise<Page<unknown> | CursorRefusal>

/** `once`: how many other tables are read whole, and no more than once. */
const listings: readonly [name: string, listing: Listing, once?: number][] = [
  ['the orders of an account', (sql, request) => pageAccountOrders(sql, { accountIds: [1] }, request)],
  ['the signals of a strategy', (sql, request) => pageSignals(sql, { strategyId: 1 }, request)],
  ['the followers of a strategy', (sql, request) => pageSetups(sql, { strategyId: 1 }, everybody, request)],
  ['what is autotraded', (sql, request) => pageAutotraded(sql, { strategyId: 1 }, everybody, request)],
  ['accounts', (sql, request) => pageAccounts(sql, {}, everybody, request)],
  ['people', (sql, request) => pagePeople(sql, {}, everybody, request), 2],
  ['strategies', (sql, request) => pageStrategies(sql, viewer, {}, request), 1],
  ['instruments', (sql, request) => pageInstruments(sql, '2024-01-01', request)],
  [
    'subscribers',
    (sql, request) => pageSubscribers(sql, { strategyId: 1, activeOnly: false }, everybody, request),
    1,
  ],
  ['payments', (sql, request) => pageRevenue(sql, { from: null, to: null }, everybody, request)],
  ['watch lists', (sql, request) => pageWatchLists(sql, 1, request)],
  ['the strategies of a watch list', (sql, request) => pageWatchListMembers(sql, 1, request)],
]

const areOld = async (): Promise<boolean> =>
  (
    await db.read.one<{ areOld: boolean }>`
      select pg_snapshot_xmin(pg_current_snapshot()) > max(xid) as "areOld" from watch_list_member`
  ).areOld

/** Of each row a page may look up what is shown beside it. */
const rowsOfPage = 20 * limit

const requestIn =
  (order: Request['order']) =>
  (cursor?: string, size = limit): Request => ({
    cursor,
    limit: size,
    order,
    now: 0,
    secret: '',
    operation: 'listing',
    filters: '',
    keyId: '',
  })

describe.each(['asc', 'desc'] as const)('%s', (order) => {
  test.each(listings)('%s', async (_name, listing, once = 0) => {
    // Transactions are counted over all databases of the server: one that is open elsewhere keeps these rows new.
    await expect.poll(areOld, { timeout: 30_000 }).toBe(true)
    const request = requestIn(order)
    const whole = await listing(db.read, request(undefined, many - 2 * limit))
    if (typeof whole === 'string') throw new Error(whole)
    const [first, deep] = [
      await listing(db.read, request()),
      await listing(db.read, request(whole.next ?? '')),
    ]
    if (typeof first === 'string' || typeof deep === 'string') throw new Error()
    const cursors = [undefined, first.next, whole.next, deep.prev]
    expect(cursors).not.toContain(null)
    for (const cursor of cursors) {
      const [plan] = await plansOf(db, (sql) => listing(sql, request(cursor ?? undefined)), false)
      expect(plan && looked(plan)).toBeLessThan(rowsOfPage + once * many)
    }
  })

  test('an old cursor: what others have ordered since is not read', async () => {
    const request = requestIn(order)
    const ofFirst = (sql: Sql, cursor?: string) =>
      pageAccountOrders(sql, { accountIds: [1] }, request(cursor))
    const before = await ofFirst(db.read)
    if (typeof before === 'string') throw new Error(before)
    await entered([ordersOfSecond])
    const [plan] = await plansOf(db, (sql) => ofFirst(sql, before.next ?? ''), false)
    expect(plan && looked(plan)).toBeLessThan(rowsOfPage)
  })
})
