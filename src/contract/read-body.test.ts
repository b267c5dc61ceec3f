import { describe, expect, test } from 'vitest'
import { apple, limit, market, order, read, reader, stop } from '../../test/contract/reading.ts'
import type { OperationName } from './index.ts'

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
    [
      '256 characters outside the first plane',
      order({ PlatformSymbol: { FullSymbol: '😀'.repeat(256), SymbolType: 'stock' } }),
      { Order: { ...market, PlatformSymbol: { FullSymbol: '😀'.repeat(256), SymbolType: 'stock' } } },
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
    ['a price as text', order({ Limit: '182.5' }, limit), ['1130 Order.Limit']],
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
    [
      'a ninth decimal of millions',
      order({ OrderQuantity: 24179243.207465768 }),
      ['1130 Order.OrderQuantity'],
    ],
    ['decimals in an exponent', order({ OrderQuantity: 1e-9 }), ['1130 Order.OrderQuantity']],
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
      'text for the only symbol, once',
      order({ PlatformSymbol: undefined, ExchangeSymbol: 'AAPL' }),
      ['1130 Order.ExchangeSymbol'],
    ],
    [
      'both symbols',
      order({ ExchangeSymbol: { Symbol: 'AAPL', Currency: 'USD', SecurityType: 'CS' } }),
      ['1128 Order.ExchangeSymbol'],
    ],
    ['a profit target below a long entry', order({ ProfitTarget: 180 }, limit), ['1128 Order.ProfitTarget']],
    ['a stop loss above a long entry', order({ StopLoss: 183 }, limit), ['1128 Order.StopLoss']],
    ['a stop loss at the entry', order({ StopLoss: 182.5 }, limit), ['1128 Order.StopLoss']],
    ['a stop loss below a short entry', order({ Side: '2', StopLoss: 170 }, stop), ['1128 Order.StopLoss']],
    ['a stop loss at a short entry', order({ Side: '2', StopLoss: 180 }, stop), ['1128 Order.StopLoss']],
    [
      'of two exits the misplaced one',
      order({ ProfitTarget: 170, StopLoss: 175 }, limit),
      ['1128 Order.ProfitTarget'],
    ],
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
      'an account order is neither parked nor a replacement',
      'NewAutotradeOrder',
      { Account: 'A', ...order({ ParkedUntilDate: '2024-03-12', CancelReplaceSignalId: 1 }, limit) },
      ['1128 Order.CancelReplaceSignalId', '1128 Order.ParkedUntilDate'],
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
      { StrategyId: 1, Positions: [{ Quantity: 1 }, 5, { Quantity: 1 }] },
      ['1130 Positions[1]', '1102 Positions[0].PlatformSymbol', '1102 Positions[2].PlatformSymbol'],
    ],
    [
      'a position whose strategy is named by it alone',
      'SetDesiredPositions',
      { Positions: [{ Quantity: 1, PlatformSymbol: apple, StrategyId: 2 }] },
      ['1102 StrategyId'],
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
      '8 strategies',
      'StartSim',
      { PersonId: 1, StrategyIds: [1, 2, 3, 4, 5, 6, 7, 8] },
      { PersonId: 1, StrategyIds: [1, 2, 3, 4, 5, 6, 7, 8] },
    ],
    [
      'no ninth strategy',
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

test.each<[string, unknown, string]>([
  ['a price as text', order({ Limit: '182.5' }, limit), 'Must be a number'],
  [
    'a price that no double holds',
    order({ Limit: { inexact: '0.1000000000000000055' } }, limit),
    'Must be an exact number',
  ],
  ['a price below 0', order({ Limit: -1 }, limit), 'Must be above 0'],
  ['a ninth decimal', order({ OrderQuantity: 0.123456789 }), 'At most 8 decimals'],
  [
    'a target below a long entry',
    order({ ProfitTarget: 1 }, limit),
    'Must be above the entry price of a long position',
  ],
  [
    'a loss below a short entry',
    order({ Side: '2', StopLoss: 1 }, limit),
    'Must be above the entry price of a short position',
  ],
  [
    'exits that changed places',
    order({ ProfitTarget: 1, StopLoss: 2 }),
    'Must be below ProfitTarget of a long position',
  ],
])('whoever sends %s is told what to send', (_name, body, words) => {
  expect(reader('NewStrategyOrder')(body)).toMatchObject({ faults: [{ Message: words }] })
})

test.each<[string, string]>([
  ['no number', 'Must be a number'],
  ['0.1000000000000000055', 'Must be an exact number'],
])('whoever sends the text %s where numbers may be text is told what to send', (text, words) => {
  const body = order({ Limit: text }, limit)
  expect(reader('NewStrategyOrder', 'compat')(body)).toMatchObject({
    faults: expect.arrayContaining([expect.objectContaining({ FieldName: 'Order.Limit', Message: words })]),
  })
})

test.each<[string, object, string]>([
  ['exceeds a range is told the range', { ScalingPercentage: 5000 }, 'Must be from 1 to 1000'],
  ['falls below the least is told it', { MaxFutures: -1 }, 'Must be at least 0'],
  ['exceeds 32 bits is not told the least', { MaxFutures: 2 ** 31 }, 'Out of range'],
  ['exceeds 64 bits is not told the least', { MaxFutures: 2n ** 70n }, 'Out of range'],
])('whoever %s', (_name, setting, words) => {
  const body = { Account: 'A', StrategyId: 1, ...setting }
  expect(reader('StartAutotrade')(body)).toMatchObject({ faults: [{ Message: words }] })
})

test.each<[string, object, string]>([
  ['a telephone number of one country', { Phone: '123' }, 'Malformed value; one that fits: +12125550123'],
  ['a country in small letters', { CountryCode: 'us' }, 'Malformed value; one that fits: US'],
  ['a short password', { Password: 'Ab3$xyz' }, 'Malformed value; one that fits: at least eight characters'],
])('whoever sends %s is shown one that fits', (_name, member, words) => {
  const read = reader('AddProfile', 'native', 'WL')(member)
  const [FieldName = ''] = Object.keys(member)
  expect(read).toMatchObject({
    faults: expect.arrayContaining([expect.objectContaining({ FieldName, Message: words })]),
  })
})
