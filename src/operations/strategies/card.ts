/** A strategy as listings show it. */
import type { StrategyRow } from '../../storage/strategies/strategy-listings.ts'
import { shownClasses } from './heads.ts'

/** One row of SearchStrategies and GetLeaderBoard. */
export const shownCard = (row: StrategyRow) => ({
  Id: row.id,
  StrategyId: row.id,
  IsAlive: row.isAlive,
  IsPrivate: row.isPrivate,
  StrategyName: row.name,
  StartDate: row.startedAt,
  SecurityTypesEnabled: shownClasses(row),
  MonthlyCost: row.monthlyCost,
  StrategyOwnerId: row.ownerPersonId,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  IsTradeOwnSystem: row.isTradeOwnSystem,
  IsResellable: row.isResellable,
})
