/** Followers are planned for at once also where the server has not counted yet what they have: none is compared with all. */
import { expect, test } from 'vitest'
import type { Transaction } from '../../src/storage/database/sql.ts'
import { loadDueSignal, loadFollowers } from '../../src/storage/mirror/followers.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { looked, plansOf, thrownAway } from '../support/plans.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'

const { db } = await testDatabase()
const count = 300

test('as beside thousands of orders of which nobody knows what became, and of subscriptions', async () => {
  const world = makeAccountWorld(db)
  const { strategyId, order } = await makeScene(world, await addBroker(db))({ count })
  await db.transaction(async (tx) => {
    await tx.run`set local session_replication_role = replica`
    await tx.run`update account set person_id = id`
    await tx.run`
      insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
        term_ends_at)
      select site_id, id, ${strategyId}, 'paper', 0, now(), now(), now() + interval '9 years' from account`
  })
  await order('1', '10', { limit: '90' })
  await world.drain()
  await db.write.run`update account_order set unknown_at = now()`
  await order('1', '10', { limit: '90' })
  const signal = await db.transaction((tx) => loadDueSignal(tx, strategyId, world.clock.now()))
  if (!signal) throw new Error('no signal is due')
  const plans = await plansOf(db, (sql) => loadFollowers(sql as Transaction, signal, [], count), true)
  expect(plans.map(looked)).toEqual([expect.toSatisfy((rows) => rows < count * 10)])
  expect(thrownAway(plans, count)).toEqual([])
})
