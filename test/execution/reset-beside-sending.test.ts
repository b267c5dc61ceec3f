/** A paper account begins anew while its orders are on their way to the broker. */
import { expect, test } from 'vitest'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { resetPaperAccount } from '../../src/storage/brokers/paper-resets.ts'
import { testDatabase } from '../support/database.ts'
import { accountViolations, readBroker, readHeld, readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'
import { place } from './world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, clock, scene, mirror, spy } = world

/** A broker to which a setup's order comes when its account has begun anew, and nothing after it. */
async function resetFirst(setupId: number) {
  const { accountId } = await db.read.one<{ accountId: number }>`
    select account_id as "accountId" from setup where id = ${setupId}`
  let isUp = true
  const reset = async () => {
    await db.transaction((tx) =>
      resetPaperAccount(tx, accountId, { at: clock.time, environment: ctx.settings.environment }),
    )
    isUp = false
  }
  return spy((calls) => ({
    isUp: () => isUp,
    place: async (own, id, tickets, until) => {
      await reset()
      return calls.place(own, id, tickets, until)
    },
    replace: async (own, id, tickets, until) => {
      await reset()
      return calls.replace(own, id, tickets, until)
    },
  })).broker
}

const standing = async (setupId: number) =>
  (await readOrders(world, setupId)).map(({ status, cumQty, pendingAction }) => ({
    status,
    cumQty,
    pendingAction,
  }))

test('claimed before and placed after it: the broker does not take the order', async () => {
  const { setupId, instrumentId, symbol, buy } = await scene()
  await buy()
  await mirror()
  await sendOrders(ctx, 'paper', await resetFirst(setupId))
  await world.steps.find(({ name }) => name === 'paper arrivals')?.run(ctx)
  await world.drain()
  expect(await standing(setupId)).toEqual([{ status: '4', cumQty: 0, pendingAction: null }])
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  expect(await readBroker(world, setupId, symbol)).toBe(0)
  expect(await accountViolations(world)).toEqual([])
})

test('a change claimed before and sent after it comes to nothing as well', async () => {
  const { strategyId, setupId, instrumentId, symbol, buy } = await scene()
  const replaces = await buy('4', '90')
  await world.drain()
  await place(world, { strategyId, instrumentId, side: '1', quantity: '6', limit: '95', replaces })
  await mirror()
  await sendOrders(ctx, 'paper', await resetFirst(setupId))
  await world.drain()
  await world.quote(symbol, '80', '80')
  const [first, second, ...more] = await standing(setupId)
  expect(first).toEqual({ status: '4', cumQty: 0, pendingAction: null })
  expect(second).toMatchObject({ status: expect.stringMatching(/[48]/), cumQty: 0, pendingAction: null })
  expect(more).toEqual([])
  expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  expect(await readBroker(world, setupId, symbol)).toBe(0)
  expect(await accountViolations(world)).toEqual([])
})
