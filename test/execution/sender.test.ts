import { describe, expect, test } from 'vitest'
import { claimSends } from '../../src/execution/mirror/claims.ts'
import { sendOrders } from '../../src/execution/mirror/sender.ts'
import { claimLease, releaseLease } from '../../src/storage/work/leases.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testDatabase } from '../support/database.ts'
import { leaveStrategy } from '../support/followers.ts'
import { accountViolations, readBroker, readHeld, readOrders, readSkips } from './account-world.ts'
import { makeSenderWorld } from './sender-world.ts'
import { endSignal, place } from './world.ts'

const { db } = await testDatabase()
const world = makeSenderWorld(db)
const { ctx, paper, scene, mirror, accepted, expireClaims, spy } = world

describe('crash points', () => {
  test('claimed and never sent: the broker is asked, then it is sent once', async () => {
    const { brokerId, setupIds, setupId, buy } = await scene()
    await buy()
    await mirror()
    const lease = (await claimLease(db.write, `send:${brokerId}`, 'dead', 60_000))!
    expect(
      (await claimSends(ctx, lease, brokerId, 10, { after: 0, served: new Set() })).claimed,
    ).toHaveLength(1)
    await releaseLease(db.write, lease)
    const { broker, placed } = spy()
    expect(await sendOrders(ctx, 'paper', broker)).toBe(0)
    await expireClaims()
    // Its grace is for a broker that cannot be reached, and this one was there.
    world.clock.time += 30_000
    await sendOrders(ctx, 'paper', broker)
    expect(placed).toHaveLength(1)
    expect(await readOrders(world, setupId)).toMatchObject([{ attempts: 1, pendingAction: null }])
    await world.drain()
    expect(await accepted(setupIds)).toBe(1)
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4 }])
  })

  test('claimed, never sent and wanted no more: the broker does not know it and never gets it', async () => {
    const { brokerId, setupIds, setupId, buy, sell } = await scene()
    await buy()
    await mirror()
    const lease = (await claimLease(db.write, `send:${brokerId}`, 'dead', 60_000))!
    await claimSends(ctx, lease, brokerId, 10, { after: 0, served: new Set() })
    await releaseLease(db.write, lease)
    await world.drain()
    await sell()
    world.clock.time += 30_000
    await world.drain()
    await expireClaims()
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '4', cumQty: 0, pendingAction: null, info: 'left behind by its signal' },
    ])
    expect(await accepted(setupIds)).toBe(0)
  })

  test('sent, and died before the answer was written: nothing goes out a second time', async () => {
    const { setupIds, setupId, buy } = await scene()
    await buy()
    await mirror()
    const deaf = spy((calls) => ({
      place: async (own, brokerId, tickets, until) => {
        await calls.place(own, brokerId, tickets, until)
        throw new Error('killed after the broker had it')
      },
    }))
    await sendOrders(ctx, 'paper', deaf.broker)
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: 'A', pendingAction: 'new', attempts: 1 },
    ])
    await expireClaims()
    const next = spy()
    await sendOrders(ctx, 'paper', next.broker)
    expect(next.placed).toEqual([])
    await world.drain()
    expect(await accepted(setupIds)).toBe(1)
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4 }])
  })

  test('a broker that cannot be asked leaves the order unknown and opens nothing more there', async () => {
    const { setupId, buy } = await scene()
    await buy()
    await mirror()
    const silent = spy(() => ({
      place: () => Promise.reject(new Error('time-out')),
      find: () => Promise.reject(new Error('time-out')),
    }))
    await sendOrders(ctx, 'paper', silent.broker)
    await expireClaims()
    await sendOrders(ctx, 'paper', silent.broker)
    const since = world.clock.now()
    world.clock.time += 1000
    await expireClaims()
    await sendOrders(ctx, 'paper', silent.broker)
    expect(await readOrders(world, setupId)).toMatchObject([{ unknownAt: since }])
    expect(silent.placed).toHaveLength(1)
    const second = await buy()
    await mirror()
    expect(await readSkips(world, second)).toEqual([{ setupId, code: 'UnknownOutcomePending' }])
    await expireClaims()
    await world.drain()
    const third = await buy()
    await world.drain()
    expect(await readSkips(world, third)).toEqual([])
    expect(await readOrders(world, setupId)).toMatchObject([{ cumQty: 4 }, { cumQty: 4 }])
  })

  test('two workers on 1,000 followers send each order once', async () => {
    const { setupIds, instrumentId, symbol, buy } = await scene(1_000)
    await buy()
    await mirror()
    const first = spy()
    const second = spy()
    const other = { ...ctx, workerId: 'w2' }
    await Promise.all([sendOrders(ctx, 'paper', first.broker), sendOrders(other, 'paper', second.broker)])
    await Promise.all([sendOrders(ctx, 'paper', first.broker), sendOrders(other, 'paper', second.broker)])
    const placed = [...first.placed, ...second.placed]
    expect(placed).toHaveLength(1_000)
    expect(new Set(placed).size).toBe(1_000)
    await Promise.all(world.steps.flatMap((step) => [step.run(ctx), step.run(other)]))
    await world.drain()
    const { held } = await db.read.one<{ held: number }>`
      select sum(quantity)::float8 as held from account_position where instrument_id = ${instrumentId}`
    expect(held).toBe(4_000)
    expect(await readBroker(world, setupIds[999] ?? 0, symbol)).toBe(4)
  })
})

