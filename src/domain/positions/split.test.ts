import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { OrdStatus } from '../codes.ts'
import { cents, type Decimal, dec, one, zero } from '../decimal.ts'
import { bookFill, markSymbol, openBook, type TradedInstrument } from './account-book.ts'
import { flat, type Position } from './position.ts'
import {
  type SplitRatio,
  splitContract,
  splitHolding,
  splitOptionOrder,
  splitOptionPosition,
  splitOrder,
  splitPosition,
} from './split.ts'

const ratioOf = (text: string): SplitRatio => {
  const [into = '', from = ''] = text.split(':')
  return { new: dec(into), old: dec(from) }
}
const holding = (quantity: number | Decimal, avgPx: number): Position => ({
  quantity: dec(quantity),
  avgPx: dec(avgPx),
  avgCost: dec(avgPx),
})
const plain = (value: Decimal | null | undefined): number | null => (value ? value.toNumber() + 0 : null)

describe('a position', () => {
  // quantity @ average, ratio, previous close -> quantity @ average, fraction @ price, cash in lieu
  test.each([
    ['100 @ 50 2:1 60', '200 @ 25', null, 0],
    ['-100 @ 50 2:1 60', '-200 @ 25', null, 0],
    ['100 @ 50 3:2 60', '150 @ 33.33333333', null, 0],
    ['101 @ 50 3:2 60', '151 @ 33.33333333', 'sell 0.5 @ 40', 20],
    ['-101 @ 50 3:2 60', '-151 @ 33.33333333', 'buy 0.5 @ 40', -20],
    ['105 @ 2 1:10 3', '10 @ 20', 'sell 0.5 @ 30', 15],
    ['-105 @ 2 1:10 3', '-10 @ 20', 'buy 0.5 @ 30', -15],
    ['7 @ 2 1:10 3', 'flat', 'sell 0.7 @ 30', 21],
    ['-7 @ 2 1:10 3', 'flat', 'buy 0.7 @ 30', -21],
    ['100 @ 5 1:3 4.01', '33 @ 15', 'sell 0.33333333 @ 12.03', 4.01],
    ['10 @ 5 1:3 0.125', '3 @ 15', 'sell 0.33333333 @ 0.375', 0.13],
    ['10 @ 50 4:2 60', '20 @ 25', null, 0],
    ['10 @ 50 1:1 60', '10 @ 50', null, 0],
  ])('%s', (given, expected, fraction, cashInLieu) => {
    const [quantity, , avgPx, ratio = '', previousClose = ''] = given.split(' ')
    const after = splitPosition(holding(Number(quantity), Number(avgPx)), ratioOf(ratio), dec(previousClose))
    const { position } = after
    const rounded = (value: Decimal | null): number | null => plain(value?.toDecimalPlaces(8))
    expect(position.avgPx ? `${position.quantity} @ ${rounded(position.avgPx)}` : 'flat').toBe(expected)
    expect(position.avgCost).toEqual(position.avgPx)
    expect(
      after.fraction &&
        `${after.fraction.side === '1' ? 'buy' : 'sell'} ${rounded(after.fraction.quantity)} @ ${plain(after.fraction.price)}`,
    ).toBe(fraction)
    expect(plain(after.cashInLieu)).toBe(cashInLieu)
  })

  test('nothing held stays nothing', () => {
    expect(splitPosition(flat, ratioOf('3:2'), dec(60))).toEqual({
      position: flat,
      fraction: null,
      cashInLieu: zero,
    })
  })
})

describe('an order', () => {
  // status leaves limit stop, ratio, tick -> status leaves limit stop
  test.each([
    ['0 100 50 -', '2:1 0.01', '0 200 25 -'],
    ['0 100 - 50', '2:1 0.01', '0 200 - 25'],
    ['1 33 10.01 -', '2:1 0.01', '1 66 5.01 -'],
    ['A 33 10.05 9.95', '2:1 0.1', 'A 66 5 5'],
    ['0 33 10.05 -', '3:2 0.01', '0 49 6.7 -'],
    ['0 9 1 -', '1:10 0.01', '4 0 10 -'],
    ['0 19 1.23 -', '1:10 0.05', '0 1 12.3 -'],
    ['0 10 1.234 -', '1:1 0.005', '0 10 1.235 -'],
    ['6 10 - -', '2:1 0.01', '6 20 - -'],
    ['E 10 3 -', '2:1 0.01', 'E 20 1.5 -'],
    ['2 0 10 -', '2:1 0.01', '2 0 10 -'],
    ['4 0 10 -', '2:1 0.01', '4 0 10 -'],
    ['C 0 - 10', '2:1 0.01', 'C 0 - 10'],
    ['8 0 10 -', '2:1 0.01', '8 0 10 -'],
  ])('%s in %s', (given, terms, expected) => {
    const price = (text = '-'): Decimal | null => (text === '-' ? null : dec(text))
    const [status, leaves = '', limit, stop] = given.split(' ')
    const [ratio = '', tick = ''] = terms.split(' ')
    const order = {
      id: 1,
      status: status as OrdStatus,
      leaves: dec(leaves),
      limitPx: price(limit),
      stopPx: price(stop),
    }
    const after = splitOrder(order, ratioOf(ratio), dec(tick))
    expect([after.status, after.leaves, after.limitPx ?? '-', after.stopPx ?? '-'].join(' ')).toBe(expected)
  })
})

