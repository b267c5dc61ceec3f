/** Withdrawing an order takes what it replaces along, and reports name both: everybody locks them in one order. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { clientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { countingTries, holdLocks, holdTable, untilWaiting } from '../support/locks.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'
import { addStrategy, endSignal } from './world.ts'

const { db } = await testDatabase()
const { count, counting } = countingTries(db)
const world = makeAccountWorld(counting)
const { ctx, clock, paper } = world
const isoOf = (time: number): string => new Date(time).toISOString()

/** An order at work for a signal. */
async function working() {
  const brokerId = await addBroker(db)
  const one = await makeScene(world, brokerId)()
  await world.quote(one.symbol, '60', '60')
  const first = await one.order('1', '10', { limit: '50' })
  await world.drain()
  const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${one.accountId}`
  return { ...one, brokerId, clientOrderId, first }
}

/** And another signal in its place, planned by whatever runs then. */
async function replaced() {
  const one = await working()
  const { accountId, order, orders, first } = one
  const next = async (limit: string, replaces: number): Promise<number> => {
    await endSignal(db.write, replaces, '5', isoOf(clock.time))
    const signal = await order('1', '10', { limit, replaces })
    // As if it had met the last quote already: a signal is mirrored after that.
    await db.write.run`update signal set needs_match = false where id = ${signal}`
    return signal
  }
  const second = await next('51', first)
  /** Keeps everybody from the order at this place. */
  const hold = async (place: number) => {
    const { id } = (await orders())[place]!
    return holdLocks(
      db,
      (tx) => tx.run`select from account_order where account_id = ${accountId} and id = ${id} for update`,
    )
  }
  return { ...one, second, next, hold }
}

test('a canceled signal and a report of the order under replacement do not block each other', async () => {
  const { accountId, brokerId, clientOrderId, symbol, second, hold, orders } = await replaced()
  paper.controls.hold(true)
  await world.drain()
  expect(await orders()).toMatchObject([{ status: 'E' }, { status: 'A', attempts: 1 }])
  const told = { accountId, brokerId, clientOrderId, symbol, kind: 'fill', reportKey: 'told' } as const
  const execution = { side: '1', quantity: '3', px: '50', text: null, occurredAt: clock.time } as const
  await db.transaction((tx) => insertReports(tx, [{ ...told, ...execution }]))
  await endSignal(db.write, second, '4', isoOf(clock.time))
  const letGo = await hold(1)
  const canceling = world.step('mirrorSignals')
  await untilWaiting(db.read, 1)
  const booking = world.step('applyReports')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), canceling, booking])
  expect(await orders()).toMatchObject([
    { status: '6', cumQty: 3, pendingAction: 'cancel' },
    { status: 'A', cumQty: 3 },
  ])
  expect(count.tried).toBe(count.begun)
  paper.controls.hold(false)
})

test('a replacement that is sent and its signal that is replaced do not block each other', async () => {
  const { second, next, hold, orders } = await replaced()
  await world.step('mirrorSignals')
  expect(await orders()).toMatchObject([{ status: '0' }, { status: 'A', pendingAction: 'replace' }])
  await next('52', second)
  const letGo = await hold(0)
  const planning = world.step('mirrorSignals')
  await untilWaiting(db.read, 1)
  const sending = world.step('sendOrders paper')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), planning, sending])
  expect(count.tried).toBe(count.begun)
  await world.drain()
  expect((await orders()).at(-1)).toMatchObject({ status: '0', limitPx: 52, orderQty: 10 })
})

test('an order that may not go out and its signal that is replaced do not block each other', async () => {
  const brokerId = await addBroker(db)
  const { accountId, order, orders, symbol } = await makeScene(world, brokerId)()
  await world.quote(symbol, '60', '60')
  paper.controls.down(true)
  const next = async (limit: string, replaces?: number): Promise<number> => {
    if (replaces) await endSignal(db.write, replaces, '5', isoOf(clock.time))
    const signal = await order('1', '10', { limit, ...(replaces && { replaces }) })
    await db.write.run`update signal set needs_match = false where id = ${signal}`
    return signal
  }
  const first = await next('50')
  await world.step('mirrorSignals')
  const second = await next('51', first)
  await world.step('mirrorSignals')
  expect(await orders()).toMatchObject([{ status: '5' }, { status: 'A', pendingAction: 'new', attempts: 0 }])
  await next('52', second)
  await db.write.run`update account set is_autotrade_disabled = true where id = ${accountId}`
  paper.controls.down(false)
  const [ended] = await orders()
  const letGo = await holdLocks(
    db,
    (tx) => tx.run`select from account_order where id = ${ended?.id} for update`,
  )
  const planning = world.step('mirrorSignals')
  await untilWaiting(db.read, 1)
  // It has locked the order, and waits for none that has ended.
  await world.step('sendOrders paper')
  await Promise.all([letGo(), planning])
  expect(count.tried).toBe(count.begun)
  await world.drain()
  expect((await orders()).map(({ status }) => status)).toEqual(['5', '4'])
})

test('a canceled signal and what its copy has executed do not block each other', async () => {
  const { accountId, brokerId, clientOrderId, symbol, first, orders, held } = await working()
  const fill = {
    accountId,
    brokerId,
    clientOrderId,
    symbol,
    side: '1',
    px: dec(50),
    quantity: dec(3),
  } as const
  await paper.controls.execution(ctx, fill)
  await world.step('paper reports')
  const letGo = await holdTable(db, 'execution')
  const booking = world.step('applyReports')
  await untilWaiting(db.read, 1)
  await endSignal(db.write, first, '4', isoOf(clock.time))
  const canceling = world.step('mirrorSignals')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), booking, canceling])
  expect(count.tried).toBe(count.begun)
  await world.drain()
  expect((await orders())[0]).toMatchObject({ status: '4', cumQty: 3 })
  expect(await held()).toBe(0)
})

test('a filled signal and what its copies have executed do not block each other, whose setups are older', async () => {
  const brokerId = await addBroker(db)
  const { strategyId, symbol, order, setupId } = await makeScene(world, brokerId)()
  await addFollowers(db, { strategyId, brokerId, count: 1 })
  const [later = 0] = await addFollowers(db, { strategyId: await addStrategy(db), brokerId, count: 1 })
  // The first to follow has the younger account of two.
  await db.write.run`
    update setup set account_id = (select account_id from setup where id = ${later}) where id = ${setupId}`
  await world.quote(symbol, '60', '60')
  const signal = await order('1', '10', { limit: '50' })
  await world.drain()
  const copies = await db.read.rows<{
    accountId: number
    clientOrderId: string
    setupId: number
    id: number
  }>`
    select p.account_id as "accountId", p.client_order_id as "clientOrderId", o.setup_id as "setupId", o.id
    from account_order o join paper_order p on p.account_id = o.account_id where o.source_id = ${signal}
    order by o.account_id`
  expect(copies.map((copy) => copy.setupId === setupId)).toEqual([false, true])
  for (const { accountId, clientOrderId } of copies) {
    const fill = { accountId, brokerId, clientOrderId, symbol, side: '1', px: dec(50) } as const
    await paper.controls.execution(ctx, { ...fill, quantity: dec(3) })
  }
  await world.step('paper reports')
  await endSignal(db.write, signal, '2', isoOf(clock.time))
  // Reports wait for the order of the younger account, and so does the grace.
  const letGo = await holdLocks(
    db,
    (tx) => tx.run`select from account_order where id = ${copies[1]?.id} for update`,
  )
  const following = world.step('mirrorSignals')
  await untilWaiting(db.read, 1)
  const booking = world.step('applyReports')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), following, booking])
  expect(count.tried).toBe(count.begun)
})

test('a close after a stop that is withdrawn and a report of it do not block each other', async () => {
  const brokerId = await addBroker(db)
  const { accountId, setupId, instrumentId, symbol, order, orders, held } = await makeScene(world, brokerId)()
  await world.quote(symbol, '60', '60')
  await order('1', '10')
  await world.drain()
  await db.write.run`
    update setup set stopped_at = now(), left_version = 2, positions_left_open = false where id = ${setupId}`
  await world.step('closeStopped')
  // As if what was bought had been taken back in part.
  await db.write.run`update account_position set quantity = 6 where setup_id = ${setupId}`
  const name = {
    environment: ctx.settings.environment,
    setupId,
    source: 'X',
    sourceId: instrumentId,
  } as const
  const told = { accountId, brokerId, clientOrderId: clientOrderId({ ...name, revision: 0 }), symbol }
  const execution = { side: '2', quantity: '3', px: '60', text: null, occurredAt: clock.time } as const
  await db.transaction((tx) =>
    insertReports(tx, [{ ...told, ...execution, kind: 'fill', reportKey: 'close' }]),
  )
  const letGo = await holdTable(db, 'execution')
  const booking = world.step('applyReports')
  await untilWaiting(db.read, 1)
  const withdrawing = world.step('closeStopped')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), booking, withdrawing])
  expect(count.tried).toBe(count.begun)
  expect((await orders()).at(-1)).toMatchObject({ cumQty: 3 })
  expect(await held()).toBe(3)
})
