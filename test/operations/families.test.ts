/** Variants of a strategy follow its orders by themselves, until one takes no orders or has ended. */
import { beforeAll, describe, expect, test } from 'vitest'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { endVariant } from '../../src/storage/strategies/variants.ts'
import { resultsOf } from '../support/http.ts'
import { buildFamily } from './support/family.ts'
import { apple } from './support/town.ts'

const { town, status, quote, clock, variant, order, market, positions, working, ended, audit } =
  await buildFamily()
let half = 0

describe('a variant', () => {
  test('opens what its parent holds and copies what it works', async () => {
    half = Number(await variant())
    expect(await positions(half)).toEqual([50])
    expect(await working(town.strategyId)).toEqual([['1', 'O', '2', 100, 90]])
    expect(await working(half)).toEqual([['1', 'O', '2', 50, 90]])
    const { cash, site } = await town.platform.db.read.one<{ cash: string; site: number }>`
      select starting_cash as cash, site_id as site from strategy where id = ${half}::bigint`
    expect([Number(cash), site]).toEqual([50_000, town.sites.west])
    await audit()
  })

  test('trades beside its parent: each order once, scaled and rounded down', async () => {
    const before = (await ended(half)).length
    await market('1', 3)
    expect(await positions(town.strategyId)).toEqual([103])
    expect(await positions(half)).toEqual([51])
    await market('2', 53)
    expect(await positions(half)).toEqual([25])
    expect((await ended(half)).slice(before)).toEqual([
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
    expect(await working(half)).toContainEqual(['1', 'O', '2', 10, 80])
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
    expect(await working(half)).toContainEqual(['1', 'O', '2', 20, 85])
    expect(await working(half)).toHaveLength(2)
    const { SignalId } = resultsOf<{ SignalId: number }>(replaced)[0] ?? { SignalId: 0 }
    const params = { StrategyId: town.strategyId, SignalId }
    expect((await town.ask('CancelStrategyOrder', params, { key })).status).toBe(200)
    expect(await working(half)).toEqual([['1', 'O', '2', 50, 90]])
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
    expect(await working(half)).toContainEqual(['1', 'O', '2', 10, 85])
    const kept = await replaced(limit, { OrderType: '2', OrderQuantity: 20, Limit: 85, TIF: '0' })
    const rows = await town.platform.db.read.rows`
      select o.copied_signal_id as copied, s.time_in_force as "timeInForce" from variant_order o
        join signal s on s.id = o.signal_id
      where o.variant_id = ${half}::bigint and s.status = '0' and s.limit_px = 85`
    expect(rows).toEqual([{ copied: kept, timeInForce: '0' }])
    await replaced(kept, { OrderType: '1', OrderQuantity: 20 })
    expect([await positions(town.strategyId), await positions(half)]).toEqual([[70], [35]])
    await market('2', 20)
    expect([await positions(town.strategyId), await positions(half)]).toEqual([[50], [25]])
    expect(town.platform.errors).toEqual([])
    await audit()
  })

  test('protects itself with the exits of its parent; one that fills ends the other', async () => {
    const exits = { ProfitTarget: 120, StopLoss: 70 }
    await order({ OrderType: '1', Side: '1', OrderQuantity: 10, ...exits })
    expect(await working(half)).toEqual(
      expect.arrayContaining([
        ['2', 'C', '2', 5, 120],
        ['2', 'C', '3', 5, 70],
      ]),
    )
    await quote(121)
    expect(await positions(town.strategyId)).toEqual([50])
    expect(await positions(half)).toEqual([25])
    expect(await working(half)).toEqual([['1', 'O', '2', 50, 90]])
    await quote(100)
    await audit()
  })

  test('turns with its parent', async () => {
    await market('2', 150)
    expect(await positions(town.strategyId)).toEqual([-100])
    await quote(100)
    expect(await positions(half)).toEqual([-50])
    await market('1', 150)
    await quote(100)
    expect([await positions(town.strategyId), await positions(half)]).toEqual([[50], [25]])
    expect(await status()).toMatchObject({
      Ok: '1',
      Summary: { VariantRows: 1, ActiveExceptionCount: 0, VariantsWithInSync: 1 },
      SyncSummary: [{ VariantGuid: half, InSync: true, DriftSecs: 0 }],
    })
    await audit()
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
  // Of 52 that its parent holds, it holds 26.
  beforeAll(() => market('1', 2))

  test('opens nothing, and follows again when it does', async () => {
    const key = town.people.owner.key
    const changedAt = Date.UTC(2024, 2, 12)
    const SignalId = await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 80 })
    expect(await working(half)).toEqual([['1', 'O', '2', 10, 80]])
    await changeStrategy(town.platform.db.write, { strategyId: half, isAlive: false, changedAt })
    await market('1', 4)
    expect([await working(half), await positions(half)]).toEqual([[], [26]])
    await changeStrategy(town.platform.db.write, { strategyId: half, isAlive: true, changedAt })
    await quote(100)
    expect(await positions(half)).toEqual([28])
    const params = { StrategyId: town.strategyId, SignalId }
    expect((await town.ask('CancelStrategyOrder', params, { key })).status).toBe(200)
    await market('2', 4)
    expect(await positions(half)).toEqual([26])
    await audit()
  })

  test('keeps at work what closes what it holds', async () => {
    const opening = await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 70 })
    const closing = await order({ OrderType: '2', Side: '2', OpenClose: 'C', OrderQuantity: 20, Limit: 200 })
    expect(await working(half)).toEqual([
      ['1', 'O', '2', 10, 70],
      ['2', 'C', '2', 10, 200],
    ])
    const changedAt = Date.parse('2024-03-12T14:10:00Z')
    const { write } = town.platform.db
    await changeStrategy(write, { strategyId: half, isAlive: false, changedAt })
    await quote(100)
    expect(await working(half)).toEqual([['2', 'C', '2', 10, 200]])
    await market('1', 2)
    expect([await working(half), await positions(half)]).toEqual([[['2', 'C', '2', 10, 200]], [26]])
    await audit()
    await changeStrategy(write, { strategyId: half, isAlive: true, changedAt })
    await market('2', 2)
    expect(await working(half)).toEqual([['2', 'C', '2', 10, 200]])
    for (const SignalId of [opening, closing]) {
      const { key } = town.people.owner
      const params = { StrategyId: town.strategyId, SignalId }
      expect((await town.ask('CancelStrategyOrder', params, { key })).status).toBe(200)
    }
    expect([await working(half), await positions(half)]).toEqual([[], [26]])
    await audit()
  })
})

describe('a variant that has ended', () => {
  test('withdraws its copies, keeps what it holds and is named no more', async () => {
    await order({ OrderType: '2', Side: '1', OrderQuantity: 20, Limit: 80 })
    expect(await working(half)).toEqual([['1', 'O', '2', 10, 80]])
    const now = Date.parse('2024-03-12T14:11:00Z')
    expect(await town.platform.db.transaction((tx) => endVariant(tx, half, now))).toBe(true)
    await clock('2024-03-12T14:11:00Z')
    expect([await working(half), await positions(half)]).toEqual([[], [26]])
    await market('1', 10)
    expect(await positions(half)).toEqual([26])
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
