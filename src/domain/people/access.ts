/**
 * Who may do what, decided from facts alone. Every rule is a plain sentence about a caller and an object;
 * which rule an operation asks for stands in its contract row. Account owner and strategy owner are relations
 * of a person to an object, not roles.
 */

/** The kinds of sites beside the platform itself. */
export type PartnerKind = 'geo' | 'whitelabel'

export type SiteKind = 'platform' | PartnerKind

/** The roles, each with the kind of site that it is for; null where it is for people of any. */
export const siteKindOf = {
  user: null,
  geosite_admin: 'geo',
  whitelabel_admin: 'whitelabel',
  platform_admin: null,
} as const satisfies Record<string, PartnerKind | null>

export type Role = keyof typeof siteKindOf

export const roles = Object.keys(siteKindOf) as readonly Role[]

/** What an admin of a white-label site may be given; all of it where nobody has chosen. */
export const permissions = ['catalog', 'members', 'kyc', 'reports', 'billing'] as const

export type Permission = (typeof permissions)[number]

export interface Actor {
  personId: number
  role: Role
  siteId: number
  /** Of an admin of a white-label site; all where nobody has chosen. */
  permissions?: readonly string[] | null
}

/** The tenant of an object: its own site and, for a white-label site of a region, the regional site above it. */
export interface Tenancy {
  siteId: number
  parentSiteId: number | null
}

export interface StrategyFacts extends Tenancy {
  ownerPersonId: number
  isPrivate: boolean
  /** The caller has a running subscription to it, simulated or not. */
  isSubscriber: boolean
  /** The subscription is for live or paper accounts; a simulated one does not count. */
  isLiveSubscriber: boolean
}

/** May do everything everywhere. */
export const isPlatformAdmin = (actor: Actor): boolean => actor.role === 'platform_admin'

/** Other admins than those of white-label sites have no permissions to choose from. */
export const isPermitted = ({ role, permissions }: Actor, permission: Permission): boolean =>
  role !== 'whitelabel_admin' || permissions?.includes(permission) !== false

/** Admin of some site; of which things is another question. */
export const isAdminOfSite = ({ role }: Actor): boolean => siteKindOf[role] !== null

/** Admin of the site that the object belongs to. A regional admin also covers the white-label sites below it. */
export function isSiteAdmin(actor: Actor, object: Tenancy): boolean {
  if (actor.role === 'whitelabel_admin') return actor.siteId === object.siteId
  if (actor.role === 'geosite_admin')
    return actor.siteId === object.siteId || actor.siteId === object.parentSiteId
  return false
}

/** Whether the actor may act as the owner of the strategy. */
export const ownsStrategy = (actor: Actor, strategy: Pick<StrategyFacts, 'ownerPersonId'>): boolean =>
  isPlatformAdmin(actor) || strategy.ownerPersonId === actor.personId

/** A strategy's open positions and working orders: its owner, live subscribers, the owner's site, the platform. */
export const viewsOrders = (actor: Actor, strategy: StrategyFacts): boolean =>
  ownsStrategy(actor, strategy) || strategy.isLiveSubscriber || isSiteAdmin(actor, strategy)

/**
 * A private strategy is seen by those who see its orders and by who simulates it; to everybody else it does not exist.
 */
export const seesStrategy = (actor: Actor, strategy: StrategyFacts): boolean =>
  !strategy.isPrivate || strategy.isSubscriber || viewsOrders(actor, strategy)

export interface PersonFacts extends Tenancy {
  personId: number
}

/** What belongs to a person may be read by that person and by the admins of the person's site who see its members. */
export const readsPerson = (actor: Actor, person: PersonFacts): boolean =>
  actsForPerson(actor, person) || (isSiteAdmin(actor, person) && isPermitted(actor, 'members'))

/** What belongs to a person is changed by that person alone. */
export const actsForPerson = (actor: Actor, person: PersonFacts): boolean =>
  isPlatformAdmin(actor) || actor.personId === person.personId
