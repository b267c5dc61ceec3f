/** Accounts over HTTP: switches, searches, what sites' admins see and approve, paper accounts that begin anew. */
import { beforeAll, describe, expect, test } from 'vitest'
import type { HostName, OperationName } from '../../src/contract/index.ts'
import { type Answer, call, resultsOf, told } from '../support/http.ts'
import { apple, buildTown, type CitizenName, holderAccount } from './support/town.ts'

const town = await buildTown()
const { people, strategyId, sites } = town
const { personId } = people.holder
const own = { Account: holderAccount, PersonId: personId }
const as = (who: CitizenName, operation: OperationName, params: object, host?: HostName): Promise<Answer> =>
  town.ask(operation, params, { key: people[who].key, ...(host && { host }) })
const settingsOf = async () =>
  resultsOf<Record<string, unknown>>(await as('holder', 'GetAutotradeSettings', own))[0]

describe('SetAutotradeSettings', () => {
  test('switches AutoSync off with a reason and on again', async () => {
    const off = await as('holder', 'SetAutotradeSettings', { ...own, IsAutoSyncEnabled: false })
    expect([off.status, resultsOf(off)]).toEqual([200, [true]])
    expect(await settingsOf()).toMatchObject({ IsSyncEnabled: false, SyncDisabledReason: 'DisabledByHolder' })
    await as('holder', 'SetAutotradeSettings', { ...own, IsAutoSyncEnabled: true })
    expect(await settingsOf()).toMatchObject({ IsSyncEnabled: true, IsAutotradeDisabled: false })
    expect(await settingsOf()).not.toHaveProperty('SyncDisabledReason')
  })

  test('a start enables what it had switched off, though the account follows the strategy already', async () => {
    await as('holder', 'SetAutotradeSettings', { ...own, IsAutotradeEnabled: false })
    expect(await settingsOf()).toMatchObject({ IsAutotradeDisabled: true })
    await as('holder', 'StartAutotrade', { ...own, StrategyId: strategyId, StocksEnabled: true })
    expect(await settingsOf()).toMatchObject({ IsAutotradeDisabled: false, StrategyId: strategyId })
  })

  test('without an account it means all of the person', async () => {
    await town.door('/accounts', [{ account: 'U101', personId, cash: 1 }])
    const both = await as('holder', 'SetAutotradeSettings', { PersonId: personId, IsAutoSyncEnabled: true })
    expect(resultsOf(both)).toEqual([true, true])
    const none = await as('stranger', 'SetAutotradeSettings', { IsAutoSyncEnabled: true })
    expect(told(none)).toEqual([404, '2013 Account'])
    // A platform admin may name anybody's account; who names nothing means himself, never everybody.
    const operators = await as('operator', 'SetAutotradeSettings', { IsAutotradeEnabled: false })
    expect(told(operators)).toEqual([404, '2013 Account'])
    expect(await settingsOf()).toMatchObject({ IsAutotradeDisabled: false })
    expect(told(await as('holder', 'SetAutotradeSettings', { ...own, BrokerId: 2 }))).toEqual([
      404,
      '2013 BrokerId',
    ])
  })
})

test('an account is read under the name of its holder alone, also by who may read both', async () => {
  const another = { Account: holderAccount, PersonId: people.neighbour.personId }
  expect(told(await as('westAdmin', 'GetAutotradeActiveOrders', own))).toEqual([200])
  expect(told(await as('westAdmin', 'GetAutotradeActiveOrders', another))).toEqual([403, '1002 Account'])
})

test('the settings show what the account is worth', async () => {
  expect(await settingsOf()).toMatchObject({
    NetLiquidationValue: 49_999,
    IsTradeLeader: false,
    Approved: true,
  })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 101, ask: 101.01 }])
  expect(await settingsOf()).toMatchObject({ NetLiquidationValue: 50_100 })
})

test('the dashboard measures a setup by what the account was worth when it began', async () => {
  const [row] = resultsOf(await as('holder', 'GetDashBoard', own))
  expect(row).toMatchObject({
    PersonId: personId,
    BrokerName: 'Scripted',
    Account: holderAccount,
    StrategyId: strategyId,
    StrategyName: 'Trend',
    StartDate: '2024-03-12T14:00:00Z',
    TodayReturn: 0.2,
    TotalReturn: 0.2,
  })
  expect(told(await as('holder', 'GetDashBoard', { PersonId: personId }))).toEqual([400, '1102 Account'])
})

