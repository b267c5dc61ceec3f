import { describe, expect, test } from 'vitest'
import { moneyOps } from './money.ts'

type Json = Record<string, unknown>
const run = (op: string, input: Json): Json => (moneyOps[op] as unknown as (input: Json) => Json)(input)

const fill = (
  symbol: string,
  side: '1' | '2',
  qty: number,
  px: number,
  t: unknown,
  more: Json = {},
): Json => ({
  type: 'fill',
  symbol,
  side,
  qty,
  px,
  t,
  ...more,
})
const mark = (symbol: string, px: number, t: unknown, more: Json = {}): Json => ({
  type: 'mark',
  symbol,
  px,
  t,
  ...more,
})
const instruments = [
  { symbol: 'AAPL', cls: 'CS' },
  { symbol: 'ES', cls: 'FUT', pointValue: 50 },
  { symbol: 'EURUSD', cls: 'FOR' },
  { symbol: 'OPT', cls: 'OPT' },
]
const account = (events: Json[], cash = 50_000) => run('accounting.run', { cash, instruments, events })
const trades = (events: Json[]) => account(events).trades as Json[]

describe('accounts', () => {
  test('a real row: profit net of commission', () => {
    const events = [
      fill('AAPL', '1', 80, 54.257694, 't1', { commission: 0.8 }),
      fill('AAPL', '2', 80, 56.141538, 't2', { commission: 0.8 }),
    ]
    expect(trades(events)[0]).toMatchObject({
      profitLoss: 149.11,
      commission: 1.6,
      openDate: 't1',
      closeDate: 't2',
      openSide: '1',
      closeSide: '2',
      openedQuantity: 80,
      closedQuantity: 80,
      avgOpenFillPrice: 54.257694,
      avgCloseFillPrice: 56.141538,
      maxDrawdown: 0,
      worstPrice: null,
      worstPriceDate: null,
      drawdownStrategyEquity: null,
      drawdownEntryPrice: null,
      drawdownOpenQuantity: null,
    })
  })

  test('a real row: drawdown', () => {
    const events = [
      fill('AAPL', '1', 80, 54.2577, 1),
      mark('AAPL', 52.06, 2),
      mark('AAPL', 52.06, 3),
      fill('AAPL', '2', 80, 56, 4),
    ]
    expect(trades(events)[0]).toMatchObject({
      maxDrawdown: -175.82,
      worstPrice: 52.06,
      worstPriceDate: 2,
      drawdownStrategyEquity: 49_824.18,
      drawdownEntryPrice: 54.2577,
      drawdownOpenQuantity: 80,
    })
  })

  test('stocks move cash by their price, may leave a debit, and the value stands', () => {
    expect(account([fill('AAPL', '1', 2000, 40, 1, { commission: 20 }), mark('AAPL', 41, 2)])).toMatchObject({
      cash: -30_020,
      equity: 2000,
      modelAccountValue: 51_980,
      positions: { AAPL: { quantity: 2000, avgPx: 40 } },
    })
  })

  test('futures move cash by their result only', () => {
    const events = [fill('ES', '2', 2, 5000, 1, { commission: 5 }), mark('ES', 5010, 2)]
    expect(account(events)).toMatchObject({ cash: 49_995, equity: -1000, modelAccountValue: 48_995 })
    expect(account([...events, fill('ES', '1', 2, 4990, 3, { commission: 5 })])).toMatchObject({
      cash: 50_990,
      equity: 0,
      modelAccountValue: 50_990,
      positions: {},
      trades: [{ profitLoss: 990, openSide: '2', closeSide: '1', maxDrawdown: -1000, worstPrice: 5010 }],
    })
  })

  test('options default to 100, forex to 1000 units', () => {
    expect(account([fill('OPT', '1', 3, 1.5, 1)])).toMatchObject({ cash: 49_550, modelAccountValue: 50_000 })
    const pair = [fill('EURUSD', '1', 10, 1.1, 1), fill('EURUSD', '2', 10, 1.1025, 2)]
    expect(account(pair)).toMatchObject({ cash: 50_025 })
  })

  test('a reversal ends one trade and starts the next; commission by quantity, to the cent', () => {
    const events = [
      fill('AAPL', '1', 30, 10, 1, { commission: 0.3 }),
      fill('AAPL', '2', 100, 11, 2, { commission: 1 }),
      fill('AAPL', '1', 70, 10, 3, { commission: 0.7 }),
    ]
    expect(account(events)).toMatchObject({
      trades: [
        { tradeId: 1, openedQuantity: 30, closedQuantity: 30, commission: 0.6, profitLoss: 29.4 },
        {
          tradeId: 2,
          openedQuantity: 70,
          closedQuantity: 70,
          commission: 1.4,
          profitLoss: 68.6,
          openSide: '2',
        },
      ],
      cash: 50_098,
    })
  })

  test('an odd split: the finished part is rounded, the rest follows', () => {
    const events = [
      fill('AAPL', '1', 1, 10, 1),
      fill('AAPL', '2', 3, 10, 2, { commission: 1 }),
      fill('AAPL', '1', 2, 10, 3),
    ]
    expect(trades(events).map(({ commission }) => commission)).toEqual([0.33, 0.67])
  })

  test('trades come in the order they closed and are numbered as they opened', () => {
    const events = [
      fill('AAPL', '1', 1, 10, 1),
      fill('ES', '1', 1, 5000, 2),
      fill('ES', '2', 1, 5000, 3),
      fill('AAPL', '2', 1, 10, 4),
    ]
    expect(trades(events).map(({ tradeId, symbol }) => [tradeId, symbol])).toEqual([
      [2, 'ES'],
      [1, 'AAPL'],
    ])
  })

  test('scaling in and out: weighted prices over the whole trade, average kept on reduction', () => {
    const events = [
      fill('AAPL', '1', 100, 10, 1),
      fill('AAPL', '2', 50, 12, 2),
      fill('AAPL', '1', 150, 14, 3),
    ]
    expect(account(events)).toMatchObject({ positions: { AAPL: { quantity: 200, avgPx: 13 } } })
    expect(trades([...events, fill('AAPL', '2', 200, 13, 4)])[0]).toMatchObject({
      openedQuantity: 250,
      closedQuantity: 250,
      avgOpenFillPrice: 12.4,
      avgCloseFillPrice: 12.8,
      profitLoss: 100,
    })
  })

  test('a fill marks the position it meets; averaging down does not move the first occurrence', () => {
    const events = [fill('AAPL', '1', 30, 10, 1), fill('AAPL', '1', 70, 9, 2), fill('AAPL', '2', 100, 9.5, 3)]
    expect(trades(events)[0]).toMatchObject({
      maxDrawdown: -30,
      worstPriceDate: 2,
      drawdownEntryPrice: 10,
      drawdownOpenQuantity: 30,
      drawdownStrategyEquity: 49_970,
    })
  })

  test('the noise of an average price is no new low', () => {
    const events = [
      fill('AAPL', '1', 3, 10, 1),
      mark('AAPL', 9, 2),
      fill('AAPL', '1', 4, 9, 3),
      mark('AAPL', 9, 4),
    ]
    expect(trades([...events, fill('AAPL', '2', 7, 9, 5)])[0]).toMatchObject({
      maxDrawdown: -3,
      worstPriceDate: 2,
      drawdownOpenQuantity: 3,
    })
  })

  test('a result on half a cent is rounded up, however long the average repeats', () => {
    const events = (symbol: string) => [
      fill(symbol, '1', 1, 10, 't1'),
      fill(symbol, '1', 2, 10.01, 't2'),
      fill(symbol, '2', 3, 10.015, 't3'),
    ]
    const one = [{ symbol: 'F', cls: 'FUT', pointValue: 1 }]
    expect(trades(events('AAPL'))[0]).toMatchObject({ profitLoss: 0.03 })
    const future = run('accounting.run', { cash: 0, instruments: one, events: events('F') })
    expect(future).toMatchObject({ cash: 0.03, trades: [{ profitLoss: 0.03 }] })
  })

  test('the drawdown equity sees the other positions at their marks', () => {
    const events = [
      fill('AAPL', '1', 10, 10, 1),
      fill('ES', '1', 1, 5000, 2),
      mark('ES', 5002, 3),
      mark('AAPL', 9, 4),
      fill('AAPL', '2', 10, 10, 5),
    ]
    expect(trades(events)[0]).toMatchObject({ maxDrawdown: -10, drawdownStrategyEquity: 50_090 })
  })

  test('dividends: longs receive, shorts pay, and no trade sees them', () => {
    const dividend = { type: 'dividend', symbol: 'AAPL', perUnit: 0.25, t: 2 }
    expect(account([fill('AAPL', '2', 100, 10, 1), dividend])).toMatchObject({
      cash: 50_975,
      cashDividends: -25,
    })
    const events = [fill('AAPL', '1', 100, 10, 1), dividend, fill('AAPL', '2', 100, 10, 3)]
    expect(account(events)).toMatchObject({ cash: 50_025, cashDividends: 25, trades: [{ profitLoss: 0 }] })
  })

  test('a foreign stock: the currency is in the trade, cash and trades agree', () => {
    const events = [
      fill('AAPL', '1', 100, 10, 1, { fx: 1.1 }),
      mark('AAPL', 12, 2, { fx: 1.2 }),
      fill('AAPL', '2', 100, 10, 3),
    ]
    expect(account(events.slice(0, 2))).toMatchObject({
      cash: 48_900,
      equity: 240,
      modelAccountValue: 50_340,
    })
    expect(account(events)).toMatchObject({ cash: 50_100, trades: [{ profitLoss: 100 }] })
  })

  test('a foreign future converts its result at the rate of the day', () => {
    const events = [fill('ES', '1', 1, 5000, 1, { fx: 1.1 }), fill('ES', '2', 1, 5010, 2, { fx: 1.2 })]
    expect(account(events)).toMatchObject({ cash: 50_600, trades: [{ profitLoss: 600 }] })
  })

  test('a rate that only a dividend has shown holds for the fill', () => {
    const dividend = { type: 'dividend', symbol: 'AAPL', perUnit: 1, fx: 2, t: 1 }
    expect(account([dividend, fill('AAPL', '1', 1, 10, 2)], 0)).toMatchObject({ cash: -20, cashDividends: 0 })
  })

  test('a booking of quantity 0 is no fill: it opens nothing and costs nothing', () => {
    const none = fill('AAPL', '1', 0, 5, 1, { commission: 3 })
    expect(account([none], 100)).toMatchObject({ cash: 100, positions: {}, trades: [] })
    expect(trades([none, fill('AAPL', '2', 2, 5, 2), fill('AAPL', '1', 2, 4, 4)])).toMatchObject([
      { tradeId: 1, openDate: 2, openSide: '2', closeSide: '1', commission: 0 },
    ])
  })

  test('a rate that only a mark has shown holds for the fill', () => {
    const events = [
      mark('ES', 5000, 0, { fx: 0.5 }),
      fill('ES', '1', 1, 5000, 1),
      fill('ES', '2', 1, 5010, 2),
    ]
    expect(account(events)).toMatchObject({ cash: 50_250 })
  })
})

