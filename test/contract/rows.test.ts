/**
 * The table against a hand-written copy of the interface: which operations exist, where, with which method,
 * parameters and types. `!` required, `P` paginated. Written from the documents, not from the rows.
 */
import { describe, expect, expectTypeOf, test } from 'vitest'
import {
  type Dialect,
  type HostName,
  hostNames,
  type OperationName,
  type ParamsOf,
  type ResultOf,
  routesOf,
  rows,
} from '../../src/contract/index.ts'
import { type Field, isKnownTo } from '../../src/contract/schema.ts'

const interfaceTable = `
GET Autotrade GetAutotradedStrategies Gen,Geo,WL P PersonId:i64! Account:str
GET Autotrade GetAutotraders Gen,Geo,WL P StrategyId:i64 BrokerId:i32 WhiteLabelSiteId:i64
GET Autotrade GetAutotradeSettings Gen,Geo,WL - PersonId:i64! Account:str
PUT Autotrade SetAutotradeSettings Gen,Geo,WL - Account:str PersonId:i64 BrokerId:i32 IsAutotradeEnabled:bool IsAutoSyncEnabled:bool
GET Autotrade GetDashBoard Gen,Geo,WL - PersonId:i64! Account:str!
GET Autotrade SearchAccounts Gen,Geo,WL P Account:str PersonId:i64 BrokerId:i32 FirstName:str LastName:str Email:str WhiteLabelSiteId:i64 CountryCode:str IPAddress:str Phone:str
GET Autotrade GetAutotradeActiveOrders Gen,Geo,WL - Account:str! PersonId:i64! StrategyId:i64
GET Autotrade GetAutotradeHistoricalOrders Gen,Geo,WL P Account:str! PersonId:i64! BrokerId:i32 StrategyId:i64 OrderStatus:str StartDate:dt EndDate:dt
GET Autotrade GetAutoTradeOpenPositions Gen,Geo,WL - Account:str! StrategyId:i64
POST Autotrade NewAutotradeOrder Gen,Geo,WL - Account:str! PersonId:i64 Order:object!
DELETE Autotrade CancelAutotradeOrder Gen,Geo,WL - Account:str! PersonId:i64! OrderId:str!
PUT Autotrade ReplaceAutotradeOrder Gen,Geo,WL - Account:str! PersonId:i64 OrderId:str! Price:num!
GET Autotrade GetBrokers Gen,Geo,WL - IncludeDisabled:bool
POST Autotrade StartAutotrade Gen,Geo,WL - Account:str! PersonId:i64 BrokerId:i32 StrategyId:i64! ScalingPercentage:i64 FuturesEnabled:bool MaxFutures:i32 ForexEnabled:bool MaxForex:i32 StocksEnabled:bool MaxStocksDollars:i32 OptionsEnabled:bool ShortOptionsEnabled:bool MaxOptions:i32 DoNotJoinCurrentSystemPositions:bool AutoStopLoss:i64 AccountUserName:str AccountPassword:str
DELETE Autotrade StopAutotrade Gen,Geo,WL - Account:str! PersonId:i64! StrategyId:i64! BrokerId:i32 LeavePositionsOpen:bool TerminateStrategySubscription:bool
GET Autotrade GetSimResults Gen,Geo,WL - PersonId:i64 WhiteLabelSiteId:i64 ActiveOnly:bool MaxAccountDays:i32 MinLoginDays:i32
PUT Autotrade ResetPaperTrade Gen,Geo,WL - Account:str! PersonId:i64
POST Autotrade SyncPositionsToOpen Gen - Account:str! PersonId:i64 BrokerId:i32 StrategyId:i64
GET Autotrade GetAutotradeSyncStatusReport Geo - PersonId:i64! Account:str! StrategyId:i64
GET Autotrade SearchAutotradedAccounts Geo,WL P StrategyId:i64 BrokerId:i32 AutoSyncEnabled:bool AutoTradeEnabled:bool AutoTradingNow:bool StartDate:dt EndDate:dt
GET Autotrade GetAutotradeStats Geo,WL - WhiteLabelSiteId:i64 GeoSite:str BrokerId:i32 SecurityType:str Disabled:bool AutoSync:bool ManualConfirmation:bool BrokerEnabled:bool StartDate:dt EndDate:dt
GET Autotrade GetPendingAccounts Geo,WL - WhiteLabelSiteId:i64 GeoSite:str BrokerId:i32 SecurityType:str
POST Autotrade ApprovedAutotradeAccount Geo - Account:str! PersonId:i64! BrokerId:i32! WhiteLabelSiteId:i64 GeoSite:str IsCFD:bool
DELETE Autotrade ApprovedAutotradeAccount Geo - Account:str! PersonId:i64 BrokerId:i32 WhiteLabelSiteId:i64 GeoSite:str IsCFD:bool
POST Autotrade ApprovedBrokerTransmitAccount Geo - Account:str! PersonId:i64! BrokerId:i32! WhiteLabelSiteId:i64 GeoSite:str IsCFD:bool
DELETE Autotrade ApprovedBrokerTransmitAccount Geo - Account:str! PersonId:i64 BrokerId:i32 WhiteLabelSiteId:i64 GeoSite:str IsCFD:bool
GET Autotrade GetAutotradeApprovalStatus WL - RequestId:str!
GET Autotrade GetAutotradePlans WL - WhiteLabelSiteId:i64
POST Autotrade StartSim WL - PersonId:i64! StrategyIds:array!
DELETE Autotrade StopSim WL - PersonId:i64! StrategyId:i64!
POST General Hello Gen,Geo,WL - Name:str
GET General GetAccessKey Gen,Geo,WL -
POST General AddProfile Geo,WL - FirstName:str! LastName:str! ScreenName:str! Email:str! Password:str! Language:str! CountryCode:str! DivisionCode:str! City:str Street:str Street2:str ZipCode:str Phone:str Company:str WhiteLabelSiteId:i64 GeoSite:str IPAddress:str
PUT General UpdateProfile Gen,Geo,WL - PersonId:i64
GET General GetProfile Gen,Geo,WL - PersonId:i64 IncludeIconInResponse:bool@Geo,WL
GET General SearchProfiles Gen,Geo,WL P PersonId:i64 FirstName:str LastName:str Email:str WhiteLabelSiteId:i64 CountryCode:str DivisionCode:str IPAddress:str Phone:str IsAlive:bool IsEmailValidated:bool IncludeIconInResponse:bool@Geo,WL
GET General GetInvestorPlanSubscriptions Gen,Geo,WL P PersonId:i64! ActiveOnly:bool
GET General GetManagerPlanSubscriptions Gen,Geo,WL P PersonId:i64! ActiveOnly:bool
GET General GetSubscribedStrategies Gen,Geo,WL P PersonId:i64! ActiveOnly:bool
GET General GetWhiteLabelSiteUsers Geo,WL P WhiteLabelSiteId:i64!
GET General GetGeoSiteUsers Geo P GeoSite:str!
GET General GetKYCScore Geo,WL - UserToken:str PersonId:i64
PUT General UpdateKYCScore Geo,WL - UserToken:str! IsFinished:bool IsApproved:bool Score:i64
GET General GetKYCInfo Geo,WL - UserToken:str!
POST General AddKYCInfo Geo,WL - UserToken:str! FirstName:str! LastName:str! Email:str! Phone:str! IsPhoneVerified:bool Street:str! City:str! Province:str! PostCode:str! Country:str! PhotoId1:str PhotoId1Title:str PhotoId2:str PhotoId2Title:str
GET General GetGeoSites Geo -
GET General GetPhoneAlreadyExists Geo,WL - Phone:str!
GET General GetWlInstrumentationExport WL - WhiteLabelSiteId:i64! FromWhen:i64 ToWhen:i64 DaysBack:i64 PersonId:i64 SystemId:i64 SessionLimit:i64 SubscriptionLimit:i64 ExecutionLimit:i64
GET Strategies GetStrategyDetails Gen,Geo,WL - StrategyId:i64!
GET Strategies SearchStrategies Gen,Geo,WL P SecurityType:str CreatedBeforeDate:dt StrategyName:str StrategyOwnerPersonId:i64 WhiteLabelSiteId:i64 IsTradeOwnSystem:bool@Geo,WL
GET Strategies GetLeaderBoard Gen,Geo,WL - SecurityType:str
GET Strategies GetWatchLists Geo,WL P PersonId:i64!
GET Strategies GetWatchListMembers Geo,WL P PersonId:i64! WatchListId:i64!
POST Strategies ManageWatchList Geo,WL - PersonId:i64 ModificationSource:str! ModificationAction:str! WatchListId:i64 StrategyId:i64 WatchListName:str
DELETE Strategies ManageWatchList Geo,WL - PersonId:i64! ModificationSource:str! ModificationAction:str! WatchListId:i64 StrategyId:i64 WatchListName:str
GET Strategies GetSubscribers Gen,Geo,WL P StrategyId:i64! ActiveOnly:bool
GET Strategies GetSubscriptionRevenue Gen,Geo,WL P StrategyId:i64 StartDate:dt EndDate:dt StrategyOwnerPersonId:i64 SubscriberPersonId:i64 WhiteLabelSiteId:i64
POST Strategies NewStrategyOrder Gen,WL - Order:object!
DELETE Strategies CancelStrategyOrder Gen,WL - StrategyId:i64! SignalId:i64!
PUT Strategies ReplaceStrategyOrder Gen,WL - Order:object!
GET Strategies GetStrategyActiveOrders Gen,WL - StrategyIds:array! SecurityType:str OrderType:str
GET Strategies GetStrategyOpenPositions Gen,WL - StrategyIds:array! SecurityType:str
GET Strategies GetStrategyHistoricalOrders Gen,WL P StrategyId:i64 SignalId:i64 OrderStatus:str StartDate:dt EndDate:dt
POST Strategies AddStrategy Gen,WL - StrategyName:str! StartingCapital:i64 Account:str
PUT Strategies UpdateStrategy Gen,WL - StrategyId:i64
GET Strategies GetStrategyHistoricalEquity Gen,WL - StrategyId:i64! CommissionPlan:str
GET Strategies GetStrategyHistoricalDailyEquity Gen,WL - StrategyId:i64! CommissionPlan:str
GET Strategies GetStrategyHistoricalClosedTrades Gen,WL - CommissionPlan:str StrategyId:i64 PersonId:i64
POST Strategies SetDesiredPositions Gen - StrategyId:i64! Positions:array!
POST v2/Strategies SetDesiredPositions WL - StrategyId:i64! Positions:array!
GET Strategies GetSupportedSymbols WL P
GET Strategies GetRule575Status WL - WhiteLabelSiteId:i64 Days:i32 Session:str GroupBy:str
GET Strategies GetStrategyMuxStatus WL - WhiteLabelSiteId:i64 FamilyGuid:i64 VariantGuid:i64 DriftGrace:i64
GET Strategies GetSiteCatalog WL - WhiteLabelSiteId:i64
POST Strategies UpdateSiteCatalog WL - Action:str! StrategyIds:array! WhiteLabelSiteId:i64
`

