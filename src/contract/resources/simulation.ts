/** Simulated subscriptions and what they would have earned. */
import { array, Bool, code, Dt, I64, LongStr, Money, maybe, Num, object, on, Str } from '../schema.ts'

/** Measured since the simulation started; returns and scaling in percent. */
export const SimResult = object({
  PersonId: I64,
  FirstName: Str,
  LastName: Str,
  Email: Str,
  Account: Str,
  StrategyId: I64,
  StrategyName: Str,
  StartDate: Dt,
  EndDate: maybe(Dt),
  StartEquity: maybe(Money),
  EndEquity: maybe(Money),
  TotalReturn: maybe(Num),
  TotalDelta: maybe(Money),
  ScalingFactor: maybe(Num),
  SubscriptionId: on(['Geo'], I64),
  IsResultReady: on(['Geo'], Bool),
})

export const SimStartResult = object({
  PersonId: I64,
  Created: array(object({ StrategyId: I64, SubscriptionId: I64, StartDate: Dt })),
  Skipped: array(
    object({
      StrategyId: I64,
      Reason: code(
        'already_subscribed',
        'already_simulated',
        'simulated_recently',
        'strategy_not_found',
        'strategy_not_alive',
        'strategy_private',
        'not_in_site_catalog',
      ),
      Message: LongStr,
    }),
  ),
})

export const SimStopResult = object({ PersonId: I64, StrategyId: I64, StoppedSubscriptionId: I64 })
