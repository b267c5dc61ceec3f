/**
 * Work on one order costs no plan of its own: what placing, filling, copying and comparing ask for is planned once per
 * connection, however few rows it is about.
 */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { compileRow, rows } from '../../src/contract/index.ts'
import { handlers } from '../../src/operations/index.ts'
import { createRunner, type Run } from '../../src/operations/run.ts'
import { type Database, openDatabase } from '../../src/storage/database/database.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { addBroker } from '../support/followers.ts'
import { randomSecrets } from '../support/secrets.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'
import { addInstrument, addStrategy } from './world.ts'

const { url } = await testDatabase()

/** The server makes so many plans for calls before it compares them with one to keep; a changed table makes it begin anew. */
const firstCalls = 5
const calls = 30

let db: Database

/** One connection for transactions and one for reads: what it has prepared can be asked of each. */
beforeAll(async () => {
  db = await openDatabase({ url, applicationName: 'tests', log: silentLog, poolSize: 1, readers: 1 })
})
afterAll(() => db.close())

/** Statements that got plans of their own in most calls. */
const replanned = async () => {
  const prepared = async (sql: Pick<Database['read'], 'rows'>) =>
    (
      await sql.rows<{ statement: string }>`
      select statement from pg_prepared_statements
      where custom_plans > ${2 * firstCalls}::int and custom_plans > generic_plans`
    ).map(({ statement }) => statement)
  return [...(await prepared(db.read)), ...(await db.transaction(prepared))]
}

test('filling, copying and comparing one order after the other', async () => {
  const world = makeAccountWorld(db)
  const scene = await makeScene(world, await addBroker(db))()
  await world.quote(scene.symbol, '99', '100')
  for (let round = 0; round < calls; round += 1) {
    const price = String(100 + (round % 3))
    await scene.order(round % 2 === 0 ? '1' : '2', '10', { limit: price })
    await world.drain()
    world.clock.time += 1_000
    await world.quote(scene.symbol, price, price)
  }
  const { fills } = await db.read.one<{ fills: number }>`select count(*)::int as fills from fill`
  expect(fills).toBe(calls)
  expect(await replanned()).toEqual([])
}, 60_000)

test('placing one order after the other', async () => {
  const place = await placing()
  for (let call = 0; call < calls; call += 1) await place()
  expect(await replanned()).toEqual([])
})

/** An owner's call that places a limit order, as the interface makes it. */
async function placing(): Promise<() => Promise<void>> {
  const strategyId = await addStrategy(db)
  const { symbol } = await addInstrument(db, { calendar: 'CONTINUOUS' })
  const owner = await db.read.one<{ personId: number; siteId: number }>`
    select owner_person_id as "personId", site_id as "siteId" from strategy where id = ${strategyId}`
  const clock = { now: () => Date.now() }
  const run: Run = createRunner({ db, clock, handlers, secrets: randomSecrets(), environment: 'T' })
  const Order = {
    StrategyId: strategyId,
    OrderType: '2',
    Side: '1',
    OrderQuantity: 1,
    Limit: 5,
    TIF: '1',
    PlatformSymbol: { FullSymbol: symbol, SymbolType: 'stock' },
  }
  return async () => {
    const reply = await run({
      operation: 'NewStrategyOrder',
      compiled: compileRow(rows.NewStrategyOrder, 'Gen', 'native'),
      params: { Order },
      caller: { accessKeyId: 0, keyId: 'k', role: 'user', siteKind: 'platform', permissions: null, ...owner },
      host: 'Gen',
      dialect: 'native',
      requestId: 'r',
      origin: 'http://localhost',
    })
    expect(reply.status).toBe(200)
  }
}
