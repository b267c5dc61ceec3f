/** Orders against quotes and bars on a real database: who fills, when, and who does not. */
import { afterEach, describe, expect, test } from 'vitest'
import { dec } from '../../src/domain/decimal.ts'
import { accountValue } from '../../src/domain/margin/model-account.ts'
import { matchArrivals, publishBars, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { saveQuotes } from '../../src/storage/market/quotes.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { loadHeldAccounts } from '../../src/storage/orders/model-accounts.ts'
import { testDatabase } from '../support/database.ts'
import { countWaiting } from '../support/locks.ts'
import {
  addInstrument,
  addStrategy,
  bar,
  close,
  makeWorld,
  opening,
  place,
  quote,
  readBook,
  readEvents,
  readSignal,
  steps,
} from './world.ts'

const { db } = await testDatabase()
const minute = 60_000

afterEach(async () => {
  expect(await auditViolations(db.read)).toEqual([])
})

/** A world with one strategy and one stock. */
async function setting() {
  const world = makeWorld(db)
  const strategyId = await addStrategy(db)
  const { symbol, id: instrumentId } = await addInstrument(db)
  const drain = () => createWorker({ ctx: world.ctx, steps }).drain()
  return { world, ctx: world.ctx, strategyId, instrumentId, symbol, drain, own: { strategyId, instrumentId } }
}

describe('orders that arrive', () => {
  test('a market order fills at once against a fresh quote, buying the ask', async () => {
    const { world, ctx, own, symbol, drain } = await setting()
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10')])
    const id = await place(world, { ...own, side: '1' })
    expect(await drain()).toBe(1)
    expect(await readSignal(world, id)).toMatchObject({
      status: '2',
      cumQty: 100,
      avgPx: 100.1,
      endedAt: opening,
      needsMatch: false,
      mirrorDue: true,
    })
    expect(await readBook(world, own.strategyId, own.instrumentId)).toEqual({
      cash: 89_990,
      quantity: 100,
      avgPx: 100.1,
      openedAt: opening,
    })
    expect(await drain()).toBe(0)
  })

  test.each([
    { name: 'a quote of exactly 60 seconds fills', age: 60_000, status: '2' },
    { name: 'an older quote does not', age: 60_001, status: '0' },
  ])('$name', async ({ age, status }) => {
    const { world, ctx, own, symbol, drain } = await setting()
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10', opening - age)])
    const id = await place(world, { ...own, side: '1' })
    await drain()
    expect(await readSignal(world, id)).toMatchObject({ status, needsMatch: false })
    await publishQuotes(ctx, [quote(symbol, '99.95', '100.15')])
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: status === '2' ? 100.1 : 100.15 })
  })

  test('an order at the close waits for the next session, though the quote is fresh', async () => {
    const { world, ctx, own, symbol, drain } = await setting()
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10', close - 1_000)])
    world.clock.time = close
    const id = await place(world, { ...own, side: '1' })
    await drain()
    expect((await readSignal(world, id)).status).toBe('0')
  })

  test('a quote out of session fills nothing and voids the last valid one', async () => {
    const { world, ctx, own, symbol, drain } = await setting()
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10', close - 1)])
    await publishQuotes(ctx, [quote(symbol, '98', '99', close + 1)])
    const stored = await db.read.one`
      select bid::float8, ask::float8, is_valid as valid from quote where instrument_id = ${own.instrumentId}`
    expect(stored).toEqual({ bid: 99.9, ask: 100.1, valid: false })
    world.clock.time = close - 1
    const id = await place(world, { ...own, side: '1' })
    await drain()
    expect((await readSignal(world, id)).status).toBe('0')
  })

  test('a crossed quote is as if it had never been', async () => {
    const { world, ctx, own, symbol, drain } = await setting()
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10')])
    await publishQuotes(ctx, [quote(symbol, '101', '100.99')])
    const id = await place(world, { ...own, side: '1' })
    await drain()
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: 100.1 })
  })

  test('an order is held against the quote it met, also when the next quote comes first', async () => {
    const { world, ctx, own, symbol } = await setting()
    await publishQuotes(ctx, [quote(symbol, '99.90', '100.10')])
    const id = await place(world, { ...own, side: '1', limit: '100.10' })
    await publishQuotes(ctx, [quote(symbol, '105', '105.10', opening + 1)])
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: 100.1 })
  })
})

