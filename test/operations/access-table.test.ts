/**
 * The access table, every cell of it: every route, every kind of caller, every relation to the object, over HTTP. What
 * is forbidden is told in the same words as what does not exist, and no text of a household reaches anybody but its
 * person, the admins of its site and the platform: not in an answer, not in a log, not in an export.
 */
import { afterAll, describe, expect, test } from 'vitest'
import { callerOf } from '../../src/bin/asking.ts'
import { exportListing } from '../../src/bin/export.ts'
import { hostNames, listings, routesOf, rows } from '../../src/contract/index.ts'
import { handlers } from '../../src/operations/index.ts'
import { createRunner } from '../../src/operations/run.ts'
import type { Answer } from '../support/http.ts'
import { secrets } from '../support/platform.ts'
import {
  accessTable,
  type CallerKind,
  callers,
  type Entry,
  type Relation,
  relations,
} from './support/access-table.ts'
import {
  buildCity,
  type Home,
  type Household,
  homeOf,
  type Inhabitant,
  inhabitants,
  markerOf,
  siteMarkerOf,
  strategyMarkerOf,
} from './support/city.ts'

const city = await buildCity()
const { households, keys, platform } = city

/** The caller himself, somebody of his site, somebody of another. */
const acquaintances: Readonly<Record<CallerKind, readonly [Inhabitant, Inhabitant, Inhabitant]>> = {
  unrelated: ['stranger', 'passerby', 'neighbourWest'],
  accountOwner: ['accountOwner', 'neighbourWest', 'neighbourEast'],
  strategyOwner: ['strategyOwner', 'neighbourWest', 'neighbourEast'],
  geoOwn: ['northAdmin', 'neighbourWest', 'neighbourEast'],
  geoOther: ['southAdmin', 'neighbourEast', 'neighbourWest'],
  wlOwn: ['westAdmin', 'neighbourWest', 'neighbourEast'],
  wlOther: ['eastAdmin', 'neighbourEast', 'neighbourWest'],
  platform: ['operator', 'passerby', 'neighbourWest'],
}

/** Whose homes an admin answers for. */
const territory: Partial<Record<Inhabitant, readonly Home[]>> = {
  westAdmin: ['west'],
  eastAdmin: ['east'],
  northAdmin: ['north', 'west'],
  southAdmin: ['south', 'east'],
  operator: ['north', 'south', 'west', 'east', 'platform'],
}
const everyHome: readonly Home[] = ['north', 'south', 'west', 'east']
const above: Partial<Record<Home, Home>> = { west: 'north', east: 'south' }

/** The markers that somebody must never see. */
function foreignTo(viewer: Inhabitant): string[] {
  const homes = [homeOf(viewer), above[homeOf(viewer)], ...(territory[viewer] ?? [])]
  const others = inhabitants.filter(
    (name) => name !== viewer && !(territory[viewer] ?? []).includes(homeOf(name)),
  )
  return [
    // An owner sees who follows his strategy, a follower the strategy.
    ...others.filter((name) => !(viewer === 'strategyOwner' && name === 'accountOwner')).map(markerOf),
    ...others
      .filter((name) => !(viewer === 'accountOwner' && name === 'strategyOwner'))
      .map(strategyMarkerOf),
    ...everyHome.filter((home) => !homes.includes(home)).map(siteMarkerOf),
  ]
}

const nobody: Household = {
  personId: 999_999,
  account: 'NONE',
  strategyId: 999_999,
  signalId: 999_999,
  watchListId: 999_999,
  userToken: 'none',
  requestId: '00000000-0000-4000-8000-000000000000',
  siteId: 999_999,
  geoSite: 'nowhere',
}

function objectOf(caller: CallerKind, relation: Relation): { name: Inhabitant | undefined; of: Household } {
  const name = acquaintances[caller][relations.indexOf(relation)]
  if (name === undefined) return { name, of: nobody }
  // The account owner's relation to a strategy is that he follows it.
  const { strategyId, signalId } = households[name === 'accountOwner' ? 'strategyOwner' : name]
  return { name, of: { ...households[name], strategyId, signalId } }
}

const counts = { cells: 0, in: 0, forbidden: 0, absent: 0, rejected: 0, leaksLookedFor: 0 }
const routes = hostNames.flatMap((host) =>
  routesOf(host, 'native').map(({ operation }) => ({ host, operation })),
)
type Route = (typeof routes)[number]

const send = ({ host, operation }: Route, params: object, key: string | undefined): Promise<Answer> =>
  city.ask(operation, params, { key, host })

/** What stands in headers and body. */
const wordsOf = ({ headers, text }: Answer): string => `${JSON.stringify(headers)} ${text}`

function leakIn(answer: Answer, viewer: Inhabitant): string | undefined {
  const foreign = foreignTo(viewer)
  counts.leaksLookedFor += foreign.length
  const words = wordsOf(answer)
  return foreign.find((marker) => words.includes(marker))
}

/** A cell's statuses; what is not offered yet says so whoever asks. */
function expectedOf(entry: Entry, caller: CallerKind, relation: Relation): readonly number[] {
  const isBuilt = entry.operation in handlers || rows[entry.operation].unavailable
  if (!isBuilt) return [503]
  const sign = entry.rule[caller][relations.indexOf(relation)]
  if (sign === '-') return [403]
  if (sign === '0') return [404]
  return entry.in ?? [200]
}

