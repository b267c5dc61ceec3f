/** Subscriptions as they are listed: a person's own, the subscribers of a strategy, and what they paid. */
import type { SubscriptionKind } from '../../domain/billing/subscription.ts'
import type { SiteKind } from '../../domain/people/access.ts'
import type { Scope } from '../../domain/people/scope.ts'
import { asked } from '../database/asked.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { bySite, within } from '../database/scope.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { nextPrice, offerTables } from '../people/subscriptions.ts'
import { isCollectibleCharge } from './charges.ts'
import type { PlanKind } from './plan-subscriptions.ts'

type Id = number | bigint

/** Money as decimal text; minor units are hundredths. */
const money = (column: Fragment): Fragment => fragment`(${column})::numeric / 100`

export interface PlanSubscriptionRow {
  id: number
  personId: number
  planId: number
  startedAt: number
  endsAt: number
  /** Another term follows: it was not canceled and is not suspended, and its plan or the one chosen next is offered. */
  isRecurring: boolean
  cost: string
}

/** A person's subscriptions to plans of a kind, by id; `activeOnly` leaves ended ones out. */
export const pagePlanSubscriptions = (
  sql: Sql,
  wanted: { personId: Id; kind: PlanKind; activeOnly: boolean },
  request: PageRequest,
) =>
  page<PlanSubscriptionRow>(sql, request, {
    select: fragment`
      subscription.id, subscription.person_id as "personId", subscription.plan_id as "planId",
      subscription.started_at as "startedAt", coalesce(subscription.ended_at, subscription.term_ends_at) as "endsAt",
      subscription.status not in ('suspended', 'ended') and not subscription.is_cancel_pending
        and (plan.is_offered or coalesce(next.is_offered, false)) as "isRecurring",
      ${money(fragment`subscription.base_price + subscription.markup`)} as cost`,
    from: fragment`subscription join plan on plan.id = subscription.plan_id
      left join plan next on next.id = subscription.next_plan_id`,
    where: fragment`subscription.person_id = ${wanted.personId}::bigint and plan.kind = ${wanted.kind}
      and (subscription.ended_at is null or not ${wanted.activeOnly}::boolean)`,
    ...keyedById(fragment`subscription`),
  })

export interface SubscribedRow {
  id: number
  personId: number
  strategyId: number
  strategyName: string
  kind: SubscriptionKind
  isAlive: boolean
  startedAt: number
  /** Of the present term, or when it ended; null for a simulated one that goes on. */
  endsAt: number | null
  cost: string
  isCancelPending: boolean
  isOver: boolean
  /** The next term is not begun: the subscription is suspended, or its strategy has ended. */
  isLastTerm: boolean
  nextPrice: string
  /** When what was declined is asked for once more, and how much then; null where nothing is. */
  againAt: number | null
  againAmount: string | null
  billingFailures: number
  billingFailureReason: string | null
  billingFailedAt: number | null
}

/** The strategies that a person subscribes to, by id; `activeOnly` leaves ended subscriptions out. */
export const pageSubscribed = (
  sql: Sql,
  wanted: { personId: Id; activeOnly: boolean },
  request: PageRequest,
) =>
  page<SubscribedRow>(sql, request, {
    select: fragment`
      subscription.id, subscription.person_id as "personId", subscription.strategy_id as "strategyId",
      coalesce(site_catalog.display_name, strategy.name) as "strategyName", subscription.kind,
      subscription.status = 'active' as "isAlive", subscription.started_at as "startedAt",
      coalesce(subscription.ended_at, subscription.term_ends_at) as "endsAt",
      ${money(fragment`subscription.base_price + subscription.markup`)} as cost,
      subscription.is_cancel_pending as "isCancelPending", subscription.ended_at is not null as "isOver",
      subscription.status = 'suspended' or not strategy.is_alive as "isLastTerm",
      ${money(fragment`next.base + next.markup`)} as "nextPrice",
      again.at as "againAt", ${money(fragment`again.amount`)} as "againAmount",
      subscription.billing_failures as "billingFailures",
      subscription.billing_failure_reason as "billingFailureReason",
      subscription.billing_failed_at as "billingFailedAt"`,
    from: fragment`subscription ${offerTables} cross join lateral (select ${nextPrice}) next
      left join lateral (
        select c.next_try_at as at, sum(c.amount) as amount from charge c
        where c.subscription_id = subscription.id and c.status = 'due' and c.failed_at is not null
          and c.claimed_until is null and ${isCollectibleCharge}
        group by c.next_try_at order by c.next_try_at limit 1) again on true`,
    where: fragment`subscription.person_id = ${wanted.personId}::bigint and subscription.strategy_id is not null
      and (subscription.ended_at is null or not ${wanted.activeOnly}::boolean)`,
    ...keyedById(fragment`subscription`),
  })

