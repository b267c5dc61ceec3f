import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { bookActions } from '../../src/execution/orders/corporate-actions.ts'
import { enterActions } from '../../src/execution/orders/enter-actions.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import { correctionKey } from '../../src/storage/brokers/reports.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { claimClosingSetups } from '../../src/storage/mirror/closings.ts'
import { everybody } from '../../src/storage/work/among.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, leaveStrategy } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld, readIncidents } from './account-world.ts'
import { addInstrument, endSignal } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)
const scene = makeScene(world, brokerId)

describe('reports', () => {
  test('a repeated execution is dropped', async () => {
    const { symbol, order, held, accountId } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    const { execId } = await db.read.one<{ execId: string }>`
      select exec_id as "execId" from execution where account_id = ${accountId}`
    expect(await paper.controls.duplicate(ctx, execId)).toBe(true)
    await world.drain()
    expect(await held()).toBe(6)
    expect(await paper.controls.duplicate(ctx, 'nothing')).toBe(false)
  })

  test('an execution of nobody is booked, told, and ends AutoSync', async () => {
    const { symbol, accountId, cash, held } = await scene()
    const execution = { brokerId, accountId, clientOrderId: null, symbol, side: '1', px: dec(50) } as const
    await paper.controls.execution(ctx, { ...execution, quantity: dec(2) })
    await world.drain()
    await paper.controls.execution(ctx, { ...execution, quantity: dec(1) })
    await world.drain()
    expect(await cash()).toBe(100_000 - 150)
    expect(await held()).toBe(0)
    expect(
      await db.read.one`
      select is_sync_enabled as sync, sync_disabled_reason as reason from account where id = ${accountId}`,
    ).toEqual({ sync: false, reason: 'ExternalExecution' })
    expect(await readIncidents(world)).toContain('ExternalExecution')
    const told = await db.read.rows`
      select m.kind, m.facts->>'reason' as reason, p.email = m.address as "isHolder" from mail m
      join account a on a.account = m.facts->>'account' join person p on p.id = a.person_id
      where a.id = ${accountId}`
    expect(told).toEqual([{ kind: 'autosync-off', reason: 'ExternalExecution', isHolder: true }])
  })

  test('an owner may trade by hand', async () => {
    const { symbol, accountId } = await scene()
    await db.write.run`update account set ignore_manual_orders = true where id = ${accountId}`
    const before = await readIncidents(world)
    await paper.controls.execution(ctx, {
      brokerId,
      accountId,
      clientOrderId: 'MYOWN-1',
      symbol,
      side: '1',
      quantity: dec(3),
      px: dec(50),
    })
    await world.drain()
    expect(await db.read.one`select is_sync_enabled as sync from account where id = ${accountId}`).toEqual({
      sync: true,
    })
    expect(await readIncidents(world)).toEqual(before)
  })

  type Told = { rename?: (id: string) => string; isOther?: boolean; side?: '1' | '2' }
  const strange: [string, Told, string][] = [
    ['an order that we never made', { rename: (id) => `${id.slice(0, -1)}9` }, 'UnknownOrder'],
    ['an order of ours in another stock', { isOther: true }, 'UnknownOrder'],
    ['an order of ours the other way', { side: '2' }, 'UnknownOrder'],
    [
      'an order of another environment',
      { rename: (id) => id.replace('LST-', 'LSOTHR-') },
      'ExternalExecution',
    ],
  ]
  test.each(strange)('an execution of %s', async (_name, { rename, isOther, side = '1' }, kind) => {
    const { symbol, accountId, order, orders } = await scene()
    await order('1', '6', { limit: '50' })
    await world.drain()
    const { id } = await db.read.one<{ id: string }>`
      select client_order_id as id from paper_order where account_id = ${accountId}`
    await paper.controls.execution(ctx, {
      brokerId,
      accountId,
      clientOrderId: rename ? rename(id) : id,
      symbol: isOther ? (await addInstrument(db)).symbol : symbol,
      side,
      quantity: dec(3),
      px: dec(50),
    })
    await world.drain()
    expect((await readIncidents(world)).at(-1)).toBe(kind)
    expect(await orders()).toMatchObject([{ status: '0', cumQty: 0 }])
    expect(
      await db.read.one`select order_id as "orderId" from execution where account_id = ${accountId}`,
    ).toEqual({ orderId: null })
    // Only what somebody else has traded is reason to leave the account alone.
    expect(await db.read.one`select is_sync_enabled as sync from account where id = ${accountId}`).toEqual({
      sync: kind === 'UnknownOrder',
    })
  })

  test('an account that its broker closes to us is told of as that, not as somebody’s trade', async () => {
    const { accountId } = await scene()
    const before = await readIncidents(world)
    await paper.controls.notice(ctx, { brokerId, accountId, kind: 'marginCall', text: 'too little' })
    await world.drain()
    expect(
      await db.read.one`select is_autotrade_disabled as "isDisabled" from account where id = ${accountId}`,
    ).toEqual({ isDisabled: true })
    expect((await readIncidents(world)).slice(before.length)).not.toContain('ExternalExecution')
  })

  test('late and surplus fills are booked and told', async () => {
    const { symbol, order, orders, held, accountId } = await scene()
    const signal = await order('1', '6', { limit: '50' })
    await world.drain()
    // What comes too much is otherwise sold at once.
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    await endSignal(db.write, signal, '4', instant(world.clock.time))
    await world.drain()
    const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
      select client_order_id as "clientOrderId" from paper_order where account_id = ${accountId}`
    const execution = { brokerId, accountId, clientOrderId, symbol, side: '1', px: dec(50) } as const
    await paper.controls.execution(ctx, { ...execution, quantity: dec(2) })
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '4', cumQty: 2 }])
    expect((await readIncidents(world)).at(-1)).toBe('LateFill')
    await paper.controls.execution(ctx, { ...execution, quantity: dec(5) })
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2', cumQty: 7 }])
    expect(await held()).toBe(7)
  })

  test('a busted execution is taken back and told', async () => {
    const { symbol, order, accountId, held, cash } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    const { execId } = await db.read.one<{ execId: string }>`
      select exec_id as "execId" from execution where account_id = ${accountId}`
    await paper.controls.bust(ctx, execId)
    await world.drain()
    expect((await readIncidents(world)).at(-1)).toBe('ExecutionBusted')
    expect(await held()).toBe(0)
    expect(await cash()).toBe(100_000)
    expect(await accountViolations(world)).toEqual([])
  })

  test.each([
    ['before', 'one by one'],
    ['before', 'together'],
    ['after', 'one by one'],
    ['after', 'together'],
    ['twice after', 'one by one'],
    ['twice after', 'together'],
  ] as const)('a cancellation that comes %s its execution, told %s', async (when, how) => {
    const { symbol, order, accountId, held, orders } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
      select client_order_id as "clientOrderId" from paper_order where account_id = ${accountId}`
    const tell = (kind: string, key: string, text: string | null) => db.write.run`
      insert into broker_report (broker_id, report_key, account_id, client_order_id, kind, symbol, side, quantity, px,
        text, occurred_at)
      values (${brokerId}, ${key}, ${accountId}, ${clientOrderId}, ${kind}, ${symbol}, '1', 1, 100, ${text},
        ${instant(world.clock.time)})`
    const told: Record<typeof when, [string, string, string | null][]> = {
      before: [
        ['bust', 'b1', 'late1'],
        ['fill', 'late1', null],
      ],
      after: [
        ['fill', 'late1', null],
        ['bust', 'b1', 'late1'],
      ],
      'twice after': [
        ['fill', 'late1', null],
        ['bust', 'b1', 'late1'],
        ['bust', 'b2', 'late1'],
      ],
    }
    for (const [kind, key, text] of told[when]) {
      await tell(kind, key, text)
      if (how === 'one by one') await world.drain()
    }
    await world.drain()
    expect(await held()).toBe(6)
    expect(await orders()).toMatchObject([{ cumQty: 6 }])
  })

  test('a cancellation that is told twice in one go takes its execution back once', async () => {
    const { symbol, order, accountId, held, cash } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    const { execId } = await db.read.one<{ execId: string }>`
      select exec_id as "execId" from execution where account_id = ${accountId}`
    for (const key of ['again1', 'again2'])
      await db.write.run`
        insert into broker_report (broker_id, report_key, account_id, kind, symbol, text, occurred_at)
        values (${brokerId}, ${key}, ${accountId}, 'bust', ${symbol}, ${execId}, ${instant(world.clock.time)})`
    await world.drain()
    expect([await held(), await cash()]).toEqual([0, 100_000])
    // The broker's own book still has it: only our side was told.
    await paper.controls.bust(ctx, execId)
    await world.drain()
    expect([await held(), await cash()]).toEqual([0, 100_000])
  })

  test('what cannot be applied in one account holds up no other', async () => {
    const [broken, sound] = [await scene(), await scene()]
    // More money than any book has room for.
    for (const { accountId, symbol } of [broken, sound])
      await db.write.run`
        insert into broker_report (broker_id, report_key, account_id, kind, symbol, side, quantity, px, occurred_at)
        values (${brokerId}, 'own', ${accountId}, 'fill', ${symbol}, '1',
          ${accountId === broken.accountId ? '1e150' : '3'}::numeric, ${accountId === broken.accountId ? '1e150' : '50'}::numeric,
          ${instant(world.clock.time)})`
    await expect(world.drain()).rejects.toThrow()
    expect([await sound.cash(), await broken.cash()]).toEqual([100_000 - 150, 100_000])
    // It is left alone for a while: until then no step fails, and rests, because of it.
    await expect(world.drain()).resolves.toBeDefined()
    await db.write.run`delete from broker_report where account_id = ${broken.accountId}`
    await world.drain()
  })

  const named: [string, (ids: readonly string[]) => string | null, (symbol: string) => string][] = [
    ['its own order', ([first = '']) => first, (symbol) => symbol],
    ['the order that replaced its own', ([, second = '']) => second, (symbol) => symbol],
    ['no order', () => null, (symbol) => symbol],
    ['a symbol that nobody knows', ([first = '']) => first, () => 'N/A'],
  ]
  test.each(named)('a cancellation that names %s takes its execution back', async (_, nameOf, symbolOf) => {
    const { symbol, order, accountId, held, cash, orders } = await scene()
    const signal = await order('1', '6', { limit: '50' })
    await world.drain()
    const ids = async () =>
      (
        await db.read.rows<{ id: string }>`
          select client_order_id as id from paper_order where account_id = ${accountId} order by id`
      ).map(({ id }) => id)
    const [clientOrderId = ''] = await ids()
    const execution = { brokerId, accountId, clientOrderId, symbol, side: '1', px: dec(50) } as const
    const execId = await paper.controls.execution(ctx, { ...execution, quantity: dec(2) })
    await world.drain()
    await endSignal(db.write, signal, '5', instant(world.clock.time))
    await order('1', '6', { limit: '51', replaces: signal })
    await world.drain()
    expect((await orders()).map(({ status, cumQty }) => [status, cumQty])).toEqual([
      ['5', 2],
      ['1', 2],
    ])
    await paper.controls.bust(ctx, execId)
    await db.write.run`
      update paper_report set client_order_id = ${nameOf(await ids())}, symbol = ${symbolOf(symbol)}
      where account_id = ${accountId} and kind = 'bust'`
    await world.drain()
    expect(await held()).toBe(0)
    expect(await cash()).toBe(100_000)
    expect((await orders()).map(({ status, cumQty }) => [status, cumQty])).toEqual([
      ['5', 0],
      ['0', 0],
    ])
    expect(await accountViolations(world)).toEqual([])
  })

  test('charge the plan of the platform', async () => {
    const charged = { ...ctx, settings: { ...ctx.settings, commissionPlan: 'default' as const } }
    const { symbol, order, cash } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    for (const step of [...world.steps, ...world.steps]) await step.run(charged)
    expect(await cash()).toBe(100_000 - 600 - 0.06)
  })
})

