/** SearchStrategies: every filter alone and together, what is hidden from whom, pages both ways. */
import { describe, expect, test } from 'vitest'
import { seesStrategy } from '../../src/domain/people/access.ts'
import { loadStrategyFacts } from '../../src/storage/people/access.ts'
import { faultsOf, resultsOf } from '../support/http.ts'
import { type AskOptions, buildTown, type CitizenName } from './support/town.ts'

interface Card {
  readonly Id: number
  readonly StrategyId: number
  readonly StrategyName: string
  readonly [member: string]: unknown
}

const town = await buildTown()
const { platform, people, sites, door, ask, strategyId, lonelyStrategyId } = town
const { db } = platform

const add = async (owner: CitizenName, StrategyName: string): Promise<number> => {
  const params = { StrategyName, StartingCapital: 1000 }
  const answer = await ask('AddStrategy', params, { key: people[owner].key })
  return resultsOf<{ StrategyId: number }>(answer)[0]?.StrategyId ?? 0
}
await door('/clock', { now: '2024-03-13T14:00:00Z' })
const percent = await add('owner', '50% a_year')
const futures = await add('stranger', 'Trend of futures')
const secret = await add('holder', 'Secret trend')
await door('/strategies', [{ strategyId: secret, private: true, monthlyCost: 99.5, resellable: false }])
await door('/instruments', [
  { symbol: '@ESM24', securityType: 'FUT', pointValue: 1, tick: 0.25, initialMargin: 10 },
])
await door('/quotes', [{ symbol: '@ESM24', bid: 5000, ask: 5000.25 }])
const Order = {
  StrategyId: futures,
  OrderType: '2',
  Limit: 100,
  Side: '1',
  OrderQuantity: 1,
  TIF: '1',
  PlatformSymbol: { FullSymbol: '@ESM24', SymbolType: 'future' },
}
await ask('NewStrategyOrder', { Order }, { key: people.stranger.key })

const search = (params: object, options: AskOptions = {}) =>
  ask('SearchStrategies', params, { key: people.operator.key, ...options })
const idsOf = async (params: object, options?: AskOptions): Promise<number[]> =>
  resultsOf<Card>(await search(params, options)).map(({ Id }) => Id)

const all = [strategyId, lonelyStrategyId, percent, futures, secret]

test('a row has every member of the card, on each host its own', async () => {
  const [card] = resultsOf<Card>(await search({ StrategyName: 'Secret' }))
  const gen = {
    Id: secret,
    StrategyId: secret,
    IsAlive: true,
    IsPrivate: true,
    StrategyName: 'Secret trend',
    StartDate: '2024-03-13T14:00:00Z',
    MonthlyCost: 99.5,
    StrategyOwnerId: people.holder.personId,
    SecurityTypesEnabled: { Stocks: true, Options: true, Futures: true, Forex: true },
    WhiteLabelSiteId: sites.west,
  }
  expect(card).toEqual(gen)
  for (const host of ['Geo', 'WL'] as const) {
    const [own] = resultsOf<Card>(await search({ StrategyName: 'Secret' }, { host }))
    expect(own).toEqual({ ...gen, IsTradeOwnSystem: false, IsResellable: false })
  }
  const [platforms] = resultsOf<Card>(await search({ StrategyName: 'of futures' }))
  expect(platforms).not.toHaveProperty('WhiteLabelSiteId')
})

