interface OrderMore {
  readonly limit?: string
  readonly replaces?: number
  readonly openClose?: 'O' | 'C'
}

/** One strategy in one stock, one follower: what most tests of the account side begin with. */
import { addFollowers, type FollowerWish } from '../support/followers.ts'
import { readHeld, readOrders } from './account-world.ts'
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
        openClose: side === '1' ? 'O' : 'C',
        goodTillCanceled: true,
        ...more,
      })
    const orders = () => readOrders(world, setupId)
    const held = () => readHeld(world, setupId, instrumentId)
    const cash = async () =>
      (await db.read.one<{ cash: number }>`select cash::float8 from account where id = ${accountId}`).cash
    return { strategyId, instrumentId, symbol, setupId, accountId, order, orders, held, cash }
  }
