/** The doctor calls late what is due and late, and nothing else. */
import { closeSync, openSync, writeSync } from 'node:fs'
import { expect, test, vi } from 'vitest'
import { examine } from '../../src/bin/doctor.ts'
import { completeInstrument } from '../../src/domain/market/derive-instrument.ts'
import { readableInstant } from '../../src/domain/time.ts'
import { BrokerUnreachable } from '../../src/execution/brokers/broker.ts'
import { reconciliationStep } from '../../src/execution/reports/reconciliation.ts'
import { insertInstruments } from '../../src/storage/market/instruments.ts'
import { insertMail } from '../../src/storage/people/mail.ts'
import { claimLease } from '../../src/storage/work/leases.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { makeAccountWorld } from '../execution/account-world.ts'
import { addInstrument, addStrategy, place } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers, leaveStrategy } from '../support/followers.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)

const finding = async (wanted: string) =>
  (await examine(db, world.clock.now())).find(({ name }) => name === wanted)

test('of what waits to be sent', async () => {
  world.clock.time = Date.now()
  const strategyId = await addStrategy(db)
  const { id: instrumentId } = await addInstrument(db, { securityType: 'FUT', calendar: 'FOREX' })
  await addFollowers(db, { strategyId, brokerId: await addBroker(db), count: 1 })
  await place(world, { strategyId, instrumentId, side: '1', goodTillCanceled: true })
  await world.steps.find(({ name }) => name === 'mirrorSignals')?.run(world.ctx)
  const hourAgo = new Date(world.clock.time - 3_600_000).toISOString()
  const hence = new Date(world.clock.time + 600_000).toISOString()
  const onTime = { ok: true, says: 'nothing waits for longer than 30 s' }

  await db.write.run`update account_order set posted_at = ${hourAgo}::timestamptz`
  expect(await finding('sending')).toMatchObject({
    ok: false,
    says: 'the oldest account order that is due waits for 3600 s',
  })
  expect(await finding('worker')).toMatchObject({ ok: false })

  await db.write.run`update account_order set confirm_by = ${hence}::timestamptz`
  expect(await finding('sending'), 'for its holder’s word').toMatchObject(onTime)

  // Since when a cancel waits is in no row; the order's own time says nothing of it.
  await db.write.run`update account_order set confirm_by = null, pending_action = 'cancel'`
  expect(await finding('sending'), 'a cancel').toMatchObject(onTime)
  expect(await finding('worker')).toMatchObject({ ok: true })
})

test('of a disk that is filling up, and of switches that are on', async () => {
  const all = await examine(db, Date.now(), 0.049)
  expect(all.find(({ name }) => name === 'disk')).toMatchObject({
    ok: false,
    says: '4 % of the disk of the data folder is left',
  })
  expect((await examine(db, Date.now(), 0.5)).find(({ name }) => name === 'disk')).toMatchObject({ ok: true })
  expect(await finding('disk'), 'where there is none').toBeUndefined()
  expect(await finding('switches')).toMatchObject({ ok: true, says: 'none is on' })
  await setSwitch(db.write, 'maintenance', true, Date.now())
  await setSwitch(db.write, 'noOpeningOrders', true, Date.now())
  expect(await finding('switches')).toMatchObject({
    says: 'maintenance is on: every call answers 503; openings are off: no account opens anything',
  })
})

test('of futures that end on another day than their rule says', async () => {
  expect(await finding('futures')).toMatchObject({ ok: true, says: 'all end on the days of their rules' })
  const future = (symbol: string, lastTradingDay?: string) =>
    completeInstrument({ symbol, securityType: 'FUT', lastTradingDay }, 20_000)
  await insertInstruments(db.write, [
    future('@ESM34'),
    future('@ESH34', '2034-03-16'),
    future('@ESU34', '2034-09-14'),
    future('@NOBODYH34', '2034-09-14'),
  ])
  await db.write.run`update instrument set ended_at = now() where symbol = '@ESU34'`
  expect(await finding('futures')).toMatchObject({
    ok: true,
    says: 'end on other days than their rules say: @ESH34 on 2034-03-16 instead of 2034-03-17',
  })
})

