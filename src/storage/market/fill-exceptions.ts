/**
 * Executions of copies that left the fill of their strategy: compared in the database, because a site's executions
 * are many and its exceptions few. What was busted is no execution any more.
 */
import { dayLength, type Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { readStretches, type Stretch } from './executed-stretches.ts'
import { sinceSplits } from './units-since-splits.ts'

export interface FillExceptionRow {
  strategyId: number
  strategyName: string
  managerId: number
  manager: string
  account: string
  signalId: number
  instrumentId: number
  symbol: string
  strategyPx: string
  accountPx: string
  /** Positive: worse for the follower. */
  slippageTicks: number
  /** From the signal to the execution. */
  delaySeconds: number
  filledAt: Instant
}

export interface FillWatch {
  readonly siteId: number
  /** Executions after this instant. */
  readonly since: Instant
  readonly now: Instant
  /** An execution is listed when it is further from the strategy's own fill, by price or by time. */
  readonly ticks: number
  readonly seconds: number
  readonly limit: number
  /** Whether an exception of that moment counts; of those that do not there is no limit. */
  readonly isWanted: (filledAt: Instant) => boolean
  /** About as many executions are compared at once. */
  readonly comparedAtOnce: number
}

const longestMs = 30 * dayLength

/** The newest exceptions of a site's live and paper accounts. */
export async function listFillExceptions(sql: Sql, watch: FillWatch): Promise<FillExceptionRow[]> {
  const { since, now, comparedAtOnce: atOnce } = watch
  const found: FillExceptionRow[] = []
  const wish = { since, until: null, latest: now, atOnce, longestMs }
  for await (const part of readStretches(sql, watched(watch), wish)) {
    const wanted = (await listStretch(sql, watch, part)).filter(({ filledAt }) => watch.isWanted(filledAt))
    found.push(...wanted.slice(0, watch.limit - found.length))
    if (found.length === watch.limit) break
  }
  return found
}

const watched = ({ siteId }: FillWatch): Fragment => fragment`a.site_id = ${siteId}::bigint and a.kind < 2`

/**
 * Those of a stretch. The strategy's fill is the average of all fills of the signal that was copied, in the
 * units in which the account traded; its time is the stretch from the first to the last of them.
 */
const listStretch = (sql: Sql, watch: FillWatch, part: Stretch): Promise<FillExceptionRow[]> =>
  sql.rows<FillExceptionRow>`
    select strategy.id as "strategyId", strategy.name as "strategyName", manager.id as "managerId",
      manager.alias as manager, a.account, s.id as "signalId", i.id as "instrumentId", i.symbol,
      trim_scale(found.own_px) as "strategyPx", found.px as "accountPx", found.ticks::float8 as "slippageTicks",
      extract(epoch from found.executed_at - coalesce(s.working_at, s.posted_at))::float8 as "delaySeconds",
      found.executed_at as "filledAt"
    from (
      select x.account_id, x.exec_id, x.instrument_id, x.px, x.executed_at, x.signal_id, own.px as own_px, compared.ticks
      from ${copied(watch, part)} x join instrument i on i.id = x.instrument_id
      cross join lateral (
        select sum(f.quantity * since.units * f.px * since.price) / sum(f.quantity * since.units) as px,
          min(f.filled_at) as first, max(f.filled_at) as last
        from fill f ${sinceSplits(fragment`f.instrument_id`, fragment`f.filled_at`, fragment`true`)}
        where f.signal_id = x.signal_id
      ) present
      ${sinceSplits(fragment`x.instrument_id`, fragment`x.executed_at`, fragment`true`)}
      cross join lateral (select round(present.px / since.price, 12) as px) own
      cross join lateral (
        select (x.px - own.px) / i.tick * case x.side when '1' then 1 else -1 end as ticks,
          greatest(x.executed_at - present.last, present.first - x.executed_at) as apart
      ) compared
      where own.px is not null
        and (abs(compared.ticks) > ${watch.ticks}::int or compared.apart > make_interval(secs => ${watch.seconds}::int))
    ) found
    join account a on a.id = found.account_id
    join signal s on s.id = found.signal_id
    join strategy on strategy.id = s.strategy_id
    join person manager on manager.id = strategy.owner_person_id
    join instrument i on i.id = found.instrument_id
    order by found.executed_at desc, found.account_id, found.exec_id`

/**
 * What the site's accounts executed of copies, each with its signal. Always with both ends, as in `hasCome`: the planner
 * then takes the index on the moment. Both are fenced: each order is found by its key, not among all that its account or
 * every site ever had.
 */
const copied = (watch: FillWatch, { since, until }: Stretch): Fragment => fragment`(
  select x.account_id, x.exec_id, x.instrument_id, x.side, x.px, x.executed_at, o.signal_id
  from account a
  join execution x on x.account_id = a.id and x.broker_id = a.broker_id
  cross join lateral (
    select source_id as signal_id from account_order
    where account_id = x.account_id and id = x.order_id and source = 'S' offset 0) o
  where ${watched(watch)}
    and x.executed_at > ${instant(since)}::timestamptz and x.executed_at <= coalesce(${instant(until)}::timestamptz, 'infinity')
    and x.busts is null and not exists (
      select from execution b where b.account_id = x.account_id and b.broker_id = x.broker_id
        and b.busts = x.exec_id)
  offset 0)`
