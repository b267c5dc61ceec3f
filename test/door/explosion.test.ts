/**
 * A price explodes on the largest holdings there can be, and a fed account deals in more than any order may be for. The
 * books have room for it: nobody in the same batches suffers, and every reader is answered.
 */
import { beforeEach, expect, test } from 'vitest'
import { call, doorOf, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'

const platform = await testPlatform()
const door = doorOf(platform.url)

interface Side {
  readonly personId: number
  readonly key: string
  readonly strategyId: number
  readonly account: string
}
let sides: readonly Side[] = []
/** Of one who holds what explodes, one who is short of it, and one who holds what does not. */
const [long, short, good] = [0, 1, 2].map((place) => () => sides[place] as Side) as [
  () => Side,
  () => Side,
  () => Side,
]

const ask = (side: Side, method: string, path: string, body?: object) =>
  call(platform.url, `/gen${path}`, { method, key: side.key, body })

async function trade(side: Side, symbol: string, more: object): Promise<void> {
  const Order = {
    StrategyId: side.strategyId,
    OrderType: '1',
    TIF: '1',
    ...more,
    PlatformSymbol: { FullSymbol: symbol, SymbolType: 'stock' },
  }
  resultsOf(await ask(side, 'POST', '/Strategies/NewStrategyOrder', { Order }))
}

const quotes = (px: number, good: number) =>
  door('/quotes', [
    { symbol: 'PENNY', bid: px, ask: px },
    { symbol: 'GOOD', bid: good, ask: good },
  ])

async function makeSide(
  person: { personId: number; key: string },
  name: string,
  cash: number,
): Promise<Side> {
  const added = await call(platform.url, '/gen/Strategies/AddStrategy', {
    key: person.key,
    body: { StrategyName: name, StartingCapital: cash },
  })
  const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(added)
  await door('/accounts', [{ account: name, personId: person.personId, cash }])
  const side = { ...person, strategyId: StrategyId, account: name }
  await follow(side, 100)
  return side
}

const follow = async (side: Side, ScalingPercentage: number) => {
  const body = {
    Account: side.account,
    PersonId: side.personId,
    StrategyId: side.strategyId,
    StocksEnabled: true,
    ScalingPercentage,
  }
  expect((await ask(side, 'POST', '/Autotrade/StartAutotrade', body)).text).toBe('true')
}

beforeEach(async () => {
  await door('/reset', { now: '2024-03-12T14:00:00Z' })
  await door('/instruments', [
    { symbol: 'PENNY', securityType: 'CS', tick: 0.0001 },
    { symbol: 'GOOD', securityType: 'CS' },
  ])
  const names = ['long', 'short', 'good']
  const people = await door<{ personId: number; key: string }[]>(
    '/people',
    names.map((name) => ({ firstName: name, lastName: name, email: `${name}@example.org`, role: 'user' })),
  )
  sides = []
  for (const [place, name] of names.entries())
    sides = [...sides, await makeSide(people[place]!, name, place < 2 ? 10_000_000 : 100_000)]
  await quotes(0.0002, 100)
  await trade(long(), 'PENNY', { Side: '1', OrderQuantity: 9_000_000_000 })
  await trade(short(), 'PENNY', { Side: '2', OrderQuantity: 9_000_000_000 })
  await trade(good(), 'GOOD', { Side: '1', OrderQuantity: 100 })
})

const reads = ({ strategyId, personId, account }: Side) => [
  ...[
    'Details',
    'HistoricalOrders',
    'HistoricalEquity',
    'HistoricalDailyEquity',
    'HistoricalClosedTrades',
  ].map((name) => `/Strategies/GetStrategy${name}?StrategyId=${strategyId}`),
  ...['ActiveOrders', 'OpenPositions'].map(
    (name) => `/Strategies/GetStrategy${name}?StrategyIds=${strategyId}`,
  ),
  '/Strategies/GetLeaderBoard',
  '/Strategies/SearchStrategies',
  ...['ActiveOrders', 'HistoricalOrders'].map(
    (name) => `/Autotrade/GetAutotrade${name}?PersonId=${personId}&Account=${account}`,
  ),
  `/Autotrade/GetAutoTradeOpenPositions?Account=${account}`,
  ...['GetDashBoard', 'GetAutotradeSettings', 'GetAutotradedStrategies', 'SearchAccounts'].map(
    (name) => `/Autotrade/${name}?PersonId=${personId}&Account=${account}`,
  ),
  `/Strategies/GetSubscribers?StrategyId=${strategyId}`,
  `/Strategies/GetSubscriptionRevenue?StrategyId=${strategyId}`,
  `/Autotrade/GetAutotraders?StrategyId=${strategyId}`,
]

/** Every reader's answer, and what the auditor says. */
async function settle(): Promise<void> {
  for (const side of sides)
    for (const path of reads(side)) {
      const { status, text } = await ask(side, 'GET', path)
      expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, ''])
    }
  const { json } = await call(platform.url, '/test/audit')
  expect(json).toEqual({ violations: [] })
  expect(platform.errors).toEqual([])
}

