/**
 * Real processes, killed with -9 at random moments while orders come in: nothing that was acknowledged is lost,
 * nothing happens twice, and every book still agrees with every other when it is quiet again.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readConfig } from '../../src/bin/config.ts'
import { environments } from '../../src/bin/environment.ts'
import { loadSecrets } from '../../src/bin/secrets.ts'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { type ClientOrderKey, clientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { simulationSwitch } from '../../src/execution/market/simulated.ts'
import { isRefused } from '../../src/operations/context.ts'
import { issueKey } from '../../src/operations/keys.ts'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import type { Sql } from '../../src/storage/database/sql.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import {
  ensureBroker,
  findPlatformSite,
  insertAccounts,
  insertPersons,
} from '../../src/storage/operating/provision.ts'
import { insertStrategy } from '../../src/storage/strategies/strategies.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { silentLog } from '../support/database-server.ts'
import { type Part, type Product, removeDataDir, startProduct } from '../support/product.ts'
import { type Owner, startTraffic, type Traffic } from './traffic.ts'

/** More by the environment, for longer runs. */
const killsPerPart = Number(process.env.KILLS ?? 20)
const strategies = 4
const followersEach = 5
const symbol = 'KILL'

let product: Product
let db: Database
let owners: Owner[]
let traffic: Traffic

/** Owners with keys and strategies, followers with paper accounts, one instrument with a moving price. */
async function populate(): Promise<Owner[]> {
  const secrets = loadSecrets(readConfig({ DATA_DIR: product.dataDir }))
  const now = Date.now()
  return db.transaction(async (tx) => {
    const siteId = await findPlatformSite(tx)
    const names = Array.from({ length: strategies }, (_, index) => `owner${index}`)
    const followers = Array.from({ length: followersEach }, (_, index) => `follower${index}`)
    const ids = await insertPersons(
      tx,
      [...names, ...followers].map((name) => ({
        siteId,
        role: 'user' as const,
        firstName: name,
        lastName: 'Test',
        email: `${name}@kill.test`,
        createdAt: now,
      })),
    )
    const brokerId = await ensureBroker(tx, {
      name: 'Lockstep Paper',
      connectionName: 'paper',
      environment: 'paper',
      adapter: 'paper',
    })
    await insertAccounts(
      tx,
      followers.map((name, index) => ({
        personId: ids[strategies + index] ?? 0,
        brokerId,
        kind: 1 as const,
        account: name,
        startingCash: '1000000',
        createdAt: now,
      })),
    )
    const input = { symbol, securityType: 'CS', calendar: 'CONTINUOUS' } as const
    await insertInstruments(tx, [completeInstrument(input, 20_000)])
    await tx.run`
      insert into quote (instrument_id, bid, ask, quoted_at, is_valid, day)
      select id, 100, 100.02, ${instant(now)}::timestamptz, true, ${instant(now)}::timestamptz::date from instrument where symbol = ${symbol}`
    const simulated = { symbol, volatility: 0.2, loading: 0.5, spreadTicks: 2, size: 1000 }
    await setSwitch(tx, simulationSwitch, { seed: 7, stepMs: 100, instruments: [simulated] }, now)
    const made: Owner[] = []
    for (let index = 0; index < strategies; index++) {
      const personId = ids[index] ?? 0
      const strategy = {
        siteId,
        ownerPersonId: personId,
        name: `S${index}`,
        startedAt: instant(now),
        startingCash: '1000000',
      }
      const strategyId = await insertStrategy(tx, strategy)
      const limits = { '10': 1_000_000 }
      const issued = await issueKey(tx, secrets, {
        personId,
        keyEnvironment: 'demo',
        expiresAt: now + 3_600_000,
        now,
        limits,
      })
      if (isRefused(issued)) throw new Error('no key')
      await tx.run`
        insert into setup (account_id, strategy_id, scaling_percentage, stocks_enabled, stocks_long, stocks_short,
          options_enabled, options_long, options_short, futures_enabled, futures_long, futures_short, forex_enabled,
          forex_long, forex_short, joins_positions, joined_version, started_at, changed_at)
        select id, ${strategyId}::bigint, 50, true, true, true, false, false, false, false, false, false, false, false,
          false, true, 0, ${instant(now)}::timestamptz, ${instant(now)}::timestamptz from account`
      made.push({ key: issued.key, strategyId })
    }
    return made
  })
}

/** What is still to be done for orders that exist. */
const countLeft = async (sql: Sql): Promise<number> =>
  (
    await sql.one<{ left: number }>`
      select (select count(*) from signal where mirror_due or needs_match)
        + (select count(*) from account_order where pending_action is not null)
        + (select count(*) from account_order where status in ('A', '0', '1', '6', 'E'))
        + (select count(*) from broker_report where applied_at is null) as left`
  ).left

/** Waits until a statement finds nothing left to do. */
async function quiet(): Promise<void> {
  const until = performance.now() + 150_000
  for (;;) {
    const left = await countLeft(db.read).catch(() => -1)
    if (left === 0) return
    if (performance.now() > until) throw new Error(`still ${left} things to do`)
    await pause(100)
  }
}

type SentOrder = ClientOrderKey & { status: string; reason: string; executions: number }

