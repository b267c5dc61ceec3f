/** The Autotrade group over HTTP: setups, settings, and the orders and positions of an account. */
import { describe, expect, test } from 'vitest'
import type { Dialect, OperationName } from '../../src/contract/index.ts'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { changeBroker } from '../../src/storage/operating/provision.ts'
import { resultsOf, told } from '../support/http.ts'
import { buildTown, holderAccount, symbolMember, type Town } from './support/town.ts'

const towns: Record<Dialect, Town> = { native: await buildTown(), compat: await buildTown('compat') }
const dialects: Dialect[] = ['native', 'compat']
const held = (town: Town, operation: OperationName, params: object, headers?: Record<string, string>) =>
  town.ask(operation, params, { key: town.people.holder.key, ...(headers && { headers }) })
const own = (town: Town) => ({ Account: holderAccount, PersonId: town.people.holder.personId })

describe.each(dialects)('in the dialect %s', (dialect) => {
  const town = towns[dialect]

  test('GetBrokers lists the enabled brokers', async () => {
    const rows = resultsOf(await held(town, 'GetBrokers', {}))
    expect(rows.map(({ Name }) => Name)).toEqual(['Scripted', 'Lockstep Paper'])
    expect(resultsOf(await held(town, 'GetBrokers', { IncludeDisabled: true })).length).toBe(2)
  })

  test('StartAutotrade answers a bare true, StopAutotrade another', async () => {
    const start = { ...own(town), StrategyId: town.lonelyStrategyId, FuturesEnabled: true, MaxFutures: 2 }
    const started = await held(town, 'StartAutotrade', start)
    expect([started.status, started.text]).toEqual([200, 'true'])
    const again = await held(town, 'StartAutotrade', { ...start, ScalingPercentage: 50 })
    expect(again.text).toBe('true')
    const joining = { ...start, DoNotJoinCurrentSystemPositions: true }
    for (const choice of [joining, { ...joining, DoNotJoinCurrentSystemPositions: false }])
      expect(told(await held(town, 'StartAutotrade', choice))).toEqual([
        400,
        '1128 DoNotJoinCurrentSystemPositions',
      ])
    const both = await held(town, 'GetAutotradeSettings', own(town))
    expect([resultsOf(both).length, both.headers['last-modified']]).toEqual([2, undefined])
    const stopping = { ...own(town), StrategyId: town.lonelyStrategyId }
    const stopped = await held(town, 'StopAutotrade', stopping)
    expect([stopped.status, stopped.text]).toEqual([200, 'true'])
    expect(told(await held(town, 'StopAutotrade', stopping))).toEqual([404, '2013 StrategyId'])
  })

  test('GetAutotradedStrategies and GetAutotraders show the setup', async () => {
    const row = {
      PersonId: own(town).PersonId,
      Account: holderAccount,
      ScalingPercentage: 100,
      StrategyId: town.strategyId,
      StrategyName: 'Trend',
      BrokerId: 1,
      BrokerName: 'Scripted',
      StartDate: '2024-03-12T14:00:00Z',
    }
    const { PersonId } = own(town)
    expect(resultsOf(await held(town, 'GetAutotradedStrategies', { PersonId }))).toMatchObject([row])
    const other = await held(town, 'GetAutotradedStrategies', { PersonId, Account: 'OTHER' })
    expect(told(other)).toEqual([403, '1002 Account'])
    const byOwner = await town.ask(
      'GetAutotraders',
      { StrategyId: town.strategyId },
      { key: town.people.owner.key },
    )
    expect(resultsOf(byOwner)).toMatchObject([row])
    expect(resultsOf(await held(town, 'GetAutotraders', { StrategyId: town.lonelyStrategyId }))).toEqual([])
  })

  test('GetAutotradeSettings shows one row and honours If-Modified-Since', async () => {
    const answer = await held(town, 'GetAutotradeSettings', own(town))
    const [row, second] = resultsOf(answer)
    expect(second).toBeUndefined()
    expect(row).toMatchObject({
      Account: holderAccount,
      StrategyId: town.strategyId,
      ScalingPercentage: 100,
      EnabledStocks: true,
      StocksLong: true,
      StocksShort: true,
      EnabledFutures: false,
      FuturesLong: false,
      IsSyncEnabled: true,
      IsAutotradeDisabled: false,
      AccountType: 0,
      Currency: 'USD',
    })
    const modified = answer.headers['last-modified'] ?? ''
    const same = await held(town, 'GetAutotradeSettings', own(town), { 'if-modified-since': modified })
    expect([same.status, same.text]).toEqual([304, ''])
    const before = { 'if-modified-since': 'Mon, 11 Mar 2024 00:00:00 GMT' }
    expect((await held(town, 'GetAutotradeSettings', own(town), before)).status).toBe(200)
  })

  test('the orders and positions of an account', async () => {
    const orders = resultsOf(await held(town, 'GetAutotradeHistoricalOrders', own(town)))
    expect(orders.map(({ SignalId }) => SignalId).sort()).toEqual(Object.values(town.signals).sort())
    const at = async (BrokerId: number) =>
      resultsOf(await held(town, 'GetAutotradeHistoricalOrders', { ...own(town), BrokerId }))
    expect([await at(1), await at(2)]).toEqual([orders, []])
    const active = resultsOf(await held(town, 'GetAutotradeActiveOrders', own(town)))
    expect(active).toEqual(orders.filter(({ SignalId }) => SignalId === town.signals.working))
    for (const order of orders) {
      expect(order).toMatchObject({ StrategyId: town.strategyId, OrderQuantity: 100, Side: '1', BrokerId: 1 })
      expect(order[symbolMember(dialect)]).toMatchObject({ FullSymbol: 'AAPL' })
    }
    const positions = resultsOf(await held(town, 'GetAutoTradeOpenPositions', { Account: holderAccount }))
    expect(positions).toMatchObject([{ StrategyId: town.strategyId, Quantity: 100, AvgPx: 100 }])
    const filled = { ...own(town), OrderStatus: '2' }
    const [order] = resultsOf(await held(town, 'GetAutotradeHistoricalOrders', filled))
    expect(order).toMatchObject({ SignalId: town.signals.filled, FilledQuantity: 100, AvgFillPrice: 100 })
  })

  test.each<[string, OperationName, (town: Town) => object, (number | string)[]]>([
    ['no account', 'StartAutotrade', ({ strategyId }) => ({ StrategyId: strategyId }), [400, '1102 Account']],
    [
      'scaling zero',
      'StartAutotrade',
      (town) => ({ ...own(town), StrategyId: 1, ScalingPercentage: 0 }),
      [400, '1130 ScalingPercentage'],
    ],
    [
      'scaling above 1000',
      'StartAutotrade',
      (town) => ({ ...own(town), StrategyId: 1, ScalingPercentage: 1001 }),
      [400, '1130 ScalingPercentage'],
    ],
    [
      'a cap below zero',
      'StartAutotrade',
      (town) => ({ ...own(town), StrategyId: 1, MaxStocksDollars: -1 }),
      [400, '1130 MaxStocksDollars'],
    ],
    [
      'a strategy that is not there',
      'StartAutotrade',
      (town) => ({ ...own(town), StrategyId: 999 }),
      [404, '2013 StrategyId'],
    ],
    [
      'a stop loss below zero',
      'StartAutotrade',
      (town) => ({ ...own(town), StrategyId: 1, AutoStopLoss: -5 }),
      [400, '1130 AutoStopLoss'],
    ],
    [
      'another broker',
      'StartAutotrade',
      (town) => ({ ...own(town), StrategyId: town.strategyId, BrokerId: 2 }),
      [404, '2013 BrokerId'],
    ],
    [
      'a strategy not followed',
      'StopAutotrade',
      (town) => ({ ...own(town), StrategyId: 999 }),
      [404, '2013 StrategyId'],
    ],
    ['no person', 'GetAutotradedStrategies', () => ({}), [400, '1102 PersonId']],
    ['no person', 'GetAutotradeSettings', () => ({}), [400, '1102 PersonId']],
    [
      'no account',
      'GetAutotradeActiveOrders',
      (town) => ({ PersonId: own(town).PersonId }),
      [400, '1102 Account'],
    ],
    ['no person', 'GetAutotradeHistoricalOrders', () => ({ Account: holderAccount }), [400, '1102 PersonId']],
    [
      'an unknown status',
      'GetAutotradeHistoricalOrders',
      (town) => ({ ...own(town), OrderStatus: '7' }),
      [400, '1130 OrderStatus'],
    ],
    ['no account', 'GetAutoTradeOpenPositions', () => ({}), [400, '1102 Account']],
    ['limit zero', 'GetAutotraders', () => ({ Limit: 0 }), [400, '1130 Limit']],
    ['a word for a boolean', 'GetBrokers', () => ({ IncludeDisabled: 'yes' }), [400, '1130 IncludeDisabled']],
  ])('%s: %s', async (_, operation, params, expected) => {
    expect(told(await held(town, operation, params(town)))).toEqual(expected)
  })
})

