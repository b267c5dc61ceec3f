/**
 * The client order id of an account order: a pure function of (environment, setup, source, revision), so a
 * resend after a crash carries the same id and a broker recognises it. Form `LS<env>-<setup>-<source>-<revision>`
 * with numbers in base 36: upper-case letters, digits and hyphens, at most 36 characters, which fits every FIX
 * venue's ClOrdID (11) and survives a broker that folds case. A new revision is a replace or a deliberate new attempt.
 */

/** S copy of a signal, Y AutoSync correction, M manual exit, L auto stop loss, X closing of a stopped setup. */
export type OrderSource = 'S' | 'Y' | 'M' | 'L' | 'X'

export type ClientOrderKey = {
  /** 1 to 4 upper-case letters or digits: two environments at one broker never share an id. */
  environment: string
  /** The account's setup (account and strategy). */
  setupId: number
  source: OrderSource
  /** The signal's id, or the number of whatever else asked for the order. */
  sourceId: number
  revision: number
}

const form = /^LS([0-9A-Z]{1,4})-([0-9A-Z]{1,11})-([SYMLX])([0-9A-Z]{1,11})-([0-9A-Z]{1,4})$/i
const largestRevision = 36 ** 4 - 1

const base36 = (value: number): string => value.toString(36).toUpperCase()

const isWhole = (value: number): boolean => Number.isSafeInteger(value) && value >= 0

/** What every id of this environment starts with; no environment's prefix starts another's. */
export function clientOrderIdPrefix(environment: string): string {
  if (!/^[0-9A-Z]{1,4}$/.test(environment)) throw new RangeError(`no environment code: ${environment}`)
  return `LS${environment}-`
}

/** The id of an account order. Throws on numbers that are not whole or too large: those are defects. */
export function clientOrderId(key: ClientOrderKey): string {
  if (![key.setupId, key.sourceId, key.revision].every(isWhole) || key.revision > largestRevision) {
    throw new RangeError('client order ids are made of whole numbers')
  }
  const prefix = clientOrderIdPrefix(key.environment)
  return `${prefix}${base36(key.setupId)}-${key.source}${base36(key.sourceId)}-${base36(key.revision)}`
}

/** Reads an id back, in either letter case; null for anything that `clientOrderId` cannot have made. */
export function parseClientOrderId(id: string): ClientOrderKey | null {
  const parts = form.exec(id)
  if (!parts) return null
  const [, environment, setup, source, number, revision] = parts
  const key: ClientOrderKey = {
    environment: environment!.toUpperCase(),
    setupId: Number.parseInt(setup!, 36),
    source: source!.toUpperCase() as OrderSource,
    sourceId: Number.parseInt(number!, 36),
    revision: Number.parseInt(revision!, 36),
  }
  const readable = [key.setupId, key.sourceId].every(isWhole)
  return readable && clientOrderId(key) === id.toUpperCase() ? key : null
}
