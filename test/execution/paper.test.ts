import { describe, expect, test } from 'vitest'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { makeAccountWorld, readBroker, readHeld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, place } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const brokerId = await addBroker(db)

async function scene(scaling = 100) {
  const strategyId = await addStrategy(db)
  const { id: instrumentId, symbol } = await addInstrument(db)
  const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1, scaling })
  return { strategyId, instrumentId, symbol, setupId }
}

describe('a market order', () => {
  test('is copied, sent, filled and booked on both sides', async () => {
    const { strategyId, instrumentId, symbol, setupId } = await scene(150)
    await world.quote(symbol, '99', '100')
    await place(world, { strategyId, instrumentId, side: '1', quantity: '6' })
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '2', orderQty: 9, cumQty: 9, avgPx: 100 },
    ])
    expect(await readHeld(world, setupId, instrumentId)).toBe(9)
    expect(await readBroker(world, setupId, symbol)).toBe(9)
    await place(world, { strategyId, instrumentId, side: '2', quantity: '6', openClose: 'C' })
    await world.drain()
    expect(await readHeld(world, setupId, instrumentId)).toBe(0)
    expect(
      await db.read
        .one`select a.cash::float8 from account a join setup s on s.account_id = a.id where s.id = ${setupId}`,
    ).toEqual({ cash: 100000 - 9 })
  })
})
