import { describe, expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

describe('corporate actions over JSON', () => {
  const orders = [
    { id: 'a', status: '0', leaves: 33, limit: 10.01, stop: null },
    { id: 'b', status: '0', leaves: 0.4, limit: null, stop: 9 },
  ]

  test('a split in every shape of its position', () => {
    const expected = {
      quantity: 151,
      avgPx: 40,
      cashInLieu: 20,
      fractionSold: 0.5,
      fractionPrice: 40,
      orders: [
        { id: 'a', status: '0', leaves: 49, limit: 6.67, stop: null },
        { id: 'b', status: '4', leaves: 0, limit: null, stop: 6 },
      ],
    }
    const terms = { new: 3, old: 2, previousClose: 60, orders }
    expect(kernel('corporate.split', { ...terms, position: { quantity: 101, avgPx: 60 } })).toEqual(expected)
    expect(kernel('corporate.split', { ...terms, position: 101, avgPx: 60 })).toEqual(expected)
  })

  test('a short position pays, and nothing is left of a few', () => {
    const answer = kernel('corporate.split', {
      position: { quantity: -7, avgPx: 2 },
      new: 1,
      old: 10,
      previousClose: 3,
    })
    expect(answer).toEqual({
      quantity: 0,
      avgPx: null,
      cashInLieu: -21,
      fractionSold: 0.7,
      fractionPrice: 30,
      orders: [],
    })
  })

  test('whole units have no fraction, and prices follow the tick', () => {
    const answer = kernel('corporate.split', {
      position: { quantity: 10, avgPx: 50 },
      new: 2,
      old: 1,
      previousClose: 60,
      tick: 0.05,
      orders: [{ id: 1, leaves: 5, limit: 50.05 }],
    })
    expect(answer).toEqual({
      quantity: 20,
      avgPx: 25,
      cashInLieu: 0,
      fractionSold: 0,
      fractionPrice: null,
      orders: [{ id: 1, status: '0', leaves: 10, limit: 25.05, stop: null }],
    })
  })

  test.each([
    [
      'C',
      'physical',
      -2,
      true,
      [
        ['OPTION', '1', 2, 0],
        ['UNDERLYING', '2', 200, 100],
      ],
    ],
    ['P', 'physical', -2, false, [['OPTION', '1', 2, 0]]],
    ['C', 'cash', 2, true, [['OPTION', '2', 2, 5]]],
    ['C', 'cash', 0, false, []],
  ])('an option %s, %s, %d', (right, settlement, quantity, exercised, fills) => {
    const input = { quantity, right, strike: 100, underlyingClose: 105, settlement, pointValue: 100 }
    expect(kernel('corporate.optionExpiry', input)).toEqual({
      exercised,
      fills: fills.map(([symbol, side, qty, price]) => ({ symbol, side, qty, price })),
    })
  })
})
