/**
 * The account side of workers over a FIX session with the exchange of the tests. Where QuickFIX is not installed there
 * is no exchange: the tests are skipped and say why.
 */
import { afterEach, beforeEach, expect, vi } from 'vitest'
import { clientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { accountSteps } from '../../src/execution/account-side.ts'
import type { LiveBroker } from '../../src/execution/brokers/broker.ts'
import { loadEngine } from '../../src/execution/brokers/fix/engine.ts'
import { createFixBroker } from '../../src/execution/brokers/fix/fix.ts'
import { readFixSettings } from '../../src/execution/brokers/fix/settings.ts'
import { createWorker } from '../../src/execution/worker.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { afterFile } from '../support/after-file.ts'
import { testDatabase } from '../support/database.ts'
import { compileAcceptor, startAcceptor } from '../support/quickfix/acceptor.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations } from './account-world.ts'
import { makeWorld, steps as strategySteps, type World } from './world.ts'

/** The name of the connection, and so the adapter of its brokers. */
export const connection = 'exchange'

export interface FixWorker extends World {
  readonly broker: LiveBroker
  /** Works until nothing is left to do. */
  drain(): Promise<number>
  /** Starts the session where it is not started yet, and waits until it is up. */
  up(): Promise<void>
}

/** A worker of its own; several may share database and exchange. */
export async function makeFixWorker(
  db: Database,
  port: number,
  workerId: string,
  more: object = {},
  patienceMs = 1_500,
): Promise<FixWorker> {
  const { ctx: own, clock } = makeWorld(db)
  const ctx = { ...own, workerId }
  const settings = readFixSettings({
    host: '127.0.0.1',
    port,
    senderCompId: 'LOCKSTEP',
    targetCompId: 'EXCHANGE',
    heartbeatSeconds: 5,
    tellsPositions: true,
    listsWorking: true,
    ...more,
  })
  const broker = createFixBroker({
    name: connection,
    settings,
    engine: await loadEngine(),
    patienceMs,
  })
  const worker = createWorker({ ctx, steps: [...strategySteps, ...accountSteps({ [connection]: broker })] })
  return {
    ctx,
    clock,
    broker,
    drain: () => worker.drain(),
    up: async () => {
      await worker.drain()
      await until(() => broker.isUp())
    },
  }
}

/** Waits for what comes over the wire in its own time; fails when it has not come after ten seconds. */
export const until = (condition: () => boolean | Promise<boolean>): Promise<void> =>
  vi.waitFor(
    async () => {
      if (!(await condition())) throw new Error(`waited in vain for ${condition}`)
    },
    { timeout: 10_000, interval: 25 },
  )

const built = compileAcceptor()

/** Why there is no exchange; null where there is one. */
export const missing = 'missing' in built ? built.missing : null
if (missing !== null) console.warn(`FIX against QuickFIX is skipped: ${missing}`)

export type FixWorld = Awaited<ReturnType<typeof makeFixWorld>>

/** An exchange and a database that knows it, for a test file. At its end QuickFIX's messages are counted. */
export async function makeExchange() {
  if ('missing' in built) throw new Error(built.missing)
  const { db, url } = await testDatabase()
  const exchange = await startAcceptor(built.program)
  const { id: brokerId } = await db.write.one<{ id: number }>`
    insert into broker (name, connection_name, environment, adapter)
    values ('Exchange', ${connection}, 'live', ${connection}) returning id`
  afterFile(async () => {
    const { received, sent } = exchange.counts()
    console.info(`QuickFIX received ${countsOf(received)}; sent ${countsOf(sent)}`)
    await exchange.stop()
  })
  return { db, url, exchange, brokerId }
}

/** An exchange, a database and a worker for a test file, and what its tests ask them. */
export async function makeFixWorld() {
  const { db, exchange, brokerId } = await makeExchange()
  const world = { worker: await makeFixWorker(db, exchange.port, 'w1') }
  let workers = 1

  beforeEach(async () => {
    await exchange.tell('mode fill')
    await world.worker.up()
  })
  afterEach(async () => expect(await accountViolations(world.worker)).toEqual([]))
  // What was begun last ends first: the worker logs out before the exchange is gone.
  afterFile(() => world.worker.broker.close())

  /** Another worker after this one; meanwhile nobody holds the session. */
  const restart = async (
    meanwhile: () => Promise<unknown> = async () => undefined,
    more: object = {},
  ): Promise<void> => {
    const { broker, clock } = world.worker
    await broker.close()
    await meanwhile()
    workers += 1
    world.worker = await makeFixWorker(db, exchange.port, `w${workers}`, more)
    world.worker.clock.time = clock.time
    await world.worker.up()
  }
  /** The condition, looked at after all work. */
  const worked = (condition: () => Promise<boolean>) => async (): Promise<boolean> => {
    await world.worker.drain()
    return condition()
  }
  /** One strategy in one stock and a follower at the exchange. */
  const scene = async () => {
    const made = await makeScene(world.worker, brokerId)()
    const { account } = await db.read.one<{ account: string }>`
      select account from account where id = ${made.accountId}`
    /** Works until the order at this place is in this status. */
    const reaches = (status: string, place = 0): Promise<void> =>
      until(worked(async () => (await made.orders())[place]?.status === status))
    /** The client order id of the order at this place. */
    const id = async (place = 0): Promise<string> => {
      const row = await db.read.one<Omit<Parameters<typeof clientOrderId>[0], 'environment'>>`
        select setup_id as "setupId", source, source_id as "sourceId", revision from account_order
        where id = ${(await made.orders())[place]?.id ?? 0}`
      return clientOrderId({ ...row, environment: 'T' })
    }
    const executions = async (): Promise<string[]> =>
      (
        await db.read.rows<{ text: string }>`
          select side || ' ' || trim_scale(quantity) || ' @ ' || trim_scale(px) as text from execution
          where account_id = ${made.accountId} order by id`
      ).map(({ text }) => text)
    return { ...made, account, reaches, id, executions }
  }
  return {
    world,
    db,
    exchange,
    brokerId,
    restart,
    worked,
    scene,
    /** How often QuickFIX logged a NewOrderSingle of this id. */
    sentOrders: (id: string): number => exchange.logged('|35=D|', '|49=LOCKSTEP|', `|11=${id}|`).length,
    /** Status and executed quantity in the exchange's own book. */
    booked: async (id: string): Promise<string | undefined> => {
      const book = (await exchange.tell('book')).split(' ')
      return book.find((entry) => entry.startsWith(`${id}:`))?.slice(id.length + 1)
    },
    expireClaims: () => db.write.run`
      update account_order set claimed_until = clock_timestamp() - interval '1 second'
      where claimed_until is not null`,
  }
}

const countsOf = (counts: Record<string, number>): string =>
  Object.keys(counts)
    .sort()
    .map((type) => `${type} ${counts[type]}`)
    .join(', ')
