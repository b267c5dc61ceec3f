/**
 * What a disk or an upgrade has done to the database. Indexes are held against the rows that they lead to, by PostgreSQL's
 * amcheck: one that is out of order, as after an upgrade of what sorts text, or that lost a row lets a unique key be used
 * twice and hides what is there. No rule about the rows can tell.
 */
import type { Database } from '../database/database.ts'
import { isOfDamage } from '../database/failure.ts'
import { type Fragment, identifier, type Sql } from '../database/sql.ts'

export interface DamagedIndex {
  readonly index: string
  /** What the server says about it. */
  readonly says: string
}

export interface IndexReport {
  readonly checked: number
  readonly damaged: readonly DamagedIndex[]
}

/** How often a page that was read was not as it had been written, since the server's statistics began. */
export const countDamagedPages = async (sql: Sql): Promise<number> =>
  (
    await sql.one<{ count: number }>`
      select coalesce(sum(checksum_failures), 0)::int as count from pg_stat_database
      where datname is null or datname = current_database()`
  ).count

/** Of one index; it is read as a whole, and so is its table. */
const statementTimeoutMs = 300_000

/**
 * Checks every index of the schema, one after the other, until `isEnding` says so; readers and writers go on meanwhile.
 * Undefined where the role may not: it has to be a superuser, who installs amcheck here, or has been let use it.
 */
export async function checkIndexes(
  db: Database,
  isEnding: () => boolean = () => false,
): Promise<IndexReport | undefined> {
  const schema = await schemaOfAmcheck(db)
  if (schema === undefined) return undefined
  const indexes = await db.read.rows<{ index: string }>`
    select c.oid::regclass::text as index from pg_class c join pg_index i on i.indexrelid = c.oid
    where c.relkind = 'i' and c.relnamespace = current_schema()::regnamespace and i.indisvalid
      and c.relam = (select oid from pg_am where amname = 'btree') order by 1`
  const damaged: DamagedIndex[] = []
  let checked = 0
  for (const { index } of indexes) {
    if (isEnding()) break
    const says = await damageOf(db, schema, index)
    if (says !== undefined) damaged.push({ index, says })
    checked++
  }
  return { checked, damaged }
}

const damageOf = (db: Database, schema: Fragment, index: string): Promise<string | undefined> =>
  db
    .transaction((tx) => tx.run`select ${schema}.bt_index_check(${index}::regclass, true)`, {
      readOnly: true,
      statementTimeoutMs,
    })
    .then(
      () => undefined,
      (error: unknown) => {
        if (isOfDamage(error)) return error.message
        throw error
      },
    )

/** Where amcheck is; a role that may install it does. */
async function schemaOfAmcheck({ read, write }: Database): Promise<Fragment | undefined> {
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
  await write.run`create extension if not exists amcheck`
  return identifier(schema)
}
