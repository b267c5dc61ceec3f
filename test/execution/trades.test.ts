/**
 * Trades as the worker books them: from flat to flat, with their lowest moment at fills and at quotes, the same as
 * the account book makes of the same story.
 */
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { dec, zero } from '../../src/domain/decimal.ts'
import { bookFill, markSymbol, openBook } from '../../src/domain/positions/account-book.ts'
import type { FinishedTrade } from '../../src/domain/positions/trade.ts'
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
} from './world.ts'

const { db } = await testDatabase()

afterEach(async () => {
  expect(await auditViolations(db.read)).toEqual([])
})

interface TradeView {
  openSide: string
  opened: number
  closed: number
  openPx: number
  closePx: number
  commission: number
  profitLoss: number | null
  openedAt: number
  closedAt: number | null
  worst: number | null
  worstPx: number | null
  worstAt: number | null
  entryPx: number | null
  worstQty: number | null
  equity: number | null
}

const readTrades = (strategyId: number): Promise<TradeView[]> =>
  db.read.rows<TradeView>`
    select open_side as "openSide", opened_qty::float8 as opened, closed_qty::float8 as closed,
      round(open_turnover / opened_qty, 8)::float8 as "openPx",
      round(close_turnover / nullif(closed_qty, 0), 8)::float8 as "closePx", commission::float8 as commission,
      profit_loss::float8 as "profitLoss", opened_at as "openedAt", closed_at as "closedAt",
      round(worst_result, 2)::float8 as worst, worst_px::float8 as "worstPx", worst_at as "worstAt",
      round(worst_entry_px, 8)::float8 as "entryPx", worst_qty::float8 as "worstQty",
      round(worst_equity, 2)::float8 as equity
    from trade where strategy_id = ${strategyId} order by id`

async function setting(wish: InstrumentWish = {}, settings = {}) {
  const world = makeWorld(db, settings)
  const strategyId = await addStrategy(db)
  const { symbol, id: instrumentId } = await addInstrument(db, wish)
  const see = async (bid: string, ask: string, at = world.clock.time) => {
    await publishQuotes(world.ctx, [quote(symbol, bid, ask, at)])
  }
  const trade = async (side: '1' | '2', quantity: string, positionEffect: 'O' | 'C' = 'O') => {
    const id = await place(world, { strategyId, instrumentId, side, quantity, positionEffect })
    await matchArrivals(world.ctx)
    return id
  }
  const later = (seconds: number) => {
    world.clock.time += seconds * 1000
  }
  return { world, strategyId, instrumentId, symbol, see, trade, later, trades: () => readTrades(strategyId) }
}

test('what an average cannot keep is no difference, however much a unit is worth', async () => {
  const { see, trade, later, trades } = await setting({ securityType: 'FUT', pointValue: '1000000' })
  const steps = [
    ['2', '37', 'O', '1.10844'],
    ['2', '26', 'O', '1.10851'],
    ['1', '8', 'C', '1.10859'],
    ['1', '55', 'C', '1.10863'],
  ] as const
  for (const [side, quantity, positionEffect, price] of steps) {
    await see(price, price)
    await trade(side, quantity, positionEffect)
    later(1)
  }
  expect(await trades()).toMatchObject([{ opened: 63, closed: 63, profitLoss: -9830 }])
})

