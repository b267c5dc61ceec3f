/** Setups as they are listed: who autotrades what, and the settings of account and setup together. */
import type { Scope } from '../../domain/people/scope.ts'
import { isTradeLeader, settingsChangedAt } from '../accounts/accounts.ts'
import { asked } from '../database/asked.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { within } from '../database/scope.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'

export interface SetupRow {
  id: number
  personId: number
  account: string
  scalingPercentage: number
  strategyId: number
  strategyName: string
  brokerId: number
  brokerName: string
  startedAt: number
  changedAt: number
}

const setupColumns = fragment`
  setup.id, a.person_id as "personId", a.account, setup.scaling_percentage as "scalingPercentage",
  setup.strategy_id as "strategyId", strategy.name as "strategyName", a.broker_id as "brokerId",
  b.name as "brokerName", setup.started_at as "startedAt", setup.changed_at as "changedAt"`

const setupTables = fragment`
  setup join account a on a.id = setup.account_id join broker b on b.id = a.broker_id
  join strategy on strategy.id = setup.strategy_id`

/** Rows of a person as strategy owner or as account holder, and of accounts of a site. */
const scoped = (scope: Scope): Fragment =>
  within(scope, {
    persons: [fragment`strategy.owner_person_id`, fragment`a.person_id`],
    sites: [fragment`a.site_id`, fragment`(select parent_site_id from site where id = a.site_id)`],
  })

export interface FollowerFilter {
  personId?: number | bigint | undefined
  account?: string | undefined
  strategyId?: number | bigint | undefined
  brokerId?: number | undefined
  siteId?: number | bigint | undefined
}

/** Live setups that pass the filter and belong to the scope, by id. */
export const pageSetups = (sql: Sql, filter: FollowerFilter, scope: Scope, request: PageRequest) =>
  page<SetupRow>(sql, request, {
    select: setupColumns,
    from: setupTables,
    where: fragment`setup.stopped_at is null and ${scoped(scope)}
      and ${asked`a.person_id = ${filter.personId}::bigint`}
      and ${asked`a.account = ${filter.account}::text`}
      and ${asked`setup.strategy_id = ${filter.strategyId}::bigint`}
      and ${asked`a.broker_id = ${filter.brokerId}::int`}
      and ${asked`a.site_id = ${filter.siteId}::bigint`}`,
    ...keyedById(fragment`setup`),
  })

/** Every column of the settings, joined from account and setup; times are epoch milliseconds. */
export interface SettingsRow {
  id: number
  personId: number
  firstName: string
  lastName: string
  email: string
  countryCode: string
  divisionCode: string | null
  language: string
  siteDomain: string | null
  brokerId: number
  brokerName: string
  connectionName: string
  isBrokerEnabled: boolean
  strategyId: number
  strategyName: string
  account: string
  kind: number
  currency: string
  ignoreManualOrders: boolean
  isSyncEnabled: boolean
  syncDisabledReason: string | null
  isAutotradeDisabled: boolean
  autotradeDisabledReason: string | null
  authenticatedAt: number | null
  settingsChangedAt: number
  hasExclusions: boolean
  accountId: number
  isTradeLeader: boolean
  isApproved: boolean
  brokerAuthorization: 'NotRequired' | 'Pending' | 'Authorized' | 'Revoked'
  brokerUserId: string | null
  introducingBrokerId: number | null
  introducingBroker: string | null
  salesRepId: number | null
  salesRep: string | null
  setup: Record<string, number | string | boolean | null>
}

/** The settings of a person's live setups, by id; one row per account and strategy. */
export const listSettings = (
  sql: Sql,
  personId: number | bigint,
  account: string | undefined,
): Promise<SettingsRow[]> =>
  sql.rows<SettingsRow>`
    select setup.id, p.id as "personId", p.first_name as "firstName", p.last_name as "lastName", p.email,
      p.country_code as "countryCode", p.division_code as "divisionCode", p.language,
      site.domain as "siteDomain", a.broker_id as "brokerId", b.name as "brokerName", b.connection_name as "connectionName", b.is_enabled as "isBrokerEnabled", setup.strategy_id as "strategyId",
      strategy.name as "strategyName", a.account, a.kind, a.currency,
      a.ignore_manual_orders as "ignoreManualOrders", a.is_sync_enabled as "isSyncEnabled",
      a.sync_disabled_reason as "syncDisabledReason", a.is_autotrade_disabled as "isAutotradeDisabled",
      a.autotrade_disabled_reason as "autotradeDisabledReason", a.authenticated_at as "authenticatedAt",
      ${settingsChangedAt} as "settingsChangedAt",
      exists (select from setup_exclusion e
        where e.setup_id = setup.id and e.reason = 'Manual' and e.ended_at is null) as "hasExclusions",
      a.id as "accountId", ${isTradeLeader} as "isTradeLeader", not exists (
        select from approved_account withdrawn where withdrawn.connection_type = 0
          and withdrawn.broker_id = a.broker_id and withdrawn.account = a.account
          and withdrawn.person_id = a.person_id and withdrawn.deleted_at is not null) as "isApproved",
      a.broker_authorization as "brokerAuthorization", a.broker_user_id as "brokerUserId",
      a.introducing_broker_id as "introducingBrokerId", a.introducing_broker as "introducingBroker",
      a.sales_rep_id as "salesRepId", a.sales_rep as "salesRep", to_jsonb(setup) as setup
    from ${setupTables} join person p on p.id = a.person_id join site on site.id = p.site_id
    where setup.stopped_at is null and a.person_id = ${personId}::bigint
      and ${asked`a.account = ${account}::text`}
    order by setup.id`
