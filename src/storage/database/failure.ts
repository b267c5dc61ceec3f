/**
 * What can go wrong between us and the database, sorted by what the caller may do about it. Everything else
 * that the driver throws is a bug in a statement and passes through unchanged.
 */
import pg from 'pg'

/** The database cannot be reached or is too busy; nothing was committed. Trying again later is safe. */
export class DatabaseUnavailable extends Error {
  override name = 'DatabaseUnavailable'
}

/**
 * The connection was lost while a commit was under way: it may or may not have happened. Find out by reading
 * what should have been written; never repeat blindly.
 */
export class CommitUnknown extends DatabaseUnavailable {
  override name = 'CommitUnknown'
}

/** What the address says of whom to trust keeps us from a connection, in words for who wrote it. */
export class AddressUnusable extends Error {
  override name = 'AddressUnusable'
}

/** Serialization failure and deadlock: the whole transaction may simply run again. */
const repeatable = new Set(['40001', '40P01'])
/** Connection failures, a server that starts or stops, exhausted resources, time-outs. */
const unavailable = /^(08...|53...|57P0[1-5]|57014|25P0[34])$/
/** Those among them that leave the connection dead, or its last statement's fate open. */
const lost = /^(08...|57P0[1-5]|25P0[34])$/

/** Whether the transaction did nothing and may run again as a whole. */
export const isRepeatable = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && repeatable.has(error.code ?? '')

/** Whether the server may have carried out the statement although no answer came. */
export const isConnectionLoss = (error: unknown): boolean => lost.test(stateOf(error))

/**
 * A transaction that shall write has met a standby, in the place of the server that was there before: the check of its mode
 * says that this is not supported, in words of the server's language.
 */
const isStandby = (error: unknown): boolean =>
  error instanceof pg.DatabaseError && error.code === '0A000' && error.routine === 'call_bool_check_hook'

/** An error of the driver as ours. */
export function translate(error: unknown): unknown {
  if (error instanceof DatabaseUnavailable) return error
  if (!unavailable.test(stateOf(error)) && !isStandby(error)) return error
  return new DatabaseUnavailable(String(error), { cause: error })
}

/**
 * Why there is no connection. A database that let us in before is away, whatever it says: who runs it changes a password
 * or shuts it for a while, and nothing was asked of it yet.
 */
export function unconnected(error: unknown, wasOpen: boolean): unknown {
  const unusable = wasOpen ? undefined : unusableWords(error)
  if (unusable !== undefined) return new AddressUnusable(unusable, { cause: error })
  const failure = translate(error)
  if (!wasOpen || failure instanceof DatabaseUnavailable) return failure
  return new DatabaseUnavailable(String(error), { cause: error })
}

/** The server goes down at once, whatever the reason: what was under way may be found done when it is back. */
const panicked = ({ severity }: pg.DatabaseError): boolean => severity === 'PANIC'

/** The driver reports a broken connection by plain errors; what it throws about values has a class of its own. */
function stateOf(error: unknown): string {
  if (error instanceof pg.DatabaseError) return panicked(error) ? '08006' : (error.code ?? '')
  // A password that is missing, or a server that does not prove that it knows it: no time heals that.
  if (error instanceof Error && error.message.startsWith('SASL: ')) return '28P01'
  if (error instanceof AddressUnusable || isWithoutTls(error)) return '28000'
  const aboutValues =
    error instanceof RangeError || error instanceof TypeError || error instanceof SyntaxError
  return aboutValues ? '' : '08006'
}

/** Whether the server has met pages or indexes that are not what they should be. */
export const isOfDamage = (error: unknown): error is pg.DatabaseError =>
  error instanceof pg.DatabaseError && /^XX00[12]$/.test(error.code ?? '')

/** Whether a statement took longer than it may, or somebody has called it off. */
export const isCutOff = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable &&
  error.cause instanceof pg.DatabaseError &&
  error.cause.code === '57014'

/** The name of the constraint that a statement violated (unique, check, foreign key, not null), if any. */
export function violatedConstraint(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError) || !error.code?.startsWith('23')) return undefined
  return error.constraint ?? error.column
}

/** Whether the server refuses the user, the password or the database that the address names, or lets nobody in. */
export const isTurnedAway = (error: unknown): boolean =>
  /^(28...|3D000)$/.test(stateOf(error)) || (error instanceof pg.DatabaseError && error.severity === 'FATAL')

const codeOf = (error: unknown): string => String((error as { code?: unknown } | null)?.code)

/**
 * Why the address cannot be used as it is. The server's certificate is not signed by whom we trust, is for another name or
 * is over; or a file that the address names cannot be read. Only who connects knows that an error is of the address: other
 * files and servers have the same.
 */
function unusableWords(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined
  if (/CERT|^(INVALID|UNABLE_TO|ERR_OSSL)_|^HOSTNAME_MISMATCH$/.test(codeOf(error)))
    return `the database is not trusted: ${error.message}; DATABASE_URL says by sslmode and sslrootcert who is`
  const isUnread = (error as NodeJS.ErrnoException).syscall === 'open' || codeOf(error) === 'EISDIR'
  return isUnread ? `a file that DATABASE_URL names cannot be read: ${error.message}` : undefined
}

const isWithoutTls = (error: unknown): boolean =>
  error instanceof Error && error.message === 'The server does not support SSL connections'

/**
 * Whether the server forbids what is asked of it: rights that the user lacks, a schema that is not there, a server that
 * takes no writes. Only who runs it can mend that.
 */
export const isForbidden = (error: unknown): boolean => /^(42501|3F000|25006)$/.test(stateOf(error))

/** Whether what was prepared on a connection is unknown there, or something else is known: its session was another's. */
export const isForeignSession = (error: unknown): boolean => /^(26000|42P05)$/.test(stateOf(error))
