/** Subscriptions to plans as rows, and what sites offer. Prices are whole minor units (cents). */
import type { Price } from '../../domain/billing/revenue.ts'
import type { SubscriptionStatus } from '../../domain/billing/subscription.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { nextPrice, offerTables } from '../people/subscriptions.ts'

export type PlanKind = 'investor' | 'manager'

export interface NewPlan {
  readonly siteId: number
  readonly kind: PlanKind
  readonly name: string
  readonly termDays: 30 | 365
  readonly strategiesIncluded: number
  /** Dollars. */
  readonly price: string
}

/** Offers a plan; one of that name, kind and term is offered from now on as given. Answers its id. */
export const savePlan = async (sql: Sql, plan: NewPlan): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into plan (site_id, kind, name, term_days, strategies_included, price)
      values (${plan.siteId}::bigint, ${plan.kind}, ${plan.name}, ${plan.termDays}::int,
        ${plan.strategiesIncluded}::int, (${plan.price}::numeric * 100)::bigint)
      on conflict (site_id, kind, name, term_days) do update
        set strategies_included = excluded.strategies_included, price = excluded.price, is_offered = true
      returning id`
  ).id

/** The plans that a site offers, with their prices in dollars, by id. */
export const listSitePlans = (sql: Sql, siteId: number): Promise<(NewPlan & { readonly id: number })[]> =>
  sql.rows`
    select id, site_id as "siteId", kind, name, term_days as "termDays", strategies_included as "strategiesIncluded",
      round(price::numeric / 100, 2) as price
    from plan where site_id = ${siteId}::bigint and is_offered order by id`

/** Offers a plan no more: who has it keeps it until the end of the term. Answers whether it was offered. */
export const withdrawPlan = async (sql: Sql, planId: number): Promise<boolean> =>
  (await sql.run`update plan set is_offered = false where id = ${planId}::bigint and is_offered`) > 0

export interface PlanOffer {
  readonly personId: number
  readonly planId: number
  /** The site of the person. */
  readonly siteId: number
  readonly kind: PlanKind
  readonly days: number
  readonly price: Price
}

/** A plan that is offered to a person, by the platform or by the person's site or region. The person is locked. */
export async function lockPlanOffer(
  sql: Sql,
  personId: number,
  planId: number,
): Promise<PlanOffer | undefined> {
  const row = await sql.maybe<Omit<PlanOffer, 'price'> & { base: number | bigint; markup: number | bigint }>`
    select person.id as "personId", plan.id as "planId", person.site_id as "siteId", plan.kind,
      plan.term_days as days, ${nextPrice}
    from (select ${personId}::bigint as person_id, null::bigint as strategy_id, ${planId}::bigint as plan_id,
      null::bigint as next_plan_id, 'paid' as kind) subscription
    ${offerTables} join site own on own.id = person.site_id
    where person.is_alive and plan.is_offered
      and (plan_site.kind = 'platform' or plan.site_id in (own.id, own.parent_site_id))
    for no key update of person`
  return row && { price: { base: BigInt(row.base), markup: BigInt(row.markup) }, ...row }
}

export interface PresentPlan {
  readonly id: number
  readonly planId: number
  readonly status: SubscriptionStatus
  readonly days: number
  /** Paid for the present term. */
  readonly price: bigint
  readonly from: number
  readonly to: number
  /** The term, or a change of the plan, waits for its payment. */
  readonly isOwed: boolean
}

/**
 * The plan of a kind that a person has, locked. Read once the lock is held: who held it before may have begun another
 * plan and asked for its payment, which a statement that waited for the lock would not see.
 */
export async function lockPresentPlan(
  sql: Sql,
  personId: number,
  kind: PlanKind,
): Promise<PresentPlan | undefined> {
  await sql.run`
    select from subscription where person_id = ${personId}::bigint and plan_id is not null and ended_at is null
    order by id for update`
  const row = await sql.maybe<Omit<PresentPlan, 'price'> & { price: number | bigint }>`
    select s.id, s.plan_id as "planId", s.status, plan.term_days as days, s.base_price + s.markup as price,
      s.term_started_at as "from", s.term_ends_at as "to", exists (
        select from charge c where c.subscription_id = s.id and c.status = 'due') as "isOwed"
    from subscription s join plan on plan.id = s.plan_id
    where s.person_id = ${personId}::bigint and plan.kind = ${kind} and s.ended_at is null`
  return row && { ...row, price: BigInt(row.price) }
}

/** Opens a subscription to a plan; answers its id. */
export const insertPlanSubscription = async (
  sql: Sql,
  offer: PlanOffer,
  term: { readonly status: 'active' | 'pending'; readonly from: number; readonly to: number },
): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into subscription (site_id, person_id, plan_id, kind, status, base_price, markup, started_at,
        term_started_at, term_ends_at)
      values (${offer.siteId}::bigint, ${offer.personId}::bigint, ${offer.planId}::bigint, 'paid', ${term.status},
        ${offer.price.base}::bigint, ${offer.price.markup}::bigint, ${instant(term.from)}::timestamptz,
        ${instant(term.from)}::timestamptz, ${instant(term.to)}::timestamptz)
      returning id`
  ).id

