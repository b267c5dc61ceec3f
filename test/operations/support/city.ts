/**
 * A city to try every right on: two regions with a white-label site each and the platform's own people. Everybody has
 * a household: a strategy that is private, an account that follows the common strategy and holds some of it, a watch
 * list, a request for approval, KYC data. All its texts carry a marker that is the household's alone.
 */

import { resultsOf } from '../../support/http.ts'
import { addWatchList, buildTown, type Citizen, kycInfo, type Town } from './town.ts'

/** Role and site of everybody; the site's region is north for west, south for east. */
const cast = {
  stranger: ['user', undefined],
  passerby: ['user', undefined],
  accountOwner: ['user', 'west'],
  strategyOwner: ['user', 'west'],
  neighbourWest: ['user', 'west'],
  neighbourEast: ['user', 'east'],
  deleted: ['user', 'west'],
  westAdmin: ['whitelabel_admin', 'west'],
  eastAdmin: ['whitelabel_admin', 'east'],
  northAdmin: ['geosite_admin', 'north'],
  southAdmin: ['geosite_admin', 'south'],
  operator: ['platform_admin', undefined],
} as const

export type Inhabitant = keyof typeof cast
export type Home = 'west' | 'east' | 'north' | 'south' | 'platform'
export const inhabitants = Object.keys(cast) as Inhabitant[]
export const homeOf = (name: Inhabitant): Home => cast[name][1] ?? 'platform'

/** What stands in every text of a household, of its person and of its strategy. */
export const markerOf = (name: Inhabitant): string => `Zp${name}Q`
export const strategyMarkerOf = (name: Inhabitant): string => `Zs${name}Q`
export const siteMarkerOf = (home: Home): string => `Zt${home}Q`

export interface Household {
  readonly personId: number
  readonly account: string
  readonly strategyId: number
  readonly signalId: number
  readonly watchListId: number
  readonly userToken: string
  readonly requestId: string
  readonly siteId: number
  readonly geoSite: string
}

export interface City extends Pick<Town, 'platform' | 'ask' | 'door' | 'expiredKey' | 'revokedKey'> {
  readonly keys: Readonly<Record<Inhabitant, string>>
  readonly households: Readonly<Record<Inhabitant, Household>>
  /** Public, free, and followed by every account. */
  readonly commonId: number
  /** Public, and followed by nobody. */
  readonly lonelyId: number
}

