/**
 * What a connection of kind `fix` is told: where the counterparty is, who both sides are, and what that broker can
 * do beyond orders. Read once from the operator's file; a value that cannot be used is named, never repeated.
 */
import { X509Certificate } from 'node:crypto'
import { dayIn, type Instant, instantAt, type TimeZone, timeZones } from '../../../domain/time.ts'
import type { RequestHabits } from './requests.ts'

export interface FixSettings extends RequestHabits {
  readonly host: string
  readonly port: number
  /** Absent: plain TCP, for a line that is private already. */
  readonly tls: { readonly ca?: string; readonly serverName?: string } | undefined
  readonly senderCompId: string
  readonly targetCompId: string
  readonly senderSubId: string | undefined
  readonly targetSubId: string | undefined
  readonly username: string | undefined
  readonly password: string | undefined
  readonly heartbeatSeconds: number
  /** When both sides begin to count anew each day; absent: never. */
  readonly startsDaily: { readonly minutes: number; readonly zone: TimeZone } | undefined
  /** The broker tells positions (RequestForPositions); without them accounts cannot be held against its word. */
  readonly tellsPositions: boolean
  /** The broker lists working orders (OrderMassStatusRequest). */
  readonly listsWorking: boolean
}

/** Reads a connection's settings. Throws naming the first that cannot be used. */
export function readFixSettings(settings: Readonly<Record<string, unknown>>): FixSettings {
  const { tls, ...plain } = settings
  const unknown = Object.keys(plain).find((name) => !known.includes(name))
  if (unknown !== undefined) throw new Error(`there is no setting ${unknown}`)
  return {
    host: textOf(plain, 'host'),
    port: numberOf(plain, 'port', { least: 1, most: 65_535 }),
    tls: tls === undefined ? undefined : tlsOf(tls),
    senderCompId: textOf(plain, 'senderCompId'),
    targetCompId: textOf(plain, 'targetCompId'),
    senderSubId: optionalOf(plain, 'senderSubId'),
    targetSubId: optionalOf(plain, 'targetSubId'),
    username: optionalOf(plain, 'username'),
    password: optionalOf(plain, 'password'),
    heartbeatSeconds: numberOf({ heartbeatSeconds: 30, ...plain }, 'heartbeatSeconds', {
      least: 5,
      most: 300,
    }),
    startsDaily: startOf(optionalOf(plain, 'startsDaily')),
    tellsPositions: switchOf(plain, 'tellsPositions', false),
    listsWorking: switchOf(plain, 'listsWorking', false),
    marksShortSales: switchOf(plain, 'marksShortSales', true),
  }
}

const known: readonly string[] = [
  ...['host', 'port', 'senderCompId', 'targetCompId', 'senderSubId', 'targetSubId', 'username', 'password'],
  ...['heartbeatSeconds', 'startsDaily', 'tellsPositions', 'listsWorking', 'marksShortSales'],
]

/** The latest daily start at or before an instant; null where there is none. */
export function dailyStart({ startsDaily }: FixSettings, at: Instant): Instant | null {
  if (!startsDaily) return null
  const { minutes, zone } = startsDaily
  const today = instantAt(dayIn(at, zone), minutes, zone)
  return today <= at ? today : instantAt(dayIn(at, zone) - 1, minutes, zone)
}

type Settings = Readonly<Record<string, unknown>>

function optionalOf(settings: Settings, name: string): string | undefined {
  return settings[name] === undefined ? undefined : textOf(settings, name)
}

/** Text that can stand in a FIX field. */
function textOf(settings: Settings, name: string): string {
  const value = settings[name]
  if (typeof value !== 'string' || !/^[\x20-\x7e]{1,200}$/.test(value))
    throw new Error(`${name} must be a text of plain characters`)
  return value
}

function numberOf(
  settings: Settings,
  name: string,
  { least, most }: { least: number; most: number },
): number {
  const value = settings[name]
  if (typeof value !== 'number' || !Number.isInteger(value) || value < least || value > most)
    throw new Error(`${name} must be a whole number from ${least} to ${most}`)
  return value
}

function switchOf(settings: Settings, name: string, otherwise: boolean): boolean {
  const value = settings[name] ?? otherwise
  if (typeof value !== 'boolean') throw new Error(`${name} must be true or false`)
  return value
}

/** A wall-clock minute and its zone, as `17:00 America/New_York`. */
function startOf(text: string | undefined): FixSettings['startsDaily'] {
  if (text === undefined) return undefined
  const [, hours = '', minutes = '', name = ''] = /^([01]\d|2[0-3]):([0-5]\d) (\S+)$/.exec(text) ?? []
  const zone = timeZones.find((known) => known === name)
  if (!zone) throw new Error(`startsDaily must be a time and one of ${timeZones.join(', ')}`)
  return { minutes: Number(hours) * 60 + Number(minutes), zone }
}

function tlsOf(value: unknown): NonNullable<FixSettings['tls']> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error('tls must be an object')
  const settings = value as Settings
  const unknown = Object.keys(settings).find((name) => name !== 'ca' && name !== 'serverName')
  if (unknown !== undefined) throw new Error(`there is no setting tls.${unknown}`)
  const ca = settings.ca
  if (ca !== undefined && !isCertificate(ca)) throw new Error('tls.ca must be a certificate in PEM')
  const serverName = optionalOf(settings, 'serverName')
  return { ...(ca !== undefined && { ca }), ...(serverName !== undefined && { serverName }) }
}

/** TLS passes over what is none, such as the path of a file, and then believes nobody. */
function isCertificate(text: unknown): text is string {
  try {
    return typeof text === 'string' && new X509Certificate(text).raw.length > 0
  } catch {
    return false
  }
}
