import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { expireOption } from './option-expiry.ts'
import type { PositionFill } from './position.ts'

const told = (fill: PositionFill | null): string =>
  fill ? `${fill.side === '1' ? 'buy' : 'sell'} ${fill.quantity} @ ${fill.price}` : '-'

// Contracts, right and strike, settlement; close of the underlying; exercised; option; underlying.
const cases = `
 2 C100 physical | 105    | yes | sell 2 @ 0    | buy 200 @ 100
-2 C100 physical | 105    | yes | buy 2 @ 0     | sell 200 @ 100
 2 P100 physical | 95     | yes | sell 2 @ 0    | sell 200 @ 100
-2 P100 physical | 95     | yes | buy 2 @ 0     | buy 200 @ 100
 2 C100 physical | 100.01 | yes | sell 2 @ 0    | buy 200 @ 100
 2 C100 physical | 100.009 | no | sell 2 @ 0    | -
 2 C100 physical | 100    | no  | sell 2 @ 0    | -
-2 C100 physical | 90     | no  | buy 2 @ 0     | -
 2 P100 physical | 99.99  | yes | sell 2 @ 0    | sell 200 @ 100
 2 P100 physical | 100    | no  | sell 2 @ 0    | -
-2 P100 physical | 110    | no  | buy 2 @ 0     | -
 3 C4500 cash    | 4512.3 | yes | sell 3 @ 12.3 | -
-3 C4500 cash    | 4512.3 | yes | buy 3 @ 12.3  | -
 3 P4500 cash    | 4499   | yes | sell 3 @ 1    | -
-3 P4500 cash    | 4501   | no  | buy 3 @ 0     | -
 3 C4500 cash    | 4500.005 | no | sell 3 @ 0   | -
 0 C100 physical | 105    | no  | -             | -
`
  .trim()
  .split('\n')
  .map((line) => line.split('|').map((cell) => cell.trim()))

const expire = (given: string, close: string, pointValue = 100) => {
  const [quantity = '', terms = '', settlement] = given.split(/\s+/)
  return expireOption({
    quantity: dec(quantity),
    putOrCall: terms.startsWith('C') ? '1' : '0',
    strike: dec(terms.slice(1)),
    pointValue: dec(pointValue),
    settlement: settlement === 'cash' ? 'cash' : 'physical',
    underlyingClose: dec(close),
  })
}

describe('an option at expiry', () => {
  test.each(cases)('%s at %s: exercised %s', (given = '', close = '', exercised, option, underlying) => {
    const outcome = expire(given, close)
    expect([outcome.exercised ? 'yes' : 'no', told(outcome.option), told(outcome.underlying)]).toEqual([
      exercised,
      option,
      underlying,
    ])
  })

  test('an adjusted contract delivers its own size', () => {
    expect(told(expire('-2 C66.67 physical', '70', 150).underlying)).toBe('sell 300 @ 66.67')
  })

  test('contracts of a size without end deliver what books can hold', () => {
    expect(told(expire('3 C225 physical', '252', 66.666666666667).underlying)).toBe('buy 200 @ 225')
    expect(told(expire('-1 C225 physical', '252', 66.666666666667).underlying)).toBe('sell 66.66666667 @ 225')
  })
})
