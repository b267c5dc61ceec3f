import { describe, expect, test } from 'vitest'
import { buy, type Json, limit, market, order, run, sell, stop } from './fills-given.ts'

describe('quotes', () => {
  const quotes = (orders: Json[], seen: Json[], config: Json = {}) =>
    run('fills.quotes', { orders, quotes: seen, config })
  const q = (t: number, bid: number, ask: number, more: Json = {}): Json => ({ t, bid, ask, ...more })
  const fill = (orderId: string, qty: number, price: number, t: number | string) => ({
    orderId,
    qty,
    price,
    t,
  })

  test.each<[string, Json, Json, unknown[]]>([
    ['a market buy pays the ask', order('a', 10, buy, market), q(1, 9.9, 10), [fill('a', 10, 10, 1)]],
    ['a market sell gets the bid', order('a', 10, sell, market), q(1, 9.9, 10), [fill('a', 10, 9.9, 1)]],
    ['a limit buy fills at the touch', order('a', 1, buy, limit(10)), q(1, 9.9, 10), [fill('a', 1, 10, 1)]],
    [
      'a limit buy gets the better ask',
      order('a', 1, buy, limit(10)),
      q(1, 9.5, 9.6),
      [fill('a', 1, 9.6, 1)],
    ],
    ['a limit buy waits above', order('a', 1, buy, limit(10)), q(1, 9.9, 10.01), []],
    [
      'a limit sell fills at the touch',
      order('a', 1, sell, limit(10)),
      q(1, 10, 10.1),
      [fill('a', 1, 10, 1)],
    ],
    [
      'a limit sell gets the better bid',
      order('a', 1, sell, limit(10)),
      q(1, 12, 12.1),
      [fill('a', 1, 12, 1)],
    ],
    ['a limit sell waits below', order('a', 1, sell, limit(10)), q(1, 9.99, 10.1), []],
    ['a stop buy triggers on the ask', order('a', 1, buy, stop(10)), q(1, 9.9, 10), [fill('a', 1, 10, 1)]],
    ['a stop buy gaps', order('a', 1, buy, stop(10)), q(1, 10.9, 11), [fill('a', 1, 11, 1)]],
    ['a stop buy waits', order('a', 1, buy, stop(10)), q(1, 9.9, 9.99), []],
    ['a stop sell triggers on the bid', order('a', 1, sell, stop(10)), q(1, 10, 10.1), [fill('a', 1, 10, 1)]],
    ['a stop sell waits', order('a', 1, sell, stop(10)), q(1, 10.01, 10.1), []],
    ['a crossed quote fills nothing', order('a', 1, buy, market), q(1, 10, 9.9), []],
    ['nor does one out of session', order('a', 1, buy, market), q(1, 9.9, 10, { open: false }), []],
    ['a zero bid cannot be hit', order('a', 1, sell, market), q(1, 0, 0.05), []],
    ['nor does it trigger a sell stop', order('a', 1, sell, stop(1)), q(1, 0, 0.05), []],
    ['its ask can be lifted', order('a', 1, buy, market), q(1, 0, 0.05), [fill('a', 1, 0.05, 1)]],
  ])('%s', (_name, placed, seen, fills) => {
    expect(quotes([placed], [seen])).toMatchObject({ fills })
  })

  test('no look-ahead: an older quote fills only if it is the last and at most 60 s old', () => {
    const orders = [order('now', 1, buy, market, { t: 60 }), order('late', 1, buy, market, { t: 61 })]
    expect(quotes(orders, [q(0, 9.9, 10)])).toEqual({ fills: [fill('now', 1, 10, 60)], working: { late: 1 } })
  })

  test('a quote comes before an order of the same instant', () => {
    const orders = [order('a', 1, buy, limit(10), { t: 5 })]
    expect(quotes(orders, [q(5, 9.9, 10), q(6, 8, 8.1)])).toMatchObject({ fills: [fill('a', 1, 10, 5)] })
  })

  test('a quote out of session voids the last one, a crossed one does not', () => {
    const orders = [order('a', 1, buy, market, { t: 3 })]
    const first = q(1, 9.9, 10)
    expect(quotes(orders, [first, q(2, 9.9, 10, { open: false })])).toMatchObject({ fills: [] })
    expect(quotes(orders, [first, q(2, 10, 9.9)])).toMatchObject({ fills: [fill('a', 1, 10, 3)] })
  })

  test('times are echoed as given', () => {
    const t = '2024-03-12T14:00:00Z'
    const orders = [order('a', 1, buy, market, { t: '2024-03-12T13:59:00Z' })]
    expect(quotes(orders, [{ t, bid: 9.9, ask: 10 }])).toMatchObject({ fills: [fill('a', 1, 10, t)] })
  })

  test('slippage moves markets and stops, rounded against the trader, never limits', () => {
    const orders = [
      order('m', 1, buy, market),
      order('s', 1, sell, stop(10)),
      order('l', 1, buy, limit(10.1)),
    ]
    const config = { tick: 0.01, slippageTicks: 1, slippageBps: 5 }
    expect(quotes(orders, [q(1, 9.9, 10)], config)).toMatchObject({
      fills: [fill('m', 1, 10.02, 1), fill('s', 1, 9.88, 1), fill('l', 1, 10, 1)],
    })
  })

  test('a wide quote triggers no stop, but a triggered one is a market order on it', () => {
    const config = { maxTriggerSpread: 0.1, participation: 1 }
    const sized = { bidSize: 4, askSize: 4 }
    const wide = q(1, 8, 10, sized)
    expect(quotes([order('a', 5, sell, stop(9))], [wide], config)).toEqual({ fills: [], working: { a: 5 } })
    expect(quotes([order('a', 5, sell, stop(9))], [q(0, 9, 9.5, sized), wide], config)).toMatchObject({
      fills: [fill('a', 4, 9, 0), fill('a', 1, 8, 1)],
    })
    expect(quotes([order('a', 5, sell, stop(9))], [wide])).toMatchObject({ fills: [fill('a', 5, 8, 1)] })
  })

  test('a spread of exactly the limit still triggers', () => {
    const seen = [q(1, 9.5, 10.5)]
    expect(quotes([order('a', 1, buy, stop(10))], seen, { maxTriggerSpread: 0.1 })).toMatchObject({
      fills: [fill('a', 1, 10.5, 1)],
    })
  })

  test('processing order: closing stop, limit, market, then opening market, stop, limit', () => {
    const close = { openClose: 'C' }
    const orders = [
      order('open limit', 1, buy, limit(11)),
      order('open stop', 1, buy, stop(9)),
      order('open market', 1, buy, market),
      order('close market', 1, buy, market, close),
      order('close limit', 1, buy, limit(11), close),
      order('close stop', 1, buy, stop(9), close),
    ]
    const { fills } = quotes(orders, [q(1, 9.9, 10)]) as { fills: { orderId: string }[] }
    expect(fills.map(({ orderId }) => orderId)).toEqual([
      'close stop',
      'close limit',
      'close market',
      'open market',
      'open stop',
      'open limit',
    ])
  })

  test('equal ranks go by acceptance, then as listed', () => {
    const orders = [
      order('c', 1, buy, market, { t: 2 }),
      order('a', 1, buy, market, { t: 1 }),
      order('b', 1, buy, market, { t: 1 }),
    ]
    const { fills } = quotes(orders, [q(3, 9.9, 10)]) as { fills: { orderId: string }[] }
    expect(fills.map(({ orderId }) => orderId)).toEqual(['a', 'b', 'c'])
  })

  test('participation is shared in processing order, per side and per quote', () => {
    const orders = [
      order('limit', 8, buy, limit(11)),
      order('market', 8, buy, market),
      order('sell', 8, sell, market),
    ]
    const seen = [q(1, 9.9, 10, { askSize: 105, bidSize: 29 }), q(2, 9.9, 10, { askSize: 105 })]
    expect(quotes(orders, seen, { participation: 0.1 })).toEqual({
      fills: [
        fill('market', 8, 10, 1),
        fill('sell', 2, 9.9, 1),
        fill('limit', 2, 10, 1),
        fill('limit', 6, 10, 2),
      ],
      working: { sell: 6 },
    })
  })

  test('arriving orders share what the last quote has left', () => {
    const orders = [
      order('a', 60, buy, market),
      order('b', 60, buy, market, { t: 2 }),
      order('c', 60, buy, market, { t: 3 }),
    ]
    expect(quotes(orders, [q(1, 9.9, 10, { askSize: 100 })], { participation: 1 })).toEqual({
      fills: [fill('a', 60, 10, 1), fill('b', 40, 10, 2)],
      working: { b: 20, c: 60 },
    })
  })
})

test('volume-share slippage with its defaults', () => {
  const input = { price: 100, quantity: 100, barVolume: 10_000 }
  expect(run('fills.volumeShareSlippage', input)).toEqual({ slippage: 0.001 })
})
