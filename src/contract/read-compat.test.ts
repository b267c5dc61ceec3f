import { describe, expect, test } from 'vitest'
import { apple, limit, query, read } from '../../test/contract/reading.ts'

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

  test('takes a month of expiry as a number, as it is a code', () => {
    const ExchangeSymbol = { Symbol: 'ES', Currency: 'USD', SecurityType: 'FUT', MaturityMonthYear: 202406 }
    const body = { Order: { ...compat.order, C2Symbol: null, ExchangeSymbol } }
    expect(read('NewStrategyOrder', body, 'compat')).toMatchObject({
      Order: { ExchangeSymbol: { MaturityMonthYear: '202406' } },
    })
  })

  test('takes 0 for an id or a price left out, as programs send it whose numbers are never empty', () => {
    const zeros = { CancelReplaceSignalId: 0, ParentSignalId: '0', Stop: '0.00' }
    expect(read('NewStrategyOrder', { order: { ...compat.order, ...zeros } }, 'compat')).toEqual({
      Order: { ...limit, Limit: 2 },
    })
    expect(read('ReplaceStrategyOrder', { order: { ...compat.order, ...zeros } }, 'compat')).toEqual([
      '1102 Order.CancelReplaceSignalId',
    ])
    expect(read('NewStrategyOrder', { order: { ...compat.order, Limit: 0 } }, 'compat')).toEqual([
      '1102 Order.Limit',
    ])
  })

  test('takes a strike of 0 for none', () => {
    const ExchangeSymbol = { Symbol: 'AAPL', Currency: 'USD', SecurityType: 'CS' }
    const body = {
      order: { ...compat.order, C2Symbol: null, ExchangeSymbol: { ...ExchangeSymbol, StrikePrice: 0 } },
    }
    expect(read('NewStrategyOrder', body, 'compat')).not.toHaveProperty('Order.ExchangeSymbol.StrikePrice')
  })

  test('takes a price multiplier of 0 for the usual one', () => {
    const ExchangeSymbol = { Symbol: 'AAPL', Currency: 'USD', SecurityType: 'CS', PriceMultiplier: 0 }
    const body = { order: { ...compat.order, C2Symbol: null, ExchangeSymbol } }
    expect(read('NewStrategyOrder', body, 'compat')).toMatchObject({
      Order: { ExchangeSymbol: { PriceMultiplier: 1 } },
    })
  })

  test('takes blank text and a blank code in a body as absent, but neither a date nor an account to change', () => {
    const orderOf = (members: object) => ({ order: { ...compat.order, ...members } })
    expect(read('NewStrategyOrder', orderOf({ OpenClose: ' ' }), 'compat')).toEqual({
      Order: { ...limit, Limit: 2 },
    })
    expect(read('NewStrategyOrder', orderOf({ ParkedUntilDate: '' }), 'compat')).toEqual([
      '1130 Order.ParkedUntilDate',
    ])
    for (const dialect of ['native', 'compat'] as const)
      expect(read('SetAutotradeSettings', { Account: '', IsAutotradeEnabled: false }, dialect)).toEqual([
        '1130 Account',
      ])
  })

  test('lets both symbols name the instrument', () => {
    const ExchangeSymbol = { Symbol: 'AAPL', Currency: 'USD', SecurityType: 'CS' }
    expect(read('NewStrategyOrder', { order: { ...compat.order, ExchangeSymbol } }, 'compat')).toMatchObject({
      Order: { PlatformSymbol: apple, ExchangeSymbol },
    })
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
    [
      'a number for a text that is no code',
      { order: { ...compat.order, C2Symbol: { FullSymbol: 7203, SymbolType: 'stock' } } },
      ['1130 Order.C2Symbol.FullSymbol'],
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
    for (const [spelled, meant] of [
      ...[['true', true] as const, ['True', true] as const, ['1', true] as const],
      ...[['false', false] as const, ['False', false] as const, ['0', false] as const],
    ])
      expect(read('GetBrokers', query(`IncludeDisabled=${spelled}`), 'compat')).toEqual({
        IncludeDisabled: meant,
      })
    expect(read('GetBrokers', query('IncludeDisabled=yes'), 'compat')).toEqual(['1130 IncludeDisabled'])
    expect(read('GetStrategyDetails', query('StrategyId=1&strategyid=2'), 'compat')).toEqual([
      '1130 StrategyId',
    ])
  })

  test('reads a range without offset in UTC', () => {
    const at = '2024-03-12T09:30:00'
    expect(
      read('GetStrategyHistoricalOrders', query(`StrategyId=1&StartDate=${at}`), 'compat'),
    ).toMatchObject({
      StartDate: Date.parse(`${at}Z`),
    })
  })

  test('reads a list repeated under several spellings of its name', () => {
    const asked = query('StrategyIds=1&strategyids=2,3&STRATEGYIDS=4')
    expect(read('GetStrategyActiveOrders', asked, 'compat')).toEqual({ StrategyIds: [1, 2, 3, 4] })
  })

  test.each([0, '0', '-0'])('takes a zero position as none: %j', (Quantity) => {
    const body = { StrategyId: 1, Positions: [{ Quantity, C2Symbol: apple }] }
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
