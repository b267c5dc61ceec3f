/** A split that is entered after its day, and orders that have executed, ended or been replaced since the opening. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { correctionKey } from '../../src/storage/brokers/reports.ts'
import { testDatabase } from '../support/database.ts'
import { workingCopy } from './account-scene.ts'
import { accountViolations } from './account-world.ts'
import { addInstrument, endSignal, opening } from './world.ts'

const { db } = await testDatabase()
const day = 86_400_000

/** A copy of 100 at 50 of which 10 were executed before the opening; it is an hour after that. */
async function partlyFilled() {
  const made = await workingCopy(db)
  const { world, brokerId, accountId, symbol, setupId } = made
  const { ctx, clock } = world
  const names = async () =>
    (
      await db.read.rows<{ name: string }>`
        select client_order_id as name from paper_order where account_id = ${accountId} order by id`
    ).map(({ name }) => name)
  const fill = async (quantity: string, px: string, place = -1): Promise<string> => {
    const clientOrderId = (await names()).at(place) ?? ''
    const about = { brokerId, accountId, symbol, clientOrderId, side: '1' } as const
    const execId = await world.paper.controls.execution(ctx, {
      ...about,
      quantity: dec(quantity),
      px: dec(px),
    })
    await world.drain()
    return execId
  }
  const first = await fill('10', '48')
  clock.time = opening + day + 3_600_000
  return {
    ...made,
    first,
    fill,
    bust: async (execId: string) => {
      await world.paper.controls.bust(ctx, execId)
      await world.drain()
    },
    correct: async (execId: string, quantity: string, px: string) => {
      const [named] = await names()
      const about = { brokerId, accountId, symbol, occurredAt: clock.time, side: '1' } as const
      const told = { ...about, clientOrderId: named ?? null }
      await insertReports(db.write, [
        { ...told, kind: 'bust', reportKey: correctionKey(`${execId}a`), text: execId },
        { ...told, kind: 'fill', reportKey: `${execId}a`, text: null, quantity, px },
      ])
      await world.drain()
    },
    replace: async (limit: string) => {
      const { id } = await db.read.one<{ id: number }>`
        select max(source_id) as id from account_order where setup_id = ${setupId}`
      await endSignal(db.write, id, '5', new Date(clock.time).toISOString())
      await made.order('1', '100', { limit, replaces: id })
      await world.drain()
    },
    split: async (units: number, old: number, of = symbol) => {
      await enterActions(ctx, [
        { kind: 'split', symbol: of, day: '2024-03-13', new: dec(units), old: dec(old) },
      ])
      await bookActions(ctx)
      await world.drain()
    },
    shown: async () =>
      (await made.orders()).map(({ status, orderQty, cumQty, avgPx, limitPx }) => ({
        status,
        of: [cumQty, orderQty],
        avgPx,
        limitPx,
      })),
    /** What the broker has left of its orders, and counts as executed with those before them. */
    book: () => db.read.rows`
      select status, (order_qty - cum_qty)::float8 as left, (carried_qty + cum_qty)::float8 as executed
      from paper_order where account_id = ${accountId} order by id`,
    violations: () => accountViolations(world),
  }
}

test('what was executed since is in new units already', async () => {
  const { fill, split, shown, book, held, violations } = await partlyFilled()
  await fill('6', '30')
  await split(3, 2)
  // Of 90 that were left at the opening 135 are, and 6 of those are executed.
  const executed = { of: [21, 150], avgPx: (10 * 48 + 6 * 30) / 21, limitPx: 33.33 }
  expect(await shown()).toEqual([{ status: '1', ...executed, avgPx: expect.closeTo(executed.avgPx, 8) }])
  expect([await book(), await held()]).toEqual([[{ status: '1', left: 129, executed: 21 }], 21])
  await fill('4', '31')
  expect([(await shown())[0]?.of, await held()]).toEqual([[25, 150], 25])
  expect(await violations()).toEqual([])
})

test('one of which its broker has executed since what was left at the opening is withdrawn', async () => {
  const { fill, split, shown, book, held, violations } = await partlyFilled()
  await fill('30', '490')
  await split(1, 10)
  expect(await shown()).toMatchObject([{ status: '4', of: [31, 37] }])
  expect([await book(), await held()]).toEqual([[{ status: '4', left: 60, executed: 31 }], 31])
  expect(await violations()).toEqual([])
})

test('what has ended since lived at the opening as well', async () => {
  const { fill, split, shown, held, violations, accountId, world } = await partlyFilled()
  await fill('6', '30')
  await db.write
    .run`update account_order set pending_action = 'cancel', status = '6' where account_id = ${accountId}`
  await world.drain()
  expect(await shown()).toMatchObject([{ status: '4', of: [16, 100] }])
  await split(2, 1)
  expect([await shown(), await held()]).toMatchObject([[{ status: '4', of: [26, 194] }], 26])
  expect(await violations()).toEqual([])
})

test('one that has filled since stays filled', async () => {
  const { fill, split, shown, held, violations } = await partlyFilled()
  await fill('90', '30')
  await split(2, 1)
  expect([await shown(), await held()]).toMatchObject([[{ status: '2', of: [110, 110] }], 110])
  expect(await violations()).toEqual([])
})