const pageParams = ['Cursor:str', 'Limit:i32', 'AscendingOrder:bool']
const typeNames = {
  number: 'num',
  text: 'str',
  code: 'str',
  boolean: 'bool',
  instant: 'dt',
  array: 'array',
  object: 'object',
}

const typeName = ({ shape }: Field): string =>
  shape.kind === 'integer' ? `i${shape.bits}` : shape.kind === 'signal' ? 'signal' : typeNames[shape.kind]

/** What a host offers, one line per route, parameters in no order. */
function offered(host: HostName, dialect: Dialect): string[] {
  return routesOf(host, dialect).map(({ method, path, row }) => {
    const params = Object.entries(row.params)
      .filter(([, field]) => isKnownTo(field, { host, dialect }))
      .map(([name, field]) => `${name}:${typeName(field)}${field.presence === 'always' ? '!' : ''}`)
    return [method, path, ...params.sort()].join(' ')
  })
}

function documented(host: HostName): string[] {
  return interfaceTable
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [method, group, operation, hosts = '', paging, ...params] = line.split(' ')
      if (!hosts.split(',').includes(host)) return []
      const here = params.flatMap((param) => {
        const [name = '', only] = param.split('@')
        return only === undefined || only.split(',').includes(host) ? [name] : []
      })
      return [
        [method, `/${group}/${operation}`, ...[...here, ...(paging === 'P' ? pageParams : [])].sort()].join(
          ' ',
        ),
      ]
    })
}

