/** What is heard of Alpaca: lost, late and repeated events, a history that is read again, and nonsense. */
import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { Following } from '../../src/execution/brokers/alpaca/following.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { saveCredentials } from '../../src/storage/people/credentials.ts'
import { testDatabase } from '../support/database.ts'
import { type AlpacaWorld, makeAlpacaScene, makeAlpacaWorld } from './alpaca-world.ts'

const { db } = await testDatabase()
const world: AlpacaWorld = await makeAlpacaWorld(db)
const { alpaca } = world
afterEach(() => {
  alpaca.fault = () => undefined
  alpaca.eventFault = () => undefined
  alpaca.distort = undefined
})
afterAll(() => world.close())

/** A limit order of 6 at 50 that works at Alpaca. */
async function working() {
  const one = await makeAlpacaScene(world)
  const signal = await one.order('1', '6', { limit: '50' })
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '0' }]))
  await world.until(async () => expect(alpaca.listeners(one.book)).toBe(1))
  return { ...one, signal }
}

const accountOf = (accountId: number) =>
  db.read.one`
    select is_sync_enabled as "isSynced", sync_disabled_reason as "syncReason",
      is_autotrade_disabled as "isDisabled", autotrade_disabled_reason as reason
    from account where id = ${accountId}`

const incidentsOf = async (accountId: number): Promise<string[]> =>
  (
    await db.read.rows<{ kind: string }>`
      select distinct kind from incident where (detail->>'accountId')::bigint = ${accountId} order by kind`
  ).map(({ kind }) => kind)

const executionsOf = (accountId: number) =>
  db.read.rows<{ execId: string; quantity: number; px: number }>`
    select exec_id as "execId", quantity::float8 as quantity, px::float8 as px from execution
    where account_id = ${accountId} and busts is null order by id`

const nextMinute = async (): Promise<void> => {
  world.clock.time += 61_000
  await world.drain()
}

describe('executions', () => {
  test('are booked once, however often and in whatever order they are told', async () => {
    const one = await working()
    const faults = ['delay', 'repeat', 'repeat'] as const
    let told = 0
    alpaca.eventFault = () => faults[told++]
    const ids = [one.fill(1, 49), one.fill(2, 49.5), one.fill(3, 50)]
    alpaca.release()
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '2', cumQty: 6 }]))
    expect((await executionsOf(one.accountId)).map(({ execId }) => execId).sort()).toEqual([...ids].sort())
    expect(await one.cash()).toBe(one.book.cash)
    expect(await auditViolations(db.read)).toEqual([])
  })

  test('that the stream lost come from the history, under the ids that the stream would have told', async () => {
    const one = await working()
    alpaca.eventFault = () => 'drop'
    const id = one.fill(6, 49)
    alpaca.eventFault = () => undefined
    await nextMinute()
    await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '2' }]))
    expect(await executionsOf(one.accountId)).toEqual([{ execId: id, quantity: 6, px: 49 }])
    expect(await incidentsOf(one.accountId)).toEqual([])
  })

  test('and ends that fell into a break of the stream are learnt when it is back', async () => {
    const [one, other] = [await working(), await working()]
    alpaca.cutStreams()
    await world.until(async () => expect(alpaca.listeners()).toBe(0))
    one.fill(2, 49)
    const [order] = other.theirs()
    if (order) alpaca.books.end(other.book, order, 'expired')
    await world.until(async () => {
      expect(await one.orders()).toMatchObject([{ status: '1', cumQty: 2 }])
      expect(await other.orders()).toMatchObject([{ status: 'C' }])
    })
  })

  test('that happened while no worker ran are caught up within two days', async () => {
    const one = await working()
    alpaca.eventFault = () => 'drop'
    const id = one.fill(6, 49)
    world.clock.time += 40 * 3_600_000
    const another = await world.anotherWorker()
    await db.write.run`update lease set expires_at = now() where name = 'follow:alpaca'`
    await world.until(async () => {
      await another.drain()
      expect(await executionsOf(one.accountId)).toEqual([{ execId: id, quantity: 6, px: 49 }])
    })
    await another.close()
  })

  test.each(['stream', 'history'] as const)('are taken back and corrected: %s', async (by) => {
    const one = await working()
    const [busted, wrong] = [one.fill(2, 49), one.fill(4, 50)]
    await world.until(async () => expect(await one.held()).toBe(6))
    if (by === 'history') alpaca.eventFault = () => 'drop'
    alpaca.books.bust(one.book, busted)
    alpaca.books.correct(one.book, wrong, 3, 49)
    alpaca.eventFault = () => undefined
    await nextMinute()
    await world.until(async () => expect(await one.held()).toBe(3))
    expect(await one.cash()).toBe(one.book.cash)
    expect(one.holdings()).toBe(3)
    expect(await auditViolations(db.read)).toEqual([])
  })

  test('of nobody here are the owner’s, and AutoSync goes off', async () => {
    const one = await working()
    const manual = alpaca.books.place(one.book, {
      symbol: one.symbol,
      side: 'buy',
      type: 'market',
      qty: '3',
      client_order_id: 'by-hand',
    })
    alpaca.books.execute(one.book, manual, 3, 51)
    await world.until(async () =>
      expect(await accountOf(one.accountId)).toMatchObject({
        isSynced: false,
        syncReason: 'ExternalExecution',
        isDisabled: false,
      }),
    )
    expect(await one.held()).toBe(0)
  })
})

