/**
 * Terms of subscriptions that have come to their end: read with what the next one would cost, locked, and written
 * back many at once. Another worker passes over what one has locked.
 */
import type { Price } from '../../domain/billing/revenue.ts'
import {
  type EndReason,
  type Gone,
  type SubscriptionStatus,
  strategyTermDays,
} from '../../domain/billing/subscription.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { gone, nextPrice, offerTables } from '../people/subscriptions.ts'

export interface EndingTerm {
  readonly id: number
  readonly status: SubscriptionStatus
  readonly isCancelPending: boolean
  readonly gone: Gone | null
  readonly startedAt: number
  readonly endsAt: number
  /** Days of the next term. */
  readonly days: number
  /** Null for a plan. */
  readonly strategyId: number | null
  /** Of the person. */
  readonly siteId: number
  /** Of the next term; null for a strategy. */
  readonly planId: number | null
  readonly price: Price
  /** What the strategy's owner takes of the gains of the next term: said once, for its fee and for what passes free. */
  readonly nextPercent: number
}

/** A condition in SQL: a term has ended. */
export const areTermsOver = (now: number): Fragment => fragment`exists (
  select from subscription where ended_at is null and ${hasCome(fragment`term_ends_at`, now)})`

/**
 * Locks subscriptions whose term has ended, the oldest first. Read once they are locked: the plan to go on with may
 * have been changed until then, and a statement that locks as it reads has joined the one from before.
 */
export async function lockEndingTerms(tx: Transaction, now: number, limit: number): Promise<EndingTerm[]> {
  const locked = await tx.rows<{ id: number }>`
    select id from subscription where ended_at is null and ${hasCome(fragment`term_ends_at`, now)}
    order by term_ends_at, id limit ${limit}::int for update skip locked`
  if (locked.length === 0) return []
  const rows = await tx.rows<Omit<EndingTerm, 'price'> & { base: number | bigint; markup: number | bigint }>`
    select subscription.id, subscription.status, subscription.is_cancel_pending as "isCancelPending",
      ${gone} as gone,
      subscription.term_started_at as "startedAt", subscription.term_ends_at as "endsAt", coalesce(plan.term_days, ${strategyTermDays}::int) as days,
      strategy.id as "strategyId", person.site_id as "siteId", plan.id as "planId", coalesce(strategy.performance_fee_percent, 0) as "nextPercent", ${nextPrice}
    from subscription ${offerTables}
    where subscription.id = any(${locked.map(({ id }) => id)}::bigint[])
    order by subscription.term_ends_at, subscription.id`
  return rows.map(({ base, markup, ...row }) => ({
    price: { base: BigInt(base), markup: BigInt(markup) },
    ...row,
  }))
}

export interface EndedTerm {
  readonly id: number
  readonly at: number
  readonly reason: EndReason
}

/**
 * Ends subscriptions with their terms; what they still owe is not asked for any more, but for fees on what was gained.
 * What is being asked for waits for its answer: it may have been paid.
 */
export async function endTerms(tx: Transaction, ended: readonly EndedTerm[]): Promise<void> {
  if (ended.length === 0) return
  const ids = ended.map(({ id }) => id)
  await tx.run`
    update subscription set status = 'ended', ended_at = done.at, end_reason = done.reason
    from unnest(${ids}::bigint[], ${ended.map(({ at }) => instant(at))}::timestamptz[],
      ${ended.map(({ reason }) => reason)}::text[]) done (id, at, reason)
    where subscription.id = done.id`
  await tx.run`
    update charge set status = 'failed', next_try_at = null, failed_at = coalesce(failed_at, next_try_at)
    where subscription_id = any(${ids}::bigint[]) and status = 'due' and purpose <> 'performance'
      and claimed_until is null`
}

export interface RenewedTerm {
  readonly id: number
  readonly from: number
  readonly to: number
  readonly planId: number | null
  readonly price: Price
  readonly percent: number
}

/** Begins the next terms, with their own plans and prices. */
export async function renewTerms(tx: Transaction, renewed: readonly RenewedTerm[]): Promise<void> {
  if (renewed.length === 0) return
  await tx.run`
    update subscription set term_started_at = next.start, term_ends_at = next.until, base_price = next.base,
      markup = next.markup, plan_id = next.plan_id, next_plan_id = null,
      performance_fee_percent = next.percent
    from unnest(${renewed.map(({ id }) => id)}::bigint[], ${renewed.map(({ from }) => instant(from))}::timestamptz[],
      ${renewed.map(({ to }) => instant(to))}::timestamptz[], ${renewed.map(({ price }) => price.base)}::bigint[],
      ${renewed.map(({ price }) => price.markup)}::bigint[], ${renewed.map(({ planId }) => planId)}::bigint[],
      ${renewed.map(({ percent }) => percent)}::int[])
      next (id, start, until, base, markup, plan_id, percent)
    where subscription.id = next.id`
}

/** When the next term ends; undefined when nobody subscribes. */
export const nextTermEnd = async (sql: Sql): Promise<number | undefined> =>
  (
    await sql.one<{ at: number | null }>`
      select min(term_ends_at) as at from subscription where ended_at is null`
  ).at ?? undefined
