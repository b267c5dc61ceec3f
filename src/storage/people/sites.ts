/** Sites: the platform's own, the regions, and the white-label sites below them or beside them. */
import type { SiteKind } from '../../domain/people/access.ts'
import { fragment, type Sql } from '../database/sql.ts'

export interface SiteRow {
  id: number
  kind: SiteKind
  code: string
  name: string
  domain: string | null
  parentSiteId: number | null
}

const columns = fragment`id, kind, code, name, domain, parent_site_id as "parentSiteId"`

/** The site of this id. */
export const findSite = (sql: Sql, id: number | bigint): Promise<SiteRow | undefined> =>
  sql.maybe<SiteRow>`select ${columns} from site where id = ${id}::bigint`

/** The site of this code. */
export const findSiteByCode = (sql: Sql, code: string): Promise<SiteRow | undefined> =>
  sql.maybe<SiteRow>`select ${columns} from site where code = ${code}`

/** The regions, by id. */
export const listGeoSites = (sql: Sql): Promise<SiteRow[]> =>
  sql.rows<SiteRow>`select ${columns} from site where kind = 'geo' order by id`
