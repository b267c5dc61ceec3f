/**
 * Finds the person behind a key. Junk is dropped by its checksum without a query; what was found is believed
 * for less than a second, so a revoked key dies within one second in every process, and sooner when the
 * database's notification arrives. Look-ups of one key that come together share one query.
 */
import { LRUCache } from 'lru-cache'
import type { Dialect } from '../contract/index.ts'
import { isUuidKey, readKey } from '../domain/people/access-key.ts'
import type { Database } from '../storage/database/database.ts'
import { DatabaseUnavailable } from '../storage/database/failure.ts'
import { findKeyHolder, type KeyHolder, keyChannel } from '../storage/people/keys.ts'
import { type Caller, type Clock, type Refused, refuse } from './context.ts'
import { hashKey, type Secrets } from './secrets.ts'

/** How long an answer of the database is believed, from before it was asked. */
const believedMs = 900
const cachedMax = 10_000

/** What the database said about a key, and until when (monotonic milliseconds) that is believed. */
interface Belief {
  caller: Caller | undefined
  expiresAt: number
  until: number
  /** How often keys had changed before it was asked for; after another change it is believed no more. */
  generation: number
}

export interface Authenticator {
  /**
   * The caller behind an `Authorization` header, at once when it is cached. Refuses: KeyMalformed,
   * KeyRejected; Disconnected while the database is away.
   */
  authenticate(header: string | undefined, dialect: Dialect): Caller | Refused | Promise<Caller | Refused>
  close(): Promise<void>
}

export interface AuthenticatorOptions {
  db: Database
  clock: Clock
  secrets: Secrets
  /** Keys of other environments are unknown here. */
  keyEnvironment: string
}

/** The name of a scheme is the same in any case and may have several blanks behind it (RFC 9110, 11.1 and 11.4). */
const scheme = /^bearer +/i
/** The key in a header, as it is remembered: a UUID means the same in any case. */
function keyIn(header: string | undefined): string | undefined {
  const named = header?.match(scheme)?.[0]
  if (header === undefined || named === undefined) return undefined
  const key = header.slice(named.length)
  return isUuidKey(key) ? key.toLowerCase() : key
}

/** While the database is away nobody can be let in, and nobody is told that his key is wrong. */
function unreachable(error: unknown): Refused {
  if (error instanceof DatabaseUnavailable) return refuse('Disconnected')
  throw error
}

const malformed = refuse('KeyMalformed', 'APIKey')
const rejected = refuse('KeyRejected', 'APIKey')

/** Starts to listen for changes of keys. */
export async function createAuthenticator(options: AuthenticatorOptions): Promise<Authenticator> {
  const { clock, keyEnvironment } = options
  const beliefs = await openBeliefs(options)
  const judge = ({ caller, expiresAt }: Belief): Caller | Refused =>
    caller !== undefined && clock.now() < expiresAt ? caller : rejected
  return {
    authenticate: (header, dialect) => {
      const key = keyIn(header)
      if (key === undefined) return malformed
      const belief = beliefs.cached(key)
      if (belief !== undefined && (dialect === 'compat' || !isUuidKey(key))) return judge(belief)
      const form = readKey(key)
      if (form === undefined && !(dialect === 'compat' && isUuidKey(key))) return malformed
      if (form !== undefined && form.env !== keyEnvironment) return rejected
      return beliefs.look(key).then(judge, unreachable)
    },
    close: beliefs.close,
  }
}

interface Beliefs {
  /** What is still believed about a key. */
  cached(key: string): Belief | undefined
  /** The same, asked for where it is not; look-ups of one key that come together are one query. */
  look(key: string): Promise<Belief>
  close(): Promise<void>
}

async function openBeliefs({ db, secrets }: AuthenticatorOptions): Promise<Beliefs> {
  const good = new LRUCache<string, Belief>({ max: cachedMax })
  const bad = new LRUCache<string, Belief>({ max: cachedMax })
  const asked = new Map<string, Promise<Belief>>()
  let generation = 0
  const subscription = await db.listen(keyChannel, () => {
    generation++
  })
  const ask = async (key: string): Promise<Belief> => {
    const began = { at: performance.now(), generation }
    const holder = await findKeyHolder(db.read, hashKey(secrets, key))
    const belief: Belief = {
      caller: holder && callerOf(holder),
      expiresAt: holder?.expiresAt ?? Number.POSITIVE_INFINITY,
      until: began.at + believedMs,
      generation: began.generation,
    }
    if (belief.caller) good.set(key, belief)
    else {
      good.delete(key)
      bad.set(key, belief)
    }
    return belief
  }
  const cached = (key: string): Belief | undefined => {
    const belief = good.get(key) ?? bad.get(key)
    const isBelieved = belief?.generation === generation && performance.now() < belief.until
    return isBelieved ? belief : undefined
  }
  const look = (key: string): Promise<Belief> => {
    const known = cached(key)
    if (known) return Promise.resolve(known)
    const made = asked.get(key) ?? ask(key).finally(() => asked.delete(key))
    asked.set(key, made)
    return made
  }
  return { cached, look, close: () => subscription.stop() }
}

function callerOf({ limits, expiresAt: _, ...holder }: KeyHolder): Caller {
  return Object.freeze({ ...holder, ...(limits === null ? {} : { limits }) })
}
