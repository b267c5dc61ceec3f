/** Strategies as they are listed, each with what it trades and whether its owner follows it with money. */
import type { Actor } from '../domain/access.ts'
import type { SecurityType } from '../domain/codes.ts'
import { visibleTo } from './access.ts'
import { type CursorRefusal, type Page, type PageRequest, page } from './page.ts'
import { type Fragment, fragment, join, type Sql } from './sql.ts'

export interface StrategyRow {
  id: number
  name: string
  isAlive: boolean
  isPrivate: boolean
  startedAt: number
  monthlyCost: string
  ownerPersonId: number
  /** Null where it belongs to no white-label site. */
  whiteLabelSiteId: number | null
  isResellable: boolean
  /** The classes it has ever held; none before its first fill. */
  securityTypes: SecurityType[]
  isTradeOwnSystem: boolean
}

const ownSystem: Fragment = fragment`exists (
  select from setup join account on account.id = setup.account_id
  where setup.strategy_id = strategy.id and setup.stopped_at is null and account.kind = 0
    and account.person_id = strategy.owner_person_id)`

/** What every listing shows of a strategy; from `strategy` and its `site`. */
export const strategyColumns: Fragment = fragment`
  strategy.id, strategy.name, strategy.is_alive as "isAlive", strategy.is_private as "isPrivate",
  strategy.started_at as "startedAt", strategy.monthly_cost as "monthlyCost",
  strategy.owner_person_id as "ownerPersonId",
  case when site.kind = 'whitelabel' then site.id end as "whiteLabelSiteId",
  strategy.is_resellable as "isResellable", ${ownSystem} as "isTradeOwnSystem",
  array(select distinct i.security_type::text from position p join instrument i on i.id = p.instrument_id
    where p.strategy_id = strategy.id order by 1) as "securityTypes"`

/** Has held an instrument of the class, or nothing at all yet: then it may trade any. */
const trades = (securityType: SecurityType): Fragment => fragment`(
  exists (select from position p join instrument i on i.id = p.instrument_id
    where p.strategy_id = strategy.id and i.security_type = ${securityType})
  or not exists (select from position p where p.strategy_id = strategy.id))`

export interface StrategyFilter {
  readonly securityType?: SecurityType | undefined
  /** Epoch milliseconds; strategies that started earlier. */
  readonly startedBefore?: number | undefined
  /** A part of the name in any letter case; % stands for any text, _ for any character. */
  readonly name?: string | undefined
  readonly ownerPersonId?: number | bigint | undefined
  readonly siteId?: number | bigint | undefined
  readonly isTradeOwnSystem?: boolean | undefined
}

/** The strategies that the viewer may see and that pass every part of the filter. */
export function matching(viewer: Actor, filter: StrategyFilter): Fragment {
  const { securityType, startedBefore, name, ownerPersonId, siteId, isTradeOwnSystem } = filter
  const parts = [
    visibleTo(viewer),
    ...(securityType === undefined ? [] : [trades(securityType)]),
    ...(startedBefore === undefined
      ? []
      : [fragment`strategy.started_at < to_timestamp(${startedBefore}::float8 / 1000)`]),
    ...(name === undefined ? [] : [fragment`strategy.name ilike '%' || ${name}::text || '%' escape ''`]),
    ...(ownerPersonId === undefined ? [] : [fragment`strategy.owner_person_id = ${ownerPersonId}::bigint`]),
    ...(siteId === undefined ? [] : [fragment`strategy.site_id = ${siteId}::bigint`]),
    ...(isTradeOwnSystem === undefined ? [] : [fragment`${ownSystem} = ${isTradeOwnSystem}::boolean`]),
  ]
  return join(parts, ' and ')
}

/** Strategies that pass, in the order of their making. */
export const pageStrategies = (
  sql: Sql,
  viewer: Actor,
  filter: StrategyFilter,
  { request, order }: { request: PageRequest; order: 'asc' | 'desc' },
): Promise<Page<StrategyRow> | CursorRefusal> =>
  page<StrategyRow>(
    sql,
    {
      select: strategyColumns,
      from: fragment`strategy join site on site.id = strategy.site_id`,
      where: matching(viewer, filter),
      key: [{ column: fragment`strategy.id`, type: 'bigint' }],
      order,
      xid: fragment`strategy.xid`,
    },
    request,
  )
