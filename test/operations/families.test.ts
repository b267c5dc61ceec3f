/** Variants of a strategy follow its orders by themselves, and GetStrategyMuxStatus says whether they are in step. */
import { beforeAll, describe, expect, test } from 'vitest'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { endVariant, insertVariant, type NewVariant } from '../../src/storage/strategies/variants.ts'
import { type Answer, call, resultsOf } from '../support/http.ts'
import { apple, buildTown, type CitizenName, type Town, townStart } from './support/town.ts'

let town: Town
let half = 0
beforeAll(async () => {
  town = await buildTown()
})

type Row = Record<string, unknown>
const asked = (params: object, who: CitizenName): Promise<Answer> =>
  town.ask('GetStrategyMuxStatus', params, { key: town.people[who].key, host: 'WL' })
const status = async (params: object = {}, who: CitizenName = 'westAdmin'): Promise<Row> => {
  const answer = await asked(params, who)
  expect(answer.status).toBe(200)
  expect(resultsOf(answer)).toHaveLength(1)
  return resultsOf<Row>(answer)[0] ?? {}
}
const quote = (price: number) => town.door('/quotes', [{ symbol: 'AAPL', bid: price, ask: price }])
const clock = (now: string) => town.door('/clock', { now })
const variant = async (more: Partial<NewVariant> = {}): Promise<number | string> => {
  const made = await town.platform.db.transaction((tx) =>
    insertVariant(tx, {
      parentId: town.strategyId,
      ownerPersonId: town.people.westAdmin.personId,
      name: 'Half',
      scalingPercentage: 50,
      securityTypes: ['CS'],
      startingCash: undefined,
      createdAt: Date.parse(townStart),
      ...more,
    }),
  )
  await quote(100)
  return made
}
const order = async (terms: object): Promise<number> => {
  const Order = { StrategyId: town.strategyId, TIF: '1', PlatformSymbol: apple, ...terms }
  const answer = await town.ask('NewStrategyOrder', { Order }, { key: town.people.owner.key })
  expect(answer.status).toBe(200)
  return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
}
const market = (Side: '1' | '2', OrderQuantity: number) => order({ OrderType: '1', Side, OrderQuantity })
const positions = async (id = half) =>
  resultsOf<Row>(
    await town.ask('GetStrategyOpenPositions', { StrategyIds: id }, { key: town.people.operator.key }),
  ).map(({ Quantity }) => Quantity)
const working = async (id = half) =>
  resultsOf<Row>(
    await town.ask('GetStrategyActiveOrders', { StrategyIds: id }, { key: town.people.operator.key }),
  ).map((row) => [row.Side, row.OpenClose, row.OrderType, row.OrderQuantity, row.Limit ?? row.Stop])
const ended = async (id = half) =>
  resultsOf<Row>(
    await town.ask(
      'GetStrategyHistoricalOrders',
      { StrategyId: id },
      { key: town.people.operator.key, host: 'WL' },
    ),
  ).map((row) => [row.Side, row.OrderType, row.FilledQuantity, row.OrderStatus])
const audit = async () =>
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })

describe('a site without variants', () => {
  test('is in order', async () => {
    expect(await status()).toEqual({
      FamilyGuid: 0,
      VariantGuid: 0,
      WhiteLabelSiteId: town.sites.west,
      WhiteLabelSiteName: 'west',
      Ok: '1',
      DriftGraceSecs: 30,
      Summary: { VariantRows: 0, ActiveExceptionCount: 0, VariantsWithInSync: 0 },
      ExceptionSummary: { ActiveExceptionCount: 0 },
      SyncSummary: [],
      SyncDetails: [],
      Exceptions: [],
    })
  })
})

