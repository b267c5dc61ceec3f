/**
 * Who may call what: every route with every kind of caller. The rules are a copy made by hand of what the
 * platform promises, not the table that the product runs.
 */
import { describe, expect, test } from 'vitest'
import { hostNames, type OperationName, routesOf } from '../../src/contract/index.ts'
import { call, faultsOf } from '../support/http.ts'
import { apple, buildTown, type CitizenName, holderAccount, kycInfo } from './support/town.ts'

const town = await buildTown()
const { people, strategyId, signals } = town
const everybody = Object.keys(people) as CitizenName[]

/** Who is let in; everybody else is told 403. */
const viewers: CitizenName[] = ['owner', 'holder', 'westAdmin', 'northAdmin', 'operator']
const readers: CitizenName[] = ['holder', 'westAdmin', 'northAdmin', 'operator']
const owners: CitizenName[] = ['owner', 'operator']
const holders: CitizenName[] = ['holder', 'operator']

const admins: CitizenName[] = ['westAdmin', 'eastAdmin', 'northAdmin', 'southAdmin', 'operator']
/** The person must be a member of the admin's site; whoever has no site of the person is told 403. */
const geoAdmins: CitizenName[] = ['westAdmin', 'northAdmin', 'operator']

const { personId } = people.holder
const ofHolder = { Account: holderAccount, PersonId: personId }
const order = {
  ...{ StrategyId: strategyId, OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 1, TIF: '1' },
  PlatformSymbol: apple,
}

const siteAdmins: CitizenName[] = ['westAdmin', 'northAdmin', 'operator']
const profile = {
  ...{
    FirstName: 'A',
    LastName: 'B',
    ScreenName: 'C',
    Email: 'holder@example.org',
    Password: 'long enough words',
  },
  ...{ Language: 'eng', CountryCode: 'US', DivisionCode: 'NY' },
}
const onList = (ModificationAction: 'ADD' | 'DELETE') => ({
  ...{ PersonId: personId, WatchListId: town.watchListId, StrategyId: strategyId },
  ...{ ModificationSource: 'MEMBER', ModificationAction },
})

