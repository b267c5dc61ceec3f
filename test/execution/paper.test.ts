import { describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { publishBars } from '../../src/execution/orders/matcher.ts'
import { findNextPaperMoment } from '../../src/storage/brokers/paper.ts'
import { instant } from '../../src/storage/database/wire.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, type FollowerWish } from '../support/followers.ts'
import { makeScene } from './account-scene.ts'
import { accountViolations, makeAccountWorld, readBroker, readOrders } from './account-world.ts'
import { bar, close, endSignal, opening, place, readBook } from './world.ts'

const { db } = await testDatabase()
const world = makeAccountWorld(db)
const { ctx, paper } = world
const brokerId = await addBroker(db)

const scene = makeScene(world, brokerId)

/** Replaces a signal as the interface does, without its rules. */
async function replaceSignal(
  signalId: number,
  quantity: string,
  limit: string,
  strategyId: number,
  instrumentId: number,
) {
  await endSignal(db.write, signalId, '5', instant(world.clock.time))
  const next = await place(world, {
    strategyId,
    instrumentId,
    side: '1',
    quantity,
    limit,
    goodTillCanceled: true,
    replaces: signalId,
  })
  await db.write.run`
    update signal s set cum_qty = b.cum_qty, avg_px = b.avg_px, status = case when b.cum_qty > 0 then '1' else '0' end
    from signal b where b.id = ${signalId} and s.id = ${next}`
  return next
}

describe('a copy', () => {
  test('is sent, filled and booked as its signal is', async () => {
    const { symbol, order, orders, held, cash, setupId } = await scene({ scaling: 150 })
    await world.quote(symbol, '99', '100')
    await order('1', '6')
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2', orderQty: 9, cumQty: 9, avgPx: 100 }])
    expect(await held()).toBe(9)
    expect(await readBroker(world, setupId, symbol)).toBe(9)
    await order('2', '6')
    await world.drain()
    expect(await held()).toBe(0)
    expect(await cash()).toBe(100_000 - 9)
  })

  test('rests at the broker until the market reaches its price', async () => {
    const { symbol, order, orders } = await scene()
    await world.quote(symbol, '99', '100')
    await order('1', '6', { limit: '95' })
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '0', cumQty: 0, limitPx: 95 }])
    await world.quote(symbol, '94', '94.5')
    expect(await orders()).toMatchObject([{ status: '2', avgPx: 94.5 }])
  })

  test('waits for the session and fills at the open of a bar', async () => {
    const { symbol, order, orders, strategyId, instrumentId } = await scene()
    world.clock.time = close + 3_600_000
    await order('1', '6')
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '0' }])
    const next = opening + 24 * 3_600_000 - 30 * 60_000
    world.clock.time = next
    await publishBars(ctx, [bar(symbol, ['101', '103', '100', '102'], next, next + 6.5 * 3_600_000)])
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '2', avgPx: 101 }])
    expect((await readBook(world, strategyId, instrumentId)).quantity).toBe(6)
  })

  test('ends with its day', async () => {
    const { strategyId, instrumentId, orders } = await scene()
    world.clock.time = opening + 48 * 3_600_000
    await place(world, { strategyId, instrumentId, side: '1', limit: '50' })
    await world.drain()
    world.clock.time = close + 48 * 3_600_000
    await world.drain()
    expect((await orders()).map(({ status }) => status)).toEqual([expect.stringMatching(/^[4C]$/)])
    expect((await orders())[0]?.pendingAction).toBeNull()
    world.clock.time += 24 * 3_600_000 - 5 * 3_600_000
  })

  test('is canceled with its signal', async () => {
    const { order, orders } = await scene()
    const signal = await order('1', '6', { limit: '50' })
    await world.drain()
    await endSignal(db.write, signal, '4', instant(world.clock.time))
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '4', info: 'signal canceled', pendingAction: null }])
  })
})

