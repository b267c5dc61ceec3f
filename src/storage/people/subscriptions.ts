/**
 * Subscriptions as rows. Whoever opens or joins one to a strategy holds the strategy's lock, so that nobody can
 * count subscribers meanwhile and act on the count. Prices are whole minor units (cents).
 */
import type { Price } from '../../domain/billing/revenue.ts'
import type { SubscriptionKind, SubscriptionState } from '../../domain/billing/subscription.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export interface PresentSubscription extends SubscriptionState {
  id: number
  /** It ends with its term. */
  isCancelPending: boolean
  /** Null of a simulated one. */
  termEndsAt: Instant | null
}

const present = (personId: number | bigint, strategyId: number | bigint): Fragment => fragment`
  select id, kind, status, is_cancel_pending as "isCancelPending", term_ends_at as "termEndsAt" from subscription
  where person_id = ${personId}::bigint and strategy_id = ${strategyId}::bigint and ended_at is null`

/** A person's present subscription to a strategy. */
export const findSubscription = (
  sql: Sql,
  personId: number | bigint,
  strategyId: number | bigint,
): Promise<PresentSubscription | undefined> =>
  sql.maybe<PresentSubscription>`${present(personId, strategyId)}`

/** A person's present subscription to a strategy, locked. */
export const lockSubscription = (
  sql: Sql,
  personId: number | bigint,
  strategyId: number | bigint,
): Promise<PresentSubscription | undefined> =>
  sql.maybe<PresentSubscription>`${present(personId, strategyId)} for update`

/**
 * What the next term costs the subscriber, as `base` and `markup` in minor units: nothing the owner of the strategy,
 * otherwise its price and, at a white-label site that resells it, the site's markup. A plan costs what it is
 * offered for; the plan of a partner site is that site's income. Expects the tables below.
 */
export const nextPrice: Fragment = fragment`
  case when subscription.kind = 'simulated' or person.id = strategy.owner_person_id then 0
    when plan.id is not null then case plan_site.kind when 'platform' then plan.price else 0 end
    else round(strategy.monthly_cost * 100)::bigint end as base,
  case when subscription.kind = 'simulated' or person.id = strategy.owner_person_id then 0
    when plan.id is not null then case plan_site.kind when 'platform' then 0 else plan.price end
    else coalesce(site_catalog.markup, 0) end as markup`

/** Why what a subscription is for is gone, null while it is there. Expects the tables below. */
export const gone: Fragment = fragment`
  case when not strategy.is_alive then 'strategyEnded' when not plan.is_offered then 'planEnded' end`

/**
 * What a subscription's next price is read from, to be joined to `subscription`. A plan that was chosen for later and
 * withdrawn meanwhile leaves the present one.
 */
export const offerTables: Fragment = fragment`
  join person on person.id = subscription.person_id
  left join strategy on strategy.id = subscription.strategy_id
  left join plan on plan.id = coalesce((
    select chosen.id from plan chosen where chosen.id = subscription.next_plan_id and chosen.is_offered),
    subscription.plan_id)
  left join site plan_site on plan_site.id = plan.site_id
  left join site_catalog on site_catalog.site_id = person.site_id and site_catalog.strategy_id = strategy.id`

export interface Offer {
  /** The site the person belongs to. */
  readonly siteId: number
  readonly price: Price
}

/** What a term of a strategy would cost the person today; undefined when one of the two does not exist. */
export async function findOffer(
  sql: Sql,
  wanted: { personId: number | bigint; strategyId: number | bigint; kind: SubscriptionKind },
): Promise<Offer | undefined> {
  const row = await sql.maybe<{ siteId: number; base: number | bigint; markup: number | bigint }>`
    select person.site_id as "siteId", ${nextPrice}
    from (select ${wanted.personId}::bigint as person_id, ${wanted.strategyId}::bigint as strategy_id,
      null::bigint as plan_id, null::bigint as next_plan_id, ${wanted.kind}::text as kind) subscription
    ${offerTables} where strategy.id is not null`
  return row && { siteId: row.siteId, price: { base: BigInt(row.base), markup: BigInt(row.markup) } }
}

