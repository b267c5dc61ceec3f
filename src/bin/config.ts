/**
 * The configuration, read once from the environment and passed down; nothing below reads the environment.
 * A value that cannot be used ends the start with its name and what was expected.
 */
import { accessSync, constants } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Dialect, HostName } from '../contract/index.ts'
import { type Decimal, dec } from '../domain/decimal.ts'
import type { PaperOptions } from '../execution/brokers/paper.ts'
import { type Networks, readNetworks } from '../http/address.ts'
import type { Hosts } from '../http/routes.ts'
import { readWindows, type Window } from '../operations/limits.ts'
import { fileWords } from './file-words.ts'
import { makeFolder } from './folder.ts'

export interface Config {
  port: number
  /** Address the listener binds to. */
  host: string
  dataDir: string
  /** A PostgreSQL of one's own instead of the embedded one. */
  databaseUrl: string | undefined
  /** Seed the demo on first start. */
  demo: boolean
  hosts: Hosts
  /** Proxies in front of the platform, whose word on who asks is believed; absent: nobody's. */
  trustedProxies: Networks | undefined
  /** What one address may ask for; absent: as much as a key. */
  addressWindows: readonly Window[] | undefined
  logLevel: string
  production: boolean
  /** Where people reach the platform; absent: the address it listens on. Without a slash at the end. */
  publicUrl: string | undefined
  /** Server that mail goes out by; absent: messages are files in the data folder. */
  smtpUrl: string | undefined
  mailFrom: string
  /** Keys the hashes of access keys and signs cursors; generated into the data folder when absent. */
  secret: string | undefined
  /** Keys that wrap customers' credentials, the current one first; generated into the data folder when absent. */
  keyRing: string | undefined
  /** File that names the live brokers; absent: the paper broker alone. */
  brokersFile: string | undefined
  /** How the paper broker fills worse than the market that strategies meet. */
  paper: PaperOptions
  /** Where the page of measures listens; absent: there is none. */
  metrics: { readonly port: number; readonly host: string } | undefined
  /** Payments through Stripe; absent: the built-in provider alone. */
  stripe: StripeConfig | undefined
}

export interface StripeConfig {
  readonly secretKey: string
  /** Signs what Stripe tells by itself; without it nothing that claims to come from there is believed. */
  readonly webhookSecret: string | undefined
  /** Where Stripe is, when it is not the real one. */
  readonly baseUrl: string | undefined
}

/** What is wrong with the environment, in words for whoever starts the product. */
export class ConfigError extends Error {}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the environment. Throws `ConfigError` naming the first variable that cannot be used. */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  return {
    port: portOf(env.PORT),
    host: boundTo(env.HOST),
    dataDir: resolve(env.DATA_DIR || '.data'),
    databaseUrl: databaseOf(env.DATABASE_URL),
    demo: oneOf('DEMO', env.DEMO || '1', ['0', '1']) === '1',
    hosts: hostsOf(env),
    trustedProxies: networksOf(env.TRUSTED_PROXIES),
    addressWindows: windowsOf(env.ADDRESS_LIMITS),
    logLevel: oneOf('LOG_LEVEL', env.LOG_LEVEL || 'info', logLevels),
    production: env.NODE_ENV === 'production',
    publicUrl: publicUrlOf(env.PUBLIC_URL),
    smtpUrl: urlOf('SMTP_URL', env.SMTP_URL, ['smtp:', 'smtps:']),
    mailFrom: senderOf(env.MAIL_FROM || 'Lockstep <lockstep@localhost>'),
    secret: env.LOCKSTEP_SECRET || undefined,
    keyRing: env.LOCKSTEP_KEY_RING || undefined,
    brokersFile: env.LOCKSTEP_BROKERS || undefined,
    paper: {
      latencyMs: amountOf('PAPER_LATENCY_MS', env.PAPER_LATENCY_MS, 10_000, 0).toNumber(),
      slippageTicks: amountOf('PAPER_SLIPPAGE_TICKS', env.PAPER_SLIPPAGE_TICKS, 1_000, 2),
      slippageBps: amountOf('PAPER_SLIPPAGE_BPS', env.PAPER_SLIPPAGE_BPS, 1_000, 2),
    },
    metrics: metricsOf(env.METRICS_PORT, env.METRICS_HOST),
    stripe: stripeOf(env),
  }
}

