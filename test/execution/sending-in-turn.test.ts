/** Accounts that have many orders to send do not keep those of others waiting: each has its turn. */
import { expect, test, vi } from 'vitest'
import { parseClientOrderId } from '../../src/domain/orders/client-order-id.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { claimLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'
import { holdLocks } from '../support/locks.ts'
import { readOrders } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, scene, mirror, spy } = world

/** More than one claim takes. */
const accounts = 250

test('the first order of every account goes out before the second of any', async () => {
  const { buy } = await scene(accounts)
  await buy('4', '50')
  await mirror()
  await buy('4', '51')
  await mirror()
  const { broker, placed } = spy()
  await sendOrders(ctx, 'paper', broker)
  const sent = placed.map((name) => name.split('-S')[0])
  expect(sent).toHaveLength(2 * accounts)
  expect(new Set(sent.slice(0, accounts)).size).toBe(accounts)
})

/** Keeps the accounts of these setups from being sent for. */
const holdAccounts = (setupIds: readonly number[]) =>
  holdLocks(
    db,
    (tx) =>
      tx.run`select from account where id in (select account_id from setup where id = any(${setupIds}::bigint[]))
        order by id for update`,
  )

test('an account that is held by others keeps nobody waiting who comes after it', async () => {
  const { buy, setupIds } = await scene(accounts)
  await buy('4', '50')
  await mirror()
  await buy('4', '51')
  await mirror()
  const { broker, placed } = spy()
  const release = await holdAccounts(setupIds.slice(0, 1))
  await sendOrders(ctx, 'paper', broker)
  await release()
  const sent = placed.map((name) => name.split('-S')[0])
  expect(sent).toHaveLength(2 * (accounts - 1))
  expect(new Set(sent.slice(0, accounts - 1)).size).toBe(accounts - 1)
})

test('nor do as many as one claim takes, and each is sent for once it is free', async () => {
  const { buy, setupIds } = await scene(accounts)
  await buy('4', '50')
  await mirror()
  const { broker, placed } = spy()
  const held = 200
  const release = await holdAccounts(setupIds.slice(0, held))
  await sendOrders(ctx, 'paper', broker)
  await release()
  expect(placed).toHaveLength(accounts - held)
  await sendOrders(ctx, 'paper', broker)
  expect(placed).toHaveLength(accounts)
})

test('nor does an order of which nobody knows whether it arrived hold back the later ones of its account', async () => {
  const { buy } = await scene()
  await buy('4', '50')
  await mirror()
  await buy('4', '51')
  await mirror()
  const lost = spy((calls) => ({
    place: (own, brokerId, tickets, until) =>
      tickets.some(({ limitPx }) => Number(limitPx) === 50)
        ? Promise.reject(new Error('time-out'))
        : calls.place(own, brokerId, tickets, until),
  }))
  await sendOrders(ctx, 'paper', lost.broker)
  expect(lost.placed).toHaveLength(2)
})

/** A gate that calls may wait at. */
function gate() {
  let open: () => void = () => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open, opened }
}

test('a broker that takes its time keeps no other of its adapter waiting, nor what comes for that meanwhile', async () => {
  const [slow, other] = [await scene(accounts), await scene()]
  await slow.buy()
  await other.buy('4', '50')
  await mirror()
  const { open, opened } = gate()
  const { broker, placed } = spy((calls) => ({
    place: async (own, brokerId, tickets, until) => {
      if (brokerId === slow.brokerId) await opened
      return calls.place(own, brokerId, tickets, until)
    },
  }))
  const ofOther = (): number =>
    placed.filter((name) => parseClientOrderId(name)?.setupId === other.setupId).length
  const sending = sendOrders(ctx, 'paper', broker)
  await expect.poll(ofOther).toBe(1)
  await other.buy('4', '51')
  await mirror()
  await expect.poll(ofOther).toBe(2)
  open()
  await sending
  expect(await world.accepted(slow.setupIds)).toBe(accounts)
})

