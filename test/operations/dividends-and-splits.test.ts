/** What dividends, splits and long averages change of a strategy's record as it is shown: money, equity and trades. */
import { expect, test } from 'vitest'
import { call, resultsOf } from '../support/http.ts'
import { buildTown, symbolMember } from './support/town.ts'

const town = await buildTown()
const { door, strategyId, people } = town
type Row = Record<string, unknown>

const ask = async (
  operation: 'GetStrategyDetails' | 'GetStrategyHistoricalClosedTrades',
  params: object = {},
) =>
  resultsOf<Row>(
    await town.ask(
      operation,
      { StrategyId: strategyId, ...params },
      { key: people.stranger.key, ...(operation === 'GetStrategyDetails' && { host: 'Geo' as const }) },
    ),
  )

const equity = async (CommissionPlan: number) => {
  const params = { StrategyId: strategyId, CommissionPlan }
  const [row] = resultsOf<{ MonthlyResults: { Equity: number }[] }>(
    await town.ask('GetStrategyHistoricalDailyEquity', params, { key: people.stranger.key }),
  )
  return row?.MonthlyResults.map(({ Equity }) => Equity)
}

test('a dividend is cash of its own day, a split changes no value, and both finish in one trade', async () => {
  // Long 100 AAPL at 100.
  await door('/clock', { now: '2024-03-12T20:00:00Z' })
  await door('/corporate-actions', [
    { kind: 'dividend', symbol: 'AAPL', date: '2024-03-13', amount: 0.5 },
    { kind: 'split', symbol: 'AAPL', date: '2024-03-14', new: 2, old: 1 },
  ])
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  const [paid] = await ask('GetStrategyDetails')
  expect(paid).toMatchObject({ Cash: 90_050, CashDividends: 50, LatestTrade: '2024-03-12T14:00:00Z' })
  await door('/quotes', [{ symbol: 'AAPL', bid: 104, ask: 104 }])
  await door('/clock', { now: '2024-03-14T14:00:00Z' })
  await door('/quotes', [{ symbol: 'AAPL', bid: 53, ask: 53 }])
  await door('/clock', { now: '2024-03-14T20:00:00Z' })
  const Order = {
    StrategyId: strategyId,
    OrderType: '1',
    Side: '2',
    OrderQuantity: 200,
    TIF: '1',
    [symbolMember('native')]: { FullSymbol: 'AAPL', SymbolType: 'stock' },
  }
  await door('/clock', { now: '2024-03-15T14:00:00Z' })
  await door('/quotes', [{ symbol: 'AAPL', bid: 55, ask: 55 }])
  await town.ask('NewStrategyOrder', { Order }, { key: people.owner.key })
  await door('/clock', { now: '2024-03-15T20:00:00Z' })
  const [sold] = await ask('GetStrategyDetails')
  expect(sold).toMatchObject({ Cash: 101_050, CashDividends: 50, NumTrades: 1 })
  expect((await equity(0))?.slice(1)).toEqual([100_450, 100_650, 101_050])
  // Half a cent a share, at least a dollar an order.
  expect((await equity(3))?.slice(1)).toEqual([100_449, 100_649, 101_048])
  const trades = async (CommissionPlan: number) =>
    (await ask('GetStrategyHistoricalClosedTrades', { CommissionPlan })).map((row) =>
      ['ProfitLoss', 'Commission', 'OpenedQuantity', 'ClosedQuantity'].map((name) => row[name]),
    )
  expect(await trades(0)).toEqual([[1000, 0, 200, 200]])
  expect(await trades(3)).toEqual([[998, 2, 200, 200]])
})

test('what is entered late is seen by whoever asks whether anything has changed', async () => {
  const key = people.stranger.key
  const show = (headers?: Record<string, string>) =>
    town.ask('GetStrategyDetails', { StrategyId: strategyId }, { key, ...(headers && { headers }) })
  await door('/clock', { now: '2024-03-18T14:00:00Z' })
  const modified = (await show()).headers['last-modified'] as string
  expect((await show({ 'if-modified-since': modified })).status).toBe(304)
  await door('/corporate-actions', [{ kind: 'dividend', symbol: 'AAPL', date: '2024-03-15', amount: 0.25 }])
  await door('/clock', { now: '2024-03-18T14:00:01Z' })
  expect((await show({ 'if-modified-since': modified })).status).toBe(200)
  expect((await ask('GetStrategyDetails'))[0]).toMatchObject({ Cash: 101_100, CashDividends: 100 })
  expect((await equity(0))?.slice(-1)).toEqual([101_100])
})

