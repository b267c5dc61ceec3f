/** GetStrategyMuxStatus tells a site whether the variants of strategies are in step with them, and what differs. */
import { beforeAll, describe, expect, test } from 'vitest'
import { buildFamily } from './support/family.ts'
import { answersToReaders } from './support/town.ts'

const { town, asked, status, quote, clock, variant, market, positions, audit } = await buildFamily()
let half = 0

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

describe('what differs', () => {
  beforeAll(async () => {
    half = Number(await variant())
    await market('2', 50)
  })

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
    const { town, status, quote, clock, variant, order } = await buildFamily()
    const { lonelyStrategyId: parentId } = town
    const made = await variant({ parentId })
    const poor = await variant({ parentId, name: 'Poor', startingCash: '100' })
    await order({ StrategyId: parentId, OrderType: '1', Side: '1', OrderQuantity: 103 })
    const actions = [{ kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 3, old: 2 }]
    await town.door('/corporate-actions', actions)
    // 103 and 51 are 154 and 76 now, and half of 154 is 77.
    const told = async (now: string, VariantGuid = made) => {
      await clock(now)
      const { Ok, SyncSummary } = await status({ VariantGuid })
      return [Ok, SyncSummary]
    }
    const differs = (DriftSecs: number) => [{ VariantGuid: made, InSync: false, DriftSecs }]
    expect(await told('2024-03-13T13:30:00Z')).toEqual(['1', differs(0)])
    expect(await told('2024-03-13T13:30:31Z')).toEqual(['0', differs(31)])
    expect(await told('2024-03-13T13:30:31Z', poor)).toMatchObject(['0', [{ DriftSecs: 23.5 * 3600 + 31 }]])
    await quote(66)
    expect(await told('2024-03-13T13:30:32Z')).toEqual([
      '1',
      [{ VariantGuid: made, InSync: true, DriftSecs: 0 }],
    ])
  })
})

describe('who may', () => {
  test.each([
    ...answersToReaders,
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
