/** What an account is worth and what a setup in it has earned, after what brokers and issuers do to it. */
import { expect, test } from 'vitest'
import { dec, zero } from '../../src/domain/decimal.ts'
import { getDashBoard } from '../../src/operations/autotrade/dashboard.ts'
import type { Context } from '../../src/operations/context.ts'
import { insertExecutions, type NewExecution } from '../../src/storage/brokers/reports.ts'
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

test('of a day that is past admins are told what an account was worth when it ended', async () => {
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 330, ask: 330 }])
  const toldOf = async (params: object) => {
    const rows = resultsOf(
      await town.ask('GetAutotradeStats', params, { ...town.people.operator, host: 'WL' }),
    )
    const row = (rows as Record<string, unknown>[]).find(({ Account }) => Account === holderAccount)
    return [row?.DateUtc, row?.NetLiquidationValue, row?.LastBrokerNetLiquidationUpdateUtc]
  }
  const now = '2024-03-14T14:00:00Z'
  expect(await toldOf({})).toEqual([now, 51_090, now])
  expect(await toldOf({ EndDate: now })).toEqual([now, 51_090, now])
  const yesterday = '2024-03-13T23:59:59Z'
  expect(await toldOf({ EndDate: '2024-03-13' })).toEqual([yesterday, 50_100, '2024-03-13T21:00:00Z'])
  const noon = '2024-03-13T16:00:00Z'
  expect(await toldOf({ EndDate: noon })).toEqual([noon, 50_000, '2024-03-12T21:00:00Z'])
  const before = '2024-03-11T23:59:59Z'
  expect(await toldOf({ EndDate: '2024-03-11' })).toEqual([before, undefined, undefined])
})

const setup = { ScalingPercentage: 100, StocksEnabled: true, FuturesEnabled: true }
const addFollowed = async (account: { readonly Account: string }, name: string): Promise<number> => {
  const body = { StrategyName: name, StartingCapital: 100_000 }
  const [made] = resultsOf<{ StrategyId: number }>(await town.ask('AddStrategy', body, town.people.owner))
  const StrategyId = made?.StrategyId ?? 0
  await town.ask('StartAutotrade', { ...own, ...account, ...setup, StrategyId }, { key })
  return StrategyId
}
const trade = (StrategyId: number, Side: string, OrderQuantity: number, symbol: string, type: string) => {
  const PlatformSymbol = { FullSymbol: symbol, SymbolType: type }
  const Order = { StrategyId, Side, OrderQuantity, OrderType: '1', TIF: '1', PlatformSymbol }
  return town.ask('NewStrategyOrder', { Order }, town.people.owner)
}

test('today begins at the last close, whoever else holds something and whatever trades in the evening', async () => {
  const many = { ...own, Account: 'U103' }
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
  const [stocks, futures] = [await addFollowed(many, 'Stocks'), await addFollowed(many, 'Futures')]
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
  // 500 of the 101,000 that it came to at the last close.
  expect(await todays()).toEqual([-0.4950495, 0])
  // Now nothing is held but stocks: the day ends with them.
  await town.door('/clock', { now: '2024-03-15T20:30:00Z' })
  expect(await todays()).toEqual([0, 0])
})