describe('a stopped setup', () => {
  test('is closed at market once its copies are gone', async () => {
    const { symbol, order, orders, held, setupId } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await order('1', '2', { limit: '90' })
    await world.drain()
    await leaveStrategy(db, setupId)
    await world.drain()
    expect(await held()).toBe(0)
    expect(await orders()).toMatchObject([
      { status: '2', cumQty: 6 },
      { status: '4', cumQty: 0 },
      { status: '2', cumQty: 6, positionEffect: 'C', ordType: '1' },
    ])
    const { isClosed } = await db.read.one<{ isClosed: boolean }>`
      select closed_at is not null as "isClosed" from setup where id = ${setupId}`
    expect(isClosed).toBe(true)
  })

  test('keeps its positions where the owner wants that', async () => {
    const { symbol, order, orders, held, setupId } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    await leaveStrategy(db, setupId, true)
    await order('2', '6')
    await world.drain()
    expect(await held()).toBe(6)
    expect(await orders()).toHaveLength(1)
  })

  test('a closing order that the broker refuses is not tried again', async () => {
    const { symbol, order, orders, setupId, accountId } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    paper.controls.reject(accountId, 'halted')
    await leaveStrategy(db, setupId)
    await world.drain()
    expect((await orders()).map(({ status }) => status)).toEqual(['2', '8'])
  })

  test('that waits for its holder keeps no other waiting', async () => {
    const [refused, next] = [await scene(), await scene()]
    for (const { symbol, order } of [refused, next]) {
      await world.quote(symbol, '99', '100')
      await order('1', '6')
    }
    await world.drain()
    paper.controls.reject(refused.accountId, 'halted')
    await leaveStrategy(db, refused.setupId)
    await world.drain()
    await leaveStrategy(db, next.setupId)
    expect(await db.transaction((tx) => claimClosingSetups(tx, everybody, 1))).toEqual([next.setupId])
  })
})

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})

