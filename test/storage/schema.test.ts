/** The schema that the migrations make, and the rules every table of it keeps. */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { dumpSchema } from '../../src/storage/database/schema-dump.ts'
import { type Fragment, identifier } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()
const sql = db.read

interface Column {
  table: string
  column: string
  domain: string | null
}

/** Columns of base tables whose type, below any domain, is `name`. */
const columnsOf = (name: string): Promise<Column[]> => sql.rows<Column>`
  select c.relname as table, a.attname as column, case when t.typtype = 'd' then t.typname end as domain
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_type t on t.oid = a.atttypid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
    and ${name} in (t.typname, (select typname from pg_type where oid = t.typbasetype))
  order by 1, 2`

const noNumbers = ['NaN', 'Infinity', '-Infinity']

/** What the column's own checks demand, as one condition. */
async function checksOf(table: string, column: string): Promise<Fragment> {
  const checks = await sql.rows<{ condition: string }>`
    select pg_get_expr(conbin, conrelid) as condition from pg_constraint
    where contype = 'c' and conrelid = ${table}::regclass and conkey = array[(
      select attnum from pg_attribute where attrelid = ${table}::regclass and attname = ${column})]`
  return { strings: [['true', ...checks.map(({ condition }) => condition)].join(' and ')], values: [] }
}

/**
 * Columns that name a row of another table without a foreign key. Orders and skips are written by the ten
 * thousand in one statement from rows that it has just read and locked; an execution copies its order's setup; an
 * event is written with its signal or under the lock of its strategy; what a signal names is locked and read before it
 * is written, and stays.
 */
const undeclaredOnPurpose =
  /^(account_order|account_skip)[.]|^execution[.]setup_id$|^signal_event[.]signal_id$|^signal[.](strategy|instrument)_id$/

describe('the schema', () => {
  test('is the committed one', async () => {
    const committed = readFileSync(new URL('../../src/storage/schema.sql', import.meta.url), 'utf8')
    expect(await dumpSchema(sql), 'run npm run generate').toBe(committed)
  })

  test('takes no number that is none', async () => {
    const columns = await columnsOf('numeric')
    expect(columns.length).toBeGreaterThan(10)
    const domains = new Set(columns.map(({ domain }) => domain))
    for (const domain of domains) {
      if (domain === null) continue
      expect(await sql.one`select 1.5::${identifier(domain)} = 1.5 as kept`).toEqual({ kept: true })
      for (const value of noNumbers) {
        await expect(
          sql.one`select ${value}::text::${identifier(domain)}`,
          `${domain} ${value}`,
        ).rejects.toThrow()
      }
    }
    for (const { table, column } of columns.filter(({ domain }) => domain === null)) {
      const checks = await checksOf(table, column)
      for (const value of noNumbers) {
        const { refused } = await sql.one<{ refused: boolean }>`
          select not (${checks}) as refused from (select ${value}::numeric as ${identifier(column)}) given`
        expect(refused, `${table}.${column} takes ${value}`).toBe(true)
      }
    }
  })

  test('has no doubles and no types that lose something', async () => {
    for (const type of [
      'float4',
      'float8',
      'money',
      'timestamp',
      'time',
      'timetz',
      'json',
      'varchar',
      'bpchar',
      'name',
    ]) {
      const builtIn = await sql.rows`
        select c.relname, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
        where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped
          and a.atttypid = ('pg_catalog.' || ${type})::regtype`
      expect(builtIn, type).toEqual([])
    }
  })

  test('gives every table a primary key, or one in which nothing is a value too', async () => {
    const without = await sql.rows`
      select relname from pg_class c where relnamespace = 'public'::regnamespace and relkind = 'r'
        and not exists (select from pg_index where indrelid = c.oid
          and (indisprimary or indisunique and indnullsnotdistinct and indpred is null))`
    expect(without).toEqual([])
  })

  test('declares every reference', async () => {
    const undeclared = await sql.rows<{ column: string }>`
      select c.relname || '.' || a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not a.attisdropped
        and a.attname ~ '_id$' and to_regclass('public.' || regexp_replace(a.attname, '_id$', '')) is not null
        and not exists (select from pg_constraint where conrelid = c.oid and contype = 'f' and a.attnum = any(conkey))`
    expect(undeclared.filter(({ column }) => !undeclaredOnPurpose.test(column))).toEqual([])
  })

  test('keeps the inserting transaction where it keeps one, and nowhere else', async () => {
    const wrong = await sql.rows`
      select c.relname || '.' || a.attname as column from pg_attribute a join pg_class c on c.oid = a.attrelid
        left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.atttypid = 'xid8'::regtype
        and (not a.attnotnull or pg_get_expr(d.adbin, d.adrelid) is distinct from 'pg_current_xact_id()')`
    expect(wrong).toEqual([])
  })

  test('has only valid constraints and indexes', async () => {
    expect(await sql.rows`select conname from pg_constraint where not convalidated`).toEqual([])
    expect(await sql.rows`select indexrelid::regclass::text from pg_index where not indisvalid`).toEqual([])
  })
})