describe('the table of operations', () => {
  test('has 71 operations in 74 rows', () => {
    expect(Object.keys(rows)).toHaveLength(74)
    const operations = Object.entries(rows).map(([name, row]) => row.operation ?? name)
    expect(new Set(operations).size).toBe(71)
  })

  test.each(hostNames)('offers on %s what the documents say, and nothing else', (host) => {
    expect(offered(host, 'native').sort()).toEqual(documented(host).sort())
  })

  test.each([
    [
      'Gen',
      [
        '/Strategies/GetSupportedSymbols',
        '/Strategies/GetWatchListMembers',
        '/Strategies/GetWatchLists',
        '/Strategies/ManageWatchList',
        '/v2/Strategies/SetDesiredPositions',
      ],
    ],
    ['Geo', []],
    ['WL', ['/Strategies/SetDesiredPositions']],
  ] as const)('adds to %s in compat only what existing programs call', (host, paths) => {
    const native = new Set(routesOf(host, 'native').map(({ path }) => path))
    const added = routesOf(host, 'compat').filter(({ path }) => !native.has(path))
    expect([...new Set(added.map(({ path }) => path))].sort()).toEqual(paths)
  })

  test('names no route twice', () => {
    for (const dialect of ['native', 'compat'] as const) {
      for (const host of hostNames) {
        const keys = routesOf(host, dialect).map(({ method, path }) => `${method} ${path}`)
        expect(new Set(keys).size).toBe(keys.length)
      }
    }
  })

  test('answers a bare boolean from two operations, and 503 from the two unavailable ones', () => {
    const marked = (mark: 'bare' | 'unavailable' | 'conditional') =>
      Object.entries(rows).flatMap(([name, row]) => (row[mark] ? [name] : []))
    expect(marked('bare')).toEqual(['StartAutotrade', 'StopAutotrade'])
    expect(marked('unavailable')).toEqual(['UpdateProfile', 'UpdateStrategy'])
    expect(marked('conditional')).toEqual(['GetAutotradeSettings', 'GetStrategyDetails'])
  })
})

