/** Holders who confirm orders first: nothing of theirs leaves unasked, and what they do not confirm ends. */
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { lockAccounts } from '../../src/storage/accounts/accounts.ts'
import {
  confirmOrder,
  declineOrder,
  listWaitingOrders,
} from '../../src/storage/mirror/order-confirmations.ts'
import { markSetups, settleSyncs } from '../../src/storage/mirror/sync-due.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, leaveStrategy } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld, readBroker } from './account-world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const scene = makeScene(world, await addBroker(db))
const minute = 60_000

/** A follower who is asked, and a first order of the strategy. */
async function asked(limit?: string) {
  const one = await scene()
  await db.write.run`update setup set is_confirmation_needed = true where id = ${one.setupId}`
  await world.quote(one.symbol, '99', '100')
  await one.order('1', '4', limit ? { limit } : {})
  await world.drain()
  const [order] = await one.orders()
  const waiting = async () =>
    (await listWaitingOrders(db.read, world.clock.time)).filter(
      ({ accountId }) => accountId === one.accountId,
    )
  return { ...one, id: order?.id ?? 0, waiting }
}

const decline = (id: number) => db.transaction((tx) => declineOrder(tx, id, world.clock.time))
const atBroker = (one: { setupId: number; symbol: string }) => readBroker(world, one.setupId, one.symbol)

