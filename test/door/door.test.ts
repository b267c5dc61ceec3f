import { networkInterfaces } from 'node:os'
import { beforeEach, describe, expect, inject, test } from 'vitest'
import { startDoorPlatform } from '../../src/door/platform.ts'
import { silentLog } from '../support/database-server.ts'
import { call, faultsOf, resultsOf } from '../support/http.ts'
import { secrets, testPlatform } from '../support/platform.ts'

const platform = await testPlatform()
const door = (path: string, body?: unknown) =>
  call(platform.url, `/test${path}`, body === undefined ? {} : { body })

/** What a call answers when it must succeed. */
async function made<T = unknown>(path: string, body: unknown): Promise<T> {
  const answer = await door(path, body)
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.json as T
}

type Person = { personId: number; key: string }
const north = { kind: 'geo', name: 'North', domain: 'north.example' }
const ann = { firstName: 'Ann', lastName: 'Ash', email: 'ann@example.org', role: 'user' }

beforeEach(async () => {
  await made('/reset', { now: '2024-03-12T14:00:00Z' })
})

describe('reset', () => {
  test('begins with nothing but the built-in brokers, ids from 1, and takes little time', async () => {
    const first = await made<Person[]>('/people', [ann])
    const started = performance.now()
    await made('/reset', {})
    expect(performance.now() - started).toBeLessThan(1000)
    const second = await made<Person[]>('/people', [ann])
    expect(second[0]?.personId).toBe(first[0]?.personId)
    const brokers = await call(platform.url, '/gen/Autotrade/GetBrokers', { key: second[0]?.key })
    expect(resultsOf(brokers).map(({ Name }) => Name)).toEqual(['Scripted', 'Lockstep Paper'])
  })

  test('ends every key that was given out before, at once', async () => {
    const [person] = await made<Person[]>('/people', [ann])
    const hello = () => call(platform.url, '/gen/General/GetAccessKey', { key: person?.key })
    expect((await hello()).status).toBe(200)
    await made('/reset', {})
    expect((await hello()).status).toBe(401)
  })

  test('counts calls only when asked to', async () => {
    const calls = async () => {
      const [person] = await made<Person[]>('/people', [ann])
      const answers = []
      for (let count = 0; count < 101; count++)
        answers.push(await call(platform.url, '/gen/General/GetAccessKey', { key: person?.key }))
      return answers.filter(({ status }) => status === 429).length
    }
    expect(await calls()).toBe(0)
    await made('/reset', { limits: true })
    expect(await calls()).toBeGreaterThan(0)
    await made('/reset', { limits: true })
    const [person] = await made<Person[]>('/people', [ann])
    expect((await call(platform.url, '/gen/General/GetAccessKey', { key: person?.key })).status).toBe(200)
  })
})

