import { describe, expect, test } from 'vitest'
import {
  type Actor,
  actsForPerson,
  isAdminOfSite,
  isSiteAdmin,
  readsPerson,
  type StrategyFacts,
  seesStrategy,
  viewsOrders,
} from './access.ts'

const actor = (role: Actor['role'], personId: number, siteId: number): Actor => ({ role, personId, siteId })
const strategy = (over: Partial<StrategyFacts>): StrategyFacts => ({
  ownerPersonId: 1,
  siteId: 20,
  parentSiteId: 10,
  isPrivate: false,
  isSubscriber: false,
  isLiveSubscriber: false,
  ...over,
})

type Subscription = 'live' | 'simulated' | 'none'

// caller, private strategy?, subscription -> sees it, sees its orders
const cases: [string, Actor, boolean, Subscription, boolean, boolean][] = [
  ['the owner', actor('user', 1, 20), true, 'none', true, true],
  ['a stranger, public', actor('user', 2, 20), false, 'none', true, false],
  ['a stranger, private', actor('user', 2, 20), true, 'none', false, false],
  ['a live subscriber', actor('user', 2, 30), true, 'live', true, true],
  ['who simulates it, private', actor('user', 2, 30), true, 'simulated', true, false],
  ['who simulates it, public', actor('user', 2, 30), false, 'simulated', true, false],
  ['admin of the white-label site', actor('whitelabel_admin', 9, 20), true, 'none', true, true],
  ['admin of another white-label site', actor('whitelabel_admin', 9, 21), true, 'none', false, false],
  ['admin of the region above', actor('geosite_admin', 9, 10), true, 'none', true, true],
  ['admin of another region', actor('geosite_admin', 9, 11), true, 'none', false, false],
  ['white-label admin of the parent', actor('whitelabel_admin', 9, 10), true, 'none', false, false],
  ['the platform', actor('platform_admin', 9, 1), true, 'none', true, true],
]

describe('who sees a strategy and its orders', () => {
  test.each(cases)('%s', (_name, who, isPrivate, subscription, sees, views) => {
    const isSubscriber = subscription !== 'none'
    const facts = strategy({ isPrivate, isSubscriber, isLiveSubscriber: subscription === 'live' })
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
    [
      'admin of the site who sees no members',
      { ...actor('whitelabel_admin', 9, 20), permissions: [] },
      false,
      false,
    ],
    ['admin of the region reads only', actor('geosite_admin', 9, 10), true, false],
    ['admin of a regional site of its own members', actor('geosite_admin', 9, 20), true, false],
    ['admin of another site', actor('geosite_admin', 9, 12), false, false],
    ['the platform', actor('platform_admin', 9, 1), true, true],
  ]
  test.each(rows)('%s', (_name, who, reads, acts) => {
    expect(readsPerson(who, person)).toBe(reads)
    expect(actsForPerson(who, person)).toBe(acts)
  })

  test.each([
    ['user', false],
    ['whitelabel_admin', true],
    ['geosite_admin', true],
  ] as const)('a %s is the admin of a site: %s', (role, expected) => {
    expect(isAdminOfSite(actor(role, 1, 20))).toBe(expected)
  })

  test('a plain user is never a site admin, whatever the site', () => {
    expect(isSiteAdmin(actor('user', 1, 20), { siteId: 20, parentSiteId: 20 })).toBe(false)
  })
})