test('where its holder lives, wherever an account is shown', async () => {
  await town.platform.db.write.run`update person set division_code = 'US-NY' where id = ${personId}::bigint`
  expect(await settingsOf()).toMatchObject({ Country: 'US', State: 'US-NY' })
  const [found] = resultsOf(await as('holder', 'SearchAccounts', {}))
  expect(found).toMatchObject({ CountryCode: 'US', DivisionCode: 'US-NY' })
  const pending = resultsOf<{ Account: string }>(await as('westAdmin', 'GetPendingAccounts', {}, 'WL'))
  const theirs = pending.find(({ Account }) => Account === 'U101')
  expect(theirs).toMatchObject({ Country: 'US', State: 'US-NY' })
})

describe('SearchAccounts', () => {
  beforeAll(
    () =>
      town.platform.db.write.run`
      update person set phone = '+12125550123', is_phone_verified = true, last_ip = '192.0.2.7'
      where id = ${personId}::bigint`,
  )

  const found = async (who: CitizenName, params: object) =>
    resultsOf<{ Account: string }>(await as(who, 'SearchAccounts', params)).map(({ Account }) => Account)

  test.each<[string, object, string[]]>([
    ['nothing asked', {}, ['U100', 'U101']],
    ['a part of the number', { Account: '10' }, ['U100', 'U101']],
    ['a part in another case', { Account: 'u10' }, []],
    ['a sign that is a wildcard elsewhere', { Account: '%' }, []],
    ['a part of the name in another case', { FirstName: 'OLD' }, ['U100', 'U101']],
    ['of the last name', { LastName: 't' }, ['U100', 'U101']],
    ['of the country', { CountryCode: 'us' }, ['U100', 'U101']],
    ['of the address', { Email: 'holder@' }, ['U100', 'U101']],
    ['of the address in another case', { Email: 'HOLDER@' }, []],
    ['the person', { PersonId: personId }, ['U100', 'U101']],
    ['another person', { PersonId: 999 }, []],
    ['a part of the verified telephone number', { Phone: '55501' }, ['U100', 'U101']],
    ['another number', { Phone: '55502' }, []],
    ['a part of the last address', { IPAddress: '192.0.2.' }, ['U100', 'U101']],
    ['another address', { IPAddress: '198.51.' }, []],
    ['a number and an address that do not go together', { Phone: '55501', IPAddress: '198.51.' }, []],
    ['another broker', { BrokerId: 2 }, []],
    ['a telephone that nobody has', { Phone: '+2' }, []],
    ['the site', { WhiteLabelSiteId: sites.west }, ['U100', 'U101']],
    ['another site', { WhiteLabelSiteId: sites.east }, []],
  ])('%s', async (_, params, expected) => {
    expect(await found('westAdmin', params)).toEqual(expected)
  })

  test('a holder finds own accounts, an admin those of the site, the operator all', async () => {
    await town.door('/accounts', [
      { account: 'S1', personId: people.stranger.personId, cash: 1, kind: 'paper' },
    ])
    expect(await found('holder', {})).toEqual(['U100', 'U101'])
    expect(await found('stranger', {})).toEqual(['S1'])
    for (const who of ['eastAdmin', 'northAdmin', 'neighbour'] as const)
      expect(await found(who, {})).toEqual([])
    expect(await found('operator', {})).toEqual(['U100', 'U101', 'S1'])
    const [row] = resultsOf(await as('westAdmin', 'SearchAccounts', { Limit: 1 }))
    expect(row).toMatchObject({
      PersonId: personId,
      BrokerName: 'Scripted',
      BrokerId: 1,
      FirstName: 'holder',
      GeoSite: 'north',
      WhiteLabelSiteId: sites.west,
      CountryCode: 'US',
      AuthenticatedDate: '2024-03-12T14:00:00Z',
    })
  })
})