export interface SubscriberRow {
  id: number
  strategyId: number
  strategyName: string
  personId: number
  subscriptionId: number
  isStrategyOwner: boolean
  alias: string
  firstName: string
  lastName: string
  email: string
  startedAt: number
  endsAt: number
  basePrice: string
  markup: string
  cost: string
  paidAt: number | null
  paidAmount: string | null
  isResale: boolean
  siteId: number
  siteKind: SiteKind
  siteCode: string
  parentCode: string | null
}

const subscriberColumns = fragment`
  subscription.strategy_id as "strategyId", strategy.name as "strategyName", subscription.person_id as "personId",
  subscription.id as "subscriptionId", strategy.owner_person_id = subscription.person_id as "isStrategyOwner",
  person.alias, person.first_name as "firstName", person.last_name as "lastName", person.email,
  site.id as "siteId", site.kind as "siteKind", site.code as "siteCode", parent.code as "parentCode"`

const subscriberTables = fragment`
  join strategy on strategy.id = subscription.strategy_id join person on person.id = subscription.person_id
  join site on site.id = subscription.site_id left join site parent on parent.id = site.parent_site_id`

/** Rows of a person as owner of the strategy or as subscriber, and of customers of a site. */
const scoped = (scope: Scope): Fragment =>
  within(scope, {
    persons: [fragment`strategy.owner_person_id`, fragment`subscription.person_id`],
    sites: bySite,
  })

/** Who subscribes to a strategy for real, by id of the subscription. */
export const pageSubscribers = (
  sql: Sql,
  wanted: { strategyId: Id; activeOnly: boolean },
  scope: Scope,
  request: PageRequest,
) =>
  page<SubscriberRow>(sql, request, {
    select: fragment`
      subscription.id, ${subscriberColumns}, subscription.started_at as "startedAt",
      coalesce(subscription.ended_at, subscription.term_ends_at) as "endsAt",
      ${money(fragment`subscription.base_price`)} as "basePrice", ${money(fragment`subscription.markup`)} as markup,
      ${money(fragment`subscription.base_price + subscription.markup`)} as cost, latest.paid_at as "paidAt",
      ${money(fragment`latest.amount`)} as "paidAmount", subscription.markup > 0 as "isResale"`,
    from: fragment`subscription ${subscriberTables} left join lateral (
      select paid_at, amount from charge where subscription_id = subscription.id and status = 'paid'
      order by paid_at desc, id desc limit 1) latest on true`,
    where: fragment`subscription.strategy_id = ${wanted.strategyId}::bigint and subscription.kind <> 'simulated'
      and (subscription.ended_at is null or not ${wanted.activeOnly}::boolean) and ${scoped(scope)}`,
    ...keyedById(fragment`subscription`),
  })

export interface RevenueFilter {
  readonly strategyId?: Id | undefined
  readonly ownerPersonId?: Id | undefined
  readonly subscriberPersonId?: Id | undefined
  readonly siteId?: Id | undefined
  /** Of the payment, ISO text; both ends belong to the range. */
  readonly from: string | null
  readonly to: string | null
}

/** What subscribers of strategies paid, one row per payment, by its id in the ledger. */
export const pageRevenue = (sql: Sql, filter: RevenueFilter, scope: Scope, request: PageRequest) =>
  page<SubscriberRow>(sql, request, {
    select: fragment`
      payment.id, ${subscriberColumns}, charge.period_started_at as "startedAt", charge.period_ends_at as "endsAt",
      ${money(fragment`charge.base_price`)} as "basePrice", ${money(fragment`charge.markup`)} as markup,
      ${money(fragment`charge.amount`)} as cost, payment.booked_at as "paidAt",
      ${money(fragment`payment.amount`)} as "paidAmount", charge.markup > 0 as "isResale"`,
    from: fragment`ledger_transfer payment join charge on charge.id = payment.charge_id
      join subscription on subscription.id = charge.subscription_id ${subscriberTables}`,
    where: fragment`payment.reason = 'payment' and ${scoped(scope)}
      and ${asked`subscription.strategy_id = ${filter.strategyId}::bigint`}
      and ${asked`strategy.owner_person_id = ${filter.ownerPersonId}::bigint`}
      and ${asked`subscription.person_id = ${filter.subscriberPersonId}::bigint`}
      and ${asked`subscription.site_id = ${filter.siteId}::bigint`}
      and ${asked`payment.booked_at >= ${filter.from}::timestamptz`}
      and ${asked`payment.booked_at <= ${filter.to}::timestamptz`}`,
    ...keyedById(fragment`ledger_transfer`, fragment`payment`),
  })
