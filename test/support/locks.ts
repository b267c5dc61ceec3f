/** Who waits for whom: of this test file's database alone, for the server has those of other files too. */
import { expect } from 'vitest'
import type { Database } from '../../src/storage/database/database.ts'
import { identifier, type Sql, type Transaction } from '../../src/storage/database/sql.ts'

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

/** Resolves when so many have waited so long that they have looked for a deadlock (`deadlock_timeout`, one second). */
export const untilLooked = (sql: Sql, count: number): Promise<void> =>
  expect
    .poll(
      async () =>
        (
          await sql.one<{ count: number }>`
            select count(*)::int as count from pg_stat_activity
            where wait_event_type = 'Lock' and datname = current_database()
              and query_start < clock_timestamp() - interval '1.1 seconds'`
        ).count,
      { timeout: 10_000, interval: 10 },
    )
    .toBe(count)

/** Takes locks and keeps them; answers how to let them go. */
export const holdLocks = (
  db: Database,
  take: (tx: Transaction) => Promise<unknown>,
): Promise<() => Promise<void>> =>
  new Promise((held, failed) => {
    const holding = db.transaction(async (tx) => {
      await take(tx)
      await new Promise<void>((release) => {
        held(() => {
          release()
          return holding
        })
      })
    })
    holding.catch(failed)
  })

/** Keeps everybody from writing to a table, whoever has begun; answers how to let them go on. */
export const holdTable = (db: Database, table: string): Promise<() => Promise<void>> =>
  holdLocks(db, (tx) => tx.run`lock table ${identifier(table)} in share mode`)

/** The database with a count of its transactions and of how often they ran: who is in a deadlock runs again. */
export function countingTries(db: Database) {
  const count = { begun: 0, tried: 0 }
  const counting: Database = {
    ...db,
    transaction: (work, options) => {
      count.begun += 1
      return db.transaction((tx) => {
        count.tried += 1
        return work(tx)
      }, options)
    },
  }
  return { count, counting }
}
