/** Orders on which their broker and we disagree for good, ended by the operator; and those that a rule still ends. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { type ClientOrderKey, clientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { minute } from '../../src/domain/time.ts'
import type { OrderStanding } from '../../src/execution/brokers/broker.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { settleOrder } from '../../src/execution/reports/settle-order.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { listDifferingOrders } from '../../src/storage/brokers/sent-orders.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld, platformViolations } from './account-world.ts'
import { endSignal } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, clock } = world
const brokerId = await addBroker(db)
const makeOne = makeScene(world, brokerId)

type Standing = OrderStanding | null

/** A copy of 100 at 50 that its broker has, says nothing of, and answers for as it is told to. */
async function copyOf100() {
  clock.time = Date.parse('2024-03-12T15:00:00Z')
  const scene = await makeOne()
  const { accountId, symbol } = scene
  await world.quote(symbol, '60', '60')
  const signal = await scene.order('1', '100', { limit: '50' })
  await world.drain()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  const nameOf = async (place: number): Promise<string> => {
    const keys = await db.read.rows<Omit<ClientOrderKey, 'environment'>>`
      select setup_id as "setupId", source, source_id as "sourceId", revision from account_order
      where account_id = ${accountId} order by id`
    return clientOrderId({ environment: 'T', ...keys[place]! })
  }
  const report = async (
    kind: 'fill' | 'cancel',
    place: number,
    [quantity, px]: [string, string],
    at = clock.time,
  ) => {
    await insertReports(db.write, [
      {
        kind,
        brokerId,
        accountId,
        symbol,
        clientOrderId: await nameOf(place),
        text: null,
        occurredAt: at,
        reportKey: `e${quantity}@${px}`,
        side: '1',
        quantity,
        px,
      },
    ])
    await world.drain()
  }
  /** Asks the broker a minute later, which has our orders so (null: not at all). */
  const askedOnce = async (standings: readonly Standing[]): Promise<void> => {
    const has = new Map<string, Standing>()
    for (const [place, standing] of standings.entries()) has.set(await nameOf(place), standing)
    const broker: typeof world.paper.broker = {
      ...world.paper.broker,
      snapshot: async (_, ids) =>
        ids.map((one) => ({ accountId: one, balance: null, positions: new Map(), working: [] })),
      find: async (_ctx, _id, orders) => orders.map(({ clientOrderId }) => has.get(clientOrderId)),
    }
    clock.time += minute + 1
    await reconcile(ctx, 'paper', broker, true)
    await world.drain()
  }
  const asked = async (...standings: Standing[]): Promise<void> => {
    for (let passed = 0; passed < 4; passed += 1) await askedOnce(standings)
  }
  const differing = async (): Promise<string[]> =>
    (await listDifferingOrders(db.read, clock.time, null))
      .filter((order) => order.accountId === accountId)
      .map(({ told }) => told.trim())
  const settle = async (place: number, quantity?: string, average?: string) => {
    const orderId = (await scene.orders())[place]?.id ?? 0
    const total =
      quantity === undefined ? null : { quantity: dec(quantity), average: average ? dec(average) : null }
    const about = { environment: 'T', now: clock.time }
    const refusal = await db.transaction((tx) => settleOrder(tx, about, { orderId, total }))
    await world.drain()
    return refusal
  }
  const split = async (): Promise<void> => {
    await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
    clock.time = Date.parse('2024-03-13T14:00:00Z')
    await bookActions(ctx)
    await world.drain()
  }
  /** Its broker takes a replacement, and nothing is heard of it. */
  const replaceUnheard = async (): Promise<void> => {
    world.paper.controls.hold(true)
    await endSignal(db.write, signal, '5', new Date(clock.time).toISOString())
    await scene.order('1', '100', { limit: '51', replaces: signal })
    await world.drain()
    await db.write.run`update account_order set claimed_until = null, pending_action = null`
    await db.write.run`update paper_report set is_delivered = true where not is_delivered`
    world.paper.controls.hold(false)
    expect(await scene.orders()).toMatchObject([{ status: 'E' }, { status: 'A', attempts: 1 }])
  }
  const violations = () => platformViolations(world)
  return { ...scene, report, askedOnce, asked, differing, settle, split, replaceUnheard, violations }
}

