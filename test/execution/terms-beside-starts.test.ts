/** Terms end while their subscribers change how they follow, and owners what they take: nobody blocks the other. */
import { expect, test } from 'vitest'
import { billingSteps } from '../../src/execution/billing.ts'
import { prepareStart } from '../../src/operations/autotrade/starting.ts'
import { listAccounts } from '../../src/storage/accounts/accounts.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { countingTries, holdTable, untilWaiting } from '../support/locks.ts'
import { addStrategy, makeWorld } from './world.ts'

const { db } = await testDatabase()
const { count, counting } = countingTries(db)
const { ctx, clock } = makeWorld(counting)

test('a fee is settled beside a change of the setup that owes it', async () => {
  const strategyId = await addStrategy(db)
  const guest = await addStrategy(db)
  await addFollowers(db, { strategyId, brokerId: await addBroker(db, 'live'), count: 1 })
  await db.write.run`update strategy set performance_fee_percent = 20 where id = ${strategyId}`
  await db.write.run`
    update account set person_id = (select owner_person_id from strategy where id = ${guest})`
  await db.write.run`
    insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, markup, started_at,
      term_started_at, term_ends_at, performance_fee_percent)
    select site_id, person_id, ${strategyId}::bigint, 'paid', 'active', 0, 0, to_timestamp(0), to_timestamp(0),
      to_timestamp(${clock.time}::float8 / 1000), 20 from account`
  const [account] = await listAccounts(db.read, {})
  const actor = { personId: account!.personId, role: 'user', siteId: 1 } as const
  const letGo = await holdTable(db, 'fee_settlement')
  const turning = billingSteps([])
    .find(({ name }) => name === 'turnTerms')!
    .run(ctx)
  await untilWaiting(db.read)
  const starting = counting.transaction((tx) => prepareStart(tx, actor, account!, strategyId, false))
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), turning, starting])
  expect(await db.read.rows`select percent from fee_settlement`).toEqual([{ percent: 20 }])
  expect(count.tried).toBe(count.begun)
})

test('a fee that is announced while terms turn is none of the term that begins: its gains were not passed', async () => {
  const announced = await addStrategy(db)
  await db.write.run`
    insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, markup, started_at,
      term_started_at, term_ends_at)
    select site_id, person_id, ${announced}::bigint, kind, status, 0, 0, started_at, term_started_at, term_ends_at
    from subscription`
  clock.time += 30 * 86_400_000
  const letGo = await holdTable(db, 'fee_settlement')
  const turning = billingSteps([])
    .find(({ name }) => name === 'turnTerms')!
    .run(ctx)
  await untilWaiting(db.read)
  await db.write.run`update strategy set performance_fee_percent = 20 where id = ${announced}`
  await Promise.all([letGo(), turning])
  const terms = await db.read.rows`
    select performance_fee_percent as percent from subscription where strategy_id = ${announced}`
  expect(terms).toEqual([{ percent: 0 }])
})
