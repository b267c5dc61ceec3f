/** What an approved account trades outside becomes signals of the strategy that it feeds, and is copied. */
import { beforeAll, expect, test } from 'vitest'
import { call, resultsOf, told } from '../support/http.ts'
import { buildTown, type CitizenName } from './support/town.ts'

const town = await buildTown()
const { people } = town
const leader = people.neighbour
const add = (params: object, who: CitizenName = 'neighbour') =>
  town.ask('AddStrategy', { StrategyName: 'Fed', ...params }, { key: people[who].key })
const trade = (side: 'buy' | 'sell', qty: number, px: number, account = 'T1') =>
  town.door<{ execId: string }>('/broker', {
    execution: { account, symbol: 'AAPL', side, qty, px, clientOrderId: null },
  })
const approve = (Account: string) =>
  town.ask(
    'ApprovedBrokerTransmitAccount',
    { Account, PersonId: leader.personId, BrokerId: 1, GeoSite: 'north' },
    { key: people.northAdmin.key, host: 'Geo' },
  )
let fed = 0
const orders = async () =>
  resultsOf<Record<string, unknown>>(
    await town.ask('GetStrategyHistoricalOrders', { StrategyId: fed }, { key: leader.key }),
  )
const positions = async () =>
  resultsOf<Record<string, unknown>>(
    await town.ask('GetStrategyOpenPositions', { StrategyIds: fed }, { key: leader.key }),
  )

beforeAll(async () => {
  await town.door('/accounts', [
    { account: 'T1', personId: leader.personId, cash: 20_000 },
    { account: 'T2', personId: leader.personId, cash: 20_000 },
    { account: 'F1', personId: people.stranger.personId, cash: 50_000 },
  ])
  expect((await approve('T1')).status).toBe(200)
})

test('an account must be one’s own, which one that is not there is not, and be approved', async () => {
  expect(told(await add({ Account: 'NONE' }))).toEqual([403, '1002 Account'])
  expect(told(await add({ Account: 'T1' }, 'stranger'))).toEqual([403, '1002 Account'])
  expect(told(await add({ Account: 'NONE' }, 'operator'))).toEqual([404, '2013 Account'])
  expect(told(await add({ Account: 'T2' }))[0]).toBe(409)
})

test('it feeds one strategy, which begins with what the account is worth', async () => {
  const added = await add({ Account: 'T1' })
  expect(added.status).toBe(200)
  fed = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  const { cash } = await town.platform.db.read.one<{ cash: string }>`
    select cash from strategy where id = ${fed}::bigint`
  expect(Number(cash)).toBe(20_000)
  expect(told(await add({ Account: 'T1' }))[0]).toBe(409)
})

test('it begins with dollars, of what is worth something', async () => {
  await town.door('/instruments', [{ symbol: 'EURUSD', securityType: 'FOR', calendar: 'FOREX' }])
  await town.door('/quotes', [{ symbol: 'EURUSD', bid: 1.1, ask: 1.1 }])
  await town.door('/accounts', [
    { account: 'T5', personId: leader.personId, cash: 20_000, currency: 'EUR' },
    { account: 'T6', personId: leader.personId, cash: 0 },
  ])
  for (const account of ['T5', 'T6']) expect((await approve(account)).status).toBe(200)
  const [added] = resultsOf<{ StrategyId: number }>(await add({ Account: 'T5', StrategyName: 'Euro' }))
  const { cash } = await town.platform.db.read.one<{ cash: string }>`
    select cash from strategy where id = ${added?.StrategyId ?? 0}::bigint`
  expect(Number(cash)).toBe(22_000)
  expect(told(await add({ Account: 'T6', StrategyName: 'Empty' }))).toEqual([409, '3016 Account'])
})

test('of two accounts of one number the approved one feeds it', async () => {
  await town.door('/accounts', [{ account: 'T7', personId: leader.personId, cash: 1_000, kind: 'paper' }])
  await town.door('/accounts', [{ account: 'T7', personId: leader.personId, cash: 20_000 }])
  expect((await approve('T7')).status).toBe(200)
  expect((await add({ Account: 'T7', StrategyName: 'Twice' })).status).toBe(200)
})

