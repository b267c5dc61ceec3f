/** The track record over HTTP: details, daily and monthly equity, and what may be asked of them. */
import { expect, test } from 'vitest'
import type { Dialect } from '../../src/contract/index.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { buildTown, symbolMember, type Town } from './support/town.ts'

const towns: Record<Dialect, Town> = { native: await buildTown(), compat: await buildTown('compat') }
const dialects: Dialect[] = ['native', 'compat']
type Row = Record<string, unknown>

const details = async (town: Town, host: 'Gen' | 'Geo' | 'WL' = 'Gen'): Promise<Row> =>
  resultsOf<Row>(
    await town.ask(
      'GetStrategyDetails',
      { StrategyId: town.strategyId },
      { key: town.people.stranger.key, host },
    ),
  )[0] ?? {}

test.each(dialects)('in %s a strategy shows its money now and its figures', async (dialect) => {
  const town = towns[dialect]
  const { door, strategyId, people } = town
  await door('/strategies', [{ strategyId, monthlyCost: 30 }])
  await door('/benchmark', [
    { date: '2024-03-11', close: 5000 },
    { date: '2024-03-12', close: 5050 },
    { date: '2024-03-13', close: 5000 },
    { date: '2024-03-14', close: 5100 },
  ])
  await door('/clock', { now: '2024-03-12T20:00:00Z' })
  for (const [date, price] of [
    ['2024-03-13', 110],
    ['2024-03-14', 105],
  ]) {
    await door('/clock', { now: `${date}T14:00:00Z` })
    await door('/quotes', [{ symbol: 'AAPL', bid: price, ask: Number(price) + 1 }])
  }
  await door('/clock', { now: '2024-03-14T20:00:00Z' })
  const values = [99_999, 101_000, 100_500]
  const expected = {
    StrategyId: strategyId,
    StrategyName: 'Trend',
    IsAlive: true,
    StartDate: '2024-03-12T14:00:00Z',
    PrimarySecurityTypes: 'Stocks',
    SecurityTypesEnabled: { Stocks: true, Options: true, Futures: true, Forex: true },
    MonthlyCost: 30,
    StrategyOwnerId: people.owner.personId,
    StrategyOwnerName: 'owner',
    IsTradeOwnSystem: false,
    WhiteLabelSiteId: town.sites.west,
    IsPrivate: false,
    StartingCash: 100_000,
    Cash: 90_000,
    Equity: 500,
    ModelAccountValue: 100_500,
    CashDividends: 0,
    MarginUsed: 5250,
    BuyingPower: 95_250,
    AgeInDays: 2,
    NumTrades: 0,
    NumWinners: 0,
    NumLosers: 0,
    SumDollarWinners: 0,
    SumDollarLosers: 0,
    NumMonths: 1,
    WinMonths: 1,
    WinMonthsInUI: 1,
    WinMonthsRatio: 1,
    Return: expect.closeTo(0.5, 9),
    ReturnLabel: 'Cumul. Return',
    MaxDrawdown: expect.closeTo(100 * (1 - 100_500 / 101_000), 7),
    MaxDrawdownDays: 1,
    MaxDrawdownStartDate: '20240313',
    MaxDrawdownEndDate: '20240314',
    // From the close of the day it began on.
    SP500Return: expect.closeTo(100 * (5100 / 5050 - 1), 8),
    ReturnVsSP500: expect.closeTo(0.5 - 100 * (5100 / 5050 - 1), 8),
    LastModified: '2024-03-14T20:00:00Z',
  }
  const shown = await details(town)
  expect(shown).toMatchObject(expected)
  for (const name of [
    'Sharpe',
    'Sortino',
    'Calmar',
    'Alpha',
    'Beta',
    'Treynor',
    'CorrelationSP500',
    'MaxLeverage',
  ])
    expect(shown[name], name).toEqual(expect.any(Number))
  expect(shown.CorrelationToSP500).toBe(shown.CorrelationSP500)
  for (const name of [
    'PercentWinTrades',
    'AvgWinDollars',
    'ProfitFactor',
    'AvgTradeDuration',
    'IsResellable',
  ])
    expect(shown, name).not.toHaveProperty(name)
  const daily = resultsOf<Row>(
    await town.ask(
      'GetStrategyHistoricalDailyEquity',
      { StrategyId: strategyId },
      { key: people.stranger.key },
    ),
  )
  const before = [100_000, ...values]
  expect(daily).toEqual([
    {
      StrategyId: strategyId,
      StrategyName: 'Trend',
      StartDate: '2024-03-12T14:00:00Z',
      SecurityTypesEnabled: expected.SecurityTypesEnabled,
      MonthlyCost: 30,
      StrategyOwnerId: people.owner.personId,
      [dialect === 'compat' ? 'DailyEquity' : 'MonthlyResults']: values.map((Equity, place) => ({
        Date: `2024-03-${12 + place}T21:00:00Z`,
        Return: expect.closeTo(100 * (Equity / before[place]! - 1), 7),
        Equity,
        EquityWithCosts: Equity - 30,
      })),
    },
  ])
  const monthly = resultsOf<Row>(
    await town.ask('GetStrategyHistoricalEquity', { StrategyId: strategyId }, { key: people.stranger.key }),
  )
  expect(monthly).toMatchObject([
    {
      StrategyId: strategyId,
      MonthlyResults: [
        { Month: 3, MonthName: 'March', Year: 2024, Return: expect.closeTo(0.5, 9), IsAnnual: false },
        { Month: 0, MonthName: 'Year', Year: 2024, Return: expect.closeTo(0.5, 9), IsAnnual: true },
      ],
    },
  ])
})

