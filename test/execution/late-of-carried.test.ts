/** Orders that were sent anew after others had ended, and what becomes of them as those execute late or are taken back. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene, workingExit } from './account-scene.ts'
import { makeAccountWorld, platformViolations } from './account-world.ts'
import { addInstrument, endSignal } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { clock, ctx } = world
const brokerId = await addBroker(db)
const makeOne = makeScene(world, brokerId)
const day = 86_400_000

/** 10 are held; of an exit at 110 its broker executed 3 and canceled the rest, which is at work anew. */
async function sentAnew() {
  const { exit, ...scene } = await workingExit(world, makeOne)
  const { accountId, symbol } = scene
  const names = async (): Promise<string[]> =>
    (
      await db.read.rows<{ name: string }>`
        select client_order_id as name from paper_order where account_id = ${accountId} order by id`
    ).map(({ name }) => name)
  const first = (await names())[1] ?? ''
  const about = { brokerId, accountId, symbol, side: '2', text: null } as const
  const fill = async (clientOrderId: string, quantity: string, px: string, occurredAt = clock.time) => {
    const reportKey = `e${clientOrderId}${quantity}`
    await insertReports(db.write, [
      { ...about, clientOrderId, kind: 'fill', reportKey, occurredAt, quantity, px },
    ])
    await world.drain()
    return reportKey
  }
  const bust = async (execId: string) => {
    const report = { ...about, clientOrderId: first, kind: 'bust', reportKey: `b${execId}` } as const
    await insertReports(db.write, [{ ...report, text: execId, occurredAt: clock.time }])
    await world.drain()
  }
  const execId = await fill(first, '3', '110')
  await db.write.run`update paper_order set status = '4' where client_order_id = ${first}`
  const end = { ...about, clientOrderId: first, kind: 'cancel', reportKey: `c${first}` } as const
  await insertReports(db.write, [{ ...end, occurredAt: clock.time }])
  await world.drain()
  const shown = async () =>
    (await scene.orders())
      .slice(1)
      .map(({ status, orderQty, cumQty, avgPx }) => [status, orderQty, cumQty, avgPx])
  expect(await shown()).toEqual([
    ['4', 10, 3, 110],
    ['1', 10, 3, 110],
  ])
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  const replace = async () => {
    await endSignal(db.write, exit, '5', new Date(clock.time).toISOString())
    await scene.order('2', '10', { limit: '120', replaces: exit })
    await world.drain()
  }
  const violations = () => platformViolations(world)
  return { ...scene, first, names, fill, bust, execId, shown, replace, violations }
}

test('a late execution is carried by the order that came after', async () => {
  const { first, fill, shown, held, violations } = await sentAnew()
  await fill(first, '1', '114')
  expect(await shown()).toEqual([
    ['4', 10, 4, 111],
    // No more is closed than is held.
    ['5', 11, 4, 111],
    ['1', 10, 4, 111],
  ])
  expect(await held()).toBe(6)
  expect(await violations()).toEqual([])
})

test('one that is taken back is carried no more', async () => {
  const { bust, execId, shown, held, violations } = await sentAnew()
  await bust(execId)
  expect(await shown()).toEqual([
    ['4', 10, 0, null],
    ['0', 7, 0, null],
  ])
  expect(await held()).toBe(10)
  expect(await violations()).toEqual([])
})

test('nor by what replaces the order that carried it, after a split', async () => {
  const { first, names, symbol, fill, bust, execId, replace, shown, held, violations } = await sentAnew()
  await fill((await names())[2] ?? '', '2', '110')
  await replace()
  expect(await shown()).toEqual([
    ['4', 10, 3, 110],
    ['5', 10, 5, 110],
    ['1', 10, 5, 110],
  ])
  await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  const yesterday = clock.time
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  await fill(first, '1', '110', yesterday)
  await bust(execId)
  expect(await shown()).toEqual([
    ['4', 10, 1, 110],
    ['5', 8, 3, 110],
    ['5', 16, 6, 55],
    ['1', 14, 6, 55],
  ])
  expect(await held()).toBe(14)
  expect(await violations()).toEqual([])
})

