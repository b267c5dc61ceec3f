/** A WhiteLabel site's own business: plans and fees, its catalog, and its reports. */
import {
  array,
  Bool,
  code,
  Dt,
  I64,
  i32,
  LongStr,
  Money,
  maybe,
  Num,
  object,
  Price,
  Quantity,
  Str,
} from '../schema.ts'

const Plan = object({ Id: I64, Name: Str, StrategiesIncluded: i32(), Price: Money, Currency: Str })

export const AutotradePlans = object({
  WhiteLabelSiteId: I64,
  MonthlyPlans: array(Plan),
  AnnualPlans: array(Plan),
  FeePolicy: object({
    Payer: code('customer', 'site', 'none'),
    Tiers: maybe(
      array(object({ FromAccounts: i32(), ToAccounts: maybe(i32()), PricePerAccount: Money, Currency: Str })),
    ),
  }),
})

/** Ok false names why in Status, Reason and Message; the call as a whole succeeds. */
export const CatalogUpdateResult = object({
  StrategyId: I64,
  Ok: Bool,
  Status: maybe(Str),
  Reason: maybe(Str),
  Message: maybe(LongStr),
  ActiveSubscribers: maybe(i32()),
})

export const SiteCatalogRow = object({
  Id: I64,
  StrategyId: I64,
  OriginalName: Str,
  DisplayName: Str,
  BaseMonthlyCost: Money,
  MarkupDollars: Money,
  SiteMonthlyCost: Money,
  ShortDescription: maybe(LongStr),
  IsAlive: Bool,
})

const SessionEvent = object({
  Id: I64,
  PersonId: I64,
  Kind: code('sso', 'login'),
  Outcome: Str,
  OccurredUtc: Dt,
  IPAddress: maybe(Str),
})
const ExportSubscription = object({
  Id: I64,
  PersonId: I64,
  StrategyId: I64,
  IsSimulation: Bool,
  IsAlive: Bool,
  StartDate: Dt,
  EndDate: maybe(Dt),
  Cost: Money,
})
const ExportStability = object({
  PersonId: I64,
  Account: Str,
  Connects: i32(),
  Disconnects: i32(),
  Disables: i32(),
})
const ExportExecution = object({
  Id: I64,
  PersonId: I64,
  Account: Str,
  StrategyId: I64,
  SignalId: I64,
  Symbol: Str,
  Side: code('1', '2'),
  Quantity,
  AvgFillPrice: Price,
  ExecutedUtc: Dt,
})

export const WlInstrumentationExport = object({
  WhiteLabelSiteId: I64,
  WhiteLabelSiteName: Str,
  WhiteLabelSiteDomain: Str,
  RequestedWindow: object({ FromWhen: I64, ToWhen: I64, DaysBack: I64 }),
  Filters: object({ PersonId: maybe(I64), SystemId: maybe(I64) }),
  SessionEventSummary: object({ Sso: i32(), Login: i32(), Failed: i32() }),
  SessionEvents: array(SessionEvent),
  Autotrade: object({ Accounts: i32(), Setups: i32(), Disabled: i32() }),
  Subscriptions: array(ExportSubscription),
  AccountStability: array(ExportStability),
  Executions: array(ExportExecution),
  Summary: object({ SessionEvents: i32(), Subscriptions: i32(), Accounts: i32(), Executions: i32() }),
})

const Rule575Exception = object({
  StrategyId: I64,
  StrategyName: Str,
  Account: Str,
  SignalId: I64,
  Symbol: Str,
  StrategyFillPrice: Price,
  AccountFillPrice: Price,
  SlippageTicks: Num,
  DelaySec: Num,
  Session: code('RTH', 'ETH'),
  FilledUtc: Dt,
})

const exceptionFigures = {
  TotalExceptionFills: i32(),
  FavorableFillCount: i32(),
  UnfavorableFillCount: i32(),
  RthFillCount: i32(),
  EthFillCount: i32(),
  AvgSlippageTicks: maybe(Num),
  MaxAbsSlippageTicks: maybe(Num),
  AvgDelaySec: maybe(Num),
  P90DelaySec: maybe(Num),
}

/** Favorable to the subscriber; the delay runs from the signal to the fill. Rule575 has a row per group. */
export const Rule575Status = object({
  ExceptionSummary: object(exceptionFigures),
  Exceptions: array(Rule575Exception),
  Rule575: array(object({ Group: Str, ...exceptionFigures })),
})

const MuxDetail = object({
  VariantGuid: I64,
  Symbol: Str,
  ParentQuantity: Quantity,
  VariantQuantity: Quantity,
  ExpectedQuantity: Quantity,
})

/** Ok '1': every variant holds what its parent implies. */
export const StrategyMuxStatus = object({
  FamilyGuid: I64,
  VariantGuid: I64,
  WhiteLabelSiteId: I64,
  WhiteLabelSiteName: Str,
  Ok: code('0', '1'),
  DriftGraceSecs: i32(),
  Summary: object({ VariantRows: i32(), ActiveExceptionCount: i32(), VariantsWithInSync: i32() }),
  ExceptionSummary: object({ ActiveExceptionCount: i32() }),
  SyncSummary: array(object({ VariantGuid: I64, InSync: Bool, DriftSecs: Num })),
  SyncDetails: array(MuxDetail),
  Exceptions: array(MuxDetail),
})