describe.each(dialects)('AutoSync in the dialect %s', (dialect) => {
  const town = towns[dialect]
  const report = (params: object, key = town.people.holder.key) =>
    town.ask('GetAutotradeSyncStatusReport', params, { key, host: 'Geo' })

  test('GetAutotradeSyncStatusReport has one row per symbol that is held', async () => {
    const [row, second] = resultsOf(await report({ ...own(town), StrategyId: town.strategyId }))
    expect(second).toBeUndefined()
    expect(row).toMatchObject({
      Account: holderAccount,
      StrategyId: town.strategyId,
      AccountQuantity: 100,
      StrategyQuantity: 100,
      ScaledQuantity: 100,
      InSync: true,
      ReportType: 1,
      AutotradeSettings: { StrategyId: town.strategyId },
    })
    expect(row?.[symbolMember(dialect)]).toMatchObject({ FullSymbol: 'AAPL' })
    expect(resultsOf(await report({ ...own(town), StrategyId: town.lonelyStrategyId }))).toEqual([])
    expect(told(await report(own(town), town.people.owner.key))[0]).toBe(403)
  })

  test('SyncPositionsToOpen answers one true, and refuses what is not autotraded', async () => {
    const { Account } = own(town)
    const named = await held(town, 'SyncPositionsToOpen', { ...own(town), StrategyId: town.strategyId })
    expect(resultsOf(named)).toEqual([true])
    expect(resultsOf(await held(town, 'SyncPositionsToOpen', own(town)))).toEqual([true])
    const other = await held(town, 'SyncPositionsToOpen', { ...own(town), StrategyId: 999 })
    expect(told(other)).toEqual([404, '2013 StrategyId'])
    expect(told(await held(town, 'SyncPositionsToOpen', { ...own(town), Account: 'OTHER' }))[0]).toBe(403)
    expect(told(await held(town, 'SyncPositionsToOpen', { StrategyId: 1 }))).toEqual([400, '1102 Account'])
    const stranger = await town.ask('SyncPositionsToOpen', own(town), { key: town.people.owner.key })
    expect([Account, stranger.status]).toEqual([holderAccount, 403])
  })
})