const rules: Partial<Record<OperationName, readonly [object, readonly CitizenName[], ...number[]]>> = {
  Hello: [{ Name: 'x' }, everybody],
  GetAccessKey: [{}, everybody],
  GetBrokers: [{}, everybody],
  GetSupportedSymbols: [{}, everybody],
  SearchStrategies: [{}, everybody],
  GetLeaderBoard: [{}, everybody],
  AddStrategy: [{ StrategyName: 'new', StartingCapital: 1 }, everybody],
  GetAutotraders: [{ StrategyId: strategyId }, everybody],
  NewStrategyOrder: [{ Order: order }, owners],
  ReplaceStrategyOrder: [{ Order: { ...order, CancelReplaceSignalId: signals.filled } }, owners, 409],
  CancelStrategyOrder: [{ StrategyId: strategyId, SignalId: signals.canceled }, owners],
  GetStrategyHistoricalClosedTrades: [{ StrategyId: strategyId }, everybody],
  SetDesiredPositions: [{ StrategyId: town.lonelyStrategyId, Positions: [] }, owners],
  GetStrategyActiveOrders: [{ StrategyIds: strategyId }, viewers],
  GetStrategyOpenPositions: [{ StrategyIds: strategyId }, viewers],
  GetStrategyHistoricalOrders: [{ StrategyId: strategyId }, viewers],
  GetAutotradedStrategies: [{ PersonId: personId }, readers],
  GetAutotradeSettings: [{ PersonId: personId }, readers],
  GetAutotradeActiveOrders: [ofHolder, readers],
  GetAutotradeHistoricalOrders: [ofHolder, readers],
  GetAutoTradeOpenPositions: [{ Account: holderAccount }, readers],
  GetSubscribedStrategies: [{ PersonId: personId }, readers],
  GetInvestorPlanSubscriptions: [{ PersonId: personId }, readers],
  GetManagerPlanSubscriptions: [{ PersonId: personId }, readers],
  GetSubscribers: [{ StrategyId: strategyId }, everybody],
  GetSubscriptionRevenue: [{ StrategyId: strategyId }, everybody],
  GetAutotradePlans: [{ WhiteLabelSiteId: town.sites.west }, ['westAdmin', 'operator']],
  GetSiteCatalog: [{ WhiteLabelSiteId: town.sites.west }, ['westAdmin', 'operator']],
  GetWlInstrumentationExport: [{ WhiteLabelSiteId: town.sites.west }, ['westAdmin', 'operator']],
  GetRule575Status: [{ WhiteLabelSiteId: town.sites.west }, ['westAdmin', 'operator']],
  GetStrategyMuxStatus: [{ WhiteLabelSiteId: town.sites.west }, ['westAdmin', 'operator']],
  UpdateSiteCatalog: [
    { WhiteLabelSiteId: town.sites.west, Action: 'Add', StrategyIds: [strategyId] },
    ['westAdmin', 'operator'],
  ],
  StartAutotrade: [{ ...ofHolder, StrategyId: strategyId, StocksEnabled: true }, holders],
  SetAutotradeSettings: [{ ...ofHolder, IsAutoSyncEnabled: true }, holders],
  GetDashBoard: [ofHolder, readers],
  SearchAccounts: [{}, everybody],
  SearchAutotradedAccounts: [{ StrategyId: strategyId }, admins],
  GetAutotradeStats: [{}, admins],
  GetPendingAccounts: [{}, admins],
  ApprovedAutotradeAccount: [{ ...ofHolder, BrokerId: 1 }, geoAdmins],
  DeleteApprovedAutotradeAccount: [{ ...ofHolder, Account: 'NONE' }, geoAdmins, 404],
  ApprovedBrokerTransmitAccount: [{ ...ofHolder, Account: 'NEW', BrokerId: 1 }, geoAdmins],
  DeleteApprovedBrokerTransmitAccount: [{ ...ofHolder, Account: 'NONE' }, geoAdmins, 404],
  NewAutotradeOrder: [{ ...ofHolder, Order: { ...order, Side: '2', Limit: 500 } }, holders],
  CancelAutotradeOrder: [{ ...ofHolder, OrderId: 'x' }, holders, 404],
  ReplaceAutotradeOrder: [{ ...ofHolder, OrderId: 'x', Price: 1 }, holders, 404],
  ResetPaperTrade: [ofHolder, holders, 409],
  GetAutotradeApprovalStatus: [{ RequestId: 'x' }, ['operator'], 404],
  StartSim: [{ PersonId: personId, StrategyIds: [town.lonelyStrategyId] }, ['westAdmin', 'operator']],
  StopSim: [{ PersonId: personId, StrategyId: strategyId }, ['westAdmin', 'operator'], 409],
  GetSimResults: [{}, everybody],
  StopAutotrade: [{ ...ofHolder, StrategyId: town.lonelyStrategyId }, holders, 404],
  GetProfile: [{ PersonId: personId }, everybody],
  GetPhoneAlreadyExists: [{ Phone: '+12125550123' }, everybody],
  GetGeoSites: [{}, everybody],
  SearchProfiles: [{ WhiteLabelSiteId: town.sites.west }, siteAdmins],
  GetWhiteLabelSiteUsers: [{ WhiteLabelSiteId: town.sites.west }, ['westAdmin', 'operator']],
  GetGeoSiteUsers: [{ GeoSite: 'north' }, ['northAdmin', 'operator']],
  // The address is taken: whoever is let in hears it.
  AddProfile: [{ ...profile, WhiteLabelSiteId: town.sites.west, IPAddress: '192.0.2.1' }, siteAdmins, 409],
  GetKYCScore: [{ UserToken: town.userToken, PersonId: personId }, siteAdmins],
  UpdateKYCScore: [{ UserToken: town.userToken, Score: 1 }, siteAdmins],
  AddKYCInfo: [{ UserToken: town.userToken, ...kycInfo }, siteAdmins],
  GetKYCInfo: [{ UserToken: town.userToken }, siteAdmins],
  GetWatchLists: [{ PersonId: personId }, readers],
  GetWatchListMembers: [{ PersonId: personId, WatchListId: town.watchListId }, readers],
  ManageWatchList: [onList('ADD'), holders],
  ManageWatchListByQuery: [onList('ADD'), holders],
}