/** Lets a subscription go on after its term, with this plan, whatever change of plans from before is paid after all. */
export async function continueWith(sql: Sql, id: number, planId: number): Promise<void> {
  await sql.run`
    update subscription set is_cancel_pending = false, next_plan_id = nullif(${planId}::bigint, plan_id),
      chosen_after_charge_id = (
        select max(c.id) from charge c where c.subscription_id = subscription.id and c.purpose = 'upgrade')
    where id = ${id}::bigint`
}

/**
 * Notes that a plan that is to end with its term goes on with another one once that is paid: both stand beside each
 * other until then, and whoever cancels meanwhile takes the wish back.
 */
export async function wishToGoOnWith(sql: Sql, id: number, planId: number): Promise<void> {
  await sql.run`
    update subscription set next_plan_id = ${planId}::bigint where id = ${id}::bigint and is_cancel_pending`
}

/**
 * Lets the plan of a kind that a person has end with its term; answers whether there was one. The kind is looked up and
 * not joined: a join would lose a row whose plan another transaction has changed meanwhile.
 */
export const cancelPlan = async (sql: Sql, personId: number, kind: PlanKind): Promise<boolean> =>
  (await sql.run`
    update subscription s set is_cancel_pending = true, next_plan_id = null, chosen_after_charge_id = null
    where (select plan.kind from plan where plan.id = s.plan_id) = ${kind} and s.person_id = ${personId}::bigint
      and s.ended_at is null`) > 0

/**
 * Begins the plans of upgrades that were paid: for the rest of the present term or for a term of its own, at the price
 * at which they were chosen. One for the rest of a term that was over already when it was paid begins with the next. What
 * was canceled since it was chosen ends all the same, and what was chosen to go on with since then follows it; where that
 * has begun it begins no more. Answers the charges of those that began, or will with the next term.
 */
export async function beginUpgrades(sql: Sql, chargeIds: readonly number[]): Promise<number[]> {
  const rows = await sql.rows<{ id: number; begins: boolean }>`
    update subscription s set
      next_plan_id = case when is_late then c.plan_id when is_older then nullif(coalesce(s.next_plan_id, s.plan_id), c.plan_id)
        -- Where it is to end, a wish to go on with another plan waits for the payment of that one.
        when s.is_cancel_pending then nullif(s.next_plan_id, c.plan_id) end,
      plan_id = case when is_late then s.plan_id else c.plan_id end,
      base_price = case when is_late then s.base_price when c.markup > 0 then 0 else agreed.price end,
      markup = case when is_late then s.markup when c.markup > 0 then agreed.price else 0 end,
      term_started_at = case when is_late or c.period_ends_at = s.term_ends_at then s.term_started_at
        else c.period_started_at end,
      term_ends_at = case when is_late then s.term_ends_at else c.period_ends_at end,
      is_cancel_pending = s.is_cancel_pending and s.next_plan_id is distinct from c.plan_id
    from charge c join plan on plan.id = c.plan_id
      join subscription known on known.id = c.subscription_id
      cross join lateral (
        select known.term_started_at > c.period_started_at as is_turned) turn
      cross join lateral (select is_turned and c.period_ends_at < known.term_ends_at as is_late) timing
      cross join lateral (
        select coalesce(c.id <= known.chosen_after_charge_id, false) as is_older) choice
      cross join lateral (select coalesce(c.plan_price, plan.price) as price) agreed
    where c.id = any(${chargeIds}::bigint[]) and c.purpose = 'upgrade' and s.id = c.subscription_id
      and s.ended_at is null and not (is_turned and is_older)
      -- What is paid at last leads to no plan any more that another, paid before it, has taken the place of.
      and not exists (select from charge later where later.subscription_id = s.id and later.purpose = 'upgrade'
        and later.status = 'paid' and later.id > c.id)
    returning c.id, not (is_late and s.is_cancel_pending) as begins`
  return rows.filter(({ begins }) => begins).map(({ id }) => id)
}
