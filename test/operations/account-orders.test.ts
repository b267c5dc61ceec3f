/** Orders that the holder of an account asks for himself, over HTTP, down to the scripted broker and back. */
import { describe, expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { resultsOf, told } from '../support/http.ts'
import { buildHolder, type ListedOrder } from './support/holder.ts'
import { apple } from './support/town.ts'

const { town, own, held, owned, closing, orders, place, position, audit } = await buildHolder()

describe('closing by hand', () => {
  test('an order works, is listed under its number and is canceled by its id, twice', async () => {
    const order = await place()
    expect(order).toMatchObject({ SignalType: 4, OrderStatus: '0', OrderQuantity: 40, Limit: 110 })
    const cancel = { ...own(), OrderId: order.OrderId }
    for (const _ of [1, 2]) {
      const canceled = await held('CancelAutotradeOrder', cancel)
      expect([canceled.status, resultsOf(canceled)]).toEqual([200, [{ SignalId: order.SignalId }]])
    }
    expect(await orders()).toContainEqual(
      expect.objectContaining({ OrderId: order.OrderId, OrderStatus: '4' }),
    )
  })

  test('its id is taken as it was given, not in another case', async () => {
    const order = await place()
    const folded = { ...own(), OrderId: order.OrderId.toLowerCase() }
    expect(folded.OrderId).not.toBe(order.OrderId)
    expect(told(await held('CancelAutotradeOrder', folded))).toEqual([404, '2013 OrderId'])
    expect(told(await held('ReplaceAutotradeOrder', { ...folded, Price: 111 }))).toEqual([
      404,
      '2013 OrderId',
    ])
    expect((await held('CancelAutotradeOrder', { ...own(), OrderId: order.OrderId })).status).toBe(200)
  })

  test('it is cut to what is held', async () => {
    const order = await place({ OrderQuantity: 1000 })
    expect(order).toMatchObject({ OrderQuantity: 100, OrderStatus: '0' })
    await held('CancelAutotradeOrder', { ...own(), OrderId: order.OrderId })
  })

  test('with nothing to close it is an order that was rejected', async () => {
    const order = await place({ Side: '1', Limit: 90 })
    expect(order).toMatchObject({ OrderStatus: '8', RejectMessage: 'no position to close' })
  })

  test('what was refused without asking the broker holds AutoSync up from nothing', async () => {
    const trade = (Side: '1' | '2') =>
      owned('NewStrategyOrder', {
        Order: {
          StrategyId: town.strategyId,
          OrderType: '1',
          Side,
          OrderQuantity: 10,
          TIF: '0',
          PlatformSymbol: apple,
        },
      })
    await town.door('/broker', { down: true })
    await trade('1')
    expect((await held('SyncPositionsToOpen', own())).status).toBe(200)
    expect(await place({ Side: '1', Limit: 90 })).toMatchObject({ OrderStatus: '8' })
    await town.door('/clock', { now: '2024-03-12T14:00:40Z' })
    expect(await position()).toMatchObject([{ Quantity: 100 }])
    await town.door('/broker', { down: false })
    expect(await position()).toMatchObject([{ Quantity: 110 }])
    await trade('2')
    expect(await position()).toMatchObject([{ Quantity: 100 }])
    await audit()
  })

  test('its price changes, its number stays', async () => {
    const order = await place()
    const replaced = await held('ReplaceAutotradeOrder', { ...own(), OrderId: order.OrderId, Price: 111.5 })
    expect([replaced.status, resultsOf(replaced)]).toEqual([200, [{ SignalId: order.SignalId }]])
    const both = (await orders()).filter(({ SignalId }) => SignalId === order.SignalId)
    expect(both.map(({ OrderStatus, Limit, SignalType }) => [OrderStatus, Limit, SignalType])).toEqual([
      ['5', 110, 4],
      ['0', 111.5, 4],
    ])
    const again = await held('ReplaceAutotradeOrder', { ...own(), OrderId: order.OrderId, Price: 112 })
    expect(told(again)).toEqual([409, '2011 OrderId'])
    const [, next] = both
    await held('CancelAutotradeOrder', { ...own(), OrderId: next?.OrderId })
  })

  test.each<[string, OperationName, () => object, (number | string)[]]>([
    ['a market order', 'NewAutotradeOrder', () => closing({ OrderType: '1' }), [400, '1130 Order.OrderType']],
    ['an opening one', 'NewAutotradeOrder', () => closing({ OpenClose: 'O' }), [400, '1130 Order.OpenClose']],
    ['no price', 'NewAutotradeOrder', () => closing({ Limit: null }), [400, '1102 Order.Limit']],
    ['off the tick', 'NewAutotradeOrder', () => closing({ Limit: 110.001 }), [400, '1130 Order.Limit']],
    [
      'a stop off the tick',
      'NewAutotradeOrder',
      () => closing({ OrderType: '3', Limit: undefined, Stop: 80.001 }),
      [400, '1130 Order.Stop'],
    ],
    [
      'an unknown symbol',
      'NewAutotradeOrder',
      () => closing({ PlatformSymbol: { FullSymbol: 'NOPE', SymbolType: 'stock' } }),
      [400, '1121 Symbol'],
    ],
    [
      'a strategy that is not followed',
      'NewAutotradeOrder',
      () => closing({ StrategyId: town.lonelyStrategyId }),
      [409, '2010 Order.StrategyId'],
    ],
    [
      'no such order',
      'CancelAutotradeOrder',
      () => ({ ...own(), OrderId: 'LST-1-M99-0' }),
      [404, '2013 OrderId'],
    ],
    ['no id of ours', 'CancelAutotradeOrder', () => ({ ...own(), OrderId: 'x' }), [404, '2013 OrderId']],
    [
      'an id of another platform',
      'CancelAutotradeOrder',
      () => ({ ...own(), OrderId: 'LSQ-1-S1-0' }),
      [404, '2013 OrderId'],
    ],
    [
      'a price of zero',
      'ReplaceAutotradeOrder',
      () => ({ ...own(), OrderId: 'x', Price: 0 }),
      [400, '1130 Price'],
    ],
    [
      'no such order',
      'ReplaceAutotradeOrder',
      () => ({ ...own(), OrderId: 'x', Price: 1 }),
      [404, '2013 OrderId'],
    ],
  ])('%s: %s', async (_, operation, params, expected) => {
    expect(told(await held(operation, params()))).toEqual(expected)
  })

  test('an entry can be canceled and not replaced; a filled order neither', async () => {
    const { working, filled } = town.signals
    const idOf = async (signal: number) =>
      (await orders()).find(({ SignalId }) => SignalId === signal)?.OrderId
    const entry = { ...own(), OrderId: await idOf(working) }
    expect(told(await held('ReplaceAutotradeOrder', { ...entry, Price: 91 }))).toEqual([409, '2010 OrderId'])
    const done = { ...own(), OrderId: await idOf(filled) }
    expect(told(await held('CancelAutotradeOrder', done))).toEqual([409, '2011 OrderId'])
    expect(told(await held('ReplaceAutotradeOrder', { ...done, Price: 91 }))).toEqual([409, '2011 OrderId'])
  })

  test('the same idempotency key makes one order', async () => {
    const before = (await orders()).length
    const send = () =>
      town.ask('NewAutotradeOrder', closing(), {
        key: town.people.holder.key,
        headers: { 'idempotency-key': 'once' },
      })
    const [first, second] = [await send(), await send()]
    expect(second.text).toBe(first.text)
    expect((await orders()).length).toBe(before + 1)
    const mine = (await orders()).at(-1)
    await held('CancelAutotradeOrder', { ...own(), OrderId: mine?.OrderId })
  })

  test('what works by hand stays within what is held, and ends with it', async () => {
    const trade = (Side: '1' | '2', OrderQuantity: number) =>
      owned('NewStrategyOrder', {
        Order: {
          StrategyId: town.strategyId,
          OrderType: '1',
          Side,
          OrderQuantity,
          TIF: '0',
          PlatformSymbol: apple,
        },
      })
    await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100.1 }])
    const small = await place({ Limit: 120, OrderQuantity: 20 })
    const large = await place({ Limit: 121, OrderQuantity: 100 })
    expect(large).toMatchObject({ OrderStatus: '0', OrderQuantity: 80 })
    const latest = async ({ SignalId }: ListedOrder) => {
      const found = (await orders()).filter((order) => order.SignalId === SignalId).at(-1)
      return [found?.OrderStatus, found?.OrderQuantity]
    }
    await trade('2', 70)
    expect(await position()).toMatchObject([{ Quantity: 30 }])
    expect([await latest(small), await latest(large)]).toEqual([
      ['0', 20],
      ['0', 10],
    ])
    await trade('2', 30)
    expect(await position()).toEqual([])
    expect([await latest(small), await latest(large)]).toEqual([
      ['4', 20],
      ['4', 10],
    ])
    await trade('1', 100)
    expect(await position()).toMatchObject([{ Quantity: 100 }])
    await audit()
  })

  test('exits of one kind never close more than there is, whatever trades at once', async () => {
    const [limit, again] = [await place({ Limit: 105, OrderQuantity: 100 }), await place({ Limit: 105 })]
    const stop = await place({ OrderType: '3', Limit: undefined, Stop: 80, OrderQuantity: 100 })
    expect(again).toMatchObject({ OrderStatus: '8', RejectMessage: 'other exits close the position' })
    expect(limit).toMatchObject({ OrderStatus: '0', OrderQuantity: 100, Limit: 105 })
    expect(stop).toMatchObject({ OrderStatus: '0', OrderQuantity: 100, Stop: 80 })
    for (const { OrderId } of [limit, stop]) await held('CancelAutotradeOrder', { ...own(), OrderId })
    await audit()
  })

  test('an exit at its new price takes the room of the old one, and one that is being canceled takes none', async () => {
    const cancel = ({ OrderId }: ListedOrder) => held('CancelAutotradeOrder', { ...own(), OrderId })
    const exit = await place({ Limit: 105, OrderQuantity: 60 })
    await town.door('/broker', { down: true })
    await held('ReplaceAutotradeOrder', { ...own(), OrderId: exit.OrderId, Price: 106 })
    const beside = await place({ Limit: 107, OrderQuantity: 100 })
    expect(beside).toMatchObject({ OrderStatus: 'A', OrderQuantity: 40 })
    for (const order of [exit, beside]) await cancel(order)
    expect((await orders()).find(({ OrderId }) => OrderId === exit.OrderId)).toMatchObject({
      OrderStatus: '6',
    })
    const anew = await place({ Limit: 108, OrderQuantity: 100 })
    expect(anew).toMatchObject({ OrderStatus: 'A', OrderQuantity: 100 })
    await town.door('/broker', { down: false })
    await cancel(anew)
    await audit()
  })

  test('a target with another price leaves the stop of the same position at work', async () => {
    const trade = (Side: '1' | '2', exits: object = {}) =>
      owned('NewStrategyOrder', {
        Order: {
          StrategyId: town.strategyId,
          OrderType: '1',
          Side,
          OrderQuantity: 100,
          TIF: '0',
          ...exits,
          PlatformSymbol: apple,
        },
      })
    await trade('2')
    await trade('1', { ProfitTarget: 120, StopLoss: 80 })
    const working = async () =>
      resultsOf<ListedOrder>(await held('GetAutotradeActiveOrders', own()))
        .filter(({ OpenClose }) => OpenClose === 'C')
        .map(({ Limit, Stop, OrderQuantity, SignalType }) => [Limit ?? Stop, OrderQuantity, SignalType])
    expect(await working()).toEqual([
      [120, 100, 1],
      [80, 100, 1],
    ])
    const target = (await orders()).findLast(({ Limit }) => Limit === 120)
    await held('ReplaceAutotradeOrder', { ...own(), OrderId: target?.OrderId, Price: 118 })
    expect((await working()).sort()).toEqual([
      [118, 100, 5],
      [80, 100, 1],
    ])
    // It is the holder's own now, like one that was placed by hand.
    expect(await place({ Limit: 119 })).toMatchObject({ OrderStatus: '8' })
    await trade('2')
    expect([await working(), await position()]).toEqual([[], []])
    await trade('1')
    expect(await position()).toMatchObject([{ Quantity: 100 }])
    await audit()
  })

  test('a fill takes the symbol out of the mirroring until the strategy is flat', async () => {
    await town.door('/clock', { now: '2024-03-12T15:00:00Z' })
    const order = await place({ Limit: 105, OrderQuantity: 60 })
    await town.door('/quotes', [{ symbol: 'AAPL', bid: 106, ask: 106.1 }])
    expect(await orders()).toContainEqual(
      expect.objectContaining({ OrderId: order.OrderId, OrderStatus: '2' }),
    )
    expect(await position()).toMatchObject([{ Quantity: 40 }])
    const [settings] = resultsOf(await held('GetAutotradeSettings', own()))
    expect(settings).toMatchObject({
      IsManualDiscardedPosition: true,
      IsSyncEnabled: true,
      SettingsLastUpdateUTC: '2024-03-12T15:00:00Z',
    })
    await audit()
  })
})

