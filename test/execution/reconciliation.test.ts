/** Accounts held against the broker's own word: what is made up for, what is told, and what changes nothing. */
import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { reconcile } from '../../src/execution/reports/reconciliation.ts'
import { resetPaperAccount } from '../../src/storage/brokers/paper-resets.ts'
import { insertReports } from '../../src/storage/brokers/reports.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld } from './account-world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)
const scene = makeScene(world, brokerId)

/** Reports that are under way never arrive. */
const loseReports = (accountId: number) =>
  db.write
    .run`update paper_report set is_delivered = true where account_id = ${accountId} and not is_delivered`

/** What the broker does while nothing of it is heard. */
async function unheard<T>(accountId: number, what: () => Promise<T>): Promise<T> {
  paper.controls.hold(true)
  const done = await what()
  await loseReports(accountId)
  paper.controls.hold(false)
  await db.write.run`update account_order set claimed_until = null`
  return done
}

async function minutes(count: number): Promise<void> {
  for (let passed = 0; passed < count; passed += 1) {
    world.clock.time += 60_001
    await world.drain()
  }
}

const syncOf = (accountId: number) =>
  db.read
    .one`select is_sync_enabled as sync, sync_disabled_reason as reason from account where id = ${accountId}`

const incidentsOf = async (accountId: number): Promise<string[]> =>
  (
    await db.read.rows<{ kind: string }>`
      select kind from incident where (detail->>'accountId')::bigint = ${accountId} order by id`
  ).map(({ kind }) => kind)

/** An execution that the broker has and never tells of. */
const secretly = (accountId: number, symbol: string, side: '1' | '2', quantity: number) =>
  unheard(accountId, () =>
    paper.controls.execution(ctx, {
      ...{ brokerId, accountId, clientOrderId: null, symbol, side },
      ...{ quantity: dec(quantity), px: dec(50) },
    }),
  )

