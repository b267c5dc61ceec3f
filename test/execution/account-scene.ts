interface OrderMore {
  readonly limit?: string
  readonly replaces?: number
  readonly positionEffect?: 'O' | 'C'
}

/** One strategy in one stock, one follower: what most tests of the account side begin with. */
import type { Database } from '../../src/storage/database/database.ts'
import { addBroker, addFollowers, type FollowerWish } from '../support/followers.ts'
import { type AccountWorld, makeAccountWorld, readHeld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, place, type World } from './world.ts'

export const makeScene =
  (world: World, brokerId: number) =>
  async (wish: Partial<FollowerWish> = {}) => {
    const { db } = world.ctx
    const strategyId = await addStrategy(db)
    const { id: instrumentId, symbol } = await addInstrument(db)
    const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1, ...wish })
    const { accountId } = await db.read.one<{ accountId: number }>`
    select account_id as "accountId" from setup where id = ${setupId}`
    world.clock.time += 100_000
    const order = (side: '1' | '2', quantity: string, more: OrderMore = {}) =>
      place(world, {
        strategyId,
        instrumentId,
        side,
        quantity,
        positionEffect: side === '1' ? 'O' : 'C',
        goodTillCanceled: true,
        ...more,
      })
    const orders = () => readOrders(world, setupId)
    const held = () => readHeld(world, setupId, instrumentId)
    const cash = async () =>
      (await db.read.one<{ cash: number }>`select cash::float8 from account where id = ${accountId}`).cash
    return { strategyId, instrumentId, symbol, setupId, accountId, order, orders, held, cash }
  }

/** 10 are held, and an exit of 10 at 110 works, on the 12th of March 2024. */
export async function workingExit(world: AccountWorld, makeOne: ReturnType<typeof makeScene>) {
  world.clock.time = Date.parse('2024-03-12T15:00:00Z')
  const scene = await makeOne()
  await world.quote(scene.symbol, '99', '100')
  await scene.order('1', '10')
  await world.drain()
  const exit = await scene.order('2', '10', { limit: '110' })
  await world.drain()
  return { ...scene, exit }
}

/** A copy of 100 at 50 that works in a world and at a broker of its own; AutoSync leaves its account alone. */
export async function workingCopy(db: Database) {
  const world = makeAccountWorld(db)
  const brokerId = await addBroker(db)
  const scene = await makeScene(world, brokerId)()
  await world.quote(scene.symbol, '60', '60')
  await scene.order('1', '100', { limit: '50' })
  await world.drain()
  await db.write.run`update account set is_sync_enabled = false where id = ${scene.accountId}`
  const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${scene.accountId}`
  return { ...scene, world, brokerId, clientOrderId }
}
