/** What a strategy is worth, what it may still buy, and what a call would close. */
import { describe, expect, test } from 'vitest'
import { listed } from '../../../test/support/portfolio.ts'
import { type Decimal, dec, one, zero } from '../decimal.ts'
import { newBookOrder } from '../orders/order-book.ts'
import { commissionPlans } from '../positions/tables/commission-plans.ts'
import { wholeMarginCall } from './margin-call.ts'
import type { MarginInstrument } from './margin-position.ts'
import {
  accountValue,
  afterTrades,
  buyingPower,
  type Holding,
  type Intent,
  type ModelAccount,
  marginPositions,
  openingRefusal,
  openingRejection,
} from './model-account.ts'

/** Whether the account takes a full fill of the order on top of `position`. */
const bears = (given: ModelAccount, intent: Intent, position?: Decimal): boolean =>
  openingRefusal(given, intent, position) === null

const es = listed('@ESM6', {
  securityType: 'FUT',
  root: 'ES',
  pointValue: dec(50),
  initialMargin: dec(7080),
})
const call = listed('A C40', {
  securityType: 'OPT',
  root: 'A',
  pointValue: dec(100),
  underlying: 'A',
  putOrCall: '1',
  strike: dec(40),
  expiry: '2024-06-21',
})
const optional = (value: number | undefined): Decimal | null => (value === undefined ? null : dec(value))

function held(
  traded: MarginInstrument,
  quantity: number,
  { avg, bid, ask = bid, fx = 1 }: { avg?: number; bid?: number; ask?: number | undefined; fx?: number } = {},
): Holding {
  const prices = { avgPx: optional(avg), bid: optional(bid), ask: optional(ask) }
  return {
    instrumentId: 1,
    instrument: traded,
    quantity: dec(quantity),
    ...prices,
    fx: dec(fx),
    underlyingPrice: null,
    baseRate: null,
    cutoffAt: null,
  }
}
const account = (cash: number, ...holdings: Holding[]) => ({ cash: dec(cash), holdings, rates: null })
const buys = (quantity: number, price: number | null, more: Partial<Intent> = {}): Intent => ({
  instrumentId: 1,
  side: '1',
  positionEffect: 'O',
  quantity: dec(quantity),
  commission: zero,
  price: price === null ? null : dec(price),
  ...more,
})

describe('the account value', () => {
  test.each([
    [
      'half of a stock is borrowed',
      account(10_000, held(listed('A'), 1000, { avg: 40, bid: 40 })),
      50_000,
      30_000,
    ],
    [
      'a future counts by its result',
      account(70_930, held(es, 1, { avg: 5000, bid: 4952.58 })),
      68_559,
      61_479,
    ],
    [
      'a short stock is marked at the ask',
      account(9000, held(listed('A'), -100, { avg: 40, bid: 39, ask: 41 })),
      4900,
      2850,
    ],
    ['a long one at the bid', account(0, held(listed('A'), 100, { avg: 40, bid: 39, ask: 41 })), 3900, 1950],
    ['an option in the middle', account(0, held(call, 1, { avg: 8, bid: 4, ask: 6 })), 500, 0],
    ['also one that nobody bids for', account(0, held(call, 1, { avg: 8, bid: 0, ask: 0.05 })), 2.5, 0],
    ['and one that is worth nothing', account(0, held(call, 1, { avg: 8, bid: 0 })), 0, 0],
    ['a stock that nobody bids for', account(0, held(listed('A'), 100, { avg: 40, bid: 0 })), 4000, 2000],
    ['without a quote at what was paid', account(0, held(listed('A'), 100, { avg: 40 })), 4000, 2000],
    [
      'in the currency of the account',
      account(0, held(listed('A'), 100, { avg: 40, bid: 40, fx: 0.5 })),
      2000,
      1000,
    ],
  ])('%s', (_, given, value, power) => {
    expect(accountValue(given).toNumber()).toBe(value)
    expect(buyingPower(given).toNumber()).toBe(power)
  })
})

