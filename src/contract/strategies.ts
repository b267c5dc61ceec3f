/** The Strategies group: details and search, orders and positions, history, subscribers, catalog, watch lists. */
import { atLeastOne, datesInOrder, neededWhen } from './needs.ts'
import { newOrderNeeds, positionNeeds, replaceOrderNeeds } from './order-needs.ts'
import { Order, OrderType, SignalIds, StrategyOrderInput } from './resources/order.ts'
import { DesiredPositions, Position, PositionInput } from './resources/position.ts'
import { CatalogUpdateResult, Rule575Status, SiteCatalogRow, StrategyMuxStatus } from './resources/site.ts'
import {
  HistoricalTrade,
  StrategyBasicDetails,
  StrategyDailyEquity,
  StrategyDetails,
  StrategyIdResult,
  StrategyMonthlyEquity,
} from './resources/strategy.ts'
import { StrategySubscriber, WatchList, WatchListMember } from './resources/subscription.ts'
import { SecurityType, SupportedSymbol } from './resources/symbol.ts'
import { type Given, get, page, post, put, remove } from './row.ts'
import {
  array,
  Bool,
  code,
  Dt,
  EndDt,
  hostNames,
  I64,
  i32,
  i64,
  maybe,
  on,
  optional,
  Str,
  text,
  withDefault,
} from './schema.ts'

const orderHosts = ['Gen', 'WL'] as const
const watchList = { hosts: ['Geo', 'WL'], compatHosts: ['Gen'] } as const
const visible = { rule: 'visibleStrategy', strategy: 'StrategyId' } as const
const person = { rule: 'person', person: 'PersonId' } as const
const siteAdmin = { rule: 'siteAdmin', kinds: ['whitelabel'], site: 'WhiteLabelSiteId' } as const
const catalogAdmin = { ...siteAdmin, permission: 'catalog' } as const
const reportsAdmin = { ...siteAdmin, permission: 'reports' } as const

/** Of a number that is entered it is a hundredth, so there is room for what is sold short and for gains. */
const startingCapitalMax = 10_000_000_000
const CommissionPlan = withDefault(code('0', '1', '3', '4', '5'), '0')
const StrategyIds = array(I64, { min: 1, max: 1000 })

type Params = Given['params']
const addsList = (params: Params): boolean =>
  params.ModificationSource === 'LIST' && params.ModificationAction === 'ADD'

const watchListChange = {
  ModificationSource: code('LIST', 'MEMBER'),
  ModificationAction: code('ADD', 'DELETE'),
  WatchListId: optional(I64),
  StrategyId: optional(I64),
  WatchListName: optional(text(256, /\S/)),
}
const watchListNeeds = [
  neededWhen(
    'WatchListId',
    'except to add a list',
    (params) =>
      params.ModificationSource !== undefined && params.ModificationAction !== undefined && !addsList(params),
  ),
  neededWhen('StrategyId', 'for MEMBER', (params) => params.ModificationSource === 'MEMBER'),
  neededWhen('WatchListName', 'to add a list', addsList),
]

