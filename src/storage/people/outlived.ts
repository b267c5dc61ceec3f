/**
 * What of people has served its time: sessions that have run out, and links to confirm an address that nobody has used
 * in theirs. A link that was used stays good, and so stays.
 */
import { hour, type Instant } from '../../domain/time.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, identifier, join, type Sql } from '../database/sql.ts'

/** How long a dashboard session lasts at most. */
const sessionLifeMs = 12 * hour

const outlived = (now: Instant): readonly { readonly table: Fragment; readonly when: Fragment }[] => [
  {
    table: identifier('dashboard_session'),
    when: hasCome(fragment`created_at`, now - sessionLifeMs),
  },
  {
    table: identifier('email_confirmation'),
    when: fragment`confirmed_at is null and ${hasCome(fragment`expires_at`, now)}`,
  },
]

/** True while there is something to forget at `now`; a condition for a larger statement. */
export const areSomeOutlived = (now: Instant): Fragment =>
  join(
    outlived(now).map(({ table, when }) => fragment`exists (select from ${table} where ${when})`),
    ' or ',
  )

/** Forgets at most so many of each. */
export async function sweepOutlived(sql: Sql, now: Instant, count: number): Promise<number> {
  let swept = 0
  for (const { table, when } of outlived(now))
    swept += await sql.run`
      delete from ${table} where id = any(array(
        select id from ${table} where ${when} limit ${count}::int for update skip locked))`
  return swept
}