test('a trade becomes a filled market order of its side, quantity and price, and is copied', async () => {
  const follow = await town.ask(
    'StartAutotrade',
    { Account: 'F1', PersonId: people.stranger.personId, StrategyId: fed, StocksEnabled: true },
    { key: people.stranger.key },
  )
  expect(follow.status).toBe(200)
  const { execId } = await trade('buy', 30, 99.5)
  const [order, second] = await orders()
  expect(second).toBeUndefined()
  expect(order).toMatchObject({
    StrategyId: fed,
    SignalType: 4,
    Side: '1',
    OrderType: '1',
    OrderStatus: '2',
    OrderQuantity: 30,
    FilledQuantity: 30,
  })
  expect(await positions()).toMatchObject([{ Quantity: 30, AvgPx: 99.5 }])
  const [copy] = resultsOf(
    await town.ask(
      'GetAutotradeHistoricalOrders',
      { PersonId: people.stranger.personId, Account: 'F1' },
      { key: people.stranger.key },
    ),
  )
  expect(copy).toMatchObject({ Side: '1', OrderQuantity: 30, OrderStatus: '2' })
  // Told again it is known.
  await town.door('/broker', { duplicate: execId })
  expect(await orders()).toHaveLength(1)
})

test('a trade through zero is a close and an opening order', async () => {
  await trade('sell', 50, 101)
  expect((await orders()).length).toBe(3)
  expect(await positions()).toMatchObject([{ Quantity: -20 }])
  await trade('buy', 20, 100)
  expect(await positions()).toEqual([])
})

test('a position that it leaves is marked with the quote that stands, in its trade as in the account value', async () => {
  const listed = async (name: 'GetStrategyDetails' | 'GetStrategyHistoricalClosedTrades') =>
    resultsOf<Record<string, unknown>>(await town.ask(name, { StrategyId: fed }, { key: leader.key }))
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 99, ask: 99.1 }])
  await trade('buy', 10, 100)
  expect(await listed('GetStrategyDetails')).toMatchObject([{ Equity: -10 }])
  await trade('sell', 10, 101)
  const [finished] = await listed('GetStrategyHistoricalClosedTrades')
  expect(finished).toMatchObject({ ProfitLoss: 10, MaxDrawdown: -10, MaxDrawdown_WorstPrice: 99 })
})

test('a trade that is taken back is taken back in the strategy', async () => {
  const { execId } = await trade('buy', 10, 100)
  expect(await positions()).toMatchObject([{ Quantity: 10 }])
  await town.door('/broker', { bust: execId })
  expect(await positions()).toEqual([])
})

test('what was traded before the account fed a strategy is not taken back there', async () => {
  await town.door('/accounts', [{ account: 'T3', personId: leader.personId, cash: 20_000 }])
  expect((await approve('T3')).status).toBe(200)
  const before = await trade('buy', 10, 100, 'T3')
  const added = resultsOf<{ StrategyId: number }>(await add({ Account: 'T3', StrategyName: 'Later' }))
  const held = async () =>
    resultsOf<Record<string, unknown>>(
      await town.ask('GetStrategyOpenPositions', { StrategyIds: added[0]?.StrategyId }, { key: leader.key }),
    )
  await town.door('/broker', { bust: before.execId })
  expect(await held()).toEqual([])
  const since = await trade('buy', 4, 100, 'T3')
  expect(await held()).toMatchObject([{ Quantity: 4 }])
  await town.door('/broker', { bust: since.execId })
  expect(await held()).toEqual([])
})

/** What GetAutotradeStats counts of accounts of the region: account, followed, fed, fed of one class, own. */
const counted = async (params: object = {}) => {
  const asked = { key: people.northAdmin.key, host: 'Geo' } as const
  const rows = resultsOf<Record<string, unknown>>(await town.ask('GetAutotradeStats', params, asked))
  return rows
    .filter(({ Account }) => Account === 'T1' || Account === 'T2')
    .map((row) => [
      ...[row.Account, row.UniqueAutotradedStrategies, row.UniqueBrokertransmitStrategies],
      ...[row.BrokertransmitStocksStrategies, row.UniquePlatformtransmitStrategies],
    ])
}