test('nor does one that fails, which is told once all are served', async () => {
  const [failing, other] = [await scene(), await scene()]
  await failing.buy()
  await other.buy()
  await mirror()
  await db.transaction((tx) =>
    tx.script(`create function refuse() returns trigger language plpgsql as
        'begin raise exception ''no claim here''; end';
      create trigger refuse before update on account_order for each row
        when (new.broker_id = ${failing.brokerId}) execute function refuse()`),
  )
  const { broker } = spy()
  await expect(sendOrders(ctx, 'paper', broker)).rejects.toThrow('no claim here')
  expect(await world.accepted([...failing.setupIds, ...other.setupIds])).toBe(1)
  await db.write.run`drop trigger refuse on account_order`
  await sendOrders(ctx, 'paper', broker)
  expect(await world.accepted(failing.setupIds)).toBe(1)
})

/** Which accounts' orders are written down as accepted. */
const answered = async (setupIds: readonly number[]): Promise<number> =>
  (
    await db.read.one<{ count: number }>`
      select count(*)::int as count from account_order
      where setup_id = any(${setupIds}::bigint[]) and pending_action is null and attempts > 0`
  ).count

test('nor does one that is asked for: what others send goes out and is answered while its broker says nothing of it', async () => {
  const { buy, setupIds } = await scene(2)
  await buy('4', '50')
  await mirror()
  await db.write.run`
    update account_order set attempts = 1, unknown_at = now() where setup_id = ${setupIds[0]}`
  const { open, opened } = gate()
  const { broker } = spy((calls) => ({
    limits: { batch: 200, concurrency: 2 },
    find: async (...question) => {
      await opened
      return calls.find(...question)
    },
  }))
  const sending = sendOrders(ctx, 'paper', broker)
  await expect.poll(() => answered(setupIds.slice(1))).toBe(1)
  await buy('4', '51')
  await mirror()
  await expect.poll(() => answered(setupIds.slice(1))).toBe(2)
  expect(await answered(setupIds.slice(0, 1))).toBe(0)
  open()
  await sending
  expect(await world.accepted(setupIds)).toBe(3)
})

test('nor does a call that takes its time: the broker has room for others', async () => {
  const { buy, setupIds } = await scene(3)
  await buy('4', '50')
  await mirror()
  const { open, opened } = gate()
  let calls = 0
  const { broker, placed } = spy((own) => ({
    limits: { batch: 2, concurrency: 3 },
    place: async (...order) => {
      calls += 1
      if (calls === 1) await opened
      return own.place(...order)
    },
  }))
  const sending = sendOrders(ctx, 'paper', broker)
  await expect.poll(() => answered(setupIds)).toBe(1)
  await buy('4', '51')
  await mirror()
  await expect.poll(() => answered(setupIds)).toBe(2)
  expect(placed).toHaveLength(4)
  open()
  await sending
  expect(new Set(placed).size).toBe(6)
  expect(await world.accepted(setupIds)).toBe(6)
})

/** A broker that is there, but can send nothing for anybody. */
const unable = () => spy(() => ({ place: async (_ctx, _id, all) => all.map(() => ({ answer: 'unsent' })) }))

test('what its broker could not send rests for a moment and goes out within its grace, known as not sent', async () => {
  const { buy, setupId, setupIds } = await scene()
  await buy()
  await mirror()
  const { broker, placed } = unable()
  await sendOrders(ctx, 'paper', broker)
  expect(placed).toHaveLength(1)
  expect(await readOrders(world, setupId)).toMatchObject([{ status: 'A', attempts: 0, unknownAt: null }])
  await world.expireClaims()
  await world.drain()
  expect(await world.accepted(setupIds)).toBe(1)
})

test('after its grace it is given up, and AutoSync sees to the account', async () => {
  const { buy, setupId, setupIds } = await scene()
  await buy()
  await mirror()
  const { broker } = unable()
  await sendOrders(ctx, 'paper', broker)
  world.clock.time += 30_000
  await world.expireClaims()
  await sendOrders(ctx, 'paper', broker)
  expect(await readOrders(world, setupId)).toMatchObject([
    { status: '4', attempts: 0, info: 'broker not reachable' },
  ])
  expect(await world.accepted(setupIds)).toBe(0)
})