describe('SearchAutotradedAccounts', () => {
  const find = (params: object, who: CitizenName = 'westAdmin') =>
    as(who, 'SearchAutotradedAccounts', params, 'WL')

  test.each<[object, number]>([
    [{ StrategyId: 1 }, 1],
    [{ StrategyId: 2 }, 0],
    [{ BrokerId: 1 }, 1],
    [{ AutoSyncEnabled: true }, 1],
    [{ AutoSyncEnabled: false }, 0],
    [{ AutoTradeEnabled: true }, 1],
    [{ AutoTradingNow: true }, 1],
    [{ AutoTradingNow: false }, 0],
    [{ StartDate: '2024-03-12', EndDate: '2024-03-12' }, 1],
    [{ StartDate: '2024-03-13' }, 0],
    [{ EndDate: '2024-03-11' }, 0],
  ])('%j', async (params, count) => {
    expect(resultsOf(await find(params)).length).toBe(count)
  })

  test('asks for one parameter at least, and keeps to the site', async () => {
    expect(told(await find({}))).toEqual([400, '1128 StrategyId'])
    expect(resultsOf(await find({ StrategyId: strategyId }, 'eastAdmin'))).toEqual([])
    const [row] = resultsOf(await as('northAdmin', 'SearchAutotradedAccounts', { BrokerId: 1 }, 'Geo'))
    expect(row).toMatchObject({
      Account: holderAccount,
      StrategyName: 'Trend',
      IsAutotrading: true,
      IsSyncEnabled: true,
      IsAutotradeDisabled: false,
      SettingsLastUpdateUTC: '2024-03-12T14:00:00Z',
    })
  })
})

describe('GetAutotradeStats', () => {
  const stats = async (params: object, who: CitizenName = 'westAdmin') =>
    resultsOf<Record<string, unknown>>(
      await as(who, 'GetAutotradeStats', params, who === 'northAdmin' ? 'Geo' : 'WL'),
    )

  test('counts the strategies of each account by class', async () => {
    const rows = await stats({})
    expect(rows.map(({ Account }) => Account)).toEqual(['U100', 'U101'])
    expect(rows[0]).toMatchObject({
      AutotradedStocksStrategies: 1,
      AutotradedFuturesStrategies: 0,
      AutotradedCryptoStrategies: 0,
      UniqueAutotradedStrategies: 1,
      UniqueBrokertransmitStrategies: 0,
      UniquePlatformtransmitStrategies: 0,
      Currency: 'USD',
      IsDisabled: false,
      IsBrokerEnabled: true,
      NetLiquidationValue: 50_100,
      IsSyncEnabled: true,
      IsManualConfirmationEnabled: false,
      WhiteLabelSiteId: sites.west,
      GeoSiteId: 'north',
      DateUtc: '2024-03-12T14:00:00Z',
    })
    expect(rows[1]).toMatchObject({ UniqueAutotradedStrategies: 0 })
  })

  test.each<[object, number]>([
    [{ SecurityType: 'CS' }, 1],
    [{ SecurityType: 'FUT' }, 0],
    [{ Disabled: true }, 0],
    [{ AutoSync: true }, 2],
    [{ ManualConfirmation: true }, 0],
    [{ BrokerEnabled: false }, 0],
    [{ BrokerId: 7 }, 0],
    [{ SecurityType: 'CS', EndDate: '2024-03-11' }, 0],
    [{ WhiteLabelSiteId: sites.west }, 2],
  ])('%j', async (params, count) => {
    expect((await stats(params)).length).toBe(count)
  })

  test('what is still to come is told as it stands now', async () => {
    expect(await stats({ EndDate: '2030-01-01' })).toEqual(await stats({}))
  })

  test('a strategy counts from its start to its stop', async () => {
    const counted = async () => (await stats({}))[1]?.UniqueAutotradedStrategies
    const setup = { Account: 'U101', PersonId: personId, StrategyId: town.lonelyStrategyId }
    expect(told(await as('holder', 'StartAutotrade', { ...setup, StocksEnabled: true }))).toEqual([200])
    expect(await counted()).toBe(1)
    expect(told(await as('holder', 'StopAutotrade', setup))).toEqual([200])
    expect(await counted()).toBe(0)
  })

  test("a region's admin may name a site below, nobody another's", async () => {
    expect((await stats({ WhiteLabelSiteId: sites.west, GeoSite: 'north' }, 'northAdmin')).length).toBe(2)
    const wrong: [CitizenName, object, string][] = [
      ['westAdmin', { WhiteLabelSiteId: sites.east }, '1002 WhiteLabelSiteId'],
      ['northAdmin', { WhiteLabelSiteId: sites.east }, '1002 WhiteLabelSiteId'],
      ['northAdmin', { GeoSite: 'south' }, '1002 GeoSite'],
      ['westAdmin', { GeoSite: 'north' }, '1002 GeoSite'],
      ['holder', {}, '1002 WhiteLabelSiteId'],
    ]
    for (const [who, params, fault] of wrong) {
      const host = who === 'northAdmin' ? 'Geo' : 'WL'
      expect(told(await as(who, 'GetAutotradeStats', params, host))).toEqual([403, fault])
    }
  })
})

