/**
 * The way to the database for one process: `read` for short reads (pipelined, read-only), `write` for one
 * statement that commits by itself, `transaction` for everything else. Connections are made again when they
 * break; waiting for one ends after a second with `DatabaseUnavailable`. A transaction is run again when the
 * database asks for it (serialization failure, deadlock), never when its outcome is unknown.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { checkFiles } from './address-files.ts'
import type { Acting } from './audit-log.ts'
import {
  CommitUnknown,
  DatabaseUnavailable,
  isConnectionLoss,
  isForeignSession,
  isRepeatable,
  translate,
  unconnected,
} from './failure.ts'
import { type DatabaseLog, type Listener, makeListener, type Subscription } from './listener.ts'
import { sendAlone } from './packet.ts'
import { makeReader } from './reader.ts'
import { checkSessions, hangUp, sessionSetup, setUp, sharedSessions } from './session.ts'
import { makeSql, type Outcome, type Sql, type Statement, type Transaction } from './sql.ts'
import { type Acquire, type TransactionOptions, transactOnce } from './transaction.ts'
import { types } from './wire.ts'

const oldestVersion = 150_000
const triesMax = 5
const retryMs = 50
const openPatienceMs = 30_000
/** Added to the server's own statement limit before the connection counts as dead. */
const answerGraceMs = 2_000

export interface DatabaseOptions {
  /** postgres://user:password@host:port/name, or with ?host=/folder for a unix socket. */
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
  /** In whose name the audit log enters what these connections change, unless a transaction says otherwise. */
  readonly acting?: Acting
  readonly log: DatabaseLog
  /** Connections for transactions and single writes (10). */
  readonly poolSize?: number
  /** Pipelined connections for short reads (2). */
  readonly readers?: number
  /** Limit of one statement in milliseconds (5000). */
  readonly statementTimeoutMs?: number
  /** How long a caller waits for a connection in milliseconds (1000). */
  readonly waitMs?: number
}

export interface Database {
  readonly read: Sql
  readonly write: Sql
  /** Runs `work` in a transaction, perhaps several times: its only effects must be its statements. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>
  /** Calls back for each notification; see `listener.ts`. */
  listen(channel: string, heard: Listener): Promise<Subscription>
  /**
   * The same database on connections of its own, for work that begins again when it is cut short. Commits do not
   * wait for the disk one by one: they keep their order, so a crash loses the last of them and never one from
   * between, and the next ordinary commit makes all of them durable. Statements are planned once, not for each
   * of their ten thousand runs, and a connection is waited for as long as a start may take: nobody waits for the
   * answer, and who works in bulk may not look at a new connection for seconds. To be closed by whoever asked for it.
   */
  relaxed(): Database
  /** Connections of the pool: all, those in use, and how many callers wait for one. */
  connections(): { total: number; inUse: number; waiting: number }
  /** Waits for what is under way, then closes every connection; not for a server that has gone silent. */
  close(): Promise<void>
}

/**
 * Connects and checks the server. Throws when it is older than PostgreSQL 15, runs without durability or hides behind a
 * pooler that shares sessions, and `DatabaseUnavailable` when it does not answer for half a minute.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  checkFiles(options.url)
  const opened = { before: false }
  const database = connect(options, () => opened.before)
  try {
    await checkServer(database, options.log)
    await patiently(options.log, () => checkSessions(database))
    opened.before = true
  } catch (error) {
    await database.close()
    throw isForeignSession(error) ? new Error(sharedSessions) : error
  }
  return database
}

const relaxation = { synchronous_commit: 'off', plan_cache_mode: 'force_generic_plan' }

/** Connections are made when they are needed. `manner`: settings of each of them beside the usual ones. */
function connect(
  options: DatabaseOptions,
  wasOpen: () => boolean,
  manner: Readonly<Record<string, string>> = {},
): Database {
  const { log, statementTimeoutMs = 5000, waitMs = 1000 } = options
  const client = clientConfig(options, waitMs)
  const setup = sessionSetup(statementTimeoutMs, options.acting, manner)
  const answerMs = statementTimeoutMs + answerGraceMs
  const limits = { usualMs: statementTimeoutMs, graceMs: answerGraceMs }
  const reader = makeReader({ client, setup, waitMs, wasOpen, answerMs, connections: options.readers ?? 2 })
  const pool = makePool(client, setup, options.poolSize ?? 10, log)
  const pooled = new Set<pg.ClientBase>()
  pool.on('connect', (made) => pooled.add(made) && made.once('end', () => pooled.delete(made)))
  const acquire = () => checkOut(pool, waitMs, wasOpen)
  const listener = makeListener(client, setup, log)
  return {
    read: makeSql(reader.execute),
    write: makeSql((statement) => repeated(() => writeOnce(acquire, statement, answerMs))),
    transaction: (work, chosen = {}) => repeated(() => transactOnce(acquire, chosen, limits, work)),
    listen: listener.listen,
    relaxed: () => connect({ ...options, waitMs: openPatienceMs }, wasOpen, relaxation),
    connections: () => ({
      total: pool.totalCount,
      inUse: pool.totalCount - pool.idleCount,
      waiting: pool.waitingCount,
    }),
    close: () => {
      const closing = Promise.all([reader.close(), listener.close(), pool.end()])
      return closed(closing, answerMs, {
        isUnderWay: () => pool.totalCount > 0,
        hangUp: () => {
          reader.hangUp()
          for (const one of pooled) hangUp(one)
        },
      })
    },
  }
}

