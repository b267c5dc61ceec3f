import fc from 'fast-check'
import { expect, test } from 'vitest'
import { directionOf, type Side } from '../codes.ts'
import { cents, type Decimal, dec, zero } from '../decimal.ts'
import {
  bookDividend,
  bookFill,
  markSymbol,
  modelAccountValue,
  openBook,
  type TradedInstrument,
} from './account-book.ts'
import { isPaidInFull } from './position.ts'
import type { FinishedTrade } from './trade.ts'

const instruments: TradedInstrument[] = [
  { symbol: 'AAPL', securityType: 'CS', pointValue: dec(1) },
  { symbol: 'MSFT1220J30.5', securityType: 'OPT', pointValue: dec(100) },
  { symbol: '@ESM26', securityType: 'FUT', pointValue: dec(50) },
  { symbol: 'EURUSD', securityType: 'FOR', pointValue: dec(1000) },
]

const event = fc.record({
  kind: fc.constantFrom('fill', 'fill', 'fill', 'mark', 'dividend'),
  instrument: fc.constantFrom(...instruments),
  side: fc.constantFrom<Side>('1', '2'),
  quantity: fc.integer({ min: 1, max: 100 }).map(dec),
  price: fc.integer({ min: 1, max: 100_000 }).map((value) => dec(value).div(100)),
  commission: fc.integer({ min: 0, max: 500 }).map((value) => dec(value).div(100)),
  fx: fc.constantFrom(dec('0.5'), dec(1), dec('1.25')),
})

interface Flows {
  quantity: Decimal
  /** What was paid, in account currency for what is paid in full, else in quote currency. */
  paid: Decimal
}

test('at every step the account value is what came in, went out and is held', () => {
  fc.assert(
    fc.property(fc.array(event, { maxLength: 30 }), fc.boolean(), (events, isForeign) => {
      const start = dec(100_000)
      let book = openBook(start)
      let other = start
      const flows = new Map<string, Flows>()
      const finished: FinishedTrade[] = []
      events.forEach(({ kind, instrument, side, quantity, price, commission, fx: rate }, at) => {
        const { symbol, securityType, pointValue } = instrument
        // Results of futures are converted when they are realised: only stocks add up at changing rates.
        const fx = isForeign && isPaidInFull(securityType) ? rate : dec(1)
        const flow = flows.get(symbol) ?? { quantity: zero, paid: zero }
        if (kind === 'mark') book = markSymbol(book, instrument, { price, at, fx })
        if (kind === 'dividend') {
          book = bookDividend(book, instrument, price, fx)
          other = other.plus(flow.quantity.times(price).times(fx))
        }
        if (kind === 'fill') {
          const result = bookFill(book, instrument, {
            side,
            quantity,
            price,
            at,
            commission,
            fx,
            signalId: at,
          })
          book = result.book
          if (result.finished) finished.push(result.finished)
          const signed = quantity.times(directionOf(side))
          const paid = signed.times(price).times(pointValue).times(fx)
          flows.set(symbol, { quantity: flow.quantity.plus(signed), paid: flow.paid.plus(paid) })
          other = other.minus(commission)
        }
        const value = [...book.holdings].reduce((total, [held, { instrument: traded, mark, fx: now }]) => {
          const { quantity: sum, paid } = flows.get(held) ?? { quantity: zero, paid: zero }
          return total.plus(sum.times(mark).times(traded.pointValue).times(now)).minus(paid)
        }, other)
        expect(modelAccountValue(book).minus(value).abs().lessThan('1e-20')).toBe(true)
        for (const [held, { position, trade }] of book.holdings) {
          expect(position.quantity.equals(flows.get(held)?.quantity ?? zero)).toBe(true)
          expect(trade === null).toBe(position.quantity.isZero())
        }
      })
      for (const trade of finished) {
        expect(trade.openedQuantity.equals(trade.closedQuantity)).toBe(true)
        expect(trade.worst?.drawdown.isNegative() ?? true).toBe(true)
      }
      const open = [...book.holdings.values()].flatMap(({ trade }) => trade ?? [])
      const booked = [...finished, ...open].reduce((total, { commission }) => total.plus(commission), zero)
      const charged = events.filter(({ kind }) => kind === 'fill').map(({ commission }) => commission)
      expect(booked.equals(charged.reduce((total, part) => total.plus(part), zero))).toBe(true)
    }),
  )
})

test('when all is flat, cash moved by what the trades show', () => {
  fc.assert(
    fc.property(fc.array(event, { minLength: 1, maxLength: 20 }), (events) => {
      let book = openBook(zero)
      let shown = zero
      const take = (fill: Parameters<typeof bookFill>[2], instrument: TradedInstrument): void => {
        const result = bookFill(book, instrument, fill)
        book = result.book
        shown = shown.plus(result.finished?.profitLoss ?? zero)
      }
      events.forEach(({ instrument, side, quantity, price, fx }, at) => {
        take({ side, quantity, price, at, commission: zero, fx, signalId: at }, instrument)
      })
      for (const { instrument, position, mark } of [...book.holdings.values()]) {
        if (position.quantity.isZero()) continue
        const side = position.quantity.isNegative() ? '1' : '2'
        const closing = { side, quantity: position.quantity.abs(), price: mark, commission: zero } as const
        take({ ...closing, at: events.length, signalId: events.length }, instrument)
      }
      // Each trade is rounded to the cent once.
      const most = dec('0.005').times(events.length + instruments.length)
      expect(book.cash.minus(shown).abs().lessThanOrEqualTo(most)).toBe(true)
      expect(modelAccountValue(book).equals(book.cash)).toBe(true)
      expect(cents(book.cash).isFinite()).toBe(true)
    }),
  )
})

test('a price that is the average to the last digit prices keep is not under water', () => {
  const [stock] = instruments as [TradedInstrument]
  const sale = { side: '2' as const, commission: zero, signalId: 1, at: 0 }
  const first = bookFill(openBook(dec(1000)), stock, { ...sale, quantity: dec(15), price: dec(7) })
  const short = bookFill(first.book, stock, { ...sale, quantity: dec('7.5'), price: dec(6) })
  const marked = (price: string) => markSymbol(short.book, stock, { price: dec(price), at: 1 })
  const worst = (price: string) => marked(price).holdings.get(stock.symbol)?.trade?.worst
  expect(worst('6.666666666667')).toBeNull()
  expect(worst('6.67')?.drawdown.toFixed(3)).toBe('-0.075')
})

test('the worst moment of a short says how many it was short', () => {
  const shares = { symbol: 'MSFT', securityType: 'CS', pointValue: dec(1) } as const
  const sold = { side: '2', quantity: dec(4), price: dec(10), at: 0, commission: zero, signalId: 1 } as const
  const { book } = bookFill(openBook(dec(1000)), shares, sold)
  const { trade } = markSymbol(book, shares, { price: dec(12), at: 1 }).holdings.get('MSFT')!
  expect([trade?.worst?.openQuantity, trade?.worst?.drawdown].map(Number)).toEqual([4, -8])
})