describe('a replacement', () => {
  test('goes to the broker as a replacement with the total of the chain', async () => {
    const { symbol, order, orders, held, strategyId, instrumentId } = await scene({ scaling: 200 })
    await world.quote(symbol, '99', '100')
    const signal = await order('1', '6', { limit: '95' })
    await world.drain()
    await replaceSignal(signal, '8', '96', strategyId, instrumentId)
    await world.drain()
    expect(await orders()).toMatchObject([
      { status: '5', cumQty: 0 },
      { status: '0', orderQty: 16, limitPx: 96 },
    ])
    await world.quote(symbol, '95', '95.5')
    expect((await orders())[1]).toMatchObject({ status: '2', cumQty: 16, avgPx: 95.5 })
    expect(await held()).toBe(16)
  })

  test('keeps what the copy had executed', async () => {
    const { symbol, order, orders, held, strategyId, instrumentId, accountId, setupId } = await scene()
    await world.quote(symbol, '99', '100')
    paper.controls.partial(accountId, '2')
    const signal = await order('1', '6', { limit: '95' })
    await world.drain()
    await db.write.run`update signal set needs_match = false where id = ${signal}`
    // Only the account trades: the strategy's own order is withheld from this quote.
    await db.write.run`update signal set working_at = working_at + interval '1 day' where id = ${signal}`
    await world.quote(symbol, '94', '95')
    expect(await orders()).toMatchObject([{ status: '1', cumQty: 2 }])
    await replaceSignal(signal, '8', '93', strategyId, instrumentId)
    await world.drain()
    expect((await orders())[1]).toMatchObject({ status: '1', orderQty: 8, cumQty: 2, limitPx: 93 })
    await world.quote(symbol, '92', '92.5')
    expect((await orders())[1]).toMatchObject({ status: '2', cumQty: 8, avgPx: (2 * 95 + 6 * 92.5) / 8 })
    expect(await held()).toBe(8)
    expect(await readBroker(world, setupId, symbol)).toBe(8)
  })

  test('of a copy that no broker has seen never shows it the old one', async () => {
    const { order, orders, strategyId, instrumentId, accountId } = await scene()
    paper.controls.down(true)
    const signal = await order('1', '6', { limit: '50' })
    await world.drain()
    await replaceSignal(signal, '3', '51', strategyId, instrumentId)
    await world.drain()
    paper.controls.down(false)
    await world.drain()
    expect(await orders()).toMatchObject([
      { status: '5', attempts: 0 },
      { status: '0', orderQty: 3, limitPx: 51 },
    ])
    expect(await db.read.rows`select from paper_order where account_id = ${accountId}`).toHaveLength(1)
  })

  test('waits while the first order is not acknowledged', async () => {
    const { order, orders, strategyId, instrumentId } = await scene()
    paper.controls.hold(true)
    const signal = await order('1', '6', { limit: '50' })
    await world.drain()
    await replaceSignal(signal, '3', '51', strategyId, instrumentId)
    await world.drain()
    expect((await orders()).map(({ status }) => status)).toEqual(['A', 'A'])
    paper.controls.hold(false)
    await world.drain()
    expect((await orders()).map(({ status }) => status)).toEqual(['5', '0'])
  })

  test('and its cancel right after end both', async () => {
    const { order, orders, strategyId, instrumentId } = await scene()
    const signal = await order('1', '6', { limit: '50' })
    await world.drain()
    const next = await replaceSignal(signal, '3', '51', strategyId, instrumentId)
    await endSignal(db.write, next, '4', instant(world.clock.time))
    await world.drain()
    expect((await orders()).every(({ status }) => ['4', '5'].includes(status))).toBe(true)
    expect((await orders()).every(({ pendingAction }) => pendingAction === null)).toBe(true)
  })
})

describe('a copy that its signal left behind', () => {
  async function leftBehind(wish: Partial<FollowerWish> = {}) {
    const stage = await scene(wish)
    await world.quote(stage.symbol, '99', '100')
    paper.controls.partial(stage.accountId, '1')
    const signal = await stage.order('1', '6', { limit: '95' })
    await world.drain()
    await world.quote(stage.symbol, '94', '94.5')
    expect(await stage.orders()).toMatchObject([{ status: '1', cumQty: 1 }])
    await world.quote(stage.symbol, '97', '98')
    return { ...stage, signal }
  }

  test('keeps its price for the grace, then goes to market', async () => {
    const { symbol, orders, held, setupId } = await leftBehind()
    world.clock.time += 29_999
    await world.drain()
    expect(await orders()).toHaveLength(1)
    world.clock.time += 1
    await world.quote(symbol, '97', '98')
    await world.drain()
    expect(await orders()).toMatchObject([
      { status: '5', cumQty: 1 },
      {
        status: '2',
        ordType: '1',
        revision: 1,
        orderQty: 6,
        cumQty: 6,
        avgPx: expect.closeTo((94.5 + 5 * 98) / 6, 9),
        info: 'turned to market',
      },
    ])
    expect(await held()).toBe(6)
    expect(await readBroker(world, setupId, symbol)).toBe(6)
  })

  test('says what bounds its size when it goes to market', async () => {
    const { setupId } = await leftBehind()
    await db.write.run`update setup set max_stocks_dollars = 100000 where id = ${setupId}`
    world.clock.time += 30_000
    await world.drain()
    const [, turned] = await db.read.rows`
      select strategy_qty::float8 as "strategyQty", held_qty::float8 as "heldQty", limit_value::float8 as "limit"
      from account_order where setup_id = ${setupId} order by id`
    expect(turned).toEqual({ strategyQty: 6, heldQty: 1, limit: 100_000 })
  })

  test('is canceled where the follower does not chase', async () => {
    const { orders, held } = await leftBehind({ chaseFilled: false })
    world.clock.time += 30_000
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '4', cumQty: 1, info: 'left behind by its signal' }])
    expect(await held()).toBe(1)
  })

  test('is canceled where the entry is not to be synced', async () => {
    const { orders, signal } = await leftBehind()
    await db.write.run`update signal set do_not_sync_to_open = true where id = ${signal}`
    world.clock.time += 30_000
    await world.drain()
    expect(await orders()).toMatchObject([{ status: '4', cumQty: 1 }])
  })

  test.each([
    ['its setup has stopped', 'setup'],
    ['Autotrade is disabled', 'account'],
    ['its symbol is left alone', 'symbol'],
    ['its broker is disabled', 'broker'],
  ])('is canceled where %s', async (_, what) => {
    const { orders, setupId, instrumentId, accountId } = await leftBehind()
    const { run } = db.write
    if (what === 'setup')
      await run`
        update setup set stopped_at = now(), left_version = s.membership_version + 1
        from strategy s where s.id = setup.strategy_id and setup.id = ${setupId}`
    if (what === 'account') await run`update account set is_autotrade_disabled = true where id = ${accountId}`
    if (what === 'symbol')
      await run`insert into setup_exclusion values (${setupId}, ${instrumentId}, 1, 'ManualCancel', now())`
    const enable = (isEnabled: boolean) =>
      run`update broker set is_enabled = ${isEnabled}::boolean where id = ${brokerId}`
    await enable(what !== 'broker')
    world.clock.time += 30_000
    await world.drain()
    await enable(true)
    await world.drain()
    expect((await orders())[0]).toMatchObject({ status: '4', cumQty: 1, info: 'left behind by its signal' })
  })

  test('goes to market where its symbol is left alone no more', async () => {
    const { held, setupId, instrumentId } = await leftBehind()
    await db.write
      .run`insert into setup_exclusion values (${setupId}, ${instrumentId}, 1, 'ManualCancel', now(), now())`
    world.clock.time += 30_000
    await world.drain()
    expect(await held()).toBe(6)
  })

  test('goes to market only as far as the account still lacks', async () => {
    const { symbol, order, orders, held } = await leftBehind()
    await order('2', '4')
    await world.drain()
    world.clock.time += 30_000
    await world.quote(symbol, '97', '98')
    await world.drain()
    expect(await held()).toBe(2)
    expect((await orders()).every(({ status }) => !['A', '0', '1', '6', 'E'].includes(status))).toBe(true)
  })
})

