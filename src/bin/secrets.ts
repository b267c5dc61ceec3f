/**
 * The platform's own secrets. Without LOCKSTEP_SECRET they are made once and kept in the data folder, readable
 * by their owner alone; in production a generated secret is refused, because it would be lost with the folder.
 */
import { createHmac, randomBytes } from 'node:crypto'
import { existsSync, linkSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Secrets } from '../operations/secrets.ts'
import { writeWhole } from '../postgres/whole-file.ts'
import type { Database } from '../storage/database/database.ts'
import type { KeyRing } from '../storage/database/vault.ts'
import { enterSecretMarks, listForeignSecrets, type SecretMarks } from '../storage/operating/secret-marks.ts'
import { type Config, ConfigError, makeDataDir } from './config.ts'

interface Warning {
  warn(facts: object, message: string): void
}

/**
 * The secrets, held against those that the database was used with so far: under others no access key would be known
 * any more and nothing sealed would open, and nobody would be told why. Throws ConfigError; a process that may go on with
 * its own says so in its log.
 */
export async function openSecrets(config: Config, db: Database, log?: Warning): Promise<Secrets> {
  const read = readSecrets(config)
  const marks = marksFrom(read)
  await db.transaction(async (tx) => {
    await enterSecretMarks(tx, marks)
    const foreign = await listForeignSecrets(tx, marks)
    const [first] = foreign
    if (first === undefined) return
    if (!log || !hasItsOwn(config)) throw foreignSecret(config, first)
    log.warn(
      { foreign },
      'keys and seals of other data folders are not known here: give all one LOCKSTEP_SECRET',
    )
  })
  return secretsFrom(read)
}

/** A data folder beside a database elsewhere has made secrets of its own: that is no loss. */
export const hasItsOwn = ({ databaseUrl, secret }: Config): boolean =>
  databaseUrl !== undefined && secret === undefined

function foreignSecret(config: Config, foreign: string): ConfigError {
  const source = sourceOf(config, foreign === 'secret' ? 'secret' : 'key-ring')
  return new ConfigError(
    `${source} is not what this database was used with (${foreign}): restore it from the backup of the data folder. ` +
      'If it is lost, `lockstep secrets accept` goes on without it: all access keys and links end then, ' +
      'and what it sealed or hashed (credentials, passwords, personal data) has to be entered again',
  )
}

/** By what each secret is known again; nothing leads back from a mark. */
export const marksOf = (config: Config): SecretMarks => marksFrom(readSecrets(config))

/** Reads or makes the secret and derives one key for each use. */
export const loadSecrets = (config: Config): Secrets => secretsFrom(readSecrets(config))

type Derive = (use: string) => Buffer

interface Read {
  readonly derive: Derive
  readonly keyRing: KeyRing
}

const readSecrets = (config: Config): Read => ({ derive: derivation(config), keyRing: loadKeyRing(config) })

function marksFrom({ derive, keyRing }: Read): SecretMarks {
  const ring = [...keyRing.keys].map(
    ([name, key]) => [`key-ring ${name}`, createHmac('sha256', key).update('mark').digest()] as const,
  )
  return new Map([['secret', derive('mark')], ...ring])
}

const secretsFrom = ({ derive, keyRing }: Read): Secrets => ({
  pepper: derive('access keys'),
  cursor: derive('cursors'),
  passwords: derive('passwords'),
  keyRing,
  personalData: derive('personal data'),
})

/** The seed of the key that signs the heads of the audit log. */
export const auditSeed = (config: Config): Buffer => derivation(config)('audit heads')

/** Whether there is a secret already; without one the next question for it makes one. */
export const hasSecret = ({ secret, dataDir }: Config): boolean =>
  secret !== undefined || existsSync(join(dataDir, 'secret'))

function derivation(config: Config): Derive {
  const root = config.secret ?? kept(config, 'secret', () => randomBytes(48).toString('base64url'))
  if (root.length < 32)
    throw new ConfigError(`${sourceOf(config, 'secret')} must have at least 32 characters`)
  return (use) => createHmac('sha256', root).update(use).digest()
}

const keyForm = /^([A-Za-z0-9-]{1,32}):([A-Za-z0-9+/]{43}=)$/

/** The keys that credentials are wrapped by: `name:key` with 32 bytes in base64, the current one first. */
function loadKeyRing(config: Config): KeyRing {
  const text = config.keyRing ?? kept(config, 'key-ring', () => `k1:${randomBytes(32).toString('base64')}`)
  const keys = text.split(/[\s,]+/).flatMap((entry): [string, Buffer][] => {
    if (entry === '') return []
    const [, name, key] = keyForm.exec(entry) ?? []
    if (name === undefined || key === undefined)
      throw new ConfigError(`${sourceOf(config, 'key-ring')} must hold name:key, each key 32 bytes in base64`)
    return [[name, Buffer.from(key, 'base64')]]
  })
  const [first] = keys
  if (!first || new Set(keys.map(([name]) => name)).size < keys.length)
    throw new ConfigError(`${sourceOf(config, 'key-ring')} must hold keys of different names`)
  return { current: first[0], keys: new Map(keys) }
}

const variables = { secret: 'LOCKSTEP_SECRET', 'key-ring': 'LOCKSTEP_KEY_RING' }

/** Where what cannot be used came from: the variable or, without it, the file of the data folder. */
function sourceOf({ secret, keyRing, dataDir }: Config, name: keyof typeof variables): string {
  const given = { secret, 'key-ring': keyRing }[name]
  return given === undefined ? join(dataDir, name) : variables[name]
}

/** A secret of the data folder, made when it is first needed. */
function kept(config: Config, name: keyof typeof variables, make: () => string): string {
  const { dataDir, production } = config
  if (production)
    throw new ConfigError(`set ${variables[name]}: production does not run on a generated secret`)
  const path = join(dataDir, name)
  if (!existsSync(path)) {
    makeDataDir(config)
    try {
      writeWhole(path, make(), linkSync) // fails where another process was first: then its secret counts
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
  return readFileSync(path, 'utf8').trim()
}