test('a symbol that two strategies hold in the account needs the strategy named', async () => {
  const start = { ...own(), StrategyId: town.lonelyStrategyId, StocksEnabled: true }
  expect((await held('StartAutotrade', start)).text).toBe('true')
  const Order = {
    StrategyId: town.lonelyStrategyId,
    OrderType: '1',
    Side: '1',
    OrderQuantity: 10,
    TIF: '0',
    PlatformSymbol: apple,
  }
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100.1 }])
  await owned('NewStrategyOrder', { Order })
  expect(told(await held('NewAutotradeOrder', closing()))).toEqual([400, '1128 Order.StrategyId'])
  expect(await place({ StrategyId: town.lonelyStrategyId, OrderQuantity: 4 })).toMatchObject({
    OrderStatus: '0',
  })
})

test('a symbol that was left alone is followed again, and the settings say since when', async () => {
  await town.door('/clock', { now: '2024-03-12T16:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100.1 }])
  const Order = {
    StrategyId: town.strategyId,
    OrderType: '1',
    Side: '2',
    OrderQuantity: 100,
    TIF: '0',
    PlatformSymbol: apple,
  }
  await owned('NewStrategyOrder', { Order })
  const SettingsLastUpdateUTC = '2024-03-12T16:00:00Z'
  const rows = resultsOf<{ StrategyId: number }>(await held('GetAutotradeSettings', own()))
  expect(rows.find(({ StrategyId }) => StrategyId === town.strategyId)).toMatchObject({
    IsManualDiscardedPosition: false,
    SettingsLastUpdateUTC,
  })
  const search = { StrategyId: town.strategyId }
  const found = await town.ask('SearchAutotradedAccounts', search, {
    key: town.people.westAdmin.key,
    host: 'WL',
  })
  expect(resultsOf(found)).toContainEqual(expect.objectContaining({ ...own(), SettingsLastUpdateUTC }))
  await audit()
})