describe('a variant', () => {
  test('opens what its parent holds and copies what it works', async () => {
    half = Number(await variant())
    expect(await positions()).toEqual([50])
    expect(await working(town.strategyId)).toEqual([['1', 'O', '2', 100, 90]])
    expect(await working()).toEqual([['1', 'O', '2', 50, 90]])
    const { cash, site } = await town.platform.db.read.one<{ cash: string; site: number }>`
      select starting_cash as cash, site_id as site from strategy where id = ${half}::bigint`
    expect([Number(cash), site]).toEqual([50_000, town.sites.west])
    await audit()
  })

  test('trades beside its parent: each order once, scaled and rounded down', async () => {
    const before = (await ended()).length
    await market('1', 3)
    expect(await positions(town.strategyId)).toEqual([103])
    expect(await positions()).toEqual([51])
    await market('2', 53)
    expect(await positions()).toEqual([25])
    expect((await ended()).slice(before)).toEqual([
      ['1', '1', 1, '2'],
      ['2', '1', 26, '2'],
    ])
    const { copies, corrections } = await town.platform.db.read.one<{ copies: number; corrections: number }>`
      select count(copied_signal_id)::int as copies, count(*)::int - count(copied_signal_id)::int as corrections
      from variant_order where variant_id = ${half}::bigint`
    expect([copies, corrections]).toEqual([3, 1])
    await audit()
  })

  test('follows replacements and cancels', async () => {
    const signal = await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 80 })
    expect(await working()).toContainEqual(['1', 'O', '2', 10, 80])
    const Order = {
      StrategyId: town.strategyId,
      TIF: '1',
      PlatformSymbol: apple,
      OrderType: '2',
      Side: '1',
      OrderQuantity: 40,
      Limit: 85,
      CancelReplaceSignalId: signal,
    }
    const key = town.people.owner.key
    const replaced = await town.ask('ReplaceStrategyOrder', { Order }, { key })
    expect(replaced.status).toBe(200)
    expect(await working()).toContainEqual(['1', 'O', '2', 20, 85])
    expect(await working()).toHaveLength(2)
    const { SignalId } = resultsOf<{ SignalId: number }>(replaced)[0] ?? { SignalId: 0 }
    const params = { StrategyId: town.strategyId, SignalId }
    expect((await town.ask('CancelStrategyOrder', params, { key })).status).toBe(200)
    expect(await working()).toEqual([['1', 'O', '2', 50, 90]])
    await audit()
  })

  test('follows a replacement to another type and time in force', async () => {
    const key = town.people.owner.key
    const replaced = async (CancelReplaceSignalId: number, terms: object) => {
      const Order = { StrategyId: town.strategyId, TIF: '1', PlatformSymbol: apple, Side: '1', ...terms }
      const params = { Order: { ...Order, CancelReplaceSignalId } }
      const answer = await town.ask('ReplaceStrategyOrder', params, { key })
      expect(answer.status).toBe(200)
      return resultsOf<{ SignalId: number }>(answer)[0]?.SignalId ?? 0
    }
    const stop = await order({ OrderType: '3', Side: '1', OrderQuantity: 20, Stop: 130, TIF: '0' })
    const limit = await replaced(stop, { OrderType: '2', OrderQuantity: 20, Limit: 85 })
    expect(await working()).toContainEqual(['1', 'O', '2', 10, 85])
    const kept = await replaced(limit, { OrderType: '2', OrderQuantity: 20, Limit: 85, TIF: '0' })
    const rows = await town.platform.db.read.rows`
      select o.copied_signal_id as copied, s.time_in_force as "timeInForce" from variant_order o
        join signal s on s.id = o.signal_id
      where o.variant_id = ${half}::bigint and s.status = '0' and s.limit_px = 85`
    expect(rows).toEqual([{ copied: kept, timeInForce: '0' }])
    await replaced(kept, { OrderType: '1', OrderQuantity: 20 })
    expect([await positions(town.strategyId), await positions()]).toEqual([[70], [35]])
    await market('2', 20)
    expect([await positions(town.strategyId), await positions()]).toEqual([[50], [25]])
    expect(town.platform.errors).toEqual([])
    await audit()
  })

  test('protects itself with the exits of its parent; one that fills ends the other', async () => {
    const exits = { ProfitTarget: 120, StopLoss: 70 }
    await order({ OrderType: '1', Side: '1', OrderQuantity: 10, ...exits })
    expect(await working()).toEqual(
      expect.arrayContaining([
        ['2', 'C', '2', 5, 120],
        ['2', 'C', '3', 5, 70],
      ]),
    )
    await quote(121)
    expect(await positions(town.strategyId)).toEqual([50])
    expect(await positions()).toEqual([25])
    expect(await working()).toEqual([['1', 'O', '2', 50, 90]])
    await quote(100)
    await audit()
  })

  test('turns with its parent', async () => {
    await market('2', 150)
    expect(await positions(town.strategyId)).toEqual([-100])
    await quote(100)
    expect(await positions()).toEqual([-50])
    await market('1', 150)
    await quote(100)
    expect([await positions(town.strategyId), await positions()]).toEqual([[50], [25]])
    expect(await status()).toMatchObject({
      Ok: '1',
      Summary: { VariantRows: 1, ActiveExceptionCount: 0, VariantsWithInSync: 1 },
      SyncSummary: [{ VariantGuid: half, InSync: true, DriftSecs: 0 }],
    })
    await audit()
  })
})

