/** Copies are handed on while reports of what they replace are being booked: both sides are seen as of one moment. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { holdTable, untilWaiting } from '../support/locks.ts'
import { makeAccountWorld, readHeld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, endSignal, place } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const step = (name: string) => world.steps.find((each) => each.name === name)!.run(ctx)

test('a replaced exit never closes more than is held', async () => {
  const brokerId = await addBroker(db)
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  await world.quote(symbol, '99', '100')
  const order = { strategyId, instrumentId, quantity: '10' } as const
  await place(world, { ...order, side: '1' })
  await world.drain()
  const exit = { ...order, side: '2', openClose: 'C' } as const
  const first = await place(world, { ...exit, limit: '110' })
  await world.drain()
  const { accountId, clientOrderId } = await db.read.one<{ accountId: number; clientOrderId: string }>`
    select account_id as "accountId", client_order_id as "clientOrderId" from paper_order
    where status = '0'`
  const fill = {
    brokerId,
    accountId,
    clientOrderId,
    symbol,
    side: '2',
    px: dec(110),
    quantity: dec(4),
  } as const
  await paper.controls.execution(ctx, fill)
  await step('paper reports')
  const letGo = await holdTable(db, 'execution')
  const booking = step('applyReports')
  await untilWaiting(db.read)
  await endSignal(db.write, first, '5', new Date(ctx.clock.now()).toISOString())
  const second = await place(world, { ...exit, limit: '109', replaces: first })
  await db.write.run`update signal set needs_match = false where id = ${second}`
  const planning = step('mirrorSignals')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), booking, planning])
  expect(await readHeld(world, setupId, instrumentId)).toBe(6)
  const orders = await readOrders(world, setupId)
  expect(orders.at(-1)).toMatchObject({ status: 'A', limitPx: 109, cumQty: 4, orderQty: 10 })
})

test('what is left behind goes on for no more than is missing after what its broker tells just then', async () => {
  const brokerId = await addBroker(db)
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  await world.quote(symbol, '99', '100')
  const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '10', limit: '95' })
  await world.drain()
  const { accountId, clientOrderId } = await db.read.one<{ accountId: number; clientOrderId: string }>`
    select account_id as "accountId", client_order_id as "clientOrderId" from paper_order
    where status = '0' and instrument_id = ${instrumentId}`
  // The signal was filled, and the strategy has let 4 of its 10 go since.
  await endSignal(db.write, signal, '2', new Date(ctx.clock.now()).toISOString())
  await db.write.run`
    insert into position (strategy_id, instrument_id, quantity, avg_px) values (${strategyId}, ${instrumentId}, 6, 95)`
  await db.write.run`
    update account_order set chase_at = to_timestamp(${ctx.clock.now()}::float8 / 1000) where setup_id = ${setupId}`
  const fill = {
    brokerId,
    accountId,
    clientOrderId,
    symbol,
    side: '1',
    px: dec(95),
    quantity: dec(4),
  } as const
  await paper.controls.execution(ctx, fill)
  await step('paper reports')
  const letGo = await holdTable(db, 'execution')
  const booking = step('applyReports')
  await untilWaiting(db.read)
  const chasing = step('chaseCopies')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), booking, chasing])
  expect(await readHeld(world, setupId, instrumentId)).toBe(4)
  const orders = await readOrders(world, setupId)
  expect(orders.at(-1)).toMatchObject({ ordType: '1', cumQty: 4, orderQty: 6 })
})