export const strategies = {
  GetStrategyDetails: get({
    says: 'Shows a strategy with its statistics.',
    hosts: hostNames,
    params: { StrategyId: I64 },
    result: StrategyDetails,
    access: visible,
    conditional: true,
  }),
  SearchStrategies: page({
    says: 'Finds strategies.',
    notes: 'StrategyName matches partially and knows the wildcards % and _.',
    hosts: hostNames,
    params: {
      SecurityType: optional(SecurityType),
      CreatedBeforeDate: optional(Dt),
      StrategyName: optional(Str),
      StrategyOwnerPersonId: optional(I64),
      WhiteLabelSiteId: optional(I64),
      IsTradeOwnSystem: on(['Geo', 'WL'], optional(Bool)),
    },
    result: StrategyBasicDetails,
    access: { rule: 'visibleStrategy' },
  }),
  GetLeaderBoard: get({
    says: 'Lists the best strategies.',
    hosts: hostNames,
    params: { SecurityType: optional(SecurityType) },
    result: StrategyBasicDetails,
    access: { rule: 'visibleStrategy' },
  }),
  GetWatchLists: page({
    says: 'Lists the watch lists of a person.',
    ...watchList,
    params: { PersonId: I64 },
    result: WatchList,
    access: { rule: 'personReader', person: 'PersonId' },
  }),
  GetWatchListMembers: page({
    says: 'Lists the strategies on a watch list.',
    ...watchList,
    params: { PersonId: I64, WatchListId: I64 },
    result: WatchListMember,
    access: { rule: 'personReader', person: 'PersonId' },
  }),
  ManageWatchList: post({
    says: 'Adds or deletes a watch list, or a strategy on one.',
    ...watchList,
    params: { PersonId: optional(I64), ...watchListChange },
    needs: watchListNeeds,
    result: Bool,
    access: person,
  }),
  ManageWatchListByQuery: remove({
    says: 'As ManageWatchList by POST, with the parameters in the query string.',
    operation: 'ManageWatchList',
    ...watchList,
    params: { PersonId: I64, ...watchListChange },
    needs: watchListNeeds,
    result: Bool,
    access: person,
  }),
  GetSubscribers: page({
    says: 'Lists the subscribers of a strategy.',
    hosts: hostNames,
    params: { StrategyId: I64, ActiveOnly: withDefault(Bool, false) },
    result: StrategySubscriber,
    access: { rule: 'strategyFollowers', strategy: 'StrategyId' },
  }),
  GetSubscriptionRevenue: page({
    says: 'Lists what subscribers paid.',
    hosts: hostNames,
    params: {
      StrategyId: optional(I64),
      StartDate: optional(Dt),
      EndDate: optional(EndDt),
      StrategyOwnerPersonId: optional(I64),
      SubscriberPersonId: optional(I64),
      WhiteLabelSiteId: optional(I64),
    },
    needs: [
      atLeastOne('StrategyId', 'StrategyOwnerPersonId', 'SubscriberPersonId', 'WhiteLabelSiteId'),
      datesInOrder,
    ],
    result: StrategySubscriber,
    access: { rule: 'strategyFollowers' },
  }),
  NewStrategyOrder: post({
    says: 'Places an order on a strategy.',
    notes:
      'With CancelReplaceSignalId it replaces that signal. An order for more than the opposite position becomes two signals: the one that is answered closes the position, the next one, whose ParentSignalId is the first, opens the rest. An order that the account does not bear is answered like any other and has status 8; GetStrategyHistoricalOrders shows why as RejectMessage.',
    hosts: orderHosts,
    params: { Order: StrategyOrderInput },
    needs: newOrderNeeds,
    result: SignalIds,
    access: { rule: 'strategyOwner', strategy: 'Order.StrategyId' },
  }),
  CancelStrategyOrder: remove({
    says: 'Cancels an order of a strategy. Canceling a canceled order changes nothing.',
    hosts: orderHosts,
    params: { StrategyId: I64, SignalId: I64 },
    result: SignalIds,
    access: { rule: 'strategyOwner', strategy: 'StrategyId' },
  }),
  ReplaceStrategyOrder: put({
    says: 'Replaces an order of a strategy by a new one; the full order is sent again.',
    notes:
      'OrderQuantity is the total of the chain, including what was filled already. A replacement that the account does not bear has status 8, and the order before it goes on.',
    hosts: orderHosts,
    params: { Order: StrategyOrderInput },
    needs: replaceOrderNeeds,
    result: SignalIds,
    access: { rule: 'strategyOwner', strategy: 'Order.StrategyId' },
  }),
  GetStrategyActiveOrders: get({
    says: 'Lists the live orders of strategies.',
    hosts: orderHosts,
    params: { StrategyIds, SecurityType: optional(SecurityType), OrderType: optional(OrderType) },
    result: Order,
    access: { rule: 'strategyViewer', strategies: 'StrategyIds' },
  }),
  GetStrategyOpenPositions: get({
    says: 'Lists the open positions of strategies.',
    hosts: orderHosts,
    params: { StrategyIds, SecurityType: optional(SecurityType) },
    result: Position,
    access: { rule: 'strategyViewer', strategies: 'StrategyIds' },
  }),
  GetStrategyHistoricalOrders: page({
    says: 'Lists the orders of a strategy that have ended.',
    hosts: orderHosts,
    params: {
      StrategyId: optional(I64),
      SignalId: optional(I64),
      OrderStatus: optional(code('2', '4', 'C')),
      StartDate: optional(Dt),
      EndDate: optional(EndDt),
    },
    needs: [atLeastOne('StrategyId', 'SignalId'), datesInOrder],
    result: Order,
    access: { rule: 'strategyViewer', strategy: 'StrategyId', signal: 'SignalId' },
  }),
  AddStrategy: post({
    says: 'Creates an empty strategy that everyone can see.',
    notes: 'With Account the strategy is fed by that account (broker transmit).',
    hosts: orderHosts,
    params: {
      StrategyName: Str,
      StartingCapital: maybe(i64({ min: 1, max: startingCapitalMax })),
      Account: maybe(Str),
    },
    needs: [neededWhen('StartingCapital', 'without Account', ({ Account }) => Account === undefined)],
    result: StrategyIdResult,
    access: { rule: 'person', account: 'Account' },
  }),
  UpdateStrategy: put({
    says: 'Not yet available: the strategy is changed in the dashboard.',
    hosts: orderHosts,
    params: { StrategyId: maybe(I64) },
    result: StrategyIdResult,
    access: { rule: 'strategyOwner', strategy: 'StrategyId' },
    unavailable: true,
  }),
  GetStrategyHistoricalEquity: get({
    says: 'Shows the monthly and annual returns of a strategy.',
    hosts: orderHosts,
    params: { StrategyId: I64, CommissionPlan },
    result: StrategyMonthlyEquity,
    access: visible,
  }),
  GetStrategyHistoricalDailyEquity: get({
    says: 'Shows the daily equity of a strategy.',
    hosts: orderHosts,
    params: { StrategyId: I64, CommissionPlan },
    result: StrategyDailyEquity,
    access: visible,
  }),
  GetStrategyHistoricalClosedTrades: get({
    says: 'Lists the closed trades of a strategy, newest first, in one answer.',
    notes: 'PersonId names the viewer, for admins of a site only.',
    hosts: orderHosts,
    params: { CommissionPlan, StrategyId: optional(I64), PersonId: optional(I64) },
    needs: [atLeastOne('StrategyId')],
    result: HistoricalTrade,
    access: visible,
  }),
  SetDesiredPositions: post({
    says: 'States the positions that must exist in a strategy; all others are closed at market.',
    notes: 'An empty list closes everything. Repeating the call changes nothing.',
    hosts: orderHosts,
    params: { StrategyId: I64, Positions: array(PositionInput, { max: 1000 }) },
    needs: positionNeeds,
    result: DesiredPositions,
    access: { rule: 'strategyOwner', strategy: 'StrategyId' },
    paths: [
      { hosts: ['Gen'], path: '/Strategies/SetDesiredPositions', version: 1 },
      { hosts: ['WL'], path: '/v2/Strategies/SetDesiredPositions', version: 2 },
      { hosts: ['Gen'], path: '/v2/Strategies/SetDesiredPositions', version: 2, compatOnly: true },
      { hosts: ['WL'], path: '/Strategies/SetDesiredPositions', version: 1, compatOnly: true },
    ],
  }),
  GetSupportedSymbols: page({
    says: 'Lists the instruments that can be traded.',
    hosts: ['WL'],
    compatHosts: ['Gen'],
    params: {},
    result: SupportedSymbol,
    access: { rule: 'anyKey' },
  }),
  GetRule575Status: get({
    says: 'Reports executions whose fill differs noticeably from the fill of the strategy.',
    notes:
      "An execution is listed when it is more than 2 ticks or 30 seconds from the strategy's own fill; the newest 10,000 count. Positive slippage is worse for the subscriber. RTH is while US stocks trade.",
    hosts: ['WL'],
    params: {
      WhiteLabelSiteId: optional(I64),
      Days: withDefault(i32({ min: 1, max: 36_500 }), 30),
      Session: withDefault(code('all', 'RTH', 'ETH'), 'all'),
      GroupBy: withDefault(code('strategy', 'manager', 'instrument'), 'strategy'),
    },
    result: Rule575Status,
    access: reportsAdmin,
  }),
  GetStrategyMuxStatus: get({
    says: 'Compares the variants of a strategy family with their parent.',
    notes:
      'FamilyGuid is the id of the parent strategy, VariantGuid that of a variant; 0 means all, and SyncDetails needs one VariantGuid. InSync: the variant holds what its parent implies now. DriftSecs: how long it has not. Exceptions have lasted longer than DriftGrace (seconds); Ok is 1 without any.',
    hosts: ['WL'],
    params: {
      WhiteLabelSiteId: optional(I64),
      FamilyGuid: withDefault(i64({ min: 0 }), 0),
      VariantGuid: withDefault(i64({ min: 0 }), 0),
      DriftGrace: withDefault(i64({ min: 0, max: 86_400 }), 30),
    },
    result: StrategyMuxStatus,
    access: reportsAdmin,
  }),
  GetSiteCatalog: get({
    says: 'Lists the strategies the site resells, with their prices.',
    notes: 'Only platform admins may name another site.',
    hosts: ['WL'],
    params: { WhiteLabelSiteId: optional(I64) },
    result: SiteCatalogRow,
    access: catalogAdmin,
  }),
  UpdateSiteCatalog: post({
    says: 'Adds strategies to the catalog of the site or removes them; one result per strategy.',
    notes: 'Replays are safe. A strategy with active paid subscribers is not removed.',
    hosts: ['WL'],
    params: {
      Action: code('Add', 'Remove'),
      StrategyIds: array(I64, { min: 1, max: 100, unique: true }),
      WhiteLabelSiteId: maybe(I64),
    },
    result: CatalogUpdateResult,
    access: catalogAdmin,
  }),
}