describe('what differs', () => {
  test('is told per variant, and per symbol of one that is named', async () => {
    const detail = {
      VariantGuid: half,
      Symbol: 'AAPL',
      ParentQuantity: 50,
      VariantQuantity: 25,
      ExpectedQuantity: 25,
    }
    expect(await status({ VariantGuid: half, FamilyGuid: town.strategyId })).toMatchObject({
      FamilyGuid: town.strategyId,
      VariantGuid: half,
      SyncDetails: [detail],
      Exceptions: [],
    })
    expect(await status({ FamilyGuid: town.lonelyStrategyId })).toMatchObject({ SyncSummary: [] })
    expect(await status({ VariantGuid: town.strategyId })).toMatchObject({ SyncSummary: [] })
  })

  test('is an exception once the grace is over, and counted from the fill that made it', async () => {
    await clock('2024-03-12T14:10:00Z')
    const poor = Number(
      await variant({ name: 'Poor', startingCash: '100', createdAt: Date.parse('2024-03-12T14:10:00Z') }),
    )
    expect(await positions(poor)).toEqual([])
    await clock('2024-03-12T14:10:20Z')
    const exception = {
      VariantGuid: poor,
      Symbol: 'AAPL',
      ParentQuantity: 50,
      VariantQuantity: 0,
      ExpectedQuantity: 25,
    }
    expect(await status()).toMatchObject({
      Ok: '1',
      Summary: { VariantRows: 2, ActiveExceptionCount: 0, VariantsWithInSync: 1 },
      SyncSummary: [
        { VariantGuid: half, InSync: true, DriftSecs: 0 },
        { VariantGuid: poor, InSync: false, DriftSecs: 20 },
      ],
      Exceptions: [],
    })
    expect(await status({ DriftGrace: 19 })).toMatchObject({
      Ok: '0',
      DriftGraceSecs: 19,
      Summary: { ActiveExceptionCount: 1 },
      SyncDetails: [],
      ExceptionSummary: { ActiveExceptionCount: 1 },
      Exceptions: [exception],
    })
    await clock('2024-03-12T14:10:31Z')
    expect(await status()).toMatchObject({ Ok: '0', Exceptions: [exception] })
    // What its book rejected is not tried again by itself, only with the parent's next order.
    const tries = async () =>
      (
        await town.platform.db.read.one<{ count: number }>`
          select count(*)::int as count from variant_order where variant_id = ${poor}::bigint`
      ).count
    const before = await tries()
    await quote(100)
    expect(await tries()).toBe(before)
    await market('1', 2)
    // The copy of the order, and once more what was missing before it.
    expect(await tries()).toBe(before + 2)
    await audit()
  })
})

