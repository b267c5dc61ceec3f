/** What a person pays for: plans and strategies. */
import { strategyTermDays } from '../../domain/billing/subscription.ts'
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

/** The next charge is told only where there will be one. */
function shownSubscribed(row: SubscribedRow) {
  const isCharged = !row.isOver && !row.isFree && !row.isCancelPending && !row.isLastTerm
  const billing = isCharged && {
    NextChargeDate: row.endsAt,
    NextBillingPrice: row.nextPrice,
    BillingInterval: 'day',
    BillingIntervalCount: strategyTermDays,
  }
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
    ...billing,
    IsCancelPending: row.isCancelPending && !row.isOver,
    BillingFailureCount: row.billingFailures,
    LastBillingFailureReason: row.billingFailureReason,
    LastBillingFailureAt: row.billingFailedAt,
  }
}

/** Strategies that a person subscribes to. */
export const getSubscribedStrategies: Handler<'GetSubscribedStrategies'> = (ctx, params) =>
  paged(ctx, 'GetSubscribedStrategies', params, shownSubscribed, (request) =>
    pageSubscribed(ctx.sql, { personId: params.PersonId, activeOnly: params.ActiveOnly }, request),
  )
