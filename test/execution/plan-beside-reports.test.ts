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

/** A strategy of futures at 99 to 100, and one who follows it. */
async function followed() {
  const brokerId = await addBroker(db)
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
  await world.quote(symbol, '99', '100')
  /** The broker executes 4 of the order that works; answers once that is being booked, and cannot be. */
  const executes = async (side: '1' | '2', price: number) => {
    const order = await db.read.one<{ accountId: number; clientOrderId: string }>`
      select account_id as "accountId", client_order_id as "clientOrderId" from paper_order
      where status = '0' and instrument_id = ${instrumentId}`
    await paper.controls.execution(ctx, {
      ...order,
      brokerId,
      symbol,
      side,
      px: dec(price),
      quantity: dec(4),
    })
    await world.step('paper reports')
    const letGo = await holdTable(db, 'execution')
    const booking = world.step('applyReports')
    await untilWaiting(db.read)
    return () => Promise.all([letGo(), booking])
  }
  return { strategyId, instrumentId, setupId, executes }
}

test('a replaced exit never closes more than is held', async () => {
  const { strategyId, instrumentId, setupId, executes } = await followed()
  const order = { strategyId, instrumentId, quantity: '10' } as const
  await place(world, { ...order, side: '1' })
  await world.drain()
  const exit = { ...order, side: '2', positionEffect: 'C' } as const
  const first = await place(world, { ...exit, limit: '110' })
  await world.drain()
  const booked = await executes('2', 110)
  await endSignal(db.write, first, '5', new Date(ctx.clock.now()).toISOString())
  const second = await place(world, { ...exit, limit: '109', replaces: first })
  await db.write.run`update signal set needs_match = false where id = ${second}`
  const planning = world.step('mirrorSignals')
  await untilWaiting(db.read, 2)
  await Promise.all([booked(), planning])
  expect(await readHeld(world, setupId, instrumentId)).toBe(6)
  const orders = await readOrders(world, setupId)
  expect(orders.at(-1)).toMatchObject({ status: 'A', limitPx: 109, cumQty: 4, orderQty: 10 })
})

test('what is left behind goes on for no more than is missing after what its broker tells just then', async () => {
  const { strategyId, instrumentId, setupId, executes } = await followed()
  const signal = await place(world, { strategyId, instrumentId, side: '1', quantity: '10', limit: '95' })
  await world.drain()
  // The signal was filled, and the strategy has let 4 of its 10 go since.
  await endSignal(db.write, signal, '2', new Date(ctx.clock.now()).toISOString())
  await db.write.run`
    insert into position (strategy_id, instrument_id, quantity, avg_px) values (${strategyId}, ${instrumentId}, 6, 95)`
  await db.write.run`
    update account_order set chase_at = to_timestamp(${ctx.clock.now()}::float8 / 1000) where setup_id = ${setupId}`
  const booked = await executes('1', 95)
  const chasing = world.step('chaseCopies')
  await untilWaiting(db.read, 2)
  await Promise.all([booked(), chasing])
  expect(await readHeld(world, setupId, instrumentId)).toBe(4)
  const orders = await readOrders(world, setupId)
  expect(orders.at(-1)).toMatchObject({ ordType: '1', cumQty: 4, orderQty: 6 })
})
