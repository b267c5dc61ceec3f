import { describe, expect, test } from 'vitest'
import { kernel } from '../kernel.ts'

const stock = { cls: 'CS', symbol: 'A', quantity: 1000, price: 40, avgPx: 40 }
const short = {
  cls: 'OPT',
  symbol: 'A C100',
  quantity: -1,
  price: 5,
  underlyingSymbol: 'A',
  right: 'C',
  strike: 100,
  underlying: 100,
  expiry: '2026-06-19',
  pointValue: 100,
}

describe('margin over JSON', () => {
  test.each<[string, unknown[], number]>([
    ['stock', [stock], 20_000],
    ['stock without an average', [{ ...stock, price: 4, avgPx: null }], 4000],
    [
      'a future',
      [{ cls: 'FUT', symbol: '@ESM6', quantity: -2, price: 5000, initialMargin: 13_000, fx: 0.5 }],
      13_000,
    ],
    [
      'a future of the tables',
      [{ cls: 'FUT', symbol: '@MESM6', quantity: 1, price: 5000, initialMargin: 1300 }],
      1300,
    ],
    [
      'forex',
      [{ cls: 'FOR', symbol: 'EURUSD', quantity: 10, price: 1.1, baseToAccount: 1.1, leverage: 50 }],
      220,
    ],
    [
      'forex by its symbol',
      [{ cls: 'FOR', symbol: 'EURZAR', quantity: 10, price: 20, baseToAccount: 1.1 }],
      550,
    ],
    ['forex by its price', [{ cls: 'FOR', symbol: 'EURJPY', quantity: 10, price: 165, fx: 1 / 150 }], 220],
    ['a short option', [short], 2000],
    ['on an index', [{ ...short, indexOption: true }], 1500],
    ['a put by its FIX code', [{ ...short, right: '0', underlying: 105 }], 1600],
    ['covered by its stock', [short, { ...stock, quantity: 100, price: 100, avgPx: 90 }], 5000],
    [
      'a spread, expiry with and without dashes',
      [short, { ...short, symbol: 'A C110', quantity: 1, price: 2, strike: 110, expiry: '20260619' }],
      700,
    ],
    [
      'options by native symbols alone',
      [
        { cls: 'OPT', symbol: 'AAPL2619F100', quantity: -1, price: 5, underlying: 100 },
        { cls: 'OPT', symbol: 'AAPL2619F110', quantity: 1, price: 2, underlying: 100 },
      ],
      700,
    ],
    ['nothing', [], 0],
  ])('%s', (_, positions, marginUsed) => {
    const answer = kernel('margin.compute', { positions, modelAccountValue: 50_000 }) as Record<
      string,
      number
    >
    expect(answer.marginUsed).toBeCloseTo(marginUsed, 8)
    expect(answer.buyingPower).toBeCloseTo(50_000 - marginUsed, 8)
  })

  test('acceptance', () => {
    const order = {
      modelAccountValue: 20_010,
      positions: [],
      positionsAfter: [stock],
      openClose: 'O',
      commission: 10,
    }
    expect(kernel('margin.accept', order)).toEqual({ accepted: true })
    expect(kernel('margin.accept', { ...order, commission: 10.01 })).toEqual({ accepted: false })
    expect(kernel('margin.accept', { ...order, commission: 10.01, openClose: 'C' })).toEqual({
      accepted: true,
    })
  })

  test('leverage', () => {
    const es = { cls: 'FUT', symbol: '@ESM6', quantity: 1, price: 5000, pointValue: 50 }
    const held = (modelAccountValue: number) => ({ positions: [es], modelAccountValue })
    const days = [[held(250_000), held(125_000)], [], [held(0)], [{ positions: [], modelAccountValue: 1 }]]
    expect(kernel('margin.leverage', { days })).toEqual({
      daily: [2, 0, null, 0],
      avgLeverage: 2 / 3,
      maxLeverage: 2,
    })
  })
})
