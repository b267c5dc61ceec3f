/**
 * The facts access is decided from, for many calls in one statement each. A relation of a caller to an object
 * is read together with the object, so no decision is made on two states of the world.
 */
import {
  type Actor,
  isPlatformAdmin,
  type SiteKind,
  type StrategyFacts,
  type Tenancy,
} from '../../domain/people/access.ts'
import { distinct } from '../database/places.ts'
import { type Fragment, fragment, type Sql, uncounted } from '../database/sql.ts'
import type { KeyHolder } from './keys.ts'
import { isActive, isLive } from './subscriptions.ts'

export interface AccountHolder extends Tenancy {
  account: string
  accountId: number
  personId: number
}

/** Whether a person has such a subscription to a strategy; both are columns or values. */
const subscriber = (strategyId: Fragment, personId: Fragment, such: Fragment): Fragment => fragment`exists (
  select from subscription
  where subscription.strategy_id = ${strategyId} and subscription.person_id = ${personId} and ${such})`

/**
 * The condition on `strategy` and its `site` that the viewer sees the strategy: what the domain's rule says of
 * one strategy, for many.
 */
export function visibleTo(viewer: Actor): Fragment {
  if (isPlatformAdmin(viewer)) return fragment`true`
  const { personId, siteId } = viewer
  const bySite: Record<Actor['role'], Fragment> = {
    user: fragment`false`,
    whitelabel_admin: fragment`strategy.site_id = ${siteId}::bigint`,
    geosite_admin: fragment`${siteId}::bigint in (strategy.site_id, site.parent_site_id)`,
    platform_admin: fragment`true`,
  }
  return fragment`(not strategy.is_private or strategy.owner_person_id = ${personId}::bigint
    or ${subscriber(fragment`strategy.id`, fragment`${personId}::bigint`, isActive)} or ${bySite[viewer.role]})`
}

/**
 * Strategy facts as each person sees them, in the order of the pairs; null where no such strategy exists. Of an
 * owner's subscriptions nothing is asked: they change nothing.
 */
export async function loadStrategyFacts(
  sql: Sql,
  strategyIds: readonly (number | bigint)[],
  personIds: readonly number[],
): Promise<(StrategyFacts | null)[]> {
  const pairs = strategyIds.map((strategyId, at) => ({ strategyId, personId: personIds[at] }))
  const { asked, places } = distinct(pairs, ({ strategyId, personId }) => `${strategyId} ${personId}`)
  const ids = asked.map(({ strategyId }) => strategyId)
  const rows = await sql.rows<StrategyFacts & { place: number }>`
    select place - 1 as place, s.owner_person_id as "ownerPersonId", s.site_id as "siteId",
      site.parent_site_id as "parentSiteId", s.is_private as "isPrivate", s.owner_person_id <> asked.person_id
        and ${subscriber(fragment`s.id`, fragment`asked.person_id`, isActive)} as "isSubscriber",
      s.owner_person_id <> asked.person_id
        and ${subscriber(fragment`s.id`, fragment`asked.person_id`, isLive)} as "isLiveSubscriber"
    from unnest(${uncounted(ids, 'bigint')}, ${asked.map(({ personId }) => personId)}::bigint[]) with ordinality asked (strategy_id, person_id, place)
    join strategy s on s.id = asked.strategy_id
    join site on site.id = s.site_id`
  const found = new Map(rows.map((row) => [row.place, row]))
  return places.map((place) => found.get(place) ?? null)
}

/** Whether each person has ever subscribed to the strategy at the same place, as whoever autotrades one has. */
export async function haveFollowed(
  sql: Sql,
  strategyIds: readonly (number | bigint)[],
  personIds: readonly number[],
): Promise<boolean[]> {
  const rows = await sql.rows<{ has: boolean }>`
    select ${subscriber(fragment`asked.strategy_id`, fragment`asked.person_id`, fragment`true`)} as has
    from unnest(${uncounted(strategyIds, 'bigint')}, ${personIds}::bigint[]) with ordinality asked (strategy_id, person_id, place)
    order by place`
  return rows.map(({ has }) => has)
}

/** The strategy of each signal; a signal that does not exist is missing from the map. */
export async function findSignalStrategies(
  sql: Sql,
  signalIds: readonly (number | bigint)[],
): Promise<Map<number, number>> {
  const rows = await sql.rows<{ id: number; strategyId: number }>`
    select id, strategy_id as "strategyId" from signal where id = any(${signalIds}::bigint[])`
  return new Map(rows.map((row) => [row.id, row.strategyId]))
}

/** Every holder of an account with one of these numbers; brokers may give the same number twice. */
export const listAccountHolders = (sql: Sql, accounts: readonly string[]): Promise<AccountHolder[]> =>
  sql.rows<AccountHolder>`
    select a.account, a.id as "accountId", a.person_id as "personId",
      a.site_id as "siteId", site.parent_site_id as "parentSiteId"
    from account a join site on site.id = a.site_id
    where a.account = any(${accounts}::text[]) order by a.id`

/** The tenancy of each person; a person that does not exist is missing from the map. */
export async function findPersonTenancies(
  sql: Sql,
  personIds: readonly (number | bigint)[],
): Promise<Map<number, Tenancy>> {
  const rows = await sql.rows<Tenancy & { id: number }>`
    select p.id, p.site_id as "siteId", site.parent_site_id as "parentSiteId"
    from person p join site on site.id = p.site_id where p.id = any(${personIds}::bigint[])`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Role, site and permissions of a living person; none when there is no such person. */
export const findTenant = (
  sql: Sql,
  personId: number,
): Promise<Pick<KeyHolder, 'role' | 'siteId' | 'siteKind' | 'permissions'> | undefined> =>
  sql.maybe`
    select p.role, p.site_id as "siteId", site.kind as "siteKind", p.permissions
    from person p join site on site.id = p.site_id where p.id = ${personId}::bigint and p.is_alive`

export interface SiteTenancy extends Tenancy {
  kind: SiteKind
  code: string
}

/** The sites of these ids and of these codes, each with itself as its tenant. */
export const findSiteTenancies = (
  sql: Sql,
  siteIds: readonly (number | bigint)[],
  codes: readonly string[],
): Promise<SiteTenancy[]> =>
  sql.rows<SiteTenancy>`
    select id as "siteId", parent_site_id as "parentSiteId", kind, code from site
    where id = any(${siteIds}::bigint[]) or code = any(${codes}::text[])`