export interface NewSubscription extends Offer {
  personId: number | bigint
  strategyId: number | bigint
  kind: SubscriptionKind
  /** Pending until its first payment is made. */
  status: 'active' | 'pending'
  startedAt: number
  /** Null for a simulated one. */
  termEndsAt: number | null
}

/** Opens a subscription; answers its id. */
export const insertSubscription = async (sql: Sql, row: NewSubscription): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into subscription (site_id, person_id, strategy_id, kind, status, base_price, markup, started_at,
        term_started_at, term_ends_at, performance_fee_percent)
      values (${row.siteId}::bigint, ${row.personId}::bigint, ${row.strategyId}::bigint, ${row.kind}, ${row.status},
        ${row.price.base}::bigint, ${row.price.markup}::bigint, ${instant(row.startedAt)}::timestamptz,
        ${instant(row.startedAt)}::timestamptz, ${instant(row.termEndsAt)}::timestamptz,
        (select performance_fee_percent from strategy where id = ${row.strategyId}::bigint))
      returning id`
  ).id

/** Joins a live subscription: it goes on after its term, with this kind. */
export async function keepSubscription(sql: Sql, id: number, kind: SubscriptionKind): Promise<void> {
  await sql.run`update subscription set kind = ${kind}, is_cancel_pending = false where id = ${id}::bigint`
}

/** Ends a subscription now. */
export async function endSubscription(sql: Sql, id: number, at: number, reason: string): Promise<void> {
  await sql.run`
    update subscription set status = 'ended', ended_at = ${instant(at)}::timestamptz, end_reason = ${reason}
    where id = ${id}::bigint and ended_at is null`
}

/** Lets a subscription end with its term. */
export async function cancelSubscription(sql: Sql, id: number): Promise<void> {
  await sql.run`update subscription set is_cancel_pending = true where id = ${id}::bigint`
}

/** Whether a person has said how to pay with a provider. */
export const hasPaymentMethod = async (
  sql: Sql,
  personId: number | bigint,
  provider: string,
): Promise<boolean> =>
  (
    await sql.one<{ known: boolean }>`
      select exists (select from payment_method where person_id = ${personId}::bigint and provider = ${provider})
        as known`
  ).known

/** A condition on `subscription`: it shows the strategy. */
export const isActive: Fragment = fragment`subscription.status = 'active'`
/** A condition on `subscription`: it shows the strategy's orders. */
export const isLive: Fragment = fragment`(${isActive} and subscription.kind <> 'simulated')`

/**
 * Of people that ever subscribed to a strategy otherwise than to a simulation: whether no subscription to it runs
 * now, as it has ended, is suspended or was never paid. Nothing new is opened for them; nor in a live account while
 * the one that runs is for paper accounts.
 */
const hasLapsed: Fragment = fragment`not bool_or(status = 'active')`
const hasLapsedLive: Fragment = fragment`not bool_or(status = 'active' and kind = 'paid')`
const real: Fragment = fragment`strategy_id is not null and kind <> 'simulated'`

/** Those of a strategy, each with `is_live`: their live accounts have lapsed, and, in a row of its own, those on paper. */
export const lapsedSubscribers = (strategyId: number): Fragment => fragment`
  select person_id, unnest(case when ${hasLapsed} then array[true, false] else array[true] end) as is_live
  from subscription where ${real} and strategy_id = ${strategyId}::bigint group by person_id having ${hasLapsedLive}`

/** For few pairs: one row with `lapsed` for the person of an account `a` and the strategy of a setup `t`. */
export const lapseOfSetup: Fragment = fragment`(
  select coalesce(case a.kind when 0 then ${hasLapsedLive} else ${hasLapsed} end, false) as lapsed from subscription
  where ${real} and person_id = a.person_id and strategy_id = t.strategy_id)`