test('an execution that is told late counts from its own moment, and what was inferred for it never moved', async () => {
  const late = { ...own, Account: 'U104' }
  const { db } = town.platform
  await town.door('/clock', { now: '2024-03-18T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 98, ask: 98 }])
  await town.door('/accounts', [{ account: late.Account, personId, cash: 10_000 }])
  const strategyId = await addFollowed(late, 'Late')
  await town.door('/clock', { now: '2024-03-19T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  await trade(strategyId, '1', 50, 'AAPL', 'stock')
  // The broker says on the second day that this was bought before the close of the first.
  const { accountId, ...inferred } = await db.read.one<Omit<NewExecution, 'quantity' | 'px' | 'busts'>>`
    select e.broker_id as "brokerId", account_id as "accountId", exec_id as "execId", order_id as "orderId",
      setup_id as "setupId", instrument_id as "instrumentId", fx
    from execution e join account a on a.id = e.account_id where a.account = ${late.Account}`
  const told = { ...inferred, accountId, quantity: dec(50), px: dec(100), commission: zero }
  const executedAt = Date.parse('2024-03-18T19:55:00Z')
  await db.transaction((tx) =>
    insertExecutions(tx, [
      { ...told, execId: 'told', side: '1', cashChange: dec(-5000), busts: null, executedAt },
      { ...told, execId: 'back', side: '2', cashChange: dec(5000), busts: inferred.execId, executedAt },
    ]),
  )
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 101, ask: 101 }])
  // 50 shares, bought at 100, were worth 98 each at the close. 150 of the 9,900 that it came to there.
  expect(await rowOf('GetDashBoard', late)).toMatchObject({ TodayReturn: 1.51515152, TotalReturn: 0.5 })
  // A dividend of the second day that is entered late is paid on what was held over the first day's close.
  await town.door('/corporate-actions', [{ kind: 'dividend', symbol: 'AAPL', date: '2024-03-19', amount: 1 }])
  await town.door('/clock', { now: '2024-03-19T15:00:00Z' })
  expect(await rowOf('GetDashBoard', late)).toMatchObject({ TodayReturn: 2.02020202, TotalReturn: 1 })
})

test('what was before a paper account began anew is no part of today', async () => {
  const paper = { ...own, Account: 'U105' }
  await town.door('/clock', { now: '2024-03-20T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  await town.door('/accounts', [{ account: paper.Account, personId, cash: 10_000, kind: 'paper' }])
  const strategyId = await addFollowed(paper, 'Anew')
  await trade(strategyId, '1', 50, 'AAPL', 'stock')
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 60, ask: 60 }])
  await town.door('/clock', { now: '2024-03-21T14:00:00Z' })
  expect(await rowOf('GetDashBoard', paper)).toMatchObject({ TodayReturn: 0, TotalReturn: -20 })
  await town.ask('ResetPaperTrade', paper, { key })
  expect(await rowOf('GetDashBoard', paper)).toMatchObject({ TodayReturn: 0, TotalReturn: 0 })
})

test('a setup is measured by what the account was worth when it began, not by what it was opened with', async () => {
  const grown = { ...own, Account: 'U106' }
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  await town.door('/accounts', [{ account: grown.Account, personId, cash: 10_000 }])
  await trade(await addFollowed(grown, 'First'), '1', 50, 'AAPL', 'stock')
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 150, ask: 150 }])
  await trade(await addFollowed(grown, 'Second'), '1', 10, 'AAPL', 'stock')
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 165, ask: 165 }])
  const rows = resultsOf(await town.ask('GetDashBoard', grown, { key }))
  // 3,250 of the 10,000 that it was opened with; 150 of the 12,500 that these had become.
  expect(rows).toMatchObject([
    { StrategyName: 'First', TotalReturn: 32.5 },
    { StrategyName: 'Second', TotalReturn: 1.2 },
  ])
})

test('a trade beside the reading of what was earned is no gain', async () => {
  const busy = { ...own, Account: 'U107' }
  const { db } = town.platform
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
  await town.door('/accounts', [{ account: busy.Account, personId, cash: 10_000 }])
  const strategyId = await addFollowed(busy, 'Busy')
  let asked = 0
  const rows: typeof db.read.rows = async (...query) => {
    const found = await db.read.rows<never>(...query)
    if (asked++ === 0) await trade(strategyId, '1', 50, 'AAPL', 'stock')
    return found
  }
  const context = { sql: { ...db.read, rows }, now: Date.parse('2024-03-21T14:00:00Z') } as unknown as Context
  expect(JSON.stringify(await getDashBoard(context, busy))).toContain('"TodayReturn":"0","TotalReturn":"0"')
  expect(await rowOf('GetDashBoard', busy)).toMatchObject({ TodayReturn: 0, TotalReturn: 0 })
})
