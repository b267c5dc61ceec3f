import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compileRow, type Dialect, type HostName, type OperationName, rows } from './index.ts'
import { exactNumber } from './read-value.ts'

const reader = (operation: OperationName, dialect: Dialect = 'native', host: HostName = 'Gen') =>
  compileRow(rows[operation], host, dialect).readInput

/** What was read, or the faults as `code path`. */
function read(operation: OperationName, raw: unknown, dialect?: Dialect, host?: HostName): unknown {
  const input = reader(operation, dialect, host)(raw)
  return 'params' in input
    ? input.params
    : input.faults.map(({ ErrorCode, FieldName }) => `${ErrorCode} ${FieldName}`)
}

const query = (text: string): ReadonlyMap<string, readonly string[]> => {
  const map = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(text)) map.set(name, [...(map.get(name) ?? []), value])
  return map
}

const apple = { FullSymbol: 'AAPL', SymbolType: 'stock' }
const market = {
  StrategyId: 7,
  OrderType: '1',
  Side: '1',
  OrderQuantity: 100,
  TIF: '0',
  PlatformSymbol: apple,
}
const limit = { ...market, OrderType: '2', Limit: 182.5 }
const stop = { ...market, OrderType: '3', Stop: 180 }
const order = (changes: object, base: object = market) => ({ Order: { ...base, ...changes } })