test('a replacement since is in new units but for what it took over', async () => {
  const { fill, replace, split, shown, book, held, violations } = await partlyFilled()
  await fill('6', '24')
  await replace('26')
  await fill('5', '26')
  await split(2, 1)
  expect(await shown()).toMatchObject([
    { status: '5', of: [26, 194], limitPx: 25 },
    { status: '1', of: [31, 110], limitPx: 26 },
  ])
  expect([await book(), await held()]).toEqual([
    [
      { status: '5', left: 84, executed: 16 },
      { status: '1', left: 79, executed: 31 },
    ],
    31,
  ])
  await replace('27')
  await fill('1', '27')
  expect((await shown()).at(-1)).toMatchObject({ status: '1', of: [32, 100] })
  expect((await book()).at(-1)).toEqual({ status: '1', left: 68, executed: 32 })
  expect(await violations()).toEqual([])
})

test.each([
  // Of 90 that were left at the opening 30 are, and 10 of those are executed.
  ['before', true, 20],
  // Of 100 new ones, 16 executed among them when it was decided, and 4 since.
  ['after', false, 80],
])(
  'a replacement of %s the opening, not sent yet, counts what its order has executed since it was decided',
  async (_, isOlder, left) => {
    const { fill, replace, split, shown, book, held, world, violations } = await partlyFilled()
    const { drain, ctx, clock } = world
    const unsent = createWorker({ ctx, steps: world.steps.filter(({ name }) => name !== 'sendOrders paper') })
    world.drain = () => unsent.drain()
    const now = clock.time
    await fill('6', '144')
    if (isOlder) clock.time -= day
    await replace('51')
    clock.time = now
    await fill('4', '144')
    expect(await violations()).toEqual([])
    await split(1, 3)
    world.drain = drain
    await drain()
    const { status, of: [executed = 0, total = 0] = [] } = (await shown()).at(-1)!
    expect([status, executed, total - executed]).toEqual(['1', 13.33333333, left])
    expect((await book()).at(-1)).toMatchObject({ status: '0', left })
    expect(await held()).toBe(13)
    expect(await violations()).toEqual([])
  },
)

test('an option whose contract has changed its size keeps what it has traded at since', async () => {
  const { instrumentId, fill, split, shown, held, violations } = await partlyFilled()
  const stock = await addInstrument(db)
  await db.write.run`
    update instrument set security_type = 'OPT', underlying = ${stock.symbol}, root = symbol, put_or_call = '1',
      strike = 200, expiry = '2024-06-21', last_trading_day = '2024-06-21' where id = ${instrumentId}`
  await fill('6', '30')
  await split(3, 2, stock.symbol)
  // What was 48 is 32.
  expect([await shown(), await held()]).toMatchObject([
    [{ status: '1', of: [16, 100], avgPx: (10 * 32 + 6 * 30) / 16, limitPx: 33.33 }],
    16,
  ])
  expect(await violations()).toEqual([])
})

test('what was taken back since of an execution from before', async () => {
  const { fill, first, bust, split, shown, held, violations } = await partlyFilled()
  await fill('6', '30')
  await bust(first)
  await split(2, 1)
  expect([await shown(), await held()]).toMatchObject([[{ status: '1', of: [6, 200], avgPx: 30 }], 6])
  expect(await violations()).toEqual([])
})

test('no late dividend is paid for what was taken back since', async () => {
  const { fill, first, bust, cash, symbol, world, violations } = await partlyFilled()
  await fill('6', '30')
  await bust(first)
  const before = await cash()
  await enterActions(world.ctx, [{ kind: 'dividend', symbol, day: '2024-03-13', amount: dec(1) }])
  await bookActions(world.ctx)
  expect(await cash()).toBe(before)
  expect(await violations()).toEqual([])
})

test('a replacement at the opening, before the split is booked, is in new units but for what it took over', async () => {
  const { replace, shown, book, fill, held, symbol, world, violations } = await partlyFilled()
  const { ctx, clock } = world
  const now = clock.time
  clock.time -= day
  await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  clock.time = now
  await replace('26')
  await bookActions(ctx)
  await world.drain()
  expect((await shown()).at(-1)).toMatchObject({ status: '1', of: [20, 110], limitPx: 26 })
  expect((await book()).at(-1)).toEqual({ status: '0', left: 90, executed: 20 })
  await fill('5', '26')
  expect([(await shown()).at(-1)?.of, await held()]).toEqual([[25, 110], 25])
  expect(await violations()).toEqual([])
})

test.each([
  ['old', '12', '48', 24],
  // As far from 10 at 48 as from 20 at 24.
  ['old', '20', '50', 40],
  ['new', '22', '24', 22],
])('what was corrected since of it, in %s units', async (_, quantity, px, now) => {
  const { fill, first, correct, split, shown, held, violations } = await partlyFilled()
  await fill('6', '24')
  await correct(first, quantity, px)
  await split(2, 1)
  expect([await shown(), await held()]).toMatchObject([
    [
      {
        status: '1',
        of: [now + 6, 200],
        avgPx: expect.closeTo(px === '50' ? (40 * 25 + 6 * 24) / 46 : 24, 8),
      },
    ],
    now + 6,
  ])
  expect((await violations()).filter((text) => !text.startsWith('brokerBook'))).toEqual([])
})
