/** Who waits for whom: of this test file's database alone, for the server has those of other files too. */
import { expect } from 'vitest'
import type { Sql } from '../../src/storage/database/sql.ts'

/** How many wait for a lock. */
export const countWaiting = async (sql: Sql): Promise<number> =>
  (
    await sql.one<{ count: number }>`
      select count(*)::int as count from pg_stat_activity
      where wait_event_type = 'Lock' and datname = current_database()`
  ).count

/** Resolves when so many wait for a lock. */
export const untilWaiting = (sql: Sql, count = 1): Promise<void> =>
  expect.poll(() => countWaiting(sql), { timeout: 10_000, interval: 10 }).toBe(count)