describe('filters', () => {
  test.each<[string, object, number[]]>([
    ['nothing: all', {}, all],
    ['a part of the name', { StrategyName: 'ren' }, [strategyId, futures, secret]],
    ['in any letter case', { StrategyName: 'TREND' }, [strategyId, futures, secret]],
    ['% stands for any text', { StrategyName: 'T%fut' }, [futures]],
    ['_ stands for one character', { StrategyName: 'T_end' }, [strategyId, futures, secret]],
    ['_ is not none', { StrategyName: 'Tr_end' }, []],
    ['both, around other signs', { StrategyName: '0_ a%ar' }, [percent]],
    ['a backslash is itself', { StrategyName: '50\\%' }, []],
    ['a quote is itself', { StrategyName: "'; drop table strategy; --" }, []],
    ['before a day', { CreatedBeforeDate: '2024-03-13' }, [strategyId, lonelyStrategyId]],
    ['before a moment', { CreatedBeforeDate: '2024-03-13T14:00:00Z' }, [strategyId, lonelyStrategyId]],
    ['before the next', { CreatedBeforeDate: '2024-03-13T14:00:01Z' }, all],
    ['an owner', { StrategyOwnerPersonId: people.owner.personId }, [strategyId, lonelyStrategyId, percent]],
    ['an owner without strategies', { StrategyOwnerPersonId: people.neighbour.personId }, []],
    ['an owner that cannot be', { StrategyOwnerPersonId: '9223372036854775807' }, []],
    ['a site', { WhiteLabelSiteId: sites.west }, [strategyId, lonelyStrategyId, percent, secret]],
    ['another site', { WhiteLabelSiteId: sites.east }, []],
    [
      'stocks: what traded them, and what has not traded',
      { SecurityType: 'CS' },
      [...[strategyId, lonelyStrategyId, percent, secret]],
    ],
    ['options: what has not traded', { SecurityType: 'OPT' }, [lonelyStrategyId, percent, secret]],
    [
      'all of them together',
      { StrategyName: 'trend', SecurityType: 'CS', WhiteLabelSiteId: sites.west },
      [...[strategyId, secret]],
    ],
  ])('%s', async (_, params, expected) => {
    if ('SecurityType' in params) await fillFuture()
    expect(await idsOf(params)).toEqual(expected)
  })

  test('an owner who trades it in a live account', async () => {
    const own = { host: 'Geo' } as const
    expect(await idsOf({ IsTradeOwnSystem: true }, own)).toEqual([])
    const { personId, key } = people.owner
    await door('/accounts', [
      { account: 'U7', personId, cash: 1000, kind: 'paper' },
      { account: 'U8', personId, cash: 1000 },
    ])
    const start = (Account: string) =>
      ask(
        'StartAutotrade',
        { Account, PersonId: personId, StrategyId: percent, StocksEnabled: true },
        { key },
      )
    expect((await start('U7')).status).toBe(200)
    expect(await idsOf({ IsTradeOwnSystem: true }, own)).toEqual([])
    expect((await start('U8')).status).toBe(200)
    expect(await idsOf({ IsTradeOwnSystem: true }, own)).toEqual([percent])
    expect(await idsOf({ IsTradeOwnSystem: false }, own)).toEqual(all.filter((id) => id !== percent))
  })

  test.each([
    ['a class that there is not', { SecurityType: 'XX' }, '1130 SecurityType'],
    ['a day that is none', { CreatedBeforeDate: '2024-13-01' }, '1130 CreatedBeforeDate'],
    ['an owner that is none', { StrategyOwnerPersonId: 'x' }, '1130 StrategyOwnerPersonId'],
    ['a host’s own filter elsewhere', { IsTradeOwnSystem: true }, '1130 IsTradeOwnSystem'],
    ['no rows', { Limit: 0 }, '1130 Limit'],
    ['a cursor of nobody', { Cursor: 'abc' }, '3003 Cursor'],
  ])('%s is refused', async (_, params, fault) => {
    const answer = await search(params)
    expect([answer.status, faultsOf(answer)]).toEqual([400, [fault]])
  })
})

let isFilled = false
async function fillFuture(): Promise<void> {
  if (isFilled) return
  isFilled = true
  await door('/quotes', [{ symbol: '@ESM24', bid: 90, ask: 90.25 }])
}