describe('a query', () => {
  const page = { Limit: 1000, AscendingOrder: true }
  test.each<[string, OperationName, string, unknown]>([
    ['fills in defaults', 'GetStrategyHistoricalOrders', 'StrategyId=5', { StrategyId: 5, ...page }],
    [
      'reads the largest id exactly',
      'GetStrategyDetails',
      'StrategyId=9223372036854775807',
      { StrategyId: 2n ** 63n - 1n },
    ],
    [
      'reads the smallest id exactly',
      'GetStrategyDetails',
      'StrategyId=-9223372036854775808',
      { StrategyId: -(2n ** 63n) },
    ],
    [
      'reads an id above 2^53 exactly',
      'GetStrategyDetails',
      'StrategyId=9007199254740993',
      { StrategyId: 9007199254740993n },
    ],
    ['reads minus zero as zero', 'GetStrategyDetails', 'StrategyId=-0', { StrategyId: 0 }],
    [
      'refuses one above the range',
      'GetStrategyDetails',
      'StrategyId=9223372036854775808',
      ['1130 StrategyId'],
    ],
    ['refuses a very long id', 'GetStrategyDetails', `StrategyId=${'9'.repeat(400)}`, ['1130 StrategyId']],
    ['refuses an i32 above the range', 'GetAutotraders', 'BrokerId=2147483648', ['1130 BrokerId']],
    ['refuses an i32 below the range', 'GetAutotraders', 'BrokerId=-2147483649', ['1130 BrokerId']],
    ['names what is missing', 'GetDashBoard', '', ['1102 PersonId', '1102 Account']],
    ['takes empty as missing', 'GetDashBoard', 'PersonId=&Account=%20', ['1102 PersonId', '1102 Account']],
    [
      'lists all faults',
      'GetAutotraders',
      'StrategyId=x&Limit=0&Foo=1',
      ['1130 StrategyId', '1130 Limit', '1130 Foo'],
    ],
    [
      'knows names by their case',
      'GetStrategyDetails',
      'strategyId=1',
      ['1130 strategyId', '1102 StrategyId'],
    ],
    ['refuses a repeated scalar', 'GetStrategyDetails', 'StrategyId=1&StrategyId=1', ['1130 StrategyId']],
    ['lowers Limit to the most', 'GetAutotraders', 'Limit=5000', { Limit: 1000, AscendingOrder: true }],
    [
      'lowers a Limit beyond 32 bits',
      'GetAutotraders',
      'Limit=99999999999',
      { Limit: 1000, AscendingOrder: true },
    ],
    ['refuses a negative Limit', 'GetAutotraders', 'Limit=-1', ['1130 Limit']],
    ['takes an empty cursor as the first page', 'GetAutotraders', 'Cursor=', page],
    ['reads false', 'GetAutotraders', 'AscendingOrder=false', { Limit: 1000, AscendingOrder: false }],
    [
      'lowers MaxAccountDays',
      'GetSimResults',
      'MaxAccountDays=400',
      { ActiveOnly: true, MaxAccountDays: 365 },
    ],
    ['refuses no MaxAccountDays', 'GetSimResults', 'MaxAccountDays=0', ['1130 MaxAccountDays']],
    ['reads repeated ids', 'GetStrategyActiveOrders', 'StrategyIds=1&StrategyIds=2', { StrategyIds: [1, 2] }],
    ['reads ids between commas', 'GetStrategyActiveOrders', 'StrategyIds=1,2', { StrategyIds: [1, 2] }],
    [
      'names a bad element',
      'GetStrategyActiveOrders',
      'StrategyIds=1,,x',
      ['1102 StrategyIds[1]', '1102 StrategyIds[2]'],
    ],
    [
      'refuses a code it does not know',
      'GetStrategyActiveOrders',
      'StrategyIds=1&OrderType=4',
      ['1130 OrderType'],
    ],
    ['refuses a code of the wrong case', 'GetLeaderBoard', 'SecurityType=cs', ['1130 SecurityType']],
    ['needs one of two', 'GetStrategyHistoricalOrders', 'OrderStatus=2', ['1128 StrategyId']],
    ['counts a refused value as given', 'GetStrategyHistoricalOrders', 'SignalId=x', ['1130 SignalId']],
    ['needs the strategy of closed trades', 'GetStrategyHistoricalClosedTrades', '', ['1128 StrategyId']],
    ['needs more than dates', 'GetSubscriptionRevenue', 'StartDate=2024-01-01', ['1128 StrategyId']],
    [
      'defaults the commission plan',
      'GetStrategyHistoricalEquity',
      'StrategyId=1',
      { StrategyId: 1, CommissionPlan: '0' },
    ],
    [
      'refuses plan 2',
      'GetStrategyHistoricalEquity',
      'StrategyId=1&CommissionPlan=2',
      ['1130 CommissionPlan'],
    ],
    ['refuses NUL', 'GetAutoTradeOpenPositions', 'Account=a%00b', ['1130 Account']],
    [
      'refuses text beyond its length',
      'GetAutoTradeOpenPositions',
      `Account=${'x'.repeat(257)}`,
      ['1130 Account'],
    ],
    [
      'knows no prototype',
      'GetStrategyDetails',
      'StrategyId=1&__proto__=1&constructor=1',
      ['1130 __proto__', '1130 constructor'],
    ],
  ])('%s', (_name, operation, text, expected) => {
    expect(read(operation, query(text))).toEqual(expected)
  })

  test.each(['abc', '1.0', '1e3', '0x10', '+5', ' 5', '5 ', '5;', '٣', '1,000', '--1', 'null'])(
    'refuses %j as an id',
    (text) => {
      expect(read('GetStrategyDetails', new Map([['StrategyId', [text]]]))).toEqual(['1102 StrategyId'])
      expect(read('GetAutotraders', new Map([['StrategyId', [text]]]))).toEqual(['1130 StrategyId'])
    },
  )

  test.each(['True', 'TRUE', '1', '0', 'true1', 'yes', ''])('refuses %j as a boolean', (text) => {
    expect(read('GetBrokers', new Map([['IncludeDisabled', [text]]]))).toEqual(['1130 IncludeDisabled'])
  })

  test('knows a parameter on its hosts only', () => {
    expect(read('GetProfile', query('IncludeIconInResponse=true'))).toEqual(['1130 IncludeIconInResponse'])
    expect(read('GetProfile', query('IncludeIconInResponse=true'), 'native', 'WL')).toEqual({
      IncludeIconInResponse: true,
    })
  })

  test('lists at most twenty faults', () => {
    const many = new Map(Array.from({ length: 50 }, (_, index) => [`p${index}`, ['1']]))
    expect(read('GetAccessKey', many)).toHaveLength(20)
  })
})