test('an execution finer than any book is nothing, and holds up nothing', async () => {
  const one = await working()
  const parts = { symbol: one.symbol, side: 'buy', type: 'market', qty: '3', client_order_id: 'by-hand' }
  const manual = alpaca.books.place(one.book, parts)
  const tiny = { execution_id: 'tiny', qty: '0.000000004', price: '50' }
  const data = { ...tiny, event: 'partial_fill', order: { ...manual, filled_qty: '0.000000004' } }
  alpaca.say(one.book, { stream: 'trade_updates', data })
  one.fill(6, 50, 0)
  await world.until(async () => expect(await one.orders()).toMatchObject([{ status: '2', cumQty: 6 }]))
  expect(await incidentsOf(one.accountId)).toEqual([])
})

describe('an order of ours', () => {
  test('that somebody else replaced has ended', async () => {
    const one = await working()
    const [order] = one.theirs()
    if (order) alpaca.books.replace(one.book, order, { client_order_id: 'by-hand', limit_price: '40' })
    await world.until(async () => expect((await one.orders())[0]).toMatchObject({ status: '4' }))
  })

  test('that somebody else canceled has ended', async () => {
    const one = await working()
    const [order] = one.theirs()
    if (order) alpaca.books.cancel(one.book, order, false)
    await world.until(async () => expect((await one.orders())[0]).toMatchObject({ status: '4' }))
  })
})

describe('nonsense', () => {
  test.each<[string, unknown]>([
    ['a fill without an id', { event: 'fill', qty: '6', price: '50' }],
    ['a fill of NaN', { event: 'fill', execution_id: 'x', qty: 'NaN', price: '50' }],
    ['a fill of nothing', { event: 'fill', execution_id: 'x', qty: '0', price: '50' }],
    ['a fill at a negative price', { event: 'fill', execution_id: 'x', qty: '6', price: '-50' }],
    ['a fill in the exponent', { event: 'fill', execution_id: 'x', qty: '6e0', price: '50' }],
  ])('on the stream is told to the operator and not booked: %s', async (_, said) => {
    const one = await working()
    const [order] = one.theirs()
    alpaca.say(one.book, { stream: 'trade_updates', data: { ...(said as object), order } })
    await world.until(async () => expect(await incidentsOf(one.accountId)).toEqual(['MalformedAnswer']))
    expect(await executionsOf(one.accountId)).toEqual([])
    expect(await one.orders()).toMatchObject([{ status: '0' }])
  })

  test.each<[string, (path: string, body: unknown) => unknown]>([
    ['positions that are no list', (path, body) => (path === '/v2/positions' ? { message: 'ok' } : body)],
    ['a position of NaN', (path, body) => (path === '/v2/positions' ? [nanPosition] : body)],
    ['orders without numbers', (path, body) => (path === '/v2/orders' ? [{ id: 'x' }] : body)],
    ['cash of NaN', (path, body) => (path === '/v2/account' ? { ...(body as object), cash: 'NaN' } : body)],
  ])('about what an account holds changes nothing: %s', async (_, distort) => {
    const one = await working()
    one.fill(6, 50)
    await world.until(async () => expect(await one.held()).toBe(6))
    alpaca.distort = distort
    for (let minutes = 0; minutes < 4; minutes += 1) await nextMinute()
    expect(await incidentsOf(one.accountId)).toEqual(['MalformedAnswer'])
    expect(await accountOf(one.accountId)).toMatchObject({ isSynced: true, isDisabled: false })
    expect(await one.held()).toBe(6)
  })

  test('a history that breaks off is read again', async () => {
    const one = await working()
    alpaca.eventFault = () => 'drop'
    one.fill(6, 50)
    alpaca.distort = (path, body) =>
      path.includes('activities') ? `${body}\n: internal server error\n` : body
    await nextMinute()
    expect(await one.held()).toBe(0)
    alpaca.distort = undefined
    await nextMinute()
    await world.until(async () => expect(await one.held()).toBe(6))
  })
})

