/** Who subscribes to strategies and what they paid. Rows are cut to what the caller may see. */
import { isPlatformAdmin } from '../../domain/access.ts'
import {
  pageRevenue,
  pageSubscribers,
  type SubscriberRow,
  type SubscriberScope,
} from '../../storage/subscription-listings.ts'
import { instant } from '../../storage/wire.ts'
import type { Context } from '../context.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'

/** Own strategies, own subscriptions, an admin's customers. */
function scopeOf({ caller }: Context): SubscriberScope {
  if (isPlatformAdmin(caller)) return { personId: null, siteId: null }
  const isAdmin = caller.role === 'geosite_admin' || caller.role === 'whitelabel_admin'
  return { personId: caller.personId, siteId: isAdmin ? caller.siteId : null }
}

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

export const getSubscribers: Handler<'GetSubscribers'> = (ctx, params) => {
  const wanted = { strategyId: params.StrategyId, activeOnly: params.ActiveOnly }
  return paged(ctx, 'GetSubscribers', params, shownSubscriber, (asked) =>
    pageSubscribers(ctx.sql, wanted, scopeOf(ctx), asked),
  )
}

export const getSubscriptionRevenue: Handler<'GetSubscriptionRevenue'> = (ctx, params) => {
  const filter = {
    strategyId: params.StrategyId,
    ownerPersonId: params.StrategyOwnerPersonId,
    subscriberPersonId: params.SubscriberPersonId,
    siteId: params.WhiteLabelSiteId,
    from: instant(params.StartDate ?? null),
    to: instant(params.EndDate ?? null),
  }
  return paged(ctx, 'GetSubscriptionRevenue', params, shownSubscriber, (asked) =>
    pageRevenue(ctx.sql, filter, scopeOf(ctx), asked),
  )
}
