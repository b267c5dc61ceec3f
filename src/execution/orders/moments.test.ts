/** Which prices count. */
import { expect, test } from 'vitest'
import { dec } from '../../domain/decimal.ts'
import type { QuotedInstrument } from '../../storage/market/quotes.ts'
import { knownIn } from './moments.ts'

const splitAt = Date.parse('2024-03-13T13:30:00Z')
const hour = 3_600_000
const split: QuotedInstrument = {
  id: 1,
  symbol: 'AAPL',
  securityType: 'CS',
  calendar: 'US_EQUITY',
  tick: dec('0.01'),
  pointValue: dec(1),
  currency: 'USD',
  lastTradingDay: null,
  splitAt,
  hasArrivals: false,
}

test.each([
  ['a bar that begins before a split and ends after it counts from the split on', -hour / 2, hour / 2, 0],
  ['one that begins with it counts', 0, hour, 0],
  ['one that ends with it does not', -hour, 0, undefined],
  ['a price of its moment counts', 0, undefined, 0],
  ['one of before does not', -1, undefined, undefined],
])('%s', (_, from, to, counts) => {
  const item = { symbol: 'AAPL', at: splitAt + from, ...(to !== undefined && { endsAt: splitAt + to }) }
  const expected =
    counts === undefined ? [] : [{ item: { ...item, at: splitAt + counts }, instrument: split }]
  expect(knownIn([item], [split])).toEqual(expected)
})