describe('bodies are read strictly', () => {
  test.each([
    ['/reset', { now: '2024-13-01T00:00:00Z' }, '1130 now'],
    ['/reset', { nwo: '2024-03-12T00:00:00Z' }, '1130 nwo'],
    ['/reset', { commissions: 'some' }, '1130 commissions'],
    ['/clock', {}, '1130 now'],
    ['/clock', { now: '2024-03-12T13:59:59Z' }, '1130 now'],
    ['/instruments', [{ symbol: 'AAPL', securityType: 'STOCK' }], '1130 [0].securityType'],
    ['/instruments', [{ symbol: 'AAPL', securityType: 'CS', calendar: 'NOWHERE' }], '1130 [0].calendar'],
    ['/instruments', [{ symbol: 'AAPL', securityType: 'CS', tick: 0 }], '1130 [0].tick'],
    ['/quotes', [{ symbol: 'NONE', bid: 1, ask: 2 }], '1130 [0].symbol'],
    ['/quotes', [{ symbol: 'AAPL', bid: '1e400', ask: 2 }], '1130 [0].bid'],
    ['/quotes', ['AAPL'], '1130 [0]'],
    ['/people', [{ ...ann, role: 'king' }], '1130 [0].role'],
    ['/people', [{ ...ann, role: 'constructor' }], '1130 [0].role'],
    ['/people', [{ ...ann, site: 'nowhere' }], '1130 [0].site'],
    ['/people', [{ ...ann, role: 'geosite_admin' }], '1130 [0].site'],
    ['/people', [ann, ann], '1130 email'],
    ['/sites', [north, { ...north, domain: 'n.example' }], '1130 name'],
    ['/sites', [north, { ...north, name: 'N' }], '1130 domain'],
    ['/reset', { now: '0001-01-01T00:00:00Z' }, '1130 now'],
    ['/clock', { now: '9999-01-01T00:00:00Z' }, '1130 now'],
    ['/quotes', [{ symbol: 'AAPL', bid: 1e12, ask: 2 }], '1130 [0].bid'],
    ['/quotes', [{ symbol: 'AAPL', bid: '1e99', ask: 2 }], '1130 [0].bid'],
    ['/instruments', [{ symbol: 'AAPL', securityType: 'CS', pointValue: '1e50' }], '1130 [0].pointValue'],
    ['/instruments', [{ symbol: 'AAPL', securityType: 'CS', tick: '1e-13' }], '1130 [0].tick'],
    ['/people', [{ ...ann, lastName: 'a\0b' }], '1130 [0].lastName'],
    ['/quotes', [{ symbol: 'a\0b', bid: 1, ask: 2 }], '1130 [0].symbol'],
    ['/sites', [{ kind: 'geo', name: '\ud800' }], '1130 [0].name'],
    ['/accounts', [{ account: 'A', personId: 1, brokerId: 2_147_483_648, cash: 1 }], '1130 [0].brokerId'],
    ['/sites', [{ kind: 'planet', name: 'x', domain: 'x.example' }], '1130 [0].kind'],
    ['/accounts', [{ account: 'A', personId: 99, cash: 1 }], '1130 [0].personId'],
    ['/strategies', [{ strategyId: 99, private: true }], '1130 [0].strategyId'],
    ['/strategies', [{ strategyId: 1, private: 'yes' }], '1130 [0].private'],
    ['/bars', [{ symbol: 'AAPL', t: '2024-03-12', o: 1, h: 1, l: 1 }], '1130 [0].c'],
    ['/broker', {}, '1130'],
    ['/broker', { hold: true, down: true }, '1130'],
    ['/broker', { hold: 'yes' }, '1130 hold'],
    ['/broker', { reject: { account: 'NONE', text: 'x' } }, '1130 reject.account'],
    ['/broker', { partial: { account: 'NONE', qty: -1 } }, '1130 partial.qty'],
    ['/broker', { duplicate: 'NONE' }, '1130 duplicate'],
  ])('%s %j', async (path, body, fault) => {
    const answer = await door(path, body)
    expect([answer.status, faultsOf(answer)]).toEqual([400, [fault]])
  })

  test.each([0, '0', 'put'])('the code %j is understood', async (putOrCall) => {
    const put = { symbol: 'AAPL2414O100', securityType: 'OPT', underlying: 'AAPL', putOrCall, strike: 100 }
    await made('/instruments', [{ ...put, expiry: '2024-03-14' }])
    const rows = await platform.db.read.rows<{ code: string }>`
      select put_or_call as code from instrument where symbol = ${put.symbol}`
    expect(rows).toEqual([{ code: '0' }])
  })

  test('text that is no JSON', async () => {
    expect((await door('/quotes', '{')).status).toBe(400)
  })

  test('a list that fails half-way leaves nothing', async () => {
    const other = { ...ann, email: 'bob@example.org' }
    expect((await door('/people', [other, { ...ann, site: 77 }])).status).toBe(400)
    expect((await made<Person[]>('/people', [other])).length).toBe(1)
  })
})

test.each([
  [{ bust: 'X' }, 'bust'],
  [{ delink: 'nobody' }, 'delink'],
  [{ restrict: { account: 'nobody', kind: 'marginCall', text: '' } }, 'restrict.account'],
  [{ execution: { account: 'nobody', symbol: 'X', side: 'buy', qty: 1, px: 1 } }, 'execution.account'],
  [{ restrict: { account: 'A', kind: 'anger', text: '' } }, 'restrict.kind'],
])('the broker refuses %j', async (body, field) => {
  const answer = await door('/broker', body)
  expect([answer.status, faultsOf(answer)]).toEqual([400, [`1130 ${field}`]])
})

