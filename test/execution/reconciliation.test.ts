/** Accounts held against the broker's own word: what is made up for, what is told, and what changes nothing. */
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { BrokerUnreachable } from '../../src/execution/brokers/broker.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { resetPaperAccount } from '../../src/storage/brokers/paper-resets.ts'
import { claimLease, releaseLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, addFollowers } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { makeAccountWorld } from './account-world.ts'
import { makeSilence } from './silence.ts'
import { addStrategy } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)
const scene = makeScene(world, brokerId)
const { unheard, minutes, incidentsOf } = makeSilence(world)

const syncOf = (accountId: number) =>
  db.read
    .one`select is_sync_enabled as sync, sync_disabled_reason as reason from account where id = ${accountId}`

/** An execution that the broker has and never tells of. */
const secretly = (accountId: number, symbol: string, side: '1' | '2', quantity: number) =>
  unheard(accountId, () =>
    paper.controls.execution(ctx, {
      brokerId,
      accountId,
      clientOrderId: null,
      symbol,
      side,
      quantity: dec(quantity),
      px: dec(50),
    }),
  )

describe('lost answers', () => {
  test('a confirmation and an end are made up for', async () => {
    const { accountId, order, orders } = await scene()
    await order('1', '6', { limit: '50' })
    await world.drain()
    await unheard(
      accountId,
      () => db.write.run`update paper_order set status = 'C' where account_id = ${accountId}`,
    )
    await minutes(1)
    expect(await orders()).toMatchObject([{ status: '0' }])
    await minutes(1)
    expect((await orders())[0]).toMatchObject({ status: 'C' })
  })

  test('an order that the broker does not know stays as it is, and is told', async () => {
    const { accountId, order, orders } = await scene()
    await order('1', '6', { limit: '50' })
    await world.drain()
    await db.write.run`delete from paper_order where account_id = ${accountId}`
    await minutes(3)
    expect(await orders()).toMatchObject([{ status: '0' }])
    expect(await incidentsOf(accountId)).toEqual(['OrderAbsent'])
  })

  const strangers: [string, string, string[]][] = [
    ['with our name that we never made is told', 'LST-ZZZ-S1-0', ['UnknownOrder']],
    ['of the owner’s own is nobody’s business', 'MYOWN-1', []],
  ]
  test.each(strangers)('a working order %s', async (_, name, told) => {
    const { accountId, order } = await scene()
    await order('1', '6', { limit: '50' })
    await world.drain()
    await db.write.run`update paper_order set client_order_id = ${name} where account_id = ${accountId}`
    await minutes(1)
    expect(await incidentsOf(accountId)).toEqual(told)
  })
})

describe('positions', () => {
  test('one that nobody explains for more than a minute ends AutoSync', async () => {
    const { accountId, symbol, orders } = await scene()
    await secretly(accountId, symbol, '1', 3)
    await minutes(1)
    expect(await syncOf(accountId)).toEqual({ sync: true, reason: null })
    await minutes(1)
    expect(await syncOf(accountId)).toEqual({ sync: false, reason: 'PositionMismatch' })
    await minutes(2)
    expect(await incidentsOf(accountId)).toEqual(['PositionMismatch'])
    expect(await orders()).toEqual([])
  })

  test('one that came under an id of ours without an order is nobody’s, until it is accepted', async () => {
    const { accountId, symbol, held } = await scene()
    const clientOrderId = 'LST-1-SZZZZZ-0'
    const execId = await paper.controls.execution(ctx, {
      brokerId,
      accountId,
      clientOrderId,
      symbol,
      side: '1',
      quantity: dec(3),
      px: dec(50),
    })
    await minutes(3)
    expect(await syncOf(accountId)).toEqual({ sync: false, reason: 'PositionMismatch' })
    expect(await held()).toBe(0)
    await db.write
      .run`update account set is_sync_enabled = true, sync_disabled_reason = null where id = ${accountId}`
    await minutes(3)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    await paper.controls.bust(ctx, execId)
    await minutes(3)
    expect(await syncOf(accountId)).toMatchObject({ sync: false })
    expect(await incidentsOf(accountId)).toEqual([
      'UnknownOrder',
      'PositionMismatch',
      'ExecutionBusted',
      'PositionMismatch',
    ])
  })

  test('none is left of what an account held before it began anew', async () => {
    const { accountId, symbol, order, held } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    expect(await held()).toBe(6)
    await db.transaction((tx) =>
      resetPaperAccount(tx, accountId, { at: world.clock.time, environment: ctx.settings.environment }),
    )
    await minutes(3)
    const [snapshot] = await paper.broker.snapshot(ctx, [accountId])
    expect(snapshot?.positions).toEqual(new Map())
    expect(await syncOf(accountId)).toEqual({ sync: true, reason: null })
    expect(await incidentsOf(accountId)).toEqual([])
  })

  test('one that changes meanwhile has to last anew', async () => {
    const { accountId, symbol } = await scene()
    await secretly(accountId, symbol, '1', 3)
    await minutes(1)
    await secretly(accountId, symbol, '2', 1)
    await minutes(1)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    await minutes(1)
    expect(await syncOf(accountId)).toMatchObject({ sync: false })
  })

  test('one that was accepted with AutoSync is the owner’s own', async () => {
    const { accountId, symbol } = await scene()
    await secretly(accountId, symbol, '1', 3)
    await minutes(2)
    await db.write
      .run`update account set is_sync_enabled = true, sync_disabled_reason = null where id = ${accountId}`
    await minutes(3)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    await secretly(accountId, symbol, '2', 3)
    await minutes(2)
    expect(await syncOf(accountId)).toMatchObject({ sync: false })
  })

  test('one that the owner may have is left alone', async () => {
    const { accountId, symbol } = await scene()
    await db.write.run`update account set ignore_manual_orders = true where id = ${accountId}`
    await secretly(accountId, symbol, '1', 3)
    await minutes(3)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    expect(await incidentsOf(accountId)).toEqual([])
  })

  test('an order that is under way explains it until it is answered', async () => {
    const { accountId, symbol, order } = await scene()
    await order('1', '6', { limit: '50' })
    await world.drain()
    await secretly(accountId, symbol, '1', 3)
    await db.write.run`update account_order set is_acknowledged = false where account_id = ${accountId}`
    await minutes(4)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    await db.write.run`update account_order set is_acknowledged = true where account_id = ${accountId}`
    await minutes(2)
    expect(await syncOf(accountId)).toMatchObject({ sync: false })
  })
})

