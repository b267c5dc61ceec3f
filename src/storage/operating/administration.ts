/** What an operator sets from outside: roles and permissions of people, support of sites, terms of strategies. */
import { type Role, siteKindOf } from '../../domain/people/access.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { markVariants } from '../strategies/variants.ts'

export interface RoleChange {
  personId: number
  role: Role
  /** Of an admin of a white-label site; null means all. */
  permissions: readonly string[] | null
}

/**
 * Gives a person another role; every process knows within a second. False when no such person lives, or when
 * the person's site is not of the kind that the role is for.
 */
export async function changeRole(sql: Sql, { personId, role, permissions }: RoleChange): Promise<boolean> {
  const changed = await sql.run`
    with changed as (
      update person set role = ${role}, permissions = ${permissions}::text[]
      from site where site.id = person.site_id and person.id = ${personId}::bigint and person.is_alive
        and (${siteKindOf[role]}::text is null or site.kind = ${siteKindOf[role]}::text)
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
  isAlive?: boolean | undefined
  isPrivate?: boolean | undefined
  /** Dollars a month. */
  monthlyCost?: string | undefined
  isResellable?: boolean | undefined
  noSubsAllowed?: boolean | undefined
  /** Percent of what followers gain, for terms that begin from now on. */
  performanceFee?: number | undefined
  shortDescription?: string | undefined
  longDescription?: string | undefined
  changedAt: Instant
}

/** Changes what is given of a strategy; answers how many strategies of that id there are. */
export async function changeStrategy(sql: Sql, terms: StrategyTerms): Promise<number> {
  const changed = await sql.run`
    update strategy set is_alive = coalesce(${terms.isAlive}::boolean, is_alive),
      is_private = coalesce(${terms.isPrivate}::boolean, is_private),
      monthly_cost = coalesce(${terms.monthlyCost}::numeric, monthly_cost),
      is_resellable = coalesce(${terms.isResellable}::boolean, is_resellable),
      no_subs_allowed = coalesce(${terms.noSubsAllowed}::boolean, no_subs_allowed),
      performance_fee_percent = coalesce(${terms.performanceFee}::int, performance_fee_percent),
      short_description = coalesce(${terms.shortDescription}::text, short_description),
      long_description = coalesce(${terms.longDescription}::text, long_description),
      terms_changed_at = ${instant(terms.changedAt)}::timestamptz
    where id = ${terms.strategyId}::bigint`
  if (terms.isAlive !== undefined) await markVariants(sql, [terms.strategyId])
  return changed
}

export interface AccountChange {
  readonly brokerId: number
  readonly account: string
  readonly ignoresManualOrders: boolean | undefined
  readonly introducingBroker: string | undefined
  readonly introducingBrokerId: number | undefined
  readonly salesRep: string | undefined
  readonly salesRepId: number | undefined
}

/** Changes what is given of an account; false when there is no such account. */
export const changeAccount = async (sql: Sql, change: AccountChange, now: Instant): Promise<boolean> =>
  (await sql.run`
    update account set ignore_manual_orders = coalesce(${change.ignoresManualOrders}::boolean, ignore_manual_orders),
      introducing_broker = coalesce(${change.introducingBroker}::text, introducing_broker),
      introducing_broker_id = coalesce(${change.introducingBrokerId}::bigint, introducing_broker_id),
      sales_rep = coalesce(${change.salesRep}::text, sales_rep),
      sales_rep_id = coalesce(${change.salesRepId}::bigint, sales_rep_id),
      settings_changed_at = ${instant(now)}::timestamptz
    where broker_id = ${change.brokerId}::int and account = ${change.account}`) > 0

/** Members of a setup that no operation sets; what is left out stays. */
export interface SetupChange {
  readonly brokerId: number
  readonly account: string
  readonly strategyId: number
  readonly closingOrdersOnly?: boolean | undefined
  readonly isConfirmationNeeded?: boolean | undefined
  readonly virtualLimitOrders?: boolean | undefined
  readonly stocksAsCfd?: boolean | undefined
  readonly minFutures?: number | undefined
  readonly minOptions?: number | undefined
  readonly minForex?: number | undefined
  /** 0: none. */
  readonly forexLotSize?: number | undefined
}

/** Changes what is given of a living setup; false when there is none. It is brought in step at once. */
export const changeSetup = async (sql: Sql, change: SetupChange, now: Instant): Promise<boolean> =>
  (await sql.run`
    update setup set closing_orders_only = coalesce(${change.closingOrdersOnly}::boolean, closing_orders_only),
      is_confirmation_needed = coalesce(${change.isConfirmationNeeded}::boolean, is_confirmation_needed),
      virtual_limit_orders_enabled = coalesce(${change.virtualLimitOrders}::boolean, virtual_limit_orders_enabled),
      trade_stocks_as_cfd = coalesce(${change.stocksAsCfd}::boolean, trade_stocks_as_cfd),
      min_futures = coalesce(${change.minFutures}::int, min_futures),
      min_options = coalesce(${change.minOptions}::int, min_options),
      min_forex = coalesce(${change.minForex}::int, min_forex),
      forex_lot_size = nullif(coalesce(${change.forexLotSize}::int, forex_lot_size), 0),
      changed_at = ${instant(now)}::timestamptz
    from account a
    where a.id = setup.account_id and a.broker_id = ${change.brokerId}::int and a.account = ${change.account}
      and setup.strategy_id = ${change.strategyId}::bigint and setup.stopped_at is null`) > 0
