/** When something is due: as a condition, and as a question. */
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from './sql.ts'
import { instant } from './wire.ts'

/**
 * True of a moment that has come; false where there is none. The lower bound says nothing: with both ends the planner
 * knows without the values that these are few, and takes the index on the column. Of one end alone it believes that it
 * leaves a third of the table, of which the first would soon be met, and reads a whole table in which none is due.
 */
export const hasCome = (moment: Fragment, now: Instant): Fragment =>
  fragment`${moment} between '-infinity' and ${instant(now)}::timestamptz`

/** Asks for the moment that a query answers; undefined where it answers none. */
export const firstMoment =
  (...query: Parameters<typeof fragment>) =>
  async (sql: Sql): Promise<Instant | undefined> =>
    (await sql.one<{ at: Instant | null }>`select (${fragment(...query)}) as at`).at ?? undefined
