/**
 * Whose rows a listing may show. A scope is made from who asks, by the functions of this file and nowhere else: no
 * other literal has its type.
 */
import { type Actor, isPermitted, isPlatformAdmin, type Permission } from './access.ts'

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

const adminSite = (actor: Actor, roles: readonly Actor['role'][], permission: Permission): number | null =>
  roles.includes(actor.role) && isPermitted(actor, permission) ? actor.siteId : null

const siteAdmins = ['geosite_admin', 'whitelabel_admin'] as const

/** What belongs to the members of an admin's site: nothing for who is no admin. */
export const rowsOfSite = (actor: Actor): Scope =>
  isPlatformAdmin(actor) ? all : some(null, adminSite(actor, siteAdmins, 'members'))

/**
 * One's own, and what belongs to the members of an admin's site; `roles` says of which admins, `permission` what one
 * of a white-label site must have been given.
 */
export const ownRowsOrSite = (
  actor: Actor,
  roles: readonly Actor['role'][] = siteAdmins,
  permission: Permission = 'members',
): Scope => (isPlatformAdmin(actor) ? all : some(actor.personId, adminSite(actor, roles, permission)))
