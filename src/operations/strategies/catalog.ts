/** The catalog of a white-label site: what it resells and for how much. */

import { type CatalogStatus, decideCatalog } from '../../domain/billing/catalog.ts'
import { dec } from '../../domain/decimal.ts'
import {
  addToCatalog,
  type CatalogRow,
  listCatalog,
  loadCatalogFacts,
  removeFromCatalog,
} from '../../storage/billing/catalog.ts'
import { lockStrategies } from '../../storage/orders/signals.ts'
import { isRefused } from '../context.ts'
import type { Handler } from '../handler.ts'
import { whiteLabelSiteOf } from '../white-label.ts'

const shownEntry = (row: CatalogRow) => ({
  Id: row.id,
  StrategyId: row.strategyId,
  OriginalName: row.originalName,
  DisplayName: row.displayName,
  BaseMonthlyCost: row.basePrice,
  MarkupDollars: row.markup,
  SiteMonthlyCost: dec(row.basePrice).plus(dec(row.markup)),
  ShortDescription: row.shortDescription,
  IsAlive: row.isAlive,
})

/** The strategies that a partner site offers, at its prices. */
export const getSiteCatalog: Handler<'GetSiteCatalog'> = async (ctx, params) => {
  const siteId = await whiteLabelSiteOf(ctx, params.WhiteLabelSiteId)
  if (isRefused(siteId)) return siteId
  return { results: (await listCatalog(ctx.sql, siteId)).map(shownEntry) }
}

const messages: Readonly<Record<CatalogStatus, string | undefined>> = {
  added: undefined,
  removed: undefined,
  already_in_catalog: 'The strategy is in the catalog already',
  not_in_catalog: 'The strategy is not in the catalog',
  not_found: 'There is no such strategy',
  not_resellable: 'The owner does not allow the strategy to be resold',
  active_subscribers: 'Customers of the site subscribe to the strategy',
}
const refusing: ReadonlySet<CatalogStatus> = new Set(['not_found', 'not_resellable', 'active_subscribers'])

/** Each strategy is decided by itself; whoever subscribes at the same moment waits for the strategy or is seen. */
export const updateSiteCatalog: Handler<'UpdateSiteCatalog'> = async (ctx, params) => {
  const siteId = await whiteLabelSiteOf(ctx, params.WhiteLabelSiteId)
  if (isRefused(siteId)) return siteId
  await lockStrategies(ctx.sql, params.StrategyIds)
  const facts = await loadCatalogFacts(ctx.sql, siteId, params.StrategyIds)
  const decided = params.StrategyIds.map((id) => ({
    id,
    status: decideCatalog(params.Action, facts.get(Number(id)) ?? null),
  }))
  const changing = (wanted: CatalogStatus) =>
    decided.filter(({ status }) => status === wanted).map(({ id }) => id)
  await addToCatalog(ctx.sql, siteId, changing('added'), ctx.now)
  await removeFromCatalog(ctx.sql, siteId, changing('removed'))
  const results = decided.map(({ id, status }) => ({
    StrategyId: id,
    Ok: !refusing.has(status),
    Status: status,
    Reason: refusing.has(status) ? status : null,
    Message: messages[status],
    ActiveSubscribers: status === 'active_subscribers' ? facts.get(Number(id))?.payingSubscribers : null,
  }))
  return { results }
}
