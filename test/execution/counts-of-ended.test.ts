/** Ends that count what nobody told, at brokers that count in their own way: over splits, and with what was replaced. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { minute } from '../../src/domain/time.ts'
import type { OrderStanding } from '../../src/execution/brokers/broker.ts'
import { readMessages } from '../../src/execution/brokers/fix/reports.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { settleOrder } from '../../src/execution/reports/settle-order.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import type { NewTotal } from '../../src/storage/brokers/reports.ts'
import { testDatabase } from '../support/database.ts'
import { fixMessage } from '../support/fix-message.ts'
import { workingCopy } from './account-scene.ts'
import { platformViolations } from './account-world.ts'

const { db } = await testDatabase()

/** A copy of 100 at 50, of which 40 are executed, at a broker that answers as it is told to and holds what we do. */
async function partlyFilled() {
  const scene = await workingCopy(db)
  const { world, brokerId, accountId, symbol, clientOrderId } = scene
  const about = { brokerId, accountId, clientOrderId, symbol, text: null }
  const told = async (report: Pick<NewTotal, 'kind'> & Partial<NewTotal>) => {
    const row = { ...about, reportKey: report.kind, occurredAt: world.clock.time, ...report }
    await insertReports(db.write, [row])
    await world.drain()
  }
  await told({ kind: 'fill', side: '1', quantity: '40', px: '50' })
  const asked: string[] = []
  /** Asks the broker, which holds what is booked here and answers so for the order, once a minute for as long. */
  const answers = async (standing: OrderStanding | undefined, times = 4): Promise<void> => {
    const broker: typeof world.paper.broker = {
      ...world.paper.broker,
      snapshot: async () => {
        const held = await scene.held()
        const positions = new Map(held ? [[symbol, String(held)]] : [])
        return [{ accountId, balance: null, working: [], positions }]
      },
      find: async (_ctx, _id, orders) => {
        asked.push(...orders.map((order) => order.clientOrderId))
        return orders.map((order) => (order.clientOrderId === clientOrderId ? standing : undefined))
      },
    }
    for (let passed = 0; passed < times; passed += 1) {
      world.clock.time += minute + 1
      await reconcile(world.ctx, 'paper', broker, true)
      await world.drain()
    }
  }
  const split = async (units: string, old: string): Promise<void> => {
    await enterActions(world.ctx, [
      { kind: 'split', symbol, day: '2024-03-13', new: dec(units), old: dec(old) },
    ])
    world.clock.time = Date.parse('2024-03-13T14:00:00Z')
    await bookActions(world.ctx)
    await world.drain()
  }
  const incidents = async (): Promise<string[]> =>
    (
      await db.read.rows<{ kind: string }>`
        select kind from incident where (detail->>'accountId')::bigint = ${accountId} order by id`
    ).map(({ kind }) => kind)
  const gaps = () => db.read.rows`select told from order_gap where account_id = ${accountId}`
  const violations = () => platformViolations(world)
  return { ...scene, told, answers, split, asked, incidents, gaps, violations }
}

const canceled = (cumQty: string, avgPx: string): OrderStanding => ({ status: '4', cumQty, avgPx })

test.each([
  [true, '60'],
  [false, null],
])('FIX tells the count where its broker is asked for accounts (%s)', async (isCompared, cumQty) => {
  const { clientOrderId, symbol, world } = await partlyFilled()
  const message = `17=E1|11=${clientOrderId}|55=${symbol}|60=20240312-14:00:00|150=4|39=4|14=60`
  const read = await readMessages(world.ctx, { connection: 'paper', isCompared }, [fixMessage(message)])
  expect(read.reports).toMatchObject([{ kind: 'cancel', clientOrderId, cumQty }])
})

test('a count that holds what was replaced is asked for once, and nothing is missing', async () => {
  const { told, answers, asked, clientOrderId, orders, incidents, gaps } = await partlyFilled()
  await told({ kind: 'cancel', cumQty: '70' })
  await answers(canceled('40', '50'))
  expect(asked).toEqual([clientOrderId])
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 40 }])
  expect(await incidents()).toEqual([])
  expect(await gaps()).toEqual([])
})