test('of brokers that do not say what the accounts of followers hold', async () => {
  world.clock.time = Date.UTC(2026, 2, 4, 15)
  let answers = false
  const { broker } = world.paper
  const ask = reconciliationStep('mute', {
    ...broker,
    snapshot: async (...asked) => {
      if (answers) return broker.snapshot(...asked)
      throw new BrokerUnreachable('nobody is there')
    },
  })
  const brokerId = await addBroker(db)
  await db.write.run`update broker set name = 'Mute', adapter = 'mute' where id = ${brokerId}`
  const nobody = { ok: true, says: 'all have said what their accounts hold within 5 minutes' }
  await db.write.run`update broker set is_enabled = false where id <> ${brokerId}`
  expect(await finding('brokers'), 'without a worker').toMatchObject({ ok: true, says: 'nobody asks them' })
  await claimLease(db.write, 'feed:any', 'worker', 10_000)
  expect(await finding('brokers'), 'without an account').toMatchObject(nobody)
  const strategyId = await addStrategy(db)
  const [setupId] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  const began = new Date(world.clock.time).toISOString()
  await db.write.run`update setup set started_at = ${began}::timestamptz where id = ${setupId}`

  const says = (what: string) => ({
    ok: false,
    says: `not all say what their accounts hold, the worker's log says why: Mute ${what}`,
  })
  world.clock.time += 300_000
  expect(await finding('brokers'), 'at once').toMatchObject(nobody)
  world.clock.time += 1
  await ask.run(world.ctx)
  expect(await finding('brokers')).toMatchObject(says('never did'))
  answers = true
  world.clock.time += 60_000
  await ask.run(world.ctx)
  expect(await finding('brokers')).toMatchObject(nobody)
  answers = false
  world.clock.time += 300_001
  await ask.run(world.ctx)
  expect(await finding('brokers')).toMatchObject(says('last did on 2026-03-04 15:06 UTC'))
  await db.write.run`update broker set is_enabled = false where id = ${brokerId}`
  expect(await finding('brokers'), 'a disabled one').toMatchObject(nobody)
  await db.write.run`update broker set is_enabled = true where id = ${brokerId}`
  await leaveStrategy(db, Number(setupId))
  await db.write.run`update setup set closed_at = stopped_at where id = ${setupId}`
  expect(await finding('brokers'), 'of who has left').toMatchObject(nobody)
})

test('of pages that are not as they were written', async () => {
  expect(await finding('checksums')).toEqual({ name: 'checksums', ok: true, says: 'on' })
  await db.write.run`create table spoilt as select 1 as id`
  await db.write.run`create extension pg_buffercache`
  await db.write.run`checkpoint`
  const { file } = await db.read.one<{ file: string }>`
    select current_setting('data_directory') || '/' || pg_relation_filepath('spoilt') as file`
  const page = openSync(file, 'r+')
  writeSync(page, Buffer.alloc(64, 7), 0, 64, 4096)
  closeSync(page)
  await db.write.run`select pg_buffercache_evict_relation('spoilt')`
  await expect(db.read.run`select from spoilt`).rejects.toThrow('invalid page')
  await vi.waitFor(
    async () =>
      expect(await finding('checksums')).toMatchObject({
        ok: false,
        says: expect.stringMatching(/^\d+ times a page that was read was not what had been written$/),
      }),
    5_000,
  )
  await db.write.run`select pg_stat_reset()`
  await vi.waitFor(async () => expect(await finding('checksums')).toMatchObject({ ok: true }), 5_000)
})

test('of a message that no server takes, without calling that a fault', async () => {
  const now = world.clock.time
  const facts = { firstName: 'Ann', siteName: 'West', seed: 'abc' }
  await insertMail(db.write, { kind: 'confirm-email', address: 'ann@example.com', facts }, now)
  world.clock.time += 300_000
  expect(await finding('mail')).toEqual({
    name: 'mail',
    ok: true,
    says: 'nothing waits for longer than 5 minutes',
  })
  world.clock.time += 1
  expect(await finding('mail')).toEqual({
    name: 'mail',
    ok: true,
    says: `a message of ${readableInstant(now)} is not sent yet, the worker's log says why`,
  })
})

test('of what a site was never told', async () => {
  expect(await finding('webhooks')).toEqual({ name: 'webhooks', ok: true, says: 'none is given up' })
  await db.write.run`
    with endpoint as (
      insert into webhook_endpoint (site_id, url, event_types, created_at)
      select min(id), 'https://example.com/', '{approval.completed}', now() from site returning id
    ), request as (
      insert into approval_request (id, account_id, strategy_id, action, status, choices, created_at, expires_at,
        ended_at, announced_at)
      select gen_random_uuid(), account_id, strategy_id, 'stop', 'Completed', '{}', now(), now(), now(), now()
      from setup order by id limit 1 returning id)
    insert into webhook_delivery (endpoint_id, approval_request_id, event_type, body, created_at)
    select endpoint.id, request.id, 'approval.completed', '{}', now() from endpoint, request`
  expect(await finding('webhooks')).toEqual({
    name: 'webhooks',
    ok: false,
    says: 'not tried any more: 1 (webhooks list says whose)',
  })
})