test('one that its broker does not know ends by the operator’s word alone', async () => {
  const { asked, orders, settle, differing } = await copyOf100()
  expect(await settle(0)).toBe('notDiffering')
  await asked(null)
  expect(await orders()).toMatchObject([{ status: '0' }])
  expect(await differing()).toEqual(['absent'])
  expect(await settle(0)).toBeNull()
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 0 }])
  await asked(null)
  expect(await differing()).toEqual([])
})

test('one that its broker has canceled stays as it is while nobody knows how much it executed', async () => {
  const { report, split, asked, orders, held, settle, violations } = await copyOf100()
  await report('fill', 0, ['40', '50'])
  await split()
  const yesterday = clock.time - 24 * 60 * minute
  await asked({ status: '4', cumQty: '90', avgPx: '26' })
  expect(await orders()).toMatchObject([{ status: '1', orderQty: 200, cumQty: 80 }])
  expect(await settle(0)).toBe('totalUnsaid')
  expect(await settle(0, '79', '25')).toBe('bookedMore')
  expect(await settle(0, '201', '25')).toBe('aboveQuantity')
  expect(await settle(0, '90')).toBe('noPrice')
  expect(await settle(0, '90', '25')).toBeNull()
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 90, avgPx: 25 }])
  expect(await held()).toBe(90)
  expect(await settle(0, '90', '25')).toBe('nothingToSettle')
  // A report of before the split that comes after all is one of those that he counted.
  await report('fill', 0, ['4', '52'], yesterday)
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 90 }])
  expect(await held()).toBe(90)
  expect(await violations()).toEqual([])
})

test('what the operator said gives way to the report that comes after all', async () => {
  const { report, split, asked, orders, held, cash, settle, violations } = await copyOf100()
  await report('fill', 0, ['40', '50'])
  await split()
  await asked({ status: '2', cumQty: '300', avgPx: '26' })
  expect(await settle(0, '200', '25.6')).toBeNull()
  expect(await orders()).toMatchObject([{ status: '2', cumQty: 200, avgPx: 25.6 }])
  await report('fill', 0, ['120', '26'])
  expect(await orders()).toMatchObject([{ status: '2', cumQty: 200, avgPx: 25.6 }])
  expect([await held(), await cash()]).toEqual([200, 100_000 - 200 * 25.6])
  expect(await violations()).toEqual([])
})

test('one whose quantity was reduced at its broker ends with what it has', async () => {
  const { report, asked, orders, held, differing } = await copyOf100()
  await report('fill', 0, ['40', '50'])
  await asked({ status: '2', cumQty: '40', avgPx: '50' })
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 40 }])
  expect([await held(), await differing()]).toEqual([40, []])
})

test('a replacement that its broker has lost leaves the order that it was to replace at work', async () => {
  const { replaceUnheard, asked, orders, settle, differing } = await copyOf100()
  await replaceUnheard()
  await asked({ status: '0', cumQty: '0', avgPx: null }, null)
  expect(await differing()).toEqual(['absent'])
  expect(await settle(1)).toBeNull()
  expect(await orders()).toMatchObject([{ status: '0' }, { status: '8' }])
})

test('a replacement does not end before what the order that it replaced has executed is booked', async () => {
  const { replaceUnheard, askedOnce, orders, held } = await copyOf100()
  await replaceUnheard()
  const canceled = { status: '4', cumQty: '0', avgPx: null } as const
  const replaced = (cumQty: string) => ({ status: '5', cumQty, avgPx: '50' }) as const
  await askedOnce([replaced('10'), canceled])
  await askedOnce([replaced('12'), canceled])
  expect(await orders()).toMatchObject([{ status: 'E' }, { status: 'A' }])
  await askedOnce([replaced('12'), canceled])
  expect(await held()).toBe(12)
  await askedOnce([replaced('12'), canceled])
  expect(await orders()).toMatchObject([
    { status: '5', cumQty: 12 },
    { status: '4', cumQty: 12 },
  ])
})
