/** What is held against a strategy that has turned is closed first, also where its account is at work just then. */
import { expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { readHeld, readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'
import { place } from './world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)

test('an account that is held for a moment is waited for before the other side is copied', async () => {
  const { strategyId, instrumentId, setupId, buy, sell } = await world.scene()
  await buy('6')
  await world.drain()
  expect(await readHeld(world, setupId, instrumentId)).toBe(6)
  await db.write.run`insert into setup_exclusion (setup_id, instrument_id, sign, reason, excluded_at)
    values (${setupId}, ${instrumentId}, 1, 'Manual', now())`
  await sell('6')
  await place(world, { strategyId, instrumentId, side: '2', quantity: '4' })
  await world.steps.find(({ name }) => name === 'matchArrivals')?.run(world.ctx)
  const release = await holdLocks(
    db,
    (tx) =>
      tx.run`select from account where id = (select account_id from setup where id = ${setupId}) for update`,
  )
  const mirroring = world.steps.find(({ name }) => name === 'mirrorSignals')!.run(world.ctx)
  await Promise.race([mirroring, untilWaiting(db.read)])
  await release()
  await mirroring
  expect(await readOrders(world, setupId)).toMatchObject([
    { positionEffect: 'O' },
    { positionEffect: 'C', orderQty: 6, ordType: '1' },
    { positionEffect: 'O', orderQty: 4 },
  ])
})