/** Our orders and the broker's at one moment at which nothing was under way: AutoSync may correct at any time. */
async function bothSides(): Promise<{ orders: SentOrder[]; known: { id: string }[] }> {
  const seen = await db.transaction(async (tx) => {
    await tx.run`set transaction isolation level repeatable read`
    const orders = await tx.rows<SentOrder>`
      select setup_id as "setupId", source, source_id as "sourceId", revision, status, coalesce(info, reject_text) as reason,
        (select count(*)::int from execution e where e.account_id = o.account_id and e.order_id = o.id) as executions
      from account_order o where attempts > 0`
    const known = await tx.rows<{ id: string }>`select client_order_id as id from paper_order`
    return { orders, known, left: await countLeft(tx) }
  })
  if (seen.left === 0) return seen
  await quiet()
  return bothSides()
}

/**
 * The broker has every order that was sent and no other. What a dead sender had claimed and nobody wanted any more
 * when its successor came is unknown there: it is over, never traded, and tells why.
 */
async function everyOrderIsAtTheBroker(): Promise<void> {
  const { orders, known } = await bothSides()
  const environment = environments(readConfig({ DATA_DIR: product.dataDir })).orders
  const unsent = new Map(orders.map((order) => [clientOrderId({ ...order, environment }), order]))
  for (const { id } of known) expect(unsent.delete(id), `${id} is an order of ours`).toBe(true)
  for (const [id, order] of unsent) {
    const over = { status: expect.stringMatching(/[48]/), executions: 0, reason: expect.any(String) }
    expect(order, id).toMatchObject(over)
  }
}

describe('kill -9 under traffic', () => {
  beforeAll(async () => {
    product = await startProduct()
    const url = readFileSync(join(product.dataDir, 'database-url'), 'utf8').trim()
    db = await openDatabase({ url, applicationName: 'kill test', log: silentLog })
    owners = await populate()
    traffic = startTraffic(`${product.url}/gen`, owners, symbol)
    await traffic.progress()
  }, 120_000)
  afterAll(async () => {
    if (process.env.KILL_LOG) writeFileSync(process.env.KILL_LOG, product.log())
    await db?.close()
    await product?.stop()
    if (product) removeDataDir(product.dataDir)
  }, 60_000)

  test('whoever comes after a dead worker waits for none of its leases', async () => {
    const feed = 'feed:simulated'
    const holder = async (): Promise<string> =>
      (await db.read.one<{ holder: string }>`select holder from lease where name = ${feed}`).holder
    const dead = await holder()
    product.kill('worker')
    const { until } = await db.write.one<{ until: number }>`
      update lease set expires_at = clock_timestamp() + interval '29 seconds' where name = ${feed}
      returning (extract(epoch from expires_at) * 1000)::float8 as until`
    while ((await holder()) === dead) {
      expect(Date.now()).toBeLessThan(until)
      await pause(50)
    }
  }, 60_000)

  test.each<Part>(['serve', 'worker', 'postgres'])(
    `${killsPerPart} kills of %s`,
    async (part) => {
      for (let round = 0; round < killsPerPart; round++) {
        await traffic.progress()
        await pause(Math.random() * 150) // the moment of death is meant to be any
        const before = product.pidOf(part)
        product.kill(part)
        await traffic.progress()
        await traffic.progress()
        if (part === 'worker') await atWorkAgain(before)
      }
    },
    600_000,
  )

  test('nothing acknowledged is lost, nothing is there twice, all books agree', async () => {
    await traffic.stop()
    await quiet()
    const acknowledged = [...traffic.acknowledged.values()]
    expect(new Set(acknowledged).size).toBe(acknowledged.length)
    const { stored } = await db.read.one<{ stored: number }>`select count(*)::int as stored from signal`
    expect(stored).toBe(acknowledged.length)
    const rows = await db.read.one<{ found: number; answered: number; orders: number; twice: number }>`
      select (select count(*)::int from signal where id = any(${acknowledged}::bigint[])) as found,
        (select count(*)::int from (select source_id, setup_id from account_order where source = 'S'
          union select signal_id, setup_id from account_skip) answered) as answered,
        (select count(*)::int from account_order where attempts > 0) as orders,
        (select count(*)::int from (select 1 from paper_order group by account_id, client_order_id having count(*) > 1) x) as twice`
    const { working } = await db.read.one<{ working: number }>`
      select count(*)::int as working from signal where working_at is not null`
    expect(rows).toMatchObject({ found: acknowledged.length, answered: working * followersEach, twice: 0 })
    await everyOrderIsAtTheBroker()
    expect(await db.transaction(auditViolations, { readOnly: true, statementTimeoutMs: 60_000 })).toEqual([])
    console.log(
      `${acknowledged.length} orders, ${rows.orders} mirrored, ${3 * killsPerPart} kills: nothing lost, nothing twice`,
    )
  }, 240_000)
})

/** A worker answers no call: it is back when it has another pid and the broker has got an order since. */
async function atWorkAgain(before: number | undefined): Promise<void> {
  const until = performance.now() + 30_000
  const sent = async (): Promise<number> =>
    (await db.read.one<{ count: number }>`select count(*)::int as count from paper_order`).count
  while ([undefined, before].includes(product.pidOf('worker'))) await again()
  const known = await sent()
  while ((await sent()) === known) await again()

  async function again(): Promise<void> {
    if (performance.now() > until) throw new Error('the worker did not come back')
    await pause(50)
  }
}