describe('options on the stock', () => {
  const contract = { strike: dec(50), pointValue: dec(100) }
  const position: Position = { quantity: dec(-4), avgPx: dec(6), avgCost: dec(600) }
  const order = { id: 1, status: '0', leaves: dec(3), limitPx: dec('6.01'), stopPx: null } as const

  test.each([
    ['2:1', '25 x100', '-8 @ 3 cost 300', '6 @ 3.01'],
    ['4:2', '25 x100', '-8 @ 3 cost 300', '6 @ 3.01'],
    ['3:1', '16.67 x100', '-12 @ 2 cost 200', '9 @ 2'],
    ['3:2', '33.33 x150', '-4 @ 4 cost 600', '3 @ 4.01'],
    ['1:10', '500 x10', '-4 @ 60 cost 600', '3 @ 60.1'],
  ])('%s', (text, terms, held, working) => {
    const ratio = ratioOf(text)
    const after = splitContract(contract, ratio)
    expect(`${after.strike} x${after.pointValue}`).toBe(terms)
    const { quantity, avgPx, avgCost } = splitOptionPosition(position, ratio)
    expect(`${quantity} @ ${avgPx} cost ${avgCost}`).toBe(held)
    const { status, leaves, limitPx } = splitOptionOrder(order, ratio, dec('0.01'))
    expect(`${leaves} @ ${limitPx}`).toBe(working)
    expect(status).toBe('0')
  })

  test('one contract of another size is never canceled by truncation', () => {
    const after = splitOptionOrder({ ...order, leaves: one }, ratioOf('1:10'), dec('0.01'))
    expect([after.status, after.leaves.toNumber()]).toEqual(['0', 1])
  })
})

