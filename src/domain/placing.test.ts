import { describe, expect, test } from 'vitest'
import { dec } from './decimal.ts'
import {
  currentPriceOf,
  immutableDifference,
  isOnTick,
  type OrderDraft,
  type PlacingFacts,
  placeOrder,
} from './placing.ts'

const draft = (over: Partial<OrderDraft> = {}): OrderDraft => ({
  side: '1',
  ordType: '1',
  timeInForce: '0',
  quantity: dec(10),
  doNotSyncToOpen: false,
  ...over,
})
const facts = (over: Partial<PlacingFacts> = {}): PlacingFacts => ({
  tick: dec('0.25'),
  position: dec(0),
  ...over,
})

describe('what a new order becomes', () => {
  const cases: [string, Partial<OrderDraft>, Partial<PlacingFacts>, object | string][] = [
    ['a market order opens when flat', {}, {}, { status: '0', openClose: 'O' }],
    ['it adds to a position of its side', {}, { position: dec(5) }, { status: '0', openClose: 'O' }],
    ['it closes part of an opposite one', {}, { position: dec(-15) }, { status: '0', openClose: 'C' }],
    ['it closes all of an opposite one', {}, { position: dec(-10) }, { status: '0', openClose: 'C' }],
    ['more than the opposite position reverses', {}, { position: dec(-9) }, 'ReversalNotOffered'],
    [
      'O against the position is kept as rejected',
      { openClose: 'O' },
      { position: dec(-1) },
      { status: '8', openClose: 'O', rejectText: 'close the opposite position first' },
    ],
    [
      'C without a position is kept as rejected',
      { openClose: 'C' },
      {},
      { status: '8', openClose: 'C', rejectText: 'no position to close' },
    ],
    [
      'C of more than is held is kept as rejected',
      { openClose: 'C', side: '2' },
      { position: dec(9) },
      { status: '8', rejectText: 'quantity exceeds the position' },
    ],
    ['a limit off the tick is refused', { ordType: '2', limitPx: dec('100.1') }, {}, 'LimitOffTick'],
    ['a stop off the tick is refused', { ordType: '3', stopPx: dec('100.1') }, {}, 'StopOffTick'],
    [
      'a limit is its own reference price',
      { ordType: '2', limitPx: dec('100.25') },
      { currentPx: dec(99) },
      { referencePx: dec('100.25') },
    ],
    ['a market order refers to the quote', {}, { currentPx: dec(99) }, { referencePx: dec(99) }],
    [
      'an opening limit order may stay out of later accounts',
      { ordType: '2', limitPx: dec(100), doNotSyncToOpen: true },
      {},
      { doNotSyncToOpen: true },
    ],
    ['a market order cannot', { doNotSyncToOpen: true }, {}, { doNotSyncToOpen: false }],
    [
      'a closing order cannot',
      { ordType: '2', limitPx: dec(100), doNotSyncToOpen: true, side: '2' },
      { position: dec(10) },
      { openClose: 'C', doNotSyncToOpen: false },
    ],
  ]
  test.each(cases)('%s', (_name, over, given, expected) => {
    const placed = placeOrder(draft(over), facts(given))
    if (typeof expected === 'string') expect(placed).toBe(expected)
    else expect(placed).toMatchObject(expected)
  })

  test('a market order without a quote has no reference price', () => {
    expect(placeOrder(draft(), facts())).not.toHaveProperty('referencePx')
  })
})

describe('what a replacement may not change', () => {
  const replaced = { instrumentId: 7, side: '1', openClose: 'O' } as const
  test.each([
    ['nothing differs', {}, 7, undefined],
    ['another symbol', {}, 8, 'Symbol'],
    ['the other side', { side: '2' }, 7, 'Side'],
    ['the other effect', { openClose: 'C' }, 7, 'OpenClose'],
    ['the same effect, said again', { openClose: 'O' }, 7, undefined],
  ] as const)('%s', (_name, over, instrumentId, difference) => {
    expect(immutableDifference(replaced, draft(over), instrumentId)).toBe(difference)
  })
})

describe('prices', () => {
  test.each([
    ['4999.75', '0.25', true],
    ['4999.8', '0.25', false],
    ['1.10001', '0.00001', true],
    ['1.100015', '0.00001', false],
  ])('%s on a tick of %s: %s', (price, tick, expected) =>
    expect(isOnTick(dec(price), dec(tick))).toBe(expected),
  )

  test('a buy trades at the ask, a sell at the bid, and zero is no price', () => {
    expect(currentPriceOf('1', '99', '101')?.toFixed()).toBe('101')
    expect(currentPriceOf('2', '99', '101')?.toFixed()).toBe('99')
    expect(currentPriceOf('2', '0', '101')).toBeUndefined()
    expect(currentPriceOf('1', null, null)).toBeUndefined()
  })
})