describe('dates', () => {
  const at = (text: string) => Date.parse(text)
  test.each([
    ['2024-03-10', at('2024-03-10T00:00:00Z')],
    ['2024-03-10T15:30:00Z', at('2024-03-10T15:30:00Z')],
    ['2024-03-10T15:30:00', at('2024-03-10T15:30:00Z')],
    ['2024-03-10T15:30:00+14:00', at('2024-03-10T01:30:00Z')],
    ['2024-03-10T15:30:00.123456Z', at('2024-03-10T15:30:00.123Z')],
    ['2024-02-29', at('2024-02-29T00:00:00Z')],
  ])('reads %s', (text, expected) => {
    expect(read('SearchStrategies', new Map([['CreatedBeforeDate', [text]]]))).toMatchObject({
      CreatedBeforeDate: expected,
    })
  })

  test.each([
    '2026-02-30',
    '2023-02-29',
    '2026-13-01',
    '2026-01-01T24:00:00Z',
    '2016-12-31T23:59:60Z',
    '1709251200',
    '10000-01-01',
    '0000-01-01',
    '2026-1-1',
    '2026-01-01T10:00:00 02:00',
    'tomorrow',
  ])('refuses %s', (text) => {
    expect(read('SearchStrategies', new Map([['CreatedBeforeDate', [text]]]))).toEqual([
      '1130 CreatedBeforeDate',
    ])
  })

  test.each([
    ['2024-03-10', '2024-03-10T23:59:59.999Z'],
    ['2024-03-10T15:30:00Z', '2024-03-10T15:30:00.999Z'],
    ['2024-03-10T15:30:00.250Z', '2024-03-10T15:30:00.250Z'],
  ])('ends with the whole of %s', (text, expected) => {
    const input = query(`StrategyId=1&EndDate=${text}`)
    expect(read('GetStrategyHistoricalOrders', input)).toMatchObject({ EndDate: at(expected) })
  })

  test('refuses an end before its start, and takes a range of one day', () => {
    expect(
      read('GetStrategyHistoricalOrders', query('StrategyId=1&StartDate=2024-01-02&EndDate=2024-01-01')),
    ).toEqual(['1128 EndDate'])
    expect(
      read('GetStrategyHistoricalOrders', query('StrategyId=1&StartDate=2024-01-02&EndDate=2024-01-02')),
    ).toHaveProperty('EndDate')
  })
})

