/**
 * Time cut into stretches in which no more was executed than one statement can work through: of years there is more than
 * a statement has time for.
 */
import { type Instant, minute } from '../../domain/time.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** After the first moment, and until the second one or without an end. */
export interface Stretch {
  readonly since: Instant
  readonly until: Instant | null
}

export interface StretchesWish extends Stretch {
  /** Where most of what has no end ends. */
  readonly latest: Instant
  /** About as many executions are worked on at once. */
  readonly atOnce: number
  /** However few they are, no stretch is longer. */
  readonly longestMs: number
}

const shortestMs = minute

/** The stretches in which the accounts `a` of a condition executed something, the newest first. */
export async function* readStretches(
  sql: Sql,
  accounts: Fragment,
  { since, until, latest, atOnce, longestMs }: StretchesWish,
): AsyncGenerator<Stretch> {
  let length = longestMs
  for (let end = until, from = latest; ; end = from) {
    const before = from
    from = await beginningOf(sql, accounts, { since: Math.max(since, from - length), until: end }, atOnce)
    yield { since: from, until: end }
    if (from === since || !(await isExecuted(sql, from))) return
    // What is looked through for the next beginning is about what is before it.
    length = Math.min(longestMs, Math.max(shortestMs, 2 * (before - from)))
  }
}

/** From where on as many were executed as are worked on at once, before the end; `since` where there were not so many. */
async function beginningOf(
  sql: Sql,
  accounts: Fragment,
  { since, until }: Stretch,
  atOnce: number,
): Promise<Instant> {
  const [beyond] = await sql.rows<{ at: Instant }>`
    select x.executed_at as at from account a join execution x on x.account_id = a.id and x.broker_id = a.broker_id
    where ${accounts} and x.executed_at > ${instant(since)}::timestamptz
      and x.executed_at < coalesce(${instant(until)}::timestamptz, 'infinity')
    order by x.executed_at desc offset ${atOnce}::int limit 1`
  return beyond?.at ?? since
}

/** Whether anything was executed until then. */
const isExecuted = async (sql: Sql, until: Instant): Promise<boolean> =>
  (
    await sql.one<{ found: boolean }>`
      select exists (select from execution where ${hasCome(fragment`executed_at`, until)}) as found`
  ).found
