/** Scopes: only the callers' own make one, and what they leave out is not found. */
import { expect, test } from 'vitest'
import { ownRowsOrSite, rowsOf, rowsOfSite, type Scope } from '../../src/domain/people/scope.ts'
import { bySite, within } from '../../src/storage/database/scope.ts'
import { fragment, identifier } from '../../src/storage/database/sql.ts'
import { testDatabase } from '../support/database.ts'

const { db } = await testDatabase()

const actor = (
  role: 'user' | 'geosite_admin' | 'whitelabel_admin' | 'platform_admin',
  personId: number,
  siteId: number,
) => ({ role, personId, siteId })
const user = actor('user', 1, 10)
const whiteLabel = actor('whitelabel_admin', 2, 10)
const geo = actor('geosite_admin', 3, 5)
const platform = actor('platform_admin', 4, 99)

/** Persons 1 and 2 live at site 10 below 5, 3 at 5 itself, 6 at 20 below 7, 8 at the platform's own site. */
const found = async (scope: Scope, column: 'person' | 'nobody' = 'person'): Promise<number[]> => {
  const persons = column === 'person' ? [fragment`t.person`] : []
  const rows = await db.read.rows<{ person: number }>`
    select t.person from (values (1, 10), (2, 10), (3, 5), (6, 20), (8, 99)) t (person, home)
    join (values (10, 5), (5, null), (20, 7), (99, null)) ${identifier('site')} (id, parent_site_id) on site.id = t.home
    where ${within(scope, { persons, sites: bySite })} order by 1`
  return rows.map(({ person }) => person)
}

const cases: [string, Scope, number[]][] = [
  ['one person', rowsOf(3n), [3]],
  ['nobody of the largest id', rowsOf(9223372036854775807n), []],
  ['a user’s own', ownRowsOrSite(user), [1]],
  ['no site for a user', rowsOfSite(user), []],
  ['the site of its admin', rowsOfSite(whiteLabel), [1, 2]],
  ['the region with its sites', rowsOfSite(geo), [1, 2, 3]],
  ['own and the site’s', ownRowsOrSite(actor('whitelabel_admin', 8, 10)), [1, 2, 8]],
  ['only own for admins of another kind', ownRowsOrSite(geo, ['whitelabel_admin']), [3]],
  ['everything for the platform', rowsOfSite(platform), [1, 2, 3, 6, 8]],
  ['everything of its own choice', ownRowsOrSite(platform, []), [1, 2, 3, 6, 8]],
]

test.each(cases)('%s', async (_, scope, persons) => {
  expect(await found(scope)).toEqual(persons)
})

test('rows that belong to nobody are no user’s', async () => {
  expect(await found(ownRowsOrSite(user), 'nobody')).toEqual([])
})

test('nothing else is a scope', () => {
  // @ts-expect-error a literal does not say that it was made from a caller
  const forged: Scope = { rows: 'all' }
  // @ts-expect-error and without one there is no condition
  expect(() => within(undefined, { sites: bySite })).toThrow()
  expect(forged).toBeDefined()
})
