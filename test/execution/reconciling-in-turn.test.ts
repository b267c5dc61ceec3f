/** Brokers that take their time, or say nothing, when they are asked what they have: nobody else waits for them. */
import { expect, test } from 'vitest'
import { type Broker, BrokerUnreachable } from '../../src/execution/brokers/broker.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world

/** A broker of its own with one account, and one order of ours that works there. */
async function atWork() {
  const brokerId = await addBroker(db)
  const { accountId, order, orders } = await makeScene(world, brokerId)()
  await order('1', '6', { limit: '50' })
  await world.drain()
  const answeredAt = async () =>
    (
      await db.read.one<{ at: number | null }>`
        select max(answered_at) as at from reconciliation where broker_id = ${brokerId}`
    ).at
  return { brokerId, accountId, orders, answeredAt }
}

test('a broker that takes its time keeps no other of its adapter from being asked, minute by minute', async () => {
  const [slow, other] = [await atWork(), await atWork()]
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  const broker: Broker = {
    ...paper.broker,
    snapshot: async (asking, ids) => {
      if (ids.includes(slow.accountId)) await opened
      return paper.broker.snapshot(asking, ids)
    },
  }
  world.clock.time += 60_001
  const first = world.clock.time
  const asking = reconcile(ctx, 'paper', broker, true)
  await expect.poll(other.answeredAt).toBe(first)
  world.clock.time += 60_001
  await expect.poll(other.answeredAt).toBe(first + 60_001)
  expect(await slow.answeredAt()).toBeLessThan(first)
  open()
  await asking
  expect(await slow.answeredAt()).toBe(world.clock.time)
})

test('however long a broker takes, its answer is used', async () => {
  const { brokerId, accountId, orders } = await atWork()
  await db.write.run`update paper_order set status = 'C' where account_id = ${accountId}`
  const expiry = async () =>
    (
      await db.read.one<{ at: number }>`
        select extract(epoch from expires_at)::float8 as at from lease where name = ${`reconcile:${brokerId}`}`
    ).at
  const broker: Broker = {
    ...paper.broker,
    snapshot: async (asking, ids) => {
      if (ids.includes(accountId)) {
        const given = await expiry()
        await expect.poll(expiry, { timeout: 5_000 }).toBeGreaterThan(given)
      }
      return paper.broker.snapshot(asking, ids)
    },
  }
  for (let passed = 0; passed < 2; passed += 1) {
    world.clock.time += 60_001
    await reconcile(ctx, 'paper', broker, true)
    await world.drain()
  }
  expect(await orders()).toMatchObject([{ status: 'C' }])
})

test('orders of which it says nothing keep it from being asked about no others, but not for ever', async () => {
  const [silent, other] = [await atWork(), await atWork()]
  await db.write.run`
    update account set broker_id = ${silent.brokerId} where id = ${other.accountId}`
  await db.write
    .run`update account_order set broker_id = ${silent.brokerId} where account_id = ${other.accountId}`
  const ids = [silent.accountId, other.accountId]
  await db.write.run`update paper_order set status = 'C' where account_id = any(${ids}::bigint[])`
  let asked = 0
  const brokerWith = (isSaid: (accountId: number) => boolean, concurrency: number): Broker => ({
    ...paper.broker,
    limits: { batch: 1, concurrency },
    find: async (asking, id, orders) => {
      asked += 1
      if (!orders.every(({ accountId }) => isSaid(accountId))) throw new BrokerUnreachable('silence')
      return paper.broker.find(asking, id, orders)
    },
  })
  const pass = async (broker: Broker) => {
    world.clock.time += 60_001
    await reconcile(ctx, 'paper', broker, true)
    await world.drain()
  }
  for (let passed = 0; passed < 3; passed += 1)
    await pass(brokerWith((accountId) => accountId === other.accountId, 2))
  expect(await other.orders()).toMatchObject([{ status: 'C' }])
  expect(await silent.orders()).toMatchObject([{ status: '0' }])
  asked = 0
  await pass(brokerWith(() => false, 1))
  expect(asked).toBe(1)
})
