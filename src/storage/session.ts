/**
 * What every connection is told first. A role or a database of the operator's own may have settings that were made for
 * other programs; those that change what our statements mean or how long they live are ours on our connections.
 */
import pg from 'pg'
import { type Acting, actingText } from './audit-log.ts'

/**
 * A process that stops in the middle of a transaction, frozen or cut off, keeps its locks no longer: as long as a lease,
 * after which another does its work.
 */
const IDLE_IN_TRANSACTION_MS = 10_000

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
  // Pools end what they do not need; a listener has nothing to say for hours.
  idle_session_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_MS),
}

/** Of newer servers only. */
const noTransactionTimeout = `select set_config('transaction_timeout', '0', false)
  where current_setting('transaction_timeout', true) is not null`

/** Once the platform is in a schema, tables of other schemas do not come before its own, whatever the search path says. */
const atHome = `select set_config('search_path', quote_ident(n.nspname), false)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = to_regclass('schema_migration')`

/** The statements in one text. `manner`: more settings. */
export function sessionSetup(
  statementTimeoutMs: number,
  acting: Acting | undefined,
  manner: Readonly<Record<string, string>>,
): string {
  const limit = { statement_timeout: String(statementTimeoutMs) }
  const who: Readonly<Record<string, string>> = acting ? { 'lockstep.acting': actingText(acting) } : {}
  const settings = Object.entries({ ...usual, ...limit, ...manner, ...who })
  const sets = settings.map(([name, value]) => `set ${name} = ${pg.escapeLiteral(value)}`)
  return [...sets, noTransactionTimeout, atHome].join('; ')
}