const limitOrder = { Side: '1', OrderType: '2', Limit: 50, OrderQuantity: 1, TIF: '1' } as const
export const symbol = { PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' } } as const

/** Builds the city around a town, whose own people stay in the background. */
export async function buildCity(): Promise<City> {
  const town = await buildTown()
  const { platform, door, ask, expiredKey, revokedKey, lonelyStrategyId: lonelyId } = town
  const { db } = platform
  const people = await settle(door)
  const { platformSite } = await db.read.one<{ platformSite: number }>`
    select id as "platformSite" from site where kind = 'platform'`
  const siteIds = { ...town.sites, platform: platformSite }
  const commonId = await addStrategy(ask, town.people.operator.key, 'Common')
  const households = {} as Record<Inhabitant, Household>
  for (const name of inhabitants) {
    const { personId, key } = people[name]
    const own = await openHousehold(town, name, people[name], commonId)
    const home = homeOf(name)
    const region = { west: 'north', east: 'south', north: 'north', south: 'south', platform: 'nowhere' }[home]
    households[name] = { personId, ...own, siteId: siteIds[home], geoSite: region }
    if (key === '') throw new Error(`${name} has no key`)
  }
  await fillAccounts(town, commonId)
  // A live subscriber of the strategy owner's, whose strategy is as private as all others.
  await follow(town, people.accountOwner, markerOf('accountOwner'), households.strategyOwner.strategyId)
  const strategyIds = inhabitants.map((name) => ({ strategyId: households[name].strategyId, private: true }))
  await door('/strategies', strategyIds)
  await db.write.run`
    update site set name = 'Zt' || code || 'Q', support_company_name = 'Zt' || code || 'Q' where kind <> 'platform'`
  await db.write.run`update person set is_alive = false where id = ${people.deleted.personId}::bigint`
  // Processes know within a second.
  while ((await ask('Hello', { Name: 'x' }, { key: people.deleted.key })).status === 200);
  const keys = Object.fromEntries(inhabitants.map((name) => [name, people[name].key]))
  return {
    platform,
    door,
    ask,
    expiredKey,
    revokedKey,
    households,
    commonId,
    lonelyId,
    keys: keys as City['keys'],
  }
}

async function settle(door: Town['door']): Promise<Record<Inhabitant, Citizen>> {
  const wanted = inhabitants.map((name) => {
    const [role, site] = cast[name]
    const marker = markerOf(name)
    const said = { firstName: marker, lastName: marker, email: `${marker}@example.org`, role }
    return { ...said, ...(site && { site }) }
  })
  const made = await door<Citizen[]>('/people', wanted)
  return Object.fromEntries(inhabitants.map((name, place) => [name, made[place]])) as Record<
    Inhabitant,
    Citizen
  >
}

async function addStrategy(ask: Town['ask'], key: string, name: string): Promise<number> {
  const answer = await ask('AddStrategy', { StrategyName: name, StartingCapital: 100_000 }, { key })
  return resultsOf<{ StrategyId: number }>(answer)[0]?.StrategyId ?? 0
}

async function openHousehold(
  town: Town,
  name: Inhabitant,
  resident: Citizen,
  commonId: number,
): Promise<Omit<Household, 'personId' | 'siteId' | 'geoSite'>> {
  const { door, ask, platform } = town
  const { personId, key } = resident
  const marker = markerOf(name)
  // An alias is public: it carries no marker.
  await platform.db.write.run`
    update person set alias = 'somebody', city = ${marker}, street = ${marker}, company = ${marker},
      phone = ${marker}, last_ip = ${marker} where id = ${personId}::bigint`
  await door('/accounts', [{ account: marker, personId, cash: 100_000 }])
  const strategyId = await addStrategy(ask, key, strategyMarkerOf(name))
  await platform.db.write.run`
    update strategy set short_description = ${strategyMarkerOf(name)}, long_description = ${strategyMarkerOf(name)}
    where id = ${strategyId}::bigint`
  const placed = await ask(
    'NewStrategyOrder',
    { Order: { StrategyId: strategyId, ...limitOrder, ...symbol } },
    { key },
  )
  const signalId = resultsOf<{ SignalId: number }>(placed)[0]?.SignalId ?? 0
  await ask('CancelStrategyOrder', { StrategyId: strategyId, SignalId: signalId }, { key })
  await follow(town, resident, marker, commonId)
  const again = {
    Account: marker,
    PersonId: personId,
    StrategyId: town.lonelyStrategyId,
    StocksEnabled: true,
  }
  const started = await ask('StartAutotrade', again, { key, host: 'WL' })
  const watchListId = await addWatchList(ask, resident, commonId, marker)
  const [issued] = await door<{ userToken: string }[]>('/user-tokens', [{ personId }])
  const userToken = issued?.userToken ?? ''
  const info = {
    ...kycInfo,
    FirstName: marker,
    LastName: marker,
    City: marker,
    Email: `${marker}@example.org`,
  }
  resultsOf(
    await ask('AddKYCInfo', { UserToken: userToken, ...info }, { key: town.people.operator.key, host: 'WL' }),
  )
  const requestId = String(started.headers['x-approval-request-id'] ?? '')
  return { account: marker, strategyId, signalId, watchListId, userToken, requestId }
}

async function follow(
  { ask }: Town,
  { personId, key }: Citizen,
  account: string,
  strategyId: number,
): Promise<void> {
  const params = { Account: account, PersonId: personId, StrategyId: strategyId, StocksEnabled: true }
  const answer = await ask('StartAutotrade', params, { key })
  if (answer.status !== 200) throw new Error(answer.text)
}

/** The common strategy buys, and every account with it. */
async function fillAccounts({ ask, people, platform }: Town, commonId: number): Promise<void> {
  const Order = { StrategyId: commonId, ...symbol, Side: '1', OrderType: '1', OrderQuantity: 100, TIF: '1' }
  resultsOf(await ask('NewStrategyOrder', { Order }, { key: people.operator.key }))
  const { held } = await platform.db.read.one<{ held: number }>`
    select count(*)::int as held from account_position where strategy_id = ${commonId}::bigint and quantity = 100`
  if (held !== inhabitants.length) throw new Error(`${held} accounts hold the common strategy`)
}