describe('an order whose holder is asked', () => {
  test('waits unsent and says until when', async () => {
    const one = await asked()
    expect(await one.orders()).toMatchObject([
      { status: 'A', attempts: 0, pendingAction: 'new', orderQty: 4 },
    ])
    expect(await one.waiting()).toMatchObject([
      { id: one.id, symbol: one.symbol, side: '1', confirmBy: world.clock.time + 10 * minute },
    ])
    expect(await atBroker(one)).toBe(0)
  })

  test('is sent and filled after a yes', async () => {
    const one = await asked()
    world.clock.time += 9 * minute
    expect(await confirmOrder(db.write, one.id, world.clock.time)).toBe(true)
    await world.drain()
    await world.quote(one.symbol, '100', '101')
    expect(await one.orders()).toMatchObject([{ status: '2', cumQty: 4 }])
    expect([await one.held(), await atBroker(one)]).toEqual([4, 4])
    expect(await one.waiting()).toEqual([])
    expect(await confirmOrder(db.write, one.id, world.clock.time)).toBe(false)
  })

  test('leaves what it would close protected meanwhile', async () => {
    const one = await asked()
    await confirmOrder(db.write, one.id, world.clock.time)
    await world.drain()
    await world.quote(one.symbol, '100', '101')
    expect(await one.held()).toBe(4)
    await one.order('2', '4')
    await world.drain()
    expect(await one.waiting()).toMatchObject([{ side: '2' }])
    await db.write.run`
      update setup set auto_stop_loss_dollars = 100, changed_at = ${new Date(world.clock.time).toISOString()}::timestamptz
      where id = ${one.setupId}`
    await world.drain()
    const stops = await db.read.rows`
      select status from account_order where setup_id = ${one.setupId}::bigint and source = 'L'`
    expect(stops).toEqual([{ status: '0' }])
  })

  test('ends with its reason when nobody says anything for ten minutes', async () => {
    const one = await asked()
    world.clock.time += 10 * minute
    expect(await confirmOrder(db.write, one.id, world.clock.time)).toBe(false)
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: '4', info: 'not confirmed in time', attempts: 0 }])
    expect(await one.waiting()).toEqual([])
    world.clock.time += 5 * minute
    await world.quote(one.symbol, '99', '100')
    expect([await one.held(), await atBroker(one)]).toEqual([0, 0])
  })

  test('ends at a no', async () => {
    const one = await asked()
    expect(await decline(one.id)).toBe(true)
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: '4', info: 'declined by the account holder' }])
    expect(await confirmOrder(db.write, one.id, world.clock.time)).toBe(false)
    expect(await atBroker(one)).toBe(0)
  })

  test('ends with the setup: a late yes sends nothing', async () => {
    const one = await asked()
    await leaveStrategy(db, one.setupId)
    await world.drain()
    await confirmOrder(db.write, one.id, world.clock.time)
    await world.drain()
    expect((await one.orders()).map(({ status, attempts }) => [status, attempts])).toEqual([['4', 0]])
    expect(await atBroker(one)).toBe(0)
  })

  test('is asked for again for the way out', async () => {
    const one = await asked()
    await confirmOrder(db.write, one.id, world.clock.time)
    await world.drain()
    await world.quote(one.symbol, '100', '101')
    await one.order('2', '4')
    await world.drain()
    const [exit] = await one.waiting()
    expect(exit).toMatchObject({ side: '2', quantity: '4' })
    expect(await atBroker(one)).toBe(4)
    await confirmOrder(db.write, exit?.id ?? 0, world.clock.time)
    await world.drain()
    await world.quote(one.symbol, '100', '101')
    expect([await one.held(), await atBroker(one)]).toEqual([0, 0])
  })

  test.each([
    ['at a no', 0],
    ['when nobody says anything', 10],
  ])('ends a close %s, and is asked for it again a minute later', async (_, minutes) => {
    const one = await asked()
    await confirmOrder(db.write, one.id, world.clock.time)
    await world.drain()
    await world.quote(one.symbol, '100', '101')
    await one.order('2', '4', { limit: '110' })
    await world.drain()
    const [exit] = await one.waiting()
    world.clock.time += minutes * minute
    if (minutes === 0) await decline(exit?.id ?? 0)
    await world.drain()
    expect(await one.waiting()).toEqual([])
    world.clock.time += minute
    await world.drain()
    expect(await one.waiting()).toMatchObject([{ side: '2', quantity: '4', limitPx: '110' }])
  })

  test('is still looked at when it ends beside a cycle that has seen it waiting', async () => {
    const one = await asked()
    await markSetups(db.write, [one.setupId], world.clock.time)
    let declined: Promise<boolean> | undefined
    await db.transaction(async (tx) => {
      await lockAccounts(tx, [one.accountId])
      declined = decline(one.id)
      await Promise.race([declined, setTimeout(200)])
      await settleSyncs(tx, [one.setupId], [])
    })
    expect(await declined).toBe(true)
    const marks = await db.read.rows`select due_at as at from sync_due where setup_id = ${one.setupId}`
    expect(marks).toEqual([{ at: world.clock.time + minute }])
    await world.drain()
  })

  test('waits on while the link to its broker is down, and after a yes for a grace', async () => {
    const one = await asked()
    world.clock.time += minute
    world.paper.controls.down(true)
    await world.drain()
    expect(await one.waiting()).toMatchObject([{ id: one.id }])
    await confirmOrder(db.write, one.id, world.clock.time)
    world.clock.time += 29_000
    await world.drain()
    expect(await one.orders()).toMatchObject([{ status: 'A', pendingAction: 'new' }])
    world.clock.time += 1_000
    await world.drain()
    world.paper.controls.down(false)
    expect(await one.orders()).toMatchObject([{ status: '4', info: 'broker not reachable' }])
  })

  test('waits on while its broker is disabled, and after a yes no more', async () => {
    const one = await asked()
    const enable = (isEnabled: boolean) =>
      db.write.run`update broker set is_enabled = ${isEnabled} where id = (
        select broker_id from account where id = ${one.accountId})`
    await enable(false)
    await world.drain()
    expect(await one.waiting()).toMatchObject([{ id: one.id }])
    await confirmOrder(db.write, one.id, world.clock.time)
    await world.drain()
    await enable(true)
    expect(await one.orders()).toMatchObject([{ status: '4', info: 'broker disabled' }])
  })

  test('has not waited for its broker before a yes, also when it was turned to market meanwhile', async () => {
    const one = await asked('101')
    world.paper.controls.down(true)
    world.clock.time += 30_000
    await world.drain()
    expect(await one.orders()).toMatchObject([
      { status: '5', ordType: '2' },
      { status: 'A', ordType: '1', pendingAction: 'new' },
    ])
    world.paper.controls.down(false)
    await world.drain()
    expect(await one.waiting()).toMatchObject([{ quantity: '4', limitPx: null }])
  })

  test('holds up nobody: other orders of the account go out', async () => {
    const one = await asked()
    await db.write.run`update setup set is_confirmation_needed = false where id = ${one.setupId}`
    await one.order('1', '2')
    await world.drain()
    expect((await one.orders()).map(({ attempts }) => attempts)).toEqual([0, 1])
  })
})

test('no rule of the accounts is broken', async () => {
  expect(await accountViolations(world)).toEqual([])
})
