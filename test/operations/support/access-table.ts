/**
 * Who may call what, written down by hand from what the platform promises and from nothing that it runs. A rule says
 * of each kind of caller what becomes of a call about an own object, one of the same site, one of another site, and
 * one that does not exist: `+` let in, `-` forbidden (403), `0` absent (404).
 */
import type { OperationName } from '../../../src/contract/index.ts'
import { type Household, symbol } from './city.ts'
import { kycInfo } from './town.ts'

/** Who has a key that lives; the admins are of the site of most objects, and of another one. */
export const callers = [
  'unrelated',
  'accountOwner',
  'strategyOwner',
  'geoOwn',
  'geoOther',
  'wlOwn',
  'wlOther',
  'platform',
] as const
export type CallerKind = (typeof callers)[number]

/** Relations of the caller to the object, in the order of a rule's signs. */
export const relations = ['own', 'sameSite', 'otherSite', 'missing'] as const
export type Relation = (typeof relations)[number]

type Rule = Readonly<Record<CallerKind, string>>

const rule = (users: string, geo: string, whiteLabel: string, platform: string): Rule => ({
  unrelated: users,
  accountOwner: users,
  strategyOwner: users,
  geoOwn: geo,
  geoOther: geo,
  wlOwn: whiteLabel,
  wlOther: whiteLabel,
  platform,
})

/** No object, or one that anybody may ask about: rows are cut to the caller instead. */
const anybody = rule('++++', '++++', '++++', '++++')
const publicPerson = rule('+++0', '+++0', '+++0', '+++0')
const person = rule('+---', '+---', '+---', '+++0')
const personOrAdmin = rule('+---', '++--', '++--', '+++0')
/** A private strategy that the caller owns or, as the account owner, follows. */
const visible = rule('+000', '++00', '++00', '+++0')
const viewer = rule('+---', '++--', '++--', '+++0')
/** Of users the owner and, as the account owner, who follows it; to admins every strategy is as one without customers. */
const follower = rule('+---', '++++', '++++', '+++0')
const strategyOwner = { ...rule('+---', '+---', '+---', '+++0'), accountOwner: '----' }
const admin = rule('----', '++--', '++--', '+++0')
const anyAdmin = rule('----', '++++', '++++', '++++')
/** Of a white-label site by its id. The platform and the regions have ids of other kinds. */
const whiteLabelAdmin = rule('----', '----', '++--', '00+0')
const adminOfWhiteLabel = rule('----', '-+--', '++--', '00+0')
/** Of a region by its code. */
const geoAdmin = rule('----', '++--', '----', '00+0')

export interface Entry {
  readonly operation: OperationName
  readonly rule: Rule
  readonly params: (of: Household, given: Given) => object
  /** What becomes of a call that is let in (200). */
  readonly in?: readonly number[]
  /** Whether a call that is let in about what exists shows the marker of the person, or of the strategy. */
  readonly shows?: 'person' | 'strategy'
}

/** What all objects share. */
export interface Given {
  readonly commonId: number
  readonly lonelyId: number
}

const account = ({ account: Account, personId: PersonId }: Household) => ({ Account, PersonId })
const site = ({ siteId: WhiteLabelSiteId }: Household) => ({ WhiteLabelSiteId })
const region = ({ geoSite: GeoSite }: Household) => ({ GeoSite })
const strategy = ({ strategyId: StrategyId }: Household) => ({ StrategyId })
const someone = ({ personId: PersonId }: Household) => ({ PersonId })
const token = ({ userToken: UserToken }: Household) => ({ UserToken })
const order = { ...symbol, OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 1, TIF: '1' } as const
const closing = { ...order, Side: '2', Limit: 500 } as const
const member = (of: Household, { commonId }: Given) => ({
  PersonId: of.personId,
  WatchListId: of.watchListId,
  StrategyId: commonId,
  ModificationSource: 'MEMBER',
  ModificationAction: 'ADD',
})
/** The address is taken: whoever is let in hears it. */
const profile = {
  FirstName: 'A',
  LastName: 'B',
  ScreenName: 'C',
  Email: 'holder@example.org',
  Password: 'long enough words',
  Language: 'eng',
  CountryCode: 'US',
  DivisionCode: 'NY',
} as const
const fresh = (of: Household) => ({ ...account(of), Account: `N${of.personId}` })

