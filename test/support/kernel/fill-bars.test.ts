import { describe, expect, test } from 'vitest'
import { buy, type Json, limit, market, order, run, sell, stop } from './fills-given.ts'

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

  test('an order that comes after the position was flat has not ended with it', () => {
    const orders = [
      order('out', 1, sell, market, close),
      order('in', 5, buy, market, { t: 30 }),
      order('late', 2, sell, stop(9.5), close, { t: 40 }),
    ]
    const seen = [bar(0, 10, 11, 9), bar(60, 10, 11, 9)]
    expect(bars(orders, seen, { position: 1 })).toEqual({
      fills: [fill('out', 1, 10, o), fill('in', 5, 10, o, 1), fill('late', 2, 9.5, i, 1)],
      position: 3,
    })
  })

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
    ['also inside the bar', order('a', 1, buy, limit(9.5), { t: 1 }), bar(0, 10, 11, 9), []],
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
    const stopped = order('stopped', 5, buy, stop(10.8), { parent: 'entry' })
    expect(bars([entry(stop(10.5)), child, stopped], [bar(0, 10, 11, 9), bar(1, 20, 21, 19)])).toEqual({
      fills: [fill('entry', 100, 10.5, i), fill('child', 5, 20, o, 1), fill('stopped', 5, 20, o, 1)],
      position: 110,
    })
  })

  test('an exit that comes after the start waits, the stop loss of another entry too', () => {
    const late = order('late', 1, sell, stop(9.5), close, { t: 1 })
    const orders = [order('in', 1, buy, limit(9.8)), late]
    expect(bars(orders, [bar(0, 10, 11, 9)], { position: 1 })).toMatchObject({
      fills: [fill('in', 1, 9.8, i)],
      position: 2,
    })
  })

  test('what follows a close that was not said to be one opens, on whichever side', () => {
    const unsaid = { openClose: undefined }
    const child = order('in', 1, buy, market, unsaid, { parent: 'out' })
    expect(
      bars([order('out', 5, sell, market, unsaid), child], [bar(0, 10, 11, 9)], { position: 5 }),
    ).toEqual({
      fills: [fill('out', 5, 10, o), fill('in', 1, 10, o)],
      position: 1,
    })
  })

  test('a child that came after the bar had begun waits for the next, whenever its parent trades', () => {
    const later = { t: 30 }
    const seen = [bar(0, 10, 11, 9), bar(60, 20, 21, 19)]
    const child = order('child', 5, buy, market, { parent: 'entry' }, later)
    expect(bars([entry(market), child], seen)).toMatchObject({
      fills: [fill('entry', 100, 10, o), fill('child', 5, 20, o, 1)],
    })
    expect(bars([entry(market), { ...exit('loss', stop(9.5)), ...later }], seen)).toMatchObject({
      fills: [fill('entry', 100, 10, o)],
    })
    expect(bars([entry(limit(9.8)), { ...exit('loss', stop(9.5)), ...later }], seen)).toMatchObject({
      fills: [fill('entry', 100, 9.8, i)],
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

  test('so is one that the open lies beyond', () => {
    const config = { participation: 0.1 }
    const orders = [order('a', 10, sell, stop(10.6), close), order('b', 10, sell, stop(10.5), close)]
    const seen = [bar(0, 10, 11, 10, { v: 100 }), bar(1, 12, 13, 11.5, { v: 100 })]
    expect(bars(orders, seen, { config, position: 30 })).toMatchObject({
      fills: [fill('a', 10, 10, o), fill('b', 10, 12, o, 1)],
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

  test('market orders and stops slip at the open, limits do not', () => {
    const config = { tick: 0.01, slippageTicks: 2 }
    const orders = [
      order('stop', 1, sell, stop(10.5), close),
      order('market', 1, buy, market),
      order('limit', 1, buy, limit(10.5)),
    ]
    expect(bars(orders, [bar(0, 10, 11, 9)], { config, position: 2 })).toMatchObject({
      fills: [fill('stop', 1, 9.98, o), fill('market', 1, 10.02, o), fill('limit', 1, 10, o)],
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
