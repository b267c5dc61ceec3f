/**
 * Figures of strategies: the records they are computed from, read as packed numbers because ten years of days are
 * many, and the rows in which they are kept. Equity is read in cents, as it is listed, so that everybody can compute
 * every figure again from the listings.
 */
import type { SecurityType } from '../../domain/codes.ts'
import type { IndexSeries } from '../../domain/statistics/benchmark.ts'
import type { EquityStatistics } from '../../domain/statistics/equity.ts'
import type { EquityRecord } from '../../domain/statistics/series.ts'
import type { TradeResult, TradeStatistics } from '../../domain/statistics/trades.ts'
import { type Day, dayIn, formatDay, type Instant, newYork } from '../../domain/time.ts'
import { readInParts } from '../database/parts.ts'
import { type Fragment, fragment, idsOf, join, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'

/** True while figures wait to be computed. */
export const areStatisticsDue = fragment`exists (select from strategy_record where statistics_due)`

const outdated = (strategies: Among, limit: number) => fragment`
  select strategy_id as id from strategy_record where statistics_due and ${isAmong(fragment`strategy_id`, strategies)}
  order by strategy_id limit ${limit}::int`

/** Strategies whose figures are out of date. */
export const listOutdated = (sql: Sql, strategies: Among, limit: number): Promise<number[]> =>
  idsOf(sql.rows`${outdated(strategies, limit)}`)

/** Takes such strategies; those that others work on are passed over. */
export const claimOutdated = (tx: Transaction, strategies: Among, limit: number): Promise<number[]> =>
  idsOf(tx.rows`
    update strategy_record set statistics_due = false where strategy_id = any(array(
      ${outdated(strategies, limit)} for no key update skip locked))
    returning strategy_id as id`)

/** A strategy's record, and the leverage of its days. */
export interface StoredRecord extends EquityRecord {
  readonly strategyId: number
  readonly averageLeverage: number | null
  readonly highestLeverage: number | null
}

interface PackedRow {
  readonly strategyId: number
  readonly startedAt: Instant
  readonly startingCash: number
  /** Days since 1970 as int4, values as float8, both big-endian. */
  readonly days: Buffer | null
  readonly values: Buffer | null
  readonly averageLeverage: number | null
  readonly highestLeverage: number | null
}

/** The daily records of strategies, by id. */
export async function loadRecords(sql: Sql, ids: readonly number[]): Promise<StoredRecord[]> {
  const rows = await sql.rows<PackedRow>`
    select s.id as "strategyId", s.started_at as "startedAt", s.starting_cash::float8 as "startingCash",
      d.days, d.values, d.average::float8 as "averageLeverage", d.highest::float8 as "highestLeverage"
    from strategy s cross join lateral (
      select string_agg(int4send(day - date '1970-01-01'), ''::bytea order by day) as days,
        string_agg(float8send(round(value, 2)::float8), ''::bytea order by day) as values,
        avg(leverage) as average, max(leverage) as highest
      from strategy_day where strategy_id = s.id) d
    where s.id = any(${ids}::bigint[]) order by s.id`
  return rows.map(({ startedAt, days, values, ...row }) => ({
    startDay: dayIn(startedAt, newYork),
    days: unpackDays(days),
    values: unpackDoubles(values),
    ...row,
  }))
}

/** Numbers that `string_agg(int4send(...))` packed; none of null. */
function unpackDays(packed: Buffer | null): Int32Array {
  const view = viewOf(packed)
  const days = new Int32Array(view.byteLength / 4)
  for (let at = 0; at < days.length; at++) days[at] = view.getInt32(4 * at)
  return days
}

/** Numbers that `string_agg(float8send(...))` packed; none of null. */
function unpackDoubles(packed: Buffer | null): Float64Array {
  const view = viewOf(packed)
  const values = new Float64Array(view.byteLength / 8)
  for (let at = 0; at < values.length; at++) values[at] = view.getFloat64(8 * at)
  return values
}

const viewOf = (packed: Buffer | null): DataView =>
  packed ? new DataView(packed.buffer, packed.byteOffset, packed.length) : new DataView(new ArrayBuffer(0))

/** A finished trade with its strategy. */
export interface TradeResultRow extends TradeResult {
  readonly strategyId: number
  readonly securityType: SecurityType
}

/**
 * The results of all finished trades of strategies (ascending), strategy after strategy and part by part: each trade that
 * ends asks for all of its strategy again.
 */
export const readTradeResults = (sql: Sql, ids: readonly number[]): AsyncGenerator<TradeResultRow[]> =>
  readInParts<TradeResultRow & { id: number }>((limit, last) => {
    // Before a moment that it does not know the planner takes the index on it, and does not sort all that is left.
    const before = (strategies: readonly number[], moment: string, id: number): Fragment => fragment`(
      select t.id, t.strategy_id as "strategyId", t.opened_at as "openedAt", t.closed_at as "closedAt",
        t.profit_loss::float8 as "profitLoss", i.security_type as "securityType"
      from trade t join instrument i on i.id = t.instrument_id
      where t.strategy_id = any(${strategies}::bigint[]) and t.closed_at is not null
        and (t.closed_at, t.id) < ((select ${moment}::timestamptz), ${id}::bigint)
      order by t.strategy_id, t.closed_at desc, t.id desc limit ${limit}::int)`
    const begun = last
      ? before([last.strategyId], instant(last.closedAt), last.id)
      : before([], 'infinity', 0)
    const others = ids.filter((id) => id > (last?.strategyId ?? 0))
    return sql.rows`
      ${begun} union all ${before(others, 'infinity', 0)}
      order by "strategyId", "closedAt" desc, id desc limit ${limit}::int`
  })

/** The closes of the index, all of them. */
export async function loadIndex(sql: Sql): Promise<IndexSeries> {
  const { days, closes } = await sql.one<{ days: Buffer | null; closes: Buffer | null }>`
    select string_agg(int4send(day - date '1970-01-01'), ''::bytea order by day) as days,
      string_agg(float8send(close::float8), ''::bytea order by day) as closes from index_close`
  return { days: unpackDays(days), closes: unpackDoubles(closes) }
}

/**
 * Enters closes of the index, replacing those of the same days; every strategy then gets new figures, also one whose
 * figures are just being computed with the closes of before.
 */
export async function saveIndexCloses(
  sql: Sql,
  closes: readonly { readonly day: Day; readonly close: string }[],
): Promise<void> {
  await sql.run`
    with entered as (
      insert into index_close (day, close)
      select * from unnest(${closes.map(({ day }) => formatDay(day))}::date[], ${closes.map(({ close }) => close)}::numeric[])
      on conflict (day) do update set close = excluded.close
    )
    update strategy_record set statistics_due = true where strategy_id = any(array(
      select strategy_id from strategy_record order by strategy_id for no key update))`
}

/** All figures of a strategy. */
export interface StrategyStatistics {
  readonly strategyId: number
  readonly value: number
  readonly equity: EquityStatistics
  readonly averageLeverage: number | null
  readonly highestLeverage: number | null
  readonly trades: TradeStatistics
  readonly tradesOf: Readonly<Record<SecurityType, number>>
}

/** A column of the row, its type and where it comes from. */
type Column = readonly [
  name: string,
  type: string,
  read: (figures: StrategyStatistics) => string | number | boolean | null,
]

const columns: readonly Column[] = [
  ['strategy_id', 'bigint', ({ strategyId }) => strategyId],
  ['value', 'numeric', ({ value }) => value],
  ['age_in_days', 'int', ({ equity }) => equity.ageInDays],
  ['return_percent', 'float8', ({ equity }) => equity.returnPercent],
  ['is_annual', 'boolean', ({ equity }) => equity.returnLabel !== 'Cumul. Return'],
  ['sharpe', 'float8', ({ equity }) => equity.sharpe],
  ['sortino', 'float8', ({ equity }) => equity.sortino],
  ['calmar', 'float8', ({ equity }) => equity.calmar],
  ['alpha', 'float8', ({ equity }) => equity.alpha],
  ['beta', 'float8', ({ equity }) => equity.beta],
  ['treynor', 'float8', ({ equity }) => equity.treynor],
  ['correlation', 'float8', ({ equity }) => equity.correlation],
  ['index_percent', 'float8', ({ equity }) => equity.indexPercent],
  ['percent_above_index', 'float8', ({ equity }) => equity.percentAboveIndex],
  ['max_drawdown', 'float8', ({ equity }) => equity.drawdown.percent],
  ['max_drawdown_days', 'int', ({ equity }) => equity.drawdown.days],
  ['max_drawdown_start', 'text', ({ equity }) => equity.drawdown.startDate],
  ['max_drawdown_end', 'text', ({ equity }) => equity.drawdown.endDate],
  ['months', 'int', ({ equity }) => equity.months.count],
  ['win_months', 'int', ({ equity }) => equity.months.wins],
  ['win_months_shown', 'int', ({ equity }) => equity.months.winsShown],
  ['win_months_ratio', 'float8', ({ equity }) => equity.months.winRatio],
  ['avg_leverage', 'float8', ({ averageLeverage }) => averageLeverage],
  ['max_leverage', 'float8', ({ highestLeverage }) => highestLeverage],
  ['trades', 'int', ({ trades }) => trades.trades],
  ['winners', 'int', ({ trades }) => trades.winners],
  ['losers', 'int', ({ trades }) => trades.losers],
  ['win_percent', 'float8', ({ trades }) => trades.winPercent],
  ['won_amount', 'float8', ({ trades }) => trades.wonAmount],
  ['lost_amount', 'float8', ({ trades }) => trades.lostAmount],
  ['average_win', 'float8', ({ trades }) => trades.averageWin],
  ['average_loss', 'float8', ({ trades }) => trades.averageLoss],
  ['profit_factor', 'float8', ({ trades }) => trades.profitFactor],
  ['average_trade_days', 'float8', ({ trades }) => trades.averageDays],
  ['stock_trades', 'int', ({ tradesOf }) => tradesOf.CS],
  ['option_trades', 'int', ({ tradesOf }) => tradesOf.OPT],
  ['future_trades', 'int', ({ tradesOf }) => tradesOf.FUT],
  ['forex_trades', 'int', ({ tradesOf }) => tradesOf.FOR],
]

const named = (text: string) => ({ strings: [text], values: [] })
const names = named(columns.map(([name]) => name).join(', '))
const updates = named(
  columns
    .slice(1)
    .map(([name]) => `${name} = excluded.${name}`)
    .join(', '),
)

/** Writes figures, one row per strategy. */
export async function saveStatistics(
  tx: Transaction,
  figures: readonly StrategyStatistics[],
  computedAt: Instant,
): Promise<void> {
  const lists = columns.map(([, type, read]) => ({
    strings: ['', `::${type}[]`],
    values: [figures.map(read)],
  }))
  await tx.run`
    insert into strategy_statistics (computed_at, ${names})
    select ${instant(computedAt)}::timestamptz, figures.* from unnest(${join(lists, ', ')}) figures
    on conflict (strategy_id) do update set computed_at = excluded.computed_at, ${updates}`
}
