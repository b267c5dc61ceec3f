/**
 * A holder cancels an order whose replacement is under way and unanswered, at the paper broker and at Alpaca: neither of
 * both goes on, each ends once, and what was executed is booked once.
 */
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { applyReports } from '../../src/execution/reports/reports.ts'
import { insertReports } from '../../src/storage/brokers/report-intake.ts'
import type { Fault } from '../support/alpaca-stand-in.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld } from './account-world.ts'
import { makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'
import { cancelByHolder } from './holder-cancels.ts'
import { endSignal } from './world.ts'

const { db } = await testDatabase()
const expireClaims = () => db.write.run`update account_order set claimed_until = null`
const isoOf = (time: number): string => new Date(time).toISOString()
const leaveAlone = (accountId: number) =>
  db.write.run`update account set is_sync_enabled = false where id = ${accountId}`

describe('at the paper broker', async () => {
  const world = makeAccountWorld(db)
  const { ctx, clock, paper } = world
  const scene = makeScene(world, await addBroker(db))

  /** A copy of 10 whose replacement the broker has, of which 3 are executed before and 2 after it. */
  async function unanswered() {
    const one = await scene()
    const { accountId, setupId, symbol, order } = one
    await leaveAlone(accountId)
    await world.quote(symbol, '60', '60')
    const signal = await order('1', '10', { limit: '50' })
    await world.drain()
    const fill = async (quantity: string): Promise<void> => {
      const { id, brokerId } = await db.read.one<{ id: string; brokerId: number }>`
        select client_order_id as id, broker_id as "brokerId" from paper_order
        where account_id = ${accountId} and status in ('0', '1')`
      const terms = { accountId, brokerId, clientOrderId: id, symbol, side: '1', px: dec(50) } as const
      await paper.controls.execution(ctx, { ...terms, quantity: dec(quantity) })
    }
    paper.controls.hold(true)
    await fill('3')
    await endSignal(db.write, signal, '5', isoOf(clock.time))
    await order('1', '10', { limit: '51', replaces: signal })
    await world.drain()
    await fill('2')
    return { ...one, cancel: (place: number) => cancelByHolder(db, { setupId, at: clock.time }, place) }
  }

  test.each([
    ['order', 0],
    ['replacement', 1],
  ])('neither goes on when he cancels the %s', async (_, place) => {
    const { accountId, orders, held, cancel } = await unanswered()
    expect(await orders()).toMatchObject([{ status: 'E' }, { status: 'A', attempts: 1 }])
    await cancel(place)
    await world.drain()
    paper.controls.hold(false)
    await expireClaims()
    await world.drain()
    expect(await orders()).toMatchObject([
      { status: '5', cumQty: 3, pendingAction: null },
      { status: '4', cumQty: 5, pendingAction: null },
    ])
    expect(await held()).toBe(5)
    expect((await paper.broker.snapshot(ctx, [accountId]))[0]?.working).toEqual([])
    expect(await accountViolations(world)).toEqual([])
  })

  const refuse = async (
    one: { accountId: number; symbol: string },
    kind: 'cancelReject' | 'cancelUnknown' = 'cancelReject',
  ): Promise<void> => {
    const { id, brokerId } = await db.read.one<{ id: string; brokerId: number }>`
      select client_order_id as id, broker_id as "brokerId" from paper_order where account_id = ${one.accountId}
      order by id limit 1`
    const about = { accountId: one.accountId, symbol: one.symbol, brokerId, clientOrderId: id, text: null }
    await insertReports(db.write, [{ ...about, kind, reportKey: `no:${clock.time}`, occurredAt: clock.time }])
  }

  test('the broker is asked less and less often while it says no', async () => {
    const one = await unanswered()
    const { setupId, orders, cancel } = one
    await cancel(0)
    // The broker has taken the request and refuses it by itself.
    await db.write.run`update account_order set attempts = 6, pending_action = null
      where setup_id = ${setupId} and status = '6'`
    await refuse(one)
    await applyReports(ctx)
    paper.controls.hold(false)
    expect(await orders()).toMatchObject([{ status: '6', pendingAction: 'cancel' }, { status: 'A' }])
    const { seconds } = await db.read.one<{ seconds: number }>`
      select extract(epoch from claimed_until - unknown_at)::float8 as seconds from account_order
      where setup_id = ${setupId} and status = '6'`
    expect(seconds).toBeCloseTo(16, 1)
  })

  test('a broker that has replaced the order may not know it any more', async () => {
    const one = await unanswered()
    await one.cancel(0)
    await db.write.run`update account_order set pending_action = null
      where setup_id = ${one.setupId} and status = '6'`
    await refuse(one, 'cancelUnknown')
    await applyReports(ctx)
    expect(await one.orders()).toMatchObject([{ status: '6', pendingAction: 'cancel' }, { status: 'A' }])
    paper.controls.hold(false)
    await expireClaims()
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '4', cumQty: 5 }])
    expect((await paper.broker.snapshot(ctx, [one.accountId]))[0]?.working).toEqual([])
  })

  test('a replacement that the broker has not heard of does not keep it from refusing', async () => {
    const one = await scene()
    await leaveAlone(one.accountId)
    await world.quote(one.symbol, '60', '60')
    const signal = await one.order('1', '10', { limit: '50' })
    await world.drain()
    await db.write.run`update account_order set status = '6' where setup_id = ${one.setupId}`
    await endSignal(db.write, signal, '5', isoOf(clock.time))
    await one.order('1', '10', { limit: '51', replaces: signal })
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: '6' }, { status: 'A', attempts: 0 }])
    await refuse(one)
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: '5' }, { status: '0', pendingAction: null }])
    expect(await accountViolations(world)).toEqual([])
  })
})

describe('at Alpaca', async () => {
  const world = await makeAlpacaWorld(db)
  const { alpaca } = world
  afterEach(() => {
    alpaca.fault = () => undefined
  })
  afterAll(() => world.close())

  test.each<[string, Fault, number]>([
    ['that never arrived', 'error', 0],
    ['that never arrived', 'error', 1],
    ['whose answer was lost', 'drop', 0],
    ['whose answer was lost', 'drop', 1],
  ])('neither goes on beside a replacement %s (%s), when he cancels number %i', async (_, fault, place) => {
    const one = await makeAlpacaScene(world)
    const { accountId, setupId } = one
    await leaveAlone(accountId)
    const signal = await one.order('1', '10', { limit: '50' })
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
    one.fill(3, 50)
    await world.until(async () => expect(await one.held()).toBe(3))
    alpaca.fault = (verb) => (verb === 'PATCH' ? fault : undefined)
    await endSignal(db.write, signal, '5', isoOf(world.clock.time))
    await one.order('1', '10', { limit: '51', replaces: signal })
    await world.drain()
    alpaca.fault = () => undefined
    await cancelByHolder(db, { setupId, at: world.clock.time }, place)
    await world.until(async () => {
      // What Alpaca says of an order that is being replaced is believed once it has lasted a minute.
      world.clock.time += 60_001
      await world.askAgain()
      expect((await one.orders()).map(({ status }) => status)).toEqual([expect.stringMatching(/[45]/), '4'])
    })
    expect(one.theirs().filter(({ status }) => !['canceled', 'replaced'].includes(status))).toEqual([])
    expect([await one.held(), one.holdings()]).toEqual([3, 3])
    expect((await one.orders()).map(({ pendingAction }) => pendingAction)).toEqual([null, null])
  })
})