test('so is what waits behind an order that is not given up: it would go out with that one, however late', async () => {
  const { buy, setupId, setupIds } = await scene()
  await buy('4', '50')
  await mirror()
  await buy('4', '51')
  await mirror()
  await db.write.run`
    update account_order set info = 'AutoSync' where setup_id = ${setupId} and limit_px = 50`
  const { broker } = unable()
  world.clock.time += 30_000
  await sendOrders(ctx, 'paper', broker)
  expect(await readOrders(world, setupId)).toMatchObject([
    { status: 'A', attempts: 0 },
    { status: '4', attempts: 0, info: 'broker not reachable' },
  ])
  await world.expireClaims()
  await sendOrders(ctx, 'paper', world.paper.broker)
  expect(await world.accepted(setupIds)).toBe(1)
})

test('one that its broker, after a long while, says it does not have goes out under a claim of its own', async () => {
  const { buy, setupId } = await scene()
  await buy('4', '50')
  await mirror()
  await db.write.run`update account_order set attempts = 1, unknown_at = now() where setup_id = ${setupId}`
  const steady = performance.now.bind(performance)
  let asleep = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => steady() + asleep)
  const { broker, placed } = spy(() => ({
    find: async () => {
      asleep = 4_500
      return [null]
    },
  }))
  await sendOrders(ctx, 'paper', broker)
  clock.mockRestore()
  expect(placed).toHaveLength(1)
  expect(await readOrders(world, setupId)).toMatchObject([{ attempts: 1, unknownAt: null }])
})

test('the later orders of its account wait for one that is asked for and goes out again', async () => {
  const { buy, setupId } = await scene()
  await buy('4', '50')
  await mirror()
  await buy('4', '51')
  await mirror()
  await db.write.run`
    update account_order set attempts = 1, unknown_at = now() where setup_id = ${setupId} and limit_px = 50`
  const { open, opened } = gate()
  const { broker, placed } = spy((calls) => ({
    limits: { batch: 200, concurrency: 2 },
    find: async (...question) => {
      await opened
      return calls.find(...question)
    },
  }))
  let claims = 0
  const transaction: typeof db.transaction = (work) => {
    claims += 1
    return db.transaction(work)
  }
  const sending = sendOrders({ ...ctx, db: { ...db, transaction } }, 'paper', broker)
  await expect.poll(() => claims).toBeGreaterThan(3)
  open()
  await sending
  const sent = placed.flatMap((name) => {
    const key = parseClientOrderId(name)
    return key?.setupId === setupId ? [key.sourceId] : []
  })
  expect(sent).toHaveLength(2)
  expect(sent[0]).toBeLessThan(sent[1] ?? 0)
})

test('a claim that fails ends what it can: the lease is given back once no call is under way', async () => {
  const { brokerId, buy, setupIds } = await scene(2)
  await buy('4', '50')
  await mirror()
  const { open, opened } = gate()
  const { broker, placed } = spy((calls) => ({
    limits: { batch: 1, concurrency: 3 },
    place: async (...order) => {
      await opened
      return calls.place(...order)
    },
  }))
  let failed = 0
  const transaction: typeof db.transaction = (work) => {
    if (placed.length < 2 || failed > 0) return db.transaction(work)
    failed += 1
    return Promise.reject(new Error('no claim now'))
  }
  const sending = sendOrders({ ...ctx, db: { ...db, transaction } }, 'paper', broker)
  const outcome = expect(sending).rejects.toThrow('no claim now')
  await expect.poll(() => failed).toBe(1)
  const isHeld = async (): Promise<boolean> =>
    (await claimLease(db.write, `send:${brokerId}`, 'another', 1_000)) === undefined
  expect(await answered(setupIds)).toBe(0)
  expect(await isHeld()).toBe(true)
  open()
  await outcome
  expect(await answered(setupIds)).toBe(2)
})