describe('the derived types', () => {
  type Handlers = { [Op in OperationName]: (params: ParamsOf<Op>) => readonly ResultOf<Op>[] }

  test('a handler map with one missing does not compile', () => {
    // @ts-expect-error 73 handlers are missing
    const handlers: Handlers = { Hello: ({ Name }) => [`Hello, ${Name}!`] }
    expect(Object.keys(handlers)).toEqual(['Hello'])
  })

  test('parameters are there when they are mandatory or have a default', () => {
    const params: ParamsOf<'GetStrategyHistoricalOrders'> = { Limit: 1000, AscendingOrder: true }
    // @ts-expect-error Limit has a default, so a handler always gets it
    const without: ParamsOf<'GetStrategyHistoricalOrders'> = { AscendingOrder: true }
    expect([params, without]).toHaveLength(2)
    expectTypeOf(params.OrderStatus).toEqualTypeOf<'2' | '4' | 'C' | undefined>()
    expectTypeOf(params.StrategyId).toEqualTypeOf<number | bigint | undefined>()
    expectTypeOf(params.EndDate).toEqualTypeOf<number | undefined>()
  })

  test('results may leave out what may be absent, and nothing else', () => {
    // @ts-expect-error Name is always there
    const broker: ResultOf<'GetBrokers'> = { Id: 1, IsEnabled: true, ConnectionName: 'paper' }
    const subscription: ResultOf<'GetManagerPlanSubscriptions'> = {
      Id: 1,
      PersonId: 2,
      LicenseType: 'ManagerPlan',
      LicenseTypeId: 2,
      StartDate: 0,
      EndDate: null,
      IsRecurring: true,
      Cost: '29.00',
    }
    expect([broker, subscription]).toHaveLength(2)
  })
})