function stripeOf(env: NodeJS.ProcessEnv): StripeConfig | undefined {
  const secretKey = env.STRIPE_SECRET_KEY
  if (!secretKey) {
    // Whoever set one of them expects payments through Stripe.
    for (const name of ['STRIPE_WEBHOOK_SECRET', 'STRIPE_API_BASE'])
      if (env[name])
        throw new ConfigError(`${name} is set without STRIPE_SECRET_KEY: nothing would go through Stripe`)
    return undefined
  }
  const baseUrl = urlOf('STRIPE_API_BASE', env.STRIPE_API_BASE, ['http:', 'https:'])
  return { secretKey, webhookSecret: env.STRIPE_WEBHOOK_SECRET || undefined, baseUrl }
}

/** The worker that `start` runs beside the api has the next port, so there has to be one. */
function metricsOf(port: string | undefined, host: string | undefined): Config['metrics'] {
  if (!port) return undefined
  if (!/^\d+$/.test(port) || Number(port) > 65_534)
    throw new ConfigError(`METRICS_PORT must be 0 to 65534, not ${port}`)
  return { port: Number(port), host: boundTo(host) }
}

/** An address to listen at. One of IPv6 may be in brackets, as in an address of the web; the system takes it without. */
const boundTo = (text: string | undefined): string => text?.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1'

/**
 * Makes the data folder; whatever the mask of the process, nobody else may change what is in it. Throws `ConfigError`
 * when it cannot be made or written.
 */
export function makeDataDir({ dataDir }: Config): void {
  try {
    makeFolder(dataDir)
    accessSync(dataDir, constants.W_OK)
  } catch (error) {
    throw unusable(dataDir, error)
  }
}

/** What the system says of a data folder, in words for whoever chose it. */
export function unusable(dataDir: string, error: unknown): ConfigError {
  const why = fileWords(error, ofDataFolder)
  return new ConfigError(`the data folder ${dataDir} cannot be used: ${why}; choose another by DATA_DIR`)
}

/** The system says the same of a link to where nothing is, such as a disk that is not mounted, and below /proc. */
const ofDataFolder = {
  ENOENT: 'it is a link that leads nowhere, or in a place that takes no folders',
  EACCES: 'this user may not write there',
  EPERM: 'this user may not write there',
}

/** Where messages are kept that no server sends. */
export const mailFolder = (config: Config): string => join(config.dataDir, 'mail')

/** Where the keys of the demo people are kept, readable by their owner alone. */
export const demoKeysFile = (config: Config): string => join(config.dataDir, 'demo-keys.json')

function portOf(text: string | undefined, name = 'PORT'): number {
  if (text === undefined || text === '') return 8080
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new ConfigError(`${name} must be 0 to 65535, not ${text}`)
  return port
}

/** The address of a database as any address is read: one by a unix socket names no host. */
export const withHost = (address: string): string => address.replace('@/', '@local/')

const sslModes = ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']

