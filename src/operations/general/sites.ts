/** Partner sites and their members. */

import { rowsOfSite } from '../../domain/people/scope.ts'
import { pagePeople } from '../../storage/people/people.ts'
import { listGeoSites } from '../../storage/people/sites.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { shownMember } from './people.ts'

/** The sites that are not partners. */
export const getGeoSites: Handler<'GetGeoSites'> = async (ctx) => ({
  results: (await listGeoSites(ctx.sql)).map(({ id, code, domain }) => ({
    Id: id,
    GeoSIteId: code,
    Domain: domain ?? '',
  })),
})

/** The members of a white-label site. */
export const getWhiteLabelSiteUsers: Handler<'GetWhiteLabelSiteUsers'> = (ctx, params) =>
  paged(ctx, 'GetWhiteLabelSiteUsers', params, shownMember, (request) =>
    pagePeople(ctx.sql, { whiteLabelSiteId: params.WhiteLabelSiteId }, rowsOfSite(ctx.caller), request),
  )

/** The members of a region, those of its white-label sites included. */
export const getGeoSiteUsers: Handler<'GetGeoSiteUsers'> = (ctx, params) =>
  paged(ctx, 'GetGeoSiteUsers', params, shownMember, (request) =>
    pagePeople(ctx.sql, { geoSite: params.GeoSite }, rowsOfSite(ctx.caller), request),
  )
