/** What an operator sets from outside: roles and permissions of people, support of sites, terms of strategies. */
import type { Sql } from './sql.ts'

export interface RoleChange {
  personId: number
  role: 'user' | 'geosite_admin' | 'whitelabel_admin' | 'platform_admin'
  /** Of an admin of a white-label site; null means all. */
  permissions: readonly string[] | null
}

/** The kind of site that a role belongs to. */
const kindOf: Partial<Record<RoleChange['role'], string>> = {
  geosite_admin: 'geo',
  whitelabel_admin: 'whitelabel',
}

/**
 * Gives a person another role; every process knows within a second. False when there is no such person, or when
 * the person's site is not of the kind that the role is for.
 */
export async function changeRole(sql: Sql, { personId, role, permissions }: RoleChange): Promise<boolean> {
  const changed = await sql.run`
    with changed as (
      update person set role = ${role}, permissions = ${permissions}::text[]
      from site where site.id = person.site_id and person.id = ${personId}::bigint
        and (${kindOf[role]}::text is null or site.kind = ${kindOf[role]}::text)
      returning person.id
    )
    select pg_notify('keys', id::text) from changed`
  return changed > 0
}

export interface SupportChange {
  code: string
  company: string | undefined
  url: string | undefined
  email: string | undefined
}

/** Changes what is given of how a site supports its people; false when there is no such site. */
export const changeSupport = async (
  sql: Sql,
  { code, company, url, email }: SupportChange,
): Promise<boolean> =>
  (await sql.run`
    update site set support_company_name = coalesce(${company}::text, support_company_name),
      support_site_url = coalesce(${url}::text, support_site_url), support_email = coalesce(${email}::text, support_email)
    where code = ${code}`) > 0

export interface StrategyTerms {
  strategyId: number
  isPrivate: boolean | undefined
  /** Dollars a month. */
  monthlyCost: string | undefined
  isResellable: boolean | undefined
  noSubsAllowed: boolean | undefined
  /** Percent of what followers gain, for terms that begin from now on. */
  performanceFee?: number | undefined
  shortDescription?: string | undefined
  longDescription?: string | undefined
}

/** Changes what is given of a strategy; answers how many strategies of that id there are. */
export const changeStrategy = (sql: Sql, terms: StrategyTerms): Promise<number> => sql.run`
  update strategy set is_private = coalesce(${terms.isPrivate}::boolean, is_private),
    monthly_cost = coalesce(${terms.monthlyCost}::numeric, monthly_cost),
    is_resellable = coalesce(${terms.isResellable}::boolean, is_resellable),
    no_subs_allowed = coalesce(${terms.noSubsAllowed}::boolean, no_subs_allowed),
    performance_fee_percent = coalesce(${terms.performanceFee}::int, performance_fee_percent),
    short_description = coalesce(${terms.shortDescription}::text, short_description),
    long_description = coalesce(${terms.longDescription}::text, long_description)
  where id = ${terms.strategyId}::bigint`
