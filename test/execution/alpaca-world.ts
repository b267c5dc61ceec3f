/** Both sides of the worker with their followers at a stand-in for Alpaca, and a clock that stands still. */
import { vi } from 'vitest'
import { accountSteps } from '../../src/execution/account-side.ts'
import { connectAlpaca } from '../../src/execution/brokers/alpaca/alpaca.ts'
import type { LiveBroker } from '../../src/execution/brokers/broker.ts'
import { createWorker } from '../../src/execution/worker.ts'
import type { Database } from '../../src/storage/database/database.ts'
import type { KeyRing } from '../../src/storage/database/vault.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { insertLiveBroker } from '../../src/storage/operating/provision.ts'
import { saveCredentials } from '../../src/storage/people/credentials.ts'
import { type BookAccount, type BookOrder, positionsOf } from '../support/alpaca-book.ts'
import { type AlpacaStandIn, startAlpacaStandIn } from '../support/alpaca-stand-in.ts'
import { addFollowers } from '../support/followers.ts'
import { randomSecrets } from '../support/secrets.ts'
import { readHeld, readOrders } from './account-world.ts'
import {
  addInstrument,
  addStrategy,
  makeWorld,
  opening,
  place,
  steps as strategySteps,
  type World,
} from './world.ts'

export interface AlpacaWorld extends World {
  readonly alpaca: AlpacaStandIn
  readonly broker: LiveBroker
  readonly brokerId: number
  readonly keyRing: KeyRing
  /** Everything that was written to the log. */
  readonly logged: readonly unknown[]
  /** Works until nothing is left to do. */
  drain(): Promise<number>
  /** Works, and listens, until this holds. */
  until(holds: () => Promise<unknown>): Promise<void>
  /** Lets claims of unknown outcome be asked for at once. */
  askAgain(): Promise<unknown>
  /** Another link, which nobody has used. */
  connect(): Promise<LiveBroker>
  /** Another worker with links of its own. */
  anotherWorker(): Promise<{ drain(): Promise<number>; close(): Promise<void> }>
  close(): Promise<void>
}

const { keyRing } = randomSecrets()

export async function makeAlpacaWorld(db: Database): Promise<AlpacaWorld> {
  const world = makeWorld(db)
  const logged: unknown[] = []
  const note = (fields: object, message: string) => logged.push([fields, message])
  world.ctx.log = { info: note, warn: note, error: note }
  const alpaca = await startAlpacaStandIn(world.clock.now)
  const connect = (): Promise<LiveBroker> =>
    connectAlpaca({
      adapter: 'alpaca',
      keyRing,
      url: alpaca.url,
      streamUrl: alpaca.streamUrl,
      requestsPerMinute: 100_000,
    })
  const working = (broker: LiveBroker, workerId: string) => {
    const steps = [...strategySteps, ...accountSteps({ alpaca: broker })]
    return createWorker({ ctx: { ...world.ctx, workerId }, steps })
  }
  const broker = await connect()
  const worker = working(broker, 'w1')
  const brokerId = await insertLiveBroker(db.write, {
    name: 'Alpaca',
    connectionName: 'alpaca',
    adapter: 'alpaca',
    needsCredentials: true,
  })
  if (brokerId === undefined) throw new Error('there is a broker already')
  const drain = () => worker.drain()
  return {
    ...world,
    alpaca,
    broker,
    brokerId,
    keyRing,
    logged,
    drain,
    until: (holds) =>
      vi.waitFor(
        async () => {
          await drain()
          await holds()
        },
        { timeout: 20_000, interval: 20 },
      ),
    connect,
    askAgain: () => db.write.run`update account_order set claimed_until = null`,
    anotherWorker: async () => {
      const other = await connect()
      const { drain: drainOther } = working(other, `w${Math.random()}`)
      return { drain: drainOther, close: other.close }
    },
    close: async () => {
      await broker.close()
      await alpaca.close()
    },
  }
}

export interface Follower {
  readonly setupId: number
  readonly accountId: number
  readonly book: BookAccount
}

/** A follower of the strategy with an account at the stand-in and the key to it. */
export async function joinAtAlpaca(world: AlpacaWorld, strategyId: number): Promise<Follower> {
  const { db } = world.ctx
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId: world.brokerId, count: 1 })
  const { accountId, account } = await db.read.one<{ accountId: number; account: string }>`
    select a.id as "accountId", a.account from setup s join account a on a.id = s.account_id where s.id = ${setupId}`
  await db.write.run`
    update setup set started_at = ${instant(opening - 3_600_000)}::timestamptz where id = ${setupId}`
  const book = world.alpaca.books.open(account, `KEY-${account}`, `secret-${account}`)
  const credentials = { userName: book.keyId, password: book.secret }
  await saveCredentials(db.write, keyRing, accountId, credentials, opening)
  return { setupId, accountId, book }
}

/** One strategy in one stock, one follower at Alpaca. */
export async function makeAlpacaScene(world: AlpacaWorld) {
  const { db } = world.ctx
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db)
  const follower = await joinAtAlpaca(world, strategyId)
  const { setupId, accountId, book } = follower
  world.clock.time += 100_000
  const order = (
    side: '1' | '2',
    quantity: string,
    more: { limit?: string; stop?: string; replaces?: number } = {},
  ) =>
    place(world, {
      strategyId,
      instrumentId,
      side,
      quantity,
      positionEffect: side === '1' ? 'O' : 'C',
      goodTillCanceled: true,
      ...more,
    })
  const theirs = (): BookOrder[] => [...book.orders.values()]
  return {
    ...follower,
    strategyId,
    instrumentId,
    symbol,
    order,
    theirs,
    orders: () => readOrders(world, setupId),
    held: () => readHeld(world, setupId, instrumentId),
    cash: async () =>
      (await db.read.one<{ cash: number }>`select cash::float8 from account where id = ${accountId}`).cash,
    /** Executes at the exchange. */
    fill: (qty: number, price: number, place = -1) => {
      const working = theirs().at(place)
      if (!working) throw new Error('Alpaca has no order')
      return world.alpaca.books.execute(book, working, qty, price)
    },
    holdings: () => positionsOf(book).get(symbol) ?? 0,
  }
}