describe('an order is borne', () => {
  const other = { ...held(listed('B'), 100, { avg: 10, bid: 10 }), instrumentId: 2 }
  const beside = account(0, held(listed('A'), 0, { bid: 9, ask: 10 }), other)
  const flat = account(1000, held(listed('A'), 0, { bid: 9, ask: 10 }))
  test.each<[string, ReturnType<typeof account>, Intent, boolean]>([
    ['up to the whole value', flat, buys(200, 10), true],
    ['and no further', flat, buys(201, 10), false],
    ['with its commission', flat, buys(200, 10, { commission: dec('0.01') }), false],
    ['without a price of its own at the ask', flat, buys(201, null), false],
    ['a sale at the bid', flat, buys(222, null, { side: '2' }), true],
    ['without any price always', account(1, held(listed('A'), 0)), buys(1e6, null), true],
    ['when it closes always', flat, buys(1e6, 10, { positionEffect: 'C' }), true],
    ['as much again', account(0, held(listed('A'), 100, { avg: 10, bid: 10 })), buys(100, 10), true],
    ['beside what is held of others', beside, buys(100, 10), true],
    ['and no more', beside, buys(101, 10), false],
    [
      'by half where that brings the average above five',
      account(0, held(listed('A'), 100, { avg: 4, bid: 8 })),
      buys(100, 8),
      true,
    ],
    [
      'in full where it brings it to five',
      account(0, held(listed('A'), 300, { avg: 4, bid: 8 })),
      buys(100, 8),
      false,
    ],
    [
      'a short as well',
      account(1600, held(listed('A'), -100, { avg: 4, bid: 8 })),
      buys(100, 8, { side: '2' }),
      true,
    ],
    [
      'on top of what is held',
      account(0, held(listed('A'), 100, { avg: 10, bid: 10 })),
      buys(101, 10),
      false,
    ],
  ])('%s', (_, given, intent, expected) => {
    expect(bears(given, intent)).toBe(expected)
  })

  test('on top of the position that it is told', () => {
    expect(bears(flat, buys(100, 10), dec(100))).toBe(true)
    expect(bears(flat, buys(100, 10), dec(101))).toBe(false)
    expect(bears(flat, buys(100, 10, { side: '2' }), dec(-100))).toBe(true)
    expect(bears(flat, buys(100, 10, { side: '2' }), dec(-101))).toBe(false)
  })
})

test('an order is asked for its commission when it wants to start', () => {
  const order = (quantity: number) =>
    newBookOrder(dec(quantity), { id: '1', side: '1', type: '1', positionEffect: 'O', acceptedAt: 0 })
  const free = account(1000, held(listed('A'), 0, { bid: 9, ask: 10 }))
  const charged = { ...free, rates: commissionPlans[0] }
  expect(openingRejection(free, 1, 0)(order(200), zero)).toBeNull()
  // Two dollars of commission: a share less can be carried at half its price.
  expect(openingRejection(charged, 1, 0)(order(200), zero)).toBe('insufficient buying power')
  expect(openingRejection(charged, 1, 0)(order(199), zero)).toBeNull()
})

test.each([
  ['its limit', { type: '2', limit: dec(8), stop: null }, 250],
  ['its stop', { type: '3', limit: null, stop: dec(12) }, 166],
] as const)('an order is held against the account at %s', (_, terms, most) => {
  const free = openingRejection(account(1000, held(listed('A'), 0, { bid: 9, ask: 10 })), 1, 0)
  const own = { id: '1', side: '1', positionEffect: 'O', acceptedAt: 0, ...terms } as const
  expect(free(newBookOrder(dec(most), own), zero)).toBeNull()
  expect(free(newBookOrder(dec(most + 1), own), zero)).toBe('insufficient buying power')
})

