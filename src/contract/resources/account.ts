/** Brokers and brokerage accounts: search results, pending and approved accounts, statistics per account. */
import { Bool, code, Dt, type Field, I64, i32, LongStr, Money, maybe, object, Str } from '../schema.ts'

export const Broker = object({ Id: i32(), Name: Str, IsEnabled: Bool, ConnectionName: Str })

export const Account = object({
  Id: I64,
  PersonId: I64,
  Account: Str,
  BrokerName: Str,
  BrokerId: i32(),
  FirstName: Str,
  LastName: Str,
  Email: Str,
  Language: maybe(Str),
  WhiteLabelSiteId: maybe(I64),
  GeoSite: maybe(Str),
  CountryCode: maybe(Str),
  DivisionCode: maybe(Str),
  AuthenticatedDate: maybe(Dt),
})

export const AutotradedAccount = object({
  Id: I64,
  PersonId: I64,
  Account: Str,
  BrokerId: i32(),
  FirstName: Str,
  LastName: Str,
  Email: Str,
  StrategyId: I64,
  StrategyName: Str,
  IsSyncEnabled: Bool,
  IsAutotrading: Bool,
  IsAutotradeDisabled: Bool,
  IsAutotradeDisabledReason: maybe(LongStr),
  SyncDisabledReason: maybe(LongStr),
  SettingsLastUpdateUTC: Dt,
})

type Feed = 'Autotraded' | 'Brokertransmit' | 'Platformtransmit'
type Class = 'Stocks' | 'Futures' | 'Options' | 'Forex' | 'Crypto'
type Count = Field<number, number, number, number, 'always'>

const feeds: readonly Feed[] = ['Autotraded', 'Brokertransmit', 'Platformtransmit']
const classes: readonly Class[] = ['Stocks', 'Futures', 'Options', 'Forex', 'Crypto']

/** The compat dialect spells the platform's feed with its own prefix. */
function count(name: string): readonly [string, Count] {
  const compatName = name.replace('Platformtransmit', 'C2transmit')
  return [name, compatName === name ? i32() : { ...i32(), compatName }]
}

const classCounts = Object.fromEntries(
  feeds.flatMap((feed) => classes.map((cls) => count(`${feed}${cls}Strategies`))),
) as { [K in `${Feed}${Class}Strategies`]: Count }
const uniqueCounts = Object.fromEntries(feeds.map((feed) => count(`Unique${feed}Strategies`))) as {
  [K in `Unique${Feed}Strategies`]: Count
}

export const AutotradeStats = object({
  Id: I64,
  DateUtc: Dt,
  Account: Str,
  PersonId: I64,
  BrokerId: i32(),
  IB: maybe(i32()),
  SalesRep: maybe(i32()),
  WhiteLabelSiteId: maybe(I64),
  GeoSiteId: maybe(Str),
  NetLiquidationValue: maybe(Money),
  LastBrokerNetLiquidationUpdateUtc: maybe(Dt),
  FirstBrokerActivationDateUTC: maybe(Dt),
  ...classCounts,
  ...uniqueCounts,
  IsSyncEnabled: Bool,
  IsManualConfirmationEnabled: Bool,
  IsDisabled: Bool,
  Currency: Str,
  Email: Str,
  FirstName: Str,
  LastName: Str,
  IsBrokerEnabled: Bool,
})

export const PendingAccount = object({
  Id: I64,
  Status: code('Pending', 'Approved', 'Declined'),
  DeclinedUTC: maybe(Dt),
  UtcDate: Dt,
  Account: Str,
  PersonId: I64,
  BrokerName: Str,
  BrokerId: i32(),
  FirstName: Str,
  LastName: Str,
  Email: Str,
  Country: maybe(Str),
  State: maybe(Str),
  Language: maybe(Str),
  WhiteLabelSiteId: maybe(I64),
  GeoSiteId: maybe(Str),
  SiteDomain: maybe(Str),
  Connection: Str,
  IntroducingBrokerId: maybe(I64),
  IntroducingBroker: maybe(Str),
  StrategyId: maybe(I64),
  StrategyName: maybe(Str),
  SalesRepId: maybe(I64),
  SalesRep: maybe(Str),
  IsTradeLeader: Bool,
  FirstBrokerActivationDate: maybe(Dt),
  NetLiquidationValue: maybe(Money),
  NetLiquidationValueDate: maybe(Dt),
  EnabledFutures: Bool,
  EnabledForex: Bool,
  EnabledStocks: Bool,
  EnabledOptions: Bool,
})

export const ApprovedAccount = object({
  Id: I64,
  Account: Str,
  PersonId: I64,
  BrokerId: i32(),
  WhiteLabelSiteId: maybe(I64),
  GeoSite: maybe(Str),
  IsCFD: Bool,
  IsDeleted: Bool,
})