test('a count that is ours is not asked for', async () => {
  const { told, answers, asked } = await partlyFilled()
  await told({ kind: 'cancel', cumQty: '40' })
  await answers(canceled('40', '50'))
  expect(asked).toEqual([])
})

test.each([
  ['2', '1', '40'],
  ['2', '1', '80'],
  ['1', '2', '40'],
  ['1', '2', '20'],
])('after a split of %s for %s a count of %s misses nothing', async (units, old, cumQty) => {
  const { split, told, answers, incidents, gaps, orders } = await partlyFilled()
  await split(units, old)
  await told({ kind: 'expire', cumQty })
  await answers({ ...canceled(cumQty, '30'), status: 'C' })
  expect(await orders()).toMatchObject([{ status: 'C', cumQty: (40 * Number(units)) / Number(old) }])
  expect(await incidents()).toEqual([])
  expect(await gaps()).toEqual([])
})

test.each([
  ['2', '1', '90'],
  ['1', '2', '30'],
])('after a split of %s for %s the operator is told of a count of %s', async (units, old, cumQty) => {
  const { split, told, answers, incidents, orders, violations } = await partlyFilled()
  await split(units, old)
  await told({ kind: 'cancel', cumQty })
  await answers(canceled(cumQty, '30'))
  expect(await orders()).toMatchObject([{ status: '4', cumQty: (40 * Number(units)) / Number(old) }])
  expect(await incidents()).toEqual(['MissingExecutions'])
  expect(await violations()).toEqual([])
})

test('what the operator is told of stays until it is settled, also where the broker falls silent', async () => {
  const one = await partlyFilled()
  const { split, told, answers, asked, incidents, orders, held, gaps, violations, world, accountId } = one
  await split('2', '1')
  await told({ kind: 'cancel', cumQty: '90' })
  await answers(canceled('90', '30'))
  await answers(undefined, 2)
  await answers(canceled('90', '30'), 2)
  expect(await incidents()).toEqual(['MissingExecutions'])
  expect(await gaps()).toEqual([{ told: 'unclear 4 90' }])
  const { orderId } = await db.read.one<{ orderId: number }>`
    select id as "orderId" from account_order where account_id = ${accountId}`
  const about = { environment: world.ctx.settings.environment, now: world.clock.time }
  const total = { quantity: dec(90), average: dec(25) }
  expect(await db.transaction((tx) => settleOrder(tx, about, { orderId, total }))).toBe(null)
  await world.drain()
  const times = asked.length
  await answers(canceled('90', '30'))
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 90 }])
  expect(await held()).toBe(90)
  expect(asked).toHaveLength(times + 1)
  expect(await gaps()).toEqual([])
  expect(await violations()).toEqual([])
})

test('what was missing before a split is booked as of before it', async () => {
  const { split, told, answers, orders, held, violations } = await partlyFilled()
  await told({ kind: 'cancel', cumQty: '60' })
  await split('2', '1')
  await answers(canceled('60', '50'))
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 60, avgPx: 50 }])
  expect(await held()).toBe(120)
  expect(await violations()).toEqual([])
})

test('a broker that does not say how the order stands is asked for some days', async () => {
  const { told, answers, orders, asked, gaps, world } = await partlyFilled()
  await told({ kind: 'cancel', cumQty: '60' })
  await answers(undefined, 2)
  world.clock.time += 3 * 24 * 60 * minute
  await answers(canceled('60', '50'))
  expect(await orders()).toMatchObject([{ status: '4', cumQty: 60 }])
  expect(asked.length).toBeGreaterThan(3)
  expect(await gaps()).toEqual([])
})

test('one that never says it is asked no more after that', async () => {
  const { told, answers, asked, gaps, world } = await partlyFilled()
  await told({ kind: 'cancel', cumQty: '60' })
  await answers(undefined, 1)
  world.clock.time += 5 * 24 * 60 * minute
  await answers(undefined)
  expect(asked).toHaveLength(1)
  expect(await gaps()).toEqual([])
})
