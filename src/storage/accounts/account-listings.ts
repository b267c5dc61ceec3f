/**
 * Accounts as sites' admins and their holders find them: by partial matches, by what is autotraded in them, and
 * counted by asset class.
 */
import type { SecurityType } from '../../domain/codes.ts'
import type { Scope } from '../../domain/people/scope.ts'
import { asked, holding } from '../database/asked.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { bySite, within } from '../database/scope.ts'
import { type Fragment, fragment, identifier, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { isTradeLeader, settingsChangedAt } from './accounts.ts'

/** Tables beside `account a`, and the sites that an account belongs to. */
const accountTables = fragment`
  account a join broker b on b.id = a.broker_id join person p on p.id = a.person_id
  join site on site.id = a.site_id left join site region on region.id = site.parent_site_id`

const siteColumns = fragment`
  case when site.kind = 'whitelabel' then site.id end as "whiteLabelSiteId",
  case when site.kind = 'geo' then site.code else region.code end as "geoSite"`

/** Which sites a report is about. */
export interface SiteFilter {
  readonly scope: Scope
  readonly siteId?: number | bigint | undefined
  readonly geoSite?: string | undefined
}

/**
 * These conditions stay when nothing is asked (see `asked`): reports on a site, which are not paged, go from each account
 * to what it has, not through what all sites have.
 */
const ofSites = ({ scope, siteId, geoSite }: SiteFilter): Fragment => fragment`
  ${within(scope, { sites: bySite })} and (${siteId}::bigint is null or site.id = ${siteId}::bigint)
  and (${geoSite}::text is null or ${geoSite}::text in (site.code, site.domain) and site.kind = 'geo'
    or ${geoSite}::text in (region.code, region.domain))`

export interface FoundAccount {
  id: number
  personId: number
  account: string
  brokerName: string
  brokerId: number
  firstName: string
  lastName: string
  email: string
  language: string
  whiteLabelSiteId: number | null
  geoSite: string | null
  countryCode: string
  divisionCode: string | null
  authenticatedAt: number | null
}

export interface AccountSearch {
  account?: string | undefined
  personId?: number | bigint | undefined
  brokerId?: number | undefined
  firstName?: string | undefined
  lastName?: string | undefined
  email?: string | undefined
  siteId?: number | bigint | undefined
  countryCode?: string | undefined
  ipAddress?: string | undefined
  /** Matches verified numbers only. */
  phone?: string | undefined
}

/** Accounts by partial matches, by id. */
export const pageAccounts = (sql: Sql, search: AccountSearch, scope: Scope, request: PageRequest) =>
  page<FoundAccount>(sql, request, {
    select: fragment`a.id, a.person_id as "personId", a.account, b.name as "brokerName", a.broker_id as "brokerId",
      p.first_name as "firstName", p.last_name as "lastName", p.email, p.language, ${siteColumns},
      p.country_code as "countryCode", p.division_code as "divisionCode", a.authenticated_at as "authenticatedAt"`,
    from: accountTables,
    where: fragment`${within(scope, { persons: [fragment`a.person_id`], sites: bySite })}
      and ${asked`strpos(a.account, ${search.account}::text) > 0`}
      and ${asked`a.person_id = ${search.personId}::bigint`}
      and ${asked`a.broker_id = ${search.brokerId}::int`}
      and ${asked`strpos(p.email, ${search.email}::text) > 0`}
      and ${asked`a.site_id = ${search.siteId}::bigint`}
      and ${holding(
        [fragment`p.first_name`, search.firstName],
        [fragment`p.last_name`, search.lastName],
        [fragment`p.country_code`, search.countryCode],
        [fragment`p.last_ip`, search.ipAddress],
        [fragment`case when p.is_phone_verified then p.phone end`, search.phone],
      )}`,
    ...keyedById(fragment`account`, fragment`a`),
  })

export interface AutotradedRow {
  id: number
  personId: number
  account: string
  brokerId: number
  firstName: string
  lastName: string
  email: string
  strategyId: number
  strategyName: string
  isSyncEnabled: boolean
  isAutotrading: boolean
  isAutotradeDisabled: boolean
  autotradeDisabledReason: string | null
  syncDisabledReason: string | null
  settingsChangedAt: number
}

export interface AutotradedFilter {
  strategyId?: number | bigint | undefined
  brokerId?: number | undefined
  isSyncEnabled?: boolean | undefined
  isAutotradeEnabled?: boolean | undefined
  isAutotrading?: boolean | undefined
  /** Begun in [from, until]. */
  from?: number | undefined
  until?: number | undefined
}

const isAutotrading = fragment`(setup.stopped_at is null and not a.is_autotrade_disabled and b.is_enabled)`

/** The latest setup of each strategy in each account of the site, running or not, by id. */
export const pageAutotraded = (sql: Sql, filter: AutotradedFilter, scope: Scope, request: PageRequest) =>
  page<AutotradedRow>(sql, request, {
    select: fragment`setup.id, a.person_id as "personId", a.account, a.broker_id as "brokerId",
      p.first_name as "firstName", p.last_name as "lastName", p.email, setup.strategy_id as "strategyId",
      strategy.name as "strategyName", a.is_sync_enabled as "isSyncEnabled", ${isAutotrading} as "isAutotrading",
      a.is_autotrade_disabled as "isAutotradeDisabled", a.autotrade_disabled_reason as "autotradeDisabledReason",
      a.sync_disabled_reason as "syncDisabledReason",
      ${settingsChangedAt} as "settingsChangedAt"`,
    from: fragment`${accountTables} join setup on setup.account_id = a.id
      join strategy on strategy.id = setup.strategy_id`,
    where: fragment`${within(scope, { sites: bySite })} and not exists (
        select from setup later where later.account_id = setup.account_id and later.id > setup.id
          and later.strategy_id = setup.strategy_id)
      and ${asked`setup.strategy_id = ${filter.strategyId}::bigint`}
      and ${asked`a.broker_id = ${filter.brokerId}::int`}
      and ${asked`a.is_sync_enabled = ${filter.isSyncEnabled}::boolean`}
      and ${asked`a.is_autotrade_disabled <> ${filter.isAutotradeEnabled}::boolean`}
      and ${asked`${isAutotrading} = ${filter.isAutotrading}::boolean`}
      and ${asked`setup.started_at >= to_timestamp(${filter.from}::float8 / 1000)`}
      and ${asked`setup.started_at <= to_timestamp(${filter.until}::float8 / 1000)`}`,
    ...keyedById(fragment`setup`),
  })

type Count = 'stocks' | 'futures' | 'options' | 'forex' | 'all'

export interface AccountCounts {
  id: number
  account: string
  personId: number
  brokerId: number
  introducingBrokerId: number | null
  salesRepId: number | null
  whiteLabelSiteId: number | null
  geoSite: string | null
  authenticatedAt: number | null
  isSyncEnabled: boolean
  needsConfirmation: boolean
  isAutotradeDisabled: boolean
  currency: string
  email: string
  firstName: string
  lastName: string
  isBrokerEnabled: boolean
  /** Strategies followed, fed from the account, and of the followed ones those of the account's holder. */
  autotraded: Record<Count, number>
  brokerTransmit: Record<Count, number>
  platformTransmit: Record<Count, number>
}

export interface CountFilter extends SiteFilter {
  brokerId?: number | undefined
  securityType?: SecurityType | undefined
  isDisabled?: boolean | undefined
  isSyncEnabled?: boolean | undefined
  needsConfirmation?: boolean | undefined
  isBrokerEnabled?: boolean | undefined
  /** Setups that ran at any time in [from, until]. */
  from: number
  until: number
}

type Classes = Readonly<Record<SecurityType, Fragment>>

const classesOf = (table: string): Classes => {
  const column = (name: string): Fragment => fragment`${identifier(table)}.${identifier(name)}`
  return {
    CS: column('stocks_enabled'),
    FUT: column('futures_enabled'),
    OPT: column('options_enabled'),
    FOR: column('forex_enabled'),
  }
}

const [ofSetup, ofFed] = [classesOf('setup'), classesOf('fed')]

/** Distinct strategies of the rows that pass, by class. */
const counts = (strategyId: Fragment, classes: Classes, which = fragment`true`): Fragment => {
  const count = (enabled: Fragment): Fragment =>
    fragment`count(distinct ${strategyId}) filter (where ${which} and ${enabled})`
  return fragment`jsonb_build_object('stocks', ${count(classes.CS)}, 'futures', ${count(classes.FUT)},
    'options', ${count(classes.OPT)}, 'forex', ${count(classes.FOR)}, 'all', ${count(fragment`true`)})`
}

/** Signals of a strategy that an account feeds do not come by the platform. */
const byPlatform = fragment`strategy.owner_person_id = a.person_id and strategy.transmit_account_id is null`

/** Whether anything of the class was autotraded or fed. */
const hasClass = (type: SecurityType): Fragment =>
  fragment`(bool_or(${ofSetup[type]}) is true or bool_or(${ofFed[type]}) is true)`

/** Accounts with the strategies that were autotraded in them or fed from them, by id. */
export const listAccountCounts = (sql: Sql, filter: CountFilter): Promise<AccountCounts[]> =>
  sql.rows<AccountCounts>`
    select a.id, a.account, a.person_id as "personId", a.broker_id as "brokerId",
      a.introducing_broker_id as "introducingBrokerId", a.sales_rep_id as "salesRepId", ${siteColumns},
      a.authenticated_at as "authenticatedAt", a.is_sync_enabled as "isSyncEnabled",
      coalesce(bool_or(setup.is_confirmation_needed), false) as "needsConfirmation",
      a.is_autotrade_disabled as "isAutotradeDisabled", a.currency, p.email, p.first_name as "firstName",
      p.last_name as "lastName", b.is_enabled as "isBrokerEnabled", ${counts(fragment`setup.strategy_id`, ofSetup)} as autotraded,
      ${counts(fragment`fed.id`, ofFed)} as "brokerTransmit",
      ${counts(fragment`setup.strategy_id`, ofSetup, byPlatform)} as "platformTransmit"
    from ${accountTables}
    left join setup on setup.account_id = a.id and setup.started_at <= ${instant(filter.until)}::timestamptz
      and (setup.stopped_at is null or setup.stopped_at > ${instant(filter.from)}::timestamptz)
    left join strategy on strategy.id = setup.strategy_id
    left join strategy fed on fed.transmit_account_id = a.id and fed.is_alive and ${isTradeLeader}
      and fed.started_at <= ${instant(filter.until)}::timestamptz
    where ${ofSites(filter)}
      and (${filter.brokerId}::int is null or a.broker_id = ${filter.brokerId}::int)
      and (${filter.isDisabled}::boolean is null or a.is_autotrade_disabled = ${filter.isDisabled}::boolean)
      and (${filter.isSyncEnabled}::boolean is null or a.is_sync_enabled = ${filter.isSyncEnabled}::boolean)
      and (${filter.isBrokerEnabled}::boolean is null or b.is_enabled = ${filter.isBrokerEnabled}::boolean)
    group by a.id, p.id, b.id, site.id, region.id
    having (${filter.needsConfirmation}::boolean is null
        or coalesce(bool_or(setup.is_confirmation_needed), false) = ${filter.needsConfirmation}::boolean)
      and ${filter.securityType ? hasClass(filter.securityType) : fragment`true`}
    order by a.id`

export { accountTables, ofSites, siteColumns }
