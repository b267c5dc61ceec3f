/** What the operator's tools share: the platform's database, wherever it is, and two ways to speak. */
import type { Command } from 'commander'
import type { Side } from '../domain/codes.ts'
import { emailForm } from '../domain/people/email.ts'
import type { Database } from '../storage/database/database.ts'
import { violatedConstraint } from '../storage/database/failure.ts'
import type { Sql } from '../storage/database/sql.ts'
import { findPlatformSite } from '../storage/operating/provision.ts'
import { findSiteByCode } from '../storage/people/sites.ts'
import { operator } from './acting.ts'
import { type Config, ConfigError, readConfig } from './config.ts'
import { checkBegun, checkPlatform, openMigrated, reachServer } from './database.ts'
import { openLog } from './log.ts'
import { beginCopy } from './platform-copies.ts'

export interface Output {
  json?: boolean
}

/** Adds a command that knows --json. */
export const tool = (parent: Command, name: string, says: string): Command =>
  parent.command(name).description(says).option('--json', 'answer as JSON')

/** Prints for people, or the same facts as JSON. Lines are for what others have named; a text has lines of its own. */
export function say(output: Output, facts: object, text: string | readonly string[]): void {
  const lines = typeof text === 'string' ? text.split('\n') : text
  console.log(output.json ? safeJson(facts) : lines.map(safeLine).join('\n'))
}

/** Prints what was found, line after line, or in words that there is none. */
export const sayList = (output: Output, facts: object, lines: readonly string[], none: string): void =>
  say(output, facts, lines.length === 0 ? none : lines)

/** Names are anybody's: in a terminal they could move the cursor, or begin a line that looks like ours. */
const control = /\p{Cc}/gu
/** A text in one line that gives a terminal no orders. */
export const safeLine = (text: string): string => text.replace(control, '\ufffd')
/** JSON by itself leaves a few of them as they are. */
export const safeJson = (facts: unknown): string =>
  JSON.stringify(facts).replace(control, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** Rows for people, each with the same columns: their names in a head line, and what is below one another is aligned. */
export function tableOf(rows: readonly Readonly<Record<string, unknown>>[]): string[] {
  const [first] = rows
  if (!first) return []
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row).map(String))]
  const widths = Object.keys(first).map((_, place) =>
    // Not as arguments of one call: of more than a stack holds there is none.
    lines.reduce((widest, line) => Math.max(widest, line[place]?.length ?? 0), 0),
  )
  return lines.map((line) =>
    line
      .map((word, place) => word.padEnd(widths[place] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A side as commands tell it. */
export const deedOf = (side: Side): string => (side === '1' ? 'buy' : 'sell')

/** A moment as commands tell it, null where there is none. */
export function utcOf(at: number): string
export function utcOf(at: number | null): string | null
export function utcOf(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString()
}

/** An id as it is typed. Throws ConfigError. */
export function readId(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new ConfigError(`${text} is no id`)
  return Number(text)
}

/** What a row's integer holds. */
const wholeMax = 2_147_483_647

/** A whole number as it is typed. Throws ConfigError. */
export function readWhole(name: string, text: string, min = 0, max = wholeMax): number {
  const value = /^\d{1,10}$/.test(text) ? Number(text) : -1
  if (value < min || value > max) throw new ConfigError(`${name} is a whole number from ${min} to ${max}`)
  return value
}

/** The id of a broker as it is typed. Throws ConfigError. */
export function readBrokerId(text: string): number {
  const id = readId(text)
  if (id > wholeMax) throw new ConfigError(`there is no broker ${text}`)
  return id
}

/** The most characters that the interface takes of a name: what is longer no call could ask for, nor an index hold. */
const nameMax = 256

/** Words as they are typed, not all of them blank. Throws ConfigError. */
export function readWords(name: string, text: string): string {
  if (!/\S/.test(text)) throw new ConfigError(`${name} says nothing`)
  if ([...text].length > nameMax) throw new ConfigError(`${name} has more than ${nameMax} characters`)
  return text
}

/** The first few of many as one text, and how many more there are. */
export function firstOf(all: readonly (string | number)[], most: number): string {
  const shown = all.slice(0, most).join(', ')
  return all.length > most ? `${shown} and ${all.length - most} more` : shown
}

/** An e-mail address as it is typed. Throws ConfigError. */
export function readEmail(text: string): string {
  if (!emailForm.test(text)) throw new ConfigError(`${text} is no e-mail address`)
  return readWords('the e-mail address', text)
}

/** Changes as they are typed, of which there is one. Throws ConfigError. */
export function readChanges<T extends object>(changes: T): T {
  if (Object.values(changes).every((value) => value === undefined))
    throw new ConfigError('say what is to be changed; --help shows what can be')
  return changes
}

/** Dollars and cents as they are typed. Throws ConfigError. */
export function readDollars(name: string, text: string): string {
  if (!/^\d{1,9}(\.\d{1,2})?$/.test(text)) throw new ConfigError(`${name} is dollars and cents, 0 or more`)
  return text
}

/** The value, which is one of those allowed. Throws ConfigError. */
export function oneOf<T extends string>(name: string, value: string, allowed: readonly T[]): T {
  const found = allowed.find((one) => one === value)
  if (found === undefined) throw new ConfigError(`${name} is one of ${allowed.join(', ')}, not ${value}`)
  return found
}

/** A switch as it is typed; undefined stays so. Throws ConfigError. */
export const onOrOff = (name: string, value: string | undefined): boolean | undefined =>
  value === undefined ? undefined : oneOf(name, value, ['on', 'off']) === 'on'

const wordsOf: Readonly<Record<string, string>> = {
  person_email: 'a person has this address already',
  site_code_key: 'there is a site with this code already',
  account_broker_id_account_key: 'the broker has an account of this number already',
}

/** What the rows do not allow, in words for whoever typed it. */
export const told = async <T>(work: Promise<T>): Promise<T> => {
  try {
    return await work
  } catch (error) {
    const constraint = violatedConstraint(error)
    if (constraint === undefined) throw error
    throw new ConfigError(wordsOf[constraint] ?? `the rows do not allow it (${constraint})`)
  }
}

/** The site of this code; the platform's own without one. Throws ConfigError. */
export async function siteIdOf(sql: Sql, code: string | undefined): Promise<number> {
  if (code === undefined) return findPlatformSite(sql)
  const site = await findSiteByCode(sql, code)
  if (site === undefined) throw new ConfigError(`there is no site ${code}`)
  return site.id
}

/** Runs a tool on the platform's database, wherever that is: one that a new platform may begin with makes it. */
export async function withDatabase(
  work: (db: Database, config: Config) => Promise<void>,
  check?: (db: Database) => Promise<void>,
): Promise<void> {
  const config = readConfig(process.env)
  const log = openLog({ ...config, logLevel: 'warn' }, 'cli')
  const server = await reachServer(config, log)
  try {
    const db = await openMigrated(server.url, 'lockstep cli', log, operator(), check)
    try {
      await beginCopy(config, db, log)
      await work(db, config)
    } finally {
      await db.close()
    }
  } finally {
    await server.stop()
  }
}

/**
 * The same for a tool that is about a platform that is there: in a folder or a database without one it makes none, where
 * it would find nothing, or be done with something that concerns nobody. Throws ConfigError.
 */
export async function withPlatform(work: (db: Database, config: Config) => Promise<void>): Promise<void> {
  const { databaseUrl, dataDir } = readConfig(process.env)
  if (databaseUrl === undefined) checkPlatform(dataDir)
  await withDatabase(work, databaseUrl === undefined ? undefined : checkBegun)
}
