/** The white-label site that a call is about: the key's own, or the one that a platform admin names. */
import { isWhiteLabelSite } from '../storage/billing/catalog.ts'
import { type Context, type Refused, refuse } from './context.ts'

/** Its id. Refuses a site that is no white-label site; a platform admin must name one. */
export async function whiteLabelSiteOf(
  { sql, caller }: Context,
  named: number | bigint | undefined,
): Promise<number | Refused> {
  if (named === undefined && caller.siteKind !== 'whitelabel')
    return refuse('MissingValue', 'WhiteLabelSiteId')
  const siteId = named ?? caller.siteId
  return (await isWhiteLabelSite(sql, siteId)) ? Number(siteId) : refuse('NotFound', 'WhiteLabelSiteId')
}
