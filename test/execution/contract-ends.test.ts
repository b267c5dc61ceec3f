/** The end of a contract beside work that is under way in it: it waits for that, and keeps nothing that it needs. */
import { expect, test } from 'vitest'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { claimEnding, type EndingRow, postponeEnd } from '../../src/storage/actions/contract-ends.ts'
import { type Fragment, fragment } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { untilWaiting } from '../support/locks.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld, readHeld } from './account-world.ts'
import { close } from './world.ts'

const { db } = await testDatabase()

/** A follower of somebody who holds a contract, after its end. */
async function ended() {
  const world = makeAccountWorld(db)
  const scene = await makeScene(world, await addBroker(db))()
  await world.quote(scene.symbol, '10', '10')
  await scene.order('1', '100', { limit: '11' })
  await world.drain()
  expect(await scene.held()).toBe(100)
  await db.write.run`
    update instrument set security_type = 'FUT', last_trading_day = '2024-03-12', due_at = '2024-03-12T20:00Z'
    where id = ${scene.instrumentId}::bigint`
  world.clock.time = close + 60_000
  return { world, scene }
}

type Scene = Awaited<ReturnType<typeof ended>>['scene']

test.each<[string, (scene: Scene) => Fragment]>([
  ['a strategy', ({ strategyId }) => fragment`strategy where id = ${strategyId}::bigint`],
  ['an account', ({ accountId }) => fragment`account where id = ${accountId}::bigint`],
])('who holds %s may write rows of the instrument', async (_, locked) => {
  const { world, scene } = await ended()
  let ending: Promise<number> | undefined
  await db.transaction(async (tx) => {
    await tx.run`select from ${locked(scene)} for no key update`
    ending = bookActions(world.ctx)
    await untilWaiting(db.read)
    await tx.run`select from instrument where id = ${scene.instrumentId}::bigint for key share nowait`
  })
  await ending
  expect(await readHeld(world, scene.setupId, scene.instrumentId)).toBe(0)
})

test('what another worker has put off meanwhile does not end before its time has come', async () => {
  const { scene } = await ended()
  let claimed: Promise<EndingRow | undefined> | undefined
  await db.transaction(async (tx) => {
    await postponeEnd(tx, scene.instrumentId, close + 1, close)
    claimed = db.transaction((other) => claimEnding(other, close))
    await untilWaiting(db.read)
  })
  expect(await claimed).toBeUndefined()
  expect(await db.transaction((tx) => claimEnding(tx, close + 1))).toMatchObject({ id: scene.instrumentId })
})
