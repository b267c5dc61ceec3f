/**
 * What every handler gets: the moment, the caller, the rows. A write handler's `sql` is the transaction that
 * also keeps its idempotency row, so its effect and its remembered answer commit together or not at all.
 */
import type { Dialect, HostName, PageLinks, Refusal } from '../contract/index.ts'
import type { Role, SiteKind } from '../domain/people/access.ts'
import type { Charging } from '../domain/positions/tables/commission-plans.ts'
import type { Passwords } from '../services/passwords.ts'
import type { Sql } from '../storage/database/sql.ts'
import type { Secrets } from './secrets.ts'

export interface Clock {
  /** Business time in epoch milliseconds. The test door moves it; everything a user sees is stamped with it. */
  now(): number
}

/** Who calls: the person behind a live key. `siteId` is the tenant the key acts in. */
export interface Caller {
  accessKeyId: number
  keyId: string
  personId: number
  role: Role
  siteId: number
  siteKind: SiteKind
  /** Of an admin of a white-label site; null means all. */
  permissions: readonly string[] | null
  /** Own rate windows, seconds to calls; absent means the platform's. */
  limits?: Record<string, number>
  /** Who types, where an operator asks with the platform's rights or, with those of a person, in that person's name. */
  operator?: string
}

/** One call as the edge understood it. */
export interface Context {
  sql: Sql
  now: number
  caller: Caller
  host: HostName
  dialect: Dialect
  requestId: string
  /** Where the platform's pages are reached from outside, without a slash at the end. */
  origin: string
  /** Code of this platform in its client order ids, 1 to 4 capitals or digits. */
  environment: string
  /** Whether fills of strategies are charged. */
  charging: Charging
  secrets: Secrets
  passwords: Passwords
  /** If-Modified-Since in epoch milliseconds, when sent and readable. */
  ifModifiedSince?: number | undefined
}

/** An expected no: the name gives status and code, the field and text say what it was about. */
export interface Refused {
  refused: Refusal
  field?: string
  message?: string
}

export type Outcome<Row> =
  | { results: readonly Row[]; links?: PageLinks; headers?: Record<string, string> }
  | { bare: boolean; headers?: Record<string, string> }
  | { notModified: true; headers?: Record<string, string> }
  | Refused

/** A refusal of the table, about a field where there is one, in the table's words or in these. */
export const refuse = (refused: Refusal, field?: string, message?: string): Refused => ({
  refused,
  ...(field === undefined ? {} : { field }),
  ...(message === undefined ? {} : { message }),
})

/** Whether it was refused. */
export const isRefused = (value: unknown): value is Refused =>
  typeof value === 'object' && value !== null && 'refused' in value
