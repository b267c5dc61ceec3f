/** Exits that went on after a split from orders that had ended before it: what those executed is carried in new units. */
import { expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { entryKey, loadEntryFills } from '../../src/storage/mirror/entry-fills.ts'
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

/** 10 are held, without AutoSync; an exit of 10 at 110 works, of which 3 are executed. */
async function partlyExited() {
  const { exit, ...scene } = await workingExit(world, makeOne)
  const { accountId, symbol } = scene
  await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
  const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${accountId} and side = '2'`
  const report = { brokerId, accountId, symbol, clientOrderId, side: '2', text: null } as const
  const told = { ...report, occurredAt: clock.time }
  const fill = { ...told, kind: 'fill', reportKey: `e${accountId}`, quantity: '3', px: '110' } as const
  await insertReports(db.write, [fill])
  await world.drain()
  let working = exit
  return {
    ...scene,
    /** The broker cancels what is left of the exit. */
    end: async () => {
      const { last } = await db.write.one<{ last: string }>`
        update paper_order set status = '4'
        where id = (select max(id) from paper_order where account_id = ${accountId}) returning client_order_id as last`
      const ended = { clientOrderId: last, reportKey: `c${last}`, occurredAt: clock.time }
      await insertReports(db.write, [{ ...told, kind: 'cancel', ...ended }])
      await world.drain()
    },
    /** What the copies of it have executed, as exits of an entry see it. */
    executed: () =>
      db.transaction(async (tx) => {
        const copy = { setupId: scene.setupId, signalId: exit }
        return (await loadEntryFills(tx, [copy])).get(entryKey(copy.setupId, exit))?.toNumber()
      }),
    /** The broker executes one more of it after all. */
    fillLate: async (px: string) => {
      const late = { ...fill, reportKey: `l${accountId}`, occurredAt: clock.time, quantity: '1', px }
      await insertReports(db.write, [late])
      await world.drain()
    },
    split: async (units = 2, old = 1) => {
      clock.time += day
      const on = new Date(clock.time).toISOString().slice(0, 10)
      await enterActions(ctx, [{ kind: 'split', symbol, day: on, new: dec(units), old: dec(old) }])
      await bookActions(ctx)
      await world.drain()
    },
    replace: async (quantity: string, limit: string) => {
      await endSignal(db.write, working, '5', new Date(clock.time).toISOString())
      working = await scene.order('2', quantity, { limit, replaces: working })
      await world.drain()
    },
    shown: async () =>
      (await scene.orders())
        .slice(1)
        .map(({ status, orderQty, cumQty, avgPx }) => [status, orderQty, cumQty, avgPx]),
    violations: () => platformViolations(world),
  }
}

test('an exit that its owner replaces after the split', async () => {
  const { end, split, replace, shown, violations } = await partlyExited()
  await end()
  await split()
  await replace('20', '60')
  expect(await shown()).toEqual([
    ['4', 10, 3, 110],
    ['1', 20, 6, 55],
  ])
  expect(await violations()).toEqual([])
})

test('what its broker has executed of it after the split is in new units already', async () => {
  const { end, split, fillLate, executed, replace, shown, held, violations } = await partlyExited()
  await end()
  await split()
  await fillLate('62')
  expect(await executed()).toBe(7)
  await replace('20', '60')
  expect(await shown()).toEqual([
    ['4', 10, 4, 98],
    ['1', 20, 7, (3 * 110 + 62) / 7],
  ])
  expect(await held()).toBe(13)
  expect(await violations()).toEqual([])
})

test('a replacement that was not sent before the split, and is an order of its own after it', async () => {
  const { end, split, replace, shown, held, violations } = await partlyExited()
  const { drain } = world
  const unsent = createWorker({ ctx, steps: world.steps.filter(({ name }) => name !== 'sendOrders paper') })
  world.drain = () => unsent.drain()
  await replace('10', '112')
  await end()
  await split()
  world.drain = drain
  await drain()
  expect(await shown()).toEqual([
    ['4', 10, 3, 110],
    ['1', 20, 6, 55],
  ])
  expect(await held()).toBe(14)
  expect(await violations()).toEqual([])
})

test('what rounding has left of the last one is no reason to go on from the one before it', async () => {
  const { end, fillLate, split, replace, shown, held, violations, accountId } = await partlyExited()
  await fillLate('110')
  await replace('10', '112')
  await split(1, 3)
  await end()
  await split(3, 1)
  await replace('10', '115')
  // Of 4 that were executed a third is 1.33333333, and three times that are not 4.
  expect((await shown()).map(([status, of, executed]) => [status, of, executed])).toEqual([
    ['5', 10, 4],
    ['4', 3.33333333, 1.33333333],
    ['1', 9.99999999, 3.99999999],
  ])
  const chain = await db.read.rows`
    select o.id - p.id as after from account_order o
    join account_order p on p.account_id = o.account_id and p.id = o.replaces_order_id
    where o.account_id = ${accountId} order by o.id`
  expect(chain).toEqual([{ after: 1 }, { after: 1 }])
  expect(await held()).toBe(6)
  expect(await violations()).toEqual([])
})

test('one of an option whose size the split has changed', async () => {
  const { instrumentId, end, replace, shown, violations } = await partlyExited()
  const { symbol: underlying } = await addInstrument(db)
  await db.write.run`
    update instrument set security_type = 'OPT', underlying = ${underlying}, root = ${underlying}, put_or_call = '1',
      strike = 90, expiry = '2024-06-21', last_trading_day = '2024-06-21' where id = ${instrumentId}`
  await end()
  await enterActions(ctx, [
    { kind: 'split', symbol: underlying, day: '2024-03-13', new: dec(11), old: dec(10) },
  ])
  clock.time += day
  await bookActions(ctx)
  await world.drain()
  await replace('10', '105')
  expect(await shown()).toEqual([
    ['4', 10, 3, 110],
    ['1', 10, 3, 100],
  ])
  expect(await violations()).toEqual([])
})