export const accessTable: readonly Entry[] = [
  { operation: 'Hello', rule: anybody, params: () => ({ Name: 'x' }) },
  { operation: 'GetAccessKey', rule: anybody, params: () => ({}) },
  { operation: 'GetBrokers', rule: anybody, params: () => ({}) },
  { operation: 'GetGeoSites', rule: anybody, params: () => ({}) },
  { operation: 'GetSupportedSymbols', rule: anybody, params: () => ({}) },
  { operation: 'AddStrategy', rule: anybody, params: () => ({ StrategyName: 'new', StartingCapital: 1 }) },
  { operation: 'GetPhoneAlreadyExists', rule: anybody, params: () => ({ Phone: '+12125550123' }) },

  { operation: 'GetStrategyDetails', rule: visible, params: strategy, shows: 'strategy' },
  {
    operation: 'SearchStrategies',
    rule: anybody,
    params: ({ personId }) => ({ StrategyOwnerPersonId: personId }),
  },
  { operation: 'GetLeaderBoard', rule: anybody, params: () => ({}) },
  { operation: 'GetStrategyHistoricalEquity', rule: visible, params: strategy, shows: 'strategy' },
  { operation: 'GetStrategyHistoricalDailyEquity', rule: visible, params: strategy, shows: 'strategy' },
  { operation: 'GetStrategyHistoricalClosedTrades', rule: visible, params: strategy },
  {
    operation: 'GetStrategyActiveOrders',
    rule: viewer,
    params: ({ strategyId }) => ({ StrategyIds: strategyId }),
  },
  {
    operation: 'GetStrategyOpenPositions',
    rule: viewer,
    params: ({ strategyId }) => ({ StrategyIds: strategyId }),
  },
  { operation: 'GetStrategyHistoricalOrders', rule: viewer, params: strategy, shows: 'strategy' },
  {
    operation: 'GetStrategyHistoricalOrders',
    rule: viewer,
    params: ({ signalId }) => ({ SignalId: signalId }),
    shows: 'strategy',
  },
  {
    operation: 'NewStrategyOrder',
    rule: strategyOwner,
    params: (of) => ({ Order: { ...order, ...strategy(of) } }),
  },
  {
    operation: 'CancelStrategyOrder',
    rule: strategyOwner,
    params: (of) => ({ ...strategy(of), SignalId: of.signalId }),
  },
  {
    operation: 'ReplaceStrategyOrder',
    rule: strategyOwner,
    params: (of) => ({ Order: { ...order, ...strategy(of), CancelReplaceSignalId: of.signalId } }),
    in: [409],
  },
  {
    operation: 'SetDesiredPositions',
    rule: strategyOwner,
    params: (of) => ({ ...strategy(of), Positions: [] }),
  },
  { operation: 'UpdateStrategy', rule: anybody, params: strategy, in: [503] },

  { operation: 'GetSubscribers', rule: follower, params: strategy },
  { operation: 'GetSubscriptionRevenue', rule: anybody, params: strategy },
  {
    operation: 'GetSubscriptionRevenue',
    rule: anybody,
    params: ({ personId }) => ({ SubscriberPersonId: personId }),
  },
  { operation: 'GetAutotraders', rule: anybody, params: (_, { commonId }) => ({ StrategyId: commonId }) },
  { operation: 'GetAutotraders', rule: anybody, params: strategy },

  { operation: 'GetAutotradedStrategies', rule: personOrAdmin, params: someone, shows: 'person' },
  { operation: 'GetAutotradeSettings', rule: personOrAdmin, params: account, shows: 'person' },
  { operation: 'GetDashBoard', rule: personOrAdmin, params: account, shows: 'person' },
  { operation: 'GetAutotradeActiveOrders', rule: personOrAdmin, params: account },
  { operation: 'GetAutotradeHistoricalOrders', rule: personOrAdmin, params: account },
  {
    operation: 'GetAutoTradeOpenPositions',
    rule: personOrAdmin,
    params: ({ account: Account }) => ({ Account }),
  },
  { operation: 'GetAutotradeSyncStatusReport', rule: personOrAdmin, params: account, shows: 'person' },
  { operation: 'GetSubscribedStrategies', rule: personOrAdmin, params: someone },
  { operation: 'GetInvestorPlanSubscriptions', rule: personOrAdmin, params: someone },
  { operation: 'GetManagerPlanSubscriptions', rule: personOrAdmin, params: someone },
  { operation: 'GetWatchLists', rule: personOrAdmin, params: someone, shows: 'person' },
  {
    operation: 'GetWatchListMembers',
    rule: personOrAdmin,
    params: (of) => ({ ...someone(of), WatchListId: of.watchListId }),
  },
  {
    operation: 'GetAutotradeApprovalStatus',
    rule: personOrAdmin,
    params: ({ requestId }) => ({ RequestId: requestId }),
  },

  {
    operation: 'StartAutotrade',
    rule: person,
    params: (of, { commonId }) => ({ ...account(of), StrategyId: commonId, StocksEnabled: true }),
  },
  {
    operation: 'StopAutotrade',
    rule: person,
    params: (of) => ({ ...account(of), StrategyId: 999_999 }),
    in: [404],
  },
  {
    operation: 'SetAutotradeSettings',
    rule: person,
    params: (of) => ({ ...account(of), IsAutoSyncEnabled: true }),
  },
  {
    operation: 'NewAutotradeOrder',
    // It has no 404.
    rule: { ...person, platform: '+++-' },
    params: (of) => ({ ...account(of), Order: closing }),
  },
  {
    operation: 'CancelAutotradeOrder',
    rule: person,
    params: (of) => ({ ...account(of), OrderId: 'x' }),
    in: [404],
  },
  {
    operation: 'ReplaceAutotradeOrder',
    rule: person,
    params: (of) => ({ ...account(of), OrderId: 'x', Price: 1 }),
    in: [404],
  },
  { operation: 'ResetPaperTrade', rule: person, params: account, in: [409] },
  { operation: 'SyncPositionsToOpen', rule: person, params: account },
  { operation: 'ManageWatchList', rule: person, params: member },
  { operation: 'ManageWatchListByQuery', rule: person, params: member },
  { operation: 'UpdateProfile', rule: anybody, params: someone, in: [503] },

  { operation: 'SearchAccounts', rule: anybody, params: ({ account: Account }) => ({ Account }) },
  { operation: 'GetSimResults', rule: anybody, params: () => ({}) },
  { operation: 'GetSimResults', rule: personOrAdmin, params: someone },
  { operation: 'GetProfile', rule: publicPerson, params: someone },
  { operation: 'SearchProfiles', rule: anyAdmin, params: someone },
  { operation: 'SearchProfiles', rule: adminOfWhiteLabel, params: site },
  {
    operation: 'AddProfile',
    rule: adminOfWhiteLabel,
    params: (of) => ({ ...profile, ...site(of), IPAddress: '192.0.2.1' }),
    in: [409],
  },
  { operation: 'AddProfile', rule: geoAdmin, params: (of) => ({ ...profile, ...region(of) }), in: [409] },
  { operation: 'GetWhiteLabelSiteUsers', rule: whiteLabelAdmin, params: site },
  { operation: 'GetGeoSiteUsers', rule: geoAdmin, params: region },

  { operation: 'GetKYCScore', rule: admin, params: (of) => ({ ...token(of), ...someone(of) }) },
  { operation: 'UpdateKYCScore', rule: admin, params: (of) => ({ ...token(of), Score: 1 }) },
  { operation: 'GetKYCInfo', rule: admin, params: token },
  { operation: 'AddKYCInfo', rule: admin, params: (of) => ({ ...kycInfo, ...token(of) }) },

  {
    operation: 'SearchAutotradedAccounts',
    rule: anyAdmin,
    params: (_, { commonId }) => ({ StrategyId: commonId }),
  },
  { operation: 'GetAutotradeStats', rule: adminOfWhiteLabel, params: site },
  { operation: 'GetAutotradeStats', rule: geoAdmin, params: region },
  { operation: 'GetPendingAccounts', rule: adminOfWhiteLabel, params: site },
  { operation: 'GetPendingAccounts', rule: geoAdmin, params: region },
  { operation: 'ApprovedAutotradeAccount', rule: admin, params: (of) => ({ ...fresh(of), BrokerId: 1 }) },
  {
    operation: 'DeleteApprovedAutotradeAccount',
    rule: admin,
    params: (of) => ({ ...account(of), Account: 'NONE' }),
    in: [404],
  },
  {
    operation: 'ApprovedBrokerTransmitAccount',
    rule: admin,
    params: (of) => ({ ...fresh(of), BrokerId: 1 }),
  },
  {
    operation: 'DeleteApprovedBrokerTransmitAccount',
    rule: admin,
    params: (of) => ({ ...account(of), Account: 'NONE' }),
    in: [404],
  },
  {
    operation: 'StartSim',
    rule: admin,
    params: (of, { lonelyId }) => ({ ...someone(of), StrategyIds: [lonelyId] }),
  },
  { operation: 'StopSim', rule: admin, params: (of) => ({ ...someone(of), StrategyId: 999_999 }), in: [404] },

  { operation: 'GetAutotradePlans', rule: whiteLabelAdmin, params: site },
  { operation: 'GetSiteCatalog', rule: whiteLabelAdmin, params: site },
  {
    operation: 'UpdateSiteCatalog',
    rule: whiteLabelAdmin,
    params: (of, { lonelyId }) => ({ ...site(of), Action: 'Add', StrategyIds: [lonelyId] }),
  },
  { operation: 'GetWlInstrumentationExport', rule: whiteLabelAdmin, params: site },
  {
    operation: 'GetWlInstrumentationExport',
    rule: whiteLabelAdmin,
    params: (of) => ({ ...site(of), ...someone(of) }),
  },
  { operation: 'GetRule575Status', rule: whiteLabelAdmin, params: site },
  { operation: 'GetStrategyMuxStatus', rule: whiteLabelAdmin, params: site },
]