const nanPosition = { symbol: 'T1', qty: 'NaN', side: 'long' }

describe('an account', () => {
  test('whose key belongs to another is never spoken for', async () => {
    const [one, other] = [await makeAlpacaScene(world), await makeAlpacaScene(world)]
    const { keyId, secret } = other.book
    await saveCredentials(db.write, world.keyRing, one.accountId, { userName: keyId, password: secret }, 1)
    await one.order('1', '6', { limit: '50' })
    await world.until(async () =>
      expect(await one.orders()).toMatchObject([
        { status: '8', rejectText: 'the key belongs to another account at Alpaca' },
      ]),
    )
    expect([...one.theirs(), ...other.theirs()]).toEqual([])
    expect(await incidentsOf(one.accountId)).toContain('ForeignAccount')
  })

  test('without a key gets no orders out', async () => {
    const one = await makeAlpacaScene(world)
    await db.write.run`delete from account_credential where account_id = ${one.accountId}`
    await one.order('1', '6', { limit: '50' })
    await world.until(async () =>
      expect(await one.orders()).toMatchObject([
        { status: '8', rejectText: 'the account has no key for Alpaca' },
      ]),
    )
  })

  test('goes on under a new key', async () => {
    const one = await working()
    one.book.secret = 'changed'
    await saveCredentials(
      ...[db.write, world.keyRing, one.accountId],
      { userName: undefined, password: 'changed' },
      world.clock.now() + 1,
    )
    one.fill(6, 50)
    await world.until(async () => expect(await one.held()).toBe(6))
  })

  test('that Alpaca has blocked is restricted, once', async () => {
    const one = await working()
    one.book.isBlocked = true
    for (let minutes = 0; minutes < 3; minutes += 1) await nextMinute()
    expect(await accountOf(one.accountId)).toMatchObject({
      isDisabled: true,
      reason: 'AccountRestricted: the account is blocked at Alpaca',
    })
  })

  test('that is blocked and tells nothing else is restricted as well', async () => {
    const one = await working()
    one.book.isBlocked = true
    alpaca.fault = (_, path) => (path === '/v2/positions' ? 'error' : undefined)
    for (let minutes = 0; minutes < 3; minutes += 1) await nextMinute()
    expect(await accountOf(one.accountId)).toMatchObject({ isDisabled: true })
  })

  test('is heard of also while its owner works a spread, which has neither symbol nor side', async () => {
    const one = await working()
    const [order] = one.theirs()
    const spread = { ...order!, id: 'spread', client_order_id: 'by-hand', symbol: '', side: '' as 'buy' }
    one.book.orders.set('spread', spread)
    one.book.isBlocked = true
    for (let minutes = 0; minutes < 3; minutes += 1) await nextMinute()
    expect(await accountOf(one.accountId)).toMatchObject({ isDisabled: true })
    expect(await incidentsOf(one.accountId)).toEqual([])
  })

  test('whose key Alpaca refuses twice is no longer ours', async () => {
    const one = await working()
    one.book.secret = 'revoked'
    await nextMinute()
    expect(await accountOf(one.accountId)).toMatchObject({ isDisabled: false })
    // A minute in which Alpaca is not reached, as on a busy machine, refuses nothing.
    await world.until(async () => {
      await nextMinute()
      expect(await accountOf(one.accountId)).toMatchObject({
        isDisabled: true,
        reason: 'BrokerDelinked: Alpaca refuses the key',
      })
    })
  })

  test('tells what becomes of a spread of its owner’s, and that is no nonsense', async () => {
    const one = await working()
    const [order] = one.theirs()
    const spread = { ...order, client_order_id: 'by-hand', order_class: 'mleg', symbol: '', side: '' }
    for (const event of ['new', 'fill', 'canceled'])
      alpaca.say(one.book, { stream: 'trade_updates', data: { event, order: spread } })
    one.fill(6, 50)
    await world.until(async () => expect(await one.held()).toBe(6))
    expect(await incidentsOf(one.accountId)).toEqual([])
  })

  test('whose owner traded a spread has a history that can be read', async () => {
    const one = await working()
    const [order] = one.theirs()
    const spread = { ...order!, id: 'spread', client_order_id: 'by-hand', symbol: '', side: '' as 'buy' }
    one.book.orders.set('spread', { ...spread, status: 'filled' })
    alpaca.eventFault = () => 'drop'
    one.fill(6, 50, 0)
    const [event] = one.book.history
    const details = { ...(event?.details as object), client_order_id: undefined, order_id: 'spread' }
    one.book.history.unshift({ ...event, event_id: 'leg', ref_id: 'leg', details })
    await nextMinute()
    await world.until(async () => expect(await one.held()).toBe(6))
    expect(await incidentsOf(one.accountId)).toEqual(['ExternalExecution'])
  })
})

