/**
 * One row of the table of operations: everything the platform knows about an operation before it runs.
 * Routes, validation, serialization, documents, clients and the handler map are derived from rows.
 */
import type { PartnerKind, Permission } from '../domain/people/access.ts'
import type { Faults } from './faults.ts'
import {
  type Audience,
  Bool,
  type Field,
  type HostName,
  i32,
  type Members,
  optional,
  text,
  withDefault,
} from './schema.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'
/** Whether its parameters come in a body; otherwise they come in the query. */
export const takesBody = ({ method }: { readonly method: Method }): boolean =>
  method === 'POST' || method === 'PUT'

export type Group = 'Autotrade' | 'General' | 'Strategies'

/**
 * Who may call; names are dotted paths of parameters. Platform admins may do everything. An absent person
 * parameter means the caller.
 * - anyKey: any live key.
 * - visibleStrategy: a strategy the key may see (public, own, subscribed, of the admin's site); others 404.
 * - strategyViewer: owner, live subscriber, admin of the owner's site; of every strategy or signal named.
 * - strategyOwner: the owner.
 * - strategyFollowers: rows are cut to the owner's strategies, the site admin's customers, the caller's own. Of a
 *   strategy that the operation is about, not one that it filters by: its owner, whoever has ever subscribed, admins.
 * - personReader: the person (or holder of the account); an admin of the person's site.
 * - person: the person (or holder of the account) alone.
 * - ownOrSite: rows are cut to the caller's own, or to the members of the admin's site.
 * - siteAdmin: an admin (of the kinds named) of the site, person or user token named; any other role is refused
 *   outright. With `permission`, of admins of a white-label site those who have it.
 * - approvalViewer: the person of the approval request, an admin of that person's site.
 */
export type Access =
  | { rule: 'anyKey' }
  | { rule: 'visibleStrategy'; strategy?: string }
  | { rule: 'strategyViewer'; strategy?: string; strategies?: string; signal?: string }
  | { rule: 'strategyOwner'; strategy: string }
  | { rule: 'strategyFollowers'; strategy?: string }
  | { rule: 'personReader'; person?: string; account?: string }
  | { rule: 'person'; person?: string; account?: string }
  | { rule: 'ownOrSite' }
  | {
      rule: 'siteAdmin'
      kinds: readonly PartnerKind[]
      site?: string
      geoSite?: string
      person?: string
      userToken?: string
      /** What an admin of a white-label site must have been given. */
      permission?: Permission
    }
  | { rule: 'approvalViewer' }

/** What a combination rule may look at: the values read so far. */
export interface Given extends Audience {
  readonly params: { readonly [name: string]: unknown }
}

/** A rule over several parameters: its words for the reference, and a check that adds to the faults. */
export interface Need {
  readonly says: string
  check(given: Given, faults: Faults): void
}

interface PathVersion {
  hosts: readonly HostName[]
  path: string
  version: 1 | 2
  /** Exists in the compat dialect only. */
  compatOnly?: boolean
}

export interface Row<P extends Members = Members, E extends Field = Field> {
  readonly method: Method
  readonly hosts: readonly HostName[]
  /** Hosts that offer it in the compat dialect besides `hosts`. */
  readonly compatHosts?: readonly HostName[]
  /** One sentence for the reference and the documents. */
  readonly says: string
  readonly notes?: string
  /** The operation's name where the row's differs (the second method of an operation). */
  readonly operation?: string
  readonly params: P
  /** The element of `Results`. */
  readonly result: E
  readonly access: Access
  readonly paginated?: boolean
  /** Answers a JSON boolean without the envelope. */
  readonly bare?: boolean
  readonly needs?: readonly Need[]
  /** Described as unavailable: checks the request, then answers 503. */
  readonly unavailable?: boolean
  /** Honours If-Modified-Since. */
  readonly conditional?: boolean
  /** Statuses left out of the documents. */
  readonly without?: readonly number[]
  /** Where the path is not `/<Group>/<Operation>`. */
  readonly paths?: readonly PathVersion[]
  /** Largest body in bytes where it is not 256 KiB. */
  readonly bodyMaxBytes?: number
}

type Plan<P extends Members, E extends Field> = Omit<Row<P, E>, 'method' | 'paginated'>

/** A cursor names every transaction that was under way, once for each stretch of its scan that was read beside others. */
const cursorMaxCharacters = 16_000

const PageParams = {
  Cursor: optional(text(cursorMaxCharacters)),
  Limit: withDefault(i32({ min: 1, clamp: 1000 }), 1000),
  AscendingOrder: withDefault(Bool, true),
}
type PageMembers = typeof PageParams

/** A row that reads. */
export const get = <P extends Members, E extends Field>(plan: Plan<P, E>): Row<P, E> => ({
  ...plan,
  method: 'GET',
})
/** A paginated GET: knows Cursor, Limit (default and most 1000) and AscendingOrder (default true). */
export const page = <P extends Members, E extends Field>(plan: Plan<P, E>): Row<P & PageMembers, E> => ({
  ...plan,
  method: 'GET',
  paginated: true,
  params: { ...plan.params, ...PageParams },
})

/** A row that makes something; its parameters come in the body. */
export const post = <P extends Members, E extends Field>(plan: Plan<P, E>): Row<P, E> => ({
  ...plan,
  method: 'POST',
})

/** A row that changes what is there; its parameters come in the body. */
export const put = <P extends Members, E extends Field>(plan: Plan<P, E>): Row<P, E> => ({
  ...plan,
  method: 'PUT',
})

/** A row that ends something. */
export const remove = <P extends Members, E extends Field>(plan: Plan<P, E>): Row<P, E> => ({
  ...plan,
  method: 'DELETE',
})