describe('the books', () => {
  const stock: TradedInstrument = { symbol: 'AAPL', securityType: 'CS', pointValue: one }
  const fill = (side: '1' | '2', quantity: number, price: number, at: number) =>
    ({ side, quantity: dec(quantity), price: dec(price), at, commission: zero, signalId: 7 }) as const
  const bought = bookFill(openBook(dec(10_000)), stock, fill('1', 101, 50, 0)).book

  test('position and open trade are restated, the worst moment of the trade with them', () => {
    const underWater = markSymbol(bought, stock, { price: dec(40), at: 1 }).holdings.get('AAPL')!
    const { position, trade } = splitHolding(underWater, { ratio: ratioOf('3:2'), multiplies: true })
    expect([position.quantity, trade?.openedQuantity, trade?.openTurnover].map(plain)).toEqual([
      151.5, 151.5, 5050,
    ])
    const worst = trade?.worst
    expect([worst?.drawdown, worst?.openQuantity].map(plain)).toEqual([-1010, 151.5])
    expect(worst?.price.minus(worst.entryPrice).times(worst.openQuantity).toNumber()).toBeCloseTo(-1010, 9)
  })

  test('quantities are kept to eight decimals, and the averages of the trade are the restated prices', () => {
    const opened = bookFill(openBook(dec(1000)), stock, fill('1', 4, 11.61, 0)).book
    const part = bookFill(opened, stock, fill('2', 1, 12, 1)).book.holdings.get('AAPL')!
    const { position, trade } = splitHolding(part, { ratio: ratioOf('1:3'), multiplies: true })
    expect([position.quantity, trade?.openedQuantity, trade?.closedQuantity].map(plain)).toEqual([
      1, 1.33333333, 0.33333333,
    ])
    expect(trade?.openTurnover.div(trade.openedQuantity).toFixed(12)).toBe('34.830000000000')
    expect(trade?.closeTurnover.div(trade.closedQuantity).toFixed(12)).toBe('36.000000000000')
  })

  test('a short that is open opened what it closed and what it still is', () => {
    const opened = bookFill(openBook(dec(1000)), stock, fill('2', 4, 12, 0)).book
    const part = bookFill(opened, stock, fill('1', 1, 9, 1)).book.holdings.get('AAPL')!
    const { position, trade } = splitHolding(part, { ratio: ratioOf('2:1'), multiplies: true })
    expect([position.quantity, trade?.openedQuantity, trade?.closedQuantity].map(plain)).toEqual([-6, 8, 2])
    expect([trade?.openTurnover, trade?.closeTurnover].map(plain)).toEqual([48, 9])
  })

  test('of contracts that change their size the prices fall and the number stays', () => {
    const opened = bookFill(openBook(dec(1000)), stock, fill('1', 4, 12, 0)).book
    const part = bookFill(opened, stock, fill('2', 1, 9, 1)).book.holdings.get('AAPL')!
    const { position, trade } = splitHolding(part, { ratio: ratioOf('3:2'), multiplies: false })
    expect([position.quantity, position.avgPx, position.avgCost].map(plain)).toEqual([3, 8, 12])
    expect([trade?.openedQuantity, trade?.openTurnover, trade?.closeTurnover].map(plain)).toEqual([4, 32, 6])
  })

  test('a holding of which nothing is kept is flat', () => {
    const held = { position: holding(dec('0.00000001'), 12), trade: null }
    expect(splitHolding(held, { ratio: ratioOf('1:10'), multiplies: true }).position).toEqual(flat)
  })

  test('the worst moment of a trade never held more than it opened, also where both are rounded', () => {
    const worst = {
      price: dec(60),
      at: 0,
      drawdown: dec(-50),
      entryPrice: dec(50),
      strategyEquity: dec(1000),
    }
    const [openedQuantity, closedQuantity] = [dec('1.66666667'), dec('0.66666667')]
    const { position, trade } = bookFill(openBook(dec(1000)), stock, fill('1', 1, 50, 0)).book.holdings.get(
      'AAPL',
    )!
    const worn = {
      ...trade!,
      openedQuantity,
      closedQuantity,
      worst: { ...worst, openQuantity: openedQuantity },
    }
    const after = splitHolding({ position, trade: worn }, { ratio: ratioOf('1:3'), multiplies: true }).trade
    expect([after.openedQuantity, after.worst?.openQuantity].map(plain)).toEqual([0.55555555, 0.55555555])
    const early = { ...worn, worst: { ...worst, openQuantity: dec(1) } }
    const held = splitHolding({ position, trade: early }, { ratio: ratioOf('1:4'), multiplies: true }).trade
    expect(plain(held.worst?.openQuantity)).toBe(0.25)
  })
})

describe('laws', () => {
  const quantities = fc.integer({ min: -10_000, max: 10_000 })
  const ratios = fc.record({
    new: fc.integer({ min: 1, max: 50 }).map(dec),
    old: fc.integer({ min: 1, max: 50 }).map(dec),
  })
  const prices = fc.integer({ min: 1, max: 100_000 }).map((price) => dec(price).div(100))

  test('at the previous close a split changes the value by less than a cent', () => {
    fc.assert(
      fc.property(quantities, ratios, prices, (quantity, ratio, close) => {
        const { position, cashInLieu } = splitPosition(holding(quantity, 1), ratio, close)
        const worth = position.quantity.times(close).times(ratio.old).div(ratio.new)
        expect(worth.plus(cashInLieu).minus(close.times(quantity)).abs().lessThanOrEqualTo('0.005001')).toBe(
          true,
        )
        expect(cents(cashInLieu)).toEqual(cashInLieu)
      }),
    )
  })

  test('what is left is whole, never larger than the exact size, and on the same side', () => {
    fc.assert(
      fc.property(quantities, ratios, (quantity, ratio) => {
        const { position, fraction } = splitPosition(holding(quantity, 1), ratio, one)
        const exact = dec(quantity).times(ratio.new).div(ratio.old)
        expect(position.quantity.isInteger()).toBe(true)
        expect(position.quantity.times(quantity).greaterThanOrEqualTo(0)).toBe(true)
        expect(
          position.quantity
            .abs()
            .plus(fraction?.quantity ?? 0)
            .equals(exact.abs()),
        ).toBe(true)
        expect((fraction?.quantity ?? zero).lessThan(1)).toBe(true)
      }),
    )
  })

  test('a long and a short position mirror each other', () => {
    fc.assert(
      fc.property(quantities, ratios, prices, (quantity, ratio, close) => {
        const long = splitPosition(holding(quantity, 1), ratio, close)
        const short = splitPosition(holding(-quantity, 1), ratio, close)
        expect(short.cashInLieu.plus(long.cashInLieu).toNumber()).toBe(0)
        expect(short.position.quantity.plus(long.position.quantity).toNumber()).toBe(0)
      }),
    )
  })
})