test.each([
  [{ StrategyId: 999 }, 'StrategyId'],
  [{ StrategyIds: [999] }, 'StrategyIds'],
  [{ StrategyIds: [1, 999] }, 'StrategyIds'],
])('SyncPositionsToOpen of %j says which parameter names what is not autotraded', async (wanted, field) => {
  const answer = await held(towns.compat, 'SyncPositionsToOpen', { ...own(towns.compat), ...wanted })
  expect(told(answer)).toEqual([404, `2013 ${field}`])
})

test('SyncPositionsToOpen takes a strategy that is named twice for one', async () => {
  const { strategyId } = towns.compat
  const wanted = { StrategyIds: [strategyId, strategyId] }
  const answer = await held(towns.compat, 'SyncPositionsToOpen', { ...own(towns.compat), ...wanted })
  expect(resultsOf(answer)).toEqual([true])
})

test('a private strategy, or one without places, takes no new follower but its owner', async () => {
  const town = towns.native
  const start = { ...own(town), StrategyId: town.lonelyStrategyId, StocksEnabled: true }
  await town.door('/strategies', [{ strategyId: town.lonelyStrategyId, noSubs: true }])
  expect(told(await held(town, 'StartAutotrade', start))).toEqual([409, '3016 StrategyId'])
  const { owner } = town.people
  await town.door('/accounts', [{ account: 'U301', personId: owner.personId, cash: 1000 }])
  const byOwner = { Account: 'U301', StrategyId: town.lonelyStrategyId, StocksEnabled: true }
  await town.door('/strategies', [{ strategyId: town.lonelyStrategyId, private: true, noSubs: true }])
  expect((await town.ask('StartAutotrade', byOwner, owner)).json).toBe(true)
  await town.door('/strategies', [{ strategyId: town.lonelyStrategyId, private: true, noSubs: false }])
  // Who has subscribed to it still knows it; to everybody else it does not exist.
  expect(told(await held(town, 'StartAutotrade', start))).toEqual([409, '3016 StrategyId'])
  const { neighbour } = town.people
  await town.door('/accounts', [{ account: 'U300', personId: neighbour.personId, cash: 1000 }])
  const strange = { Account: 'U300', StrategyId: town.lonelyStrategyId, StocksEnabled: true }
  const changed = { strategyId: town.lonelyStrategyId, changedAt: Date.now() }
  for (const isAlive of [true, false]) {
    await changeStrategy(town.platform.db.write, { ...changed, isAlive })
    expect(told(await town.ask('StartAutotrade', strange, neighbour))).toEqual([404, '2013 StrategyId'])
    expect(told(await held(town, 'StartAutotrade', start))).toEqual([409, '3016 StrategyId'])
  }
  await changeStrategy(town.platform.db.write, { ...changed, isAlive: true, isPrivate: false })
})