describe('a body', () => {
  test.each<[string, unknown, unknown]>([
    ['a market order', order({}), { Order: market }],
    ['a limit order', { Order: limit }, { Order: limit }],
    ['a stop order', { Order: stop }, { Order: stop }],
    [
      'null as absent where a member may be',
      order({ OpenClose: null, Limit: null, ParentSignalId: null, DoNotSyncToOpen: null }),
      { Order: market },
    ],
    ['an id beyond 2^53', order({ StrategyId: 2n ** 62n }), { Order: { ...market, StrategyId: 2n ** 62n } }],
    [
      'the exchange symbol with its defaults',
      order({
        PlatformSymbol: undefined,
        ExchangeSymbol: { Symbol: 'ES', Currency: 'USD', SecurityType: 'FUT', MaturityMonthYear: '202606' },
      }),
      {
        Order: {
          ...market,
          PlatformSymbol: undefined,
          ExchangeSymbol: {
            Symbol: 'ES',
            Currency: 'USD',
            SecurityType: 'FUT',
            MaturityMonthYear: '202606',
            SecurityExchange: 'DEFAULT',
            PriceMultiplier: 1,
          },
        },
      },
    ],
    [
      'an echoed symbol without reading the echo',
      order({ PlatformSymbol: { ...apple, Description: 'Apple', StrikePrice: 0 } }),
      { Order: market },
    ],
    [
      'exits on the right sides',
      order({ ProfitTarget: 190, StopLoss: 170 }, limit),
      { Order: { ...limit, ProfitTarget: 190, StopLoss: 170 } },
    ],
    [
      'exits of a short entry',
      order({ Side: '2', ProfitTarget: 170, StopLoss: 190 }),
      { Order: { ...market, Side: '2', ProfitTarget: 170, StopLoss: 190 } },
    ],
    [
      'a parked order in UTC',
      order({ ParkedUntilDate: '2024-03-12T09:30:00' }),
      { Order: { ...market, ParkedUntilDate: Date.parse('2024-03-12T09:30:00Z') } },
    ],
  ])('reads %s', (_name, body, expected) => {
    expect(read('NewStrategyOrder', body)).toEqual(expected)
  })

  test.each<[string, unknown, string[]]>([
    ['no body', undefined, ['1102 Body']],
    ['an array at the top', [], ['1130 Body']],
    ['no order', {}, ['1102 Order']],
    ['null for the order', { Order: null }, ['1102 Order']],
    ['text for the order', { Order: 'x' }, ['1130 Order']],
    ['an unknown member', order({ Foo: 1 }), ['1130 Order.Foo']],
    ['the wrong case of a member', order({ limit: 5 }), ['1130 Order.limit']],
    ['the order id', order({ OrderId: 'x' }), ['1130 Order.OrderId']],
    ['a number as text', order({ StrategyId: '7' }), ['1130 Order.StrategyId']],
    ['a code as a number', order({ OrderType: 1 }), ['1130 Order.OrderType']],
    ['a boolean as a number', order({ DoNotSyncToOpen: 1 }), ['1130 Order.DoNotSyncToOpen']],
    ['a fraction for an id', order({ StrategyId: 1.5 }), ['1130 Order.StrategyId']],
    ['an id beyond 64 bits', order({ StrategyId: 2n ** 63n }), ['1130 Order.StrategyId']],
    [
      'an inexact number',
      order({ OrderQuantity: { inexact: '0.1000000000000000055' } }),
      ['1130 Order.OrderQuantity'],
    ],
    ['more than eight decimals', order({ OrderQuantity: 0.123456789 }), ['1130 Order.OrderQuantity']],
    ['a quantity of zero', order({ OrderQuantity: 0 }), ['1130 Order.OrderQuantity']],
    ['minus zero', order({ OrderQuantity: -0 }), ['1130 Order.OrderQuantity']],
    ['a negative quantity', order({ OrderQuantity: -1 }), ['1130 Order.OrderQuantity']],
    ['a quantity beyond the tables', order({ OrderQuantity: 1e12 }), ['1130 Order.OrderQuantity']],
    ['a bigint quantity', order({ OrderQuantity: 2n ** 60n }), ['1130 Order.OrderQuantity']],
    ['infinity', order({ OrderQuantity: Number.POSITIVE_INFINITY }), ['1130 Order.OrderQuantity']],
    ['a negative price', order({ Limit: -1 }, limit), ['1130 Order.Limit']],
    [
      'blank text',
      order({ PlatformSymbol: { FullSymbol: ' ', SymbolType: 'stock' } }),
      ['1102 Order.PlatformSymbol.FullSymbol'],
    ],
    [
      'a lone surrogate',
      order({ PlatformSymbol: { FullSymbol: '\ud800', SymbolType: 'stock' } }),
      ['1130 Order.PlatformSymbol.FullSymbol'],
    ],
    ['a limit order without its price', order({ Limit: undefined }, limit), ['1102 Order.Limit']],
    ['a refused price once', order({ Limit: 'x' }, limit), ['1130 Order.Limit']],
    ['a stop order without its price', order({ Stop: null }, stop), ['1102 Order.Stop']],
    ['a market order with a limit', order({ Limit: 5 }), ['1128 Order.Limit']],
    ['a stop-limit order', order({ Limit: 5 }, stop), ['1128 Order.Limit']],
    ['no symbol', order({ PlatformSymbol: undefined }), ['1102 Order.PlatformSymbol']],
    [
      'both symbols',
      order({ ExchangeSymbol: { Symbol: 'AAPL', Currency: 'USD', SecurityType: 'CS' } }),
      ['1128 Order.ExchangeSymbol'],
    ],
    ['a profit target below a long entry', order({ ProfitTarget: 180 }, limit), ['1128 Order.ProfitTarget']],
    ['a stop loss above a long entry', order({ StopLoss: 183 }, limit), ['1128 Order.StopLoss']],
    ['a stop loss at the entry', order({ StopLoss: 182.5 }, limit), ['1128 Order.StopLoss']],
    ['a stop loss below a short entry', order({ Side: '2', StopLoss: 170 }, stop), ['1128 Order.StopLoss']],
    ['exits the wrong way round', order({ ProfitTarget: 170, StopLoss: 190 }), ['1128 Order.StopLoss']],
    ['exits of a closing order', order({ OpenClose: 'C', ProfitTarget: 190 }), ['1128 Order.ProfitTarget']],
    ['exits of a replacement', order({ CancelReplaceSignalId: 1, StopLoss: 1 }), ['1128 Order.StopLoss']],
    ['a park date that is none', order({ ParkedUntilDate: '2026-02-30' }), ['1130 Order.ParkedUntilDate']],
    [
      'everything at once',
      { Order: { Side: '3', TIF: null, ExchangeSymbol: {} }, Extra: 1 },
      [
        '1130 Order.Side',
        '1102 Order.ExchangeSymbol.Symbol',
        '1102 Order.ExchangeSymbol.Currency',
        '1102 Order.ExchangeSymbol.SecurityType',
        '1102 Order.StrategyId',
        '1102 Order.OrderType',
        '1102 Order.OrderQuantity',
        '1102 Order.TIF',
        '1130 Extra',
      ],
    ],
  ])('refuses %s', (_name, body, expected) => {
    expect(read('NewStrategyOrder', body)).toEqual(expected)
  })

  test('says what was missing in the words of the platform', () => {
    const input = reader('NewStrategyOrder')({ Order: { ...market, TIF: undefined } })
    expect(input).toEqual({
      faults: [{ ErrorCode: '1102', FieldName: 'Order.TIF', Message: 'Missing value' }],
    })
  })

  test.each<[string, OperationName, unknown, unknown]>([
    [
      'a replacement names its signal',
      'ReplaceStrategyOrder',
      order({}),
      ['1102 Order.CancelReplaceSignalId'],
    ],
    [
      'an account order is limit or stop',
      'NewAutotradeOrder',
      { Account: 'A', ...order({}) },
      ['1130 Order.OrderType'],
    ],
    [
      'an account order has no parent',
      'NewAutotradeOrder',
      { Account: 'A', ...order({ ParentSignalId: 1 }, limit) },
      ['1128 Order.ParentSignalId'],
    ],
    [
      'an account order needs no strategy',
      'NewAutotradeOrder',
      { Account: 'A', Order: { ...stop, StrategyId: null } },
      { Account: 'A', Order: { ...stop, StrategyId: undefined } },
    ],
    ['a strategy needs its capital', 'AddStrategy', { StrategyName: 'S' }, ['1102 StartingCapital']],
    [
      'or an account',
      'AddStrategy',
      { StrategyName: 'S', Account: 'A' },
      { StrategyName: 'S', Account: 'A' },
    ],
    [
      'capital is above zero',
      'AddStrategy',
      { StrategyName: 'S', StartingCapital: 0 },
      ['1130 StartingCapital'],
    ],
    [
      'scaling has a range',
      'StartAutotrade',
      { Account: 'A', StrategyId: 1, ScalingPercentage: 1001 },
      ['1130 ScalingPercentage'],
    ],
    [
      'scaling is at least one',
      'StartAutotrade',
      { Account: 'A', StrategyId: 1, ScalingPercentage: 0 },
      ['1130 ScalingPercentage'],
    ],
    [
      'a flag is not null',
      'StartAutotrade',
      { Account: 'A', StrategyId: 1, StocksEnabled: null },
      ['1130 StocksEnabled'],
    ],
    [
      'a maximum is not negative',
      'StartAutotrade',
      { Account: 'A', StrategyId: 1, MaxFutures: -1 },
      ['1130 MaxFutures'],
    ],
    [
      'nobody names what he may not set',
      'StartAutotrade',
      { Account: 'A', StrategyId: 1, Approved: true },
      ['1130 Approved'],
    ],
    [
      'a zero position',
      'SetDesiredPositions',
      { StrategyId: 1, Positions: [{ Quantity: 0, PlatformSymbol: apple }] },
      ['1130 Positions[0].Quantity'],
    ],
    [
      'a position of another strategy',
      'SetDesiredPositions',
      { StrategyId: 1, Positions: [{ Quantity: -5, PlatformSymbol: apple, StrategyId: 2, AvgPx: 'x' }] },
      ['1128 Positions[0].StrategyId'],
    ],
    [
      'a position without symbol',
      'SetDesiredPositions',
      { StrategyId: 1, Positions: [{ Quantity: 1 }, 5] },
      ['1130 Positions[1]', '1102 Positions[0].PlatformSymbol'],
    ],
    [
      'no positions',
      'SetDesiredPositions',
      { StrategyId: 1, Positions: [] },
      { StrategyId: 1, Positions: [] },
    ],
    ['positions missing', 'SetDesiredPositions', { StrategyId: 1 }, ['1102 Positions']],
  ])('%s', (_name, operation, body, expected) => {
    expect(read(operation, body)).toEqual(expected)
  })

  test.each<[string, OperationName, unknown, unknown]>([
    [
      'up to 8 strategies',
      'StartSim',
      { PersonId: 1, StrategyIds: [1, 2, 3, 4, 5, 6, 7, 8, 9] },
      ['1130 StrategyIds'],
    ],
    ['at least one', 'StartSim', { PersonId: 1, StrategyIds: [] }, ['1130 StrategyIds']],
    ['each once', 'StartSim', { PersonId: 1, StrategyIds: [1, 1] }, ['1130 StrategyIds']],
    [
      'numbers all',
      'StartSim',
      { PersonId: 1, StrategyIds: [1, null, '2'] },
      ['1130 StrategyIds[1]', '1130 StrategyIds[2]'],
    ],
    [
      'up to 100 in the catalog',
      'UpdateSiteCatalog',
      { Action: 'Add', StrategyIds: Array.from({ length: 101 }, (_, id) => id) },
      ['1130 StrategyIds'],
    ],
    ['an action by its case', 'UpdateSiteCatalog', { Action: 'add', StrategyIds: [1] }, ['1130 Action']],
    [
      'an address beside a site',
      'AddKYCInfo',
      { UserToken: 't', FirstName: 'A' },
      [
        '1102 LastName',
        '1102 Email',
        '1102 Phone',
        '1102 Street',
        '1102 City',
        '1102 Province',
        '1102 PostCode',
        '1102 Country',
      ],
    ],
    [
      'the name of a new list',
      'ManageWatchList',
      { ModificationSource: 'LIST', ModificationAction: 'ADD' },
      ['1102 WatchListName'],
    ],
    [
      'the id of an old one',
      'ManageWatchList',
      { ModificationSource: 'LIST', ModificationAction: 'DELETE' },
      ['1102 WatchListId'],
    ],
    [
      'list and strategy of a member',
      'ManageWatchList',
      { ModificationSource: 'MEMBER', ModificationAction: 'ADD' },
      ['1102 WatchListId', '1102 StrategyId'],
    ],
  ])('on WL: %s', (_name, operation, body, expected) => {
    expect(read(operation, body, 'native', 'WL')).toEqual(expected)
  })
})

