/** The closed trades of a strategy, each from flat to flat with its lowest moment. */
import { oppositeOf } from '../../domain/codes.ts'
import { listClosedTrades, type TradeRow } from '../../storage/trade-listings.ts'
import { refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { shownSymbols } from '../symbols.ts'

/** The whole history in one answer. Trades are booked with the default plan; others and other viewers come later. */
export const getStrategyHistoricalClosedTrades: Handler<'GetStrategyHistoricalClosedTrades'> = async (
  ctx,
  { StrategyId, CommissionPlan, PersonId },
) => {
  if (StrategyId === undefined) return refuse('BadCombination', 'StrategyId')
  if (CommissionPlan !== '0') return refuse('NotOfferedYet', 'CommissionPlan')
  if (PersonId !== undefined && PersonId !== ctx.caller.personId) return refuse('NotOfferedYet', 'PersonId')
  return { results: (await listClosedTrades(ctx.sql, StrategyId)).map(shownTrade) }
}

function shownTrade(row: TradeRow) {
  return {
    Id: row.tradeId,
    TradeId: row.tradeId,
    StrategyId: row.strategyId,
    OpenDate: row.openedAt,
    CloseDate: row.closedAt,
    AvgOpenFillPrice: row.avgOpenPx,
    AvgCloseFillPrice: row.avgClosePx,
    OpenedQuantity: row.openedQty,
    ClosedQuantity: row.closedQty,
    OpenSide: row.openSide,
    CloseSide: oppositeOf(row.openSide),
    ProfitLoss: row.profitLoss,
    Commission: row.commission,
    MaxDrawdown: row.worstResult,
    // The drawdown is final when the trade is closed.
    MaxDrawdown_DateCalculated: row.worstAt === null ? null : row.closedAt,
    MaxDrawdown_WorstPrice: row.worstPx,
    MaxDrawdown_WorstPriceDate: row.worstAt,
    MaxDrawdown_StrategyEquity: row.worstEquity,
    MaxDrawdown_EntryPrice: row.worstEntryPx,
    MaxDrawdown_OpenQuantity: row.worstQty,
    ...shownSymbols(row),
  }
}
