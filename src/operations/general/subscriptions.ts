/** What a person pays for: plans and strategies. */
import { type Collected, isCollected } from '../../domain/billing/revenue.ts'
import { strategyTermDays } from '../../domain/billing/subscription.ts'
import { dec } from '../../domain/decimal.ts'
import { collectedBy, findProvider } from '../../storage/billing/charges.ts'
import {
  type PlanSubscriptionRow,
  pagePlanSubscriptions,
  pageSubscribed,
  type SubscribedRow,
} from '../../storage/billing/subscription-listings.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'

const shownPlan = (LicenseType: string) => (row: PlanSubscriptionRow) => ({
  Id: row.id,
  PersonId: row.personId,
  LicenseType,
  LicenseTypeId: row.planId,
  StartDate: row.startedAt,
  EndDate: row.endsAt,
  IsRecurring: row.isRecurring,
  Cost: row.cost,
})

/** A person's plans as an investor. */
export const getInvestorPlanSubscriptions: Handler<'GetInvestorPlanSubscriptions'> = (ctx, params) => {
  const wanted = { personId: params.PersonId, kind: 'investor', activeOnly: params.ActiveOnly } as const
  return paged(ctx, 'GetInvestorPlanSubscriptions', params, shownPlan('InvestorPlan'), (request) =>
    pagePlanSubscriptions(ctx.sql, wanted, request),
  )
}

/** A person's plans as a manager. */
export const getManagerPlanSubscriptions: Handler<'GetManagerPlanSubscriptions'> = (ctx, params) => {
  const wanted = { personId: params.PersonId, kind: 'manager', activeOnly: params.ActiveOnly } as const
  return paged(ctx, 'GetManagerPlanSubscriptions', params, shownPlan('ManagerPlan'), (request) =>
    pagePlanSubscriptions(ctx.sql, wanted, request),
  )
}

/**
 * The next charge is told only where there will be one: what was declined is tried again, after the end too, or the next
 * term follows and costs what is collected. Its day and its price are of the same payment; an interval has the latter alone.
 */
const shownSubscribed = (limits: Collected) => (row: SubscribedRow) => {
  const cents = BigInt(dec(row.nextPrice).times(100).toFixed(0))
  const isRenewed = !row.isOver && !row.isCancelPending && !row.isLastTerm && isCollected(cents, limits)
  const isTriedFirst = row.againAt !== null && !(isRenewed && row.endsAt !== null && row.endsAt < row.againAt)
  const next = isTriedFirst
    ? { NextChargeDate: row.againAt, NextBillingPrice: row.againAmount }
    : isRenewed && { NextChargeDate: row.endsAt, NextBillingPrice: row.nextPrice }
  const interval = isRenewed && { BillingInterval: 'day', BillingIntervalCount: strategyTermDays }
  return {
    Id: row.id,
    PersonId: row.personId,
    StrategyId: row.strategyId,
    StrategyName: row.strategyName,
    IsSimulation: row.kind === 'simulated',
    IsPaperTrade: row.kind === 'paper',
    IsAlive: row.isAlive,
    StartDate: row.startedAt,
    EndDate: row.endsAt,
    MonthlyCost: row.cost,
    ...next,
    ...interval,
    IsCancelPending: row.isCancelPending && !row.isOver,
    BillingFailureCount: row.billingFailures,
    LastBillingFailureReason: row.billingFailureReason,
    LastBillingFailureAt: row.billingFailedAt,
  }
}

/** Strategies that a person subscribes to. */
export const getSubscribedStrategies: Handler<'GetSubscribedStrategies'> = async (ctx, params) => {
  const shown = shownSubscribed(collectedBy[await findProvider(ctx.sql)])
  return paged(ctx, 'GetSubscribedStrategies', params, shown, (request) =>
    pageSubscribed(ctx.sql, { personId: params.PersonId, activeOnly: params.ActiveOnly }, request),
  )
}