describe('who may call an operation', () => {
  test.each(Object.entries(rules))('%s', async (name, [params, allowed, status = 200]) => {
    const operation = name as OperationName
    for (const host of hostNames) {
      if (!routesOf(host, 'native').some((route) => route.operation === operation)) continue
      const said = new Map<string, number>()
      for (const citizen of everybody) {
        const { key } = people[citizen]
        said.set(citizen, (await town.ask(operation, params, { key, host })).status)
      }
      const expected = everybody.map((citizen) => [citizen, allowed.includes(citizen) ? status : 403])
      expect([host, Object.fromEntries(said)]).toEqual([host, Object.fromEntries(expected)])
    }
  })
})

describe('no operation answers without a living key', () => {
  const routes = hostNames.flatMap((host) =>
    routesOf(host, 'native').map((route) => ({ ...route, path: `/${host.toLowerCase()}${route.path}` })),
  )
  const wrongKeys: [string, string | undefined, string][] = [
    ['no key', undefined, '2014 APIKey'],
    ['no key at all', 'ls_test_x_y_z', '2014 APIKey'],
    ['an expired key', town.expiredKey, '2015 APIKey'],
    ['a revoked key', town.revokedKey, '2015 APIKey'],
    ['a key with another end', `${people.owner.key.slice(0, -1)}#`, '2014 APIKey'],
  ]

  test.each(wrongKeys)('%s', async (_, key, fault) => {
    const wrong: string[] = []
    for (const { method, path } of routes) {
      const body = method === 'POST' || method === 'PUT' ? '{}' : undefined
      const answer = await call(town.platform.url, path, { method, body, key })
      const isRight = answer.status === 401 && faultsOf(answer).join() === fault
      if (!isRight) wrong.push(`${method} ${path}: ${answer.status} ${answer.text}`)
    }
    expect(wrong).toEqual([])
    expect(routes.length).toBeGreaterThan(150)
  })

  test('with a key, what is not offered yet says so or names what is wrong, whoever asks', async () => {
    const wrong: string[] = []
    for (const { method, path, operation } of routes) {
      if (operation in rules) continue
      const body = method === 'POST' || method === 'PUT' ? '{}' : undefined
      for (const citizen of ['stranger', 'operator'] as const) {
        const answer = await call(town.platform.url, path, { method, body, key: people[citizen].key })
        if (answer.status !== 503 && answer.status !== 400) wrong.push(`${citizen} ${path}: ${answer.text}`)
      }
    }
    expect(wrong).toEqual([])
  })
})

describe('what a caller may not see', () => {
  const foreign: [string, OperationName, object, string][] = [
    [
      'a strategy that is not there',
      'NewStrategyOrder',
      { Order: { ...order, StrategyId: 999 } },
      'Order.StrategyId',
    ],
    ['orders of no strategy', 'GetStrategyActiveOrders', { StrategyIds: 999 }, 'StrategyIds'],
    [
      'one strategy of several',
      'GetStrategyOpenPositions',
      { StrategyIds: `${town.lonelyStrategyId},${strategyId}` },
      'StrategyIds',
    ],
    ['a signal that is not there', 'GetStrategyHistoricalOrders', { SignalId: 999 }, 'SignalId'],
    ['settings of nobody', 'GetAutotradeSettings', { PersonId: 999 }, 'PersonId'],
    ['an account that is not there', 'GetAutoTradeOpenPositions', { Account: 'NONE' }, 'Account'],
    [
      'his own name with a foreign account',
      'GetAutotradeActiveOrders',
      { PersonId: people.stranger.personId, Account: holderAccount },
      'Account',
    ],
  ]
  test.each(foreign)(
    '%s is forbidden like a foreign one; the operator learns that there is none',
    async (_, operation, params, field) => {
      const denied = await town.ask(operation, params, { key: people.stranger.key })
      expect([denied.status, faultsOf(denied)]).toEqual([403, [`1002 ${field}`]])
      const answer = await town.ask(operation, params, { key: people.operator.key })
      expect([200, 404]).toContain(answer.status)
    },
  )

  test('the rows of a listing are cut to the caller', async () => {
    const seen = async (citizen: CitizenName) => {
      const answer = await town.ask('GetAutotraders', {}, { key: people[citizen].key })
      return (answer.json as { Results: unknown[] }).Results.length
    }
    const counts = await Promise.all(everybody.map(async (citizen) => [citizen, await seen(citizen)]))
    expect(Object.fromEntries(counts)).toEqual({
      ...{ owner: 1, holder: 1, westAdmin: 1, northAdmin: 1, operator: 1 },
      ...{ neighbour: 0, stranger: 0, eastAdmin: 0, southAdmin: 0 },
    })
  })
})
