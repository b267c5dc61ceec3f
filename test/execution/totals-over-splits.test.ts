/**
 * What brokers count as executed of an order that works on over a split. Some count in new units, some in old ones, some
 * do it in the night before: none of it is an execution that was missed, and what is one is not made up.
 */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { minute } from '../../src/domain/time.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { testDatabase } from '../support/database.ts'
import { workingCopy } from './account-scene.ts'
import { platformViolations } from './account-world.ts'

const { db } = await testDatabase()

/** A copy of 100 at 50, of which 40 are executed, at a broker that counts as it is told to. */
async function partlyFilled() {
  const scene = await workingCopy(db)
  const { world, brokerId, accountId, symbol, clientOrderId } = scene
  const about = { brokerId, accountId, clientOrderId, symbol, side: '1', text: null } as const
  const fill = async (quantity: string, px: string, cumQty: string | null = null, at = world.clock.time) => {
    const report = {
      ...about,
      kind: 'fill',
      reportKey: `e${quantity}@${px}`,
      occurredAt: at,
      quantity,
      px,
    } as const
    await insertReports(db.write, [{ ...report, cumQty }])
    await world.drain()
  }
  let counting: { cumQty: string; avgPx: string } | null = null
  const positions = new Map<string, string>()
  const broker: typeof world.paper.broker = {
    ...world.paper.broker,
    snapshot: async (_, ids) =>
      ids.map((one) => ({
        accountId: one,
        balance: null,
        positions,
        working: counting && one === accountId ? [{ clientOrderId, status: '1', ...counting }] : [],
      })),
  }
  /** Asks the broker once a minute for as long; answers what the operator was told of the order. */
  const counts = async (cumQty: string, avgPx: string): Promise<string[]> => {
    counting = { cumQty, avgPx }
    for (let asked = 0; asked < 4; asked += 1) {
      world.clock.time += minute + 1
      await reconcile(world.ctx, 'paper', broker, true)
      await world.drain()
    }
    const rows = await db.read.rows<{ kind: string }>`
      select kind from incident where (detail->>'accountId')::bigint = ${accountId}
        and kind in ('InferredFill', 'MissingExecutions', 'MalformedReport') order by id`
    return rows.map(({ kind }) => kind)
  }
  const enter = (units: string, old: string) =>
    enterActions(world.ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(units), old: dec(old) }])
  const at = async (time: string): Promise<void> => {
    world.clock.time = Date.parse(time)
    await bookActions(world.ctx)
    await world.drain()
  }
  await fill('40', '50')
  return { ...scene, fill, counts, enter, at, positions }
}

test.each([
  ['in new units', '80', '25.01'],
  ['in old units', '40', '50'],
])('the count of a broker that goes on %s adds no execution', async (_, cumQty, avgPx) => {
  const { enter, at, counts, fill, orders, held } = await partlyFilled()
  await enter('2', '1')
  await at('2024-03-13T14:00:00Z')
  expect(await counts(cumQty, avgPx)).toEqual([])
  await fill('30', '25', String(Number(cumQty) + 30))
  expect(await counts(String(Number(cumQty) + 30), avgPx)).toEqual([])
  expect(await orders()).toMatchObject([{ status: '1', orderQty: 200, cumQty: 110 }])
  expect(await held()).toBe(110)
})

test('what an order was decided from is in the units of its size', async () => {
  const { enter, at, accountId } = await partlyFilled()
  await db.write.run`update account_order set held_qty = 6, reference_px = 50 where account_id = ${accountId}`
  await enter('2', '1')
  await at('2024-03-13T14:00:00Z')
  const numbers = await db.read.rows`
    select order_qty::float8 as size, strategy_qty::float8 as strategy, held_qty::float8 as held,
      reference_px::float8 as price from account_order where account_id = ${accountId}`
  expect(numbers).toEqual([{ size: 200, strategy: 200, held: 12, price: 25 }])
})

test('nor does that of a broker that does the split in the night before its day', async () => {
  const { enter, at, counts, orders, held } = await partlyFilled()
  await enter('1', '2')
  await at('2024-03-13T08:00:00Z')
  expect(await counts('20', '100')).toEqual([])
  await at('2024-03-13T14:00:00Z')
  expect(await counts('20', '100')).toEqual([])
  expect(await orders()).toMatchObject([{ status: '1', orderQty: 50, cumQty: 20 }])
  expect(await held()).toBe(20)
})

test('nor of one that does so with a forward split', async () => {
  const { enter, at, counts, held } = await partlyFilled()
  await enter('2', '1')
  await at('2024-03-13T08:00:00Z')
  expect(await counts('80', '25.01')).toEqual([])
  expect(await held()).toBe(40)
})

test.each(['60', '90'])(
  'of a count of %s that no reading explains the operator is told once',
  async (cumQty) => {
    const { enter, at, counts, held } = await partlyFilled()
    await enter('2', '1')
    await at('2024-03-13T14:00:00Z')
    expect(await counts(cumQty, '26')).toEqual(['MissingExecutions'])
    expect(await held()).toBe(80)
  },
)

test('what is unclear of one order hides no trade of others in the account', async () => {
  const { enter, at, counts, symbol, accountId, positions } = await partlyFilled()
  await enter('2', '1')
  await at('2024-03-13T14:00:00Z')
  positions.set(symbol, '90').set('ELSE', '500')
  expect(await counts('90', '26')).toEqual(['MissingExecutions'])
  await counts('90', '26')
  const believed = await db.read.rows<{ symbol: string }>`
    select symbol from position_gap where account_id = ${accountId} and confirmed_at is not null`
  expect(believed).toEqual([{ symbol: 'ELSE' }])
})

test('what was missed before the night of a split is made up for', async () => {
  const { enter, at, counts, orders, held } = await partlyFilled()
  await enter('2', '1')
  expect(await counts('50', '50')).toEqual(['InferredFill'])
  await at('2024-03-13T14:00:00Z')
  expect(await orders()).toMatchObject([{ status: '1', orderQty: 200, cumQty: 100 }])
  expect(await held()).toBe(100)
})

test('what was inferred before a split is no execution of after it', async () => {
  const { world, enter, at, counts, fill, orders, held } = await partlyFilled()
  expect(await counts('50', '50')).toEqual(['InferredFill'])
  const yesterday = world.clock.time
  await enter('2', '1')
  await at('2024-03-13T14:00:00Z')
  // A broker that counts in old units seems to have nothing new.
  await fill('30', '25', '80')
  expect(await orders()).toMatchObject([{ status: '1', orderQty: 200, cumQty: 130 }])
  expect(await held()).toBe(130)
  // Its own report comes late and takes its place.
  await fill('10', '50', '50', yesterday)
  expect(await orders()).toMatchObject([{ status: '1', orderQty: 200, cumQty: 130 }])
  expect(await held()).toBe(130)
  expect(await platformViolations(world)).toEqual([])
})
