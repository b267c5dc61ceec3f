/** What strategies hold. */
import { listPositions } from '../../storage/strategies/strategies.ts'
import type { BatchHandler } from '../handler.ts'
import { shownPosition } from '../positions.ts'

/** The open positions of strategies: the questions of one moment are one statement. */
export const getStrategyOpenPositions: BatchHandler<'GetStrategyOpenPositions'> = {
  many: async (sql, calls) => {
    const filters = calls.map(({ params }) => ({
      strategyIds: params.StrategyIds,
      securityType: params.SecurityType,
    }))
    const lists = await listPositions(sql, filters)
    return lists.map((rows) => ({ results: rows.map(shownPosition) }))
  },
}
