/** A strategy as listings show it, and the parts of it that every answer about a strategy carries. */
import type { SecurityType } from '../../domain/codes.ts'
import type { StrategyRow } from '../../storage/strategy-listings.ts'

/** The classes a strategy is in: those it has traded, and every class until it trades. */
export function shownSecurityTypes(traded: readonly SecurityType[]) {
  const isIn = (securityType: SecurityType): boolean => traded.length === 0 || traded.includes(securityType)
  return { Stocks: isIn('CS'), Options: isIn('OPT'), Futures: isIn('FUT'), Forex: isIn('FOR') }
}

/** One row of SearchStrategies and GetLeaderBoard. */
export const shownStrategy = (row: StrategyRow) => ({
  Id: row.id,
  StrategyId: row.id,
  IsAlive: row.isAlive,
  IsPrivate: row.isPrivate,
  StrategyName: row.name,
  StartDate: row.startedAt,
  SecurityTypesEnabled: shownSecurityTypes(row.securityTypes),
  MonthlyCost: row.monthlyCost,
  StrategyOwnerId: row.ownerPersonId,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  IsTradeOwnSystem: row.isTradeOwnSystem,
  IsResellable: row.isResellable,
})