test('hosts show what is theirs', async () => {
  const town = towns.native
  await town.platform.db.write.run`
    update strategy set short_description = 'Short', long_description = 'Long' where id = ${town.strategyId}`
  const [gen, geo, wl] = [await details(town), await details(town, 'Geo'), await details(town, 'WL')]
  const own = ['IsResellable', 'NoSubsAllowed', 'LatestTrade', 'ShortDescription', 'LongDescription']
  expect(own.filter((name) => name in gen)).toEqual([])
  expect(geo).toMatchObject({
    ShortDescription: 'Short',
    LongDescription: 'Long',
    LatestTrade: '2024-03-12T14:00:00Z',
  })
  expect(wl).toMatchObject({ IsResellable: true, NoSubsAllowed: false, LatestTrade: '2024-03-12T14:00:00Z' })
  expect(wl).not.toHaveProperty('ShortDescription')
})

test('unchanged since the caller last asked, nothing is sent', async () => {
  const town = towns.native
  const key = town.people.stranger.key
  const ask = (headers?: Record<string, string>) =>
    town.ask('GetStrategyDetails', { StrategyId: town.strategyId }, { key, ...(headers && { headers }) })
  const modified = (await ask()).headers['last-modified'] as string
  expect(modified).toBe('Thu, 14 Mar 2024 20:00:00 GMT')
  const again = await ask({ 'if-modified-since': modified })
  expect([again.status, again.text]).toEqual([304, ''])
  await town.door('/clock', { now: '2024-03-15T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 106, ask: 107 }])
  expect((await ask({ 'if-modified-since': modified })).status).toBe(200)
})

test('under another plan equity and trades pay its commission', async () => {
  const town = towns.native
  const { door, strategyId, people } = town
  const key = people.stranger.key
  const Order = {
    StrategyId: strategyId,
    OrderType: '1',
    Side: '2',
    OrderQuantity: 100,
    TIF: '1',
    [symbolMember('native')]: { FullSymbol: 'AAPL', SymbolType: 'stock' },
  }
  await town.ask('NewStrategyOrder', { Order }, { key: people.owner.key })
  await door('/clock', { now: '2024-03-15T20:00:00Z' })
  const equity = async (CommissionPlan: number) => {
    const [row] = resultsOf<{ MonthlyResults: { Equity: number }[] }>(
      await town.ask('GetStrategyHistoricalDailyEquity', { StrategyId: strategyId, CommissionPlan }, { key }),
    )
    return row?.MonthlyResults.map(({ Equity }) => Equity)
  }
  expect(await equity(0)).toEqual([99_999, 101_000, 100_500, 100_600])
  // 0.05 % of 10,000 and of 10,600, at least 3.
  expect(await equity(1)).toEqual([99_994, 100_995, 100_495, 100_589.7])
  // Half a cent a share, at least a dollar an order.
  expect(await equity(3)).toEqual([99_998, 100_999, 100_499, 100_598])
  expect(await equity(4)).toEqual([99_998, 100_999, 100_499, 100_598])
  const trades = async (CommissionPlan: number) =>
    resultsOf<{ ProfitLoss: number; Commission: number }>(
      await town.ask(
        'GetStrategyHistoricalClosedTrades',
        { StrategyId: strategyId, CommissionPlan },
        { key },
      ),
    ).map(({ ProfitLoss, Commission }) => [ProfitLoss, Commission])
  expect(await trades(0)).toEqual([[600, 0]])
  expect(await trades(1)).toEqual([[589.7, 10.3]])
  expect(await trades(3)).toEqual([[598, 2]])
  expect(await details(town)).toMatchObject({
    NumTrades: 1,
    NumWinners: 1,
    PercentWinTrades: 100,
    AvgWinDollars: 600,
  })
})

test('a strategy one day old, without a trade', async () => {
  const town = towns.native
  const params = { StrategyId: town.lonelyStrategyId }
  const [row] = resultsOf<Row>(
    await town.ask('GetStrategyDetails', params, { key: town.people.stranger.key }),
  )
  expect(row).toMatchObject({
    Return: 0,
    MaxDrawdown: 0,
    AvgLeverage: 0,
    MaxLeverage: 0,
    NumTrades: 0,
    Equity: 0,
  })
  for (const name of [
    'Sharpe',
    'Sortino',
    'Calmar',
    'ProfitFactor',
    'PercentWinTrades',
    'MaxDrawdownStartDate',
  ])
    expect(row, name).not.toHaveProperty(name)
})

test.each<
  [
    string,
    'GetStrategyDetails' | 'GetStrategyHistoricalEquity' | 'GetStrategyHistoricalDailyEquity',
    object,
    (number | string)[],
  ]
>([
  ['no strategy', 'GetStrategyDetails', {}, [400, '1102 StrategyId']],
  ['a word', 'GetStrategyDetails', { StrategyId: 'x' }, [400, '1102 StrategyId']],
  ['one that is not there', 'GetStrategyDetails', { StrategyId: 999 }, [404, '2013 StrategyId']],
  ['beyond all ids', 'GetStrategyDetails', { StrategyId: '9223372036854775807' }, [404, '2013 StrategyId']],
  [
    'an unknown plan',
    'GetStrategyHistoricalEquity',
    { StrategyId: 1, CommissionPlan: 2 },
    [400, '1130 CommissionPlan'],
  ],
  [
    'an unknown plan',
    'GetStrategyHistoricalDailyEquity',
    { StrategyId: 1, CommissionPlan: 'x' },
    [400, '1130 CommissionPlan'],
  ],
  ['an unknown name', 'GetStrategyDetails', { StrategyId: 1, Plan: 1 }, [400, '1130 Plan']],
])('%s', async (_, operation, params, expected) => {
  const town = towns.native
  const answer = await town.ask(operation, params, { key: town.people.stranger.key })
  expect([answer.status, ...faultsOf(answer)]).toEqual(expected)
})

test('a private strategy is as if it were not there', async () => {
  const town = towns.native
  await town.platform.db.write.run`update strategy set is_private = true where id = ${town.lonelyStrategyId}`
  const { stranger, owner, westAdmin, northAdmin, eastAdmin, operator } = town.people
  for (const operation of [
    'GetStrategyDetails',
    'GetStrategyHistoricalEquity',
    'GetStrategyHistoricalDailyEquity',
  ] as const) {
    const seen = async (key: string) =>
      (await town.ask(operation, { StrategyId: town.lonelyStrategyId }, { key })).status
    const keys = [stranger, eastAdmin, owner, westAdmin, northAdmin, operator].map(({ key }) => key)
    expect(await Promise.all(keys.map(seen))).toEqual([404, 404, 200, 200, 200, 200])
  }
})

test('terms and followers are news as well', async () => {
  const { ask, door, people, strategyId } = towns.native
  const { key, personId } = people.stranger
  await door('/clock', { now: '2024-04-02T14:00:00Z' })
  await door('/accounts', [{ account: 'NEWS-1', personId, cash: 10_000 }])
  const start = { Account: 'NEWS-1', StrategyId: strategyId, StocksEnabled: true }
  const changes: [what: string, change: () => Promise<unknown>][] = [
    ['terms', () => door('/strategies', [{ strategyId, resellable: false }])],
    ['a follower', () => ask('StartAutotrade', start, { key })],
    ['his choices', () => ask('StartAutotrade', { ...start, ScalingPercentage: 50 }, { key })],
    [
      'his leaving',
      () => ask('StopAutotrade', { Account: 'NEWS-1', PersonId: personId, StrategyId: strategyId }, { key }),
    ],
    [
      'another strategy of its owner, which lowers the score',
      () => ask('AddStrategy', { StrategyName: 'Other', StartingCapital: 1000 }, { key: people.owner.key }),
    ],
  ]
  for (const [minute, [what, change]] of changes.entries()) {
    await door('/clock', { now: `2024-04-02T14:0${minute + 1}:00Z` })
    const about = (headers?: Record<string, string>) =>
      ask('GetStrategyDetails', { StrategyId: strategyId }, { key, host: 'WL', ...(headers && { headers }) })
    const before = await about()
    await change()
    const after = await about({ 'if-modified-since': before.headers['last-modified'] as string })
    expect(after.status, what).toBe(200)
    expect(after.text, what).not.toBe(before.text)
  }
})

test('what a position is valued by is news as well', async () => {
  const { ask, door, people } = towns.native
  const { key } = people.owner
  await door('/clock', { now: '2024-04-03T14:00:00Z' })
  await door('/instruments', [
    { symbol: 'IBM', securityType: 'CS' },
    { symbol: 'IBM2419P160', securityType: 'OPT' },
  ])
  const quote = (symbol: string, bid: number, ask: number) => door('/quotes', [{ symbol, bid, ask }])
  await quote('IBM', 150, 150.1)
  await quote('IBM2419P160', 12, 12.1)
  await quote('EURGBP', 0.85, 0.8501)
  await quote('GBPUSD', 1.27, 1.2701)
  await quote('EURUSD', 1.09, 1.0901)
  const terms = { StrategyName: 'Abroad', StartingCapital: 100_000 }
  const [{ StrategyId } = { StrategyId: 0 }] = resultsOf<{ StrategyId: number }>(
    await ask('AddStrategy', terms, { key }),
  )
  for (const PlatformSymbol of [
    { FullSymbol: 'IBM2419P160', SymbolType: 'option' },
    { FullSymbol: 'EURGBP', SymbolType: 'forex' },
  ]) {
    const Order = { StrategyId, OrderType: '1', Side: '2', OrderQuantity: 1, TIF: '0', PlatformSymbol }
    expect((await ask('NewStrategyOrder', { Order }, { key })).status).toBe(200)
  }
  await quote('EURGBP', 0.86, 0.8601)
  for (const [place, [symbol, price]] of [
    ['IBM', 140] as const,
    ['GBPUSD', 1.3] as const,
    ['EURUSD', 1.1] as const,
  ].entries()) {
    await door('/clock', { now: `2024-04-03T14:0${place + 1}:00Z` })
    const before = await ask('GetStrategyDetails', { StrategyId }, { key })
    await quote(symbol, price, price)
    const headers = { 'if-modified-since': before.headers['last-modified'] as string }
    const after = await ask('GetStrategyDetails', { StrategyId }, { key, headers })
    expect(after.status, symbol).toBe(200)
    const [then, now] = [before, after].map((answer) => resultsOf<Row>(answer)[0]?.BuyingPower)
    expect(now, symbol).not.toBe(then)
  }
})

test('a fill of a time that has passed is news', async () => {
  const { ask, door, people } = towns.native
  const { key } = people.owner
  await door('/clock', { now: '2024-05-07T14:00:00Z' })
  await door('/instruments', [{ symbol: 'LATE', securityType: 'CS' }])
  const terms = { StrategyName: 'Late', StartingCapital: 100_000 }
  const [{ StrategyId } = { StrategyId: 0 }] = resultsOf<{ StrategyId: number }>(
    await ask('AddStrategy', terms, { key }),
  )
  const PlatformSymbol = { FullSymbol: 'LATE', SymbolType: 'stock' }
  const Order = {
    StrategyId,
    OrderType: '2',
    Limit: 50,
    Side: '1',
    OrderQuantity: 1,
    TIF: '1',
    PlatformSymbol,
  }
  expect((await ask('NewStrategyOrder', { Order }, { key })).status).toBe(200)
  await door('/clock', { now: '2024-05-07T16:00:00Z' })
  await door('/strategies', [{ strategyId: StrategyId, monthlyCost: 40 }])
  const modified = (await ask('GetStrategyDetails', { StrategyId }, { key })).headers[
    'last-modified'
  ] as string
  await door('/clock', { now: '2024-05-07T16:30:00Z' })
  await door('/bars', [{ symbol: 'LATE', t: '2024-05-07T15:00:00Z', o: 49, h: 51, l: 48, c: 50 }])
  const headers = { 'if-modified-since': modified }
  const again = await ask('GetStrategyDetails', { StrategyId }, { key, headers })
  expect(again.status).toBe(200)
  expect(resultsOf<Row>(again)[0]).toMatchObject({ Cash: 99_951, LastModified: '2024-05-07T16:30:00Z' })
})
