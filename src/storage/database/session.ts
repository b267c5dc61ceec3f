/**
 * What every connection is told first. A role or a database of the operator's own may have settings that were made for
 * other programs; those that change what our statements mean or how long they live are ours on our connections.
 */
import pg from 'pg'
import { type Acting, actingText } from './audit-log.ts'
import type { Sql } from './sql.ts'

/**
 * A process that stops in the middle of a transaction, frozen or cut off, keeps its locks no longer: as long as a lease,
 * after which another does its work.
 */
const idleInTransactionMs = 10_000

const usual: Readonly<Record<string, string>> = {
  timezone: 'UTC',
  datestyle: 'ISO',
  // What text means that we send, and what text we get.
  standard_conforming_strings: 'on',
  array_nulls: 'on',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // Single statements begin no transaction, which would say what it is.
  default_transaction_isolation: 'read committed',
  default_transaction_read_only: 'off',
  default_transaction_deferrable: 'off',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: String(idleInTransactionMs),
}

/**
 * Limits that older servers do not know; one that is too old shall come as far as being told so. Pools end the sessions
 * that they do not need, and a listener has nothing to say for hours.
 */
const noNewerLimits = `select set_config(name, '0', false)
  from (values ('idle_session_timeout'), ('transaction_timeout')) newer (name)
  where current_setting(name, true) is not null`

/** Once the platform is in a schema, tables of other schemas do not come before its own, whatever the search path says. */
const atHome = `select set_config('search_path', quote_ident(n.nspname), false)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('schema_migration')`

/**
 * The statements in one text. `manner`: more settings. They are a transaction that says what it is: in one that is
 * serializable by itself a standby refuses the look-ups, before anybody has asked whether it is one.
 */
export function sessionSetup(
  statementTimeoutMs: number,
  acting: Acting | undefined,
  manner: Readonly<Record<string, string>>,
): string {
  const limit = { statement_timeout: String(statementTimeoutMs) }
  const who: Readonly<Record<string, string>> = acting ? { 'lockstep.acting': actingText(acting) } : {}
  const settings = Object.entries({ ...usual, ...limit, ...manner, ...who })
  const sets = settings.map(([name, value]) => `set ${name} = ${pg.escapeLiteral(value)}`)
  return ['begin isolation level read committed', ...sets, noNewerLimits, atHome, 'commit'].join('; ')
}

/** Ends a connection without its goodbye. */
export const hangUp = (client: pg.ClientBase): void =>
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy()

/**
 * Tells a connection that was just made. One that has gone silent since counts as one that could not be made: it is cut
 * after the same time, and whoever waits for it hears of it. So is one that refused and then does not let go: whoever
 * made it waits for its end.
 */
export async function setUp(
  client: pg.ClientBase,
  { connectionTimeoutMillis: patienceMs }: pg.ClientConfig,
  setup: string,
): Promise<void> {
  const tooLate = setTimeout(() => hangUp(client), patienceMs)
  try {
    await client.query(setup)
  } catch (error) {
    tooLate.unref()
    throw error
  }
  clearTimeout(tooLate)
}

/** What we are told, and what we are asked, would reach connections of somebody else. */
export const sharedSessions =
  'the pooler in front of the database shares its sessions among connections: let it pool by session'

/** Throws where a transaction runs in the very session that reads have on a connection of their own. */
export async function checkSessions(db: {
  readonly read: Sql
  transaction<T>(work: (tx: Sql) => Promise<T>): Promise<T>
}): Promise<void> {
  const session = (sql: Sql) => sql.one<{ pid: number }>`select pg_backend_pid() as pid`
  const reading = await session(db.read)
  const writing = await db.transaction(session)
  if (reading.pid === writing.pid) throw new Error(sharedSessions)
}