describe('an opening order', () => {
  test('is not sent after its setup has stopped, closing orders are', async () => {
    const { setupIds, setupId, buy } = await scene()
    await buy('4', '90')
    await mirror()
    await leaveStrategy(db, setupId)
    await world.drain()
    expect(await accepted(setupIds)).toBe(0)
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', attempts: 0 }])
  })

  test('is not sent under an older fence, whatever the order row says', async () => {
    const { setupIds, setupId, buy } = await scene()
    await buy()
    await mirror()
    await db.write.run`update setup set fence = fence + 1 where id = ${setupId}`
    await world.drain()
    expect(await accepted(setupIds)).toBe(0)
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', info: 'autotrade stopped' }])
  })

  test('is not sent into a disabled account', async () => {
    const { setupIds, setupId, buy } = await scene()
    await buy()
    await mirror()
    await db.write.run`
      update account set is_autotrade_disabled = true where id = (select account_id from setup where id = ${setupId})`
    await world.drain()
    expect(await accepted(setupIds)).toBe(0)
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', info: 'autotrade disabled' }])
  })

  test('is not sent while nobody opens anything, what closes is', async () => {
    const { setupIds, setupId, instrumentId, buy, sell } = await scene()
    await buy()
    await world.drain()
    expect(await readHeld(world, setupId, instrumentId)).toBe(4)
    await buy('2')
    await mirror()
    await sell('1')
    await mirror()
    await setSwitch(db.write, 'noOpeningOrders', true, ctx.clock.now())
    await world.drain()
    await setSwitch(db.write, 'noOpeningOrders', false, ctx.clock.now())
    expect(await accepted(setupIds)).toBe(2)
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: '2' },
      { status: '4', info: 'no opening orders' },
      { positionEffect: 'C', status: '2' },
    ])
  })

  test('that works already follows its signal to another price while nobody opens anything', async () => {
    const { strategyId, setupId, instrumentId, buy } = await scene()
    const first = await buy('4', '90')
    await world.drain()
    await setSwitch(db.write, 'noOpeningOrders', true, ctx.clock.now())
    await endSignal(db.write, first, '5', new Date(ctx.clock.now()).toISOString())
    await place(world, { strategyId, instrumentId, side: '1', quantity: '4', limit: '91', replaces: first })
    await world.drain()
    await setSwitch(db.write, 'noOpeningOrders', false, ctx.clock.now())
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '5' }, { status: '0', orderQty: 4 }])
  })

  test('that may have arrived before the stop is canceled, not forgotten', async () => {
    const { setupIds, setupId, buy } = await scene()
    await buy('4', '90')
    await mirror()
    const deaf = spy((calls) => ({
      place: async (own, brokerId, tickets, until) => {
        await calls.place(own, brokerId, tickets, until)
        return tickets.map(() => ({ answer: 'unknown' }) as const)
      },
    }))
    await sendOrders(ctx, 'paper', deaf.broker)
    await leaveStrategy(db, setupId)
    await expireClaims()
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '4' }])
    const { status } = await db.read.one<{ status: string }>`
      select p.status from paper_order p join setup s on s.account_id = p.account_id where s.id = ${setupIds[0]}`
    expect(status).toBe('4')
  })
})