async function judge(entry: Entry, route: Route, caller: CallerKind, complaints: string[]): Promise<void> {
  const viewer = acquaintances[caller][0]
  const denied = new Map<string, Relation>()
  for (const relation of relations) {
    const { name, of } = objectOf(caller, relation)
    const answer = await send(route, entry.params(of, city), keys[viewer])
    const expected = expectedOf(entry, caller, relation)
    const place = `${route.host} ${route.operation} ${caller} ${relation}`
    counts.cells += 1
    if (answer.status === 403) counts.forbidden += 1
    else if (expected[0] === 404 && !entry.in) counts.absent += 1
    else counts.in += 1
    if (!expected.includes(answer.status))
      complaints.push(`${place}: ${answer.status} and not ${expected.join()}: ${answer.text.slice(0, 200)}`)
    const leak = leakIn(answer, viewer)
    if (leak) complaints.push(`${place} shows ${leak}: ${answer.text.slice(0, 400)}`)
    const isShown = name !== undefined && answer.status === 200
    const owner = name === 'accountOwner' ? 'strategyOwner' : name
    const wanted = entry.shows === 'person' ? name && markerOf(name) : owner && strategyMarkerOf(owner)
    if (entry.shows && isShown && !answer.text.includes(wanted ?? ''))
      complaints.push(`${place} does not show ${wanted}: ${answer.text.slice(0, 200)}`)
    if (answer.status === 403 || (answer.status === 404 && !entry.in)) denied.set(answer.text, relation)
  }
  // Of two answers that deny, the one about what exists must not differ from the one about what does not.
  if (denied.size > 1) complaints.push(`${route.operation} tells ${caller} apart: ${[...denied].join(' ')}`)
}

describe.each(accessTable.map((entry) => [entry.operation, entry] as const))('%s', (operation, entry) => {
  const offered = routes.filter((route) => route.operation === operation)

  test('about every object, by everybody', async () => {
    const complaints: string[] = []
    for (const route of offered) for (const caller of callers) await judge(entry, route, caller, complaints)
    expect(complaints).toEqual([])
  }, 120_000)

  test('by nobody without a living key', async () => {
    const dead = {
      none: undefined,
      expired: city.expiredKey,
      revoked: city.revokedKey,
      deleted: keys.deleted,
    }
    const complaints: string[] = []
    for (const route of offered)
      for (const [name, key] of Object.entries(dead))
        for (const relation of relations) {
          const answer = await send(route, entry.params(objectOf('accountOwner', relation).of, city), key)
          counts.cells += 1
          counts.rejected += 1
          if (answer.status !== 401)
            complaints.push(`${route.host} ${name} ${relation}: ${answer.status} ${answer.text}`)
          const leak = leakIn(answer, 'stranger')
          if (leak) complaints.push(`${route.host} ${name} shows ${leak}`)
        }
    expect(complaints).toEqual([])
  })
})

test('the table has every route', () => {
  const named = new Set(accessTable.map(({ operation }) => operation))
  expect(routes.filter(({ operation }) => !named.has(operation))).toEqual([])
  expect(routes).toHaveLength(160)
  expect(counts.cells).toBeGreaterThanOrEqual(160 * 12 * 4)
})

describe('a marker', () => {
  test('is in no export of anybody else', async () => {
    const run = createRunner({
      db: platform.db,
      clock: { now: () => Date.parse('2024-03-12T14:00:00Z') },
      handlers,
      secrets,
      environment: 'T',
    })
    const complaints: string[] = []
    let exported = 0
    for (const kind of callers) {
      const viewer = acquaintances[kind][0]
      const caller = await callerOf(platform.db.read, households[viewer].personId)
      for (const listing of listings)
        for (const words of [
          [],
          [`PersonId=${households[viewer].personId}`],
          [`StrategyId=${city.commonId}`],
        ]) {
          let text = ''
          try {
            for await (const page of exportListing(run, { listing, words, caller, host: undefined }))
              text += page
          } catch {
            continue // the listing needs other parameters, or is not for this person
          }
          exported += 1
          const leak = foreignTo(viewer).find((marker) => text.includes(marker))
          if (leak) complaints.push(`${listing} ${words} exported by ${viewer} shows ${leak}`)
        }
    }
    expect(complaints).toEqual([])
    expect(exported).toBeGreaterThan(100)
    console.log(`${exported} exports without a foreign marker`)
  })

  test('is in no log', () => {
    const markers = inhabitants.flatMap((name) => [markerOf(name), strategyMarkerOf(name)])
    const said = platform.logged.filter((line) => markers.some((marker) => line.includes(marker)))
    expect(said).toEqual([])
    expect(platform.errors).toEqual([])
  })
})

afterAll(() => {
  const { cells, in: letIn, forbidden, absent, rejected, leaksLookedFor } = counts
  console.log(
    `access: ${routes.length} routes, ${callers.length + 4} callers, ${relations.length} relations: ${cells} cells ` +
      `(${letIn} let in, ${forbidden} forbidden, ${absent} absent, ${rejected} without a key), ` +
      `${leaksLookedFor} times a foreign marker was looked for`,
  )
})
