/**
 * What a disk or an upgrade has done to the database. Indexes are held against the rows that they lead to, by PostgreSQL's
 * amcheck: one that is out of order, as after an upgrade of what sorts text, or that lost a row lets a unique key be used
 * twice and hides what is there. No rule about the rows can tell.
 */
import { untilEnding } from '../database/cut-short.ts'
import type { Database } from '../database/database.ts'
import { isCutOff, isOfDamage } from '../database/failure.ts'
import { type Fragment, identifier, type Sql, type Transaction } from '../database/sql.ts'

export interface DamagedIndex {
  readonly index: string
  /** What the server says about it. */
  readonly says: string
}

export interface IndexReport {
  readonly checked: number
  /** Those that took longer than they may. */
  readonly unread: readonly string[]
  readonly damaged: readonly DamagedIndex[]
}

/** How often a page that was read was not as it had been written, since the server's statistics began. */
export const countDamagedPages = async (sql: Sql): Promise<number> =>
  (
    await sql.one<{ count: number }>`
      select coalesce(sum(checksum_failures), 0)::int as count from pg_stat_database
      where datname is null or datname = current_database()`
  ).count

export interface IndexCheckOptions {
  /** Of one index, in milliseconds: it is read as a whole, and so is its table. */
  readonly limitMs: number
  /** Cuts the check off. */
  readonly ending?: AbortSignal | undefined
}

/**
 * Checks every index of the schema, one after the other, until `ending` says so; readers and writers go on meanwhile.
 * Undefined where the role may not: it has to be a superuser, who installs amcheck here, or has been let use it.
 */
export async function checkIndexes(
  db: Database,
  { limitMs, ending }: IndexCheckOptions,
): Promise<IndexReport | undefined> {
  const schema = await schemaOfAmcheck(db)
  if (schema === undefined) return undefined
  const indexes = await db.read.rows<{ index: string }>`
    select c.oid::regclass::text as index from pg_class c join pg_index i on i.indexrelid = c.oid
    where c.relkind = 'i' and c.relnamespace = current_schema()::regnamespace and i.indisvalid
      and c.relam = (select oid from pg_am where amname = 'btree') order by 1`
  const damaged: DamagedIndex[] = []
  const unread: string[] = []
  let checked = 0
  for (const { index } of indexes) {
    const check = (tx: Transaction) => tx.run`select ${schema}.bt_index_check(to_regclass(${index}), true)`
    const found = await examine(db, check, { limitMs, ending })
    if (ending?.aborted) break
    if (found === 'too long') unread.push(index)
    else checked++
    if (typeof found === 'object') damaged.push({ index, ...found })
  }
  return { checked, unread, damaged }
}

/** What one index is like, and whether there was the time to see it. One that was dropped meanwhile is sound. */
async function examine(
  db: Database,
  check: (tx: Transaction) => Promise<number>,
  { limitMs, ending }: IndexCheckOptions,
): Promise<'sound' | 'too long' | Pick<DamagedIndex, 'says'>> {
  try {
    await db.transaction((tx) => untilEnding(db, tx, ending, () => check(tx)), {
      readOnly: true,
      statementTimeoutMs: limitMs,
    })
    return 'sound'
  } catch (error) {
    if (isOfDamage(error)) return { says: error.message }
    if (isCutOff(error)) return 'too long'
    throw error
  }
}

/** Of the database, held by whoever installs amcheck. */
const installingLock = 5_261_908_118

/** Where amcheck is; a role that may install it does. */
async function schemaOfAmcheck({ read, transaction }: Database): Promise<Fragment | undefined> {
  const [known] = await read.rows<{ schema: string; isAllowed: boolean }>`
    select n.nspname as schema, exists (
      select from pg_proc p where p.pronamespace = n.oid and p.proname = 'bt_index_check' and p.pronargs = 2
        and has_schema_privilege(n.oid, 'usage') and has_function_privilege(p.oid, 'execute')) as "isAllowed"
    from pg_extension e join pg_namespace n on n.oid = e.extnamespace where e.extname = 'amcheck'`
  if (known) return known.isAllowed ? identifier(known.schema) : undefined
  const { schema, mayInstall } = await read.one<{ schema: string; mayInstall: boolean }>`
    select current_schema() as schema, (select rolsuper from pg_roles where rolname = current_user)
      and exists (select from pg_available_extensions where name = 'amcheck') as "mayInstall"`
  if (!mayInstall) return undefined
  await transaction(async (tx) => {
    // Another worker that does so at the same time would make it fail.
    await tx.run`select pg_advisory_xact_lock(${installingLock}::bigint)`
    await tx.run`create extension if not exists amcheck`
  })
  return identifier(schema)
}
