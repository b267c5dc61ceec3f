import { describe, expect, test } from 'vitest'
import { fillOps } from './fills.ts'

type Json = Record<string, unknown>
const run = (op: string, input: Json) => (fillOps[op] as unknown as (input: Json) => never)(input)

const buy = { side: '1', openClose: 'O' }
const sell = { side: '2', openClose: 'O' }
const market = { type: '1' }
const limit = (price: number) => ({ type: '2', limit: price })
const stop = (price: number) => ({ type: '3', stop: price })
const order = (id: string, qty: number, ...parts: Json[]): Json => Object.assign({ id, qty, t: 0 }, ...parts)

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

describe('bars', () => {
  const close = { openClose: 'C' }
  const bar = (t: number, o: number, h: number, l: number, more: Json = {}): Json => ({
    t,
    o,
    h,
    l,
    c: o,
    ...more,
  })
  const bars = (orders: Json[], seen: Json[], more: Json = {}) =>
    run('fills.bars', { orders, bars: seen, config: {}, ...more })
  const fill = (orderId: string, qty: number, price: number, phase: string, index = 0) => ({
    orderId,
    qty,
    price,
    bar: index,
    phase,
  })
  const o = 'open'
  const i = 'intrabar'

  test.each<[string, Json, Json, unknown[]]>([
    ['market at the open', order('a', 1, buy, market), bar(0, 10, 11, 9), [fill('a', 1, 10, o)]],
    ['stop buy beyond at the open', order('a', 1, buy, stop(9.5)), bar(0, 10, 11, 9), [fill('a', 1, 10, o)]],
    ['stop buy exactly at the open', order('a', 1, buy, stop(10)), bar(0, 10, 11, 9), [fill('a', 1, 10, o)]],
    ['stop buy touched by the high', order('a', 1, buy, stop(11)), bar(0, 10, 11, 9), [fill('a', 1, 11, i)]],
    ['stop buy not reached', order('a', 1, buy, stop(11.01)), bar(0, 10, 11, 9), []],
    ['stop sell gap', order('a', 1, sell, stop(10.5)), bar(0, 10, 11, 9), [fill('a', 1, 10, o)]],
    ['stop sell touched by the low', order('a', 1, sell, stop(9)), bar(0, 10, 11, 9), [fill('a', 1, 9, i)]],
    [
      'limit buy bettered by the open',
      order('a', 1, buy, limit(10.5)),
      bar(0, 10, 11, 9),
      [fill('a', 1, 10, o)],
    ],
    [
      'limit buy at the open is not better',
      order('a', 1, buy, limit(10)),
      bar(0, 10, 11, 9),
      [fill('a', 1, 10, i)],
    ],
    ['limit buy touched only', order('a', 1, buy, limit(9)), bar(0, 10, 11, 9), []],
    ['limit buy penetrated', order('a', 1, buy, limit(9.01)), bar(0, 10, 11, 9), [fill('a', 1, 9.01, i)]],
    ['limit sell touched only', order('a', 1, sell, limit(11)), bar(0, 10, 11, 9), []],
    ['limit sell penetrated', order('a', 1, sell, limit(10.99)), bar(0, 10, 11, 9), [fill('a', 1, 10.99, i)]],
    [
      'limit sell bettered by the open',
      order('a', 1, sell, limit(9.5)),
      bar(0, 10, 11, 9),
      [fill('a', 1, 10, o)],
    ],
    ['no session, no fill', order('a', 1, buy, market), bar(0, 10, 11, 9, { session: false }), []],
    ['an order after the start waits', order('a', 1, buy, market, { t: 1 }), bar(0, 10, 11, 9), []],
    [
      'one at the start takes part',
      order('a', 1, buy, market, { t: 5 }),
      bar(5, 10, 11, 9),
      [fill('a', 1, 10, o)],
    ],
  ])('%s', (_name, placed, seen, fills) => {
    expect(bars([placed], [seen])).toMatchObject({ fills })
  })

  const entry = (...parts: Json[]) => order('entry', 100, buy, ...parts)
  const exit = (id: string, ...parts: Json[]) =>
    order(id, 100, { side: '2', openClose: 'C', parent: 'entry', bracket: true, oca: 'g' }, ...parts)
  const bracket = (...parts: Json[]) => [entry(...parts), exit('target', limit(12)), exit('loss', stop(8))]

  test('of an exit pair inside one bar the stop wins', () => {
    expect(bars(bracket(market), [bar(0, 10, 13, 7), bar(1, 10, 13, 7)])).toEqual({
      fills: [fill('entry', 100, 10, o), fill('loss', 100, 8, i)],
      position: 0,
    })
  })

  test('exits of an entry filled at the open take part in that bar', () => {
    expect(bars(bracket(market), [bar(0, 10, 12.5, 9)])).toEqual({
      fills: [fill('entry', 100, 10, o), fill('target', 100, 12, i)],
      position: 0,
    })
  })

  test('an entry inside the bar: its stop loss is tested against the whole bar, its target waits', () => {
    expect(bars(bracket(limit(9)), [bar(0, 10, 13, 7)])).toMatchObject({
      fills: [fill('entry', 100, 9, i), fill('loss', 100, 8, i)],
      position: 0,
    })
    expect(bars(bracket(limit(9)), [bar(0, 10, 13, 8.5), bar(1, 10, 13, 9)])).toEqual({
      fills: [fill('entry', 100, 9, i), fill('target', 100, 12, i, 1)],
      position: 0,
    })
  })

  test('a gap through the stop loss of an entry at the same open', () => {
    const orders = [entry(market), exit('loss', stop(10.5))]
    expect(bars(orders, [bar(0, 10, 11, 9)])).toMatchObject({
      fills: [fill('entry', 100, 10, o), fill('loss', 100, 10, o)],
    })
  })

  test('a stop loss that the whole bar lies beyond fills at a price of the bar', () => {
    expect(bars([entry(limit(9)), exit('loss', stop(12))], [bar(0, 10, 11, 8)])).toMatchObject({
      fills: [fill('entry', 100, 9, i), fill('loss', 100, 11, i)],
    })
  })

  test('other children of an order inside the bar wait for the next', () => {
    const child = order('child', 5, buy, market, { parent: 'entry' })
    expect(bars([entry(stop(10.5)), child], [bar(0, 10, 11, 9), bar(1, 20, 21, 19)])).toEqual({
      fills: [fill('entry', 100, 10.5, i), fill('child', 5, 20, o, 1)],
      position: 105,
    })
  })

  test('a reversal closes and opens at one open', () => {
    const orders = [
      order('close', 10, sell, market, close),
      order('open', 5, sell, market, { parent: 'close' }),
    ]
    expect(bars(orders, [bar(0, 10, 11, 9)], { position: 10 })).toEqual({
      fills: [fill('close', 10, 10, o), fill('open', 5, 10, o)],
      position: -5,
    })
  })

  test('closing orders before opening ones, stops before limits', () => {
    const orders = [
      order('open limit', 1, buy, limit(9.5)),
      order('open stop', 1, buy, stop(10.5)),
      order('close limit', 1, sell, limit(10.5), close),
      order('close stop', 1, sell, stop(9.5), close),
    ]
    const { fills } = bars(orders, [bar(0, 10, 11, 9)], { position: 10 }) as { fills: { orderId: string }[] }
    expect(fills.map(({ orderId }) => orderId)).toEqual([
      'close stop',
      'close limit',
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
    const { fills } = bars(orders, [bar(3, 10, 11, 9)]) as { fills: { orderId: string }[] }
    expect(fills.map(({ orderId }) => orderId)).toEqual(['a', 'b', 'c'])
  })

  test('a closing order is clamped to the position, and the others end when it is flat', () => {
    const orders = [order('stop', 80, sell, stop(9.5), close), order('limit', 80, sell, limit(10.5), close)]
    expect(bars(orders, [bar(0, 10, 11, 9), bar(1, 10, 11, 9)], { position: 50 })).toEqual({
      fills: [fill('stop', 50, 9.5, i)],
      position: 0,
    })
  })

  test('an opening order against the position ends without a fill', () => {
    expect(
      bars([order('a', 1, sell, market)], [bar(0, 10, 11, 9), bar(1, 10, 11, 9)], { position: 5 }),
    ).toEqual({
      fills: [],
      position: 5,
    })
  })

  test('participation is shared by the whole bar; a triggered stop goes on at the next open', () => {
    const config = { participation: 0.1 }
    const orders = [order('market', 6, buy, market), order('stop', 10, sell, stop(9.5), close)]
    const seen = [bar(0, 10, 11, 9, { v: 100 }), bar(1, 10, 11, 9.9, { v: 1000 })]
    expect(bars(orders, seen, { config, position: 20 })).toEqual({
      fills: [fill('market', 6, 10, o), fill('stop', 4, 9.5, i), fill('stop', 6, 10, o, 1)],
      position: 16,
    })
  })

  test('a stop touched without volume left is triggered all the same', () => {
    const config = { participation: 0.1 }
    const orders = [order('market', 10, buy, market), order('stop', 10, sell, stop(9.5), close)]
    const seen = [bar(0, 10, 11, 9, { v: 100 }), bar(1, 12, 13, 11, { v: 100 })]
    expect(bars(orders, seen, { config, position: 20 })).toMatchObject({
      fills: [fill('market', 10, 10, o), fill('stop', 10, 12, o, 1)],
    })
  })

  test('every filled lot is protected at once, and the first exit withdraws the rest of the entry', () => {
    const config = { participation: 0.1 }
    const seen = [
      bar(0, 10, 11, 9, { v: 300 }),
      bar(1, 10, 11, 7, { v: 150 }),
      bar(2, 10, 11, 9, { v: 5000 }),
    ]
    const slow = [entry(limit(10.5)), exit('target', limit(12)), exit('loss', stop(8))]
    expect(bars(slow, seen, { config })).toEqual({
      fills: [fill('entry', 30, 10, o), fill('entry', 15, 10, o, 1), fill('loss', 45, 10, o, 2)],
      position: 0,
    })
  })

  test('members of a group shrink together', () => {
    const config = { participation: 0.1 }
    const seen = [
      bar(0, 10, 11, 9, { v: 1000 }),
      bar(1, 10, 12.5, 9, { v: 300 }),
      bar(2, 10, 11, 7, { v: 5000 }),
    ]
    expect(bars(bracket(market), seen, { config })).toEqual({
      fills: [fill('entry', 100, 10, o), fill('target', 30, 12, i, 1), fill('loss', 70, 8, i, 2)],
      position: 0,
    })
  })

  test('stops slip, limits do not', () => {
    const config = { tick: 0.01, slippageTicks: 2 }
    const orders = [order('stop', 1, sell, stop(9.5), close), order('limit', 1, sell, limit(10.5), close)]
    expect(bars(orders, [bar(0, 10, 11, 9)], { config, position: 2 })).toMatchObject({
      fills: [fill('stop', 1, 9.48, i), fill('limit', 1, 10.5, i)],
    })
  })
})

test('volume-share slippage with its defaults', () => {
  const input = { price: 100, quantity: 100, barVolume: 10_000 }
  expect(run('fills.volumeShareSlippage', input)).toEqual({ slippage: 0.001 })
})
