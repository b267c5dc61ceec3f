/** Closed trades as they are listed, each with its instrument beside it. */
import type { Side } from '../../domain/codes.ts'
import { readInParts } from '../database/parts.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type InstrumentColumns, instrumentColumns } from '../market/instruments.ts'

export interface TradeRow extends InstrumentColumns {
  id: number
  /** The signal whose fill opened it. */
  tradeId: number
  strategyId: number
  openedAt: number
  closedAt: number
  openSide: Side
  openedQty: string
  closedQty: string
  avgOpenPx: string
  avgClosePx: string
  profitLoss: string
  commission: string
  /** Null, like everything about that moment, when it was never under water. */
  worstResult: string | null
  worstPx: string | null
  worstAt: number | null
  worstEntryPx: string | null
  worstQty: string | null
  worstEquity: string | null
}

/**
 * All closed trades of a strategy, the last closed first, part by part. Before a moment that it does not know the planner
 * takes the index on it, and does not sort all that is left for every part.
 */
export const readClosedTrades = (sql: Sql, strategyId: number | bigint): AsyncGenerator<TradeRow[]> =>
  readInParts<TradeRow>((limit, last) => {
    const before = fragment`((select ${last ? instant(last.closedAt) : 'infinity'}::timestamptz), ${last?.id ?? 0}::bigint)`
    return sql.rows`
      select t.id, t.signal_id as "tradeId", t.strategy_id as "strategyId", t.opened_at as "openedAt",
        t.closed_at as "closedAt", t.open_side as "openSide", t.opened_qty as "openedQty", t.closed_qty as "closedQty",
        round(t.open_turnover / t.opened_qty, 12) as "avgOpenPx",
        round(t.close_turnover / t.closed_qty, 12) as "avgClosePx",
        t.profit_loss as "profitLoss", t.commission, t.worst_result as "worstResult", t.worst_px as "worstPx",
        t.worst_at as "worstAt", t.worst_entry_px as "worstEntryPx", t.worst_qty as "worstQty",
        t.worst_equity as "worstEquity", ${instrumentColumns}
      from trade t join instrument i on i.id = t.instrument_id
      where t.strategy_id = ${strategyId}::bigint and t.closed_at is not null and (t.closed_at, t.id) < ${before}
      order by t.closed_at desc, t.id desc limit ${limit}::int`
  })
