/** Plans and strategies people pay for, who subscribes to a strategy, and watch lists. */
import { Bool, Dt, I64, i32, LongStr, Money, maybe, object, on, Str } from '../schema.ts'

export const Subscription = object({
  Id: I64,
  PersonId: I64,
  LicenseType: Str,
  LicenseTypeId: i32(),
  StartDate: Dt,
  EndDate: maybe(Dt),
  IsRecurring: Bool,
  Cost: Money,
})

export const SubscribedStrategy = object({
  Id: I64,
  PersonId: I64,
  StrategyId: I64,
  StrategyName: Str,
  IsSimulation: Bool,
  IsPaperTrade: Bool,
  IsAlive: Bool,
  StartDate: Dt,
  EndDate: maybe(Dt),
  MonthlyCost: Money,
  NextChargeDate: on(['Geo', 'WL'], maybe(Dt)),
  NextBillingPrice: on(['Geo'], maybe(Money)),
  BillingInterval: on(['Geo'], maybe(Str)),
  BillingIntervalCount: on(['Geo'], maybe(i32())),
  IsCancelPending: on(['Geo'], Bool),
  BillingFailureCount: on(['Geo'], i32()),
  LastBillingFailureReason: on(['Geo'], maybe(LongStr)),
  LastBillingFailureAt: on(['Geo'], maybe(Dt)),
})

/** IsResale: 1 when bought through a site with a markup, else 0. */
export const StrategySubscriber = object({
  Id: I64,
  StrategyId: I64,
  StrategyName: Str,
  PersonId: I64,
  SubscriptionId: I64,
  SubscriberId: I64,
  IsStrategyOwner: Bool,
  Alias: maybe(Str),
  FirstName: Str,
  LastName: Str,
  Email: Str,
  StartDate: Dt,
  EndDate: maybe(Dt),
  BasePrice: Money,
  Markup: Money,
  Cost: Money,
  LastTransactionDate: maybe(Dt),
  LastTransactionAmount: maybe(Money),
  IsResale: i32(),
  WhiteLabelSiteId: maybe(I64),
  GeoSiteId: maybe(Str),
})

export const WatchList = object({ Id: I64, PersonId: I64, CreatedDate: Dt, ListName: Str })

export const WatchListMember = object({ Id: I64, AddedDate: Dt, StrategyId: I64, PersonId: I64 })
