/**
 * The catalog of a white-label site: what an addition or a removal comes to, for one strategy. Both may be
 * repeated. What customers of the site pay for is not removed.
 */
export type CatalogAction = 'Add' | 'Remove'

/** A strategy as the site sees it; null facts mean that it does not exist for the site. */
export interface CatalogFacts {
  readonly isListed: boolean
  /** Private, and known to the site only because it had it in its catalog. */
  readonly isHidden: boolean
  readonly isResellable: boolean
  /** The site's customers who subscribe to it for real; one who is suspended or has ended it does not count. */
  readonly payingSubscribers: number
}

export type CatalogStatus =
  | 'added'
  | 'already_in_catalog'
  | 'removed'
  | 'not_in_catalog'
  | 'not_found'
  | 'not_resellable'
  | 'active_subscribers'

/** Decides one strategy. Only `added` and `removed` change anything. */
export function decideCatalog(action: CatalogAction, facts: CatalogFacts | null): CatalogStatus {
  if (facts === null) return 'not_found'
  if (action === 'Add') {
    if (facts.isListed) return 'already_in_catalog'
    if (facts.isHidden) return 'not_found'
    return facts.isResellable ? 'added' : 'not_resellable'
  }
  if (!facts.isListed) return 'not_in_catalog'
  return facts.payingSubscribers > 0 ? 'active_subscribers' : 'removed'
}