describe('the link', () => {
  test('answers that are held back leave the order pending until they come', async () => {
    const { setupId, buy } = await scene()
    paper.controls.hold(true)
    await buy()
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: 'A', cumQty: 0 }])
    paper.controls.hold(false)
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4, pendingAction: null }])
  })

  test('orders wait for a link that is down, within their grace', async () => {
    const { setupIds, setupId, buy } = await scene()
    paper.controls.down(true)
    await buy()
    await world.drain()
    expect(await accepted(setupIds)).toBe(0)
    paper.controls.down(false)
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4, attempts: 1 }])
  })

  test('after the grace they are given up, and one that may have arrived once its broker says that it has not', async () => {
    const sent = await scene()
    await sent.buy('4', '90')
    await mirror()
    await sendOrders(ctx, 'paper', spy(() => ({ place: () => Promise.reject(new Error('cut')) })).broker)
    const { setupIds, setupId, buy } = await scene()
    paper.controls.down(true)
    await buy()
    await world.drain()
    world.clock.time += 30_000
    await world.drain()
    expect(await readOrders(world, sent.setupId)).toMatchObject([{ status: 'A', pendingAction: 'new' }])
    paper.controls.down(false)
    await expireClaims()
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', info: 'broker not reachable' }])
    expect(await readOrders(world, sent.setupId)).toMatchObject([
      { status: '4', info: 'broker not reachable' },
    ])
    expect(await accepted([...setupIds, ...sent.setupIds])).toBe(0)
  })

  test('a link that breaks during the call puts the order back', async () => {
    const { setupId, buy } = await scene()
    await buy()
    await mirror()
    let asked = 0
    const cut = spy(() => ({
      place: async (_ctx, _id, tickets) => tickets.map(() => ({ answer: 'unsent' }) as const),
      isUp: () => asked++ === 0,
    }))
    await sendOrders(ctx, 'paper', cut.broker)
    expect(await readOrders(world, setupId)).toMatchObject([
      { status: 'A', attempts: 0, pendingAction: 'new' },
    ])
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '2', cumQty: 4 }])
  })
})

describe('while the broker is being told of an order', () => {
  /** Sends; when the broker has the order and before its answer is heard the world goes on. */
  const tell = (answer: 'accepted' | 'unknown', meanwhile: () => Promise<unknown>) => {
    const { broker } = spy((calls) => ({
      place: async (own, brokerId, tickets, until) => {
        await calls.place(own, brokerId, tickets, until)
        await meanwhile()
        return tickets.map(() => ({ answer }))
      },
    }))
    return sendOrders(ctx, 'paper', broker)
  }

  test('its withdrawal is not overtaken by the answer', async () => {
    const { setupId, buy } = await scene()
    await buy('4', '90')
    await mirror()
    await tell('accepted', () => leaveStrategy(db, setupId))
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '4', pendingAction: null }])
  })

  test.each(['before', 'after'])('what it reports %s an answer that is lost is known', async (when) => {
    const { setupId, buy } = await scene()
    await buy('4', '90')
    await mirror()
    await tell('unknown', async () => when === 'before' && world.drain())
    await world.drain()
    await buy('2')
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '0' }, { status: '2', cumQty: 2 }])
  })
})

describe('order', () => {
  test("of one account's orders is that of their ids", async () => {
    const { setupId, instrumentId, buy, sell } = await scene()
    paper.controls.down(true)
    await buy('4')
    await world.drain()
    paper.controls.down(false)
    const { broker, placed } = spy()
    await buy('1')
    await mirror()
    await sendOrders(ctx, 'paper', broker)
    expect(placed).toHaveLength(2)
    const signalOf = (id: string): string => id.split('-')[2]!
    expect([...placed].sort((a, b) => signalOf(a).localeCompare(signalOf(b)))).toEqual(placed)
    await world.drain()
    await sell('5')
    await world.drain()
    expect(await readHeld(world, setupId, instrumentId)).toBe(0)
  })

  test('a refusal ends in 8 with the text of the broker', async () => {
    const { setupId, buy } = await scene()
    const { accountId } = await db.read.one<{ accountId: number }>`
      select account_id as "accountId" from setup where id = ${setupId}`
    paper.controls.reject(accountId, 'not enough funds')
    await buy()
    await world.drain()
    expect(await readOrders(world, setupId)).toMatchObject([{ status: '8', rejectText: 'not enough funds' }])
    await buy()
    await world.drain()
    expect((await readOrders(world, setupId))[1]).toMatchObject({ status: '2', rejectText: null })
  })
})

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})
