/** Instruments that nobody entered: which symbols make one, which are told that there is none. */
import { describe, expect, test } from 'vitest'
import { type Answer, resultsOf, told } from '../support/http.ts'
import { apple, buildTown } from './support/town.ts'

const town = await buildTown()
const { owner } = town.people
await town.door('/instruments', [
  { symbol: 'SPX', securityType: 'CS' },
  { symbol: 'SAP', securityType: 'CS', currency: 'EUR' },
])

const order = (symbol: object, terms: object = {}): Promise<Answer> => {
  const Order = {
    StrategyId: town.lonelyStrategyId,
    OrderType: '1',
    Side: '1',
    OrderQuantity: 1,
    TIF: '1',
    ...symbol,
    ...terms,
  }
  return town.ask('NewStrategyOrder', { Order }, { key: owner.key })
}
const platform = (FullSymbol: string, SymbolType: string) => ({ PlatformSymbol: { FullSymbol, SymbolType } })
const known = async (symbol: string) =>
  (
    await town.platform.db.read.one<{ count: number }>`
      select count(*)::int as count from instrument where symbol = ${symbol}`
  ).count

/** The symbol under which the order of an answer is listed. */
async function listedAs(answer: Answer): Promise<string> {
  const [{ SignalId = 0 } = {}] = resultsOf<{ SignalId?: number }>(answer)
  const params = { StrategyIds: town.lonelyStrategyId }
  const rows = resultsOf<{ Id: number; PlatformSymbol: { FullSymbol: string } }>(
    await town.ask('GetStrategyActiveOrders', params, { key: owner.key }),
  )
  return rows.find(({ Id }) => Id === SignalId)?.PlatformSymbol.FullSymbol ?? 'not listed'
}

describe('what is made when the first order takes it (it is March 2024)', () => {
  test.each([
    ['a future', platform('@ESM24', 'future'), '@ESM24'],
    ['the same by one digit of its year', platform('@ESM4', 'future'), '@ESM24'],
    ['a month that has gone by this year', platform('@ESH3', 'future'), '@ESH33'],
    ['a pair', platform('EURUSD', 'forex'), 'EURUSD'],
    ['a pair with a slash', platform('GBP/JPY', 'forex'), 'GBPJPY'],
    ['an option of a stock', platform('AAPL2421F190', 'option'), 'AAPL2421F190'],
    ['an option of an index by its weekly root', platform('SPXW2428R5000', 'option'), 'SPXW2428R5000'],
    ['an option of an index that nobody entered', platform('RUTW2428R2000', 'option'), 'RUTW2428R2000'],
    [
      'a future as exchanges write it',
      {
        ExchangeSymbol: {
          Symbol: 'CL',
          Currency: 'USD',
          SecurityType: 'FUT',
          MaturityMonthYear: '202409',
        },
      },
      '@CLU24',
    ],
    [
      'an option as exchanges write it',
      {
        ExchangeSymbol: {
          Symbol: 'AAPL',
          Currency: 'USD',
          SecurityType: 'OPT',
          MaturityMonthYear: '20240621',
          PutOrCall: '0',
          StrikePrice: 187.5,
        },
      },
      'AAPL2421R187.5',
    ],
  ])('%s', async (_, symbol, listed) => {
    expect(await listedAs(await order(symbol))).toBe(listed)
    expect(await known(listed)).toBe(1)
  })
})

describe('what nobody can trade', () => {
  test.each([
    ['a stock that nobody entered', 'NONE', 'stock'],
    ['an option of a stock that nobody entered', 'NONE2421F190', 'option'],
    ['an option of a stock in another currency', 'SAP2421F190', 'option'],
    ['a root of no table', '@QQQM24', 'future'],
    ['a month in which the contract is not listed', '@ESJ24', 'future'],
    ['a contract that has expired', '@ESZ23', 'future'],
    ['an option that has expired', 'AAPL2408C190', 'option'],
    ['a pair of no table', 'XAUUSD', 'forex'],
    ['a pair of one currency', 'EUREUR', 'forex'],
    ['a future that says it is a stock', '@NQM24', 'stock'],
  ])('%s', async (_, symbol, type) => {
    expect(told(await order(platform(symbol, type)))).toEqual([400, '1121 Symbol'])
    expect(await known(symbol)).toBe(0)
  })

  test('an instrument that was entered and has expired meanwhile', async () => {
    await town.door('/instruments', [
      { symbol: '@YMH24', securityType: 'FUT', tick: 1, lastTradingDay: '2024-03-11' },
    ])
    expect(told(await order(platform('@YMH24', 'future')))).toEqual([400, '1121 Symbol'])
  })
})

