/**
 * Empties the door's database many times a second: truncating makes new files for every table and index, so a
 * platform of few rows is deleted row by row instead, children first, and its ids start at 1 again.
 */
import type { Database } from '../storage/database/database.ts'
import { fragment, identifier, join, type Sql, type Transaction } from '../storage/database/sql.ts'
import { emptyPlatform, keptTables } from '../storage/operating/provision.ts'

/** Rows of one table above which truncating is faster. */
const fewRows = 1_000
const patience = { statementTimeoutMs: 60_000 }

/** Everything but the schema and the platform's own site is gone when `then` runs, in the same transaction. */
export async function emptied(db: Database, then: (tx: Transaction) => Promise<void>): Promise<void> {
  const tables = await tablesOf(db.read)
  await db.transaction(async (tx) => {
    if (await hasMany(tx, tables)) await emptyPlatform(tx)
    else await deleteAll(tx, tables)
    await then(tx)
  }, patience)
}

async function hasMany(sql: Sql, tables: readonly string[]): Promise<boolean> {
  const counts = tables.map(
    (name) => fragment`exists (select from ${identifier(name)} offset ${fewRows}::int)`,
  )
  return (await sql.one<{ many: boolean }>`select ${join(counts, ' or ')} as many`).many
}

/** The platform's site keeps its row and its id 1. */
async function deleteAll(tx: Transaction, tables: readonly string[]): Promise<void> {
  const deletes = tables.map(
    (name) => `delete from ${quoted(name)}${name === 'site' ? ` where kind <> 'platform'` : ''}`,
  )
  await tx.script([`set local lockstep.emptying = 'on'`, ...deletes].join(';'))
  await tx.run`
    select setval(format('%I.%I', schemaname, sequencename)::regclass, case sequencename when 'site_id_seq' then 2 else 1 end, false)
    from pg_sequences where schemaname = 'public' and last_value is not null and sequencename <> 'audit_entry_id_seq'`
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The tables of the schema, each after those that refer to it. */
async function tablesOf(sql: Sql): Promise<string[]> {
  const rows = await sql.rows<{ name: string; referrers: string[] }>`
    select c.relname as name, coalesce(array_agg(r.relname::text) filter (where r.relname <> c.relname), '{}') as referrers
    from pg_class c
      left join pg_constraint f on f.confrelid = c.oid and f.contype = 'f'
      left join pg_class r on r.oid = f.conrelid
    where c.relkind in ('r', 'p') and c.relnamespace = 'public'::regnamespace and c.relname <> all(${keptTables}::text[])
    group by c.relname`
  const left = new Map(rows.map(({ name, referrers }) => [name, referrers]))
  const ordered: string[] = []
  while (left.size > 0) {
    const free = [...left].filter(([, referrers]) => !referrers.some((name) => left.has(name)))
    if (free.length === 0) throw new Error(`tables refer to each other: ${[...left.keys()].join(', ')}`)
    for (const [name] of free) {
      left.delete(name)
      ordered.push(name)
    }
  }
  return ordered
}
