/** Finding strategies: what the caller may see, narrowed by every filter that is given. */
import { pageStrategies } from '../../storage/strategy-listings.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { shownStrategy } from './card.ts'

export const searchStrategies: Handler<'SearchStrategies'> = (ctx, params) => {
  const filter = {
    securityType: params.SecurityType,
    startedBefore: params.CreatedBeforeDate,
    name: params.StrategyName,
    ownerPersonId: params.StrategyOwnerPersonId,
    siteId: params.WhiteLabelSiteId,
    isTradeOwnSystem: params.IsTradeOwnSystem,
  }
  return paged(ctx, 'SearchStrategies', params, shownStrategy, (asked) =>
    pageStrategies(ctx.sql, ctx.caller, filter, asked),
  )
}
