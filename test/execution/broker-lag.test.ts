/** Splits and the ends of contracts that a broker does before us or after: a difference that passes by itself. */
import { expect, test } from 'vitest'
import { examine } from '../../src/bin/doctor.ts'
import { dec } from '../../src/domain/decimal.ts'
import { dayLength, minute } from '../../src/domain/time.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { enterDelistings } from '../../src/execution/orders/enter-delistings.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'

const { db } = await testDatabase()

/** A follower of somebody who holds 6, at a broker that says what it is told to. */
async function follower() {
  const world = makeAccountWorld(db)
  const brokerId = await addBroker(db)
  const scene = await makeScene(world, brokerId)()
  const { accountId, symbol } = scene
  await world.quote(symbol, '60', '60')
  await scene.order('1', '6')
  await world.drain()
  expect(await scene.held()).toBe(6)
  let saying: ReadonlyMap<string, string> | null = null
  const broker: typeof world.paper.broker = {
    ...world.paper.broker,
    snapshot: async (ctx, ids) =>
      (await world.paper.broker.snapshot(ctx, ids)).map((one) =>
        one.accountId === accountId && saying !== null ? { ...one, positions: saying } : one,
      ),
  }
  /** Asks the broker once a minute for as long, then answers why AutoSync was switched off. */
  const reasonAfter = async (theirs: number, count = 4, name = symbol): Promise<string | null> => {
    saying = new Map(theirs === 0 ? [] : [[name, String(theirs)]])
    for (let asked = 0; asked < count; asked += 1) {
      world.clock.time += minute + 1
      await reconcile(world.ctx, 'paper', broker, true)
    }
    const { reason } = await db.read.one<{ reason: string | null }>`
      select sync_disabled_reason as reason from account where id = ${accountId}::bigint`
    return reason
  }
  const actsAt = async (time: string): Promise<void> => {
    world.clock.time = Date.parse(time)
    await bookActions(world.ctx)
  }
  return { ...scene, world, reasonAfter, actsAt }
}

const split = (symbol: string) =>
  ({ kind: 'split', symbol, day: '2024-03-13', new: dec(1), old: dec(4) }) as const

test('a split that the broker does in the night before its day is no mismatch', async () => {
  const { world, symbol, held, reasonAfter, actsAt } = await follower()
  await enterActions(world.ctx, [split(symbol)])
  await actsAt('2024-03-13T08:00:00Z')
  expect([await held(), await reasonAfter(1)]).toEqual([6, null])
  await actsAt('2024-03-13T14:00:00Z')
  expect([await held(), await reasonAfter(1)]).toEqual([1, null])
})

test('a split that the broker does days after its day is none, unless it never does', async () => {
  const { world, symbol, held, reasonAfter, actsAt } = await follower()
  await enterActions(world.ctx, [split(symbol)])
  await actsAt('2024-03-13T14:00:00Z')
  expect([await held(), await reasonAfter(6)]).toEqual([1, null])
  world.clock.time += 4 * dayLength
  expect(await reasonAfter(6)).toBe('PositionMismatch')
})

test('what a split does not explain is a mismatch at once', async () => {
  const { world, symbol, reasonAfter } = await follower()
  await enterActions(world.ctx, [split(symbol)])
  expect(await reasonAfter(7)).toBe('PositionMismatch')
})

test('an option that the broker lists anew before us or after is no mismatch, unless it never does', async () => {
  const { world, instrumentId, held, reasonAfter, actsAt } = await follower()
  await db.write.run`
    insert into instrument (symbol, security_type, description, root, currency, point_value, tick, calendar)
    select 'SPLIT', 'CS', '', 'SPLIT', currency, 1, tick, calendar from instrument where id = ${instrumentId}`
  await db.write.run`
    update instrument set security_type = 'OPT', underlying = 'SPLIT', root = 'SPLIT', symbol = 'SPLIT2418F200',
      strike = 200, put_or_call = '1', expiry = '2024-06-18', last_trading_day = '2024-06-18'
    where id = ${instrumentId}::bigint`
  await enterActions(world.ctx, [{ ...split('SPLIT'), new: dec(4), old: dec(1) }])
  await actsAt('2024-03-13T08:00:00Z')
  expect([await held(), await reasonAfter(24, 4, 'SPLIT2418F50')]).toEqual([6, null])
  await actsAt('2024-03-13T14:00:00Z')
  expect([await held(), await reasonAfter(6, 4, 'SPLIT2418F200')]).toEqual([24, null])
  world.clock.time += 4 * dayLength
  expect(await reasonAfter(6, 4, 'SPLIT2418F200')).toBe('PositionMismatch')
})

test('a contract that has ended here first is no mismatch', async () => {
  const { held, instrumentId, reasonAfter, actsAt } = await follower()
  await db.write.run`
    update instrument set security_type = 'FUT', last_trading_day = '2024-03-12', due_at = '2024-03-12T20:00Z'
    where id = ${instrumentId}::bigint`
  await actsAt('2024-03-12T20:01:00Z')
  expect([await held(), await reasonAfter(6)]).toEqual([0, null])
  expect(await reasonAfter(-6)).toBe('PositionMismatch')
})

test('a stock that is delisted is no mismatch, whenever the broker takes it out or pays for it', async () => {
  const { world, symbol, held, reasonAfter, actsAt } = await follower()
  await enterDelistings(world.ctx, [{ symbol, day: '2024-03-12' }])
  await actsAt('2024-03-12T20:01:00Z')
  world.clock.time += 10 * dayLength
  expect([await held(), await reasonAfter(0)]).toEqual([6, null])
  const delistings = async () =>
    (await examine(world.ctx.db, world.clock.now())).find(({ name }) => name === 'delistings')?.says
  const waits = `held and not paid until its settlement value is entered: ${symbol} of 2024-03-12`
  expect(await delistings()).toBe(waits)
  const paid = { kind: 'settlement', symbol, amount: dec(70) } as const
  expect((await enterActions(world.ctx, [{ ...paid, day: '2024-03-13' }])).faults).toEqual([
    {
      place: 0,
      says: `trading of ${symbol} has ended on 2024-03-12: what is paid for it is the value of that day`,
    },
  ])
  await enterActions(world.ctx, [{ ...paid, day: '2024-03-12' }])
  await bookActions(world.ctx)
  world.clock.time += 10 * dayLength
  expect([await held(), await reasonAfter(6)]).toEqual([0, null])
  expect(await reasonAfter(-6)).toBe('PositionMismatch')
  expect(await delistings()).toBe('nothing is held that waits for what is paid for it')
})