/** What was given is not repeated: it may hold a password. */
function databaseOf(text: string | undefined): string | undefined {
  if (!text) return undefined
  if (!/^postgres(ql)?:\/\//.test(text))
    throw new ConfigError('DATABASE_URL must be an address that begins with postgres:// or postgresql://')
  const parts = URL.canParse(withHost(text)) ? new URL(withHost(text)) : undefined
  // The driver would ask for a server whose name is the whole list, and wait for it.
  if (hostsNamed(text, parts).some((name) => name.includes(',')))
    throw new ConfigError('DATABASE_URL must name one host and one port, not several')
  if (!parts || ![parts.username, parts.password, parts.pathname].every(isDecodable))
    throw new ConfigError(
      'DATABASE_URL cannot be read: its port is at most 65535, and what is special in an address, such as @ : / ? # and %, is written as %XX in its user, password and database',
    )
  const { searchParams } = parts
  for (const port of searchParams.getAll('port')) portOf(port, 'port in DATABASE_URL')
  for (const mode of searchParams.getAll('sslmode')) oneOf('sslmode in DATABASE_URL', mode, sslModes)
  if (searchParams.get('uselibpqcompat') === 'true') return text
  // The driver takes them for the same, and says in each process, at length, that a later one will not.
  return text.replaceAll(/(?<=[?&]sslmode=)(prefer|require|verify-ca)(?=&|$)/g, 'verify-full')
}

/** Where the address says that the server is, also one of several hosts, which is no address as others are read. */
function hostsNamed(text: string, parts: URL | undefined): string[] {
  // A user and a password may hold commas; where one holds a slash as it is, nobody can say where the host begins.
  const host = /^\w+:\/\/(?:[^/?#]*@)?([^/?#@]*)(?:[/?#][^@]*)?$/.exec(text)?.[1] ?? ''
  return [host, ...['host', 'port'].flatMap((name) => parts?.searchParams.getAll(name) ?? [])]
}

/** Whether what is written as %XX is text. A sign of percent with nothing of it behind is one itself. */
function isDecodable(part: string): boolean {
  try {
    decodeURIComponent(part.replaceAll(/%(?![\da-f]{2})/gi, '%25'))
    return true
  } catch {
    return false
  }
}

function networksOf(text: string | undefined): Networks | undefined {
  if (!text) return undefined
  const networks = readNetworks(text)
  if (!networks)
    throw new ConfigError(`TRUSTED_PROXIES must be addresses or networks such as 10.0.0.0/8, not ${text}`)
  return networks
}

function windowsOf(text: string | undefined): readonly Window[] | undefined {
  if (!text) return undefined
  const windows = readWindows(text)
  if (typeof windows === 'string') throw new ConfigError(`ADDRESS_LIMITS: ${windows}`)
  return windows
}

function hostsOf(env: NodeJS.ProcessEnv): Hosts {
  const hosts = {
    Gen: hostOf('GEN', env.GEN_HOST, env.GEN_DIALECT),
    Geo: hostOf('GEO', env.GEO_HOST, env.GEO_DIALECT),
    WL: hostOf('WL', env.WL_HOST, env.WL_DIALECT),
  }
  const names = Object.values(hosts).flatMap(({ name }) => name?.toLowerCase() ?? [])
  if (new Set(names).size < names.length)
    throw new ConfigError('GEN_HOST, GEO_HOST and WL_HOST must be different names')
  return hosts
}

function hostOf(prefix: string, name: string | undefined, dialect: string | undefined): Hosts[HostName] {
  // The name in a Host header is one, without port and closing dot when it is compared: another would never be found.
  if (name && !/^([\w-]+\.)*[\w-]+$|^\[[\da-f:.]+\]$/i.test(name))
    throw new ConfigError(`${prefix}_HOST must be one host name without a port, not ${name}`)
  return {
    ...(name ? { name } : {}),
    dialect: oneOf(`${prefix}_DIALECT`, dialect || 'native', ['native', 'compat']) as Dialect,
  }
}

function urlOf(name: string, text: string | undefined, protocols: readonly string[]): string | undefined {
  if (!text) return undefined
  // What was given is not repeated: it may hold a password.
  if (!URL.canParse(text) || !protocols.includes(new URL(text).protocol))
    throw new ConfigError(`${name} must be an address that begins with ${protocols.join('// or ')}//`)
  return text
}

/** Without a slash at the end, because paths come behind it; with something behind its own path they would lead nowhere. */
function publicUrlOf(text: string | undefined): string | undefined {
  const url = urlOf('PUBLIC_URL', text, ['http:', 'https:'])
  if (url !== undefined && (/[?#]/.test(url) || new URL(url).username !== ''))
    throw new ConfigError('PUBLIC_URL must be an address without a user, a query and a fragment')
  return url?.replace(/\/+$/, '')
}

/** No server takes mail of a sender that is no address, and nothing else would say so. */
function senderOf(text: string): string {
  if (/^[^<>\p{Cc}]*<[^\s<>@]+@[^\s<>@]+>$|^[^\s<>@]+@[^\s<>@]+$/u.test(text)) return text
  throw new ConfigError(`MAIL_FROM must be an address such as Name <name@host>, not ${text}`)
}

/** A number from 0 to `most` with at most so many places after the point; 0 where none is given. */
function amountOf(name: string, text: string | undefined, most: number, places: number): Decimal {
  const amount = /^\d+(\.\d+)?$/.test(text || '0') ? dec(text || '0') : undefined
  if (!amount || amount.greaterThan(most) || amount.decimalPlaces() > places)
    throw new ConfigError(
      places === 0
        ? `${name} must be a whole number from 0 to ${most}, not ${text}`
        : `${name} must be a number from 0 to ${most} with at most ${places} decimals, not ${text}`,
    )
  return amount
}

function oneOf(name: string, value: string, allowed: readonly string[]): string {
  if (!allowed.includes(value))
    throw new ConfigError(`${name} must be one of ${allowed.join(', ')}, not ${value}`)
  return value
}
