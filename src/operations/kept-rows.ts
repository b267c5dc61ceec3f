/**
 * Rows that were shown before. History is read far more often than it changes: a listing asks the database for
 * ids and versions, and only for the rows whose version is not the one that was shown last. What is kept is
 * frozen, and the writer of answers keeps the text of frozen rows, so a known row costs neither reading nor writing.
 */
import { LRUCache } from 'lru-cache'
import type { Sql } from '../storage/database/sql.ts'

interface Versioned {
  readonly id: number
  /** Another text whenever anything changed that the row shows. */
  readonly version: string
}

interface Kept<Shown> {
  readonly version: string
  readonly shown: Shown
}

/** About a kilobyte each. */
const keptMax = 20_000

/** The rows of one listing, for each database that they were read from. */
export function keptRows<Row extends { readonly id: number }, Shown extends object>(
  load: (sql: Sql, ids: readonly number[]) => Promise<readonly Row[]>,
  show: (row: Row) => Shown,
) {
  const known = new WeakMap<Sql, LRUCache<number, Kept<Shown>>>()
  return async (sql: Sql, wanted: readonly Versioned[]): Promise<Shown[]> => {
    const rows = known.get(sql) ?? new LRUCache<number, Kept<Shown>>({ max: keptMax })
    known.set(sql, rows)
    const shown = wanted.map(({ id, version }) => {
      const kept = rows.get(id)
      return kept?.version === version ? kept.shown : undefined
    })
    const missing = wanted.filter((_, place) => shown[place] === undefined)
    if (missing.length === 0) return shown as Shown[]
    const loaded = await load(
      sql,
      missing.map(({ id }) => id),
    )
    const made = new Map(loaded.map((row) => [row.id, Object.freeze(show(row))]))
    // A row that changed since its version was read is shown as it is now and read again the next time.
    for (const { id, version } of missing) {
      const row = made.get(id)
      if (row) rows.set(id, { version, shown: row })
    }
    return wanted.flatMap(({ id }, place) => shown[place] ?? made.get(id) ?? [])
  }
}
