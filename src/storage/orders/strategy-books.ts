/** What strategies have, hold and work on, all of one strategy in one row: what a trading rule decides from. */
import type { OrdType, Side } from '../../domain/codes.ts'
import { live } from '../database/order-statuses.ts'
import type { Sql } from '../database/sql.ts'

export interface StrategyBook {
  readonly strategyId: number
  readonly cash: string
  readonly positions: readonly {
    readonly symbol: string
    readonly quantity: string
    readonly avgPx: string
  }[]
  readonly working: readonly {
    readonly signalId: number
    readonly symbol: string
    readonly ordType: OrdType
    readonly side: Side
  }[]
}

/** The books of all strategies, by id. Quantities are text: numbers inside JSON would lose digits. */
export const listStrategyBooks = (sql: Sql): Promise<StrategyBook[]> =>
  sql.rows<StrategyBook>`
    select strategy.id as "strategyId", strategy.cash,
      coalesce((
        select jsonb_agg(jsonb_build_object('symbol', i.symbol, 'quantity', p.quantity::text,
          'avgPx', p.avg_px::text) order by i.symbol)
        from position p join instrument i on i.id = p.instrument_id
        where p.strategy_id = strategy.id and p.quantity <> 0), '[]') as positions,
      coalesce((
        select jsonb_agg(jsonb_build_object('signalId', s.id, 'symbol', i.symbol, 'ordType', s.ord_type,
          'side', s.side) order by s.id)
        from signal s join instrument i on i.id = s.instrument_id
        where s.strategy_id = strategy.id and s.status in ${live}), '[]') as working
    from strategy order by strategy.id`

/** Whether any order of a strategy or an account may still trade. */
export const hasLiveOrders = async (sql: Sql): Promise<boolean> =>
  (
    await sql.one<{ live: boolean }>`
      select exists (select from signal where status in ${live})
        or exists (select from account_order where status in ${live}) as live`
  ).live
