/**
 * Brings the schema forward: numbered SQL files, each run once, in order, in a transaction of its own. What ran
 * is remembered with a checksum; a database that knows a file we do not have, or had another content, is
 * refused. A file that has moved within the row before it was released is known by its content. Any number of
 * processes may start at once: an advisory lock lets one work at a time.
 */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { Database } from './database.ts'
import { isRepeatable } from './failure.ts'
import { makeLooks } from './looks.ts'
import type { Sql, Transaction } from './sql.ts'

const lockKey = 7_204_118_155
/** A migration waits this long for a lock, so that it never holds up running traffic; then it tries again. */
const lockTimeout = '1s'
const lockTriesMax = 120
const lockPauseMs = 250
const statementTimeoutMs = 600_000
/** Processes that are at work hear of every migration. */
const schemaChannel = 'schema'

interface Migration {
  readonly number: number
  readonly name: string
  readonly checksum: string
  readonly text: string
}

/** The migrations that come with this program. */
const migrationsFolder = join(import.meta.dirname, '../migrations')

/**
 * Applies what is missing and returns the names of what it applied. Throws when the database is newer than the
 * program, when an applied file was changed, and with the SQL error when a file fails (nothing of it stays).
 */
export async function migrate(database: Database, folder = migrationsFolder): Promise<string[]> {
  const migrations = readMigrations(folder)
  const applied: string[] = []
  for (;;) {
    const name = await patiently(() =>
      database.transaction((tx) => applyNext(tx, migrations), { statementTimeoutMs }),
    )
    if (name === undefined) return applied
    applied.push(name)
  }
}

/** The numbers of the migrations that come with this program. */
export const migrationNumbers = (): number[] => readMigrations(migrationsFolder).map(({ number }) => number)

/** Whether a platform has ever been made in the database. */
export const isBegun = (sql: Sql): Promise<boolean> =>
  sql.one<{ isBegun: boolean }>`select to_regclass('schema_migration') is not null as "isBegun"`.then(
    ({ isBegun }) => isBegun,
  )

/** Whether all of these were applied. */
export async function isMigrated(sql: Sql, numbers: readonly number[]): Promise<boolean> {
  const applied = new Set((await appliedMigrations(sql)).map(({ number }) => number))
  return numbers.every((number) => applied.has(number))
}

/** Reads the files in order; numbers may leave gaps. Throws when one is used twice, or a name is malformed. */
function readMigrations(folder: string): Migration[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return names.sort().map((name, index) => {
    const isTaken = names[index - 1]?.slice(0, 4) === name.slice(0, 4)
    if (!/^\d{4}_[a-z0-9_]+\.sql$/.test(name) || isTaken)
      throw new Error(`migration ${name} should be named NNNN_what.sql, with a number of its own`)
    const text = readFileSync(join(folder, name), 'utf8').replaceAll('\r\n', '\n')
    const checksum = createHash('sha256').update(text).digest('hex')
    return { number: Number(name.slice(0, 4)), name, checksum, text }
  })
}

async function applyNext(tx: Transaction, migrations: readonly Migration[]): Promise<string | undefined> {
  await tx.script(`set local lock_timeout = '${lockTimeout}'`)
  await tx.run`select pg_advisory_xact_lock(${lockKey})`
  await tx.script(`create table if not exists schema_migration (
    number integer primary key,
    name text not null,
    checksum text not null,
    applied_at timestamptz not null default clock_timestamp()
  )`)
  const found = await appliedMigrations(tx).catch((error: unknown) => {
    const isOthers = error instanceof pg.DatabaseError && error.code === '42703'
    throw isOthers
      ? new Error('the table schema_migration of this database is not ours', { cause: error })
      : error
  })
  const done = await renumbered(tx, found, migrations)
  for (const { number, name, checksum } of done) {
    const known = migrations.find((migration) => migration.number === number)
    if (!known) throw newerThanUs(name)
    if (known.name !== name || known.checksum !== checksum) {
      throw new Error(`migration ${name} was applied with another content: applied files must never change`)
    }
  }
  const next = migrations.find((migration) => done.every((known) => known.number !== migration.number))
  if (!next) return undefined
  await tx.script(next.text).catch((error) => {
    throw located(error, next)
  })
  const { number, name, checksum } = next
  await tx.run`insert into schema_migration (number, name, checksum) values (${number}, ${name}, ${checksum})`
  await tx.run`select pg_notify(${schemaChannel}, ${name})`
  return name
}

const newerThanUs = (name: string): Error =>
  new Error(`the database has migration ${name}, this program is older: update it`)

/**
 * Calls back once, with why, when a newer program has brought the schema forward: rows may then mean what this one does
 * not know. Looks that fail are told to the log, and made again.
 */
export async function whenOutgrown(
  database: Pick<Database, 'read' | 'listen'>,
  log: { warn(facts: object, message: string): void },
  outgrown: (why: Error) => void,
): Promise<void> {
  const ours = new Set(readMigrations(migrationsFolder).map(({ checksum }) => checksum))
  let isTold = false
  const look = async (): Promise<void> => {
    // By content: a newer program may have given another file the number of one of ours.
    const unknown = (await appliedMigrations(database.read)).find(({ checksum }) => !ours.has(checksum))
    // Each of its migrations is heard of.
    if (!unknown || isTold) return
    isTold = true
    outgrown(newerThanUs(unknown.name))
  }
  const { ask } = makeLooks(look, (error) =>
    log.warn({ error: String(error) }, 'the schema could not be looked at'),
  )
  await database.listen(schemaChannel, ask)
}

/** What was applied, each under the number that its file has now. */
async function renumbered(
  tx: Transaction,
  done: readonly Applied[],
  migrations: readonly Migration[],
): Promise<Applied[]> {
  const now: Applied[] = []
  for (const each of done) {
    const moved = migrations.find(
      ({ checksum, number }) => checksum === each.checksum && number < each.number,
    )
    now.push(moved ?? each)
    if (moved === undefined) continue
    const { number, name } = moved
    await tx.run`update schema_migration set number = ${number}, name = ${name} where number = ${each.number}`
  }
  return now
}

/** Says in which file, and in which line of it where that is known, an SQL error is; one that passes stays as it is. */
function located(error: unknown, { name, text }: Migration): unknown {
  if (!(error instanceof pg.DatabaseError) || isLocked(error) || isRepeatable(error)) return error
  const line = error.position && `, line ${text.slice(0, Number(error.position)).split('\n').length}`
  return new Error(`${name}${line ?? ''}: ${error.message}`, { cause: error })
}

type Applied = Omit<Migration, 'text'>

const appliedMigrations = (sql: Sql): Promise<Applied[]> =>
  sql.rows`select number, name, checksum from schema_migration order by number`

/** Whether somebody else has the lock that a migration wants. */
const isLocked = (error: unknown): boolean => error instanceof pg.DatabaseError && error.code === '55P03'

async function patiently<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isLocked(error) || tries === lockTriesMax) throw error
    }
    await pause(lockPauseMs)
  }
}
