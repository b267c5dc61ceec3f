/** Books at the marks of a day. */
import { expect, test } from 'vitest'
import { listed } from '../../../test/support/portfolio.ts'
import { dec } from '../decimal.ts'
import { dayMarks } from '../positions/day-marks.ts'
import { accountOn, type ClosedInstrument, closeDay } from './daily-close.ts'

const traded = (symbol: string, more: Partial<ClosedInstrument> = {}): ClosedInstrument => ({
  ...listed(symbol),
  currency: 'USD',
  underlyingId: null,
  ...more,
})
const option = { securityType: 'OPT', pointValue: dec(150), underlying: 'A', underlyingId: 1 } as const
const instruments = new Map([
  [1, traded('A')],
  [2, traded('A C40', { ...option, putOrCall: '1', strike: dec(40), expiry: '2024-06-21' })],
  [3, traded('EURUSD', { securityType: 'FOR', root: 'EUR/USD', pointValue: dec(1000) })],
  [4, traded('D', { currency: 'EUR' })],
  [5, traded('N', { currency: 'CHF' })],
])
const marks = dayMarks(
  'USD',
  [
    { instrumentId: 1, day: 1, bid: dec(59), ask: dec(61) },
    { instrumentId: 2, day: 1, bid: dec(20), ask: dec(22) },
    { instrumentId: 3, day: 1, bid: dec('1.1'), ask: dec('1.3') },
  ],
  [{ account: 'USD', currency: 'EUR', instrumentId: 3, isInverse: false }],
  // The contract had 100 shares on the first day; the stock of another split is not held.
  [{ instrumentId: 2, day: 3, multiplies: false, ratio: { new: dec(3), old: dec(2) } }],
)
const facts = { instruments, marks, currency: 'USD' }
const held = (instrumentId: number, quantity: number, avgPx: number, fx = 1) => ({
  instrumentId,
  quantity: dec(quantity),
  avgPx: dec(avgPx),
  fx: dec(fx),
})
const state = (...positions: ReturnType<typeof held>[]) => ({ cash: dec(1000), positions })
const on = (position: ReturnType<typeof held>) => {
  const [holding] = accountOn(state(position), 1, facts).holdings
  const { avgPx, bid, ask, fx, underlyingPrice, baseRate } = holding!
  return [avgPx, bid, ask, fx, underlyingPrice, baseRate].map((value) => value?.toNumber() ?? null)
}

test.each([
  ['a stock', held(1, 10, 50), [50, 59, 61, 1, null, null]],
  ['an option, in the size that its contract has now', held(2, 1, 30), [20, 40 / 3, 44 / 3, 1, 40, null]],
  ['a pair', held(3, 1, 1), [1, 1.1, 1.3, 1, null, 1.2]],
  ['what is in another currency, at its rate', held(4, 1, 9, 2), [9, null, null, 1.2, null, null]],
  ['at that of its last fill where there is none', held(5, 1, 9, 2), [9, null, null, 2, null, null]],
])('%s has its average, its marks, and what they are worth', (_, position, expected) => {
  expect(on(position)).toEqual(expected.map((value) => value && expect.closeTo(value, 12)))
})

test('a day closes with the value and the leverage that its marks make', () => {
  const { cash, value, leverage } = closeDay(state(held(1, 10, 50), held(9, 1, 1)), 1, facts)
  expect([cash, value, leverage].map(Number)).toEqual([1000, 1590, 590 / 1590])
})