describe('a broker that says nothing', () => {
  const silences: [string, () => void, () => void][] = [
    ['does not answer', () => paper.controls.hold(true), () => paper.controls.hold(false)],
    ['is away', () => paper.controls.down(true), () => paper.controls.down(false)],
  ]
  test.each(silences)('and %s has changed nothing', async (_, silence, end) => {
    const { accountId, symbol, order, held } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    await db.write.run`delete from paper_report where account_id = ${accountId}`
    silence()
    await minutes(4)
    await reconcile(ctx, 'paper', paper.broker, true)
    end()
    expect(await held()).toBe(6)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    expect(await incidentsOf(accountId)).toEqual([])
  })

  const malformed: [string, string][] = [
    ['NaN', 'NaN'],
    ['infinity', 'Infinity'],
    ['nothing', ''],
  ]
  test.each(malformed)('but %s is refused and told', async (_, quantity) => {
    const { accountId, symbol } = await scene()
    const broker: typeof paper.broker = {
      ...paper.broker,
      snapshot: async (asking, ids) =>
        (await paper.broker.snapshot(asking, ids)).map((one) =>
          one.accountId === accountId ? { ...one, positions: new Map([[symbol, quantity]]) } : one,
        ),
    }
    const pass = async (pauseMs: number) => {
      world.clock.time += pauseMs
      await reconcile(ctx, 'paper', broker, true)
    }
    for (let passed = 0; passed < 3; passed += 1) await pass(60_001)
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    expect(new Set(await incidentsOf(accountId))).toEqual(new Set(['MalformedSnapshot']))
    // An operator who has ended one is told of what is still, or again, so on another day.
    const told = (await incidentsOf(accountId)).length
    await pass(86_400_000)
    await pass(1)
    expect(await incidentsOf(accountId)).toHaveLength(told + 1)
  })

  test('of one account’s orders keeps nothing from the others, and explains what that one holds', async () => {
    const [silent, other] = [await scene(), await scene()]
    for (const one of [silent, other]) {
      await one.order('1', '6', { limit: '50' })
      await world.drain()
    }
    await db.write
      .run`update paper_order set status = 'C' where account_id = any(${[silent.accountId, other.accountId]}::bigint[])`
    const broker: typeof paper.broker = {
      ...paper.broker,
      limits: { ...paper.broker.limits, batch: 1 },
      snapshot: async (asking, ids) =>
        (await paper.broker.snapshot(asking, ids)).map((one) =>
          one.accountId === silent.accountId ? { ...one, positions: new Map([[silent.symbol, '2']]) } : one,
        ),
      find: async (asking, id, orders) => {
        if (orders.some(({ accountId }) => accountId === other.accountId))
          return paper.broker.find(asking, id, orders)
        return orders.map(() => undefined)
      },
    }
    for (let passed = 0; passed < 4; passed += 1) {
      world.clock.time += 60_001
      await reconcile(ctx, 'paper', broker, true)
      await world.drain()
    }
    expect(await other.orders()).toMatchObject([{ status: 'C' }])
    expect(await silent.orders()).toMatchObject([{ status: '0' }])
    expect(await syncOf(silent.accountId)).toMatchObject({ sync: true })
  })

  test('of one account at all is not asked about its orders', async () => {
    const [silent, other] = [await scene(), await scene()]
    for (const one of [silent, other]) {
      await one.order('1', '6', { limit: '50' })
      await world.drain()
    }
    await db.write.run`update paper_order set status = 'C' where account_id = ${other.accountId}`
    const broker: typeof paper.broker = {
      ...paper.broker,
      snapshot: async (asking, ids) =>
        (await paper.broker.snapshot(asking, ids)).filter(({ accountId }) => accountId !== silent.accountId),
      find: async (asking, id, orders) => {
        if (orders.some(({ accountId }) => accountId === silent.accountId)) throw new BrokerUnreachable('')
        return paper.broker.find(asking, id, orders)
      },
    }
    for (let passed = 0; passed < 3; passed += 1) {
      world.clock.time += 60_001
      await reconcile(ctx, 'paper', broker, true)
      await world.drain()
    }
    expect(await other.orders()).toMatchObject([{ status: 'C' }])
  })

  test('about one account’s orders keeps the others compared where it fails', async () => {
    const one = await scene()
    await one.order('1', '6', { limit: '50' })
    await world.drain()
    await secretly(one.accountId, one.symbol, '1', 3)
    const other = await scene()
    await secretly(other.accountId, other.symbol, '1', 3)
    await db.write.run`update paper_order set status = 'C' where account_id = ${one.accountId}`
    const broker: typeof paper.broker = {
      ...paper.broker,
      find: async () => {
        throw new BrokerUnreachable('no word')
      },
    }
    for (let passed = 0; passed < 3; passed += 1) {
      world.clock.time += 60_001
      await reconcile(ctx, 'paper', broker, true)
    }
    expect(await syncOf(other.accountId)).toMatchObject({ sync: false })
    expect(await syncOf(one.accountId)).toMatchObject({ sync: true })
  })

  test('about more accounts than are asked for at once keeps nobody who comes after them from being compared', async () => {
    const many = await addBroker(db)
    const strategyId = await addStrategy(db)
    await addFollowers(db, { strategyId, brokerId: many, count: 1_000 })
    const last = await makeScene(world, many)()
    await last.order('1', '6', { limit: '50' })
    await world.drain()
    await db.write.run`update paper_order set status = 'C' where account_id = ${last.accountId}`
    const broker: typeof paper.broker = {
      ...paper.broker,
      snapshot: async (asking, ids) => {
        if (!ids.includes(last.accountId)) throw new BrokerUnreachable('not these')
        return paper.broker.snapshot(asking, ids)
      },
    }
    for (let passed = 0; passed < 3; passed += 1) {
      world.clock.time += 60_001
      await reconcile(ctx, 'paper', broker, true)
      await world.drain()
    }
    expect(await last.orders()).toMatchObject([{ status: 'C' }])
  })

  test('an account that is missing in the answer is not flat', async () => {
    const { accountId, symbol, order } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    const broker = { ...paper.broker, snapshot: async () => [] }
    for (let passed = 0; passed < 3; passed += 1) {
      world.clock.time += 60_001
      await reconcile(ctx, 'paper', broker, true)
    }
    expect(await syncOf(accountId)).toMatchObject({ sync: true })
    expect(await incidentsOf(accountId)).toEqual([])
  })
})