/**
 * What is under way is waited for, and not a server that does not take its leave: whoever is gone never does. What is open
 * to it then would keep the process alive.
 */
async function closed(
  closing: Promise<unknown>,
  patienceMs: number,
  rest: { isUnderWay(): boolean; hangUp(): void },
): Promise<void> {
  const isClosed = closing.then(() => true)
  const isTooLate = () => pause(patienceMs, false, { ref: false })
  while (!(await Promise.race([isClosed, isTooLate()]))) if (!rest.isUnderWay()) return rest.hangUp()
}

function clientConfig({ url, applicationName }: DatabaseOptions, waitMs: number): pg.ClientConfig {
  return {
    connectionString: url,
    application_name: applicationName,
    connectionTimeoutMillis: waitMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    types,
  }
}

/** Pipelined as well: independent statements of a transaction need not wait for each other. */
function makePool(client: pg.ClientConfig, setup: string, max: number, log: DatabaseLog): pg.Pool {
  const ready = new WeakSet<pg.ClientBase>()
  const tell = (made: pg.ClientBase) => setUp(made, client, setup).then(() => ready.add(made))
  const onConnect = tell as unknown as (made: pg.ClientBase) => undefined
  const pool = new pg.Pool({ max, onConnect, ...client, pipeline: true })
  // Of one that breaks before it is ready whoever asked for it hears, again and again while he tries.
  pool.on('error', ({ message: error }, made) => {
    if (ready.has(made)) log.warn({ error }, 'an idle database connection broke')
  })
  // While a client is in use its failures reach the caller through the failing statement.
  pool.on('connect', (made) => made.on('error', () => undefined))
  return pool
}

async function checkServer({ read }: Database, log: DatabaseLog): Promise<void> {
  const settings = await patiently(
    log,
    () => read.rows<{ name: string; setting: string }>`
      select name, setting from (
        select name, setting from pg_settings
        where name in ('server_version_num', 'fsync', 'full_page_writes', 'synchronous_commit', 'server_encoding',
          'in_hot_standby')
        union all select 'small I', lower('I')
      ) facts
      order by name = 'server_version_num' desc`,
  )
  for (const { name, setting } of settings) {
    const fault = serverFault(name, setting)
    if (fault !== undefined) throw new Error(fault)
  }
}

/** Why a server with this setting cannot be worked with. */
function serverFault(name: string, setting: string): string | undefined {
  switch (name) {
    case 'server_version_num':
      return Number(setting) < oldestVersion
        ? `PostgreSQL 15 or newer is needed, this is ${setting}`
        : undefined
    case 'server_encoding':
      return setting === 'UTF8'
        ? undefined
        : `the database has the encoding ${setting}: create it with the encoding UTF8`
    // Addresses, names of operations and ids that differ in case alone would be different ones.
    case 'small I':
      return setting === 'i'
        ? undefined
        : `the small letter of I is ${setting} in the locale of the database: create it with one that is not Turkish`
    case 'in_hot_standby':
      return setting === 'on' ? 'the database is a standby, which takes no writes' : undefined
    default:
      return setting === 'off' ? `the database runs with ${name} off: it would lose orders` : undefined
  }
}

/** Asks until there is an answer; that somebody waits for one is said once. */
async function patiently<T>(log: DatabaseLog, ask: () => Promise<T>): Promise<T> {
  const until = performance.now() + openPatienceMs
  for (let isTold = false; ; isTold = true) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > until) throw error
      if (!isTold) log.warn({ error: error.message }, 'the database does not answer yet and is waited for')
    }
  }
}

async function checkOut(pool: pg.Pool, waitMs: number, wasOpen: () => boolean): Promise<pg.PoolClient> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      return await pool.connect()
    } catch (error) {
      const failure = unconnected(error, wasOpen())
      if (!(failure instanceof DatabaseUnavailable) || performance.now() + retryMs > until) throw failure
    }
    await pause(retryMs)
  }
}

/** Runs again what the database asks to be run again, after a short random wait. */
async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRepeatable(error) || tries === triesMax) throw error
    }
    await pause(Math.random() * 5 * 2 ** tries)
  }
}

async function writeOnce(acquire: Acquire, statement: Statement, limitMs: number): Promise<Outcome> {
  const client = await acquire()
  let broken = false
  try {
    return await sendAlone(client, statement, limitMs)
  } catch (error) {
    broken = isConnectionLoss(error)
    throw broken ? new CommitUnknown(String(error), { cause: error }) : translate(error)
  } finally {
    client.release(broken)
  }
}