describe('the compat dialect', () => {
  const compat = {
    order: {
      strategyid: '7',
      ORDERTYPE: 2,
      Side: 1,
      OrderQuantity: '100',
      Limit: '2.00',
      TIF: 0,
      C2Symbol: { fullSymbol: 'AAPL', SymbolType: 'stock' },
      StopLoss: null,
      DoNotCreateOCAGroup: null,
      Whatever: 1,
    },
  }
  test('reads names without case, codes as numbers, numbers as text, null as absent', () => {
    expect(read('NewStrategyOrder', compat, 'compat')).toEqual({ Order: { ...limit, Limit: 2 } })
  })

  test.each<[string, unknown, string[]]>([
    ['a member given twice', { order: { ...compat.order, limit: 1 } }, ['1130 Order.Limit']],
    ['text that is no number', { order: { ...compat.order, Limit: '2,00' } }, ['1130 Order.Limit']],
    [
      'text that no number holds exactly',
      { order: { ...compat.order, Limit: '2.0000000000000000001' } },
      ['1130 Order.Limit'],
    ],
    ['empty text for a number', { order: { ...compat.order, Limit: '' } }, ['1130 Order.Limit']],
    ['null for what is mandatory', { order: { ...compat.order, Side: null } }, ['1102 Order.Side']],
    [
      'the native name of the symbol',
      { order: { ...compat.order, C2Symbol: null, PlatformSymbol: apple } },
      ['1102 Order.C2Symbol'],
    ],
    ['a code it does not know', { order: { ...compat.order, ORDERTYPE: 4 } }, ['1130 Order.OrderType']],
  ])('refuses %s', (_name, body, expected) => {
    expect(read('NewStrategyOrder', body, 'compat')).toEqual(expected)
  })

  test('reads a park date without offset in New York', () => {
    const parked = (text: string) =>
      (
        read('NewStrategyOrder', { Order: { ...compat.order, ParkedUntilDate: text } }, 'compat') as {
          Order: { ParkedUntilDate: number }
        }
      ).Order.ParkedUntilDate
    expect(parked('2024-03-12T09:30:00')).toBe(Date.parse('2024-03-12T13:30:00Z'))
    expect(parked('2024-03-12T09:30:00Z')).toBe(Date.parse('2024-03-12T09:30:00Z'))
  })

  test('reads queries without case, ignores unknown names, and knows more booleans', () => {
    expect(read('GetBrokers', query('includedisabled=1&x=2'), 'compat')).toEqual({ IncludeDisabled: true })
    expect(read('GetBrokers', query('IncludeDisabled=False'), 'compat')).toEqual({ IncludeDisabled: false })
    expect(read('GetBrokers', query('IncludeDisabled=yes'), 'compat')).toEqual(['1130 IncludeDisabled'])
    expect(read('GetStrategyDetails', query('StrategyId=1&strategyid=2'), 'compat')).toEqual([
      '1130 StrategyId',
    ])
  })

  test('takes a zero position as none', () => {
    const body = { StrategyId: 1, Positions: [{ Quantity: 0, C2Symbol: apple }] }
    expect(read('SetDesiredPositions', body, 'compat')).toEqual({
      StrategyId: 1,
      Positions: [{ Quantity: 0, PlatformSymbol: apple }],
    })
  })

  test('knows a list of strategies to open', () => {
    expect(read('SyncPositionsToOpen', { Account: 'A', StrategyIds: [1, '2'] }, 'compat')).toEqual({
      Account: 'A',
      StrategyIds: [1, 2],
    })
    expect(read('SyncPositionsToOpen', { Account: 'A', StrategyIds: [1] })).toEqual(['1130 StrategyIds'])
  })
})

describe('exact numbers', () => {
  test('every double is read from its own text', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(exactNumber(String(value).replace('e+', 'e'))).toBe(Object.is(value, -0) ? 0 : value)
      }),
    )
  })

  test('trailing zeros and exponents change nothing', () => {
    fc.assert(
      fc.property(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 8 }), (units, zeros) => {
        expect(exactNumber(`${units}.${'0'.repeat(zeros + 1)}`)).toBe(units + 0)
        expect(exactNumber(`${units}e-4`)).toBe(Number(`${units}e-4`) + 0)
      }),
    )
  })

  test.each([
    '0.1000000000000000055',
    '9007199254740993',
    '1e400',
    '1e-400',
    'NaN',
    'Infinity',
    '',
    '1.',
    '.5',
    '01',
    '0x1',
    '1_0',
  ])('refuses %j', (text) => {
    expect(exactNumber(text)).toBeUndefined()
  })
})