describe('an order beside a batch that is being booked', () => {
  /** A batch whose quote is written and not yet committed while `meanwhile` runs. */
  async function whileBooked(instrumentId: number, meanwhile: () => Promise<unknown>): Promise<void> {
    let running: Promise<unknown> = Promise.resolve()
    await db.transaction(async (tx) => {
      const price = dec('10')
      const row = {
        instrumentId,
        bid: price,
        ask: price,
        hasBid: true,
        bidSize: null,
        askSize: null,
        at: opening,
        day: 19794,
      }
      await saveQuotes(tx, [row], true, opening)
      let isOver = false
      running = meanwhile().finally(() => (isOver = true))
      while (!isOver && (await countWaiting(db.read)) === 0);
    })
    await running
  }

  test.each([
    { name: 'the first quote', before: [] },
    { name: 'the first quote after a pause', before: [close - 86_400_000 - 1, close - 86_400_000] },
  ])('meets $name', async ({ before }) => {
    const { world, ctx, own, symbol, drain } = await setting()
    for (const at of before) await publishQuotes(ctx, [quote(symbol, '8', '9', at)])
    const id = await place(world, { ...own, side: '1', limit: '10' })
    await whileBooked(own.instrumentId, () => matchArrivals(ctx))
    await drain()
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: 10, needsMatch: false })
  })
})

describe('quotes', () => {
  test.each([
    {
      name: 'buy limit at the ask',
      side: '1',
      limit: '100',
      quotes: [
        ['99', '100.01'],
        ['99', '100'],
      ],
      px: 100,
    },
    { name: 'buy limit gets the better ask', side: '1', limit: '100', quotes: [['97', '98']], px: 98 },
    {
      name: 'sell limit at the bid',
      side: '2',
      limit: '100',
      quotes: [
        ['99.99', '101'],
        ['100', '101'],
      ],
      px: 100,
    },
    {
      name: 'buy stop at the ask beyond it',
      side: '1',
      stop: '100',
      quotes: [
        ['99', '99.99'],
        ['102', '103'],
      ],
      px: 103,
    },
    {
      name: 'sell stop at the bid beyond it',
      side: '2',
      stop: '100',
      quotes: [
        ['100.01', '101'],
        ['95', '96'],
      ],
      px: 95,
    },
  ] as const)('$name', async ({ side, quotes, px, ...prices }) => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side, ...prices })
    for (const [bid, ask] of quotes) await publishQuotes(ctx, [quote(symbol, bid, ask)])
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: px })
  })

  test('a quote older than the order does not fill it', async () => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side: '1' })
    await matchArrivals(ctx)
    await publishQuotes(ctx, [quote(symbol, '99', '100', opening - 1)])
    expect((await readSignal(world, id)).status).toBe('0')
  })

  test('too wide a spread triggers no stop', async () => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side: '1', stop: '100' })
    await publishQuotes(ctx, [quote(symbol, '80', '120')])
    expect((await readSignal(world, id)).status).toBe('0')
    await publishQuotes(ctx, [quote(symbol, '115', '120')])
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: 120, isTriggered: true })
  })

  test('a batch serves its quotes in order and many strategies at once', async () => {
    const { world, ctx, own, symbol } = await setting()
    const others = await Promise.all(Array.from({ length: 20 }, () => addStrategy(db)))
    const ids = []
    for (const strategyId of others)
      ids.push(await place(world, { ...own, strategyId, side: '1', limit: '100' }))
    const moved = await publishQuotes(ctx, [
      quote(symbol, '101', '102'),
      quote(symbol, '99', '99.50', opening + 1),
      quote(symbol, '90', '90.50', opening + 2),
    ])
    expect(moved).toBe(20)
    for (const id of ids) expect((await readSignal(world, id)).avgPx).toBe(99.5)
    const last = await db.read.one`select bid::float8 from quote where instrument_id = ${own.instrumentId}`
    expect(last).toEqual({ bid: 90 })
  })

  test('one that nobody can sell on leaves what is held at the bid before, at which nothing trades', async () => {
    const { world, ctx, own, symbol, drain } = await setting()
    const value = async () =>
      accountValue((await loadHeldAccounts(db.read, [own.strategyId])).get(own.strategyId)!)
    await publishQuotes(ctx, [quote(symbol, '10', '10')])
    await place(world, { ...own, side: '1' })
    await drain()
    await publishQuotes(ctx, [quote(symbol, '12', '12.10', opening + 1)])
    await publishQuotes(ctx, [quote(symbol, '0', '12.20', opening + 2)])
    expect((await value()).toNumber()).toBe(100_200)
    world.clock.time = opening + 3
    const id = await place(world, { ...own, side: '2', positionEffect: 'C' })
    await drain()
    expect((await readSignal(world, id)).status).toBe('0')
    await publishQuotes(ctx, [
      quote(symbol, '11', '11.10', opening + 4),
      quote(symbol, '0', '9', opening + 5),
    ])
    expect(await readSignal(world, id)).toMatchObject({ status: '2', avgPx: 11 })
    const last = await db.read
      .one`select bid::float8, ask::float8 from quote where instrument_id = ${own.instrumentId}`
    expect(last).toEqual({ bid: 11, ask: 9 })
  })

  test('an option that nobody can sell on stands halfway to its ask', async () => {
    const { world, ctx, strategyId, drain } = await setting()
    const { symbol, id: instrumentId } = await addInstrument(db, { securityType: 'OPT', pointValue: '100' })
    await publishQuotes(ctx, [quote(symbol, '0.10', '0.10')])
    await place(world, { strategyId, instrumentId, side: '1' })
    await drain()
    await publishQuotes(ctx, [quote(symbol, '0', '0.05', opening + 1)])
    const account = (await loadHeldAccounts(db.read, [strategyId])).get(strategyId)!
    expect(accountValue(account).toNumber()).toBe(99_250)
  })

  test('an unknown symbol is passed over', async () => {
    const { ctx, symbol } = await setting()
    expect(await publishQuotes(ctx, [quote('NOSUCH', '1', '2'), quote(symbol, '1', '2')])).toBe(0)
  })

  test('a day order does not trade at its end, however late its expiry is noticed', async () => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side: '1', limit: '100' })
    const nextMorning = opening + 24 * 60 * minute
    await publishQuotes(ctx, [quote(symbol, '89', '90', nextMorning)])
    expect((await readSignal(world, id)).status).toBe('0')
  })
})

