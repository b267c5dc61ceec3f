/**
 * Ends with which the broker counts more than was told: what is missing is made up for also where it leaves no trace in
 * what the account holds, as when two orders have lost as much as each other.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { publishQuotes } from '../../src/execution/orders/matcher.ts'
import { testDatabase } from '../support/database.ts'
import { accountViolations } from './account-world.ts'
import { makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'
import { endSignal, quote } from './world.ts'

const { db } = await testDatabase()
const world = await makeAlpacaWorld(db)
const { alpaca } = world
const hear = (): void => {
  alpaca.fault = () => undefined
  alpaca.eventFault = () => undefined
  alpaca.distort = undefined
}
afterEach(hear)
afterAll(() => world.close())

const minutes = async (count: number): Promise<void> => {
  for (let passed = 0; passed < count; passed += 1) {
    world.clock.time += 61_000
    await world.drain()
  }
}

/** Neither the stream nor the history tells of executions. */
const unheard = (): void => {
  alpaca.eventFault = ({ event }) => (event.endsWith('fill') ? 'drop' : undefined)
  alpaca.distort = (path, body) => (path.includes('activities') ? ': hello' : body)
}

/** 10 are held; beside them a purchase of 6 at 50 and a sale of 6 at 60 work, both good till canceled. */
async function bothSides() {
  const one = await makeAlpacaScene(world)
  await db.write.run`update account set is_sync_enabled = false where id = ${one.accountId}`
  await one.order('1', '10')
  await publishQuotes(world.ctx, [quote(one.symbol, '55', '55', world.clock.now())])
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
  await world.until(async () => expect(alpaca.listeners(one.book)).toBe(1))
  one.fill(10, 55)
  await world.until(async () => expect(await one.held()).toBe(10))
  const purchase = await one.order('1', '6', { limit: '50' })
  const sale = await one.order('2', '6', { limit: '60' })
  await world.until(async () =>
    expect(await one.orders()).toMatchObject([{ status: '2' }, { status: '0' }, { status: '0' }]),
  )
  const [, bought, sold] = one.theirs()
  if (!bought || !sold) throw new Error('Alpaca has no orders')
  const executeAndEnd = async (): Promise<void> => {
    alpaca.books.execute(one.book, bought, 5, 50)
    alpaca.books.execute(one.book, sold, 5, 60)
    alpaca.books.end(one.book, bought, 'canceled')
    alpaca.books.end(one.book, sold, 'expired')
    await world.until(async () =>
      expect(await statusesOf(one)).toMatchObject([
        { status: '4', cumQty: 0 },
        { status: 'C', cumQty: 0 },
      ]),
    )
  }
  return { ...one, purchase, sale, bought, sold, executeAndEnd }
}

const statusesOf = async ({ orders }: { orders: () => Promise<readonly object[]> }): Promise<unknown[]> =>
  (await orders()).slice(1)

const incidentsOf = async (accountId: number): Promise<string[]> =>
  (
    await db.read.rows<{ kind: string }>`
      select kind from incident where (detail->>'accountId')::bigint = ${accountId} order by id`
  ).map(({ kind }) => kind)

const gapsOf = (accountId: number) => db.read.rows`select told from order_gap where account_id = ${accountId}`

const inferredIn = (accountId: number) =>
  db.read.rows`
    select side, quantity::float8, px::float8 from execution where account_id = ${accountId} and is_inferred order by side`