test('a permission to open that is used up is news of the settings', async () => {
  const town = towns.native
  await town.door('/clock', { now: '2024-03-12T22:00:00Z' })
  expect((await held(town, 'SyncPositionsToOpen', own(town))).status).toBe(200)
  const asked = await held(town, 'GetAutotradeSettings', own(town))
  expect(resultsOf(asked)).toMatchObject([{ WillSyncToOpenStocksUSA: true }])
  await town.door('/clock', { now: '2024-03-13T14:00:00Z' })
  const since = { 'if-modified-since': asked.headers['last-modified'] as string }
  const later = await held(town, 'GetAutotradeSettings', own(town), since)
  const opened = '2024-03-13T13:30:00Z'
  expect([later.status, resultsOf(later)]).toMatchObject([
    200,
    [{ WillSyncToOpenStocksUSA: false, LastSyncStocksUSA: opened, SettingsLastUpdateUTC: opened }],
  ])
})

test('a broker that the operator switches off and on is news of the settings', async () => {
  const town = towns.native
  const [{ BrokerId = 0 } = {}] = resultsOf<{ BrokerId: number }>(
    await held(town, 'GetAutotradeSettings', own(town)),
  )
  for (const [isEnabled, at] of [
    [false, '2024-03-13T14:10:00Z'],
    [true, '2024-03-13T14:20:00Z'],
  ] as const) {
    const asked = await held(town, 'GetAutotradeSettings', own(town))
    const since = { 'if-modified-since': asked.headers['last-modified'] as string }
    expect((await held(town, 'GetAutotradeSettings', own(town), since)).status).toBe(304)
    await town.door('/clock', { now: at })
    const change = { needsAuthorization: undefined, needsCredentials: undefined, isEnabled }
    await changeBroker(town.platform.db.write, BrokerId, change, Date.parse(at))
    const later = await held(town, 'GetAutotradeSettings', own(town), since)
    expect(resultsOf(later)).toMatchObject([{ IsBrokerEnabled: isEnabled, SettingsLastUpdateUTC: at }])
  }
})

test('a number that two brokers gave: the caller’s own accounts first, never those of several people', async () => {
  const town = towns.native
  const { neighbour, westAdmin } = town.people
  const [live, paper] = [{ cash: 1000 }, { cash: 1000, kind: 'paper' }]
  await town.door('/accounts', [
    { account: 'U400', personId: neighbour.personId, ...live },
    { account: 'U400', personId: neighbour.personId, ...paper },
    { account: 'U401', personId: neighbour.personId, ...live },
    { account: 'U401', personId: westAdmin.personId, ...paper },
  ])
  const positions = async (who: 'neighbour' | 'westAdmin' | 'northAdmin', Account: string) =>
    told(await town.ask('GetAutoTradeOpenPositions', { Account }, town.people[who]))
  expect(await positions('neighbour', 'U400')).toEqual([200])
  expect(await positions('westAdmin', 'U400')).toEqual([200])
  expect(await positions('westAdmin', 'U401')).toEqual([200])
  expect(await positions('northAdmin', 'U401')).toEqual([400, '1128 Account'])
})
