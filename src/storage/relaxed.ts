/**
 * The same database for work that begins again when it is cut short: commits do not wait for the disk one by
 * one. They keep their order, so a crash loses the last of them and never one from between, and the next
 * ordinary commit makes all of them durable.
 */
import type { Database } from './database.ts'
import type { Sql } from './sql.ts'

/** `db` with relaxed commits; `read`, notifications and closing are its own. */
export function relaxed(db: Database): Database {
  const transaction: Database['transaction'] = (work, options) =>
    db.transaction(async (tx) => {
      // Sent first and not waited for: statements of a transaction run in the order in which they were sent.
      const [, , result] = await Promise.all([
        tx.run`set local synchronous_commit = off`,
        // The same few statements run ten thousand times: planning them anew takes longer than running them.
        tx.run`set local plan_cache_mode = force_generic_plan`,
        work(tx),
      ])
      return result
    }, options)
  const write: Sql = {
    rows: (...statement) => transaction((tx) => tx.rows(...statement)),
    one: (...statement) => transaction((tx) => tx.one(...statement)),
    maybe: (...statement) => transaction((tx) => tx.maybe(...statement)),
    run: (...statement) => transaction((tx) => tx.run(...statement)),
  }
  return { ...db, transaction, write }
}
