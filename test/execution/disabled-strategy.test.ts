/** A strategy that an operator disables opens nothing more by the orders it left; what protects positions stays. */
import { expect, test } from 'vitest'
import { withdrawOpenings } from '../../src/operations/strategies/withdrawing.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld } from './account-world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const scene = makeScene(world, await addBroker(db))

const withdraw = (strategyId: number) =>
  db.transaction((tx) => withdrawOpenings(tx, strategyId, world.clock.now()))

test('opening orders end with a reason, and so do their copies; closing ones go on', async () => {
  const { strategyId, symbol, order, orders, held } = await scene()
  await world.quote(symbol, '99', '100')
  await order('1', '10')
  await world.drain()
  const opening = await order('1', '10', { limit: '50' })
  const closing = await order('2', '10', { limit: '200' })
  await world.drain()
  expect(await orders()).toMatchObject([{ status: '2' }, { status: '0' }, { status: '0' }])
  expect(await withdraw(strategyId)).toBe(1)
  await world.drain()
  const signals = await db.read.rows`
    select id, status, info from signal where strategy_id = ${strategyId} and id >= ${opening} order by id`
  expect(signals).toEqual([
    { id: opening, status: '4', info: 'the strategy is disabled' },
    { id: closing, status: '0', info: null },
  ])
  expect(await orders()).toMatchObject([{ status: '2' }, { status: '4' }, { status: '0' }])
  await world.quote(symbol, '49', '50')
  await world.quote(symbol, '200', '201')
  expect(await held()).toBe(0)
  expect(await withdraw(strategyId)).toBe(0)
  expect(await accountViolations(world)).toEqual([])
})