test.each<[string, ModelAccount, number, string | null]>([
  ['as many units as there is room for', account(1e9, held(listed('A'), 0, { bid: 0.01 })), 1e10, null],
  ['one more', account(1e9, held(listed('A'), 0, { bid: 0.01 })), 1e10 + 1, 'position too large'],
  ['with what is held', account(1e9, held(listed('A'), 2, { bid: 0.01 })), 1e10 - 1, 'position too large'],
  ['worth as much as there is room for', account(1e12, held(es, 0, { bid: 2000 })), 1e6, null],
  ['worth more', account(1e12, held(es, 0, { bid: 2000 })), 1e6 + 1, 'position too large'],
])('room for a position: %s', (_, given, quantity, expected) => {
  const order = newBookOrder(dec(quantity), {
    id: '1',
    side: '1',
    type: '1',
    positionEffect: 'O',
    acceptedAt: 0,
  })
  const { quantity: position = zero } = given.holdings[0] ?? {}
  expect(openingRejection(given, 1, 0)(order, position)).toBe(expected)
})

test('room for a short position is as large', () => {
  const order = newBookOrder(one, { id: '1', side: '2', type: '1', positionEffect: 'O', acceptedAt: 0 })
  const sells = (given: ModelAccount, held: number) => openingRejection(given, 1, 0)(order, dec(-held))
  const cheap = account(1e12, held(listed('A'), 0, { bid: 0.01 }))
  expect([sells(cheap, 1e10 - 1), sells(cheap, 1e10)]).toEqual([null, 'position too large'])
  const dear = account(1e12, held(es, 0, { bid: 2000 }))
  expect([sells(dear, 1e6 - 1), sells(dear, 1e6)]).toEqual([null, 'position too large'])
})

test('nothing is opened in a contract from its cut-off on', () => {
  const order = newBookOrder(one, { id: '1', side: '1', type: '1', positionEffect: 'O', acceptedAt: 0 })
  const expiring = account(1e6, { ...held(es, 0, { bid: 9, ask: 10 }), cutoffAt: 100 })
  expect(openingRejection(expiring, 1, 99)(order, zero)).toBeNull()
  expect(openingRejection(expiring, 1, 100)(order, zero)).toBe('contract expiring')
})

test('trades move the holding and the cash', () => {
  const after = afterTrades(
    account(100, held(listed('A'), 0)),
    1,
    { quantity: dec(2), avgPx: dec(3) },
    dec(-6),
  )
  expect(after).toMatchObject({ cash: dec(94), holdings: [{ quantity: dec(2), avgPx: dec(3) }] })
})

test('what an average without an end loses in the books calls nobody and refuses nothing', () => {
  // 1 at 5000 and 2 at 5000.25; all that there is is bound.
  const thirds = { ...held(es, 3, { bid: 5000.25 }), avgPx: dec('5000.166666666667') }
  const given = account(21_227.5, thirds)
  expect(buyingPower(given).toNumber()).toBe(0)
  expect(buyingPower(account(21_227.49, thirds)).toNumber()).toBe(-0.01)
  // Nothing is left of what cost 5000.166666666667 but its cash.
  const closed = { ...account(0, held(listed('A'), 0)), cash: dec('124.99999999995') }
  expect(bears(closed, buys(5, 50))).toBe(true)
  expect(bears({ ...closed, cash: dec('124.99') }, buys(5, 50))).toBe(false)
})

test('a whole call goes on until nothing is short, with one order per position', () => {
  const given = account(-55_000, held(listed('A'), 1000, { avg: 40, bid: 40 }), {
    ...held(listed('B'), 1000, { avg: 30, bid: 30 }),
    instrumentId: 2,
  })
  const orders = wholeMarginCall(marginPositions(given), accountValue(given), () => true)
  expect(orders.map(({ symbol, side, quantity }) => `${side} ${quantity} ${symbol}`)).toEqual(['2 1000 A'])
  const deeper = { ...given, cash: dec(-65_000) }
  const more = wholeMarginCall(marginPositions(deeper), accountValue(deeper), () => true)
  expect(more.map(({ symbol, quantity }) => `${quantity} ${symbol}`)).toEqual(['1000 A', '667 B'])
})
