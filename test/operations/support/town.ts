/**
 * A small town to try every operation on: two regions, a white-label site in each, an owner with strategies, a
 * holder who follows one of them, neighbours, strangers and every kind of admin, with a working order, a filled
 * one and open positions. One town serves a whole file.
 */
import { type Dialect, type HostName, type OperationName, routesOf } from '../../../src/contract/index.ts'
import { isRefused } from '../../../src/operations/context.ts'
import { issueKey } from '../../../src/operations/keys.ts'
import { exactJson } from '../../../src/sdk/json.ts'
import { deleteKey } from '../../../src/storage/people/keys.ts'
import { type Answer, type Call, call, doorOf, resultsOf } from '../../support/http.ts'
import { keyEnvironment, secrets, type TestPlatform, testPlatform } from '../../support/platform.ts'

export interface Citizen {
  readonly personId: number
  readonly key: string
}

const cast = {
  /** Owns the strategies; lives at the site west. */
  owner: ['user', 'west'],
  /** Follows the first strategy; lives at the site west. */
  holder: ['user', 'west'],
  neighbour: ['user', 'west'],
  stranger: ['user', undefined],
  /** Admins of the site, and of the region above it. */
  westAdmin: ['whitelabel_admin', 'west'],
  northAdmin: ['geosite_admin', 'north'],
  eastAdmin: ['whitelabel_admin', 'east'],
  southAdmin: ['geosite_admin', 'south'],
  operator: ['platform_admin', undefined],
} as const

export type CitizenName = keyof typeof cast

export interface Town {
  readonly platform: TestPlatform
  readonly people: Readonly<Record<CitizenName, Citizen>>
  readonly sites: Readonly<Record<'north' | 'south' | 'west' | 'east', number>>
  /** Followed by the holder: long 100 AAPL, with one order at work, one filled and one canceled. */
  readonly strategyId: number
  /** Nobody follows it. */
  readonly lonelyStrategyId: number
  /** Names the holder to KYC. */
  readonly userToken: string
  /** The holder's, with the first strategy on it. */
  readonly watchListId: number
  readonly signals: { readonly working: number; readonly filled: number; readonly canceled: number }
  readonly expiredKey: string
  readonly revokedKey: string
  /** A call of the door that must succeed. */
  door<T = unknown>(path: string, body: unknown): Promise<T>
  /** Calls an operation by name with plain parameters, as the host's table says. */
  ask(operation: OperationName, params: object, options?: AskOptions): Promise<Answer>
}

export interface AskOptions {
  readonly key?: string | undefined
  readonly host?: HostName
  readonly headers?: Call['headers']
}

export const townStart = '2024-03-12T14:00:00Z'
export const holderAccount = 'U100'

/** Builds the town. Its hosts speak one dialect. */
export async function buildTown(dialect: Dialect = 'native'): Promise<Town> {
  const platform = await testPlatform(dialect)
  const door = doorOf(platform.url)
  await door('/reset', { now: townStart })
  const sites = await buildSites(door)
  const people = await settle(door)
  const ask = asking(platform.url, dialect)
  const trade = await openTrade(dialect, door, ask, people)
  const keys = await deadKeys(platform, people.owner.personId)
  const watchListId = await addWatchList(ask, people.holder, trade.strategyId)
  const wanted = [{ personId: people.holder.personId }]
  const [issued] = await door<{ userToken: string }[]>('/user-tokens', wanted)
  const userToken = issued?.userToken ?? ''
  return { platform, people, sites, door, ask, ...trade, ...keys, watchListId, userToken }
}

async function buildSites(door: Town['door']): Promise<Town['sites']> {
  const site = (kind: string, name: string, more: object = {}) => ({
    kind,
    name,
    domain: `${name}.example`,
    ...more,
  })
  const [north = 0, south = 0] = await door<number[]>('/sites', [site('geo', 'north'), site('geo', 'south')])
  const [west = 0, east = 0] = await door<number[]>('/sites', [
    site('whitelabel', 'west', { parentSiteId: north }),
    site('whitelabel', 'east', { parentSiteId: south }),
  ])
  return { north, south, west, east }
}

async function settle(door: Town['door']): Promise<Town['people']> {
  const wanted = Object.entries(cast).map(([name, [role, site]]) => ({
    firstName: name,
    lastName: 'T',
    email: `${name}@example.org`,
    role,
    ...(site && { site }),
  }))
  const made = await door<Citizen[]>('/people', wanted)
  const people = Object.keys(cast).map((name, place) => [name, made[place]])
  return Object.fromEntries(people) as Town['people']
}

