/** What exits left no room to copy is closed for everybody, however many transactions that takes, and closed once. */
import { expect, test } from 'vitest'
import { mirrorSignals } from '../../src/execution/mirror/mirror.ts'
import { newTally } from '../../src/execution/tally.ts'
import type { Transaction } from '../../src/storage/database/sql.ts'
import { hasCrowdedOut } from '../../src/storage/mirror/crowded-out.ts'
import type { DueSignal } from '../../src/storage/mirror/followers.ts'
import { testDatabase } from '../support/database.ts'
import { looked, plansOf, thrownAway } from '../support/plans.ts'
import { accountViolations, readHeld, readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'
import { place } from './world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)

/** Followers without AutoSync hold 6 with stops for all of it; of these their strategy has just sold 4. */
async function sold(count: number, stops = ['6']) {
  const scene = await world.scene(count)
  const { strategyId, instrumentId, setupIds } = scene
  await db.write.run`
    update account set is_sync_enabled = false where id in (
      select account_id from setup where id = any(${setupIds}::bigint[]))`
  await scene.buy('6')
  await world.drain()
  for (const quantity of stops)
    await place(world, {
      strategyId,
      instrumentId,
      side: '2',
      quantity,
      stop: '50',
      positionEffect: 'C',
      goodTillCanceled: true,
    })
  await world.drain()
  await scene.sell('4')
  await world.step('matchArrivals')
  const held = () => Promise.all(setupIds.map((id) => readHeld(world, id, instrumentId)))
  return { ...scene, held }
}

test('over any number of slices', async () => {
  const { held } = await sold(3)
  await mirrorSignals(world.ctx, 1)
  await world.drain()
  expect(await held()).toEqual([2, 2, 2])
})

test('by another worker where one has died between two of them', async () => {
  const { held, setupIds } = await sold(2)
  let transactions = 0
  const transaction: typeof db.transaction = (work, options) => {
    transactions += 1
    if (transactions < 4) return db.transaction(work, options)
    return db.transaction(async (tx) => {
      await work(tx)
      throw new Error('killed before the commit')
    }, options)
  }
  const dying = { ...world.ctx, tally: newTally(), db: { ...db, transaction } }
  await expect(mirrorSignals(dying, 1)).rejects.toThrow('killed')
  await world.drain()
  expect(await held()).toEqual([2, 2])
  for (const id of setupIds)
    expect((await readOrders(world, id)).filter(({ info }) => info === 'exits gave way')).toHaveLength(1)
})

test('after the exits have given way: at no moment does more close than is held', async () => {
  const { setupId } = await sold(1, ['3', '3'])
  await mirrorSignals(world.ctx)
  // The broker of an account hears of its orders in this sequence.
  const unheard = (await readOrders(world, setupId)).filter(({ pendingAction }) => pendingAction !== null)
  expect(unheard).toMatchObject([
    { pendingAction: 'cancel', orderQty: 3 },
    { pendingAction: 'replace', orderQty: 2 },
    { pendingAction: 'new', orderQty: 4, info: 'exits gave way' },
  ])
  await world.drain()
})

test('by two workers at once', async () => {
  const { held, setupIds } = await sold(12)
  const other = { ...world.ctx, workerId: 'w2' }
  await Promise.all([mirrorSignals(world.ctx, 5), mirrorSignals(other, 3)])
  await world.drain()
  expect(await held()).toEqual(setupIds.map(() => 2))
})

test('without each of whom exits kept being compared with all who follow, also uncounted', async () => {
  const count = 200
  const { strategyId, instrumentId } = await sold(count)
  await world.drain()
  const signal = await db.read.one<DueSignal>`
    select id, strategy_id as "strategyId", instrument_id as "instrumentId", side, status, cum_qty as "cumQty",
      position_effect as "positionEffect", array[]::bigint[] as predecessors
    from signal where strategy_id = ${strategyId} and instrument_id = ${instrumentId} order by id desc limit 1`
  const plans = await plansOf(db, (sql) => hasCrowdedOut(sql as Transaction, signal), true)
  expect(looked(plans[0]!)).toBeGreaterThan(count)
  expect(thrownAway(plans, count)).toEqual([])
})

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})