/** What the good one shows; the others must not move it. */
async function goodValue(): Promise<number> {
  const { strategyId } = good()
  const details = await ask(good(), 'GET', `/Strategies/GetStrategyDetails?StrategyId=${strategyId}`)
  return resultsOf<{ ModelAccountValue: number }>(details)[0]?.ModelAccountValue ?? 0
}
const days = async () =>
  (
    await platform.db.read.rows<{ count: number }>`
      select count(*)::int as count from strategy_day group by strategy_id order by strategy_id`
  ).map(({ count }) => count)

const explosions = [
  ['beyond what money was kept in', 900],
  ['to the highest price there is', 999_999_999_999],
] as const

test.each(explosions)('a quote %s: marks, margin calls, copies, closes, statistics', async (_, px) => {
  await quotes(px, 101)
  expect(await goodValue()).toBe(100_100)
  await settle()
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await days()).toEqual([1, 1, 1])
  await quotes(px, 102)
  await trade(long(), 'PENNY', { Side: '2', OrderQuantity: 9_000_000_000 })
  await door('/clock', { now: '2024-03-14T14:00:00Z' })
  expect(await days()).toEqual([2, 2, 2])
  expect(await goodValue()).toBe(100_200)
  await settle()
})

test.each(explosions)('a bar %s: marks and the fills of the same batch', async (_, px) => {
  for (const side of [long(), good()])
    await trade(side, side === good() ? 'GOOD' : 'PENNY', {
      Side: '2',
      OrderType: '2',
      Limit: 100.5,
      OrderQuantity: 100,
    })
  const whole = (symbol: string, last: number) => ({ symbol, o: last, h: last, l: last, c: last })
  await door(
    '/bars',
    [whole('PENNY', px), whole('GOOD', 101)].map((bar) => ({ ...bar, t: '2024-03-12T14:00:00Z' })),
  )
  await settle()
  expect(await goodValue()).toBe(100_100)
})

test('a split of a holding, and a dividend on it', async () => {
  await door('/corporate-actions', [
    { kind: 'split', symbol: 'PENNY', date: '2024-03-13', new: 1_000_000, old: 1 },
    { kind: 'split', symbol: 'GOOD', date: '2024-03-13', new: 2, old: 1 },
    { kind: 'dividend', symbol: 'PENNY', date: '2024-03-14', amount: 1000 },
    { kind: 'dividend', symbol: 'GOOD', date: '2024-03-14', amount: 1 },
  ])
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  await quotes(0.0002, 50)
  await door('/clock', { now: '2024-03-14T14:00:00Z' })
  await settle()
  expect(await goodValue()).toBe(100_200)
})

test('an account that feeds a strategy deals in more than any order may be for', async () => {
  await door('/sites', [{ kind: 'geo', name: 'north', domain: 'north.example' }])
  const site = { site: 'north.example', lastName: 'Site' }
  const [feeder, admin] = await door<{ personId: number; key: string }[]>('/people', [
    { ...site, firstName: 'Feeder', email: 'feeder@example.org', role: 'user' },
    { ...site, firstName: 'Admin', email: 'admin@example.org', role: 'geosite_admin' },
  ])
  const { personId, key } = feeder!
  await door('/accounts', [{ account: 'feed', personId, cash: 1_000_000 }])
  const approval = await call(platform.url, '/geo/Autotrade/ApprovedBrokerTransmitAccount', {
    key: admin?.key,
    body: { Account: 'feed', PersonId: personId, BrokerId: 1, GeoSite: 'north' },
  })
  expect(approval.status).toBe(200)
  const fed = { personId, key, strategyId: 0, account: 'feed' }
  const added = await ask(fed, 'POST', '/Strategies/AddStrategy', { StrategyName: 'Fed', Account: 'feed' })
  const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(added)
  sides = [...sides, { ...fed, strategyId: StrategyId }]
  await follow({ ...long(), strategyId: StrategyId }, 1000)
  for (const side of ['buy', 'buy', 'sell'])
    await door('/broker', {
      execution: {
        account: 'feed',
        symbol: 'PENNY',
        side,
        qty: 900_000_000_000,
        px: 1_000_000,
        clientOrderId: null,
      },
    })
  await quotes(900, 101)
  await settle()
  await door('/clock', { now: '2024-03-13T14:00:00Z' })
  expect(await goodValue()).toBe(100_100)
  await settle()
})