test('latency and slippage are the broker’s own', async () => {
  const slow = makeAccountWorld(db, { latencyMs: 500, slippageTicks: dec(2) })
  slow.clock.time = world.clock.time + 1_000_000
  const { symbol, setupId, instrumentId, strategyId } = await scene()
  await slow.quote(symbol, '99', '100')
  await place(slow, { strategyId, instrumentId, side: '1', quantity: '6' })
  await slow.drain()
  expect(await readOrders(slow, setupId)).toMatchObject([{ status: '0' }])
  expect(await findNextPaperMoment(db.read)).toBeLessThanOrEqual(slow.clock.time + 500)
  slow.clock.time += 500
  await slow.drain()
  expect(await readOrders(slow, setupId)).toMatchObject([{ status: '2', avgPx: 100.02 }])
})

test('a quote within the latency is what the order meets when it is accepted', async () => {
  const slow = makeAccountWorld(db, { latencyMs: 500 })
  slow.clock.time = world.clock.time + 1_500_000
  const { symbol, setupId, instrumentId, strategyId } = await scene()
  await slow.quote(symbol, '99', '100')
  await place(slow, { strategyId, instrumentId, side: '1', quantity: '6' })
  await slow.drain()
  slow.clock.time += 100
  await slow.quote(symbol, '100', '101')
  expect(await readOrders(slow, setupId)).toMatchObject([{ status: '0', cumQty: 0 }])
  slow.clock.time += 400
  await slow.drain()
  expect(await readOrders(slow, setupId)).toMatchObject([{ status: '2', avgPx: 101 }])
})

test('slippage takes no price to nothing', async () => {
  const dear = makeAccountWorld(db, { slippageTicks: dec(2) })
  dear.clock.time = world.clock.time + 2_000_000
  const { symbol, setupId, instrumentId, strategyId } = await scene()
  await dear.quote(symbol, '0.02', '0.03')
  await place(dear, { strategyId, instrumentId, side: '2', quantity: '6' })
  await dear.drain()
  expect(await readOrders(dear, setupId)).toMatchObject([{ status: '2', avgPx: 0.01 }])
})

test('keeps of what it has told the executions alone', async () => {
  const kept = await db.read.rows<{ kind: string; isTold: boolean }>`
    select distinct kind, is_delivered as "isTold" from paper_report`
  expect(kept).toEqual([{ kind: 'fill', isTold: true }])
  const told = await db.read.rows<{ kind: string }>`select distinct kind from broker_report order by kind`
  expect(told.map(({ kind }) => kind)).toEqual(expect.arrayContaining(['ack', 'cancel', 'fill', 'replace']))
})

test('the books are sound after all of this', async () => {
  expect(await accountViolations(world)).toEqual([])
})
