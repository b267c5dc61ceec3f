/**
 * Accounts that a site's admin has approved, for Autotrade or for broker transmit, and those that still wait. An
 * account may be approved before it is connected. One that feeds a strategy with its own trades is never
 * mirrored into and not kept in step.
 */
import type { SecurityType } from '../../domain/codes.ts'
import type { Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { accountTables, ofSites, type SiteFilter, siteColumns } from './account-listings.ts'
import { isTradeLeader } from './accounts.ts'

/** 0 autotrade, 1 broker transmit. */
export type ConnectionType = 0 | 1

export interface ApprovedRow {
  id: number
  account: string
  personId: number
  brokerId: number
  whiteLabelSiteId: number | null
  geoSite: string | null
  isCfd: boolean
  isDeleted: boolean
}

const approvedColumns = fragment`
  approved.id, approved.account, approved.person_id as "personId", approved.broker_id as "brokerId",
  approved.is_cfd as "isCfd", approved.deleted_at is not null as "isDeleted", ${siteColumns}`

const approvedTables = fragment`
  approved join person p on p.id = approved.person_id
  join site on site.id = p.site_id left join site region on region.id = site.parent_site_id`

export interface Approval {
  connectionType: ConnectionType
  personId: number | bigint
  brokerId: number
  account: string
  isCfd: boolean
  addedBy: number
  addedAt: string
}

/** Whether its number is approved is shown with an account's settings. */
const stamped = (numbers: Fragment, changedAt: string): Fragment => fragment`
  update account a set settings_changed_at = ${changedAt}::timestamptz from ${numbers} named
  where a.broker_id = named.broker_id and a.account = named.account`

/** That it is approved already for the same person: who has done it, and when, go together and stay. */
const stands = fragment`
  (approved_account.deleted_at is null and approved_account.person_id = excluded.person_id)`

/**
 * Approves an account; one that is approved already keeps its row. Nothing where somebody else's approval of the number
 * stands, unless it is void: `isHolder` says that the number is that of the person's own account.
 */
export const approveAccount = (
  sql: Sql,
  approval: Approval,
  isHolder: boolean,
): Promise<ApprovedRow | undefined> =>
  sql.maybe<ApprovedRow>`
    with approved as (
      insert into approved_account (connection_type, person_id, broker_id, account, is_cfd, added_by_person_id, added_at)
      values (${approval.connectionType}::smallint, ${approval.personId}::bigint, ${approval.brokerId}::int,
        ${approval.account}, ${approval.isCfd}::boolean, ${approval.addedBy}::bigint, ${approval.addedAt}::timestamptz)
      on conflict (connection_type, broker_id, account) do update
        set person_id = excluded.person_id, is_cfd = excluded.is_cfd, deleted_at = null,
          added_by_person_id = case when ${stands} then approved_account.added_by_person_id
            else excluded.added_by_person_id end,
          added_at = case when ${stands} then approved_account.added_at else excluded.added_at end
        where approved_account.deleted_at is not null or approved_account.person_id = excluded.person_id
          or ${isHolder}::boolean
      returning *
    ), stamped as (${stamped(fragment`approved`, approval.addedAt)})
    select ${approvedColumns} from ${approvedTables}`

/** For whom the number is approved. */
export const findApproved = async (
  sql: Sql,
  { connectionType, brokerId, account }: Pick<Approval, 'connectionType' | 'brokerId' | 'account'>,
): Promise<number | undefined> =>
  (
    await sql.maybe<{ personId: number }>`
      select person_id as "personId" from approved_account
      where connection_type = ${connectionType}::smallint and broker_id = ${brokerId}::int
        and account = ${account}::text and deleted_at is null`
  )?.personId

/** Whether a person belongs to the sites; undefined when there is no such person. */
export const findMembership = async (
  sql: Sql,
  personId: number | bigint,
  sites: SiteFilter,
): Promise<boolean | undefined> =>
  (
    await sql.maybe<{ isMember: boolean }>`
      select (${ofSites(sites)}) as "isMember"
      from person p join site on site.id = p.site_id left join site region on region.id = site.parent_site_id
      where p.id = ${personId}::bigint`
  )?.isMember

export interface ApprovalAsked {
  connectionType: ConnectionType
  account: string
  personId?: number | bigint | undefined
  brokerId?: number | undefined
}

/** Living approvals of this number whose person belongs to the sites. */
export const listApprovals = (sql: Sql, wanted: ApprovalAsked, sites: SiteFilter): Promise<ApprovedRow[]> =>
  sql.rows<ApprovedRow>`
    select ${approvedColumns} from approved_account ${approvedTables}
    where approved.connection_type = ${wanted.connectionType}::smallint and approved.deleted_at is null
      and approved.account = ${wanted.account}
      and ${asked`approved.person_id = ${wanted.personId}::bigint`}
      and ${asked`approved.broker_id = ${wanted.brokerId}::int`}
      and ${ofSites(sites)}
    order by approved.id`

/** Whether a member of the sites has an account of this number, or had it approved. */
export const isNumberOfSites = async (sql: Sql, account: string, sites: SiteFilter): Promise<boolean> =>
  (
    await sql.one<{ isKnown: boolean }>`
      select exists (select from ${accountTables} where a.account = ${account} and ${ofSites(sites)})
        or exists (
          select from approved_account ${approvedTables} where approved.account = ${account} and ${ofSites(sites)}
        ) as "isKnown"`
  ).isKnown

/**
 * Withdraws a person's living approval, whose number's account is locked; false when somebody else has done it meanwhile,
 * or has given it to the number's holder.
 */
export async function withdrawApproval(
  sql: Sql,
  { id, personId }: Pick<ApprovedRow, 'id' | 'personId'>,
  deletedAt: string,
): Promise<boolean> {
  const withdrawn = await sql.maybe`
    with withdrawn as (
      update approved_account set deleted_at = ${deletedAt}::timestamptz
      where id = ${id}::bigint and person_id = ${personId}::bigint and deleted_at is null
      returning id, broker_id, account
    ), stamped as (${stamped(fragment`withdrawn`, deletedAt)})
    select id from withdrawn`
  return withdrawn !== undefined
}

/**
 * Whose the account of this number at the broker is, and whether anything mirrors into it; nothing when there is none.
 * It is locked, by a statement of its own: another would read what was so before it waited.
 */
export async function lockMirroredAccount(
  sql: Sql,
  brokerId: number,
  account: string,
): Promise<{ id: number; personId: number; isMirrored: boolean } | undefined> {
  await sql.run`
    select from account where broker_id = ${brokerId}::int and account = ${account} for no key update`
  return sql.maybe`
    select a.id, a.person_id as "personId", exists (
      select from setup where setup.account_id = a.id and setup.stopped_at is null) as "isMirrored"
    from account a where a.broker_id = ${brokerId}::int and a.account = ${account}`
}

/** An account that waits for an approval, of its site's admin or of its holder. */
export interface PendingRow {
  id: number
  status: 'Pending' | 'Approved' | 'Declined'
  declinedAt: number | null
  askedAt: number
  account: string
  personId: number
  brokerName: string
  brokerId: number
  connectionName: string
  firstName: string
  lastName: string
  email: string
  countryCode: string
  divisionCode: string | null
  language: string
  whiteLabelSiteId: number | null
  geoSite: string | null
  siteDomain: string | null
  introducingBrokerId: number | null
  introducingBroker: string | null
  salesRepId: number | null
  salesRep: string | null
  strategyId: number | null
  strategyName: string | null
  isTradeLeader: boolean
  authenticatedAt: number | null
  futures: boolean
  forex: boolean
  stocks: boolean
  options: boolean
}

const chosen = (name: string): Fragment => fragment`coalesce((r.choices ->> ${name})::boolean, false)`

const classOf: Record<SecurityType, string> = {
  CS: 'stocksEnabled',
  FUT: 'futuresEnabled',
  OPT: 'optionsEnabled',
  FOR: 'forexEnabled',
}

/**
 * Accounts of the sites that wait. With a request to their holder: until it is completed, expired or replaced, and one
 * that failed until the strategy is begun without asking. Without: those that nobody approved and nothing is mirrored into.
 */
export const listPendingAccounts = (
  sql: Sql,
  sites: SiteFilter,
  filter: { brokerId?: number | undefined; securityType?: SecurityType | undefined },
  now: Instant,
): Promise<PendingRow[]> =>
  sql.rows<PendingRow>`
    select a.id, a.account, a.person_id as "personId", b.name as "brokerName", a.broker_id as "brokerId",
      b.connection_name as "connectionName", p.first_name as "firstName", p.last_name as "lastName", p.email,
      p.country_code as "countryCode", p.division_code as "divisionCode", p.language, ${siteColumns},
      site.domain as "siteDomain", a.introducing_broker_id as "introducingBrokerId",
      a.introducing_broker as "introducingBroker", a.sales_rep_id as "salesRepId", a.sales_rep as "salesRep",
      ${isTradeLeader} as "isTradeLeader", a.authenticated_at as "authenticatedAt",
      r.strategy_id as "strategyId", strategy.name as "strategyName",
      case when r.status in ('Processing', 'PendingBroker') then 'Approved'
        when r.status = 'Failed' or r.id is null and withdrawn.deleted_at is not null then 'Declined'
        else 'Pending' end as status,
      case when r.id is null then withdrawn.deleted_at else r.ended_at end as "declinedAt",
      coalesce(r.created_at, a.created_at) as "askedAt", ${chosen('futuresEnabled')} as futures,
      ${chosen('forexEnabled')} as forex, ${chosen('stocksEnabled')} as stocks, ${chosen('optionsEnabled')} as options
    from ${accountTables}
    -- Read once, not once per account: no index leads from an account to its requests.
    left join (
      select distinct on (q.account_id, q.strategy_id) q.* from approval_request q
      order by q.account_id, q.strategy_id, q.created_at desc, q.xid desc
    ) r on r.account_id = a.id and (r.status in ('Processing', 'PendingBroker')
      or r.status = 'PendingCustomer' and not ${hasCome(fragment`r.expires_at`, now)}
      or r.status = 'Failed' and not exists (
        select from setup where setup.account_id = r.account_id and setup.strategy_id = r.strategy_id
          and setup.started_at >= r.ended_at))
    left join strategy on strategy.id = r.strategy_id
    left join approved_account withdrawn on withdrawn.connection_type = 0 and withdrawn.broker_id = a.broker_id
      and withdrawn.account = a.account and withdrawn.person_id = a.person_id
    where ${ofSites(sites)}
      and (${filter.brokerId}::int is null or a.broker_id = ${filter.brokerId}::int)
      and (r.id is not null or (withdrawn.id is null or withdrawn.deleted_at is not null) and not exists (
        select from setup where setup.account_id = a.id and setup.stopped_at is null))
      and ${filter.securityType ? chosen(classOf[filter.securityType]) : fragment`true`}
    order by a.id, r.strategy_id`