/** Paths and methods come from the table of routes, so that a test names the operation alone. */
function asking(url: string, dialect: Dialect): Town['ask'] {
  return (operation, params, { key, host = 'Gen', headers } = {}) => {
    const route = routesOf(host, dialect).find((candidate) => candidate.operation === operation)
    if (!route) throw new Error(`${host} offers no ${operation}`)
    const { method, path } = route
    const base = `/${host.toLowerCase()}${path}`
    const rest = { method, key, ...(headers && { headers }) }
    if (method === 'POST' || method === 'PUT') return call(url, base, { ...rest, body: exactJson(params) })
    const query = new URLSearchParams()
    for (const [name, value] of Object.entries(params)) query.append(name, String(value))
    return call(url, `${base}?${query}`, rest)
  }
}

/** Terms of an order to buy one at a limit. */
export const oneAtLimit = { OrderType: '2', Limit: 50, Side: '1', OrderQuantity: 1, TIF: '1' } as const

export const apple = { FullSymbol: 'AAPL', SymbolType: 'stock' } as const

/** The member under which a dialect names the platform's symbol. */
export const symbolMember = (dialect: Dialect) => (dialect === 'compat' ? 'C2Symbol' : 'PlatformSymbol')

async function openTrade(
  dialect: Dialect,
  door: Town['door'],
  ask: Town['ask'],
  { owner, holder }: Town['people'],
): Promise<Pick<Town, 'strategyId' | 'lonelyStrategyId' | 'signals'>> {
  const add = async (name: string) => {
    const params = { StrategyName: name, StartingCapital: 100_000 }
    const answer = await ask('AddStrategy', params, { key: owner.key })
    return resultsOf<{ StrategyId: number }>(answer)[0]?.StrategyId ?? 0
  }
  const strategyId = await add('Trend')
  const lonelyStrategyId = await add('Alone')
  await door('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
  await door('/accounts', [{ account: holderAccount, personId: holder.personId, cash: 50_000 }])
  const started = await ask(
    'StartAutotrade',
    { Account: holderAccount, PersonId: holder.personId, StrategyId: strategyId, StocksEnabled: true },
    { key: holder.key },
  )
  if (started.status !== 200) throw new Error(`nobody follows: ${started.text}`)
  await door('/quotes', [{ symbol: 'AAPL', bid: 99.99, ask: 100 }])
  const order = async (terms: object) => {
    const Order = {
      StrategyId: strategyId,
      Side: '1',
      OrderQuantity: 100,
      TIF: '1',
      [symbolMember(dialect)]: apple,
      ...terms,
    }
    const answer = await ask('NewStrategyOrder', { Order }, { key: owner.key })
    return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
  }
  const filled = await order({ OrderType: '1' })
  const working = await order({ OrderType: '2', Limit: 90 })
  const canceled = await order({ OrderType: '2', Limit: 80 })
  await ask('CancelStrategyOrder', { StrategyId: strategyId, SignalId: canceled }, { key: owner.key })
  return { strategyId, lonelyStrategyId, signals: { filled, working, canceled } }
}

/** How people are answered who ask for what the site west is told, and name no site. */
export const answersToReaders = [
  ['westAdmin', {}, 200],
  ['northAdmin', {}, 403],
  ['stranger', {}, 403],
  ['holder', {}, 403],
  ['operator', {}, 400],
] as const

export const kycInfo = {
  FirstName: 'H',
  LastName: 'O',
  Email: 'h@example.org',
  Phone: '+12125550123',
  Street: '1 Main Street',
  City: 'Albany',
  Province: 'NY',
  PostCode: '12207',
  Country: 'US',
} as const

/** A watch list of a person's with one strategy on it; answers its id. */
export async function addWatchList(
  ask: Town['ask'],
  { key, personId: PersonId }: Citizen,
  StrategyId: number,
  WatchListName = 'Watched',
): Promise<number> {
  const asHolder = { key, host: 'WL' } as const
  const list = { PersonId, ModificationSource: 'LIST', ModificationAction: 'ADD', WatchListName }
  await ask('ManageWatchList', list, asHolder)
  const lists = await ask('GetWatchLists', { PersonId }, asHolder)
  const WatchListId = resultsOf<{ Id: number }>(lists)[0]?.Id ?? 0
  await ask('ManageWatchList', { ...list, ModificationSource: 'MEMBER', WatchListId, StrategyId }, asHolder)
  return WatchListId
}

/** A key that has run out and one that was taken back. */
async function deadKeys(
  { db }: TestPlatform,
  personId: number,
): Promise<Pick<Town, 'expiredKey' | 'revokedKey'>> {
  const now = Date.parse(townStart)
  const issue = async (expiresAt: number, comment: string) => {
    const order = { personId, keyEnvironment, now: now - 1000, expiresAt, comment }
    const issued = await db.transaction((tx) => issueKey(tx, secrets, order))
    if (isRefused(issued)) throw new Error(issued.refused)
    return issued
  }
  const revoked = await issue(now + 1e9, 'revoked')
  await deleteKey(db.write, revoked.keyId, now)
  const expired = await issue(now - 500, 'expired')
  return { expiredKey: expired.key, revokedKey: revoked.key }
}