describe('people, sites and accounts', () => {
  test('a person belongs to the site that was named by id, name or domain', async () => {
    const [geo, wl] = await made<number[]>('/sites', [
      { kind: 'geo', name: 'North', domain: 'north.example' },
      { kind: 'whitelabel', name: 'West', domain: 'west.example' },
    ])
    const people = await made<Person[]>('/people', [
      { ...ann, role: 'geosite_admin', site: geo },
      { ...ann, email: 'b@example.org', role: 'whitelabel_admin', site: 'west.example' },
      { ...ann, email: 'c@example.org', role: 'wlAdmin', site: 'West' },
      { ...ann, email: 'd@example.org', role: 'platform_admin' },
    ])
    const rows = await platform.db.read.rows<{ role: string; site: number }>`
      select role, site_id as site from person order by id`
    expect(rows).toEqual([
      { role: 'geosite_admin', site: geo },
      { role: 'whitelabel_admin', site: wl },
      { role: 'whitelabel_admin', site: wl },
      { role: 'platform_admin', site: 1 },
    ])
    expect(new Set(people.map(({ key }) => key)).size).toBe(4)
  })

  test('accounts stand at the broker of their kind', async () => {
    const [person] = await made<Person[]>('/people', [ann])
    const { personId } = person as Person
    const account = (name: string, more: object = {}) => ({ account: name, personId, cash: 1000, ...more })
    await made('/accounts', [
      account('L'),
      account('P', { kind: 'paper' }),
      account('S', { kind: 'sim', currency: 'EUR' }),
      account('L', { brokerId: 7 }),
    ])
    expect((await door('/accounts', [account('Q', { kind: 'paper', brokerId: 1 })])).status).toBe(400)
    expect((await door('/accounts', [account('P', { kind: 'sim' })])).status).toBe(400)
    const rows = await platform.db.read.rows`
      select account, kind, broker_id as broker, currency, cash::float8 from account order by id`
    expect(rows).toEqual([
      { account: 'L', kind: 0, broker: 1, currency: 'USD', cash: 1000 },
      { account: 'P', kind: 1, broker: 2, currency: 'USD', cash: 1000 },
      { account: 'S', kind: 2, broker: 2, currency: 'EUR', cash: 1000 },
      { account: 'L', kind: 0, broker: 7, currency: 'USD', cash: 1000 },
    ])
  })
})

describe('the market', () => {
  const es = { symbol: '@ESM24', securityType: 'FUT', pointValue: 50, tick: 0.25, calendar: 'CME_GLOBEX' }

  test('a symbol that stands twice in a list is what its last line says', async () => {
    await made('/instruments', [es, { ...es, pointValue: 5 }])
    const rows = await platform.db.read.rows`
      select symbol, point_value::float8 as pv from instrument where root = 'ES'`
    expect(rows).toEqual([{ symbol: '@ESM24', pv: 5 }])
  })

  test('a computed number means the one that it is nearest to', async () => {
    await made('/instruments', [es])
    await made('/quotes', [{ symbol: '@ESM24', bid: 0.1 + 0.2, ask: 100 * 1.1 }])
    const rows = await platform.db.read.rows`select bid::text, ask::text from quote`
    expect(rows).toEqual([{ bid: '0.300000000000', ask: '110.000000000000' }])
  })

  test('an instrument may be quoted in any spelling, and its facts be replaced', async () => {
    await made('/instruments', [es, { symbol: 'EURUSD', securityType: 'FOR', tick: 0.0001 }])
    await made('/instruments', [{ ...es, pointValue: 5 }])
    await made('/quotes', [
      { symbol: '@ESM4', bid: 4999.75, ask: 5000 },
      { symbol: 'EUR/USD', bid: '1.0900', ask: '1.0901' },
    ])
    const rows = await platform.db.read.rows`
      select i.symbol, i.point_value::float8 as pv, i.tick::float8, q.bid::float8 from instrument i
      join quote q on q.instrument_id = i.id order by i.symbol desc`
    expect(rows).toEqual([
      { symbol: 'EURUSD', pv: 1000, tick: 0.0001, bid: 1.09 },
      { symbol: '@ESM24', pv: 5, tick: 0.25, bid: 4999.75 },
    ])
  })
})

