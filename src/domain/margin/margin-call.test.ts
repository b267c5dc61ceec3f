import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { future, portfolio } from '../../../test/support/portfolio.ts'
import { dec } from '../decimal.ts'
import { marginUsed } from './margin.ts'
import { type MarginCallOrder, marginCall } from './margin-call.ts'
import { matchOptions } from './margin-options.ts'
import type { MarginPosition } from './margin-position.ts'

const shown = (orders: readonly MarginCallOrder[]): string =>
  orders
    .map(({ symbol, side, quantity }) => `${side === '1' ? 'buy' : 'sell'} ${quantity} ${symbol}`)
    .join(', ')

const called = (
  positions: MarginPosition[],
  value: number,
  isMarketOpen: (symbol: string) => boolean = () => true,
): string => shown(marginCall(positions, dec(value), isMarketOpen))

describe('a margin call', () => {
  test.each<[string, string, number, string]>([
    ['is none while buying power is not negative', '+2000 S40', 40_000, ''],
    ['closes as much as is needed', '+2000 S40', 30_000, 'sell 500 A'],
    ['closes whole units', '+2000 S40', 39_999, 'sell 1 A'],
    ['buys back what is short', '-2000 S40', 30_000, 'buy 500 A'],
    ['closes everything where less is not enough', '+2000 S40', -1, 'sell 2000 A'],
    ['closes fractions of a unit with the last whole one', '+10.5 S40', 0, 'sell 10.5 A'],
    ['takes the position that frees the most', '+100 S40 +300 B.S40', 7000, 'sell 50 B'],
    ['of equals takes the first', '+100 S40 +100 B.S40', 3000, 'sell 50 A'],
    [
      'closes the legs of a spread together, the short one first',
      '+2 C110@2 -2 C100@5',
      1000,
      'buy 1 A C100/0619x100, sell 1 A C110/0619x100',
    ],
    [
      'closes a covered option with its stock, the option first',
      '+200 S -2 C105@2',
      6000,
      'buy 1 A C105/0619x100, sell 100 A',
    ],
    [
      'closes no more of the stock than is held',
      '+200 S -3 C105@2x66.666666666667',
      0,
      'buy 3 A C105/0619x66.666666666667, sell 200 A',
    ],
    ['closes stock that covers nothing before stock that does', '+1000 S -1 C105@2', 40_000, 'sell 200 A'],
    ['and stock that does only with its call', '+200 S -1 C105@2', 2000, 'sell 100 A'],
    [
      'closes all of a stock beside another one that covers',
      '+200 S -1 C105@2 +2000 B.S40',
      0,
      'sell 2000 B',
    ],
    ['closes a short option alone', '+10 S -2 C105@2', 3000, 'buy 1 A C105/0619x100'],
    ['closes nothing where closing frees nothing', '-1 C100@5 +1 C90@4', -100, ''],
  ])('%s', (_, text, value, expected) => {
    expect(called(portfolio(text), value)).toBe(expected)
  })

  test('closes only where the market is open, a spread only where both legs trade', () => {
    const both = [...portfolio('+300 S40'), future('@ESM6', 1, 13_000)]
    expect(called(both, 10_000)).toBe('sell 1 @ESM6')
    expect(called(both, 10_000, (symbol) => symbol === 'A')).toBe('sell 300 A')
    expect(called(both, 10_000, () => false)).toBe('')
    const spread = portfolio('-2 C100@5 +2 C110@2')
    expect(called(spread, 0, (symbol) => symbol.includes('C100'))).toBe('')
  })
})

describe('laws', () => {
  const lines = [
    '+300 S',
    '-200 S',
    '+100 B.S20',
    '-2 C100@5',
    '+2 C110@2',
    '-1 P95@3',
    '+3 P90@1',
    '-4 B.C100@6',
  ]
  const portfolios = fc
    .subarray(lines, { minLength: 1 })
    .filter((some) => some.filter((line) => / S/.test(line)).length < 2)
    .map((some) => portfolio(some.join(' ')))

  const afterwards = (positions: MarginPosition[], orders: readonly MarginCallOrder[]): MarginPosition[] =>
    positions.flatMap((position) => {
      const order = orders.find(({ symbol }) => symbol === position.symbol)
      if (!order) return [position]
      const quantity = position.quantity.plus(order.quantity.times(order.side === '1' ? 1 : -1))
      return quantity.isZero() ? [] : [{ ...position, quantity }]
    })
  const nakedShorts = (positions: MarginPosition[]): number =>
    matchOptions(positions).reduce(
      (sum, match) =>
        match.kind === 'single' && match.option.quantity.isNegative()
          ? sum + match.contracts.toNumber()
          : sum,
      0,
    )

  test('repeated, it ends with buying power or with nothing that binds', () => {
    fc.assert(
      fc.property(portfolios, fc.integer({ min: -2000, max: 20_000 }), (positions, value) => {
        let held = positions
        for (let step = 0; ; step++) {
          const orders = marginCall(held, dec(value), () => true)
          if (orders.length === 0) break
          const next = afterwards(held, orders)
          expect(marginUsed(next).lessThan(marginUsed(held))).toBe(true)
          expect(nakedShorts(next)).toBeLessThanOrEqual(nakedShorts(held))
          expect(
            next.every((now) =>
              held.some((was) => was.symbol === now.symbol && now.quantity.abs().lte(was.quantity.abs())),
            ),
          ).toBe(true)
          held = next
          expect(step).toBeLessThan(20)
        }
        expect(marginUsed(held).lessThanOrEqualTo(Math.max(value, 0))).toBe(true)
      }),
    )
  })

  test('it closes no unit more than it must', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 5000 }),
        fc.integer({ min: 0, max: 100_000 }),
        (shares, value) => {
          const positions = portfolio(`+${shares} S40`)
          const [order] = marginCall(positions, dec(value), () => true)
          const needed = Math.ceil((shares * 20 - value) / 20)
          expect(order?.quantity.toNumber() ?? 0).toBe(Math.max(0, needed))
        },
      ),
    )
  })
})