test.each([
  ['taken back', '2024-03-15', null, 40, 23.5],
  ['corrected', '2024-03-18', { quantity: '50', px: '46' }, 140, 23.142857142857],
] as const)(
  'an execution is %s after a split that its order has lived through',
  async (_, day, right, units, px) => {
    const { accountId, symbol, order, orders, held, cash } = await scene()
    await db.write.run`update account set is_sync_enabled = false where id = ${accountId}`
    await order('1', '300', { limit: '50' })
    await world.drain()
    const { clientOrderId } = await db.read.one<{ clientOrderId: string }>`
    select client_order_id as "clientOrderId" from paper_order where account_id = ${accountId}`
    const about = { brokerId, accountId, clientOrderId, symbol } as const
    const fill = (quantity: number, at: number): Promise<string> =>
      paper.controls.execution(ctx, { ...about, side: '1', quantity: dec(quantity), px: dec(at) })
    const execId = await fill(100, 48)
    await fill(20, 47)
    await world.drain()
    await world.quote(symbol, '60', '60')
    await enterActions(ctx, [{ kind: 'split', symbol, day, new: dec(2), old: dec(1) }])
    world.clock.time = Date.parse(`${day}T14:00:00Z`)
    await bookActions(ctx)
    await world.drain()
    expect(await orders()).toMatchObject([{ orderQty: 600, cumQty: 240 }])
    if (right) {
      const news = { ...about, occurredAt: world.clock.time, text: null }
      await insertReports(db.write, [
        { ...news, kind: 'bust', reportKey: correctionKey('right'), text: execId },
        { ...news, kind: 'fill', reportKey: 'right', side: '1', ...right },
      ])
      await db.write.run`update paper_order set cum_qty = cum_qty - 50 where account_id = ${accountId}`
    } else await paper.controls.bust(ctx, execId)
    await world.drain()
    const spent = right ? 20 * 47 + 50 * 46 : 20 * 47
    expect(await orders()).toMatchObject([{ status: '1', orderQty: 600, cumQty: units, avgPx: px }])
    expect([await held(), await cash()]).toEqual([units, 100_000 - spent])
    expect(await accountViolations(world)).toEqual([])
  },
)
