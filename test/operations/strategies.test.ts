/** The Strategies group over HTTP: what a good call answers in either dialect, and what a bad one is told. */
import { describe, expect, test } from 'vitest'
import type { Dialect, OperationName } from '../../src/contract/index.ts'
import { faultsOf, resultsOf, told } from '../support/http.ts'
import { apple, buildTown, oneAtLimit, symbolMember, type Town } from './support/town.ts'

const towns: Record<Dialect, Town> = { native: await buildTown(), compat: await buildTown('compat') }
const dialects: Dialect[] = ['native', 'compat']

const owned = (town: Town, operation: OperationName, params: object) =>
  town.ask(operation, params, { key: town.people.owner.key })
const orderOf = (town: Town, dialect: Dialect, terms: object = {}) => ({
  Order: {
    StrategyId: town.strategyId,
    ...oneAtLimit,
    [symbolMember(dialect)]: apple,
    ...terms,
  },
})
const exchangeSymbol = {
  Symbol: 'AAPL',
  Currency: 'USD',
  SecurityExchange: 'DEFAULT',
  SecurityType: 'CS',
  PriceMultiplier: 1,
}
const platformSymbol = { ...apple, Description: 'AAPL' }

describe.each(dialects)('in the dialect %s', (dialect) => {
  const town = towns[dialect]
  const symbols = { [symbolMember(dialect)]: platformSymbol, ExchangeSymbol: exchangeSymbol }

  test('AddStrategy makes an empty strategy of the caller', async () => {
    const answer = await owned(town, 'AddStrategy', { StrategyName: 'New', StartingCapital: 5000 })
    const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(answer)
    expect(answer.text).toBe(
      `{"Results":[{"StrategyId":${StrategyId}}],"ResponseStatus":{"ErrorCode":"200"}}`,
    )
    const open = await owned(town, 'GetStrategyOpenPositions', { StrategyIds: StrategyId })
    expect(resultsOf(open)).toEqual([])
  })

  test('the largest capital may be sold short whole', async () => {
    const params = { StrategyName: 'Large', StartingCapital: 10_000_000_000 }
    const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(
      await owned(town, 'AddStrategy', params),
    )
    const order = { StrategyId, OrderType: '1', Side: '2', OrderQuantity: 90_000_000, TIF: '1' }
    const symbol = { [symbolMember(dialect)]: platformSymbol }
    expect((await owned(town, 'NewStrategyOrder', { Order: { ...order, ...symbol } })).status).toBe(200)
    const held = resultsOf(await owned(town, 'GetStrategyOpenPositions', { StrategyIds: StrategyId }))
    expect(held).toMatchObject([{ Quantity: -90_000_000 }])
  })

  test('NewStrategyOrder answers the id alone', async () => {
    const answer = await owned(town, 'NewStrategyOrder', orderOf(town, dialect))
    expect(answer.text).toMatch(
      /^\{"Results":\[\{"SignalId":\d+\}\],"ResponseStatus":\{"ErrorCode":"200"\}\}$/,
    )
    const [{ SignalId = 0 } = {}] = resultsOf<{ SignalId?: number }>(answer)
    await owned(town, 'CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
  })

  test('an order may name its instrument as exchanges do', async () => {
    const { Order } = orderOf(town, dialect)
    const { [symbolMember(dialect)]: _, ...rest } = Order as Record<string, unknown>
    const symbol = { Symbol: 'AAPL', Currency: 'USD', SecurityType: 'CS' }
    const answer = await owned(town, 'NewStrategyOrder', { Order: { ...rest, ExchangeSymbol: symbol } })
    const [{ SignalId = 0 } = {}] = resultsOf<{ SignalId?: number }>(answer)
    const canceled = await owned(town, 'CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
    expect(resultsOf(canceled)).toEqual([{ SignalId }])
  })

  test('an instrument that was entered under a name of its own is found by it', async () => {
    await town.door('/instruments', [{ symbol: 'My Index', securityType: 'CS' }])
    const symbol = { FullSymbol: 'My Index', SymbolType: 'stock' }
    const order = orderOf(town, dialect, { [symbolMember(dialect)]: symbol })
    const answer = await owned(town, 'NewStrategyOrder', order)
    const [{ SignalId = 0 } = {}] = resultsOf<{ SignalId?: number }>(answer)
    await owned(town, 'CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
  })

  test('ReplaceStrategyOrder answers a new id; New with CancelReplaceSignalId means the same', async () => {
    const placed = await owned(town, 'NewStrategyOrder', orderOf(town, dialect))
    const idOf = (answer: typeof placed) => resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
    const first = idOf(placed)
    const second = idOf(
      await owned(
        town,
        'ReplaceStrategyOrder',
        orderOf(town, dialect, { CancelReplaceSignalId: first, Limit: 51 }),
      ),
    )
    const third = idOf(
      await owned(
        town,
        'NewStrategyOrder',
        orderOf(town, dialect, { CancelReplaceSignalId: second, Limit: 52 }),
      ),
    )
    expect(new Set([first, second, third]).size).toBe(3)
    const rows = resultsOf(
      await owned(town, 'GetStrategyActiveOrders', { StrategyIds: town.strategyId, OrderType: '2' }),
    )
    expect(rows.find(({ Id }) => Id === third)).toMatchObject({ CancelReplaceSignalId: second, Limit: 52 })
    await owned(town, 'CancelStrategyOrder', { StrategyId: town.strategyId, SignalId: third })
  })

  test('a parked order and its replacements say until when they are parked', async () => {
    const ask = async (more: Record<string, unknown>) =>
      resultsOf<{ SignalId: number; ParkedUntilDate?: string }>(
        await owned(town, 'NewStrategyOrder', orderOf(town, dialect, more)),
      )[0]
    const placed = await ask({ ParkedUntilDate: '2024-03-13T15:00:00Z' })
    expect(placed?.ParkedUntilDate).toBe('2024-03-13T15:00:00Z')
    const kept = await ask({ CancelReplaceSignalId: placed?.SignalId, Limit: 51 })
    expect(kept?.ParkedUntilDate).toBe('2024-03-13T15:00:00Z')
    const later = { CancelReplaceSignalId: kept?.SignalId, ParkedUntilDate: '2024-03-14T15:00:00Z' }
    const moved = await ask(later)
    expect(moved?.ParkedUntilDate).toBe('2024-03-14T15:00:00Z')
    const begun = await ask({
      CancelReplaceSignalId: moved?.SignalId,
      ParkedUntilDate: '2024-03-01T15:00:00Z',
    })
    expect(begun).not.toHaveProperty('ParkedUntilDate')
    await owned(town, 'CancelStrategyOrder', { StrategyId: town.strategyId, SignalId: begun?.SignalId })
  })

  test('GetStrategyActiveOrders shows an order with every member, in order', async () => {
    const answer = await owned(town, 'GetStrategyActiveOrders', { StrategyIds: town.strategyId })
    const { working } = town.signals
    const rows = resultsOf(answer)
    expect(rows).toEqual([
      {
        OrderStatus: '0',
        FilledQuantity: 0,
        AvgFillPrice: 0,
        PostedDate: '2024-03-12T14:00:00Z',
        SignalType: 1,
        Id: working,
        OrderId: String(working),
        StrategyId: town.strategyId,
        StrategyName: 'Trend',
        SignalId: working,
        AvgPx: 0,
        OrderType: '2',
        Side: '1',
        OpenClose: 'O',
        OrderQuantity: 100,
        Limit: 90,
        TIF: '1',
        ...symbols,
      },
    ])
    expect(Object.keys(rows[0] ?? {}).slice(0, 10)).toEqual(
      'OrderStatus FilledQuantity AvgFillPrice PostedDate SignalType Id OrderId StrategyId StrategyName SignalId'.split(
        ' ',
      ),
    )
    const none = await owned(town, 'GetStrategyActiveOrders', {
      StrategyIds: town.strategyId,
      SecurityType: 'FUT',
    })
    expect(resultsOf(none)).toEqual([])
  })

  test('GetStrategyOpenPositions shows what is held', async () => {
    const answer = await owned(town, 'GetStrategyOpenPositions', {
      StrategyIds: `${town.strategyId},${town.lonelyStrategyId}`,
    })
    expect(resultsOf(answer)).toEqual([
      {
        StrategyName: 'Trend',
        Currency: 'USD',
        OpenedDate: '2024-03-12T14:00:00Z',
        StrategyId: town.strategyId,
        Quantity: 100,
        AvgPx: 100,
        ...symbols,
      },
    ])
  })

  test('GetStrategyHistoricalOrders shows what has ended, by status, signal and page', async () => {
    const { filled, canceled } = town.signals
    const history = async (params: object) =>
      resultsOf(await owned(town, 'GetStrategyHistoricalOrders', params)).map(({ Id }) => Id)
    expect(await history({ StrategyId: town.strategyId, OrderStatus: '2' })).toEqual([filled])
    expect(await history({ SignalId: canceled })).toEqual([canceled])
    expect(await history({ StrategyId: town.strategyId, StartDate: '2024-03-13' })).toEqual([])
    const first = await owned(town, 'GetStrategyHistoricalOrders', { StrategyId: town.strategyId, Limit: 1 })
    const { Pagination } = first.json as { Pagination: { next_cursor: string } }
    const second = await owned(town, 'GetStrategyHistoricalOrders', {
      StrategyId: town.strategyId,
      Limit: 1,
      Cursor: decodeURIComponent(Pagination.next_cursor),
    })
    const ids = [first, second].flatMap((answer) => resultsOf(answer).map(({ Id }) => Id))
    expect(new Set(ids).size).toBe(2)
  })

  test.each<[string, OperationName, (town: Town) => object, (number | string)[]]>([
    ['capital is needed', 'AddStrategy', () => ({ StrategyName: 'x' }), [400, '1102 StartingCapital']],
    [
      'capital has an end',
      'AddStrategy',
      () => ({ StrategyName: 'x', StartingCapital: 10_000_000_001 }),
      [400, '1130 StartingCapital'],
    ],
    [
      'an account that feeds it must be one’s own',
      'AddStrategy',
      () => ({ StrategyName: 'x', Account: 'U1' }),
      [403, '1002 Account'],
    ],
    [
      'an unknown signal',
      'CancelStrategyOrder',
      ({ strategyId }) => ({ StrategyId: strategyId, SignalId: 999 }),
      [404, '2013 SignalId'],
    ],
    [
      'a filled signal',
      'CancelStrategyOrder',
      ({ strategyId, signals }) => ({ StrategyId: strategyId, SignalId: signals.filled }),
      [409, '2011 SignalId'],
    ],
    [
      "another strategy's signal",
      'CancelStrategyOrder',
      ({ lonelyStrategyId, signals }) => ({ StrategyId: lonelyStrategyId, SignalId: signals.working }),
      [403, '1002 SignalId'],
    ],
    ['no strategy and no signal', 'GetStrategyHistoricalOrders', () => ({}), [400, '1128 StrategyId']],
    [
      'dates that run backwards',
      'GetStrategyHistoricalOrders',
      ({ strategyId }) => ({ StrategyId: strategyId, StartDate: '2024-03-13', EndDate: '2024-03-12' }),
      [400, '1128 EndDate'],
    ],
    ['no strategies', 'GetStrategyActiveOrders', () => ({}), [400, '1102 StrategyIds']],
    ['no strategies', 'GetStrategyOpenPositions', () => ({ StrategyIds: '' }), [400, '1102 StrategyIds']],
  ])('%s: %s', async (_, operation, params, expected) => {
    expect(told(await owned(town, operation, params(town)))).toEqual(expected)
  })

  test.each<[string, object, (number | string)[]]>([
    ['a limit order without its price', { Limit: undefined }, [400, '1102 Order.Limit']],
    ['a market order with a price', { OrderType: '1' }, [400, '1128 Order.Limit']],
    ['quantity zero', { OrderQuantity: 0 }, [400, '1130 Order.OrderQuantity']],
    ['a price below zero', { Limit: -1 }, [400, '1130 Order.Limit']],
    ['a price between two ticks', { Limit: 50.001 }, [400, '1130 Order.Limit']],
    [
      'a symbol nobody knows',
      { [symbolMember(dialect)]: { FullSymbol: 'NONE', SymbolType: 'stock' } },
      [400, '1121 Symbol'],
    ],
    ['a target between two ticks', { ProfitTarget: 60.001 }, [400, '1130 Order.ProfitTarget']],
    ['a stop loss between two ticks', { StopLoss: 40.001 }, [400, '1130 Order.StopLoss']],
    ['a target below its entry', { ProfitTarget: 40 }, [400, '1128 Order.ProfitTarget']],
    ['a stop loss above its entry', { StopLoss: 60 }, [400, '1128 Order.StopLoss']],
    ['exits although it closes', { OpenClose: 'C', ProfitTarget: 60 }, [400, '1128 Order.ProfitTarget']],
    ['a parent that is not there', { ParentSignalId: 999 }, [400, '1130 Order.ParentSignalId']],
    [
      'a replaced signal that is not there',
      { CancelReplaceSignalId: 999 },
      [404, '2013 Order.CancelReplaceSignalId'],
    ],
  ])('an order with %s', async (_, terms, expected) => {
    expect(told(await owned(town, 'NewStrategyOrder', orderOf(town, dialect, terms)))).toEqual(expected)
  })

  test('a replacement names the signal, and an order its parent, of the same strategy', async () => {
    const nothing = await owned(town, 'ReplaceStrategyOrder', orderOf(town, dialect))
    expect(told(nothing)).toEqual([400, '1102 Order.CancelReplaceSignalId'])
    const other = { StrategyId: town.lonelyStrategyId, CancelReplaceSignalId: town.signals.working }
    const moved = await owned(town, 'ReplaceStrategyOrder', orderOf(town, dialect, other))
    expect(told(moved)).toEqual([400, '1130 Order.StrategyId'])
    const child = { StrategyId: town.lonelyStrategyId, ParentSignalId: town.signals.working }
    const adopted = await owned(town, 'NewStrategyOrder', orderOf(town, dialect, child))
    expect(told(adopted)).toEqual([400, '1130 Order.ParentSignalId'])
    const stranger = { key: town.people.stranger.key }
    const added = await town.ask('AddStrategy', { StrategyName: 'Theirs', StartingCapital: 1000 }, stranger)
    const [{ StrategyId } = { StrategyId: 0 }] = resultsOf<{ StrategyId: number }>(added)
    const taken = orderOf(town, dialect, { ...other, StrategyId })
    for (const operation of ['ReplaceStrategyOrder', 'NewStrategyOrder'] as const)
      expect(told(await town.ask(operation, taken, stranger))).toEqual([
        403,
        '1002 Order.CancelReplaceSignalId',
      ])
  })

  test.each<[string, object, boolean]>([
    ['an entry at a limit', {}, true],
    ['an entry at a stop', { OrderType: '3', Limit: undefined, Stop: 500 }, true],
    ['a market order', { OrderType: '1', Limit: undefined, ParkedUntilDate: '2030-01-02T15:00:00Z' }, false],
    ['a closing order', { OpenClose: 'C', Side: '2', Limit: 500 }, false],
  ])('DoNotSyncToOpen of %s, and of what replaces it', async (_, terms, isKept) => {
    const { strategyId: StrategyId } = town
    const send = async (operation: OperationName, more: object): Promise<number> => {
      const answer = await owned(town, operation, orderOf(town, dialect, { ...terms, ...more }))
      return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
    }
    const keeps = async (id: number) => {
      const live = await owned(town, 'GetStrategyActiveOrders', { StrategyIds: StrategyId })
      const rows = resultsOf<{ SignalId: number; DoNotSyncToOpen?: boolean }>(live)
      return rows
        .filter(({ SignalId }) => SignalId === id)
        .map(({ DoNotSyncToOpen }) => DoNotSyncToOpen ?? false)
    }
    const first = await send('NewStrategyOrder', { DoNotSyncToOpen: true })
    expect(await keeps(first)).toEqual([isKept])
    const second = await send('ReplaceStrategyOrder', { CancelReplaceSignalId: first })
    expect(await keeps(second)).toEqual([false])
    const again = { CancelReplaceSignalId: second, DoNotSyncToOpen: true }
    const third = await send('ReplaceStrategyOrder', again)
    expect(await keeps(third)).toEqual([isKept])
    await owned(town, 'CancelStrategyOrder', { StrategyId, SignalId: third })
  })
})

describe('where the dialects differ', () => {
  test('compat reads codes as numbers, numbers as text, names in any case, null as absent', async () => {
    const town = towns.compat
    const order = {
      strategyid: String(town.strategyId),
      ORDERTYPE: 2,
      limit: '50.5',
      Side: 1,
      orderQuantity: '3',
      tif: 1,
      c2symbol: { fullsymbol: 'AAPL', symboltype: 'stock' },
      Stop: null,
      Unknown: [1],
    }
    const answer = await owned(town, 'NewStrategyOrder', { order })
    const [{ SignalId = 0 } = {}] = resultsOf<{ SignalId?: number }>(answer)
    const rows = resultsOf(await owned(town, 'GetStrategyActiveOrders', { strategyids: town.strategyId }))
    expect(rows.find(({ Id }) => Id === SignalId)).toMatchObject({
      OrderType: '2',
      Limit: 50.5,
      OrderQuantity: 3,
    })
    await owned(town, 'CancelStrategyOrder', { StrategyId: town.strategyId, SignalId })
  })

  test('native refuses each of these', async () => {
    const town = towns.native
    const terms = {
      OrderType: 2,
      Limit: '50',
      StrategyId: String(town.strategyId),
      limit: 50,
      Side: null,
      Stop: null,
    }
    const answer = await owned(town, 'NewStrategyOrder', orderOf(town, 'native', terms))
    expect(answer.status).toBe(400)
    expect(faultsOf(answer).sort()).toEqual([
      '1102 Order.Side',
      '1130 Order.Limit',
      '1130 Order.OrderType',
      '1130 Order.StrategyId',
      '1130 Order.limit',
    ])
  })
})

test('an order whose Idempotency-Key was used answers the same and is placed once', async () => {
  const town = towns.native
  const options = { key: town.people.owner.key, headers: { 'idempotency-key': 'one-order' } }
  const params = orderOf(town, 'native', { Limit: 41 })
  const answers = [
    await town.ask('NewStrategyOrder', params, options),
    await town.ask('NewStrategyOrder', params, options),
  ]
  expect(answers[1]?.text).toBe(answers[0]?.text)
  const other = await town.ask('NewStrategyOrder', orderOf(town, 'native', { Limit: 42 }), options)
  expect(told(other)[0]).toBe(409)
  const rows = resultsOf(await owned(town, 'GetStrategyActiveOrders', { StrategyIds: town.strategyId }))
  expect(rows.filter(({ Limit }) => Limit === 41 || Limit === 42).length).toBe(1)
})
