import { describe, expect, test } from 'vitest'
import { forex, future, portfolio } from '../../../test/support/portfolio.ts'
import { dec, one, zero } from '../decimal.ts'
import { completeInstrument } from '../market/derive-instrument.ts'
import type { InstrumentInput } from '../market/instrument.ts'
import {
  bookFill,
  markSymbol,
  modelAccountValue,
  openBook,
  type TradedInstrument,
} from '../positions/account-book.ts'
import { isAffordable, marginUsed } from './margin.ts'
import { forexLeverage, type HeldFacts, marginPositionOf } from './margin-position.ts'

const used = (text: string): number => marginUsed(portfolio(text)).toNumber()

describe('what a position binds', () => {
  test.each<[string, string, number]>([
    ['stock above 5: half its value', '+1000 S40', 20_000],
    ['short stock as well', '-1000 S40', 20_000],
    ['stock at 5: all of it', '+1000 S5', 5000],
    ['stock just above 5', '+1000 S5.01', 2505],
    ['bought above 5 and fallen below: still half', '+1000 S4<6', 2000],
    ['bought at 5 and risen above: still all', '+1000 S8<5', 8000],
    ['sold short below 5 and risen above: still all', '-1000 S8<4', 8000],
    ['nothing held', '+0 S', 0],
    ['several positions: one pool', '+1000 S40 -100 B.S10 +1 C100@5', 20_000 + 500 + 500],
  ])('%s: %s', (_, text, expected) => {
    expect(used(text)).toBe(expected)
  })

  test('futures: the initial margin of each contract, in account currency', () => {
    expect(marginUsed([future('@ESM6', 2, 13_000)]).toNumber()).toBe(26_000)
    expect(marginUsed([future('@ESM6', -2, 13_000)]).toNumber()).toBe(26_000)
    expect(marginUsed([{ ...future('@FDAXM6', 1, 40_000), fx: dec('1.1') }]).toNumber()).toBe(44_000)
  })

  test('forex: a thousand of the base currency for each unit, over its leverage', () => {
    expect(marginUsed([forex('EURUSD', 10, 1.1)]).toNumber()).toBe(220)
    expect(marginUsed([forex('USDZAR', -10, 1, 20)]).toNumber()).toBe(500)
    expect(marginUsed([{ ...forex('EURUSD', 10, 1.1), fx: dec('0.5') }]).toNumber()).toBe(110)
  })

  test.each([
    ['EURUSD', 50],
    ['USD/JPY', 50],
    ['NZDCAD', 50],
    ['USDSEK', 50],
    ['EURNOK', 50],
    ['USDMXN', 20],
    ['EUR/TRY', 20],
    ['HKDJPY', 20],
  ])('leverage of %s is %d', (pair, leverage) => {
    expect(forexLeverage(pair).toNumber()).toBe(leverage)
  })
})

describe('published accounts', () => {
  const es: TradedInstrument = { symbol: '@ESM6', securityType: 'FUT', pointValue: dec(50) }

  test('futures: 70,930 in cash, 2,371 under water, 7,080 bound', () => {
    const fill = { side: '1', quantity: one, price: dec(5000), at: 0, commission: zero, signalId: 1 } as const
    const { book } = bookFill(openBook(dec(70_930)), es, fill)
    const value = modelAccountValue(markSymbol(book, es, { price: dec(5000).minus('47.42'), at: 1 }))
    expect(value.toNumber()).toBe(68_559)
    expect(value.minus(marginUsed([future('@ESM6', 1, 7080)])).toNumber()).toBe(61_479)
  })

  test('stock: 1,000 at 40 take half of their value from 50,000', () => {
    expect(
      dec(50_000)
        .minus(marginUsed(portfolio('+1000 S40<40')))
        .toNumber(),
    ).toBe(30_000)
  })
})

describe('acceptance', () => {
  const accepts = (value: string, positionEffect: 'O' | 'C' = 'O', commission = '10') =>
    isAffordable({
      positionEffect,
      modelAccountValue: dec(value),
      positionsAfter: portfolio('+1000 S40'),
      commission: dec(commission),
    })

  test('margin and commission may take the whole account value, and no cent more', () => {
    expect(accepts('20010')).toBe(true)
    expect(accepts('20009.99')).toBe(false)
    expect(accepts('20000', 'O', '0')).toBe(true)
  })

  test('closing is never refused', () => {
    expect(accepts('-5', 'C')).toBe(true)
  })
})

describe('from an instrument', () => {
  const held: HeldFacts = { quantity: dec(2), avgPx: dec(4), price: dec(40), fx: dec('0.5') }
  const of = (input: InstrumentInput, more: Partial<HeldFacts> = {}) =>
    marginUsed([marginPositionOf(completeInstrument(input, 20_000), { ...held, ...more })]).toNumber()

  test('stock by what was paid for it', () => {
    expect(of({ symbol: 'AAPL', securityType: 'CS' })).toBe(40)
    expect(of({ symbol: 'AAPL', securityType: 'CS' }, { avgPx: dec(6) })).toBe(20)
    expect(of({ symbol: 'AAPL', securityType: 'CS' }, { avgPx: null })).toBe(20)
  })

  test('a future by its entered margin, without one by its full value', () => {
    expect(of({ symbol: 'ABC', securityType: 'FUT', initialMargin: dec(1000) })).toBe(1000)
    expect(of({ symbol: 'ABC', securityType: 'FUT', pointValue: dec(50) })).toBe(2 * 40 * 50 * 0.5)
    // Below zero too: it may fall further.
    const below = { price: dec(-40) }
    expect(of({ symbol: 'ABC', securityType: 'FUT', pointValue: dec(50) }, below)).toBe(2 * 40 * 50 * 0.5)
  })

  test('a pair by its base currency at its own rate', () => {
    const rate = { quantity: dec(10), price: dec(150), fx: one.div(150) }
    expect(of({ symbol: 'USDJPY', securityType: 'FOR' }, rate)).toBeCloseTo(200, 9)
    expect(of({ symbol: 'EURZAR', securityType: 'FOR' }, { ...rate, price: dec(20), fx: dec('0.055') })).toBe(
      (10 * 1000 * 1.1) / 20,
    )
  })

  test('an option by its own terms', () => {
    const input: InstrumentInput = { symbol: 'AAPL2619F100', securityType: 'OPT' }
    const short = { quantity: dec(-1), price: dec(5), fx: one }
    expect(of(input, { ...short, underlyingPrice: dec(95) })).toBe((19 - 5) * 100)
    expect(of(input, short)).toBe(2000)
    expect(of({ symbol: 'SPXW2619F100', securityType: 'OPT' }, { ...short, underlyingPrice: dec(100) })).toBe(
      1500,
    )
    const covered = [
      marginPositionOf(completeInstrument(input, 20_000), { ...held, ...short, underlyingPrice: dec(100) }),
      marginPositionOf(completeInstrument({ symbol: 'AAPL', securityType: 'CS' }, 20_000), {
        ...held,
        quantity: dec(100),
        avgPx: dec(90),
        price: dec(100),
        fx: one,
      }),
    ]
    expect(marginUsed(covered).toNumber()).toBe(5000)
  })
})
