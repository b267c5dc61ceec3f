/** The demo's sites, people and accounts, as they are before its history begins. */
import { type Instant, instantAt, newYork } from '../domain/time.ts'
import type { Transaction } from '../storage/database/sql.ts'
import {
  findPlatformSite,
  insertAccounts,
  insertPersons,
  insertSite,
  type NewPerson,
} from '../storage/operating/provision.ts'
import { dayOf, type FollowerPart, followerParts, investorPart } from './cast.ts'
import { crowd } from './crowd.ts'
import type { DemoKey } from './facts.ts'
import type { Actor } from './stage.ts'

/** Somebody who signs in to the demo. */
export type KeyHolder = Pick<DemoKey, 'name' | 'role' | 'personId' | 'siteId'>

export interface People {
  readonly developer: Actor
  readonly followers: readonly (Actor & { readonly part: FollowerPart })[]
  readonly keyHolders: readonly KeyHolder[]
}

interface Sites {
  readonly platform: number
  readonly geo: number
  readonly partner: number
}

/** A region and, below it, a white-label site. */
async function insertSites(tx: Transaction, createdAt: Instant): Promise<Sites> {
  const platform = await findPlatformSite(tx)
  const geo = await insertSite(tx, {
    kind: 'geo',
    code: 'europe',
    name: 'Lockstep Europe',
    domain: 'europe.example.com',
    createdAt,
  })
  const partner = await insertSite(tx, {
    kind: 'whitelabel',
    code: 'harbor',
    name: 'Harbor Trading',
    domain: 'harbor.example.com',
    parentSiteId: geo,
    createdAt,
  })
  return { platform, geo, partner }
}

/** An account is opened on the day before it first follows. */
const openedAt = (follows: FollowerPart['follows']): Instant =>
  Math.min(...follows.map(({ from }) => instantAt(dayOf(from) - 1, 12 * 60, newYork)))

/** Writes them, with everybody's paper account at the broker. */
export async function insertPeople(tx: Transaction, brokerId: number, createdAt: Instant): Promise<People> {
  const { platform, geo, partner } = await insertSites(tx, createdAt)
  const person = (name: string, siteId: number, role: NewPerson['role'] = 'user'): NewPerson => {
    const [firstName = '', lastName = ''] = name.split(' ')
    const email = `${name.toLowerCase().replace(' ', '.')}@example.com`
    return { siteId, role, firstName, lastName, email, createdAt }
  }
  const parts = [investorPart, ...followerParts, ...crowd]
  const siteOf = (part: FollowerPart): number => (part.isOfPartner ? partner : platform)
  const names = [
    person('Dana Developer', platform),
    person('Otto Operator', platform, 'platform_admin'),
    person('Gina Geoadmin', geo, 'geosite_admin'),
    person('Wanda Siteadmin', partner, 'whitelabel_admin'),
    ...parts.map((part) => person(part.name, siteOf(part))),
  ]
  const [developer = 0, operator = 0, geoAdmin = 0, siteAdmin = 0, ...followerIds] = await insertPersons(
    tx,
    names,
  )
  const followers = parts.map((part, place) => ({
    part,
    personId: followerIds[place] ?? 0,
    siteId: siteOf(part),
    siteKind: part.isOfPartner ? ('whitelabel' as const) : ('platform' as const),
  }))
  await insertAccounts(
    tx,
    followers.map(({ part: { account, cash: startingCash, follows }, personId }) => ({
      personId,
      brokerId,
      kind: 1,
      account,
      startingCash,
      createdAt: openedAt(follows),
    })),
  )
  return {
    developer: { personId: developer, siteId: platform, siteKind: 'platform' },
    followers,
    keyHolders: [
      { name: 'Dana Developer', role: 'developer', personId: developer },
      { name: investorPart.name, role: 'investor', personId: followerIds[0] ?? 0 },
      { name: 'Otto Operator', role: 'operator', personId: operator },
      { name: 'Gina Geoadmin', role: 'geosite admin', personId: geoAdmin, siteId: geo },
      { name: 'Wanda Siteadmin', role: 'whitelabel admin', personId: siteAdmin, siteId: partner },
    ],
  }
}