test('the account counts as one that feeds a strategy, and what it feeds not as signals by the platform', async () => {
  const follow = { Account: 'T2', StrategyId: fed, StocksEnabled: true }
  expect((await town.ask('StartAutotrade', follow, { key: leader.key })).status).toBe(200)
  expect(await counted()).toEqual([
    ['T1', 0, 1, 1, 0],
    ['T2', 1, 0, 0, 0],
  ])
  expect(await counted({ SecurityType: 'FUT' })).toEqual([['T1', 0, 1, 1, 0]])
  const setup = { Account: 'T2', PersonId: leader.personId, StrategyId: fed }
  expect((await town.ask('StopAutotrade', setup, { key: leader.key })).status).toBe(200)
})

test('other accounts, and one whose approval was withdrawn, feed nothing', async () => {
  const before = (await orders()).length
  await trade('buy', 10, 100, 'T2')
  const params = { Account: 'T1', PersonId: leader.personId, GeoSite: 'north' }
  const host = { key: people.northAdmin.key, host: 'Geo' } as const
  expect((await town.ask('DeleteApprovedBrokerTransmitAccount', params, host)).status).toBe(200)
  await trade('buy', 10, 100)
  expect((await orders()).length).toBe(before)
  expect((await counted())[0]).toEqual(['T1', 0, 0, 0, 0])
})

test('what is taken back over a split is taken back in the units of today', async () => {
  await town.door('/accounts', [{ account: 'T4', personId: leader.personId, cash: 20_000 }])
  expect((await approve('T4')).status).toBe(200)
  const added = resultsOf<{ StrategyId: number }>(await add({ Account: 'T4', StrategyName: 'Split' }))
  const held = async () =>
    resultsOf<Record<string, unknown>>(
      await town.ask('GetStrategyOpenPositions', { StrategyIds: added[0]?.StrategyId }, { key: leader.key }),
    ).map(({ Quantity, AvgPx }) => [Quantity, AvgPx])
  const first = await trade('buy', 10, 90, 'T4')
  const second = await trade('buy', 5, 90, 'T4')
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 3, old: 2 },
  ])
  await town.door('/clock', { now: '2024-03-13T14:00:00Z' })
  // Half a share was paid for.
  expect(await held()).toEqual([[22, 60]])
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 50, ask: 50 }])
  await town.door('/broker', { bust: first.execId })
  expect(await held()).toEqual([[7, 60]])
  await town.door('/broker', { bust: second.execId })
  expect(await held()).toEqual([])
  const undone = await town.platform.db.read.rows`
    select f.px::float8 as px, f.filled_at as at from fill f
    where f.strategy_id = ${added[0]?.StrategyId ?? 0}::bigint and f.side = '2' order by f.id`
  const at = Date.parse('2024-03-13T14:00:00Z')
  expect(undone.slice(-2)).toEqual([
    { px: 60, at },
    { px: 60, at },
  ])
})