describe('what a split makes differ', () => {
  test('differs since the split, and what differed before it since then', async () => {
    const other = await buildTown()
    const { lonelyStrategyId: parentId, people, door } = other
    const add = (name: string, startingCash?: string) =>
      other.platform.db.transaction((tx) =>
        insertVariant(tx, {
          parentId,
          ownerPersonId: people.westAdmin.personId,
          name,
          scalingPercentage: 50,
          securityTypes: ['CS'],
          startingCash,
          createdAt: Date.parse(townStart),
        }),
      )
    const made = await add('Half')
    const poor = await add('Poor', '100')
    await door('/quotes', [{ symbol: 'AAPL', bid: 100, ask: 100 }])
    const Order = { StrategyId: parentId, TIF: '1', OrderType: '1', Side: '1', PlatformSymbol: apple }
    const sent = { Order: { ...Order, OrderQuantity: 103 } }
    expect((await other.ask('NewStrategyOrder', sent, { key: people.owner.key })).status).toBe(200)
    await door('/corporate-actions', [{ kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 3, old: 2 }])
    // 103 and 51 are 154 and 76 now, and half of 154 is 77.
    const told = async (now: string, VariantGuid = made) => {
      await door('/clock', { now })
      const params = { VariantGuid }
      const answer = await other.ask('GetStrategyMuxStatus', params, {
        key: people.westAdmin.key,
        host: 'WL',
      })
      const [row] = resultsOf<Row>(answer)
      return [row?.Ok, row?.SyncSummary]
    }
    const differs = (DriftSecs: number) => [{ VariantGuid: made, InSync: false, DriftSecs }]
    expect(await told('2024-03-13T13:30:00Z')).toEqual(['1', differs(0)])
    expect(await told('2024-03-13T13:30:31Z')).toEqual(['0', differs(31)])
    expect(await told('2024-03-13T13:30:31Z', poor)).toMatchObject(['0', [{ DriftSecs: 23.5 * 3600 + 31 }]])
    await door('/quotes', [{ symbol: 'AAPL', bid: 66, ask: 66 }])
    expect(await told('2024-03-13T13:30:32Z')).toEqual([
      '1',
      [{ VariantGuid: made, InSync: true, DriftSecs: 0 }],
    ])
  })
})

describe('a variant that could not bear what its parent opened', () => {
  test('closes with it all the same', async () => {
    const StrategyId = town.lonelyStrategyId
    await order({ StrategyId, OrderType: '1', Side: '1', OrderQuantity: 100 })
    const small = Number(await variant({ name: 'Small', parentId: StrategyId, startingCash: '4000' }))
    expect(await positions(small)).toEqual([50])
    const ParkedUntilDate = '2024-03-12T14:10:40Z'
    for (let sale = 0; sale < 3; sale += 1)
      await order({ StrategyId, OrderType: '1', Side: '2', OrderQuantity: 100, ParkedUntilDate })
    await order({ StrategyId, OrderType: '1', Side: '1', OrderQuantity: 200 })
    expect([await positions(StrategyId), await positions(small)]).toEqual([[300], [50]])
    expect((await ended(small)).map(([, , , status]) => status)).toEqual(['2', '8'])
    await clock(ParkedUntilDate)
    await quote(100)
    expect([await positions(StrategyId), await positions(small)]).toEqual([[], []])
    await audit()
  })
})

