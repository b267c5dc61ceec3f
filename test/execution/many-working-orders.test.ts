/** A strategy may work thousands of orders: AutoSync takes its followers by few, for the strategy waits meanwhile. */
import { expect, test } from 'vitest'
import { claimSyncs, markSetups } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { holdLocks } from '../support/locks.ts'
import { makeAccountWorld } from './account-world.ts'
import { addInstrument, addStrategy } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const brokerId = await addBroker(db)

/** A strategy with so many orders at rest in one symbol, and who has just begun to follow it. */
async function following(orders: number, count: number): Promise<number[]> {
  const strategyId = await addStrategy(db)
  const { id: instrumentId } = await addInstrument(db)
  await db.write.run`
    insert into signal (strategy_id, instrument_id, side, ord_type, time_in_force, position_effect, order_qty, limit_px,
      status, posted_at, working_at, membership_horizon, mirrored_at)
    select ${strategyId}, ${instrumentId}, '1', '2', '1', 'O', 1, 1 + n * 0.01, '0', now(), now(), 0, now()
    from generate_series(1, ${orders}::int) n`
  const setupIds = await addFollowers(db, { strategyId, brokerId, count })
  await db.write.run`delete from sync_due`
  await markSetups(db.write, setupIds, world.clock.now())
  return setupIds
}

const claimed = (): Promise<number[]> =>
  db.transaction((tx) => claimSyncs(tx, world.clock.now(), { except: [] }, 500))

test('takes as many setups at once as their strategies can wait for, and always one', async () => {
  const [first = 0, ...others] = await following(2_600, 3)
  expect(await claimed()).toEqual([first])
  await db.write.run`delete from sync_due`
  await markSetups(db.write, others, world.clock.now())
  expect(await claimed()).toEqual(others.slice(0, 1))
})

test('takes all at once who follow a strategy with few orders', async () => {
  const setupIds = await following(10, 20)
  expect(await claimed()).toEqual(setupIds)
})

test('begins with those that have waited for longest', async () => {
  const [first = 0, second = 0, third = 0] = await following(2_600, 3)
  await db.write.run`update sync_due set due_at = due_at - interval '1 second' where setup_id <> ${first}`
  expect(await claimed()).toEqual([second])
  await db.write.run`delete from sync_due where setup_id = ${second}`
  expect(await claimed()).toEqual([third])
})

test('passes over a strategy with many orders that others hold', async () => {
  const held = await following(5_100, 2)
  const { strategyId } = await db.read.one<{ strategyId: number }>`
    select strategy_id as "strategyId" from setup where id = ${held[0] ?? 0}`
  const others = await following(10, 2)
  await markSetups(db.write, held, world.clock.now() - 1_000)
  const release = await holdLocks(
    db,
    (tx) => tx.run`select from strategy where id = ${strategyId} for update`,
  )
  const beside = await claimed()
  await release()
  expect(beside).toEqual(others)
  expect(await claimed()).toEqual(held.slice(0, 1))
})
