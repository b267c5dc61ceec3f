/** Who subscribes to strategies and what they paid. Rows are cut to what the caller may see. */
import { ownRowsOrSite } from '../../domain/people/scope.ts'
import {
  pageRevenue,
  pageSubscribers,
  type SubscriberRow,
} from '../../storage/billing/subscription-listings.ts'
import { instant } from '../../storage/database/wire.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'

const shownSubscriber = (row: SubscriberRow) => ({
  Id: row.id,
  StrategyId: row.strategyId,
  StrategyName: row.strategyName,
  PersonId: row.personId,
  SubscriptionId: row.subscriptionId,
  SubscriberId: row.personId,
  IsStrategyOwner: row.isStrategyOwner,
  Alias: row.alias,
  FirstName: row.firstName,
  LastName: row.lastName,
  Email: row.email,
  StartDate: row.startedAt,
  EndDate: row.endsAt,
  BasePrice: row.basePrice,
  Markup: row.markup,
  Cost: row.cost,
  LastTransactionDate: row.paidAt,
  LastTransactionAmount: row.paidAmount,
  IsResale: row.isResale ? 1 : 0,
  WhiteLabelSiteId: row.siteKind === 'whitelabel' ? row.siteId : null,
  GeoSiteId: row.siteKind === 'geo' ? row.siteCode : row.parentCode,
})

/** Subscribers of one strategy, as far as the caller may know them. */
export const getSubscribers: Handler<'GetSubscribers'> = (ctx, params) => {
  const wanted = { strategyId: params.StrategyId, activeOnly: params.ActiveOnly }
  return paged(ctx, 'GetSubscribers', params, shownSubscriber, (request) =>
    pageSubscribers(ctx.sql, wanted, ownRowsOrSite(ctx.caller), request),
  )
}

/** What subscriptions have earned within the window. */
export const getSubscriptionRevenue: Handler<'GetSubscriptionRevenue'> = (ctx, params) => {
  const filter = {
    strategyId: params.StrategyId,
    ownerPersonId: params.StrategyOwnerPersonId,
    subscriberPersonId: params.SubscriberPersonId,
    siteId: params.WhiteLabelSiteId,
    from: instant(params.StartDate ?? null),
    to: instant(params.EndDate ?? null),
  }
  return paged(ctx, 'GetSubscriptionRevenue', params, shownSubscriber, (request) =>
    pageRevenue(ctx.sql, filter, ownRowsOrSite(ctx.caller, undefined, 'billing'), request),
  )
}