describe('from flat to flat', () => {
  test('one that goes on and on turns over more than a position holds', async () => {
    const { see, trade, trades, strategyId } = await setting()
    const turnOver = (more: string) => db.write.run`
      update trade set opened_qty = opened_qty + ${more}::numeric, closed_qty = closed_qty + ${more}::numeric
      where strategy_id = ${strategyId}`
    await see('10', '10')
    await trade('1', '1')
    await turnOver('999999999998')
    await trade('1', '9')
    expect(await trades()).toMatchObject([{ opened: 1_000_000_000_008, closed: 999_999_999_998 }])
    await turnOver('-999999999998')
  })

  test('one that was always ahead has no lowest moment', async () => {
    const { see, trade, later, trades } = await setting()
    await see('10', '10')
    await trade('1', '100')
    later(10)
    await see('12', '12')
    await trade('2', '100', 'C')
    expect(await trades()).toEqual([
      {
        openSide: '1',
        opened: 100,
        closed: 100,
        openPx: 10,
        closePx: 12,
        commission: 0,
        profitLoss: 200,
        openedAt: opening,
        closedAt: opening + 10_000,
        worst: null,
        worstPx: null,
        worstAt: null,
        entryPx: null,
        worstQty: null,
        equity: null,
      },
    ])
  })

  test('a quote that comes late fills at its own time; the trade spans all its fills', async () => {
    const { world, strategyId, instrumentId, see, trade, later, trades } = await setting()
    const limit = async (side: '1' | '2', price: string, positionEffect: 'O' | 'C') => {
      await place(world, { strategyId, instrumentId, side, quantity: '40', positionEffect, limit: price })
      await matchArrivals(world.ctx)
    }
    await see('10', '10')
    await limit('1', '9', 'O')
    later(2)
    await trade('1', '100')
    await see('9', '9', opening + 1000)
    expect(await trades()).toMatchObject([
      { opened: 140, closed: 0, openedAt: opening + 1000, closedAt: null },
    ])
    await limit('2', '12', 'C')
    later(2)
    await trade('2', '100', 'C')
    await see('12', '12', opening + 3000)
    expect(await trades()).toMatchObject([
      { opened: 140, closed: 140, openedAt: opening + 1000, closedAt: opening + 4000 },
    ])
  })

  test('scaled in and out: averages over all fills, the lowest moment with the size of then', async () => {
    const { see, trade, later, trades } = await setting()
    await see('10', '10')
    await trade('1', '100')
    later(1)
    await see('8', '8')
    await trade('1', '100')
    later(1)
    await see('7', '7')
    await trade('2', '150', 'C')
    later(1)
    await see('5', '5')
    later(1)
    await see('11', '11')
    await trade('2', '50', 'C')
    expect(await trades()).toMatchObject([
      {
        opened: 200,
        closed: 200,
        openPx: 9,
        closePx: 8,
        profitLoss: -200,
        worst: -400,
        worstPx: 7,
        worstAt: opening + 2000,
        entryPx: 9,
        worstQty: 200,
        equity: 99_600,
      },
    ])
  })

  test('commission is part of it, and the next one begins anew', async () => {
    const { see, trade, trades } = await setting({}, { commissionPlan: 'default' })
    await see('10', '10')
    await trade('1', '80')
    await trade('2', '80', 'C')
    const second = await trade('2', '80')
    expect(await trades()).toMatchObject([
      { openSide: '1', commission: 1.6, profitLoss: -1.6, closedAt: opening },
      { openSide: '2', commission: 0.8, profitLoss: null, closedAt: null },
    ])
    const { signalId } = await db.read.one<{ signalId: number }>`
      select signal_id as "signalId" from trade where closed_at is null and signal_id = ${second}`
    expect(signalId).toBe(second)
  })

  test('a position is marked where it could be closed: at once after it was opened', async () => {
    const { see, trade, trades } = await setting()
    await see('9.90', '10')
    await trade('1', '100')
    expect(await trades()).toMatchObject([{ worst: -10, worstPx: 9.9, equity: 99_990 }])
    const short = await setting()
    await short.see('9.90', '10')
    await short.trade('2', '100')
    expect(await short.trades()).toMatchObject([{ worst: -10, worstPx: 10, entryPx: 9.9, worstQty: 100 }])
  })

  test('an option is marked in the middle, a stock without a bid not at all', async () => {
    const option = await setting({ securityType: 'OPT', pointValue: '100' })
    await option.see('1.00', '1.10')
    await option.trade('1', '2')
    await option.see('0', '0.05')
    expect(await option.trades()).toMatchObject([{ worst: -215, worstPx: 0.025 }])
    const stock = await setting()
    await stock.see('1', '1')
    await stock.trade('1', '10')
    await stock.see('0', '0.05')
    expect(await stock.trades()).toMatchObject([{ worst: null }])
  })
})

