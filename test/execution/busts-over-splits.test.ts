/** Executions that a broker takes back of an order that works on over a split: the rest is the same on both sides. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { correctionKey, type NewReport } from '../../src/storage/brokers/reports.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld, platformViolations } from './account-world.ts'
import { endSignal, opening } from './world.ts'

const { db } = await testDatabase()
const brokerId = await addBroker(db)
const world = makeAccountWorld(db)
const { ctx, clock, paper } = world
const scene = makeScene(world, brokerId)
const day = 86_400_000

/** A copy of 100 at 50 works at the broker, which executes what a test says. */
async function workingCopy() {
  clock.time = opening - 100_000
  const made = await scene()
  const { accountId, symbol } = made
  await world.quote(symbol, '60', '60')
  const signal = await made.order('1', '100', { limit: '50' })
  await world.drain()
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  const idOf = async (place: number): Promise<string> =>
    (
      await db.read.rows<{ id: string }>`
        select client_order_id as id from paper_order where account_id = ${accountId} order by id`
    )[place]?.id ?? ''
  return {
    ...made,
    idOf,
    fill: async (quantity: string, px: string, place = 0): Promise<string> => {
      const clientOrderId = await idOf(place)
      const execution = { brokerId, accountId, clientOrderId, symbol, side: '1', px: dec(px) } as const
      const execId = await paper.controls.execution(ctx, { ...execution, quantity: dec(quantity) })
      await world.drain()
      return execId
    },
    bust: async (execId: string) => {
      expect(await paper.controls.bust(ctx, execId)).toBe(true)
      await world.drain()
    },
    split: async (units: string, old: string) => {
      clock.time = opening + day
      const ratio = { new: dec(units), old: dec(old) }
      await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', ...ratio }])
      await bookActions(ctx)
      await world.drain()
    },
    replace: async () => {
      await endSignal(db.write, signal, '5', new Date(clock.time).toISOString())
      await made.order('1', '100', { limit: '51', replaces: signal })
      await world.drain()
    },
    /** Everything that works trades; answers what the broker says is held. */
    tradeOut: async (): Promise<number> => {
      await world.quote(symbol, '1', '1')
      const [snapshot] = await paper.broker.snapshot(ctx, [accountId])
      expect(snapshot?.working).toEqual([])
      return Number(snapshot?.positions.get(symbol) ?? 0)
    },
  }
}

/** What is executed before the split and after it; which of these are taken back; what is filled in the end. */
const cases: [string, string, [string, string], string[], string[], number[], number][] = [
  ['one', 'a forward split', ['2', '1'], ['40'], [], [0], 200],
  ['one', 'a reverse split', ['1', '2'], ['40'], [], [0], 50],
  ['one', 'a split of three for two', ['3', '2'], ['40'], [], [0], 150],
  ['the first of two', 'a forward split', ['2', '1'], ['10', '30'], [], [0], 200],
  ['the earlier', 'a forward split', ['2', '1'], ['40'], ['50'], [0], 200],
  ['the later', 'a forward split', ['2', '1'], ['40'], ['50'], [1], 200],
  ['all', 'a reverse split', ['1', '2'], ['10', '30'], ['20'], [2, 0, 1], 50],
  ['one', 'a reverse split that cuts something off', ['1', '10'], ['37'], [], [0], 9.7],
  ['all', 'a split without end', ['1', '3'], ['20', '20'], [], [0, 1], 33.33333333],
]
test.each(cases)(
  'an order of which %s is taken back after %s (%s) has its rest',
  async (_, __, ratio, before, after, busts, filled) => {
    const { fill, bust, split, tradeOut, orders, held } = await workingCopy()
    const told: string[] = []
    for (const quantity of before) told.push(await fill(quantity, '50'))
    await split(...ratio)
    for (const quantity of after) told.push(await fill(quantity, '25'))
    for (const place of busts) await bust(told[place] as string)
    expect(await accountViolations(world)).toEqual([])
    expect([await tradeOut(), await held()]).toEqual([filled, filled])
    expect(await orders()).toMatchObject([{ status: '2', cumQty: filled, orderQty: filled }])
    expect(await accountViolations(world)).toEqual([])
  },
)

test.each([
  ['of an order', true],
  ['of nobody', false],
])(
  'what was told on the day of a split before its opening was restated, and so is what takes it back: %s',
  async (_, isOwn) => {
    const { idOf, split, accountId, symbol, orders } = await workingCopy()
    clock.time = Date.parse('2024-03-13T12:00:00Z')
    const clientOrderId = isOwn ? await idOf(0) : null
    const about = { brokerId, accountId, symbol, clientOrderId, side: '1', text: null } as const
    const tell = async (
      rows: readonly (Pick<NewReport, 'kind' | 'reportKey' | 'text'> & { px?: string })[],
    ) => {
      const traded = { quantity: '10', px: '24', occurredAt: clock.time }
      await insertReports(
        db.write,
        rows.map((row) => ({ ...about, ...traded, ...row })),
      )
      await world.drain()
    }
    const held = async () =>
      (
        await db.read.one<{ held: number }>`
          select coalesce(sum(quantity), 0)::float8 as held from account_position where account_id = ${accountId}`
      ).held
    const [first, again] = [`e${accountId}`, `f${accountId}`]
    await tell([{ kind: 'fill', reportKey: first, text: null }])
    await split('2', '1')
    expect(await held()).toBe(20)
    await tell([
      { kind: 'bust', reportKey: correctionKey(again), text: first },
      { kind: 'fill', reportKey: again, text: null, px: '25' },
    ])
    expect(await held()).toBe(20)
    await tell([{ kind: 'bust', reportKey: `b${accountId}`, text: again }])
    expect(await held()).toBe(0)
    expect(await orders()).toMatchObject([{ status: '0', orderQty: 200, cumQty: 0, avgPx: null }])
    expect(await platformViolations(world)).toEqual([])
  },
)

