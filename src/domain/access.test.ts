import { describe, expect, test } from 'vitest'
import {
  type Actor,
  actsForPerson,
  isSiteAdmin,
  readsPerson,
  type StrategyFacts,
  seesStrategy,
  viewsOrders,
} from './access.ts'

const actor = (role: Actor['role'], personId: number, siteId: number): Actor => ({ role, personId, siteId })
const strategy = (over: Partial<StrategyFacts> = {}): StrategyFacts => ({
  ownerPersonId: 1,
  siteId: 20,
  parentSiteId: 10,
  isPrivate: false,
  isLiveSubscriber: false,
  ...over,
})

// caller, private strategy?, subscriber? -> sees it, sees its orders
const cases: [string, Actor, boolean, boolean, boolean, boolean][] = [
  ['the owner', actor('user', 1, 20), true, false, true, true],
  ['a stranger, public', actor('user', 2, 20), false, false, true, false],
  ['a stranger, private', actor('user', 2, 20), true, false, false, false],
  ['a live subscriber', actor('user', 2, 30), true, true, true, true],
  ['admin of the white-label site', actor('whitelabel_admin', 9, 20), true, false, true, true],
  ['admin of another white-label site', actor('whitelabel_admin', 9, 21), true, false, false, false],
  ['admin of the region above', actor('geosite_admin', 9, 10), true, false, true, true],
  ['admin of another region', actor('geosite_admin', 9, 11), true, false, false, false],
  ['white-label admin whose site is the parent', actor('whitelabel_admin', 9, 10), true, false, false, false],
  ['the platform', actor('platform_admin', 9, 1), true, false, true, true],
]

describe('who sees a strategy and its orders', () => {
  test.each(cases)('%s', (_name, who, isPrivate, isLiveSubscriber, sees, views) => {
    const facts = strategy({ isPrivate, isLiveSubscriber })
    expect(seesStrategy(who, facts)).toBe(sees)
    expect(viewsOrders(who, facts)).toBe(views)
  })
})

describe('what belongs to a person', () => {
  const person = { personId: 5, siteId: 20, parentSiteId: 10 }
  const rows: [string, Actor, boolean, boolean][] = [
    ['the person', actor('user', 5, 20), true, true],
    ['somebody else', actor('user', 6, 20), false, false],
    ['admin of the site reads only', actor('whitelabel_admin', 9, 20), true, false],
    ['admin of the region reads only', actor('geosite_admin', 9, 10), true, false],
    ['admin of another site', actor('geosite_admin', 9, 12), false, false],
    ['the platform', actor('platform_admin', 9, 1), true, true],
  ]
  test.each(rows)('%s', (_name, who, reads, acts) => {
    expect(readsPerson(who, person)).toBe(reads)
    expect(actsForPerson(who, person)).toBe(acts)
  })

  test('a plain user is never a site admin, whatever the site', () => {
    expect(isSiteAdmin(actor('user', 1, 20), { siteId: 20, parentSiteId: 20 })).toBe(false)
  })
})