describe('quotes', () => {
  test('of equal moments the first counts, of several in a batch the lowest', async () => {
    const { see, trade, later, trades, world, symbol } = await setting()
    await see('10', '10')
    await trade('1', '10')
    later(1)
    const at = world.clock.time
    const prices = ['9', '8', '9.5', '8', '11']
    await publishQuotes(
      world.ctx,
      prices.map((price, place) => quote(symbol, price, price, at + place)),
    )
    await see('8', '8', at + 9)
    expect(await trades()).toMatchObject([{ worst: -20, worstPx: 8, worstAt: at + 1, equity: 99_980 }])
  })

  test('a batch in which the trade ends: what comes after does not count', async () => {
    const { see, trade, trades, world, symbol, strategyId, instrumentId } = await setting()
    await see('10', '10')
    await trade('1', '10')
    await place(world, {
      strategyId,
      instrumentId,
      side: '2',
      quantity: '10',
      stop: '9',
      positionEffect: 'C',
    })
    await matchArrivals(world.ctx)
    const prices = ['9.50', '8.75', '5']
    await publishQuotes(
      world.ctx,
      prices.map((price) => quote(symbol, price, price)),
    )
    expect(await trades()).toMatchObject([{ closed: 10, worst: -12.5, worstPx: 8.75, profitLoss: -12.5 }])
  })

  test('the account value of the moment counts what else is held', async () => {
    const { see, trade, trades, world, strategyId } = await setting()
    const other = await addInstrument(db, { securityType: 'FUT', pointValue: '50' })
    await publishQuotes(world.ctx, [quote(other.symbol, '100', '100')])
    await place(world, { strategyId, instrumentId: other.id, side: '1', quantity: '2' })
    await see('10', '10')
    await trade('1', '100')
    await publishQuotes(world.ctx, [quote(other.symbol, '110', '110')])
    await see('9', '9')
    expect((await trades())[1]).toMatchObject({ worst: -100, equity: 100_900 })
  })

  test('outside the session nothing is marked; the close of a bar is a mark', async () => {
    const { see, trade, trades, world, symbol } = await setting()
    await see('10', '10')
    await trade('1', '10')
    await see('1', '1', Date.parse('2024-03-12T21:00:00Z'))
    expect(await trades()).toMatchObject([{ worst: null }])
    const at = opening + 60_000
    await publishBars(world.ctx, [bar(symbol, ['10', '10', '7', '9'], at, at + 60_000)])
    expect(await trades()).toMatchObject([{ worst: -10, worstPx: 9, worstAt: at + 60_000 }])
  })

  test('in another currency the rate of the moment decides', async () => {
    const { see, trade, later, trades, world } = await setting({ currency: 'CAD' })
    const pair = await addInstrument(db, { securityType: 'FOR', symbol: 'CADUSD', calendar: 'FOREX' })
    const rate = (px: string) => publishQuotes(world.ctx, [quote(pair.symbol, px, px, world.clock.time)])
    await rate('0.80')
    await see('10', '10')
    await trade('1', '100')
    await see('9', '9')
    expect(await trades()).toMatchObject([{ worst: -80, worstPx: 9 }])
    later(1)
    await rate('0.90')
    await see('9.05', '9.05')
    expect(await trades()).toMatchObject([{ worst: -85.5, worstPx: 9.05 }])
    await see('9.10', '9.10')
    expect(await trades()).toMatchObject([{ worst: -85.5 }])
    await trade('2', '100', 'C')
    expect(await trades()).toMatchObject([{ profitLoss: 19 }])
  })

  test('one that is not worse writes nothing', async () => {
    const { see, trade } = await setting()
    await see('10', '10')
    await trade('1', '10')
    await see('9', '9')
    const version = () => db.read.rows`select xmin::text from trade where closed_at is null order by id`
    const before = await version()
    await see('9', '9')
    await see('9.50', '9.60')
    await see('12', '12')
    expect(await version()).toEqual(before)
  })
})

test('any story gives the trades that the account book makes of it', async () => {
  const step = fc.oneof(
    fc.record({ bid: fc.integer({ min: 50, max: 150 }), spread: fc.integer({ min: 0, max: 3 }) }),
    fc.record({ order: fc.integer({ min: -9, max: 9 }).filter((size) => size !== 0) }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (story) => {
      const { see, trade, later, trades, instrumentId } = await setting(
        { securityType: 'FUT', pointValue: '5' },
        { commissionPlan: 'none' },
      )
      const instrument = { symbol: String(instrumentId), securityType: 'FUT', pointValue: dec(5) } as const
      let book = openBook(dec(100_000))
      const finished: FinishedTrade[] = []
      let last = { bid: dec(100), ask: dec(100) }
      await see('100', '100')
      for (const [place, move] of story.entries()) {
        later(1)
        const at = opening + (place + 1) * 1000
        const held = book.holdings.get(instrument.symbol)?.position.quantity ?? zero
        const mark = () => {
          const now = book.holdings.get(instrument.symbol)?.position.quantity ?? zero
          const price = now.isNegative() ? last.ask : last.bid
          book = markSymbol(book, instrument, { price, at })
        }
        if ('bid' in move) {
          last = { bid: dec(move.bid), ask: dec(move.bid + move.spread) }
          await see(last.bid.toFixed(), last.ask.toFixed(), at)
          mark()
          continue
        }
        const closes = held.times(move.order).lessThan(0)
        const size = closes ? Math.min(Math.abs(move.order), held.abs().toNumber()) : Math.abs(move.order)
        const side = move.order > 0 ? '1' : '2'
        const signalId = await trade(side, String(size), closes ? 'C' : 'O')
        const price = side === '1' ? last.ask : last.bid
        const fill = { side, quantity: dec(size), price, at, commission: zero, signalId } as const
        const booked = bookFill(book, instrument, fill)
        book = booked.book
        if (booked.finished) finished.push(booked.finished)
        mark()
      }
      const open = book.holdings.get(instrument.symbol)?.trade
      const told = [...finished, ...(open ? [open] : [])].map((one) => ({
        opened: one.openedQuantity.toNumber(),
        closed: one.closedQuantity.toNumber(),
        profitLoss: (one as Partial<FinishedTrade>).profitLoss?.toNumber() ?? null,
        worst: one.worst?.drawdown.toDecimalPlaces(2).toNumber() ?? null,
        worstPx: one.worst?.price.toNumber() ?? null,
        worstAt: one.worst?.at ?? null,
        worstQty: one.worst?.openQuantity.toNumber() ?? null,
        equity: one.worst?.strategyEquity.toDecimalPlaces(2).toNumber() ?? null,
      }))
      expect(await trades()).toMatchObject(told)
      expect(await trades()).toHaveLength(told.length)
    }),
    { numRuns: 25 },
  )
}, 60_000)