describe('bars', () => {
  const start = opening + 5 * minute
  const end = start + 5 * minute

  test.each([
    { name: 'market at the open', side: '1', prices: ['100', '105', '95', '101'], px: 100 },
    {
      name: 'limit penetrated, at the limit',
      side: '1',
      limit: '98',
      prices: ['100', '105', '97.99', '101'],
      px: 98,
    },
    { name: 'limit gapped, at the open', side: '1', limit: '98', prices: ['97', '105', '95', '101'], px: 97 },
    {
      name: 'stop touched, at the stop',
      side: '1',
      stop: '105',
      prices: ['100', '105', '95', '101'],
      px: 105,
    },
    { name: 'stop gapped, at the open', side: '1', stop: '99', prices: ['100', '105', '95', '101'], px: 100 },
    { name: 'limit only touched', side: '1', limit: '95', prices: ['100', '105', '95', '101'], px: null },
  ] as const)('$name', async ({ side, prices, px, ...orders }) => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side, ...orders })
    await publishBars(ctx, [bar(symbol, prices, start, end)])
    expect((await readSignal(world, id)).avgPx).toBe(px)
  })

  test('an order placed inside the bar waits; the close is a mark that fills nothing', async () => {
    const { world, ctx, own, symbol, drain } = await setting()
    world.clock.time = start + 1
    const id = await place(world, { ...own, side: '1' })
    await publishBars(ctx, [bar(symbol, ['100', '105', '95', '101'], start, end)])
    world.clock.time = end
    await drain()
    expect((await readSignal(world, id)).status).toBe('0')
    const mark = await db.read.one`
      select bid::float8, ask::float8, quoted_at as at, is_valid as valid from quote
      where instrument_id = ${own.instrumentId}`
    expect(mark).toEqual({ bid: 101, ask: 101, at: end, valid: false })
    await publishBars(ctx, [bar(symbol, ['102', '105', '95', '101'], end, end + minute)])
    expect(await readSignal(world, id)).toMatchObject({ avgPx: 102, endedAt: end })
  })

  test('what fills inside a bar fills at its end', async () => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side: '1', limit: '98' })
    await publishBars(ctx, [bar(symbol, ['100', '105', '97', '101'], start, end)])
    const [, filled] = await readEvents(world, id)
    expect(filled).toMatchObject({
      event: 'FILL',
      status: '2',
      occurredAt: end,
      cause: { phase: 'intrabar' },
    })
  })

  test('a bar out of session is passed over, one that reaches into it is not', async () => {
    const { world, ctx, own, symbol } = await setting()
    const id = await place(world, { ...own, side: '1', goodTillCanceled: true })
    await publishBars(ctx, [bar(symbol, ['1', '1', '1', '1'], close, close + minute)])
    expect((await readSignal(world, id)).status).toBe('0')
    const midnight = Date.parse('2024-03-13T04:00:00Z')
    await publishBars(ctx, [bar(symbol, ['100', '105', '95', '101'], midnight, midnight + 24 * 60 * minute)])
    expect((await readSignal(world, id)).status).toBe('2')
  })
})
