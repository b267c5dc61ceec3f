/** What an account is worth and what a setup in it has earned, after what brokers and issuers do to it. */
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { buildTown, holderAccount } from './support/town.ts'

const town = await buildTown()
const { personId, key } = town.people.holder
const own = { Account: holderAccount, PersonId: personId }
const rowOf = async (operation: 'GetAutotradeSettings' | 'GetDashBoard', params = own) =>
  resultsOf<Record<string, unknown>>(await town.ask(operation, params, { key }))[0]

test('what a broker takes back of the holder’s own trades is worth nothing', async () => {
  const other = { ...own, Account: 'U102' }
  await town.door('/accounts', [{ account: other.Account, personId, cash: 10_000 }])
  await town.ask(
    'StartAutotrade',
    { ...other, StrategyId: town.strategyId, DoNotJoinCurrentSystemPositions: true },
    { key },
  )
  const execution = {
    account: other.Account,
    symbol: 'AAPL',
    side: '1',
    qty: 10,
    px: 90,
    clientOrderId: null,
  }
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  const { execId } = await town.door<{ execId: string }>('/broker', { execution })
  expect(await rowOf('GetAutotradeSettings', other)).toMatchObject({ NetLiquidationValue: 10_100 })
  await town.door('/broker', { bust: execId })
  expect(await rowOf('GetAutotradeSettings', other)).toMatchObject({ NetLiquidationValue: 10_000 })
})

test('dividends and fractions of a split are earned, and a split loses nothing', async () => {
  // 100 shares bought at 100 in an account of 50,000.
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  expect(await rowOf('GetDashBoard')).toMatchObject({ TodayReturn: 0, TotalReturn: 0 })
  await town.door('/clock', { now: '2024-03-12T22:00:00Z' })
  await town.door('/corporate-actions', [
    { kind: 'dividend', symbol: 'AAPL', date: '2024-03-13', amount: 1 },
    { kind: 'split', symbol: 'AAPL', date: '2024-03-14', new: 1, old: 3 },
  ])
  await town.door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await rowOf('GetDashBoard')).toMatchObject({ TodayReturn: 0.2, TotalReturn: 0.2 })
  await town.door('/clock', { now: '2024-03-14T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 300, ask: 300 }])
  // 33 shares at 300, and 100 for the third of a share.
  expect(await rowOf('GetAutotradeSettings')).toMatchObject({ NetLiquidationValue: 50_100 })
  expect(await rowOf('GetDashBoard')).toMatchObject({ TodayReturn: 0, TotalReturn: 0.2 })
})

test('today begins at the last close, whoever else holds something and whatever trades in the evening', async () => {
  const many = { ...own, Account: 'U103' }
  const owner = town.people.owner
  const order = { OrderType: '1', TIF: '1' }
  const add = async (name: string) => {
    const body = { StrategyName: name, StartingCapital: 100_000 }
    const [made] = resultsOf<{ StrategyId: number }>(await town.ask('AddStrategy', body, owner))
    await town.ask('StartAutotrade', { ...many, ...setup, StrategyId: made?.StrategyId }, { key })
    return made?.StrategyId
  }
  const setup = { ScalingPercentage: 100, StocksEnabled: true, FuturesEnabled: true }
  const trade = (
    StrategyId: number | undefined,
    Side: string,
    OrderQuantity: number,
    symbol: string,
    type: string,
  ) =>
    town.ask(
      'NewStrategyOrder',
      {
        Order: {
          StrategyId,
          Side,
          OrderQuantity,
          ...order,
          PlatformSymbol: { FullSymbol: symbol, SymbolType: type },
        },
      },
      owner,
    )
  const todays = async () =>
    resultsOf<{ TodayReturn?: number }>(await town.ask('GetDashBoard', many, { key })).map(
      ({ TodayReturn }) => TodayReturn,
    )
  await town.door('/instruments', [
    { symbol: '@ESM24', securityType: 'FUT', pointValue: 50, tick: 0.25, calendar: 'CME_GLOBEX' },
  ])
  await town.door('/accounts', [{ account: many.Account, personId, cash: 100_000 }])
  await town.door('/quotes', [
    { symbol: 'AAPL', bid: 300, ask: 300 },
    { symbol: '@ESM24', bid: 5000, ask: 5000 },
  ])
  const [stocks, futures] = [await add('Stocks'), await add('Futures')]
  await trade(stocks, '1', 100, 'AAPL', 'stock')
  await trade(futures, '1', 1, '@ESM24', 'future')
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 310, ask: 310 }])
  expect(await todays()).toEqual([1, 0])
  // 16:30 in New York: the day of the account ends at 17:00.
  await town.door('/clock', { now: '2024-03-14T20:30:00Z' })
  await town.door('/quotes', [{ symbol: '@ESM24', bid: 5010, ask: 5010 }])
  expect(await todays()).toEqual([1, 0.5])
  await trade(futures, '2', 1, '@ESM24', 'future')
  expect(await todays()).toEqual([1, 0.5])
  await town.door('/clock', { now: '2024-03-14T21:30:00Z' })
  expect(await todays()).toEqual([0, 0])
  await town.door('/clock', { now: '2024-03-15T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 305, ask: 305 }])
  expect(await todays()).toEqual([-0.5, 0])
  // Now nothing is held but stocks: the day ends with them.
  await town.door('/clock', { now: '2024-03-15T20:30:00Z' })
  expect(await todays()).toEqual([0, 0])
})
