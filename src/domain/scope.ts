/**
 * Whose rows a listing may show. A scope is made from who asks, by the functions of this file and nowhere else: no
 * other literal has its type.
 */
import { type Actor, isPlatformAdmin } from './access.ts'

declare const made: unique symbol

/** Of everybody, or of a person and of a site with those below it; where both are null, nobody's. */
export type Scope = { readonly [made]: true } & (
  | { readonly rows: 'all' }
  | { readonly rows: 'some'; readonly personId: number | bigint | null; readonly siteId: number | null }
)

const all = { rows: 'all' } as Scope
const some = (personId: number | bigint | null, siteId: number | null): Scope =>
  ({ rows: 'some', personId, siteId }) as Scope

/** What belongs to one person, whom the caller has a right to ask about. */
export const rowsOf = (personId: number | bigint): Scope => some(personId, null)

const adminSite = ({ role, siteId }: Actor, roles: readonly Actor['role'][]): number | null =>
  roles.includes(role) ? siteId : null

const siteAdmins = ['geosite_admin', 'whitelabel_admin'] as const

/** What belongs to the members of an admin's site: nothing for who is no admin. */
export const rowsOfSite = (actor: Actor): Scope =>
  isPlatformAdmin(actor) ? all : some(null, adminSite(actor, siteAdmins))

/** One's own, and what belongs to the members of an admin's site; `roles` says of which admins. */
export const ownRowsOrSite = (actor: Actor, roles: readonly Actor['role'][] = siteAdmins): Scope =>
  isPlatformAdmin(actor) ? all : some(actor.personId, adminSite(actor, roles))