describe('an exchange symbol names what is quoted in its currency', () => {
  const named = (symbol: string, Currency: string, SecurityType: string, more: object = {}) =>
    order(
      { ExchangeSymbol: { Symbol: symbol, Currency, SecurityType, ...more } },
      { OrderType: '2', Limit: 1 },
    )
  const option = { MaturityMonthYear: '20241220', PutOrCall: '1', StrikePrice: 200 }
  test.each<[string, string, string, string, object?]>([
    ['a stock', 'AAPL', 'USD', 'CS'],
    ['a stock quoted abroad', 'SAP', 'EUR', 'CS'],
    ['a pair by what it is quoted in', 'EUR/USD', 'USD', 'FOR'],
    ['a pair by what is dealt', 'EUR/USD', 'EUR', 'FOR'],
  ])('%s', async (_, symbol, currency, type, more) => {
    expect(told(await named(symbol, currency, type, more))).toEqual([200])
  })
  test.each<[string, string, string, string, object?]>([
    ['a stock of New York in euro', 'AAPL', 'EUR', 'CS'],
    ['a stock of Frankfurt in dollars', 'SAP', 'USD', 'CS'],
    ['a future', 'ES', 'EUR', 'FUT', { MaturityMonthYear: '202412' }],
    ['an option', 'AAPL', 'CAD', 'OPT', option],
    ['a pair in a third currency', 'EUR/USD', 'JPY', 'FOR'],
  ])('there is no such instrument: %s', async (_, symbol, currency, type, more) => {
    expect(told(await named(symbol, currency, type, more))).toEqual([400, '1121 Symbol'])
    expect(await Promise.all([known('@ESZ24'), known('AAPL2420L200')])).toEqual([0, 0])
  })
  test.each<[string, string, string, object]>([
    ['a future on its market', 'ES', 'FUT', { MaturityMonthYear: '202409', SecurityExchange: 'XCME' }],
    ['a future by its last day', 'ES', 'FUT', { MaturityMonthYear: '20240920' }],
    ['oil by its last day, in the month before its own', 'CL', 'FUT', { MaturityMonthYear: '20240521' }],
    ['a stock of no stated market, wherever', 'AAPL', 'CS', { SecurityExchange: 'XNAS' }],
    ['an option, which several markets list', 'AAPL', 'OPT', { ...option, SecurityExchange: 'XCBO' }],
  ])('listed as said: %s', async (_, symbol, type, more) => {
    expect(told(await named(symbol, 'USD', type, more))).toEqual([200])
  })
  test.each<[string, string, string, object]>([
    ['a future of another market', 'ES', 'FUT', { MaturityMonthYear: '202412', SecurityExchange: 'XCBT' }],
    ['a market of no code', 'AAPL', 'CS', { SecurityExchange: 'Nasdaq' }],
    ['a future on a day that is not its last', 'ES', 'FUT', { MaturityMonthYear: '20241219' }],
    ['oil on a day of its own month', 'CL', 'FUT', { MaturityMonthYear: '20240621' }],
    ['a future of the next century', 'ES', 'FUT', { MaturityMonthYear: '212409' }],
    ['a future of the last century by its last day', 'ES', 'FUT', { MaturityMonthYear: '19240919' }],
    ['a future of another millennium', 'ES', 'FUT', { MaturityMonthYear: '102409' }],
    ['an option of the next century', 'AAPL', 'OPT', { ...option, MaturityMonthYear: '21241220' }],
    ['an option of the last century', 'AAPL', 'OPT', { ...option, MaturityMonthYear: '19241220' }],
  ])('not listed as said: %s', async (_, symbol, type, more) => {
    expect(told(await named(symbol, 'USD', type, more))).toEqual([400, '1121 Symbol'])
  })
  test('the last day of what was entered counts, under a root of no table too', async () => {
    await town.door('/instruments', [
      { symbol: '@QZZM24', securityType: 'FUT', lastTradingDay: '2024-06-14' },
    ])
    const asked = (MaturityMonthYear: string) => named('QZZ', 'USD', 'FUT', { MaturityMonthYear })
    expect(told(await asked('20240614'))).toEqual([200])
    expect(told(await asked('202406'))).toEqual([200])
    expect(told(await asked('20240613'))).toEqual([400, '1121 Symbol'])
  })
  test('also where positions are desired', async () => {
    const position = (Currency: string) => ({
      Quantity: 1,
      ExchangeSymbol: { Symbol: 'AAPL', Currency, SecurityType: 'CS' },
    })
    const desired = (Currency: string) =>
      town.ask(
        'SetDesiredPositions',
        { StrategyId: town.lonelyStrategyId, Positions: [position(Currency)] },
        { key: owner.key },
      )
    expect(told(await desired('EUR'))).toEqual([400, '1121 Symbol'])
    expect(told(await desired('USD'))).toEqual([200])
  })
})

test('a refused order leaves no instrument behind', async () => {
  const answer = await order(platform('@NQU24', 'future'), { OrderType: '2', Limit: 17_000.1 })
  expect(told(answer)).toEqual([400, '1130 Order.Limit'])
  expect(await known('@NQU24')).toBe(0)
})

test('many first orders at once make one instrument and lose no order', async () => {
  const wanted = ['@ZNM24', '@ZNU24', '@ZBM24', '@ZBU24']
  const sent = Array.from({ length: 40 }, (_, place) => {
    const symbols = place % 2 ? wanted : [...wanted].reverse()
    return order(platform(symbols[(place >> 1) % 4] ?? '', 'future'))
  })
  const answers = await Promise.all(sent)
  expect(new Set(answers.map((answer) => resultsOf<{ SignalId: number }>(answer)[0]?.SignalId)).size).toBe(40)
  for (const symbol of wanted) expect(await known(symbol)).toBe(1)
})

test('an order of a stock beside one that makes its option', async () => {
  const [stock, option] = await Promise.all([
    order({ PlatformSymbol: apple }, { OrderType: '2', Limit: 50 }),
    order(platform('AAPL2421F200', 'option')),
  ])
  expect([await listedAs(stock), await listedAs(option)]).toEqual(['AAPL', 'AAPL2421F200'])
})
