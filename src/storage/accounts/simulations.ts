/** Simulated subscriptions as rows, with the worth of their strategies when they began and ended. */

import type { SimFacts } from '../../domain/billing/simulation.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import { accountValue } from '../../domain/margin/model-account.ts'
import { earlyClose, lastEnd, runningDay } from '../../domain/market/trading-day.ts'
import type { Scope } from '../../domain/people/scope.ts'
import { formatDay, type Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import { bySite, within } from '../database/scope.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { loadHeldAccounts } from '../orders/model-accounts.ts'

/** What the model accounts of strategies are worth now. */
export async function loadStrategyValues(
  sql: Sql,
  strategyIds: readonly (number | bigint)[],
): Promise<Map<number, Decimal>> {
  const known = await sql.rows<{ id: number; cash: string }>`
    select id, cash from strategy where id = any(${strategyIds}::bigint[])`
  const holding = await loadHeldAccounts(
    sql,
    known.map(({ id }) => id),
  )
  return new Map(
    known.map(({ id, cash }) => {
      const account = holding.get(id)
      return [id, account ? accountValue(account) : dec(cash)]
    }),
  )
}

/** A simulation by its person, its strategy and its beginning. */
interface SimKey {
  readonly personId: number | bigint
  readonly strategyId: number | bigint
}

/**
 * What a strategy was worth at a moment: now, unless days have been closed since; then at the last close before it, or
 * what it began with.
 */
async function valueAt(sql: Sql, strategyId: number | bigint, at: Instant): Promise<Decimal | undefined> {
  // That a day is closed says nothing to who came between its early close and its end.
  const closed = earlyClose(at)?.day ?? runningDay(at) - 1
  const past = await sql.maybe<{ value: string }>`
    select coalesce((select value from strategy_day d
      where d.strategy_id = s.id and day <= ${formatDay(lastEnd(at).day)}::date order by day desc limit 1),
      s.starting_cash) as value
    from strategy s where s.id = ${strategyId}::bigint and exists (
      select from strategy_day d where d.strategy_id = s.id and day > ${formatDay(closed)}::date)`
  return past ? dec(past.value) : (await loadStrategyValues(sql, [strategyId])).get(Number(strategyId))
}

/** Notes what the strategy was worth when the simulation began. */
export async function noteSimulationStart(
  sql: Sql,
  { personId, strategyId }: SimKey,
  startedAt: Instant,
): Promise<void> {
  const value = await valueAt(sql, strategyId, startedAt)
  if (!value) return
  await sql.run`
    insert into simulation (person_id, strategy_id, started_at, started_equity)
    values (${personId}::bigint, ${strategyId}::bigint, ${instant(startedAt)}::timestamptz, ${value}::numeric)
    on conflict (person_id, strategy_id, started_at) do update
      set started_equity = excluded.started_equity, ended_equity = null`
}

/** Notes what the strategy is worth as the person's simulation ends. */
export async function noteSimulationEnd(sql: Sql, { personId, strategyId }: SimKey): Promise<void> {
  const value = (await loadStrategyValues(sql, [strategyId])).get(Number(strategyId))
  await sql.run`
    update simulation set ended_equity = ${value}::numeric
    where person_id = ${personId}::bigint and strategy_id = ${strategyId}::bigint and ended_equity is null`
}

interface SimFactsRow extends SimFacts {
  readonly strategyId: number
}

/**
 * What decides whether a person of a site may simulate strategies. Missing are those that do not exist, and private
 * ones of which neither the person nor the site knows: its admin asks, and numbers must not be probed.
 */
export async function loadSimFacts(
  sql: Sql,
  personId: number | bigint,
  siteId: number,
  strategyIds: readonly (number | bigint)[],
): Promise<Map<number, SimFactsRow>> {
  const rows = await sql.rows<SimFactsRow>`
    select s.id as "strategyId", s.is_alive as "isAlive",
      s.is_private and s.owner_person_id <> ${personId}::bigint
        and coalesce(present.kind, 'simulated') = 'simulated' as "isHidden",
      s.site_id = ${siteId}::bigint or offer.id is not null as "isOffered",
      present.kind as present, (
        select max(ended_at) from subscription e where e.person_id = ${personId}::bigint
          and e.strategy_id = s.id and e.kind = 'simulated') as "lastSimulationEndedAt"
    from strategy s left join subscription present on present.person_id = ${personId}::bigint
      and present.strategy_id = s.id and present.ended_at is null
      left join site_catalog offer on offer.site_id = ${siteId}::bigint and offer.strategy_id = s.id
    where s.id = any(${strategyIds}::bigint[]) and (not s.is_private or s.site_id = ${siteId}::bigint
      or offer.id is not null or present.id is not null or s.owner_person_id = ${personId}::bigint)`
  return new Map(rows.map((row) => [row.strategyId, row]))
}

export interface SimRow {
  personId: number
  firstName: string
  lastName: string
  email: string
  account: string | null
  strategyId: number
  strategyName: string
  startedAt: Instant
  endedAt: Instant | null
  startedEquity: string | null
  endedEquity: string | null
  scalingPercentage: number | null
  subscriptionId: number
}

export interface SimFilter {
  scope: Scope
  personId?: number | bigint | undefined
  siteId?: number | bigint | undefined
  activeOnly: boolean
  /** The person has signed in on at least so many days (UTC) since `from`. */
  loginDays: number
  /** Begun at this moment or later. */
  from: Instant
}

/**
 * Simulations, by the number of their subscription. One that runs in a simulated account, or ran there when it ended,
 * shows its number.
 */
export const listSimulations = (sql: Sql, { scope, ...filter }: SimFilter): Promise<SimRow[]> =>
  sql.rows<SimRow>`
    select p.id as "personId", p.first_name as "firstName", p.last_name as "lastName", p.email, followed.account,
      sub.strategy_id as "strategyId", strategy.name as "strategyName", sub.started_at as "startedAt",
      sub.ended_at as "endedAt", simulation.started_equity as "startedEquity",
      simulation.ended_equity as "endedEquity", followed.scaling as "scalingPercentage",
      sub.id as "subscriptionId"
    from subscription sub join person p on p.id = sub.person_id join site on site.id = p.site_id
    join strategy on strategy.id = sub.strategy_id
    left join simulation on simulation.person_id = sub.person_id
      and simulation.strategy_id = sub.strategy_id and simulation.started_at = sub.started_at
    left join lateral (
      select a.account, setup.scaling_percentage as scaling from setup join account a on a.id = setup.account_id
      where a.person_id = p.id and a.kind = 2 and setup.strategy_id = sub.strategy_id
        and case when sub.ended_at is null then setup.stopped_at is null
          else sub.ended_at between setup.started_at and coalesce(setup.stopped_at, 'infinity') end
      order by setup.id limit 1
    ) followed on true
    where sub.kind = 'simulated' and ${within(scope, { persons: [fragment`p.id`], sites: bySite })}
      and ${asked`p.id = ${filter.personId}::bigint`}
      and ${asked`site.id = ${filter.siteId}::bigint`}
      and (sub.ended_at is null or not ${filter.activeOnly}::boolean)
      and (${filter.loginDays}::int = 0 or ${filter.loginDays}::int <= (
        select count(distinct (s.occurred_at at time zone 'UTC')::date) from sign_in s
        where s.person_id = p.id and s.outcome = 'success' and s.occurred_at >= ${instant(filter.from)}::timestamptz))
      and sub.started_at >= ${instant(filter.from)}::timestamptz
    order by sub.id`