test('an average that has no end leaves a result on half a cent where it is', async () => {
  await door('/instruments', [{ symbol: 'PENNY', securityType: 'CS', tick: 0.001 }])
  const terms = { StrategyName: 'Pennies', StartingCapital: 1000 }
  const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(
    await town.ask('AddStrategy', terms, people.owner),
  )
  for (const [price, OrderQuantity] of [
    [1, 5],
    [1.001, 2],
  ]) {
    await door('/quotes', [{ symbol: 'PENNY', bid: price, ask: price }])
    const order = { StrategyId, OrderType: '1', Side: '1', OrderQuantity, TIF: '1' }
    const PlatformSymbol = { FullSymbol: 'PENNY', SymbolType: 'stock' }
    await town.ask('NewStrategyOrder', { Order: { ...order, PlatformSymbol } }, people.owner)
  }
  const [shown] = await ask('GetStrategyDetails', { StrategyId })
  expect(shown).toMatchObject({ Cash: 993, Equity: 0.01, ModelAccountValue: 1000.01 })
})

test('a trade of contracts that had another size is worth under a plan what it was, also where none was held later', async () => {
  const option = { securityType: 'OPT', pointValue: 100, underlying: 'AAPL', strike: 50, putOrCall: 1 }
  await door('/instruments', [{ symbol: 'AAPL2419D50', expiry: '2024-04-19', ...option }])
  const terms = { StrategyName: 'Options', StartingCapital: 10_000 }
  const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(
    await town.ask('AddStrategy', terms, people.owner),
  )
  for (const [price, Side] of [
    [5, '1'],
    [6, '2'],
  ]) {
    await door('/quotes', [{ symbol: 'AAPL2419D50', bid: price, ask: price }])
    const order = { StrategyId, OrderType: '1', Side, OrderQuantity: 2, TIF: '1' }
    const PlatformSymbol = { FullSymbol: 'AAPL2419D50', SymbolType: 'option' }
    await town.ask('NewStrategyOrder', { Order: { ...order, PlatformSymbol } }, people.owner)
  }
  await door('/corporate-actions', [{ kind: 'split', symbol: 'AAPL', date: '2024-03-19', new: 3, old: 2 }])
  await door('/clock', { now: '2024-03-19T14:00:00Z' })
  const results = [0, 3].map(async (CommissionPlan) =>
    (await ask('GetStrategyHistoricalClosedTrades', { StrategyId, CommissionPlan })).map(
      ({ ProfitLoss, Commission }) => [ProfitLoss, Commission],
    ),
  )
  // 65 cents a contract.
  expect(await Promise.all(results)).toEqual([[[200, 0]], [[197.4, 2.6]]])
})

test('splits that come to nothing together leave books that add up', async () => {
  const lonely = town.lonelyStrategyId
  await door('/quotes', [{ symbol: 'AAPL', bid: 37, ask: 37 }])
  const Order = {
    StrategyId: lonely,
    OrderType: '1',
    Side: '1',
    OrderQuantity: 8,
    TIF: '1',
    [symbolMember('native')]: { FullSymbol: 'AAPL', SymbolType: 'stock' },
  }
  expect((await town.ask('NewStrategyOrder', { Order }, { key: people.owner.key })).status).toBe(200)
  const ratios = [
    ['2024-04-16', 3, 2],
    ['2024-04-17', 1, 3],
    ['2024-04-18', 2, 1],
  ] as const
  await door(
    '/corporate-actions',
    ratios.map(([date, into, from]) => ({ kind: 'split', symbol: 'AAPL', date, new: into, old: from })),
  )
  await door('/clock', { now: '2024-04-18T14:00:00Z' })
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
