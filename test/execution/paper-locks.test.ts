/**
 * Steps of the paper broker beside each other and beside what ends or splits: everybody locks in one order, and who had
 * to wait answers what is so by then.
 */
import { beforeEach, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertPaperOrders, type PaperRequest, replacePaperOrders } from '../../src/storage/brokers/paper.ts'
import type { Transaction } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { countingTries, holdLocks, holdTable, untilLooked, untilWaiting } from '../support/locks.ts'
import { makeAccountWorld } from './account-world.ts'
import { addInstrument, addStrategy, close, quote } from './world.ts'

const { db } = await testDatabase()
const { count, counting } = countingTries(db)
const world = makeAccountWorld(counting)
const { ctx, clock, paper } = world
const opening = clock.time

beforeEach(() => {
  clock.time = opening
  Object.assign(count, { begun: 0, tried: 0 })
})

/** Accounts, and orders of theirs as the paper broker takes them. */
async function accountsWith(orders: number) {
  const brokerId = await addBroker(db)
  await addFollowers(db, { strategyId: await addStrategy(db), brokerId, count: orders })
  const { id: instrumentId, symbol } = await addInstrument(db)
  await world.quote(symbol, '60', '60')
  const accounts = await db.read.rows<{ id: number }>`
    select id from account where broker_id = ${brokerId} order by id`
  const requests = accounts.map(
    ({ id: accountId }): PaperRequest => ({
      accountId,
      clientOrderId: `C${accountId}`,
      instrumentId,
      symbol,
      side: '1',
      ordType: '2',
      timeInForce: '0',
      positionEffect: 'O',
      quantity: '10',
      limitPx: '50',
      stopPx: null,
      acceptedAt: clock.time,
      expiresAt: close,
      rejectText: null,
      fillCap: null,
    }),
  )
  const holdOrder = (place: number) => {
    const { id = 0 } = accounts[place] ?? {}
    return holdLocks(db, (tx) => tx.run`select from paper_order where account_id = ${id} for update`)
  }
  const statuses = async () =>
    (
      await db.read.rows<{ status: string }>`
        select status from paper_order where broker_id = ${brokerId} order by account_id`
    ).map(({ status }) => status)
  return { brokerId, instrumentId, symbol, requests, holdOrder, statuses }
}

test('orders that have come do not block the split of what they trade', async () => {
  const { brokerId, symbol, requests, statuses } = await accountsWith(1)
  await insertPaperOrders(db.write, brokerId, requests)
  const split = { kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) } as const
  await enterActions(ctx, [split])
  clock.time = close + 20 * 3_600_000
  const letGo = await holdTable(db, 'account_adjustment')
  const booking = bookActions(ctx)
  await untilWaiting(db.read, 1)
  const arriving = world.step('paper arrivals')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), booking, arriving])
  expect(await statuses()).toEqual(['0'])
  expect(count.tried).toBe(count.begun)
})

test('orders that expire do not block those that a quote reaches', async () => {
  const { brokerId, symbol, requests, holdOrder, statuses } = await accountsWith(3)
  for (const place of [2, 0, 1]) await insertPaperOrders(db.write, brokerId, [requests[place]!])
  const letGo = await holdOrder(1)
  const filling = paper.quoteSink(ctx, [quote(symbol, '49', '49', close - 1)])
  await untilWaiting(db.read, 1)
  clock.time = close
  const expiring = world.step('paper expiries')
  await untilWaiting(db.read, 2)
  // By then who waited first has looked for a deadlock in vain: it is the counted transaction that finds one.
  await untilLooked(db.read, 2)
  await Promise.all([letGo(), filling, expiring])
  expect(await statuses()).toEqual(['2', '2', '2'])
  expect(count.tried).toBe(count.begun)
})

test('an order that is just being taken is no refused one to who sends it again', async () => {
  const { brokerId, requests } = await accountsWith(1)
  const letGo = await holdLocks(db, (tx) => insertPaperOrders(tx, brokerId, requests))
  const again = insertPaperOrders(db.write, brokerId, requests)
  await untilWaiting(db.read)
  await letGo()
  expect(await again).toEqual([{ place: 0, status: '0', text: null }])
})

test('an order that is just being replaced is no refused one to who replaces it again', async () => {
  const { brokerId, requests } = await accountsWith(1)
  await insertPaperOrders(db.write, brokerId, requests)
  const [{ clientOrderId = '' } = {}] = requests
  const next = requests.map((request) => ({ ...request, clientOrderId: 'next', limitPx: '51' }))
  const replace = (tx: Transaction) => replacePaperOrders(tx, brokerId, next, [clientOrderId])
  const letGo = await holdLocks(db, replace)
  const again = db.transaction(replace)
  await untilWaiting(db.read)
  await letGo()
  expect(await again).toEqual([{ place: 0, status: '0', text: null }])
})
