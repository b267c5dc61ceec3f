/**
 * The facts access is decided from, for many calls in one statement each. A relation of a caller to an object
 * is read together with the object, so no decision is made on two states of the world.
 */
import type { StrategyFacts, Tenancy } from '../domain/access.ts'
import type { Sql } from './sql.ts'
import { isLive } from './subscriptions.ts'

export interface AccountHolder extends Tenancy {
  account: string
  accountId: number
  personId: number
}

/** Strategy facts as each person sees them, in the order of the pairs; null where no such strategy exists. */
export async function loadStrategyFacts(
  sql: Sql,
  strategyIds: readonly (number | bigint)[],
  personIds: readonly number[],
): Promise<(StrategyFacts | null)[]> {
  const rows = await sql.rows<{ facts: StrategyFacts | null }>`
    select case when s.id is not null then jsonb_build_object(
      'ownerPersonId', s.owner_person_id, 'siteId', s.site_id, 'parentSiteId', site.parent_site_id,
      'isPrivate', s.is_private, 'isLiveSubscriber', exists (
        select from subscription
        where subscription.strategy_id = s.id and subscription.person_id = asked.person_id and ${isLive})
      ) end as facts
    from unnest(${strategyIds}::bigint[], ${personIds}::bigint[]) with ordinality asked (strategy_id, person_id, place)
    left join strategy s on s.id = asked.strategy_id
    left join site on site.id = s.site_id
    order by asked.place`
  return rows.map((row) => row.facts)
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

export interface SiteTenancy extends Tenancy {
  kind: 'platform' | 'geo' | 'whitelabel'
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
