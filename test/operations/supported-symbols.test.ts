/** The listing of instruments: every member, page by page, without what has expired. */
import { expect, test } from 'vitest'
import { type Answer, faultsOf, resultsOf } from '../support/http.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { key } = town.people.stranger
// The pairs that every platform has from its start would fill the pages.
await town.platform.db.write.run`delete from instrument where security_type = 'FOR'`
await town.door('/instruments', [
  { symbol: '@ESM24', securityType: 'FUT', tick: 0.25, pointValue: 50, initialMargin: 13_200 },
  { symbol: 'EURUSD', securityType: 'FOR' },
  { symbol: '@ZNM24', securityType: 'FUT', lastTradingDay: '2024-03-12' },
  { symbol: '@ZNH24', securityType: 'FUT', lastTradingDay: '2024-03-11' },
  { symbol: 'AAPL2421F190', securityType: 'OPT' },
])
const list = (params: object): Promise<Answer> => town.ask('GetSupportedSymbols', params, { key, host: 'WL' })
const symbolsOf = (answer: Answer) =>
  resultsOf<{ PlatformSymbol: { FullSymbol: string } }>(answer).map(
    ({ PlatformSymbol }) => PlatformSymbol.FullSymbol,
  )
const all = ['AAPL', '@ESM24', 'EURUSD', '@ZNM24', 'AAPL2421F190']

test('a future shows its numbers and margins, in both forms of its symbol', async () => {
  const rows = resultsOf(await list({}))
  const [, row] = rows
  expect(row).toEqual({
    Id: expect.any(Number),
    Currency: 'USD',
    PointValue: 50,
    TickSize: 0.25,
    DecimalPrecision: 2,
    Description: expect.stringContaining('Jun24'),
    PlatformSymbol: {
      FullSymbol: '@ESM24',
      SymbolType: 'future',
      Underlying: 'ES',
      Expiry: 'Jun24',
      Description: expect.stringContaining('Jun24'),
    },
    ExchangeSymbol: {
      Symbol: 'ES',
      Currency: 'USD',
      SecurityExchange: 'XCME',
      SecurityType: 'FUT',
      MaturityMonthYear: '202406',
      PriceMultiplier: 1,
    },
    MarginRequirements: { Initial: 13_200, Maintenance: expect.any(Number) },
    BrokerMarginRequirements: [],
  })
})

test('an option shows its side and strike as well, a stock and a pair only what they are', async () => {
  const rows = resultsOf(await list({}))
  expect(rows[4]).toMatchObject({
    PlatformSymbol: {
      FullSymbol: 'AAPL2421F190',
      SymbolType: 'option',
      Underlying: 'AAPL',
      Expiry: 'Jun24',
      PutOrCall: 'call',
      StrikePrice: 190,
    },
    ExchangeSymbol: {
      Symbol: 'AAPL',
      Currency: 'USD',
      SecurityExchange: 'DEFAULT',
      SecurityType: 'OPT',
      MaturityMonthYear: '20240621',
      PutOrCall: '1',
      StrikePrice: 190,
      PriceMultiplier: 1,
    },
  })
  expect([rows[0], rows[2]]).toMatchObject([
    {
      PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock', Description: 'AAPL' },
      ExchangeSymbol: { Symbol: 'AAPL', Currency: 'USD', SecurityExchange: 'DEFAULT', SecurityType: 'CS' },
    },
    {
      PlatformSymbol: { FullSymbol: 'EURUSD', SymbolType: 'forex' },
      ExchangeSymbol: {
        Symbol: 'EUR/USD',
        Currency: 'USD',
        SecurityExchange: 'DEFAULT',
        SecurityType: 'FOR',
      },
    },
  ])
})

test('where no margin is entered none is shown; a tick says how many decimals a price has', async () => {
  const rows = resultsOf(await list({}))
  expect(rows.map(({ DecimalPrecision }) => DecimalPrecision)).toEqual([2, 2, 5, 6, 2])
  expect(rows.map((row) => 'MarginRequirements' in row)).toEqual([false, true, false, true, false])
})

test('what has expired is left out from the day after its last', async () => {
  expect(symbolsOf(await list({}))).toEqual(all)
})

test('pages in either order, forth and back', async () => {
  const next = (answer: Answer, name: 'next_cursor' | 'prev_cursor' = 'next_cursor') =>
    decodeURIComponent((answer.json as { Pagination: Record<string, string> }).Pagination[name] ?? '')
  const first = await list({ Limit: 2 })
  const second = await list({ Limit: 2, Cursor: next(first) })
  const third = await list({ Limit: 2, Cursor: next(second) })
  expect([first, second, third].flatMap(symbolsOf)).toEqual(all)
  expect((third.json as { Pagination?: object }).Pagination).not.toHaveProperty('next_cursor')
  expect(symbolsOf(await list({ Limit: 2, Cursor: next(third, 'prev_cursor') }))).toEqual(all.slice(2, 4))
  expect(symbolsOf(await list({ AscendingOrder: false }))).toEqual([...all].reverse())
})

test('a cursor is good for this listing alone; the general host does not offer it', async () => {
  const answer = await list({ Cursor: 'x' })
  expect([answer.status, faultsOf(answer)[0]?.endsWith('Cursor')]).toEqual([400, true])
  await expect(async () => town.ask('GetSupportedSymbols', {}, { key })).rejects.toThrow('offers no')
})
