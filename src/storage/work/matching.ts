/**
 * Orders and the market: which strategies prices reach, and everything their fills are decided from. Locks are
 * taken in one order: quote, strategy, account, setup, order. Under its strategy's lock nothing else changes a signal.
 */
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { type Among, everybody, isAmong } from './among.ts'

/** What one strategy has in one instrument. */
export interface BookKey {
  readonly strategyId: number
  readonly instrumentId: number
}

/** The name of a book among those of all strategies. */
export const bookName = ({ strategyId, instrumentId }: BookKey): string => `${strategyId} ${instrumentId}`

/** Their strategies, each once. */
export const strategiesOf = (keys: readonly BookKey[]): number[] => [
  ...new Set(keys.map(({ strategyId }) => strategyId)),
]

/** Columns of keys, for `unnest`. */
export const bookKeys = (keys: readonly BookKey[]): Fragment => {
  const strategyIds = keys.map(({ strategyId }) => strategyId)
  const instrumentIds = keys.map(({ instrumentId }) => instrumentId)
  return fragment`${uncounted(strategyIds, 'bigint')}, ${instrumentIds}::bigint[]`
}

/** The best and worst prices of a batch for each side. */
export interface PriceRange {
  readonly instrumentId: number
  readonly buyLow: Decimal
  readonly buyHigh: Decimal
  readonly sellLow: Decimal
  readonly sellHigh: Decimal
}

/** What sets an order at work off, as the index of trigger prices has it: -1 a falling price, 1 a rising one. */
const direction = fragment`
  case when s.ord_type = '1' or s.is_triggered or (s.ord_type = '2') = (s.side = '1') then -1 else 1 end`
const triggerPrice = fragment`
  case when s.ord_type = '1' or s.is_triggered then 'Infinity'::numeric else coalesce(s.limit_px, s.stop_px) end`
const working = fragment`
  select s.strategy_id from signal s where s.instrument_id = r.instrument_id and s.status in ('0', '1', '6', 'E')`

/**
 * Locks every strategy with an order at work that prices in these ranges may fill or trigger, and names the
 * books. A condition too wide only costs time: what really fills is decided afterwards. It costs two looks into
 * an index and what they find; orders that rest beyond the prices cost nothing.
 */
export const lockReached = (
  tx: Transaction,
  ranges: readonly PriceRange[],
  strategies = everybody,
): Promise<BookKey[]> =>
  tx.rows<BookKey>`
    with reached as materialized (${reachedBy(ranges, strategies)}), locked as (
      select id from strategy where id in (select strategy_id from reached) order by id for no key update
    )
    select strategy_id as "strategyId", instrument_id as "instrumentId"
    from reached join locked on locked.id = strategy_id`

/** The strategies of these books. */
export const listReached = (
  sql: Sql,
  ranges: readonly PriceRange[],
  strategies: Among,
  limit: number,
): Promise<number[]> =>
  idsOf(sql.rows`
    select distinct strategy_id as id from (${reachedBy(ranges, strategies)}) reached order by id limit ${limit}::int`)

function reachedBy(ranges: readonly PriceRange[], strategies: Among): Fragment {
  const column = <K extends keyof PriceRange>(name: K): PriceRange[K][] => ranges.map((range) => range[name])
  return fragment`
      select distinct s.strategy_id, r.instrument_id
      from unnest(${uncounted(column('instrumentId'), 'bigint')}, ${column('buyLow')}::numeric[],
        ${column('buyHigh')}::numeric[], ${column('sellLow')}::numeric[], ${column('sellHigh')}::numeric[])
        r (instrument_id, buy_low, buy_high, sell_low, sell_high)
      cross join lateral (
        ${working} and ${direction} = -1 and ${triggerPrice} >= least(r.buy_low, r.sell_low)
          and ${triggerPrice} >= case s.side when '1' then r.buy_low else r.sell_low end
        union all
        ${working} and ${direction} = 1 and ${triggerPrice} <= greatest(r.buy_high, r.sell_high)
          and ${triggerPrice} <= case s.side when '1' then r.buy_high else r.sell_high end
      ) s
      where ${isAmong(fragment`s.strategy_id`, strategies)}`
}

/**
 * True of a signal that waits to be held against the last quote. Before the first quote of its instrument there
 * is nothing to hold it against, and no row by which to wait for a batch that is just bringing one.
 */
export const isArrival = fragment`needs_match and exists (
  select from quote q where q.instrument_id = signal.instrument_id)`

/** True while a signal waits to be held against the last quote. */
export const isArrivalDue: Fragment = fragment`exists (select from signal where ${isArrival})`

/** Books with arrivals, oldest signals first. */
export const listArrivals = (sql: Sql, among: Among, limit: number): Promise<BookKey[]> =>
  sql.rows<BookKey>`
    select distinct strategy_id as "strategyId", instrument_id as "instrumentId"
    from (select strategy_id, instrument_id from signal
      where ${isArrival} and ${isAmong(fragment`strategy_id`, among)} order by id limit ${limit}) due`

/** Locks those of the strategies that nobody else has locked. */
export async function claimStrategies(tx: Transaction, ids: readonly number[]): Promise<Set<number>> {
  const rows = await tx.rows<{ id: number }>`
    select id from strategy where id = any(${uncounted(ids, 'bigint')}::bigint[]) order by id for no key update skip locked`
  return new Set(rows.map((row) => row.id))
}

/** Notes that every signal of these books was held against the last quote. */
export async function settleArrivals(tx: Transaction, keys: readonly BookKey[]): Promise<number> {
  return tx.run`
    update signal set needs_match = false
    from unnest(${bookKeys(keys)}) book (strategy_id, instrument_id)
    where needs_match and signal.strategy_id = book.strategy_id and signal.instrument_id = book.instrument_id`
}

/** True when the day of a live signal has ended. */
export const isExpiryDue = (now: Instant): Fragment => fragment`exists (
  select from signal where ${hasCome(fragment`expires_at`, now)} and status in ${live})`

/** True when the date of a parked signal has come. */
export const isReleaseDue = (now: Instant): Fragment => fragment`exists (
  select from signal where is_parked and ${hasCome(fragment`parked_until`, now)})`

/** Books with live signals whose day has ended; those whose day ended first come first. */
export const listExpiring = (sql: Sql, now: Instant, among: Among, limit: number): Promise<BookKey[]> =>
  sql.rows<BookKey>`
    select distinct strategy_id as "strategyId", instrument_id as "instrumentId" from (
      select strategy_id, instrument_id from signal where ${hasCome(fragment`expires_at`, now)}
        and status in ${live} and ${isAmong(fragment`strategy_id`, among)} order by expires_at limit ${limit}) due`

/** Books with parked signals whose date has come. */
export const listReleasable = (sql: Sql, now: Instant, among: Among, limit: number): Promise<BookKey[]> =>
  sql.rows<BookKey>`
    select distinct strategy_id as "strategyId", instrument_id as "instrumentId" from (
      select strategy_id, instrument_id from signal where is_parked
        and ${hasCome(fragment`parked_until`, now)} and ${isAmong(fragment`strategy_id`, among)}
      order by parked_until limit ${limit}) due`

/** When the next parked signal is released; undefined when none is parked. */
export const findNextRelease = firstMoment`
  select parked_until from signal where is_parked order by parked_until limit 1`

/** When the next live signal's day ends; undefined when none does. */
export const findNextExpiry = firstMoment`
  select expires_at from signal where expires_at is not null and status in ${live}
  order by expires_at limit 1`