describe('everything that a call causes has come to rest when it answers', () => {
  test('for fifty orders at once, a hundred followers and their fills', async () => {
    const [owner, fan] = await made<Person[]>('/people', [ann, { ...ann, email: 'fan@example.org' }])
    const strategy = await call(platform.url, '/gen/Strategies/AddStrategy', {
      key: owner?.key,
      body: { StrategyName: 'S', StartingCapital: 1_000_000 },
    })
    const [{ StrategyId = 0 } = {}] = resultsOf<{ StrategyId?: number }>(strategy)
    const names = Array.from({ length: 100 }, (_, place) => `F${place}`)
    await made(
      '/accounts',
      names.map((account) => ({ account, personId: fan?.personId, cash: 100_000 })),
    )
    for (const Account of names) {
      const body = {
        Account,
        PersonId: fan?.personId,
        StrategyId,
        StocksEnabled: true,
        ScalingPercentage: 10,
      }
      expect((await call(platform.url, '/gen/Autotrade/StartAutotrade', { key: fan?.key, body })).text).toBe(
        'true',
      )
    }
    await made('/instruments', [{ symbol: 'AAPL', securityType: 'CS' }])
    await made('/quotes', [{ symbol: 'AAPL', bid: 9.99, ask: 10 }])
    const Order = {
      StrategyId,
      OrderType: '1',
      Side: '1',
      OrderQuantity: 100,
      TIF: '0',
      PlatformSymbol: { FullSymbol: 'AAPL', SymbolType: 'stock' },
    }
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        call(platform.url, '/gen/Strategies/NewStrategyOrder', { key: owner?.key, body: { Order } }),
      ),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 50 }, () => 200))
    const held = await platform.db.read.rows`
      select quantity::float8, count(*)::int from account_position group by 1`
    expect(held).toEqual([{ quantity: 500, count: 100 }])
    expect((await door('/audit')).json).toEqual({ violations: [] })
  }, 120_000)
})

describe('the door stays shut', () => {
  const options = {
    port: 0,
    host: '127.0.0.1',
    secrets,
    keyEnvironment: 'test',
    environment: 'T',
    log: silentLog,
    hosts: { Gen: { dialect: 'native' }, Geo: { dialect: 'native' }, WL: { dialect: 'native' } },
    production: false,
    serverUrl: inject('databaseServer').url,
  } as const

  test('in production', async () => {
    await expect(startDoorPlatform({ ...options, production: true })).rejects.toThrow('production')
  })

  test('to any database but its own', async () => {
    for (const database of ['postgres', 'lockstep', 'my_lockstep_door'])
      await expect(startDoorPlatform({ ...options, database })).rejects.toThrow(database)
  })

  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === 'IPv4' && !internal)?.address

  test.skipIf(outside === undefined)('to callers from other machines, who see nothing there', async () => {
    const open = await startDoorPlatform({ ...options, host: '0.0.0.0', database: 'lockstep_door_outside' })
    try {
      const { port } = new URL(open.url)
      const answer = await call(`http://${outside}:${port}`, '/test/audit')
      expect([answer.status, faultsOf(answer)]).toEqual([404, ['3014']])
      expect((await call(`http://127.0.0.1:${port}`, '/test/audit')).status).toBe(200)
    } finally {
      await open.close()
    }
  })
})

describe('who gets in', () => {
  test('the books of an empty platform are sound, and nothing was delivered', async () => {
    expect((await door('/audit')).json).toEqual({ violations: [] })
    expect((await door('/webhooks')).json).toEqual([])
  })

  test('a call that does not exist is told so in the envelope', async () => {
    const answer = await door('/nothing', {})
    expect([answer.status, faultsOf(answer).length]).toEqual([404, 1])
  })
})