test('nor does a dividend stay that was paid on what was told before the opening', async () => {
  const { idOf, accountId, symbol, cash } = await workingCopy()
  const before = await cash()
  clock.time = Date.parse('2024-03-13T12:00:00Z')
  const about = { brokerId, accountId, symbol, clientOrderId: await idOf(0), side: '1' } as const
  const traded = { ...about, quantity: '10', px: '24', occurredAt: clock.time }
  const [execId, bust] = [`e${accountId}`, `b${accountId}`]
  await insertReports(db.write, [{ ...traded, kind: 'fill', reportKey: execId, text: null }])
  await world.drain()
  await enterActions(ctx, [{ kind: 'dividend', symbol, day: '2024-03-13', amount: dec(1) }])
  clock.time = opening + day
  await bookActions(ctx)
  expect(await cash()).toBe(before - 10 * 24 + 10)
  await insertReports(db.write, [
    { ...about, occurredAt: clock.time, kind: 'bust', reportKey: bust, text: execId },
  ])
  await world.drain()
  expect(await cash()).toBe(before)
})

test.each([1, 2])(
  'what a replacement carries on is taken back, with %i new units for each',
  async (units) => {
    const { fill, bust, split, tradeOut, orders, held, replace } = await workingCopy()
    const execId = await fill('40', '50')
    await replace()
    expect(await orders()).toMatchObject([{ status: '5' }, { status: '1', cumQty: 40 }])
    if (units > 1) await split(String(units), '1')
    await bust(execId)
    const orderQty = 100 * units
    expect(await orders()).toMatchObject([{ status: '5' }, { status: '0', orderQty, cumQty: 0 }])
    expect([await tradeOut(), await held()]).toEqual([orderQty, orderQty])
    expect(await orders()).toMatchObject([{ status: '5' }, { status: '2', cumQty: orderQty }])
    expect(await accountViolations(world)).toEqual([])
  },
)

test('what a replaced order executed before a split and is told of now counts in new units', async () => {
  const { accountId, symbol, fill, split, orders, held, replace, idOf } = await workingCopy()
  await fill('40', '50')
  await replace()
  const about = { brokerId, accountId, symbol, clientOrderId: await idOf(0), occurredAt: clock.time }
  await split('2', '1')
  await insertReports(db.write, [
    { ...about, kind: 'fill', reportKey: 'late', text: null, side: '1', quantity: '10', px: '50' },
  ])
  await world.drain()
  expect(await orders()).toMatchObject([
    { status: '5', cumQty: 50 },
    { status: '1', cumQty: 100, orderQty: 200, avgPx: 25 },
  ])
  expect(await held()).toBe(100)
})

test('a part of a new unit that is told of an order which has filled since counts as executed', async () => {
  const { accountId, symbol, fill, split, orders, idOf } = await workingCopy()
  const about = { brokerId, accountId, symbol, clientOrderId: await idOf(0), occurredAt: clock.time }
  await split('1', '10')
  await fill('10', '500')
  await insertReports(db.write, [
    { ...about, kind: 'fill', reportKey: 'part', text: null, side: '1', quantity: '1', px: '50' },
  ])
  await world.drain()
  expect(await orders()).toMatchObject([{ status: '2', cumQty: 10.1 }])
  expect((await accountViolations(world)).filter((text) => text.startsWith('executed'))).toEqual([])
})

const corrections: [string, [string, string], [string, string], number, number, number][] = [
  ['its price, in new units', ['2', '1'], ['80', '24'], 80, 80, 24],
  ['its price, in old units', ['2', '1'], ['40', '48'], 80, 80, 24],
  ['its quantity, in new units', ['2', '1'], ['70', '25'], 70, 70, 25],
  ['its quantity, in old units', ['2', '1'], ['35', '50'], 70, 70, 25],
  ['its price, in fewer new units', ['1', '2'], ['20', '96'], 20, 20, 96],
  ['its price, in new units without what was cut off', ['1', '3'], ['13', '147'], 13.33333333, 13, 147],
]
test.each(corrections)(
  'a correction of %s is read in these',
  async (_, ratio, right, cumQty, units, avgPx) => {
    const { accountId, symbol, fill, split, orders, held, idOf } = await workingCopy()
    const wrong = await fill('40', '50')
    await split(...ratio)
    const about = { brokerId, accountId, symbol, clientOrderId: await idOf(0), occurredAt: clock.time }
    const [quantity, px] = right
    await insertReports(db.write, [
      { ...about, kind: 'bust', reportKey: correctionKey('right'), text: wrong },
      { ...about, kind: 'fill', reportKey: 'right', text: null, side: '1', quantity, px },
    ])
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '1', cumQty, avgPx }])
    expect(await held()).toBe(units)
    expect(await platformViolations(world)).toEqual([])
  },
)

test('a correction that is as near to new units as to old ones was told in the old ones', async () => {
  const { idOf, fill, split, accountId, symbol, held } = await workingCopy()
  const execId = await fill('1', '82.43')
  await split('3', '2')
  const clientOrderId = await idOf(0)
  const about = { brokerId, accountId, symbol, clientOrderId, side: '1', occurredAt: clock.time } as const
  await insertReports(db.write, [
    { ...about, kind: 'bust', reportKey: correctionKey(`${execId}a`), text: execId },
    { ...about, kind: 'fill', reportKey: `${execId}a`, text: null, quantity: '2', px: '83.43' },
  ])
  await world.drain()
  expect(await held()).toBe(3)
})