test('one worker of two holds the streams, and the other takes over', async () => {
  const one = await working()
  const streams = alpaca.listeners()
  const another = await world.anotherWorker()
  await another.drain()
  expect(alpaca.listeners()).toBe(streams)
  await another.close()
  one.fill(6, 50)
  await world.until(async () => expect(await one.held()).toBe(6))
})

test('while the link is down no account is asked whether its key is good', async () => {
  let isUp = false
  let asked = 0
  const of = async () => {
    asked += 1
    return []
  }
  const following = new Following('alone', { of }, () => isUp)
  const look = async (): Promise<number> => {
    for (const { name, run } of following.steps()) if (name === 'follow alone') await run(world.ctx)
    return asked
  }
  expect(await look()).toBe(0)
  isUp = true
  await expect.poll(look, { timeout: 10_000 }).toBe(1)
  await following.close()
})

test('no secret is told to the log or the rows', async () => {
  const rows = await db.read.rows<{ text: string }>`
    select detail::text as text from incident union all select r::text from broker_report r
    union all select o::text from account_order o union all select a::text from account a`
  const told = [inspect(world.logged, { depth: 12 }), ...rows.map(({ text }) => text)].join('\n')
  expect(told).toContain('KEY-')
  expect(told).not.toMatch(/secret-/)
})

// The last: where the steady clock goes back, nothing is looked at before it has caught up.
describe('a stream', () => {
  let passed = 0
  beforeAll(() => {
    const { now } = performance
    vi.spyOn(performance, 'now').mockImplementation(() => now.call(performance) + passed)
  })
  afterAll(() => vi.restoreAllMocks())

  test('that opens and is not answered is opened anew', async () => {
    const one = await working()
    alpaca.isMute = true
    alpaca.cutStreams()
    await expect.poll(() => alpaca.listeners(), { timeout: 10_000 }).toBe(0)
    await expect.poll(() => alpaca.heard, { timeout: 20_000 }).toContain('passed over')
    alpaca.isMute = false
    passed += 46_000
    await world.until(async () => expect(alpaca.listeners(one.book)).toBe(1))
  })

  test('whose key is refused is not opened anew at each look', async () => {
    const one = await working()
    const { keyId, secret } = one.book
    const turnedAway = () => alpaca.heard.filter((what) => what === `turned away ${keyId}`).length
    one.book.secret = 'revoked'
    alpaca.cutStreams()
    await world.until(async () => expect(turnedAway()).toBe(1))
    for (let looks = 0; looks < 5; looks += 1) {
      passed += 1_000
      await world.drain()
      await delay(100)
    }
    expect(turnedAway()).toBe(1)
    one.book.secret = secret
    passed += 46_000
    await world.until(async () => expect(alpaca.listeners(one.book)).toBe(1))
  })
})