describe('executions that an end counts and nobody told', () => {
  test('are booked also where those of two orders leave what is held as it was', async () => {
    const one = await bothSides()
    unheard()
    await one.executeAndEnd()
    await minutes(1)
    expect(await inferredIn(one.accountId)).toEqual([])
    await minutes(3)
    expect(await statusesOf(one)).toMatchObject([
      { status: '4', cumQty: 5, avgPx: 50 },
      { status: 'C', cumQty: 5, avgPx: 60 },
    ])
    expect(await inferredIn(one.accountId)).toEqual([
      { side: '1', quantity: 5, px: 50 },
      { side: '2', quantity: 5, px: 60 },
    ])
    expect(await one.cash()).toBe(one.book.cash)
    expect(await one.held()).toBe(10)
    expect(await gapsOf(one.accountId)).toEqual([])
    expect(await accountViolations(world)).toEqual([])
  })

  test('are waited for, and nothing is said where they come', async () => {
    const one = await bothSides()
    unheard()
    await one.executeAndEnd()
    await minutes(1)
    expect(await gapsOf(one.accountId)).toHaveLength(2)
    hear()
    await minutes(1)
    await world.until(async () =>
      expect(await statusesOf(one)).toMatchObject([
        { status: '4', cumQty: 5 },
        { status: 'C', cumQty: 5 },
      ]),
    )
    await minutes(2)
    expect(await gapsOf(one.accountId)).toEqual([])
    expect(await inferredIn(one.accountId)).toEqual([])
    expect(new Set(await incidentsOf(one.accountId))).toEqual(new Set(['LateFill']))
    expect(await one.cash()).toBe(one.book.cash)
    expect(await accountViolations(world)).toEqual([])
  })

  test('are asked for again while the broker does not say how the orders stand', async () => {
    const one = await bothSides()
    unheard()
    await one.executeAndEnd()
    await minutes(1)
    alpaca.fault = (_, path) => (path.includes('by_client_order_id') ? 'error' : undefined)
    await minutes(5)
    expect(await inferredIn(one.accountId)).toEqual([])
    alpaca.fault = () => undefined
    await minutes(3)
    expect(await inferredIn(one.accountId)).toHaveLength(2)
    expect(await one.cash()).toBe(one.book.cash)
    expect(await accountViolations(world)).toEqual([])
  })

  test('are booked of an order that was replaced, too', async () => {
    const one = await bothSides()
    unheard()
    alpaca.books.execute(one.book, one.bought, 5, 50)
    alpaca.books.execute(one.book, one.sold, 5, 60)
    await endSignal(db.write, one.purchase, '5', new Date(world.clock.time).toISOString())
    await one.order('1', '8', { limit: '51', replaces: one.purchase })
    alpaca.books.end(one.book, one.sold, 'canceled')
    await world.until(async () =>
      expect(await statusesOf(one)).toMatchObject([{ status: '5' }, { status: '4' }, { status: '0' }]),
    )
    await minutes(4)
    expect(await statusesOf(one)).toMatchObject([
      { status: '5', cumQty: 5 },
      { status: '4', cumQty: 5 },
      { status: '1', orderQty: 8, cumQty: 5 },
    ])
    expect(await one.cash()).toBe(one.book.cash)
    expect(await gapsOf(one.accountId)).toEqual([])
    expect(await accountViolations(world)).toEqual([])
  })

  test('are booked of orders that were withdrawn to be placed anew, too', async () => {
    const one = await bothSides()
    unheard()
    alpaca.books.execute(one.book, one.bought, 5, 50)
    alpaca.books.execute(one.book, one.sold, 5, 60)
    for (const signal of [one.purchase, one.sale])
      await endSignal(db.write, signal, '5', new Date(world.clock.time).toISOString())
    await one.order('1', '8', { stop: '70', replaces: one.purchase })
    await one.order('2', '8', { stop: '40', replaces: one.sale })
    await world.until(async () =>
      expect(await statusesOf(one)).toMatchObject([
        { status: '5', cumQty: 0 },
        { status: '5', cumQty: 0 },
        { status: '0' },
        { status: '0' },
      ]),
    )
    await minutes(4)
    expect(await statusesOf(one)).toMatchObject([
      { status: '5', cumQty: 5 },
      { status: '5', cumQty: 5 },
      { status: '1', orderQty: 8, cumQty: 5 },
      { status: '1', orderQty: 8, cumQty: 5 },
    ])
    expect(await one.cash()).toBe(one.book.cash)
    expect(await gapsOf(one.accountId)).toEqual([])
    expect(await accountViolations(world)).toEqual([])
  })

  test('give way to their own reports', async () => {
    const one = await bothSides()
    unheard()
    await one.executeAndEnd()
    await minutes(5)
    expect(await inferredIn(one.accountId)).toHaveLength(2)
    hear()
    await minutes(2)
    expect(await statusesOf(one)).toMatchObject([
      { status: '4', cumQty: 5, avgPx: 50 },
      { status: 'C', cumQty: 5, avgPx: 60 },
    ])
    expect(await one.cash()).toBe(one.book.cash)
    expect(await gapsOf(one.accountId)).toEqual([])
    expect(await accountViolations(world)).toEqual([])
  })
})
