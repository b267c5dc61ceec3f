/**
 * Live brokers, as the file of LOCKSTEP_BROKERS names them: an object of connections by name, each with its `kind`
 * and the settings of that kind. A connection serves the brokers whose `adapter` is its name. The file may hold
 * passwords, so nobody but its owner may read it; what it says is never repeated in an error.
 */
import { readFileSync, statSync } from 'node:fs'
import { connectAlpaca } from '../execution/brokers/alpaca/alpaca.ts'
import type { Broker, LiveBroker } from '../execution/brokers/broker.ts'
import { loadEngine } from '../execution/brokers/fix/engine.ts'
import { createFixBroker } from '../execution/brokers/fix/fix.ts'
import { readFixSettings } from '../execution/brokers/fix/settings.ts'
import type { KeyRing } from '../storage/database/vault.ts'
import { type Config, ConfigError } from './config.ts'
import { loadSecrets } from './secrets.ts'

/** What a connection's entry says beside its kind. */
type Settings = Readonly<Record<string, unknown>>

/** What a connection is made with. */
interface ConnectionParts {
  readonly name: string
  readonly settings: Settings
  /** Opens what customers entrusted. */
  readonly keyRing: KeyRing
}

interface BrokerKind {
  /** Every account has a user name and a password of its own. */
  readonly signsInAsCustomers: boolean
  /** Loads the package that the kind needs. Throws where it is missing or a setting cannot be used. */
  connect(parts: ConnectionParts): Promise<LiveBroker>
}

const alpacaKind: BrokerKind = {
  signsInAsCustomers: true,
  connect: async ({ name, settings, keyRing }) => {
    const environment = settingOf(settings, 'environment', 'paper', ['paper', 'live'])
    const host = environment === 'paper' ? 'paper-api.alpaca.markets' : 'api.alpaca.markets'
    const url = settingOf(settings, 'url', `https://${host}`).replace(/\/+$/, '')
    const streamUrl = settingOf(settings, 'streamUrl', `${url.replace(/^http/, 'ws')}/stream`)
    const requestsPerMinute = Number(settings.requestsPerMinute ?? 200)
    if (!URL.canParse(url) || !URL.canParse(streamUrl)) throw new Error('its url is no address')
    if (!Number.isInteger(requestsPerMinute) || requestsPerMinute < 1)
      throw new Error('its requestsPerMinute must be a whole number above 0')
    return connectAlpaca({ adapter: name, keyRing, url, streamUrl, requestsPerMinute })
  },
}

const fixKind: BrokerKind = {
  signsInAsCustomers: false,
  connect: async ({ name, settings }) =>
    createFixBroker({ name, settings: readFixSettings(settings), engine: await loadEngine() }),
}

const kinds: Readonly<Record<string, BrokerKind>> = { alpaca: alpacaKind, fix: fixKind }

/** A text among the settings. Throws where it is something else, or none of those that are allowed. */
function settingOf(settings: Settings, name: string, usual: string, allowed?: readonly string[]): string {
  const value = settings[name] ?? usual
  if (typeof value !== 'string' || (allowed && !allowed.includes(value)))
    throw new Error(`its ${name} must be ${allowed?.join(' or ') ?? 'a text'}`)
  return value
}

/** Names that the platform's own brokers have. */
const ownNames = ['paper', 'scripted']

/** The kind of a configured connection. Throws `ConfigError` where there is none of that name. */
export function kindOf(config: Config, connection: string): BrokerKind {
  const found = readConnections(config).get(connection)
  if (!found) throw new ConfigError(`LOCKSTEP_BROKERS names no connection ${connection}`)
  return found.kind
}

/** Connects every configured broker. Throws `ConfigError` naming the first that cannot be used. */
export async function connectBrokers(
  config: Config,
): Promise<{ brokers: Readonly<Record<string, Broker>>; close(): Promise<void> }> {
  const connections = readConnections(config)
  const brokers = new Map<string, LiveBroker>()
  const close = async (): Promise<void> => {
    await Promise.all([...brokers.values()].map((broker) => broker.close()))
  }
  for (const [name, { kind, settings }] of connections) {
    try {
      const { keyRing } = loadSecrets(config)
      brokers.set(name, await kind.connect({ name, settings, keyRing }))
    } catch (error) {
      await close()
      const reason = error instanceof Error ? error.message : String(error)
      throw new ConfigError(`LOCKSTEP_BROKERS: the connection ${name} cannot be used: ${reason}`)
    }
  }
  return { brokers: Object.fromEntries(brokers), close }
}

/** The connections by name; none where no file is configured. Throws `ConfigError` where it cannot be used. */
export function readConnections({
  brokersFile,
}: Config): Map<string, { kind: BrokerKind; settings: Settings }> {
  if (brokersFile === undefined) return new Map()
  const entries = Object.entries(objectOf(contentOf(brokersFile), 'LOCKSTEP_BROKERS'))
  return new Map(
    entries.map(([name, entry]) => {
      const { kind, ...settings } = objectOf(entry, `LOCKSTEP_BROKERS: the connection ${name}`)
      if (!/^[a-z][a-z0-9-]{0,31}$/.test(name) || ownNames.includes(name))
        throw new ConfigError(`LOCKSTEP_BROKERS: a connection cannot be named ${name}`)
      const known = Object.hasOwn(kinds, String(kind)) ? kinds[String(kind)] : undefined
      if (!known) {
        const expected = Object.keys(kinds).join(' or ')
        throw new ConfigError(`LOCKSTEP_BROKERS: the kind of ${name} must be ${expected}`)
      }
      return [name, { kind: known, settings }]
    }),
  )
}

function contentOf(path: string): unknown {
  try {
    if ((statSync(path).mode & 0o077) !== 0)
      throw new ConfigError('LOCKSTEP_BROKERS must be readable by its owner alone (chmod 600)')
    return JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError('LOCKSTEP_BROKERS must be the path of a file of JSON that can be read')
  }
}

function objectOf(value: unknown, what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigError(`${what} must be an object`)
  return value as Record<string, unknown>
}