test('whose next question cannot be noted down leaves the broker to others at once', async () => {
  await scene()
  await db.write.run`alter table reconciliation add constraint never check (broker_id is null) not valid`
  await expect(reconcile(ctx, 'paper', paper.broker, true)).rejects.toThrow('never')
  await db.write.run`alter table reconciliation drop constraint never`
  const lease = await claimLease(db.write, `reconcile:${brokerId}`, 'another', 30_000)
  expect(lease).toBeDefined()
  await releaseLease(db.write, lease!)
})

test('a position that was accepted is what it was over a split, also where no logarithm keeps its ratio', async () => {
  const { accountId, symbol } = await scene()
  const clientOrderId = 'LST-1-SZZZZY-0'
  await paper.controls.execution(ctx, {
    brokerId,
    accountId,
    clientOrderId,
    symbol,
    side: '1',
    quantity: dec(4),
    px: dec(50),
  })
  await minutes(3)
  await db.write
    .run`update account set is_sync_enabled = true, sync_disabled_reason = null where id = ${accountId}`
  await minutes(3)
  expect(await syncOf(accountId)).toMatchObject({ sync: true })
  const day = new Date(world.clock.time + 86_400_000).toISOString().slice(0, 10)
  await enterActions(ctx, [{ kind: 'split', symbol, day, new: dec(3), old: dec(2) }])
  // Brokers may be late with it.
  world.clock.time += 7 * 86_400_000
  await bookActions(ctx)
  await minutes(3)
  expect(await syncOf(accountId)).toMatchObject({ sync: true })
})
