/** How far a recording has been published, so that another process carries on behind it. */
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

const switchOf = (feed: string): string => `feed:${feed}`

/** Rows of the feed's recording that are published; 0 at its start. */
export const loadFeedPosition = async (sql: Sql, feed: string): Promise<number> =>
  (
    await sql.maybe<{ rows: number }>`
      select value::int8 as rows from platform_switch where name = ${switchOf(feed)}`
  )?.rows ?? 0

/** Notes how many rows are published. Nobody else waits for this, so it is not announced. */
export async function saveFeedPosition(sql: Sql, feed: string, rows: number, now: number): Promise<void> {
  await sql.run`
    insert into platform_switch (name, value, changed_at)
    values (${switchOf(feed)}, to_jsonb(${rows}::int8), ${instant(now)}::timestamptz)
    on conflict (name) do update set value = excluded.value, changed_at = excluded.changed_at`
}
