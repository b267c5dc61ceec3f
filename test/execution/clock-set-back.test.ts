/** A clock that is set back holds nothing up for longer than each kind of waiting takes by itself. */
import { expect, test } from 'vitest'
import { clockSetBackStep } from '../../src/execution/clock-set-back.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { openFixSession } from '../../src/storage/brokers/fix-sessions.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { claimMail } from '../../src/storage/people/mail.ts'
import { claimLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld, readOrders } from './account-world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const worker = createWorker({ ctx: world.ctx, steps: [...world.steps, clockSetBackStep] })
const brokerId = await addBroker(db)
const hour = 3_600_000

/** As if what was written so far had been written an hour later, by a clock that ran ahead. */
async function setBack(): Promise<void> {
  await db.write.run`update lease set expires_at = expires_at + interval '1 hour'`
  await db.write.run`update account_order set claimed_until = claimed_until + interval '1 hour',
    chase_at = chase_at + interval '1 hour'`
  await db.write.run`update reconciliation set due_at = due_at + interval '1 hour',
    answered_at = answered_at + interval '1 hour'`
  await db.write.run`update sync_due set due_at = due_at + interval '1 hour'`
}

/** As if the usual time of a lease or a claim had passed. */
const wait = () => db.write.run`
  with claims as (update account_order set claimed_until = claimed_until - interval '10 seconds')
  update lease set expires_at = expires_at - interval '10 seconds'`

/** In seconds from now. */
const remaining = async (name: string): Promise<number> =>
  (
    await db.read.one<{ left: number }>`
    select extract(epoch from expires_at - clock_timestamp())::float8 as left from lease where name = ${name}`
  ).left

test('leases, claims and graces end in their usual time, and copies go out again', async () => {
  const { order, orders, symbol, setupId } = await makeScene(world, brokerId)()
  await world.quote(symbol, '99', '100')
  await order('1', '10')
  await worker.drain()
  expect(await orders()).toMatchObject([{ status: '2' }])
  await order('1', '10', { limit: '50' })
  await db.write.run`
    insert into reconciliation values (${brokerId}::int, ${instant(world.clock.now() + 60_000)}::timestamptz,
      ${instant(world.clock.now())}::timestamptz)
    on conflict (broker_id) do update set due_at = excluded.due_at, answered_at = excluded.answered_at`
  await claimLease(db.write, 'reconcile:0', 'another', 30_000)
  await setBack()
  expect(await remaining(`send:${brokerId}`)).toBeGreaterThan(3000)
  await worker.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{}, { status: 'A', pendingAction: 'new' }])
  expect(await remaining(`send:${brokerId}`)).toBeLessThanOrEqual(10)
  // Cut to its usual time, not to less: whoever asks lives, and need not be heard of before.
  expect(Math.round((await remaining('reconcile:0')) / 10)).toBe(3)
  await wait()
  await worker.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{}, { status: '0', pendingAction: null }])
  const { ahead } = await db.read.one<{ ahead: number }>`
    select count(*)::int as ahead from reconciliation 
    where due_at > ${instant(world.clock.now() + 60_000)}::timestamptz
      or answered_at > ${instant(world.clock.now())}::timestamptz`
  expect(ahead).toBe(0)
})

test('an order whose claim was cut is asked for, not sent twice; a message is tried', async () => {
  const { order, orders, setupId } = await makeScene(world, brokerId)()
  await order('1', '10', { limit: '50' })
  await worker.drain()
  await db.write.run`
    update account_order set pending_action = 'new', attempts = 1, claimed_until = clock_timestamp() + interval '1 hour'
    where setup_id = ${setupId}`
  const later = world.clock.now() + hour
  await db.write.run`
    insert into mail (kind, address, facts, created_at, next_try_at)
    values ('confirm-email', 'a@x.org', '{}', ${instant(later)}::timestamptz, ${instant(later)}::timestamptz)`
  await db.write.run`update lease set expires_at = clock_timestamp() + interval '1 hour'`
  await worker.drain()
  await wait()
  await worker.drain()
  expect(await orders()).toMatchObject([{ status: '0', pendingAction: null }])
  const { sent } = await db.read.one<{ sent: number }>`
    select count(*)::int as sent from paper_order p join setup s on s.account_id = p.account_id where s.id = ${setupId}`
  expect(sent).toBe(1)
  const { due } = await db.read.one<{ due: number }>`
    select count(*)::int as due from mail where next_try_at <= ${instant(world.clock.now())}::timestamptz`
  expect(due).toBe(1)
})

test('a message that is being handed over is not handed over by another before its claim runs out', async () => {
  const now = world.clock.now()
  await db.write.run`delete from mail`
  await db.write.run`
    insert into mail (kind, address, facts, created_at, next_try_at)
    values ('confirm-email', 'b@x.org', '{}', ${instant(now)}::timestamptz, ${instant(now)}::timestamptz)`
  await claimMail(db.write, now)
  await db.write.run`update lease set expires_at = clock_timestamp() + interval '1 hour'`
  await worker.drain()
  const { left } = await db.read.one<{ left: number }>`
    select extract(epoch from claimed_until - clock_timestamp())::float8 as left from mail`
  expect(left).toBeGreaterThan(120)
})

test('a FIX session that began anew by the clock that ran ahead does so again at its daily start', async () => {
  const start = world.clock.now() + hour / 2
  const lease = await claimLease(db.write, 'fix:daily', 'w1', 10_000)
  if (!lease) throw new Error('the lease is held')
  await db.write.run`
    insert into fix_session (connection, started_at) values ('daily', ${instant(start + hour)}::timestamptz)`
  await db.write.run`update lease set expires_at = expires_at + interval '1 hour'`
  await worker.drain()
  const isResetDue = async (since: number) =>
    (await openFixSession(db, lease, 'daily', { ahead: 1, since })).isResetDue
  expect(await isResetDue(start - 24 * hour)).toBe(false)
  expect(await isResetDue(start)).toBe(true)
})

test('a clock that was not set back leaves leases as they are', async () => {
  await db.write.run`delete from lease`
  await claimLease(db.write, 'steady', 'w1', 29_000)
  expect(await worker.drain()).toBe(0)
  expect(await remaining('steady')).toBeGreaterThan(20)
})

test('orders fill at what is quoted now, not at the last quote of the clock that ran ahead', async () => {
  const { order, symbol } = await makeScene(world, brokerId)()
  await world.quote(symbol, '99', '100')
  await db.write.run`update quote set quoted_at = quoted_at + interval '1 hour'`
  await claimLease(db.write, 'ahead', 'another', hour)
  await worker.drain()
  await world.quote(symbol, '49', '50')
  await order('1', '10')
  await worker.drain()
  const { px } = await db.read.one<{ px: number }>`
    select f.px::float8 as px from fill f join signal s on s.id = f.signal_id
      join instrument i on i.id = s.instrument_id where i.symbol = ${symbol}`
  expect(px).toBe(50)
})
