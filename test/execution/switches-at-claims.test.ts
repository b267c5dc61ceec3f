/** What waits to be sent while a switch is turned, or a position goes: the claim holds it against what is so by then. */
import { expect, test } from 'vitest'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { testDatabase } from '../support/database.ts'
import { accountViolations, readHeld, readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, paper, scene, mirror, accepted, spy } = world

const enable = (brokerId: number, isEnabled: boolean) =>
  db.write.run`update broker set is_enabled = ${isEnabled} where id = ${brokerId}`

/** Its holder has subscribed to the strategy, and does no longer. */
const lapse = (setupId: number) => db.write.run`
  insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, started_at, term_started_at,
    term_ends_at, ended_at, end_reason)
  select a.site_id, a.person_id, t.strategy_id, 'paper', 'ended', 0, now(), now(), now() + interval '1 day', now(), 'unpaid'
  from setup t join account a on a.id = t.account_id where t.id = ${setupId}`

test.each([
  [
    'its class is off',
    (id: number) => db.write.run`update setup set futures_enabled = false where id = ${id}`,
  ],
  [
    'its direction is off',
    (id: number) => db.write.run`update setup set futures_long = false where id = ${id}`,
  ],
  [
    'it only closes',
    (id: number) => db.write.run`update setup set closing_orders_only = true where id = ${id}`,
  ],
  ['its subscription has lapsed', lapse],
])('an opening order is not sent when %s by then, what closes is', async (_, turn) => {
  const { setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  await buy('2')
  await mirror()
  await sell('1')
  await mirror()
  await turn(setupId)
  // Before AutoSync has seen it.
  await sendOrders(ctx, 'paper', paper.broker)
  await world.drain()
  expect(await accepted(setupIds)).toBe(2)
  expect(await readHeld(world, setupId, instrumentId)).toBe(3)
  expect((await readOrders(world, setupId))[1]).toMatchObject({ status: '4', info: 'no opening orders' })
})

/** The broker takes back what it executed of the account's newest order. */
async function bustLast(setupId: number): Promise<void> {
  const { execId } = await db.read.one<{ execId: string }>`
    select exec_id as "execId" from execution where setup_id = ${setupId} order by executed_at desc, id desc limit 1`
  await paper.controls.bust(ctx, execId)
  for (const name of ['paper reports', 'applyReports'])
    await world.steps.find((step) => step.name === name)!.run(ctx)
}

test('what would close is not sent once nothing is held any more', async () => {
  const { setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  await sell('1')
  await mirror()
  await bustLast(setupId)
  await sendOrders(ctx, 'paper', paper.broker)
  expect(await accepted(setupIds)).toBe(1)
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  expect((await readOrders(world, setupId))[1]).toMatchObject({
    positionEffect: 'C',
    status: '4',
    info: 'nothing left to close',
  })
})

test('what would close more than is held closes what is held', async () => {
  const { setupId, instrumentId, buy, sell } = await scene()
  await buy('4')
  await world.drain()
  await buy('2')
  await world.drain()
  await sell('6')
  await mirror()
  await bustLast(setupId)
  await sendOrders(ctx, 'paper', paper.broker)
  await world.drain()
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  expect((await readOrders(world, setupId))[2]).toMatchObject({
    positionEffect: 'C',
    status: '2',
    orderQty: 4,
    cumQty: 4,
  })
})

test('what opens does not wait for a disabled broker, what closes does', async () => {
  const { brokerId, setupIds, setupId, instrumentId, buy, sell } = await scene()
  await buy()
  await world.drain()
  await buy('2')
  await mirror()
  await sell('1')
  await mirror()
  await enable(brokerId, false)
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([
    { status: '2' },
    { status: '4', info: 'broker disabled' },
    { positionEffect: 'C', status: 'A' },
  ])
  await enable(brokerId, true)
  await world.drain()
  expect(await accepted(setupIds)).toBe(2)
  expect(await readHeld(world, setupId, instrumentId)).toBe(3)
})

test('nothing is sent any more when the broker is disabled while its queue is sent', async () => {
  const { brokerId, setupIds, buy, sell } = await scene()
  await buy()
  await world.drain()
  await sell('1')
  await mirror()
  await sell('1')
  await mirror()
  const last = spy((calls) => ({
    place: async (own, id, tickets, until) => {
      await enable(brokerId, false)
      return calls.place(own, id, tickets, until)
    },
  }))
  await sendOrders(ctx, 'paper', last.broker)
  expect(last.placed).toHaveLength(1)
  await enable(brokerId, true)
  await world.drain()
  expect(await accepted(setupIds)).toBe(3)
})

test('no rule of the accounts is broken', async () => {
  expect(await accountViolations(world)).toEqual([])
})
