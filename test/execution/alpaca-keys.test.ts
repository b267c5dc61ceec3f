/** Keys that are slow to prove or that Alpaca refuses: whoever has a good one waits for none of them. */
import { afterAll, expect, test } from 'vitest'
import { snapshotAll } from '../../src/execution/brokers/alpaca/asking.ts'
import type { Client } from '../../src/execution/brokers/alpaca/client.ts'
import { createNotices } from '../../src/execution/brokers/alpaca/notices.ts'
import { createSessions } from '../../src/execution/brokers/alpaca/sessions.ts'
import { BrokerUnreachable, type OrderTicket } from '../../src/execution/brokers/broker.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { saveCredentials } from '../../src/storage/people/credentials.ts'
import { testDatabase } from '../support/database.ts'
import { joinAtAlpaca, makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
const { alpaca, broker, ctx } = world
afterAll(() => world.close())

test('what the streams say is heard while another account’s key is slow to prove', async () => {
  const one = await makeAlpacaScene(world)
  await one.order('1', '6', { limit: '50' })
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
  await world.until(async () => expect(alpaca.listeners(one.book)).toBe(1))
  const filled = () =>
    db.read.rows`select id from broker_report where account_id = ${one.accountId} and kind = 'fill'`
  const proofs = () => alpaca.heard.filter((what) => what === 'GET /v2/account').length
  const before = proofs()
  // Longer than anybody waits.
  alpaca.fault = (_, path) => (path === '/v2/account' ? 'slow' : undefined)
  await joinAtAlpaca(world, one.strategyId)
  const worker = createWorker({ ctx, steps: broker.steps })
  await worker.start()
  await expect.poll(proofs, { timeout: 5_000 }).toBeGreaterThan(before)
  one.fill(6, 50)
  await expect.poll(filled, { timeout: 1_500 }).toHaveLength(1)
  alpaca.fault = () => undefined
  await worker.stop()
})

test('a key that is refused is not asked for again by everybody who looks for it, another one is', async () => {
  const { strategyId } = await makeAlpacaScene(world)
  const { accountId } = await joinAtAlpaca(world, strategyId)
  let asked = 0
  const account = async () => {
    asked += 1
    return { outcome: 'refused', status: 401, code: '', text: '' } as const
  }
  const sessions = createSessions(world.keyRing, () => ({ account }) as unknown as Client)
  const lookFor = async () => Promise.all(await sessions.of(ctx, [accountId]))
  for (let looks = 0; looks < 5; looks += 1)
    expect(await lookFor()).toMatchObject([{ refused: 'Alpaca refuses the key' }])
  expect(asked).toBe(1)
  await saveCredentials(db.write, world.keyRing, accountId, { userName: 'new', password: 'new' }, 1)
  await lookFor()
  expect(asked).toBe(2)
})

test('an order whose key is slow to prove keeps no other of its call waiting, and is known as not sent', async () => {
  const one = await makeAlpacaScene(world)
  const other = await joinAtAlpaca(world, one.strategyId)
  const lonely = await world.connect()
  const ticketOf = (accountId: number, account: string, number: number): OrderTicket => ({
    accountId,
    account,
    clientOrderId: `LST-TEST-S${number}-${accountId}`,
    instrumentId: one.instrumentId,
    symbol: one.symbol,
    side: '1',
    ordType: '2',
    timeInForce: '0',
    positionEffect: 'O',
    quantity: '1',
    limitPx: '50',
    stopPx: null,
  })
  const tickets = [
    ticketOf(one.accountId, one.book.number, 1),
    ticketOf(other.accountId, other.book.number, 2),
  ]
  const orders = () => one.theirs().length + other.book.orders.size
  let proofs = 0
  // Longer than anybody waits, for the first of the two.
  alpaca.fault = (_, path) => (path === '/v2/account' && ++proofs === 1 ? 'slow' : undefined)
  const placing = lonely.place(ctx, world.brokerId, tickets, performance.now() + 60_000)
  await expect.poll(orders, { timeout: 900 }).toBe(1)
  const answers = await placing
  expect(answers.map(({ answer }) => answer).sort()).toEqual(['accepted', 'unsent'])
  // What is asked already is not asked again: everybody waits for the same answer.
  expect(proofs).toBe(2)
  expect(orders()).toBe(1)
  alpaca.fault = () => undefined
  await lonely.close()
})

test('nor does one that is asked for: the others are told of', async () => {
  const one = await makeAlpacaScene(world)
  const other = await joinAtAlpaca(world, one.strategyId)
  const lonely = await world.connect()
  const names = [one, other].map(({ accountId, book: { number } }) => ({
    accountId,
    account: number,
    clientOrderId: `LST-TEST-S3-${accountId}`,
  }))
  let proofs = 0
  alpaca.fault = (_, path) => (path === '/v2/account' && ++proofs === 1 ? 'slow' : undefined)
  let found: readonly unknown[] = []
  const finding = lonely.find(ctx, world.brokerId, names).then((standings) => {
    found = standings
  })
  await expect.poll(() => found, { timeout: 2_000 }).toHaveLength(2)
  expect(new Set(found)).toEqual(new Set([undefined, null]))
  await finding
  alpaca.fault = () => undefined
  await lonely.close()
})

test('the history is read after what the account holds: sooner it might lack what explains it', async () => {
  const { strategyId } = await makeAlpacaScene(world)
  const { accountId, book } = await joinAtAlpaca(world, strategyId)
  const events: string[] = []
  const client = {
    account: async () => ({
      outcome: 'done',
      body: { account_number: book.number, status: 'ACTIVE', cash: '0' },
    }),
    positions: async () => {
      await db.read.one`select 1`
      events.push('told')
      return { outcome: 'unknown' }
    },
    openOrders: async () => ({ outcome: 'unknown' }),
  }
  const sessions = createSessions(world.keyRing, () => client as unknown as Client)
  const desk = { sessions, why: () => undefined, pull: () => void events.push('pulled') }
  await expect(snapshotAll(ctx, desk, createNotices(), [accountId])).rejects.toThrow(BrokerUnreachable)
  expect(events).toEqual(['told', 'pulled'])
})
