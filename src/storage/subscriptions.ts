/**
 * Subscriptions as rows. Whoever opens or joins one to a strategy holds the strategy's lock, so that nobody can
 * count subscribers meanwhile and act on the count. Prices are whole minor units (cents).
 */
import type { SubscriptionKind, SubscriptionState } from '../domain/subscription.ts'
import { type Fragment, fragment, type Sql } from './sql.ts'
import { instant } from './wire.ts'

/** Whole minor units as the driver gives them: exact, a bigint beyond 2^53. */
type MinorUnits = number | bigint

export interface PresentSubscription extends SubscriptionState {
  id: number
}

/** A person's present subscription to a strategy, locked. */
export const lockSubscription = (
  sql: Sql,
  personId: number | bigint,
  strategyId: number | bigint,
): Promise<PresentSubscription | undefined> =>
  sql.maybe<PresentSubscription>`
    select id, kind, status from subscription
    where person_id = ${personId}::bigint and strategy_id = ${strategyId}::bigint and ended_at is null
    for update`

export interface Offer {
  /** The site the person belongs to. */
  siteId: number
  basePrice: MinorUnits
  /** What the person's site asks on top. */
  markup: MinorUnits
}

/**
 * What a term of a strategy costs a subscriber today: nothing its owner, otherwise the strategy's price and, at a
 * white-label site that resells it, the site's markup. Expects `strategy`, `person` and, left-joined on the
 * person's site, `site_catalog`.
 */
const priceColumns: Fragment = fragment`
  case when person.id = strategy.owner_person_id then 0 else round(strategy.monthly_cost * 100)::bigint end as base_price,
  case when person.id = strategy.owner_person_id then 0 else coalesce(site_catalog.markup, 0) end as markup`

/** What a term would cost the person today; undefined when person or strategy do not exist. */
export const findOffer = (
  sql: Sql,
  personId: number | bigint,
  strategyId: number | bigint,
): Promise<Offer | undefined> =>
  sql.maybe<Offer>`
    select "siteId", base_price as "basePrice", markup from (
      select person.site_id as "siteId", ${priceColumns}
      from strategy join person on person.id = ${personId}::bigint
        left join site_catalog on site_catalog.site_id = person.site_id and site_catalog.strategy_id = strategy.id
      where strategy.id = ${strategyId}::bigint) offer`

export interface NewSubscription extends Offer {
  personId: number | bigint
  strategyId: number | bigint
  kind: SubscriptionKind
  startedAt: number
  /** Null for a simulated one. */
  termEndsAt: number | null
}

/** Opens a subscription; answers its id. */
export const insertSubscription = async (sql: Sql, row: NewSubscription): Promise<number> =>
  (
    await sql.one<{ id: number }>`
      insert into subscription (site_id, person_id, strategy_id, kind, base_price, markup, started_at,
        term_started_at, term_ends_at)
      values (${row.siteId}::bigint, ${row.personId}::bigint, ${row.strategyId}::bigint, ${row.kind},
        ${row.basePrice}::bigint, ${row.markup}::bigint, ${instant(row.startedAt)}::timestamptz,
        ${instant(row.startedAt)}::timestamptz, ${instant(row.termEndsAt)}::timestamptz)
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

/** Lets a person's subscription to a strategy end with its term; a person without one has nothing to end. */
export async function cancelSubscription(
  sql: Sql,
  personId: number | bigint,
  strategyId: number | bigint,
): Promise<void> {
  await sql.run`
    update subscription set is_cancel_pending = true
    where person_id = ${personId}::bigint and strategy_id = ${strategyId}::bigint and ended_at is null
      and kind <> 'simulated'`
}

/** A condition on `subscription`: it shows the strategy's orders. */
export const isLive: Fragment = fragment`(subscription.status = 'active' and subscription.kind <> 'simulated')`
