/**
 * Which signals are to be mirrored now, and whose. Exits protect what an account has got, so they wait a moment for the
 * copies of their entry; what has come by then is protected, and what comes later gets its exits as it comes.
 */
import type { Instant } from '../../domain/time.ts'
import { firstMoment } from '../database/moments.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'

/** How long exits wait for copies of their entry to which nothing has happened, in milliseconds. */
const patience = 2_000

/** Exits (as `s`) of a variant: closing orders that copy the exits of its parent, without an entry of their own. */
export const isVariantExit = fragment`(s.position_effect = 'C' and s.ord_type <> '1' and exists (
  select from variant_order v join signal copied on copied.id = v.copied_signal_id
  where v.signal_id = s.id and copied.exit_role is not null))`

/** Somebody's copy of the entry of `s` to which nothing has happened; a variant's: of any that has traded in the symbol. */
const isEntryUntraded = fragment`case when s.exit_role is not null
  then exists (
    select from account_order o where o.source_id = s.parent_signal_id and o.source = 'S' and o.status in ('A', '0'))
  else exists (
    select from setup join account_order o on o.setup_id = setup.id and o.instrument_id = s.instrument_id
      join signal e on e.id = o.source_id
    where setup.strategy_id = s.strategy_id and setup.stopped_at is null and o.source = 'S'
      and o.position_effect = 'O' and o.status in ('A', '0') and e.cum_qty > 0) end`

/**
 * Exits (as `s`) that still wait. What has traded, in an account or at the strategy, is waited for no longer; and an exit
 * that replaces another takes over copies that protect already.
 */
const waitsForEntry = (now: Instant): Fragment => fragment`(
  s.mirrored_at is null and s.replaces_signal_id is null and (s.exit_role is not null or ${isVariantExit}) and (
    exists (select from signal e where e.id = s.parent_signal_id and e.mirror_due)
    or s.working_at > ${instant(now - patience)}::timestamptz and s.cum_qty = 0 and s.status in ('A', '0')
      and ${isEntryUntraded}))`

/**
 * Signals (as `s`) that wait for their followers. One that has just arrived is first held against the last quote:
 * what it fills and ends at once is then known when its copies are planned.
 */
export const isMirrorDue = (now: Instant): Fragment => fragment`(s.mirror_due
  and not (s.needs_match and exists (select from quote where quote.instrument_id = s.instrument_id))
  and not ${waitsForEntry(now)})`

/** True while any signal waits for its followers. */
export const isMirroringDue = (now: Instant): Fragment =>
  fragment`exists (select from signal s where ${isMirrorDue(now)})`

/** True while followers of a strategy (as `setup`) have not heard of what it holds. Exits that wait are no news yet. */
export const isUnheard = (now: Instant): Fragment => fragment`exists (
  select from signal s where s.mirror_due and s.strategy_id = setup.strategy_id and not ${waitsForEntry(now)})`

/** When exits have waited long enough. */
export const findNextExits = firstMoment`
  select min(working_at) + ${patience} * interval '1 millisecond' from signal s
  where mirror_due and mirrored_at is null and replaces_signal_id is null
    and (exit_role is not null or ${isVariantExit})`

const dueStrategies = (now: Instant, among: Among): Fragment => fragment`
  select id from strategy
  where id in (select s.strategy_id from signal s where ${isMirrorDue(now)} and ${isAmong(fragment`s.strategy_id`, among)})
  order by id`

/** Strategies that have due signals. */
export const listDueStrategies = (sql: Sql, now: Instant, among: Among, limit: number): Promise<number[]> =>
  idsOf(sql.rows`${dueStrategies(now, among)} limit ${limit}::int`)

/**
 * Locks a strategy that has due signals and answers its id. Strategies that others hold are passed over unless
 * nothing else is due: then it waits for one.
 */
export async function claimDueStrategy(
  tx: Transaction,
  now: Instant,
  among: Among,
): Promise<number | undefined> {
  const due = fragment`${dueStrategies(now, among)} limit 1 for no key update`
  const free = await tx.maybe<{ id: number }>`${due} skip locked`
  return (free ?? (await tx.maybe<{ id: number }>`${due}`))?.id
}

/**
 * Settles the due signals of strategies that nobody has ever set up to follow, all in one statement: whoever starts
 * meanwhile joins after them. Rows that others work on are left for later. Answers how many were settled.
 */
export const settleUnfollowed = (sql: Sql, now: Instant): Promise<number> =>
  sql.run`
    update signal set mirror_due = false, mirrored_at = coalesce(mirrored_at, ${instant(now)}::timestamptz)
    where id in (
      select s.id from signal s where ${isMirrorDue(now)}
        and not exists (select from setup where setup.strategy_id = s.strategy_id) for update of s skip locked)`
