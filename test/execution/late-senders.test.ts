/** Senders that come too late: another may be at work on their orders before the broker has answered. */
import { expect, test, vi } from 'vitest'
import { claimSends } from '../../src/execution/mirror/claims.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { claimLease, LeaseLost, releaseLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'
import { leaveStrategy } from '../support/followers.ts'
import { readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, scene, mirror, accepted, expireClaims, spy } = world

test('claimed, and heard of it too late: another may hold the lease before the broker has answered', async () => {
  const { setupIds, setupId, buy } = await scene()
  await buy()
  await mirror()
  // Past its grace, which is for brokers that cannot be reached.
  world.clock.time += 30_000
  const steady = performance.now.bind(performance)
  let asleep = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => steady() + asleep)
  const transaction: typeof db.transaction = async (work, options) => {
    const done = await db.transaction(work, options)
    asleep = 4_500
    return done
  }
  const { broker, placed } = spy()
  await sendOrders({ ...ctx, db: { ...db, transaction } }, 'paper', broker)
  clock.mockRestore()
  expect(placed).toEqual([])
  expect(await readOrders(world, setupId)).toMatchObject([{ status: 'A', attempts: 0, unknownAt: null }])
  await expireClaims()
  await sendOrders(ctx, 'paper', broker)
  expect(placed).toHaveLength(1)
  await world.drain()
  expect(await accepted(setupIds)).toBe(1)
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4, attempts: 1 }])
})

test('given up while its call is under way: nobody asks for it, or withdraws it, before it can have arrived', async () => {
  const { setupIds, setupId, buy } = await scene()
  await buy()
  await mirror()
  let arrive = (): void => undefined
  const arrival = new Promise<void>((resolve) => {
    arrive = resolve
  })
  const slow = spy((calls) => ({
    place: async (own, brokerId, tickets, until) => {
      await arrival
      return calls.place(own, brokerId, tickets, until)
    },
  }))
  const sending = sendOrders(ctx, 'paper', slow.broker)
  await vi.waitFor(() => expect(slow.placed).toHaveLength(1))
  await leaveStrategy(db, setupId, true)
  await sending
  // A second and a bit later; the usual pause before asking is one.
  await db.write.run`update account_order set claimed_until = claimed_until - interval '1.2 seconds'`
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '6', pendingAction: 'cancel' }])
  arrive()
  await vi.waitFor(async () => expect(await accepted(setupIds)).toBe(1))
  await expireClaims()
  await world.drain()
  expect(await readOrders(world, setupId)).toMatchObject([{ status: expect.stringMatching(/[24]/) }])
  expect(await accepted(setupIds)).toBe(1)
})

test('paused in the middle of its call: what others were told is not there does not come after all', async () => {
  const { setupIds, setupId, buy } = await scene()
  await buy()
  await mirror()
  const steady = performance.now.bind(performance)
  let asleep = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => steady() + asleep)
  const { read } = ctx.db
  // What is read last before the order is written is answered when the process goes on, a minute later.
  const rows: typeof read.rows = async (...query) => {
    const answer = await read.rows(...(query as Parameters<typeof read.rows>))
    asleep = 60_000
    await leaveStrategy(db, setupId, true)
    await expireClaims()
    await world.drain()
    return answer as never
  }
  const { broker, placed } = spy((calls) => ({
    place: (own, brokerId, tickets, until) =>
      calls.place({ ...own, db: { ...own.db, read: { ...read, rows } } }, brokerId, tickets, until),
  }))
  await sendOrders(ctx, 'paper', broker)
  clock.mockRestore()
  await world.drain()
  expect(placed).toHaveLength(1)
  expect(await accepted(setupIds)).toBe(0)
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', cumQty: 0, pendingAction: null }])
})

test('begun at the last moment: what the paper broker writes has ended before another may ask for the order', async () => {
  const { setupIds, buy } = await scene()
  await buy()
  await mirror()
  const limits: number[] = []
  const transaction: typeof db.transaction = (work, options) =>
    db.transaction(async (tx) => {
      const done = await work(tx)
      const { limit } = await tx.one<{ limit: number }>`
        select (extract(epoch from current_setting('statement_timeout')::interval) * 1000)::float8 as limit`
      limits.push(limit)
      return done
    }, options)
  let between = 0
  const { broker } = spy((calls) => ({
    place: async (own, brokerId, tickets, until) => {
      const { claimed } = await db.read.one<{ claimed: number }>`
        select (extract(epoch from min(claimed_until) - clock_timestamp()) * 1000)::float8 as claimed
        from account_order where claimed_until is not null`
      between = claimed - (until - performance.now())
      return calls.place({ ...own, db: { ...own.db, transaction } }, brokerId, tickets, until)
    },
  }))
  await sendOrders(ctx, 'paper', broker)
  expect(await accepted(setupIds)).toBe(1)
  expect(limits).toHaveLength(1)
  expect(limits[0]).toBeLessThan(between)
})

test('claimed by a sender that is gone: left alone while its claim runs, whoever else is sent for', async () => {
  const { brokerId, setupIds, buy } = await scene(2)
  await buy()
  await mirror()
  const lease = (await claimLease(db.write, `send:${brokerId}`, 'gone', 60_000))!
  const { claimed } = await claimSends(ctx, lease, brokerId, 1, { after: 0, served: new Set() })
  await releaseLease(db.write, lease)
  const { broker, placed } = spy()
  await sendOrders(ctx, 'paper', broker)
  expect(claimed.map(({ setupId }) => setupId)).toEqual([setupIds[0]])
  expect(placed).toHaveLength(1)
  expect(await readOrders(world, setupIds[0]!)).toMatchObject([{ attempts: 1, pendingAction: 'new' }])
  await expireClaims()
  await sendOrders(ctx, 'paper', broker)
  expect(placed).toHaveLength(2)
  expect(await accepted(setupIds)).toBe(2)
})

/** Has another take the lease of a broker's sender, as it ran out unnoticed. */
async function takeLease(brokerId: number): Promise<void> {
  await db.write.run`update lease set expires_at = clock_timestamp() where name = ${`send:${brokerId}`}`
  await claimLease(db.write, `send:${brokerId}`, 'next', 60_000)
}

test('whoever has lost the lease claims nothing', async () => {
  const { brokerId, setupId, buy } = await scene()
  await buy()
  await mirror()
  const lease = (await claimLease(db.write, `send:${brokerId}`, 'late', 60_000))!
  await takeLease(brokerId)
  await expect(claimSends(ctx, lease, brokerId, 10, { after: 0, served: new Set() })).rejects.toThrow(
    LeaseLost,
  )
  expect(await readOrders(world, setupId)).toMatchObject([{ attempts: 0, pendingAction: 'new' }])
})

test('nor writes what came of its calls: the next one asks the broker', async () => {
  const { brokerId, setupIds, setupId, buy } = await scene()
  await buy()
  await mirror()
  const late = spy((calls) => ({
    place: async (own, id, tickets, until) => {
      await calls.place(own, id, tickets, until)
      await takeLease(brokerId)
      return [{ answer: 'rejected', text: 'said to nobody' }]
    },
  }))
  await expect(sendOrders(ctx, 'paper', late.broker)).rejects.toThrow(LeaseLost)
  expect(await readOrders(world, setupId)).toMatchObject([{ attempts: 1, pendingAction: 'new' }])
  await db.write.run`delete from lease where name = ${`send:${brokerId}`}`
  await expireClaims()
  await world.drain()
  expect(late.placed).toHaveLength(1)
  expect(await accepted(setupIds)).toBe(1)
  expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4 }])
})
