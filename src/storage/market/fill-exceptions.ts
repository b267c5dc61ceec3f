/**
 * Executions of copies that left the fill of their strategy: compared in the database, because a site's executions
 * are many and its exceptions few. What was busted is no execution any more.
 */
import type { Instant } from '../../domain/time.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
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
  /** An execution is listed when it is further from the strategy's own fill, by price or by time. */
  readonly ticks: number
  readonly seconds: number
  readonly limit: number
}

/**
 * The newest exceptions of a site's live and paper accounts. The strategy's fill is the average of all fills of the
 * signal that was copied, in the units in which the account traded; its time is the stretch from the first to the last
 * of them.
 */
export const listFillExceptions = (sql: Sql, watch: FillWatch): Promise<FillExceptionRow[]> =>
  sql.rows<FillExceptionRow>`
    select strategy.id as "strategyId", strategy.name as "strategyName", manager.id as "managerId",
      manager.alias as manager, a.account, s.id as "signalId", i.id as "instrumentId", i.symbol,
      trim_scale(own.px) as "strategyPx", x.px as "accountPx", compared.ticks::float8 as "slippageTicks",
      extract(epoch from x.executed_at - coalesce(s.working_at, s.posted_at))::float8 as "delaySeconds",
      x.executed_at as "filledAt"
    from account a
    join execution x on x.account_id = a.id and x.broker_id = a.broker_id
    join account_order o on o.account_id = x.account_id and o.id = x.order_id and o.source = 'S'
    join signal s on s.id = o.source_id
    join strategy on strategy.id = s.strategy_id
    join person manager on manager.id = strategy.owner_person_id
    join instrument i on i.id = x.instrument_id
    cross join lateral (
      select sum(f.quantity * since.units * f.px * since.price) / sum(f.quantity * since.units) as px,
        min(f.filled_at) as first, max(f.filled_at) as last
      from fill f ${sinceSplits(fragment`f.instrument_id`, fragment`f.filled_at`, fragment`true`)}
      where f.signal_id = s.id
    ) present
    ${sinceSplits(fragment`x.instrument_id`, fragment`x.executed_at`, fragment`true`)}
    cross join lateral (select round(present.px / since.price, 12) as px, present.first, present.last) own
    cross join lateral (
      select (x.px - own.px) / i.tick * case x.side when '1' then 1 else -1 end as ticks,
        greatest(x.executed_at - own.last, own.first - x.executed_at) as apart
    ) compared
    where a.site_id = ${watch.siteId}::bigint and a.kind < 2
      and x.executed_at > ${instant(watch.since)}::timestamptz and own.px is not null
      and (abs(compared.ticks) > ${watch.ticks}::int or compared.apart > make_interval(secs => ${watch.seconds}::int))
      and x.busts is null and not exists (
        select from execution b where b.account_id = x.account_id and b.broker_id = x.broker_id
          and b.busts = x.exec_id)
    order by x.executed_at desc, x.account_id, x.exec_id limit ${watch.limit}::int`
