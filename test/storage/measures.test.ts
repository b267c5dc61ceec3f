/** What the rows say of work that waits, also where much of it does. */
import { expect, test } from 'vitest'
import { takeMeasures } from '../../src/storage/operating/measures.ts'
import { makeAccountWorld } from '../execution/account-world.ts'
import { addInstrument, addStrategy, place } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const hour = 3_600

const ageOf = async (job: string): Promise<number> => {
  const measures = await takeMeasures(db.write, world.clock.now())
  return measures.find(({ name, kind }) => name === 'job_age_seconds' && kind === job)?.value ?? Number.NaN
}

test('what has waited long shows its age behind a thousand that have just come', async () => {
  world.clock.time = Date.now()
  const strategyId = await addStrategy(db)
  const { id: instrumentId } = await addInstrument(db, { securityType: 'FUT', calendar: 'FOREX' })
  const [first, second] = [await addBroker(db), await addBroker(db)]
  await addFollowers(db, { strategyId, brokerId: first, count: 1_000 })
  await addFollowers(db, { strategyId, brokerId: second, count: 1 })
  await place(world, { strategyId, instrumentId, side: '1', goodTillCanceled: true })
  await world.steps.find(({ name }) => name === 'mirrorSignals')?.run(world.ctx)
  const old = world.clock.time - hour * 1_000
  const at = new Date(old).toISOString()
  const stuck = await db.write.run`
    update account_order set posted_at = ${at}::timestamptz where broker_id = ${second} and pending_action = 'new'`
  expect(stuck).toBe(1)
  expect(await ageOf('send')).toBeCloseTo(hour, 0)

  await db.write.run`
    insert into broker_report (broker_id, report_key, account_id, kind, symbol, occurred_at)
    select broker_id, 'new', id, 'ack', 'ES', now() from account where broker_id = ${first}`
  await db.write.run`
    insert into broker_report (broker_id, report_key, account_id, kind, symbol, occurred_at)
    select broker_id, 'old', id, 'ack', 'ES', ${at}::timestamptz from account where broker_id = ${second}`
  expect(await ageOf('report')).toBeCloseTo(hour, 0)
})

test('incidents are counted by their numbers', async () => {
  const total = async (): Promise<number | null | undefined> =>
    (await takeMeasures(db.write, world.clock.now())).find(({ name }) => name === 'incidents_total')?.value
  expect(await total()).toBe(0)
  await db.write.run`
    insert into incident (incident_key, kind, detail, occurred_at)
    select n, 'UnknownOrder', '{}', now() from generate_series(1, 3) n`
  expect(await total()).toBe(3)
})
