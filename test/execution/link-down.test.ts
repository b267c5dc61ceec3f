/** Copies whose signal has filled while the link to their broker is down: they wait for a grace, then only AutoSync acts. */
import { beforeEach, expect, test } from 'vitest'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { makeAccountWorld, readHeld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, endSignal, place } from './world.ts'

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
  const buy = (quantity: string, limit?: string, replaces?: number) =>
    place(world, {
      strategyId,
      instrumentId,
      side: '1',
      quantity,
      ...(limit && { limit }),
      ...(replaces && { replaces }),
    })
  const sell = (quantity: string, limit: string, replaces?: number) => {
    const exit = { strategyId, instrumentId, side: '2', quantity, positionEffect: 'C', limit } as const
    return place(world, replaces === undefined ? exit : { ...exit, replaces })
  }
  const held = () => readHeld(world, setupId, instrumentId)
  return { setupId, buy, sell, held, quote, orders: () => readOrders(world, setupId) }
}

/** The copy of an exit that rests has waited for the grace, the link being down, and AutoSync has made it anew. */
async function restingExit() {
  const one = await scene()
  await one.buy('4', '101')
  await world.drain()
  controls.down(true)
  await one.sell('3', '120')
  await pass(30_000)
  await pass(60_000)
  return one
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
  const one = await restingExit()
  for (let minutes = 1; minutes < 60; minutes++) await pass(60_000)
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

test('what it made of one that opens is given up when the grace after its signal is over', async () => {
  const one = await scene()
  world.clock.time += 3_600_000
  controls.down(true)
  await one.buy('4')
  await world.drain()
  await db.write.run`update setup set max_futures = 3 where id = ${one.setupId}`
  await markSetups(db.write, [one.setupId], world.clock.now())
  await pass(3_600_000)
  await one.quote()
  await pass(29_999)
  const resized = { ordType: '1', orderQty: 3 }
  expect(await one.orders()).toMatchObject([{ status: '5' }, { ...resized, status: 'A', info: 'AutoSync' }])
  await pass(1)
  controls.down(false)
  await one.quote()
  expect(await one.orders()).toMatchObject([
    { status: '5' },
    { ...resized, status: '4', info: 'broker not reachable', attempts: 0 },
  ])
  expect(await one.held()).toBe(0)
})

test('what AutoSync trades by itself waits for the link too, and is not made anew', async () => {
  const one = await scene()
  await one.buy('4', '101')
  await world.drain()
  controls.down(true)
  await db.write.run`update setup set max_futures = 3 where id = ${one.setupId}`
  await markSetups(db.write, [one.setupId], world.clock.now())
  for (let minutes = 0; minutes < 5; minutes++) await pass(60_000)
  expect(await one.orders()).toMatchObject([{ status: '2' }, { status: 'A', orderQty: 1, attempts: 0 }])
  controls.down(false)
  await world.drain()
  expect(await one.orders()).toMatchObject([{ status: '2' }, { status: '0', orderQty: 1 }])
})

test('an entry at another price is given up with the order at work that it was to replace', async () => {
  const one = await scene()
  const entry = await one.buy('4', '90')
  await world.drain()
  controls.down(true)
  await endSignal(db.write, entry, '5', new Date(world.clock.time).toISOString())
  await one.buy('4', '91', entry)
  await pass(30_000)
  controls.down(false)
  await world.drain()
  const unreached = { status: '4', cumQty: 0, info: 'broker not reachable' }
  expect(await one.orders()).toMatchObject([unreached, unreached])
})

test('what replaces a copy that was never sent waits for a grace of its own', async () => {
  const one = await scene()
  controls.down(true)
  const entry = await one.buy('4', '90')
  await pass(20_000)
  await endSignal(db.write, entry, '5', new Date(world.clock.time).toISOString())
  await one.buy('4', '91', entry)
  await pass(29_999)
  expect(await one.orders()).toMatchObject([{ status: '5' }, { status: 'A' }])
  await pass(1)
  expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '4', info: 'broker not reachable' }])
})

test('what AutoSync made waits no longer once it is off', async () => {
  const one = await restingExit()
  await db.write.run`
    update account set is_sync_enabled = false where id = (select account_id from setup where id = ${one.setupId})`
  await pass(60_000)
  controls.down(false)
  await world.drain()
  const unreached = { status: '4', info: 'broker not reachable', attempts: 0 }
  expect(await one.orders()).toMatchObject([{ status: '2' }, unreached, unreached])
})

test.each([true, false])(
  'an exit at work is not withdrawn for one in its place that waits, AutoSync %s',
  async (isOn) => {
    const one = await scene()
    await one.buy('4', '101')
    const exit = await one.sell('4', '120')
    await world.drain()
    await db.write.run`
      update account set is_sync_enabled = ${isOn}
      where id = (select account_id from setup where id = ${one.setupId})`
    controls.down(true)
    await endSignal(db.write, exit, '5', new Date(world.clock.time).toISOString())
    await one.sell('4', '110', exit)
    await pass(30_000)
    await pass(60_000)
    controls.down(false)
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: '2' }, { status: '5' }, { status: '0', orderQty: 4 }])
  },
)