test('a paper account begins anew, a live one does not', async () => {
  const { stranger } = people
  const paper = { Account: 'S1', PersonId: stranger.personId }
  const start = { ...paper, StrategyId: strategyId, StocksEnabled: true }
  await town.door('/accounts', [{ account: 'S2', personId: stranger.personId, cash: 20_000, kind: 'paper' }])
  const fresh = { ...start, Account: 'S2', DoNotJoinCurrentSystemPositions: true }
  expect((await as('stranger', 'StartAutotrade', fresh)).text).toBe('true')
  await town.door('/instruments', [{ symbol: 'MSFT', securityType: 'CS' }])
  await town.door('/quotes', [{ symbol: 'MSFT', bid: 49.9, ask: 50 }])
  const Order = {
    StrategyId: strategyId,
    OrderType: '1',
    Side: '1',
    OrderQuantity: 100,
    TIF: '0',
    PlatformSymbol: { ...apple, FullSymbol: 'MSFT' },
  }
  await as('owner', 'NewStrategyOrder', { Order })
  await as('owner', 'NewStrategyOrder', { Order: { ...Order, OrderType: '2', Limit: 40 } })
  const positions = async () =>
    resultsOf(await as('stranger', 'GetAutoTradeOpenPositions', { Account: 'S2' })).length
  const active = async () =>
    resultsOf(await as('stranger', 'GetAutotradeActiveOrders', { ...paper, Account: 'S2' })).length
  expect([await positions(), await active()]).toEqual([1, 1])
  const reset = await as('stranger', 'ResetPaperTrade', { ...paper, Account: 'S2' })
  expect([reset.status, resultsOf(reset)]).toEqual([200, [true]])
  expect([await positions(), await active()]).toEqual([0, 0])
  const [settings] = resultsOf(await as('stranger', 'GetAutotradeSettings', { ...paper, Account: 'S2' }))
  expect(settings).toMatchObject({ NetLiquidationValue: 20_000, AccountType: 1 })
  const [dash] = resultsOf(await as('stranger', 'GetDashBoard', { ...paper, Account: 'S2' }))
  expect(dash).toMatchObject({ TotalReturn: 0 })
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
  expect(told(await as('holder', 'ResetPaperTrade', own))).toEqual([409, '3016 Account'])
  await town.door('/accounts', [{ account: 'S9', personId: stranger.personId, cash: 1, kind: 'sim' }])
  const simulated = await as('stranger', 'ResetPaperTrade', { ...paper, Account: 'S9' })
  expect([simulated.status, resultsOf(simulated)]).toEqual([200, [true]])
})

test('what was held over a close counts from there on', async () => {
  await town.door('/clock', { now: '2024-03-13T14:00:00Z' })
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 106, ask: 106.01 }])
  const [row] = resultsOf(await as('holder', 'GetDashBoard', own))
  // 100 shares from 101 to 106, of the 50,090 that 50,000 had become.
  expect(row).toMatchObject({ TodayReturn: 0.99820323 })
})

