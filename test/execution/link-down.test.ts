/** Copies whose signal has filled while the link to their broker is down: they wait for a grace, then only AutoSync acts. */
import { beforeEach, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { makeAccountWorld, readHeld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, place } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { controls } = world.paper

async function scene() {
  const brokerId = await addBroker(db)
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  const quote = () => world.quote(symbol, '99', '100')
  await quote()
  const buy = (quantity: string, limit: string) =>
    place(world, { strategyId, instrumentId, side: '1', quantity, limit })
  const sell = (quantity: string, limit: string) =>
    place(world, { strategyId, instrumentId, side: '2', quantity, openClose: 'C', limit })
  const held = () => readHeld(world, setupId, instrumentId)
  return { setupId, buy, sell, held, quote, orders: () => readOrders(world, setupId) }
}

async function pass(ms: number): Promise<void> {
  await world.drain()
  world.clock.time += ms
  await world.drain()
}

beforeEach(() => controls.down(false))

test('one that was turned to market has waited since it was made', async () => {
  const one = await scene()
  controls.down(true)
  await one.buy('4', '101')
  await pass(30_000)
  controls.down(false)
  await world.drain()
  expect(await one.orders()).toMatchObject([
    { status: '5', ordType: '2' },
    { status: '4', ordType: '1', info: 'broker not reachable', attempts: 0 },
  ])
  expect(await one.held()).toBe(0)
})

test('what one was to close that was left behind unseen, AutoSync closes', async () => {
  const one = await scene()
  await one.buy('4', '101')
  await db.write.run`update setup set chase_filled = false where id = ${one.setupId}`
  await world.drain()
  controls.down(true)
  await one.sell('3', '98')
  await pass(30_000)
  controls.down(false)
  await one.quote()
  await world.drain()
  expect(await one.orders()).toMatchObject([
    { status: '2' },
    { status: '4', info: 'left behind by its signal', attempts: 0 },
    { status: '2', cumQty: 3, info: 'AutoSync' },
  ])
  expect(await one.held()).toBe(1)
})

test('what AutoSync makes of one that rests waits for the link, however long that takes', async () => {
  const one = await scene()
  await one.buy('4', '101')
  await world.drain()
  controls.down(true)
  await one.sell('3', '120')
  await pass(30_000)
  for (let minutes = 0; minutes < 60; minutes++) await pass(60_000)
  const made = await one.orders()
  expect(made).toMatchObject([
    { status: '2' },
    { status: '4', info: 'broker not reachable', attempts: 0 },
    { status: 'A', ordType: '2', info: 'AutoSync', attempts: 0 },
  ])
  controls.down(false)
  await world.drain()
  expect(await one.orders()).toMatchObject([{ status: '2' }, { status: '4' }, { status: '0', orderQty: 3 }])
})
