/**
 * The way to the database for one process: `read` for short reads (pipelined, read-only), `write` for one
 * statement that commits by itself, `transaction` for everything else. Connections are made again when they
 * break; waiting for one ends after a second with `DatabaseUnavailable`. A transaction is run again when the
 * database asks for it (serialization failure, deadlock), never when its outcome is unknown.
 */

import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { CommitUnknown, DatabaseUnavailable, isConnectionLoss, isRepeatable, translate } from './failure.ts'
import { type Listener, makeListener, type Subscription } from './listener.ts'
import { sendTogether } from './packet.ts'
import { makeReader, withLimit } from './reader.ts'
import { makeSql, type Outcome, type Sql, type Transaction } from './sql.ts'
import { types } from './wire.ts'

const OLDEST_VERSION = 150_000
const TRIES = 5
const RETRY_MS = 50
const OPEN_PATIENCE_MS = 30_000
/** Added to the server's own statement limit before the connection counts as dead. */
const ANSWER_GRACE_MS = 2_000

interface DatabaseLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
}

export interface DatabaseOptions {
  /** postgres://user:password@host:port/name, or with ?host=/folder for a unix socket. */
  readonly url: string
  /** Shown in pg_stat_activity. */
  readonly applicationName: string
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

interface TransactionOptions {
  readonly isolation?: 'read committed' | 'repeatable read' | 'serializable'
  readonly readOnly?: boolean
  /** Limit of one statement in milliseconds, instead of the database's own. */
  readonly statementTimeoutMs?: number
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
   * of their ten thousand runs. To be closed by whoever asked for it.
   */
  relaxed(): Database
  /** Connections of the pool: all, and those in use. */
  connections(): { total: number; inUse: number }
  /** Waits for what is under way, then closes every connection. */
  close(): Promise<void>
}

/**
 * Connects and checks the server. Throws when it is older than PostgreSQL 15 or runs without durability, and
 * `DatabaseUnavailable` when it does not answer for half a minute.
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const database = connect(options)
  try {
    await checkServer(database)
  } catch (error) {
    await database.close()
    throw error
  }
  return database
}

const relaxation = '; set synchronous_commit = off; set plan_cache_mode = force_generic_plan'

/** Connections are made when they are needed. `manner`: settings of each of them beside the usual ones. */
function connect(options: DatabaseOptions, manner = ''): Database {
  const { log, statementTimeoutMs = 5000, waitMs = 1000 } = options
  const client = clientConfig(options, waitMs)
  const setup = `set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = ${statementTimeoutMs}${manner}`
  const answerMs = statementTimeoutMs + ANSWER_GRACE_MS
  const reader = makeReader({ client, setup, waitMs, answerMs, connections: options.readers ?? 2 })
  const pool = makePool(client, setup, options.poolSize ?? 10, log)
  const acquire = () => checkOut(pool, waitMs)
  const listener = makeListener(client, log)
  return {
    read: makeSql(reader.execute),
    write: makeSql((statement) => repeated(() => writeOnce(acquire, withLimit(statement, answerMs)))),
    transaction: (work, chosen = {}) =>
      repeated(() => transactOnce(acquire, chosen, statementTimeoutMs, work)),
    listen: listener.listen,
    relaxed: () => connect(options, relaxation),
    connections: () => ({ total: pool.totalCount, inUse: pool.totalCount - pool.idleCount }),
    close: async () => {
      await Promise.all([reader.close(), listener.close(), pool.end()])
    },
  }
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
  const onConnect = (made: pg.ClientBase) => made.query(setup) as unknown as undefined
  const pool = new pg.Pool({ ...client, pipeline: true, max, onConnect })
  pool.on('error', (error) => log.warn({ error: error.message }, 'an idle database connection broke'))
  // While a client is in use its failures reach the caller through the failing statement.
  pool.on('connect', (made) => made.on('error', () => undefined))
  return pool
}

async function checkServer({ read }: Database): Promise<void> {
  const settings = await patiently(
    () => read.rows<{ name: string; setting: string }>`
      select name, setting from pg_settings
      where name in ('server_version_num', 'fsync', 'full_page_writes', 'synchronous_commit')`,
  )
  for (const { name, setting } of settings) {
    if (name === 'server_version_num') {
      if (Number(setting) < OLDEST_VERSION)
        throw new Error(`PostgreSQL 15 or newer is needed, this is ${setting}`)
    } else if (setting === 'off') throw new Error(`the database runs with ${name} off: it would lose orders`)
  }
}

async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  const until = performance.now() + OPEN_PATIENCE_MS
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof DatabaseUnavailable) || performance.now() > until) throw error
    }
  }
}

