/**
 * What desired positions are reached from: everything a strategy holds or has at work. The caller has locked the
 * strategy, so nothing of it changes before the commit.
 */
import type { PositionEffect, Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import { live } from '../database/order-statuses.ts'
import type { Sql } from '../database/sql.ts'
import { lastSplit } from '../market/units-since-splits.ts'
import { markVariants } from '../strategies/variants.ts'
import type { PlacingRow } from './placing.ts'

/**
 * What an order would trade in each instrument that the strategy holds or has live orders in, by symbol; with an id
 * for the second order of a reversal.
 */
export const loadHoldings = (sql: Sql, strategyId: number): Promise<PlacingRow[]> =>
  sql.rows<PlacingRow>`
    select i.id::int as place, i.id as "instrumentId", i.calendar, i.tick, i.is_tradable as "isTradable",
      ${lastSplit} as "splitAt", i.last_trading_day as "lastTradingDay", coalesce(p.quantity, 0) as position, q.bid, q.ask,
      nextval('signal_id_seq') as "signalId", array[nextval('signal_id_seq')] as "moreIds"
    from (
      select instrument_id from position where strategy_id = ${strategyId}::bigint and quantity <> 0
      union
      select instrument_id from signal where strategy_id = ${strategyId}::bigint and status in ('A', '0', '1')
    ) held
    join instrument i on i.id = held.instrument_id
    left join position p on p.strategy_id = ${strategyId}::bigint and p.instrument_id = i.id
    left join quote q on q.instrument_id = i.id
    order by i.symbol`

export interface LiveOrderRow {
  signalId: number
  instrumentId: number
  side: Side
  positionEffect: PositionEffect
  leaves: string
  fromDesired: boolean
  /** The order whose cancellation ends this one; null for none. */
  diesWith: number | null
}

/**
 * Orders that are pending new, new or partially filled, oldest first. A held order dies with its parent, unless
 * the parent has traded and the order closes what it opened.
 */
export const loadLiveOrders = (sql: Sql, strategyId: number): Promise<LiveOrderRow[]> =>
  sql.rows<LiveOrderRow>`
    select s.id as "signalId", s.instrument_id as "instrumentId", s.side, s.position_effect as "positionEffect",
      s.order_qty - s.cum_qty as leaves, s.from_desired as "fromDesired", parent.id as "diesWith"
    from signal s left join signal parent on parent.id = s.parent_signal_id and s.is_held
      and parent.status in ${live} and (parent.cum_qty = 0 or s.position_effect = 'O')
    where s.strategy_id = ${strategyId}::bigint and s.status in ('A', '0', '1')
    order by s.id`

export interface Restatement {
  readonly signalId: number
  /** What is left to trade. */
  readonly leaves: Decimal
}

/** Cuts a strategy's live orders to what they may still trade. */
export async function restateSignals(
  sql: Sql,
  strategyId: number,
  cuts: readonly Restatement[],
): Promise<void> {
  await markVariants(sql, [strategyId])
  await sql.run`
    update signal set order_qty = cum_qty + cut.leaves, mirror_due = mirror_due or working_at is not null
    from unnest(${cuts.map(({ signalId }) => signalId)}::bigint[], ${cuts.map(({ leaves }) => leaves)}::numeric[])
      cut (id, leaves)
    where signal.id = cut.id`
}
