/** Strategies as they are listed, each with what it trades and whether its owner follows it with money. */

import type { SecurityType } from '../../domain/codes.ts'
import type { Actor } from '../../domain/people/access.ts'
import type { Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { visibleTo } from '../people/access.ts'
import { enabledClasses, enabledColumns } from './enabled-classes.ts'
import { autotrades, type StrategyHead } from './strategy-details.ts'

export interface StrategyRow extends StrategyHead {
  isAlive: boolean
  isPrivate: boolean
  /** Null where it belongs to no white-label site. */
  whiteLabelSiteId: number | null
  isResellable: boolean
  isTradeOwnSystem: boolean
}

const ownSystem: Fragment = fragment`exists (
  select from setup join account on account.id = setup.account_id
  where setup.strategy_id = strategy.id and ${autotrades} and account.kind = 0
    and account.person_id = strategy.owner_person_id)`

/** What every listing shows of a strategy; from `listed`. */
const strategyColumns: Fragment = fragment`
  strategy.id, strategy.name, strategy.is_alive as "isAlive", strategy.is_private as "isPrivate",
  strategy.started_at as "startedAt", strategy.monthly_cost as "monthlyCost",
  strategy.owner_person_id as "ownerPersonId", ${enabledColumns(fragment`strategy`)},
  case when site.kind = 'whitelabel' then site.id end as "whiteLabelSiteId",
  strategy.is_resellable as "isResellable", ${ownSystem} as "isTradeOwnSystem"`

/** What a listing reads and filters. */
const listed: Fragment = fragment`strategy join site on site.id = strategy.site_id
  left join variant on variant.strategy_id = strategy.id`

const enabled = enabledClasses(fragment`strategy`)

/** May trade the class and has held an instrument of it, or nothing at all yet. */
const trades = (securityType: SecurityType): Fragment => fragment`${enabled[securityType]} and (
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
function matching(viewer: Actor, filter: StrategyFilter): Fragment {
  const { securityType, startedBefore, name, ownerPersonId, siteId, isTradeOwnSystem } = filter
  return fragment`${visibleTo(viewer)}
    and ${securityType === undefined ? fragment`true` : trades(securityType)}
    and ${asked`strategy.started_at < to_timestamp(${startedBefore}::float8 / 1000)`}
    and ${asked`strategy.name ilike '%' || ${name}::text || '%' escape ''`}
    and ${asked`strategy.owner_person_id = ${ownerPersonId}::bigint`}
    and ${asked`strategy.site_id = ${siteId}::bigint`}
    and ${asked`${ownSystem} = ${isTradeOwnSystem}::boolean`}`
}

/** Strategies that pass, in the order of their making. */
export const pageStrategies = (sql: Sql, viewer: Actor, filter: StrategyFilter, request: PageRequest) =>
  page<StrategyRow>(sql, request, {
    select: strategyColumns,
    from: listed,
    where: matching(viewer, filter),
    ...keyedById(fragment`strategy`),
  })

const siblings: Fragment = fragment`(select count(*)::int - 1 from strategy other
  where other.owner_person_id = strategy.owner_person_id)`

export interface StrategyFigures {
  id: number
  startedAt: number
  calmar: number | null
  sharpe: number | null
  ageInDays: number
  trades: number
  siblings: number
}

/** What every strategy that passes is ranked by. */
export const listFigures = (sql: Sql, viewer: Actor, filter: StrategyFilter): Promise<StrategyFigures[]> =>
  sql.rows<StrategyFigures>`
    select strategy.id, strategy.started_at as "startedAt", f.calmar, f.sharpe,
      coalesce(f.age_in_days, 0) as "ageInDays", coalesce(f.trades, 0) as trades, ${siblings} as siblings
    from ${listed} left join strategy_statistics f on f.strategy_id = strategy.id
    where ${matching(viewer, filter)}`

/** These strategies, in the order of the ids. */
export async function listStrategies(sql: Sql, ids: readonly number[]): Promise<StrategyRow[]> {
  const rows = await sql.rows<StrategyRow>`
    select ${strategyColumns} from ${listed}
    where strategy.id = any(${ids}::bigint[])`
  const byId = new Map(rows.map((row) => [row.id, row]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

export interface Following {
  siblings: number
  /** Value of the last close; the starting capital before the first. */
  value: string
  /** Live accounts that autotrade it and are not disabled, and their scaling percentages added up. */
  accounts: number
  percent: number
  /** When a live account last joined, left or chose anew, or one that follows was switched. */
  changedAt: Instant | null
  /** When the latest strategy of the owner began: every other one costs score. */
  siblingAt: Instant | null
}

/** How much follows a strategy, and beside how many of its owner it stands. */
export const findFollowing = (sql: Sql, id: number | bigint): Promise<Following> =>
  sql.one<Following>`
    select ${siblings} as siblings, coalesce(f.value, strategy.starting_cash) as value,
      count(setup.id) filter (where ${autotrades})::int as accounts,
      coalesce(sum(setup.scaling_percentage) filter (where ${autotrades}), 0)::float8 as percent,
      max(greatest(setup.changed_at, case when setup.stopped_at is null then account.settings_changed_at end))
        as "changedAt", (select max(other.started_at) from strategy other
        where other.owner_person_id = strategy.owner_person_id) as "siblingAt"
    from strategy left join strategy_statistics f on f.strategy_id = strategy.id
    left join (setup join account on account.id = setup.account_id and account.kind = 0)
      on setup.strategy_id = strategy.id
    where strategy.id = ${id}::bigint group by strategy.id, f.value`