describe('what is private', () => {
  test.each(Object.keys(people) as CitizenName[])('is shown to %s as the rule says', async (name) => {
    const roles = { operator: 'platform_admin', westAdmin: 'whitelabel_admin', eastAdmin: 'whitelabel_admin' }
    const regions = { northAdmin: 'geosite_admin', southAdmin: 'geosite_admin' }
    const role = ({ ...roles, ...regions } as Record<string, string>)[name] ?? 'user'
    const { personId, key } = people[name]
    const { siteId } = await db.read.one<{ siteId: number }>`
      select site_id as "siteId" from person where id = ${personId}`
    const facts = await loadStrategyFacts(
      db.read,
      all,
      all.map(() => personId),
    )
    const caller = { personId, siteId, role: role as 'user' }
    const expected = all.filter((_, place) => facts[place] && seesStrategy(caller, facts[place]))
    expect(await idsOf({}, { key })).toEqual(expected)
    const seers = ['operator', 'holder', 'westAdmin', 'northAdmin']
    expect(expected.includes(secret)).toBe(seers.includes(name))
  })

  test('is shown to who follows it', async () => {
    await door('/strategies', [{ strategyId, private: true }])
    expect(await idsOf({ StrategyName: 'Trend' }, { key: people.holder.key })).toContain(strategyId)
    expect(await idsOf({ StrategyName: 'Trend' }, { key: people.neighbour.key })).not.toContain(strategyId)
    await door('/strategies', [{ strategyId, private: false }])
  })

  test('is shown to who simulates it, without its positions', async () => {
    const { personId, key } = people.neighbour
    await door('/subscriptions', [{ personId, strategyId, kind: 'simulated' }])
    await door('/strategies', [{ strategyId, private: true }])
    expect(await idsOf({ StrategyName: 'Trend' }, { key })).toContain(strategyId)
    expect((await ask('GetStrategyDetails', { StrategyId: strategyId }, { key })).status).toBe(200)
    const positions = await ask('GetStrategyOpenPositions', { StrategyIds: strategyId }, { key })
    expect([positions.status, ...faultsOf(positions)]).toEqual([403, '1002 StrategyIds'])
    await door('/strategies', [{ strategyId, private: false }])
  })

  test.each(['suspended', 'ended'])(
    'is shown no more to whose subscription is %s, nor are orders',
    async (status) => {
      const { personId, key } = people.holder
      await door('/strategies', [{ strategyId, private: true }])
      const setStatus = (to: string) =>
        db.write.run`
        update subscription set status = ${to}, ended_at = case when ${to} = 'ended' then started_at end,
          end_reason = case when ${to} = 'ended' then 'stopped' end
        where person_id = ${personId}::bigint and strategy_id = ${strategyId}::bigint`
      const positions = async () =>
        (await ask('GetStrategyOpenPositions', { StrategyIds: strategyId }, { key })).status
      const details = async () =>
        (await ask('GetStrategyDetails', { StrategyId: strategyId }, { key })).status
      expect([await positions(), await details()]).toEqual([200, 200])
      await setStatus(status)
      expect([await positions(), await details()]).toEqual([403, 404])
      expect(await idsOf({ StrategyName: 'Trend' }, { key })).not.toContain(strategyId)
      await setStatus('active')
      await door('/strategies', [{ strategyId, private: false }])
    },
  )

  test('needs a key', async () => expect((await search({}, { key: undefined })).status).toBe(401))
})

describe('pages', () => {
  interface Paged {
    Pagination?: { next_cursor?: string; prev_cursor?: string }
  }
  test.each([
    ['oldest first', true],
    ['newest first', false],
  ])('%s, one at a time, and back', async (_, AscendingOrder) => {
    const seen: number[] = []
    let cursor: string | undefined
    let back: string | undefined
    do {
      const params = { StrategyName: 'e', Limit: 1, AscendingOrder, ...(cursor && { Cursor: cursor }) }
      const answer = await search(params)
      const { next_cursor: next, prev_cursor } = (answer.json as Paged).Pagination ?? {}
      seen.push(...resultsOf<Card>(answer).map(({ Id }) => Id))
      cursor = next && decodeURIComponent(next)
      back = prev_cursor && decodeURIComponent(prev_cursor)
    } while (cursor)
    const named = await idsOf({ StrategyName: 'e' })
    expect(seen).toEqual(AscendingOrder ? named : named.toReversed())
    expect(seen.length).toBeGreaterThan(3)
    const before = await search({ StrategyName: 'e', Limit: 1, AscendingOrder, Cursor: back ?? '' })
    expect(resultsOf<Card>(before).map(({ Id }) => Id)).toEqual([seen.at(-2)])
    const elsewhere = await search({ StrategyName: 'o', Limit: 1, AscendingOrder, Cursor: back ?? '' })
    expect(elsewhere.status).toBe(400)
  })
})
