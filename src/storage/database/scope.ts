/**
 * A scope as a condition. Listings that several kinds of callers read take one as a parameter: without it they do not
 * compile, and one that names nobody finds nothing.
 */
import type { Scope } from '../../domain/people/scope.ts'
import { type Fragment, fragment, join } from './sql.ts'

/** Columns that say whose a row is. */
interface Owners {
  readonly persons?: readonly Fragment[]
  /** The row's site and the site above it. */
  readonly sites: readonly [Fragment, Fragment]
}

/** The columns of the tables `site`, which is the row's. */
export const bySite = [fragment`site.id`, fragment`site.parent_site_id`] as const

/** The condition that a row belongs to the person or to the site of the scope, or to a site below it. */
export function within(scope: Scope, { persons = [], sites }: Owners): Fragment {
  if (scope.rows === 'all') return fragment`true`
  const { personId, siteId } = scope
  const ways = [
    ...(personId === null ? [] : persons.map((person) => fragment`${person} = ${personId}::bigint`)),
    ...(siteId === null ? [] : sites.map((site) => fragment`${site} = ${siteId}::bigint`)),
  ]
  return ways.length === 0 ? fragment`false` : fragment`(${join(ways, ' or ')})`
}