test('a paper account begins anew whatever has happened in it, and again', async () => {
  const { stranger } = people
  const paper = { Account: 'S3', PersonId: stranger.personId }
  const [added] = resultsOf<{ StrategyId: number }>(
    await as('owner', 'AddStrategy', { StrategyName: 'Shorts', StartingCapital: 100_000 }),
  )
  const StrategyId = added?.StrategyId ?? 0
  await town.door('/accounts', [{ account: 'S3', personId: stranger.personId, cash: 20_000, kind: 'paper' }])
  await as('stranger', 'StartAutotrade', { ...paper, StrategyId, StocksEnabled: true })
  await town.door('/instruments', [{ symbol: 'SHRT', securityType: 'CS' }])
  const quote = (price: number) => town.door('/quotes', [{ symbol: 'SHRT', bid: price, ask: price }])
  const sell = (OrderQuantity: number) => {
    const PlatformSymbol = { ...apple, FullSymbol: 'SHRT' }
    const Order = { StrategyId, OrderType: '1', Side: '2', OrderQuantity, TIF: '0', PlatformSymbol }
    return as('owner', 'NewStrategyOrder', { Order })
  }
  const stands = async (quantities: number[], value: number) => {
    const held = resultsOf<{ Quantity: number }>(
      await as('stranger', 'GetAutoTradeOpenPositions', { Account: 'S3' }),
    )
    expect(held.map(({ Quantity }) => Quantity)).toEqual(quantities)
    const [settings] = resultsOf(await as('stranger', 'GetAutotradeSettings', paper))
    expect(settings).toMatchObject({ NetLiquidationValue: value })
    expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
  }
  await quote(50)
  await sell(30)
  await town.door('/corporate-actions', [
    { kind: 'dividend', symbol: 'SHRT', date: '2024-03-14', amount: 1 },
    { kind: 'split', symbol: 'SHRT', date: '2024-03-15', new: 1, old: 4 },
  ])
  await town.door('/clock', { now: '2024-03-15T14:00:00Z' })
  await quote(220)
  // Seven and a half shares short, of which the half was bought back at 200; 30 were paid as a dividend.
  await stands([-7], 20_000 - 30 - 7 * 20)
  expect((await as('stranger', 'ResetPaperTrade', paper)).status).toBe(200)
  await stands([], 20_000)
  await sell(8)
  await quote(230)
  await stands([-8], 20_000 - 80)
  expect((await as('stranger', 'ResetPaperTrade', paper)).status).toBe(200)
  await stands([], 20_000)
})

test('a paper account that begins anew drops what is on its way', async () => {
  const { stranger } = people
  const paper = { Account: 'S4', PersonId: stranger.personId }
  const [added] = resultsOf<{ StrategyId: number }>(
    await as('owner', 'AddStrategy', { StrategyName: 'Late', StartingCapital: 100_000 }),
  )
  const StrategyId = added?.StrategyId ?? 0
  await town.door('/accounts', [{ account: 'S4', personId: stranger.personId, cash: 20_000, kind: 'paper' }])
  await as('stranger', 'StartAutotrade', { ...paper, StrategyId, StocksEnabled: true })
  await town.door('/instruments', [{ symbol: 'LATE', securityType: 'CS' }])
  const quote = (price: number) => town.door('/quotes', [{ symbol: 'LATE', bid: price, ask: price }])
  const order = (more: object) => {
    const Order = { StrategyId, OrderType: '1', Side: '1', OrderQuantity: 20, TIF: '1', ...more }
    const PlatformSymbol = { ...apple, FullSymbol: 'LATE' }
    return as('owner', 'NewStrategyOrder', { Order: { ...Order, PlatformSymbol } })
  }
  await quote(50)
  await town.door('/broker', { hold: true })
  // One that is filled when the account begins anew, and one that the market would reach after it.
  await order({})
  await order({ OrderType: '2', Limit: 40 })
  expect((await as('stranger', 'ResetPaperTrade', paper)).status).toBe(200)
  await quote(39)
  await town.door('/broker', { hold: false })
  await quote(60)
  const held = await as('stranger', 'GetAutoTradeOpenPositions', { Account: 'S4' })
  const working = await as('stranger', 'GetAutotradeActiveOrders', paper)
  expect([resultsOf(held), resultsOf(working)]).toEqual([[], []])
  const [settings] = resultsOf(await as('stranger', 'GetAutotradeSettings', paper))
  expect(settings).toMatchObject({ NetLiquidationValue: 20_000, IsSyncEnabled: true })
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
