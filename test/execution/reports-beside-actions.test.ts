/** Executions of after an opening that are told before its splits and dividends are booked: they are none of these. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, clock } = world
const opening = Date.parse('2024-03-13T13:30:00Z')

test('what is bought in new units is not multiplied again, and earns no dividend', async () => {
  const brokerId = await addBroker(db)
  const { symbol, accountId, order, cash } = await makeScene(world, brokerId)()
  await world.quote(symbol, '60', '60')
  await order('1', '10')
  await world.drain()
  const before = await cash()
  await enterActions(ctx, [
    { kind: 'dividend', symbol, day: '2024-03-13', amount: dec(1) },
    { kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) },
  ])
  clock.time = opening + 5_000
  const bought = {
    accountId,
    brokerId,
    clientOrderId: null,
    symbol,
    kind: 'fill',
    side: '1',
    text: null,
  } as const
  await db.transaction((tx) =>
    insertReports(tx, [
      { ...bought, reportKey: 'early', quantity: '2', px: '60', occurredAt: opening - 1 },
      { ...bought, reportKey: 'late', quantity: '4', px: '30', occurredAt: opening + 1 },
    ]),
  )
  await world.step('applyReports')
  await bookActions(ctx)
  await world.step('applyReports')
  const held = await db.read.rows`
    select setup_id is null as own, quantity::float8, avg_px::float8 as price from account_position
    where account_id = ${accountId} order by own`
  expect(held).toEqual([
    { own: false, quantity: 20, price: 30 },
    { own: true, quantity: 8, price: 30 },
  ])
  expect(await cash()).toBe(before - 240 + 12)
})
