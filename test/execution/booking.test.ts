/** What a fill does beside the signal: position, cash, commission, and the orders that go with a position. */
import { afterEach, describe, expect, test } from 'vitest'
import { matchArrivals, publishBars, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { testDatabase } from '../support/database.ts'
import {
  addInstrument,
  addStrategy,
  bar,
  type InstrumentWish,
  makeWorld,
  opening,
  place,
  quote,
  readBook,
  readEvents,
  readSignal,
} from './world.ts'

const { db } = await testDatabase()

afterEach(async () => {
  expect(await auditViolations(db.read)).toEqual([])
})

async function setting(wish: InstrumentWish = {}, settings = {}) {
  const world = makeWorld(db, settings)
  const strategyId = await addStrategy(db)
  const { symbol, id: instrumentId } = await addInstrument(db, wish)
  const own = { strategyId, instrumentId }
  /** Trades a market order at a price. */
  const trade = async (side: '1' | '2', quantity: string, px: string, positionEffect: 'O' | 'C' = 'O') => {
    await publishQuotes(world.ctx, [quote(symbol, px, px)])
    await place(world, { ...own, side, quantity, positionEffect })
    await matchArrivals(world.ctx)
  }
  const book = () => readBook(world, strategyId, instrumentId)
  return { world, ctx: world.ctx, own, symbol, trade, book }
}

describe('position and cash', () => {
  test('a stock is paid for: average cost up, unchanged average down', async () => {
    const { trade, book } = await setting()
    await trade('1', '100', '10')
    await trade('1', '50', '13')
    expect(await book()).toMatchObject({ cash: 98_350, quantity: 150, avgPx: 11 })
    await trade('2', '60', '20', 'C')
    expect(await book()).toMatchObject({ cash: 99_550, quantity: 90, avgPx: 11 })
    await trade('2', '90', '9', 'C')
    expect(await book()).toEqual({ cash: 100_360, quantity: 0, avgPx: null, openedAt: null })
  })

  test('a short sale brings cash, buying back costs it', async () => {
    const { trade, book } = await setting()
    await trade('2', '100', '10')
    expect(await book()).toMatchObject({ cash: 101_000, quantity: -100, avgPx: 10 })
    await trade('1', '100', '8', 'C')
    expect(await book()).toMatchObject({ cash: 100_200, quantity: 0 })
  })

  test('a future settles only its result', async () => {
    const { trade, book } = await setting({ securityType: 'FUT', pointValue: '50', calendar: 'CME_GLOBEX' })
    await trade('1', '2', '5000')
    expect(await book()).toMatchObject({ cash: 100_000, quantity: 2 })
    await trade('2', '1', '5010', 'C')
    expect(await book()).toMatchObject({ cash: 100_500, quantity: 1, avgPx: 5000 })
  })

  test('the rate of a foreign currency is the middle of its pair, also of one quoted the other way', async () => {
    const { trade, book, ctx } = await setting({ currency: 'CAD' })
    const pair = await addInstrument(db, { symbol: 'USDCAD', securityType: 'FOR', calendar: 'FOREX' })
    await trade('1', '100', '10')
    expect((await book()).cash).toBe(99_000)
    await publishQuotes(ctx, [quote(pair.symbol, '1.24', '1.26')])
    await trade('1', '100', '10')
    expect((await book()).cash).toBe(98_200)
    await db.write.run`delete from quote where instrument_id = ${pair.id}`
    await trade('1', '100', '10')
    expect((await book()).cash).toBe(97_400)
  })

  test('a price without an end is rounded once, so the ledger still adds up', async () => {
    const { trade, book } = await setting()
    await trade('1', '3', '10.01')
    await trade('1', '4', '10.02')
    expect((await book()).avgPx).toBeCloseTo(70.11 / 7, 11)
  })

  test('the default plan charges stocks a cent a share, in the cash entry', async () => {
    const { trade, book, own } = await setting({}, { commissionPlan: 'default' })
    await trade('1', '150', '10')
    expect((await book()).cash).toBe(98_498.5)
    const entry = await db.read.one`
      select exec_id = 'S' || signal_id || '-1' as named, commission::float8, cash_change::float8 as change, fx::float8
      from fill where strategy_id = ${own.strategyId}`
    expect(entry).toEqual({ named: true, commission: 1.5, change: -1501.5, fx: 1 })
  })
})

describe('orders and the position they meet', () => {
  test('an opening order that would act against the position ends as position changed', async () => {
    const { world, ctx, own, symbol, trade } = await setting()
    const short = await place(world, { ...own, side: '2', limit: '11' })
    await trade('1', '100', '10')
    await publishQuotes(ctx, [quote(symbol, '11', '11')])
    expect(await readSignal(world, short)).toMatchObject({
      status: '4',
      info: 'position changed',
      mirrorDue: true,
    })
    const [, ended] = await readEvents(world, short)
    expect(ended).toMatchObject({ event: 'UNSOLICITED_CANCEL', status: '4', cause: { position: '100' } })
  })

  test('a closing order is cut to the position and takes the others with it', async () => {
    const { world, ctx, own, symbol, trade, book } = await setting()
    await trade('1', '100', '10')
    const exit = { ...own, side: '2', positionEffect: 'C' } as const
    const first = await place(world, { ...exit, limit: '12', quantity: '70' })
    const second = await place(world, { ...exit, limit: '12', quantity: '70' })
    const stop = await place(world, { ...exit, stop: '8', quantity: '100' })
    const more = await place(world, { ...own, side: '1', limit: '9' })
    await publishQuotes(ctx, [quote(symbol, '12', '12.01')])
    expect(await readSignal(world, first)).toMatchObject({ status: '2', cumQty: 70, info: null })
    expect(await readSignal(world, second)).toMatchObject({
      status: '4',
      cumQty: 30,
      avgPx: 12,
      info: 'position closed',
    })
    expect(await readSignal(world, stop)).toMatchObject({ status: '4', cumQty: 0, info: 'position closed' })
    expect(await readSignal(world, more)).toMatchObject({ status: '0' })
    expect(await book()).toMatchObject({ quantity: 0, cash: 100_200 })
    expect((await readEvents(world, second)).map(({ event, status }) => [event, status])).toEqual([
      ['ACK', '0'],
      ['FILL', '1'],
      ['UNSOLICITED_CANCEL', '4'],
    ])
  })

  test('of an exit pair inside one bar the stop wins', async () => {
    const { world, ctx, own, symbol, trade, book } = await setting()
    await trade('1', '100', '10')
    const exit = { ...own, side: '2', positionEffect: 'C' } as const
    const target = await place(world, { ...exit, limit: '12' })
    const stop = await place(world, { ...exit, stop: '8' })
    await publishBars(ctx, [bar(symbol, ['10', '13', '7', '10'], opening, opening + 60_000)])
    expect(await readSignal(world, stop)).toMatchObject({ status: '2', avgPx: 8, isTriggered: true })
    expect(await readSignal(world, target)).toMatchObject({ status: '4', info: 'position closed' })
    expect((await book()).cash).toBe(99_800)
  })

  test('closing orders come before opening ones on the same quote', async () => {
    const { world, ctx, own, symbol, trade, book } = await setting()
    await trade('1', '100', '10')
    const opens = await place(world, { ...own, side: '2', limit: '11', quantity: '40' })
    const closes = await place(world, { ...own, side: '2', limit: '11', positionEffect: 'C' })
    await publishQuotes(ctx, [quote(symbol, '11', '11')])
    expect((await readSignal(world, closes)).status).toBe('2')
    expect((await readSignal(world, opens)).status).toBe('2')
    expect(await book()).toMatchObject({ quantity: -40, avgPx: 11 })
  })

  test('a replacement goes on from the total of its chain', async () => {
    const { world, ctx, own, symbol, book } = await setting()
    const first = await place(world, { ...own, side: '1', limit: '10' })
    await publishQuotes(ctx, [quote(symbol, '9', '10')])
    await db.write.run`
      with replaced as (
        update signal set status = '5', ended_at = '2024-03-12T14:00:00Z' where id = ${first} returning id)
      insert into signal_event (signal_id, seq, event, status, occurred_at, cause)
      select id, 3, 'BUST', '1', now(), '{}'::jsonb from replaced union all
      select id, 4, 'REPLACE_REQUEST', 'E', now(), '{}' from replaced union all
      select id, 5, 'REPLACE_ACK', '5', now(), '{}' from replaced`
    const second = await place(world, { ...own, side: '1', limit: '9.80', quantity: '150', replaces: first })
    await db.write.run`update signal set status = '1', cum_qty = 100, avg_px = 10 where id = ${second}`
    await db.write.run`update signal_event set status = '1' where signal_id = ${second}`
    await publishQuotes(ctx, [quote(symbol, '9.40', '9.50')])
    const view = await readSignal(world, second)
    expect(view).toMatchObject({ status: '2', cumQty: 150 })
    expect(view.avgPx).toBeCloseTo(1475 / 150, 11)
    expect((await book()).quantity).toBe(150)
  })
})

test('the cause holds the numbers a fill was decided from', async () => {
  const { world, ctx, own, symbol } = await setting()
  const id = await place(world, { ...own, side: '1', quantity: '7' })
  await publishQuotes(ctx, [quote(symbol, '9.90', '10.10')])
  const [, filled] = await readEvents(world, id)
  expect(filled?.cause).toEqual({
    execId: `S${id}-1`,
    quantity: '7',
    price: '10.1',
    commission: '0',
    fx: '1',
    positionBefore: '0',
    quote: { bid: '9.9', ask: '10.1', at: '2024-03-12T14:00:00.000Z' },
    phase: 'quote',
    slippage: '0',
  })
})