test('what is told of a stock that is delisted nobody copies, and it is paid like the rest', async () => {
  await town.door('/accounts', [
    { account: 'T15', personId: leader.personId, cash: 20_000 },
    { account: 'F15', personId: people.stranger.personId, cash: 20_000 },
  ])
  expect((await approve('T15')).status).toBe(200)
  const added = await add({ Account: 'T15', StrategyName: 'Delisted' })
  const StrategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId
  const follower = { Account: 'F15', PersonId: people.stranger.personId }
  const { key } = people.stranger
  await town.ask('StartAutotrade', { ...follower, StrategyId, StocksEnabled: true }, { key })
  const gone = { symbol: 'GONE', date: '2024-03-12' }
  const tell = (side: 'buy' | 'sell', qty: number, px: number) =>
    town.door('/broker', {
      execution: { account: 'T15', symbol: 'GONE', side, qty, px, clientOrderId: null },
    })
  const seen = async () => ({
    held: resultsOf(await town.ask('GetStrategyOpenPositions', { StrategyIds: StrategyId }, { key })).length,
    copies: resultsOf(await town.ask('GetAutotradeHistoricalOrders', follower, { key })).length,
    ...(await town.platform.db.read.one<Record<string, number>>`
      select s.cash::float8 as strategy, fed.cash::float8 as fed, follower.cash::float8 as follower
      from strategy s, account fed, account follower
      where s.id = ${StrategyId ?? 0}::bigint and fed.account = 'T15' and follower.account = 'F15'`),
  })
  await town.door('/instruments', [{ symbol: 'GONE', securityType: 'CS' }])
  await town.door('/quotes', [{ symbol: 'GONE', bid: 100, ask: 100 }])
  await tell('buy', 30, 100)
  const bought = { held: 1, copies: 1, strategy: 17_000, fed: 17_000, follower: 17_000 }
  expect(await seen()).toEqual(bought)
  await town.door('/corporate-actions', [{ kind: 'delisting', ...gone }])
  // Paid by its broker before anybody has entered what is paid.
  await tell('sell', 10, 60)
  expect(await seen()).toEqual({ ...bought, strategy: 17_600, fed: 17_600 })
  await town.door('/corporate-actions', [{ kind: 'settlement', ...gone, amount: 60 }])
  const paid = { held: 0, copies: 1, strategy: 18_800, fed: 18_800, follower: 18_800 }
  expect(await seen()).toEqual(paid)
  await tell('sell', 20, 60)
  expect(await seen()).toEqual(paid)
})

test('what an option delivers that is told over a split is delivered in the units of today', async () => {
  await town.door('/accounts', [{ account: 'T16', personId: leader.personId, cash: 20_000 }])
  expect((await approve('T16')).status).toBe(200)
  const added = resultsOf<{ StrategyId: number }>(await add({ Account: 'T16', StrategyName: 'Late' }))
  const symbol = 'AAPL2415C40'
  await town.door('/instruments', [{ symbol, securityType: 'OPT' }])
  await town.door('/quotes', [
    { symbol, bid: 10, ask: 10 },
    { symbol: 'AAPL', bid: 50, ask: 50 },
  ])
  await town.door('/clock', { now: '2024-03-15T20:30:00Z' })
  await town.door('/corporate-actions', [
    { kind: 'split', symbol: 'AAPL', date: '2024-03-18', new: 2, old: 1 },
  ])
  await town.door('/clock', { now: '2024-03-18T14:00:00Z' })
  await town.door('/broker', {
    execution: { account: 'T16', symbol, side: 'buy', qty: 1, px: 10, clientOrderId: null },
  })
  const held = await town.platform.db.read.rows`
    select p.quantity::float8 as quantity, p.avg_px::float8 as "avgPx", s.cash::float8 as cash
    from position p join strategy s on s.id = p.strategy_id
    where s.id = ${added[0]?.StrategyId ?? 0}::bigint and p.quantity <> 0
    union all
    select p.quantity::float8, p.avg_px::float8, a.cash::float8
    from account_position p join account a on a.id = p.account_id where a.account = 'T16' and p.quantity <> 0`
  expect(held).toEqual(Array(2).fill({ quantity: 200, avgPx: 20, cash: 15_000 }))
})

test('what is told late happens in the strategy when it is told: until then it held what it held', async () => {
  await town.door('/accounts', [{ account: 'T17', personId: leader.personId, cash: 20_000 }])
  expect((await approve('T17')).status).toBe(200)
  const added = await add({ Account: 'T17', StrategyName: 'Told late' })
  const StrategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId
  const tell = (side: 'buy' | 'sell', px: number) =>
    town.door('/broker', {
      execution: { account: 'T17', symbol: 'AAPL', side, qty: 10, px, clientOrderId: null },
    })
  await tell('buy', 50)
  await town.door('/broker', { down: true })
  await tell('sell', 50)
  await town.door('/clock', { now: '2024-03-18T14:05:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 45, ask: 45 }])
  await town.door('/broker', { down: false })
  const closed = await town.ask('GetStrategyHistoricalClosedTrades', { StrategyId }, { key: leader.key })
  expect(resultsOf(closed)).toMatchObject([{ CloseDate: '2024-03-18T14:05:00Z', MaxDrawdown: -50 }])
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})

test('the books add up', async () => {
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
  expect(town.platform.errors).toEqual([])
})