/** A limit order of 6 works at the broker, and nothing has been heard of the last `quantity` that it filled at `px`. */
async function partlyUnheard(quantity: number, px: number) {
  const one = await scene()
  await one.order('1', '6', { limit: '50' })
  await world.drain()
  const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${one.accountId}`
  const { accountId, symbol } = one
  const fill = (filled: number, at: number): Promise<string> =>
    paper.controls.execution(ctx, {
      ...{ brokerId, accountId, clientOrderId, symbol, side: '1', quantity: dec(filled), px: dec(at) },
    })
  const execId = await unheard(accountId, () => fill(quantity, px))
  return { ...one, execId, fill }
}

describe('missing executions', () => {
  test('are booked from the broker’s total once they have been missing for a minute', async () => {
    const { orders, held, accountId, fill } = await partlyUnheard(2, 48)
    await fill(1, 45)
    await world.drain()
    expect(await held()).toBe(1)
    await minutes(1)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 1 }])
    await minutes(1)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 3, avgPx: 47 }])
    expect(await held()).toBe(3)
    expect(
      await db.read
        .rows`select quantity::float8, px::float8 from execution where account_id = ${accountId} and is_inferred`,
    ).toEqual([{ quantity: 2, px: 48 }])
    expect(await incidentsOf(accountId)).toEqual(['InferredFill'])
    await minutes(3)
    expect(await held()).toBe(3)
    expect(await accountViolations(world)).toEqual([])
  })

  test('replace what was inferred when they come after all', async () => {
    const { orders, held, cash, accountId, execId } = await partlyUnheard(6, 48)
    await minutes(2)
    expect(await orders()).toMatchObject([{ status: '2', cumQty: 6 }])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2', cumQty: 6, avgPx: 48 }])
    expect(await held()).toBe(6)
    expect(await cash()).toBe(100_000 - 6 * 48)
    const standing = await db.read.rows`
      select exec_id as "execId" from execution e where account_id = ${accountId} and busts is null
        and not exists (select from execution b where b.account_id = e.account_id and b.busts = e.exec_id)`
    expect(standing).toEqual([{ execId }])
    expect(await incidentsOf(accountId)).toEqual(['InferredFill'])
    expect(await accountViolations(world)).toEqual([])
  })

  test('stay inferred beside a new one that is told', async () => {
    const { held, cash, accountId, execId, fill, orders } = await partlyUnheard(2, 48)
    await minutes(2)
    expect(await held()).toBe(2)
    await fill(3, 46)
    await world.drain()
    expect(await held()).toBe(5)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 5, avgPx: 46.8 }])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await held()).toBe(5)
    expect(await cash()).toBe(100_000 - 2 * 48 - 3 * 46)
    expect(await incidentsOf(accountId)).toEqual(['InferredFill'])
    expect(await accountViolations(world)).toEqual([])
  })

  test('stay inferred beside a new one also of an order that was sent anew', async () => {
    const { accountId, symbol, order, orders, held } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    await order('2', '6', { limit: '110' })
    await world.drain()
    const working = () => db.read.one<{ clientOrderId: string }>`
      select client_order_id as "clientOrderId" from paper_order
      where account_id = ${accountId} and status in ('0', '1')`
    const fill = async (quantity: number): Promise<string> => {
      const { clientOrderId } = await working()
      const terms = { brokerId, accountId, clientOrderId, symbol, side: '2' as const, px: dec(110) }
      return paper.controls.execution(ctx, { ...terms, quantity: dec(quantity) })
    }
    await fill(1)
    const { clientOrderId } = await working()
    await db.write.run`update paper_order set status = '4' where client_order_id = ${clientOrderId}`
    const about = { brokerId, accountId, clientOrderId, symbol, text: null, occurredAt: world.clock.time }
    await insertReports(db.write, [{ ...about, kind: 'cancel', reportKey: `c${clientOrderId}` }])
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2' }, { status: '4' }, { status: '1', cumQty: 1 }])
    await unheard(accountId, () => fill(2))
    await minutes(2)
    expect(await held()).toBe(3)
    await fill(1)
    await world.drain()
    expect(await held()).toBe(2)
    expect(await accountViolations(world)).toEqual([])
  })

  test('stay inferred beside a new one that is told while more are missing', async () => {
    const { held, cash, accountId, fill } = await partlyUnheard(2, 48)
    await unheard(accountId, () => fill(1, 45))
    await minutes(2)
    expect(await held()).toBe(3)
    await unheard(accountId, () => fill(1, 44))
    await fill(2, 46)
    await world.drain()
    expect(await held()).toBe(5)
    await minutes(2)
    expect(await held()).toBe(6)
    expect(await cash()).toBe(100_000 - 2 * 48 - 45 - 44 - 2 * 46)
    expect(await accountViolations(world)).toEqual([])
  })

  test('leave the rest inferred where one of two comes', async () => {
    const { held, accountId, execId, fill, orders } = await partlyUnheard(2, 48)
    await unheard(accountId, () => fill(3, 46))
    await minutes(2)
    expect(await held()).toBe(5)
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await held()).toBe(5)
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 5 }])
    const left = await db.read.rows`
      select quantity::float8 from execution e where account_id = ${accountId} and is_inferred
        and not exists (select from execution b where b.account_id = e.account_id and b.busts = e.exec_id)`
    expect(left).toEqual([{ quantity: 3 }])
    expect(await accountViolations(world)).toEqual([])
  })

  test('replace what was inferred before a dividend and a split, and neither is paid twice', async () => {
    const { held, cash, execId, symbol } = await partlyUnheard(5, 48)
    await minutes(2)
    await world.quote(symbol, '60', '60')
    const day = '2024-03-13'
    await enterActions(ctx, [
      { kind: 'dividend', symbol, day, amount: dec(1) },
      { kind: 'split', symbol, day, new: dec(1), old: dec(2) },
    ])
    world.clock.time = Date.parse('2024-03-13T14:00:00Z')
    await bookActions(ctx)
    await world.drain()
    // 5 were paid at 48, five dividends of 1, and half a share of 120.
    const booked = 100_000 - 240 + 5 + 60
    expect([await held(), await cash()]).toEqual([2, booked])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect([await held(), await cash()]).toEqual([2, booked])
    expect(await accountViolations(world)).toEqual([])
  })

  test('are not made up for where the order had filled in part before a split: their own report is waited for', async () => {
    const { held, symbol, fill, accountId } = await partlyUnheard(1, 48)
    await fill(2, 48)
    await world.drain()
    await minutes(2)
    await world.quote(symbol, '60', '60')
    await enterActions(ctx, [{ kind: 'split', symbol, day: '2024-03-14', new: dec(1), old: dec(2) }])
    world.clock.time = Date.parse('2024-03-14T14:00:00Z')
    await bookActions(ctx)
    await world.drain()
    const execId = await unheard(accountId, () => fill(1, 90))
    await minutes(2)
    expect([await held(), (await incidentsOf(accountId)).at(-1)]).toEqual([1, 'MissingExecutions'])
    await paper.controls.duplicate(ctx, execId)
    await world.drain()
    expect(await held()).toBe(2)
    expect(await accountViolations(world)).toEqual([])
  })
})

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
      ...{ brokerId, accountId, clientOrderId, symbol, side: '1', quantity: dec(3), px: dec(50) },
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
    await db.transaction((tx) => resetPaperAccount(tx, accountId, world.clock.time))
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
