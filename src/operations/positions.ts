/** Open positions as every listing shows them, of strategies and of accounts. */
import type { PositionRow } from '../storage/strategies/strategies.ts'
import { shownSymbols } from './symbols.ts'

/** A position as every operation shows it. */
export const shownPosition = (row: PositionRow) => ({
  StrategyName: row.strategyName,
  Currency: row.currency,
  OpenedDate: row.openedAt,
  StrategyId: row.strategyId,
  Quantity: row.quantity,
  AvgPx: row.avgPx,
  ...shownSymbols(row),
})
