/** What becomes of a replacement whose order has ended before the broker heard of it. */
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import type { Broker } from '../../src/execution/brokers/broker.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { allowOpening } from '../../src/storage/mirror/setups.ts'
import { markSetups } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { accountViolations, makeAccountWorld, readHeld, readOrders } from './account-world.ts'
import { addInstrument, addStrategy, endSignal, place } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world

/** The paper broker on a day on which it changes no order. */
const refusing: Broker = {
  ...paper.broker,
  replace: async (_ctx, _id, tickets) => tickets.map(() => ({ answer: 'rejected', text: 'no' }) as const),
}

describe('a replacement that waits while the order it replaces ends', () => {
  /** What the broker works for a setup. */
  const working = (setupId: number) =>
    db.read.rows<{ accountId: number; clientOrderId: string; left: number; limit: number }>`
      select p.account_id as "accountId", p.client_order_id as "clientOrderId", p.limit_px::float8 as limit,
        (p.order_qty - p.carried_qty - p.cum_qty)::float8 as left
      from paper_order p join setup s on s.account_id = p.account_id
      where s.id = ${setupId} and p.status in ('0', '1')`

  /** How many orders the broker ever had of a setup. */
  const accepted = async (setupId: number): Promise<number> =>
    (
      await db.read.one<{ count: number }>`
        select count(*)::int as count from paper_order p join setup s on s.account_id = p.account_id
        where s.id = ${setupId}`
    ).count

  /** A future with an order at work in one account; `to` moves its signal to another price, as far as the copy's row. */
  async function atWork(side: '1' | '2', limit: string) {
    const brokerId = await addBroker(db)
    const strategyId = await addStrategy(db)
    const { id: instrumentId, symbol } = await addInstrument(db, { securityType: 'FUT' })
    const [setupId = 0] = await addFollowers(db, { strategyId, brokerId, count: 1 })
    await world.quote(symbol, '99', '100')
    if (side === '2') {
      await place(world, { strategyId, instrumentId, side: '1', quantity: '4' })
      await world.drain()
    }
    const positionEffect = side === '1' ? 'O' : 'C'
    const order = (price: string, replaces?: number) => {
      const wish = { strategyId, instrumentId, side, positionEffect, quantity: '4', limit: price } as const
      return place(world, { ...wish, ...(replaces !== undefined && { replaces }) })
    }
    let signal = await order(limit)
    await world.drain()
    const [first] = await working(setupId)
    const { accountId, clientOrderId } = first!
    const to = async (price: string) => {
      await endSignal(db.write, signal, '5', new Date(ctx.clock.now()).toISOString())
      signal = await order(price, signal)
      // As if it had met the last quote already: a signal is mirrored after that.
      await db.write.run`update signal set needs_match = false where id = ${signal}`
      await world.step('mirrorSignals')
    }
    /** The broker ends the order by itself and says so, after executing some of it. */
    const end = async (executed: number) => {
      const execution = { brokerId, accountId, clientOrderId, symbol, side, px: dec(limit) } as const
      if (executed > 0) await paper.controls.execution(ctx, { ...execution, quantity: dec(executed) })
      await paper.broker.cancel(ctx, brokerId, [{ accountId, account: '', clientOrderId }], Infinity)
      await world.step('paper reports')
      await world.step('applyReports')
    }
    /** The broker executes some of the order and goes on. */
    const execute = async (quantity: number) => {
      const execution = { brokerId, accountId, clientOrderId, symbol, side, px: dec(limit) } as const
      await paper.controls.execution(ctx, { ...execution, quantity: dec(quantity) })
    }
    return { setupId, instrumentId, to, end, execute, accountId }
  }

  test('opens nothing any more: what the broker has ended is not bought behind its back', async () => {
    const { setupId, to, end } = await atWork('1', '90')
    await to('91')
    await end(0)
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '4' },
      { status: '4', attempts: 0, info: 'the order it replaces has ended' },
    ])
    expect([await accepted(setupId), await working(setupId)]).toEqual([1, []])
  })

  test('closes on its own what is left of it, and no more', async () => {
    const { setupId, to, end, accountId, instrumentId } = await atWork('2', '110')
    await to('109')
    await end(1)
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '2' },
      { status: '4', cumQty: 1 },
      { status: '1', cumQty: 1, orderQty: 4, limitPx: 109 },
    ])
    expect(await working(setupId)).toMatchObject([{ accountId, left: 3, limit: 109 }])
    expect(await readHeld(world, setupId, instrumentId)).toBe(3)
  })

  test('closes nothing where all of it was executed', async () => {
    const { setupId, to, end, instrumentId } = await atWork('2', '110')
    await to('109')
    await end(4)
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '2' },
      { status: '2', cumQty: 4 },
      { status: '4', attempts: 0 },
    ])
    expect([await accepted(setupId), await readHeld(world, setupId, instrumentId)]).toEqual([2, 0])
  })

  test('takes the place of the order at work when the replacement between them was refused', async () => {
    const { setupId, to } = await atWork('1', '90')
    await to('91')
    await sendOrders(ctx, 'paper', refusing)
    await to('92')
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '5', limitPx: 90 },
      { status: '8', limitPx: 91 },
      { status: '0', limitPx: 92, orderQty: 4 },
    ])
    expect(await working(setupId)).toMatchObject([{ left: 4, limit: 92 }])
    expect(await accepted(setupId)).toBe(2)
  })

  test('that was refused leaves its order at work, and is asked for again when the owner synchronises', async () => {
    const { setupId, to } = await atWork('1', '90')
    await to('91')
    await sendOrders(ctx, 'paper', refusing)
    await world.drain()
    expect(await working(setupId)).toMatchObject([{ left: 4, limit: 90 }])
    await allowOpening(db.write, [setupId], ctx.clock.now())
    await markSetups(db.write, [setupId], ctx.clock.now())
    await world.drain()
    expect(await working(setupId)).toMatchObject([{ left: 4, limit: 91 }])
  })

  test('that was refused hides nothing of what its order executes: none of it is sold again', async () => {
    const { setupId, instrumentId, to, execute } = await atWork('1', '90')
    await to('91')
    await sendOrders(ctx, 'paper', refusing)
    await execute(2)
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '1', cumQty: 2, orderQty: 4 },
      { status: '8', cumQty: 0 },
    ])
    expect(await readHeld(world, setupId, instrumentId)).toBe(2)
  })
})

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})