async function checkOut(pool: pg.Pool, waitMs: number): Promise<pg.PoolClient> {
  const until = performance.now() + waitMs
  for (;;) {
    try {
      return await pool.connect()
    } catch (error) {
      const failure = translate(error)
      if (!(failure instanceof DatabaseUnavailable) || performance.now() + RETRY_MS > until) throw failure
    }
    await pause(RETRY_MS)
  }
}

type Acquire = () => Promise<pg.PoolClient>

/** Runs again what the database asks to be run again, after a short random wait. */
async function repeated<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (error) {
      if (!isRepeatable(error) || tries === TRIES) throw error
    }
    await pause(Math.random() * 5 * 2 ** tries)
  }
}

async function writeOnce(acquire: Acquire, statement: pg.QueryConfig): Promise<Outcome> {
  const client = await acquire()
  let broken = false
  try {
    return await client.query(statement)
  } catch (error) {
    broken = isConnectionLoss(error)
    throw broken ? new CommitUnknown(String(error), { cause: error }) : translate(error)
  } finally {
    client.release(broken)
  }
}

async function transactOnce<T>(
  acquire: Acquire,
  options: TransactionOptions,
  usualTimeoutMs: number,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  const client = await acquire()
  const timeoutMs = options.statementTimeoutMs ?? usualTimeoutMs
  let open = true
  let broken = false
  const send = (statement: pg.QueryConfig) => {
    sendTogether(client)
    return client.query(withLimit(statement, timeoutMs + ANSWER_GRACE_MS)).catch((error) => {
      throw translate(error)
    })
  }
  const execute = async (statement: pg.QueryConfig): Promise<Outcome> => {
    if (!open) throw new Error('a statement was sent after the end of its transaction')
    return send(statement)
  }
  const script = async (text: string) => {
    await execute({ text })
  }
  try {
    // Waited for: were it refused, statements sent behind it would commit one by one.
    await send({ text: beginning(options, timeoutMs, usualTimeoutMs) })
    const result = await work({ ...makeSql(execute), isTransaction: true, script })
    open = false
    await commit(client)
    return result
  } catch (error) {
    open = false
    broken = error instanceof CommitUnknown || !(await rolledBack(client))
    throw error
  } finally {
    client.release(broken)
  }
}

function beginning(
  { isolation = 'read committed', readOnly = false }: TransactionOptions,
  timeoutMs: number,
  usualTimeoutMs: number,
): string {
  const begin = `begin isolation level ${isolation} ${readOnly ? 'read only' : 'read write'}`
  // Every connection has the usual limit already.
  return timeoutMs === usualTimeoutMs
    ? begin
    : `${begin}; set local statement_timeout = ${Math.ceil(timeoutMs)}`
}

/** An aborted transaction answers COMMIT with ROLLBACK: some statement's failure was ignored. */
async function commit(client: pg.PoolClient): Promise<void> {
  const answer = await client.query('commit').catch((error) => {
    throw isConnectionLoss(error) ? new CommitUnknown(String(error), { cause: error }) : translate(error)
  })
  if (answer.command !== 'COMMIT')
    throw new Error('a failed statement was ignored: the transaction is rolled back')
}

async function rolledBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('rollback').then(
    () => true,
    () => false,
  )
}
