/** Calls that take long: what they have not begun to write when others may act on their orders, they never write. */
import { afterAll, afterEach, expect, test, vi } from 'vitest'
import type { Broker } from '../../src/execution/brokers/broker.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { saveCredentials } from '../../src/storage/people/credentials.ts'
import type { Fault } from '../support/alpaca-stand-in.ts'
import { testDatabase } from '../support/database.ts'
import { accountViolations } from './account-world.ts'
import { makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'
import { endSignal, quote } from './world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
const { alpaca, broker, ctx } = world
afterEach(() => {
  vi.restoreAllMocks()
  alpaca.fault = () => undefined
})
afterAll(() => world.close())

/** Alpaca takes seven seconds for the first request like this. */
function takeLong(method: string, path: string, fault?: Fault): void {
  const steady = performance.now.bind(performance)
  let passed = 0
  vi.spyOn(performance, 'now').mockImplementation(() => steady() + passed)
  alpaca.fault = (verb, asked) => {
    if (passed > 0 || verb !== method || !asked.startsWith(path)) return undefined
    passed = 7_000
    return fault
  }
}

/** Sends what waits in one call; answers what Alpaca was told to do. */
async function sendOnce(): Promise<string[]> {
  alpaca.heard.length = 0
  let rounds = 0
  const once: Broker = { ...broker, isUp: () => rounds++ === 0 }
  await sendOrders(ctx, 'alpaca', once)
  return alpaca.heard.filter((heard) => !heard.startsWith('GET '))
}

/** What this makes the worker do, but for sending. */
async function unsent(change: () => Promise<unknown>): Promise<void> {
  const isUp = vi.spyOn(broker, 'isUp').mockReturnValue(false)
  await change()
  await world.drain()
  isUp.mockRestore()
}

/** A limit order of 6 at 50 that waits, in an account whose key was entrusted again and is to be asked for. */
async function waiting() {
  const one = await makeAlpacaScene(world)
  await unsent(() => one.order('1', '6', { limit: '50' }))
  const credentials = { userName: one.book.keyId, password: one.book.secret }
  await saveCredentials(db.write, world.keyRing, one.accountId, credentials, world.clock.now())
  return one
}

/** A limit order of 6 at 50 that works. */
async function working() {
  const one = await makeAlpacaScene(world)
  const signal = await one.order('1', '6', { limit: '50' })
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
  const end = (status: '4' | '5') =>
    endSignal(db.write, signal, status, new Date(world.clock.now()).toISOString())
  return { ...one, signal, end }
}

test('an order whose account answers too late is not placed, and nothing about it is unknown', async () => {
  const one = await waiting()
  takeLong('GET', '/v2/account')
  expect(await sendOnce()).toEqual([])
  expect(await one.orders()).toMatchObject([
    { status: 'A', pendingAction: 'new', attempts: 0, unknownAt: null },
  ])
  expect(broker.isUp()).toBe(true)
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
  expect(one.theirs()).toHaveLength(1)
})

test('an order that the limit of requests turned away is not placed again too late', async () => {
  const one = await waiting()
  takeLong('POST', '/v2/orders', 'limit')
  expect(await sendOnce()).toEqual(['POST /v2/orders'])
  const unknownAt = expect.any(Number)
  expect(await one.orders()).toMatchObject([{ pendingAction: 'new', attempts: 1, unknownAt }])
  await world.until(async () => {
    await world.askAgain()
    expect(await one.orders()).toMatchObject([{ status: '0', unknownAt: null }])
  })
  expect(one.theirs()).toHaveLength(1)
})

test('a cancel whose order is found too late waits for the next call', async () => {
  const one = await working()
  await unsent(() => one.end('4'))
  takeLong('GET', '/v2/orders:by_client_order_id')
  expect(await sendOnce()).toEqual([])
  expect(await one.orders()).toMatchObject([{ pendingAction: 'cancel', unknownAt: null }])
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '4' }]))
})

test('a replacement whose order is found too late changes nothing', async () => {
  const one = await working()
  await unsent(async () => {
    await one.end('5')
    await one.order('1', '6', { limit: '51', replaces: one.signal })
  })
  takeLong('GET', '/v2/orders:by_client_order_id')
  expect(await sendOnce()).toEqual([])
  expect((await one.orders())[1]).toMatchObject({ pendingAction: 'replace', attempts: 0, unknownAt: null })
  await world.until(async () =>
    expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '0', limitPx: 51 }]),
  )
  expect(one.theirs()).toHaveLength(2)
})

test.each<[string, string, string]>([
  ['withdrawn', 'DELETE', '/v2/orders/'],
  ['seen to be gone', 'GET', '/v2/orders/'],
])(
  'a replacement stops where its order is %s too late, and is unknown until it is asked for',
  async (_, ...slow) => {
    const one = await working()
    // The strategy's own order has filled and the grace is over: the copy turns to market.
    await publishQuotes(ctx, [quote(one.symbol, '49', '49.5', world.clock.now())])
    await world.drain()
    await unsent(async () => {
      world.clock.time += 31_000
    })
    takeLong(...slow)
    expect(await sendOnce()).toEqual([expect.stringMatching(/^DELETE/)])
    const unknownAt = expect.any(Number)
    expect((await one.orders())[1]).toMatchObject({ pendingAction: 'replace', attempts: 1, unknownAt })
    expect(one.theirs()).toMatchObject([{ status: 'canceled' }])
    await world.until(async () => {
      await world.askAgain()
      expect((await one.orders())[1]).toMatchObject({ status: '0', ordType: '1', unknownAt: null })
    })
    expect(one.theirs()).toMatchObject([{ status: 'canceled' }, { type: 'market', qty: '6' }])
  },
)

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})