test.each<[string, Json, number | null]>([
  ['increase', { position: 100, avgPx: 10, targetQuantity: 150, targetAvgPx: 11 }, 13],
  ['from flat', { position: 0, targetQuantity: -5, targetAvgPx: 11 }, 11],
  ['short increase', { position: -100, avgPx: 10, targetQuantity: -200, targetAvgPx: 9 }, 8],
  ['reduction needs no target average', { position: 100, avgPx: 10, targetQuantity: 40 }, 10],
  ['close', { position: -100, avgPx: 10, targetQuantity: 0 }, 10],
  ['flip', { position: 100, avgPx: 10, targetQuantity: -40, targetAvgPx: 12 }, 12],
  ['nothing to adjust', { position: 100, avgPx: 10, targetQuantity: 100, targetAvgPx: 12 }, null],
  ['not positive', { position: 100, avgPx: 10, targetQuantity: 110, targetAvgPx: 5 }, null],
  ['an increase without its average', { position: 100, avgPx: 10, targetQuantity: 110 }, null],
])('inferred fill price: %s', (_name, input, price) => {
  expect(run('accounting.inferredFillPrice', input)).toEqual({ price })
})

describe('commissions', () => {
  const fills = (...parts: [number, number][]) => parts.map(([qty, price]) => ({ qty, price, pointValue: 1 }))
  test.each<[string, unknown, Json[], number[], number]>([
    ['per share', { perUnit: 0.01 }, fills([80, 54.26], [98, 20]), [0.8, 0.98], 1.78],
    ['the default plan', 0, fills([80, 54.26]), [0.8], 0.8],
    [
      'minimum per order, once',
      { perUnit: 0.005, minPerOrder: 1 },
      fills([100, 10], [50, 10], [100, 10]),
      [1, 0, 0.25],
      1.25,
    ],
    [
      'a share of the notional',
      { pctOfNotional: 0.001 },
      fills([10, 33.33], [10, 33.33]),
      [0.33, 0.34],
      0.67,
    ],
    [
      'the cap beats the minimum',
      { minPerOrder: 1, maxPctOfNotional: 0.01 },
      fills([1, 20], [1, 20]),
      [0.2, 0.2],
      0.4,
    ],
    ['a negative price costs by its size', { pctOfNotional: 0.01 }, fills([1, -37]), [0.37], 0.37],
    ['half a cent goes up', { perUnit: 0.005 }, fills([1, 10], [1, 10]), [0.01, 0], 0.01],
    [
      'null is no rate',
      { perUnit: 0.01, minPerOrder: null, maxPctOfNotional: null },
      fills([5, 1]),
      [0.05],
      0.05,
    ],
    ['no fill, no charge', { minPerOrder: 1 }, [], [], 0],
    ['a plan by its number', 0, fills([100, 10]), [1], 1],
    ['a plan by its code', '0', fills([100, 10]), [1], 1],
    [
      'point values count in the notional',
      { pctOfNotional: 0.0001 },
      [{ qty: 1, price: 5000, pointValue: 50 }],
      [25],
      25,
    ],
  ])('%s', (_name, plan, parts, perFill, total) => {
    expect(run('commission.compute', { plan, fills: parts })).toEqual({ perFill, total })
  })
})
