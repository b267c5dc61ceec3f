/** The Autotrade group: setups, settings, orders and positions of accounts, and the sites' account reports. */
import { atLeastOne, datesInOrder } from './needs.ts'
import { accountOrderNeeds } from './order-needs.ts'
import {
  Account,
  ApprovedAccount,
  AutotradedAccount,
  AutotradeStats,
  Broker,
  PendingAccount,
} from './resources/account.ts'
import { AccountOrderInput, Order, OrderStatus, SignalIds } from './resources/order.ts'
import { Position } from './resources/position.ts'
import {
  AutotradeApprovalStatus,
  AutotradedStrategy,
  AutotradeSettings,
  AutotradeSyncStatusReport,
  DashBoardItem,
} from './resources/setup.ts'
import { SimResult, SimStartResult, SimStopResult } from './resources/simulation.ts'
import { AutotradePlans } from './resources/site.ts'
import { SecurityType } from './resources/symbol.ts'
import { get, page, post, put, remove } from './row.ts'
import {
  array,
  Bool,
  Dt,
  EndDt,
  hostNames,
  I32,
  I64,
  i32,
  i64,
  maybe,
  onlyInCompat,
  optional,
  PositiveNum,
  Str,
  secret,
  text,
  withDefault,
} from './schema.ts'

const personAndAccount = { person: 'PersonId', account: 'Account' }
const reader = { rule: 'personReader', ...personAndAccount } as const
const holder = { rule: 'person', ...personAndAccount } as const
const bothKinds = ['geo', 'whitelabel'] as const
const siteAdmin = { rule: 'siteAdmin', kinds: bothKinds, permission: 'members' } as const
const siteReport = { ...siteAdmin, site: 'WhiteLabelSiteId', geoSite: 'GeoSite' } as const

const cap = maybe(i32({ min: 0 }))

const approvedAccount = {
  WhiteLabelSiteId: optional(I64),
  GeoSite: optional(Str),
  IsCFD: optional(Bool),
}
const approve = {
  hosts: ['Geo'],
  params: { Account: Str, PersonId: I64, BrokerId: I32, ...approvedAccount },
  result: ApprovedAccount,
  access: { ...siteReport, person: 'PersonId' },
} as const
const withdraw = {
  ...approve,
  params: { Account: Str, PersonId: optional(I64), BrokerId: optional(I32), ...approvedAccount },
} as const