test('what a broker dates after a split, of an order that had ended before it, is carried as it was told', async () => {
  const { first, symbol, fill, bust, shown, held, violations } = await sentAnew()
  await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  const execId = await fill(first, '2', '55')
  expect((await shown()).slice(1)).toEqual([
    // No more is closed than is held.
    ['5', 22, 8, 55],
    ['1', 20, 8, 55],
  ])
  expect(await held()).toBe(12)
  expect(await violations()).toEqual([])
  await bust(execId)
  expect((await shown()).slice(1)).toEqual([
    ['5', 20, 6, 55],
    ['1', 18, 6, 55],
  ])
  expect(await held()).toBe(14)
  expect(await violations()).toEqual([])
})

test('nor what is executed on the day of the split before the opening: that is in new units already', async () => {
  const { accountId, names, symbol, first, fill, bust, replace, shown, held, violations } = await sentAnew()
  const second = (await names())[2] ?? ''
  await replace()
  await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  const early = Date.parse('2024-03-13T12:00:00Z')
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  const execId = await fill(first, '2', '55', early)
  // It gives way to one of no more than is held.
  expect((await shown()).at(-1)).toEqual(['1', 20, 8, 55])
  expect(await held()).toBe(12)
  await bust(execId)
  expect((await shown()).at(-1)).toEqual(['1', 18, 6, 55])
  expect(await violations()).toEqual([])
  const about = { brokerId, accountId, symbol, clientOrderId: second, side: '2', text: null } as const
  await insertReports(db.write, [
    { ...about, kind: 'fill', reportKey: 'early', occurredAt: early, quantity: '1', px: '55' },
  ])
  await world.drain()
  expect((await shown()).at(-1)).toEqual(['1', 18, 7, 55])
  expect(await held()).toBe(13)
  expect(await violations()).toEqual([])
})

test('also of one that was replaced, told beside another of before the split', async () => {
  const { accountId, names, symbol, replace, shown, held, violations } = await sentAnew()
  const second = (await names())[2] ?? ''
  await replace()
  await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  const yesterday = clock.time
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  const about = { brokerId, accountId, symbol, side: '2', text: null } as const
  const execution = { ...about, clientOrderId: second, kind: 'fill' } as const
  await insertReports(db.write, [
    { ...execution, reportKey: 'before', occurredAt: yesterday, quantity: '1', px: '110' },
    { ...execution, reportKey: 'after', occurredAt: clock.time, quantity: '1', px: '55' },
  ])
  await world.drain()
  // 3 and 1 of before, 1 of after.
  expect((await shown()).at(-1)).toEqual(['1', 20, 9, 55])
  expect(await held()).toBe(11)
  expect(await violations()).toEqual([])
})

test('of one that was replaced before a split, and fills what has come after it', async () => {
  const { names, symbol, replace, fill, shown, violations } = await sentAnew()
  const second = (await names())[2] ?? ''
  await replace()
  const yesterday = clock.time
  await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-13', new: dec(2), old: dec(1) }])
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  await fill(second, '7', '110', yesterday)
  // It had lived through the split, whenever what filled it was executed.
  expect((await shown()).at(-1)).toEqual(['2', 20, 20, 55])
  expect(await violations()).toEqual([])
})

test('what is told late of an option whose size a split has changed is carried at the price of today', async () => {
  const { setupId, instrumentId, first, fill, shown, held, violations } = await sentAnew()
  const { symbol: underlying } = await addInstrument(db)
  await db.write.run`
    update instrument set security_type = 'OPT', underlying = ${underlying}, root = ${underlying}, put_or_call = '1',
      strike = 90, expiry = '2024-06-21', last_trading_day = '2024-06-21' where id = ${instrumentId}`
  const told = clock.time
  await enterActions(ctx, [
    { kind: 'split', symbol: underlying, day: '2024-03-13', new: dec(3), old: dec(2) },
  ])
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  await fill(first, '1', '114', told)
  expect((await shown()).at(-1)).toEqual(['1', 10, 4, 74])
  const { value } = await db.read.one<{ value: string }>`
    select trim_scale(filled_value)::text as value from account_order where setup_id = ${setupId} order by id desc limit 1`
  expect(value).toBe('296')
  expect(await held()).toBe(6)
  expect(await violations()).toEqual([])
})
