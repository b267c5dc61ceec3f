/** People as they are shown, found and added. Whose rows a caller may see is part of every question. */
import type { Role } from '../../domain/people/access.ts'
import type { Scope } from '../../domain/people/scope.ts'
import { asked, holding } from '../database/asked.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { bySite, within } from '../database/scope.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** A person with the site and what the person does; times are epoch milliseconds. */
export interface PersonRow {
  id: number
  role: Role
  alias: string
  firstName: string
  lastName: string
  email: string
  phone: string | null
  isPhoneVerified: boolean
  language: string
  countryCode: string
  divisionCode: string | null
  createdAt: number
  lastLoggedInAt: number | null
  lastIp: string | null
  isEmailValidated: boolean
  isAlive: boolean
  icon: string | null
  permissions: string[] | null
  isManager: boolean
  isInvestor: boolean
  whiteLabelSiteId: number | null
  geoSite: string | null
  supportCompanyName: string | null
  supportSiteUrl: string | null
  supportEmail: string | null
  /** Those whose approval stands, by id of the approval. */
  approvedAccounts: readonly {
    readonly addedAt: number
    readonly account: string
    readonly brokerId: number
    readonly connectionType: number
    readonly addedByPersonId: number
  }[]
}

/** A person's site and whether the person lives; until the transaction ends nobody removes the person. */
export const holdPerson = (
  sql: Sql,
  personId: number | bigint,
): Promise<{ siteId: number; isAlive: boolean } | undefined> =>
  sql.maybe`
    select site_id as "siteId", is_alive as "isAlive" from person where id = ${personId}::bigint for key share`

const columns = fragment`
  p.id, p.role, p.alias, p.first_name as "firstName", p.last_name as "lastName", p.email, p.phone,
  p.is_phone_verified as "isPhoneVerified", p.language, p.country_code as "countryCode",
  p.division_code as "divisionCode", p.created_at as "createdAt", p.last_logged_in_at as "lastLoggedInAt",
  p.last_ip as "lastIp", p.email_validated_at is not null as "isEmailValidated", p.is_alive as "isAlive",
  p.icon, p.permissions,
  exists (select from strategy where strategy.owner_person_id = p.id) as "isManager",
  exists (select from subscription s where s.person_id = p.id and s.strategy_id is not null and s.ended_at is null)
    as "isInvestor",
  case site.kind when 'whitelabel' then site.id end as "whiteLabelSiteId",
  case site.kind when 'geo' then site.code else region.code end as "geoSite",
  site.support_company_name as "supportCompanyName", site.support_site_url as "supportSiteUrl",
  site.support_email as "supportEmail",
  coalesce((
    select jsonb_agg(jsonb_build_object('addedAt', floor(extract(epoch from a.added_at) * 1000), 'account', a.account,
      'brokerId', a.broker_id, 'connectionType', a.connection_type, 'addedByPersonId', a.added_by_person_id)
      order by a.id)
    from approved_account a where a.person_id = p.id and a.deleted_at is null), '[]') as "approvedAccounts"`

const tables = fragment`
  person p join site on site.id = p.site_id left join site region on region.id = site.parent_site_id`

/** The person of this id. */
export const findPerson = (sql: Sql, personId: number | bigint): Promise<PersonRow | undefined> =>
  sql.maybe<PersonRow>`select ${columns} from ${tables} where p.id = ${personId}::bigint`

/** What a person must match; texts match anywhere, in any letter case. What is undefined does not narrow. */
export interface PersonFilter {
  personId?: number | bigint | undefined
  firstName?: string | undefined
  lastName?: string | undefined
  email?: string | undefined
  countryCode?: string | undefined
  divisionCode?: string | undefined
  ipAddress?: string | undefined
  /** Matches verified numbers only. */
  phone?: string | undefined
  isAlive?: boolean | undefined
  isEmailValidated?: boolean | undefined
  /** Members of this white-label site. */
  whiteLabelSiteId?: number | bigint | undefined
  /** Members of the GeoSite of this code, those of its white-label sites included. */
  geoSite?: string | undefined
}

/** With its country, however it was given. */
const wholeDivision = fragment`
  case when p.division_code like '%-%' then p.division_code else p.country_code || '-' || p.division_code end`

const matching = (filter: PersonFilter): Fragment => fragment`
  ${asked`p.id = ${filter.personId}::bigint`}
  and ${holding(
    [fragment`p.first_name`, filter.firstName],
    [fragment`p.last_name`, filter.lastName],
    [fragment`p.email`, filter.email],
    [fragment`p.country_code`, filter.countryCode],
    [wholeDivision, filter.divisionCode],
    [fragment`p.last_ip`, filter.ipAddress],
    [fragment`case when p.is_phone_verified then p.phone end`, filter.phone],
  )}
  and ${asked`p.is_alive = ${filter.isAlive}::boolean`}
  and ${asked`(p.email_validated_at is not null) = ${filter.isEmailValidated}::boolean`}
  and ${asked`(site.kind = 'whitelabel' and site.id = ${filter.whiteLabelSiteId}::bigint)`}
  and ${asked`(site.kind = 'geo' and site.code = ${filter.geoSite}::text
    or region.kind = 'geo' and region.code = ${filter.geoSite}::text)`}`

/** People who match and belong to the scope, by id. */
export const pagePeople = (sql: Sql, filter: PersonFilter, scope: Scope, request: PageRequest) =>
  page<PersonRow>(sql, request, {
    select: columns,
    from: tables,
    where: fragment`${matching(filter)} and ${within(scope, { sites: bySite })}`,
    ...keyedById(fragment`person`, fragment`p`),
  })

/** Whether a living person has this number. */
export const isPhoneKnown = async (sql: Sql, phone: string): Promise<boolean> =>
  (
    await sql.one<{
      known: boolean
    }>`select exists (select from person where phone = ${phone} and is_alive) as known`
  ).known

export interface NewProfile {
  siteId: number
  alias: string
  firstName: string
  lastName: string
  email: string
  passwordHash: string
  language: string
  countryCode: string
  divisionCode: string
  city: string | undefined
  street: string | undefined
  street2: string | undefined
  zipCode: string | undefined
  phone: string | undefined
  company: string | undefined
  lastIp: string | undefined
  createdAt: number
}

/** A new person without rights; answers the id, or nothing when the e-mail address is taken. */
export const insertProfile = async (sql: Sql, person: NewProfile): Promise<number | undefined> =>
  (
    await sql.maybe<{ id: number }>`
      insert into person (site_id, role, alias, first_name, last_name, email, password_hash, language, country_code,
        division_code, city, street, street2, zip_code, phone, company, last_ip, created_at)
      values (${person.siteId}::bigint, 'user', ${person.alias}, ${person.firstName}, ${person.lastName},
        ${person.email}, ${person.passwordHash}, ${person.language}, ${person.countryCode}, ${person.divisionCode},
        ${person.city}, ${person.street}, ${person.street2}, ${person.zipCode}, ${person.phone}, ${person.company},
        ${person.lastIp}, ${instant(person.createdAt)}::timestamptz)
      on conflict (lower(email)) where is_alive do nothing returning id`
  )?.id

/** Opens the session that a new person's first sign-in takes over. */
export const insertDashboardSession = (
  sql: Sql,
  session: { personId: number; csrfHash: Uint8Array; createdAt: number },
): Promise<number> =>
  sql.run`
    insert into dashboard_session (person_id, csrf_hash, created_at)
    values (${session.personId}::bigint, ${session.csrfHash}::bytea, ${instant(session.createdAt)}::timestamptz)`