export const autotrade = {
  GetAutotradedStrategies: page({
    says: 'Lists the strategies autotraded in the accounts of a person.',
    hosts: hostNames,
    params: { PersonId: I64, Account: optional(Str) },
    result: AutotradedStrategy,
    access: reader,
  }),
  GetAutotraders: page({
    says: 'Lists who autotrades a strategy.',
    hosts: hostNames,
    params: { StrategyId: optional(I64), BrokerId: optional(I32), WhiteLabelSiteId: optional(I64) },
    result: AutotradedStrategy,
    access: { rule: 'strategyFollowers' },
  }),
  GetAutotradeSettings: get({
    says: 'Shows the settings of each setup of a person.',
    hosts: hostNames,
    params: { PersonId: I64, Account: optional(Str) },
    result: AutotradeSettings,
    access: reader,
    conditional: true,
  }),
  SetAutotradeSettings: put({
    says: 'Switches Autotrade or AutoSync of an account on or off.',
    hosts: hostNames,
    params: {
      /** Without one all are meant, so an empty one is refused. */
      Account: maybe(text(256, /\S/)),
      PersonId: maybe(I64),
      BrokerId: maybe(I32),
      IsAutotradeEnabled: maybe(Bool),
      IsAutoSyncEnabled: maybe(Bool),
    },
    result: Bool,
    access: holder,
  }),
  GetDashBoard: get({
    says: 'Shows the returns of the strategies autotraded in an account.',
    hosts: hostNames,
    params: { PersonId: I64, Account: Str },
    result: DashBoardItem,
    access: reader,
  }),
  SearchAccounts: page({
    says: 'Finds accounts by partial matches.',
    notes: 'FirstName, LastName and CountryCode are matched without regard to case.',
    hosts: hostNames,
    params: {
      Account: optional(Str),
      PersonId: optional(I64),
      BrokerId: optional(I32),
      FirstName: optional(Str),
      LastName: optional(Str),
      Email: optional(Str),
      WhiteLabelSiteId: optional(I64),
      CountryCode: optional(Str),
      IPAddress: optional(Str),
      Phone: optional(Str),
    },
    result: Account,
    access: { rule: 'ownOrSite' },
  }),
  GetAutotradeActiveOrders: get({
    says: 'Lists the live orders of an account.',
    hosts: hostNames,
    params: { Account: Str, PersonId: I64, StrategyId: optional(I64) },
    result: Order,
    access: reader,
  }),
  GetAutotradeHistoricalOrders: page({
    says: 'Lists the orders of an account.',
    hosts: hostNames,
    params: {
      Account: Str,
      PersonId: I64,
      BrokerId: optional(I32),
      StrategyId: optional(I64),
      OrderStatus: optional(OrderStatus),
      StartDate: optional(Dt),
      EndDate: optional(EndDt),
    },
    needs: [datesInOrder],
    result: Order,
    access: reader,
  }),
  GetAutoTradeOpenPositions: get({
    says: 'Lists the open positions of an account.',
    hosts: hostNames,
    params: { Account: Str, StrategyId: optional(I64) },
    result: Position,
    access: { rule: 'personReader', account: 'Account' },
  }),
  NewAutotradeOrder: post({
    says: 'Sends a closing limit or stop order in an account.',
    notes:
      'Without StrategyId the account must hold the symbol for one setup only. An order for more than no other exit closes is cut to that; one that has nothing to close is answered like any other and has status 8: GetAutotradeHistoricalOrders shows why as RejectMessage.',
    hosts: hostNames,
    params: { Account: Str, PersonId: maybe(I64), Order: AccountOrderInput },
    needs: accountOrderNeeds,
    result: SignalIds,
    access: holder,
    without: [304, 404],
  }),
  CancelAutotradeOrder: remove({
    says: 'Cancels an order of an account. An automatic stop loss cannot be canceled.',
    hosts: hostNames,
    params: { Account: Str, PersonId: I64, OrderId: Str },
    result: SignalIds,
    access: holder,
  }),
  ReplaceAutotradeOrder: put({
    says: 'Changes the price of an open closing order of an account.',
    notes: 'Strategy and manual exit orders only.',
    hosts: hostNames,
    params: { Account: Str, PersonId: maybe(I64), OrderId: Str, Price: PositiveNum },
    result: SignalIds,
    access: holder,
  }),
  GetBrokers: get({
    says: 'Lists the brokers that Autotrade can use.',
    hosts: hostNames,
    params: { IncludeDisabled: withDefault(Bool, false) },
    result: Broker,
    access: { rule: 'anyKey' },
  }),
  StartAutotrade: post({
    says: 'Starts mirroring a strategy into an account, or modifies the setup.',
    notes:
      'Only classes that are enabled are opened, and none is unless the call says so. A modifying call replaces every setting. On WL the approval request is named by the headers X-Approval-Request-Id and Location.',
    hosts: hostNames,
    params: {
      Account: Str,
      PersonId: maybe(I64),
      BrokerId: maybe(I32),
      StrategyId: I64,
      ScalingPercentage: optional(i64({ min: 1, max: 1000 })),
      FuturesEnabled: withDefault(Bool, false),
      MaxFutures: cap,
      ForexEnabled: withDefault(Bool, false),
      MaxForex: cap,
      StocksEnabled: withDefault(Bool, false),
      MaxStocksDollars: cap,
      OptionsEnabled: withDefault(Bool, false),
      ShortOptionsEnabled: withDefault(Bool, false),
      MaxOptions: cap,
      DoNotJoinCurrentSystemPositions: maybe(Bool),
      AutoStopLoss: maybe(i64({ min: 0, max: 999_999_999_999 })),
      AccountUserName: maybe(Str),
      AccountPassword: secret(maybe(Str)),
    },
    result: Bool,
    access: holder,
    bare: true,
  }),
  StopAutotrade: remove({
    says: 'Stops mirroring a strategy into an account.',
    notes:
      'On WL the stop is an approval request of its own, completed at once, and named by the headers X-Approval-Request-Id and Location.',
    hosts: hostNames,
    params: {
      Account: Str,
      PersonId: I64,
      StrategyId: I64,
      BrokerId: optional(I32),
      LeavePositionsOpen: withDefault(Bool, false),
      TerminateStrategySubscription: withDefault(Bool, false),
    },
    result: Bool,
    access: holder,
    bare: true,
  }),
  GetSimResults: get({
    says: 'Shows what simulated subscriptions would have earned since each started.',
    notes: 'ActiveOnly false shows the full history.',
    hosts: hostNames,
    params: {
      PersonId: optional(I64),
      WhiteLabelSiteId: optional(I64),
      ActiveOnly: withDefault(Bool, true),
      MaxAccountDays: optional(i32({ min: 1, clamp: 365 })),
      MinLoginDays: optional(i32({ min: 0 })),
    },
    result: SimResult,
    access: { rule: 'personReader', person: 'PersonId' },
  }),
  ResetPaperTrade: put({
    says: 'Resets a paper account to its starting cash.',
    hosts: hostNames,
    params: { Account: Str, PersonId: maybe(I64) },
    result: Bool,
    access: holder,
  }),
  SyncPositionsToOpen: post({
    says: 'Opens once what the strategy holds and the account lacks, for all enabled asset classes.',
    notes: 'Without StrategyId for every strategy of the account.',
    hosts: ['Gen'],
    params: {
      Account: Str,
      PersonId: maybe(I64),
      BrokerId: maybe(I32),
      StrategyId: maybe(I64),
      StrategyIds: onlyInCompat(maybe(array(I64, { max: 100 }))),
    },
    result: Bool,
    access: holder,
  }),
  GetAutotradeSyncStatusReport: get({
    says: 'Compares an account with its strategies, symbol by symbol.',
    hosts: ['Geo'],
    params: { PersonId: I64, Account: Str, StrategyId: optional(I64) },
    result: AutotradeSyncStatusReport,
    access: reader,
  }),
  SearchAutotradedAccounts: page({
    says: 'Finds autotraded accounts of the site.',
    hosts: ['Geo', 'WL'],
    params: {
      StrategyId: optional(I64),
      BrokerId: optional(I32),
      AutoSyncEnabled: optional(Bool),
      AutoTradeEnabled: optional(Bool),
      AutoTradingNow: optional(Bool),
      StartDate: optional(Dt),
      EndDate: optional(EndDt),
    },
    needs: [
      atLeastOne(
        'StrategyId',
        'BrokerId',
        'AutoSyncEnabled',
        'AutoTradeEnabled',
        'AutoTradingNow',
        'StartDate',
        'EndDate',
      ),
      datesInOrder,
    ],
    result: AutotradedAccount,
    access: siteAdmin,
  }),
  GetAutotradeStats: get({
    says: 'Counts strategies per account and asset class.',
    hosts: ['Geo', 'WL'],
    params: {
      WhiteLabelSiteId: optional(I64),
      GeoSite: optional(Str),
      BrokerId: optional(I32),
      SecurityType: optional(SecurityType),
      Disabled: optional(Bool),
      AutoSync: optional(Bool),
      ManualConfirmation: optional(Bool),
      BrokerEnabled: optional(Bool),
      StartDate: optional(Dt),
      EndDate: optional(EndDt),
    },
    needs: [datesInOrder],
    result: AutotradeStats,
    access: siteReport,
  }),
  GetPendingAccounts: get({
    says: 'Lists accounts that wait for approval.',
    hosts: ['Geo', 'WL'],
    params: {
      WhiteLabelSiteId: optional(I64),
      GeoSite: optional(Str),
      BrokerId: optional(I32),
      SecurityType: optional(SecurityType),
    },
    result: PendingAccount,
    access: siteReport,
  }),
  ApprovedAutotradeAccount: post({ says: 'Approves an account for Autotrade.', ...approve }),
  DeleteApprovedAutotradeAccount: remove({
    says: 'Withdraws the approval of an account for Autotrade.',
    operation: 'ApprovedAutotradeAccount',
    ...withdraw,
  }),
  ApprovedBrokerTransmitAccount: post({ says: 'Approves an account for broker transmit.', ...approve }),
  DeleteApprovedBrokerTransmitAccount: remove({
    says: 'Withdraws the approval of an account for broker transmit.',
    operation: 'ApprovedBrokerTransmitAccount',
    ...withdraw,
  }),
  GetAutotradeApprovalStatus: get({
    says: 'Shows where an approval request stands. It is the truth; the notification is a courtesy.',
    hosts: ['WL'],
    params: { RequestId: Str },
    result: AutotradeApprovalStatus,
    access: { rule: 'approvalViewer' },
  }),
  GetAutotradePlans: get({
    says: "Shows the site's monthly and annual plans and who pays the Autotrade fee.",
    notes: 'Only platform admins may name another site.',
    hosts: ['WL'],
    params: { WhiteLabelSiteId: optional(I64) },
    result: AutotradePlans,
    access: { rule: 'siteAdmin', kinds: ['whitelabel'], site: 'WhiteLabelSiteId', permission: 'billing' },
  }),
  StartSim: post({
    says: 'Starts simulated subscriptions of a customer of the site.',
    notes: 'A strategy that cannot be started is listed in Skipped with a reason.',
    hosts: ['WL'],
    params: { PersonId: I64, StrategyIds: array(I64, { min: 1, max: 8, unique: true }) },
    result: SimStartResult,
    access: { ...siteAdmin, person: 'PersonId' },
  }),
  StopSim: remove({
    says: 'Stops a simulated subscription. A real one is refused.',
    hosts: ['WL'],
    params: { PersonId: I64, StrategyId: I64 },
    result: SimStopResult,
    access: { ...siteAdmin, person: 'PersonId' },
  }),
}
