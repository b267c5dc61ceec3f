/** Finding strategies among those that the caller may see: by filter, and by rank. */
import { ranked } from '../../domain/ranking.ts'
import { listFigures, listStrategies, pageStrategies } from '../../storage/strategies/strategy-listings.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { shownCard } from './card.ts'

/** Strategies that the caller may see. */
export const searchStrategies: Handler<'SearchStrategies'> = (ctx, params) => {
  const filter = {
    securityType: params.SecurityType,
    startedBefore: params.CreatedBeforeDate,
    name: params.StrategyName,
    ownerPersonId: params.StrategyOwnerPersonId,
    siteId: params.WhiteLabelSiteId,
    isTradeOwnSystem: params.IsTradeOwnSystem,
  }
  return paged(ctx, 'SearchStrategies', params, shownCard, (request) =>
    pageStrategies(ctx.sql, ctx.caller, filter, request),
  )
}

/** Rows of a leader board. */
const boardMax = 100

/** The best by their score. Those that have ended stay on it, marked as not alive. */
export const getLeaderBoard: Handler<'GetLeaderBoard'> = async (ctx, { SecurityType }) => {
  const figures = await listFigures(ctx.sql, ctx.caller, { securityType: SecurityType })
  return { results: (await listStrategies(ctx.sql, ranked(figures, boardMax))).map(shownCard) }
}