describe('a variant that takes no orders', () => {
  test('opens nothing, and follows again when it does', async () => {
    const key = town.people.owner.key
    const changedAt = Date.UTC(2024, 2, 12)
    const SignalId = await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 80 })
    expect(await working()).toEqual([['1', 'O', '2', 10, 80]])
    await changeStrategy(town.platform.db.write, { strategyId: half, isAlive: false, changedAt })
    await market('1', 4)
    expect([await working(), await positions()]).toEqual([[], [26]])
    await changeStrategy(town.platform.db.write, { strategyId: half, isAlive: true, changedAt })
    await quote(100)
    expect(await positions()).toEqual([28])
    const params = { StrategyId: town.strategyId, SignalId }
    expect((await town.ask('CancelStrategyOrder', params, { key })).status).toBe(200)
    await market('2', 4)
    expect(await positions()).toEqual([26])
    await audit()
  })

  test('keeps at work what closes what it holds', async () => {
    const opening = await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 70 })
    const closing = await order({ OrderType: '2', Side: '2', OpenClose: 'C', OrderQuantity: 20, Limit: 200 })
    expect(await working()).toEqual([
      ['1', 'O', '2', 10, 70],
      ['2', 'C', '2', 10, 200],
    ])
    const changedAt = Date.parse('2024-03-12T14:10:00Z')
    const { write } = town.platform.db
    await changeStrategy(write, { strategyId: half, isAlive: false, changedAt })
    await quote(100)
    expect(await working()).toEqual([['2', 'C', '2', 10, 200]])
    await market('1', 2)
    expect([await working(), await positions()]).toEqual([[['2', 'C', '2', 10, 200]], [26]])
    await audit()
    await changeStrategy(write, { strategyId: half, isAlive: true, changedAt })
    await market('2', 2)
    expect(await working()).toEqual([['2', 'C', '2', 10, 200]])
    for (const SignalId of [opening, closing]) {
      const { key } = town.people.owner
      const params = { StrategyId: town.strategyId, SignalId }
      expect((await town.ask('CancelStrategyOrder', params, { key })).status).toBe(200)
    }
    expect([await working(), await positions()]).toEqual([[], [26]])
    await audit()
  })
})

describe('a variant that has ended', () => {
  test('withdraws its copies, keeps what it holds and is named no more', async () => {
    await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 80 })
    expect(await working()).toEqual([['1', 'O', '2', 10, 80]])
    const now = Date.parse('2024-03-12T14:11:00Z')
    expect(await town.platform.db.transaction((tx) => endVariant(tx, half, now))).toBe(true)
    await clock('2024-03-12T14:11:00Z')
    expect([await working(), await positions()]).toEqual([[], [26]])
    await market('1', 10)
    expect(await positions()).toEqual([26])
    expect(await status({ VariantGuid: half })).toMatchObject({ Summary: { VariantRows: 0 } })
    expect(await town.platform.db.transaction((tx) => endVariant(tx, half, now))).toBe(false)
    await audit()
  })

  test('no variant is made of one, of nothing, or for a person of no white-label site', async () => {
    const again = Number(await variant({ name: 'Again', securityTypes: ['FUT'] }))
    expect(await variant({ parentId: again })).toBe('parent')
    expect(await variant({ parentId: 999_999 })).toBe('parent')
    expect(await variant({ ownerPersonId: town.people.stranger.personId })).toBe('owner')
    expect(await positions(again)).toEqual([])
    expect(town.platform.errors).toEqual([])
  })
})

describe('who may', () => {
  test.each([
    ['westAdmin', {}, 200],
    ['northAdmin', {}, 403],
    ['stranger', {}, 403],
    ['holder', {}, 403],
    ['operator', {}, 400],
    ['westAdmin', { FamilyGuid: -1 }, 400],
    ['westAdmin', { VariantGuid: 'x' }, 400],
    ['westAdmin', { DriftGrace: -1 }, 400],
    ['westAdmin', { FamilyGuid: '9223372036854775807' }, 200],
  ] as const)('%s %j: %d', async (name, params, expected) => {
    expect((await asked(params, name)).status).toBe(expected)
  })

  test('other sites are the platform admin’s alone, and see none of it', async () => {
    const { west, east, north } = town.sites
    expect((await asked({ WhiteLabelSiteId: west }, 'eastAdmin')).status).toBe(403)
    expect((await asked({ WhiteLabelSiteId: north }, 'operator')).status).toBe(404)
    expect(await status({ WhiteLabelSiteId: east }, 'operator')).toMatchObject({ SyncSummary: [] })
    expect(await status({}, 'eastAdmin')).toMatchObject({ Summary: { VariantRows: 0 } })
  })
})
