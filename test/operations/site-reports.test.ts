/** What a white-label site is told about its customers' fills that left their strategy's. */
import { beforeAll, describe, expect, test } from 'vitest'
import { siteReports } from './support/site-reports.ts'
import { answersToReaders, holderAccount, type Town } from './support/town.ts'

const { asked, one, rest, copyOf, execute, quote, clock, audit, buildAnew } = siteReports()
let town: Town
beforeAll(async () => {
  town = await buildAnew()
})

const none = {
  TotalExceptionFills: 0,
  FavorableFillCount: 0,
  UnfavorableFillCount: 0,
  RthFillCount: 0,
  EthFillCount: 0,
}

describe('fills that left their strategy', () => {
  test('fills beside the strategy’s are none', async () => {
    expect(one(await asked('GetRule575Status', {}))).toEqual({
      ExceptionSummary: none,
      Exceptions: [],
      Rule575: [],
    })
  })

  test('a worse price, a better one outside regular hours, and two ticks that are tolerated', async () => {
    const worse = await rest(95, 10)
    await clock('2024-03-12T14:00:05Z')
    await execute(worse.copy, 95.05, 10)
    await quote(95)
    const tolerated = await rest(94.5, 10)
    await execute(tolerated.copy, 94.52, 10)
    await quote(94.5)
    const better = await rest(94, 10)
    await clock('2024-03-12T21:00:00Z')
    await execute(better.copy, 93.9, 10)
    await clock('2024-03-13T14:00:00Z')
    await quote(94)
    const common = {
      StrategyId: town.strategyId,
      StrategyName: 'Trend',
      Account: holderAccount,
      Symbol: 'AAPL',
    }
    const summary = {
      TotalExceptionFills: 2,
      FavorableFillCount: 1,
      UnfavorableFillCount: 1,
      RthFillCount: 1,
      EthFillCount: 1,
      AvgSlippageTicks: -2.5,
      MaxAbsSlippageTicks: 10,
      AvgDelaySec: 12_600,
      P90DelaySec: 25_195,
    }
    expect(one(await asked('GetRule575Status', {}))).toEqual({
      ExceptionSummary: summary,
      Exceptions: [
        {
          ...common,
          SignalId: better.signal,
          StrategyFillPrice: 94,
          AccountFillPrice: 93.9,
          SlippageTicks: -10,
          DelaySec: 25_195,
          Session: 'ETH',
          FilledUtc: '2024-03-12T21:00:00Z',
        },
        {
          ...common,
          SignalId: worse.signal,
          StrategyFillPrice: 95,
          AccountFillPrice: 95.05,
          SlippageTicks: 5,
          DelaySec: 5,
          Session: 'RTH',
          FilledUtc: '2024-03-12T14:00:05Z',
        },
      ],
      Rule575: [{ Group: 'Trend', ...summary }],
    })
    await audit()
  })

  test('by session, by group and by days', async () => {
    const groups = async (params: object) =>
      (one(await asked('GetRule575Status', params)).Rule575 as Record<string, unknown>[]).map(
        ({ Group, TotalExceptionFills }) => [Group, TotalExceptionFills],
      )
    expect(await groups({ Session: 'RTH', GroupBy: 'instrument' })).toEqual([['AAPL', 1]])
    const sessions = async (Session: string) =>
      (one(await asked('GetRule575Status', { Session })).Exceptions as Record<string, unknown>[]).map(
        (found) => found.Session,
      )
    expect([await sessions('RTH'), await sessions('ETH')]).toEqual([['RTH'], ['ETH']])
    expect(await groups({ Session: 'ETH', GroupBy: 'manager' })).toEqual([[expect.any(String), 1]])
    await clock('2024-03-13T20:59:59Z')
    expect(await groups({ Days: 1 })).toEqual([['Trend', 1]])
    await clock('2024-03-13T21:00:00Z')
    expect(await groups({ Days: 1 })).toEqual([])
    expect(await groups({ Days: 36_500 })).toEqual([['Trend', 2]])
    expect((await asked('GetRule575Status', { Session: 'rth' })).status).toBe(400)
    expect((await asked('GetRule575Status', { Days: 0 })).status).toBe(400)
  })

  test('an execution that is taken back is none', async () => {
    const { copy } = await rest(92, 10)
    const { execId } = (await execute(copy, 91, 10)) as { execId: string }
    const count = async () => (one(await asked('GetRule575Status', {})).Exceptions as unknown[]).length
    await clock('2024-03-14T14:00:00Z')
    await quote(92)
    expect(await count()).toBe(3)
    await town.door('/broker', { bust: execId })
    expect(await count()).toBe(2)
    await audit()
  })

  test('a sale for less is worse, and a fill long before the strategy’s is one at the same price, too', async () => {
    await clock('2024-03-15T14:00:00Z')
    await quote(100)
    // Of the twenty the account, from which ten were taken back, has ten.
    const sale = await rest(101, 20, '2')
    await execute(sale.copy, 100.9, 10, '2')
    await quote(101.01)
    const early = await rest(95, 10)
    await clock('2024-03-15T14:00:10Z')
    await execute(early.copy, 95, 10)
    await clock('2024-03-15T16:00:00Z')
    await quote(95)
    const found = one(await asked('GetRule575Status', { Days: 1 })).Exceptions as Record<string, unknown>[]
    expect(found.map(({ SignalId, SlippageTicks }) => [SignalId, SlippageTicks])).toEqual([
      [early.signal, 0],
      [sale.signal, 10],
    ])
    await audit()
  })
})

describe('what an execution is held against', () => {
  const rows = async (params: object = {}) =>
    one(await asked('GetRule575Status', params)).Exceptions as Record<string, unknown>[]
  beforeAll(async () => {
    town = await buildAnew()
  })

  test('the average of the strategy’s fills, each by its quantity', async () => {
    const { signal, copy } = await rest(95, 20)
    await execute(copy, 94.27, 10)
    await execute(copy, 94.3, 10)
    await quote(94)
    await town.platform.db.write.run`
      with whole as (update fill set quantity = 15 where signal_id = ${signal} returning fill.*)
      insert into fill (exec_id, signal_id, strategy_id, instrument_id, side, quantity, px, fx, cash_change, filled_at)
      select exec_id || '/2', signal_id, strategy_id, instrument_id, side, 5, 95, fx, cash_change, filled_at from whole`
    expect(await rows()).toMatchObject([
      { StrategyFillPrice: 94.25, AccountFillPrice: 94.3, SlippageTicks: 5 },
    ])
  })

  test('the moment its signal began to work, not the one at which it was placed', async () => {
    const parent = await rest(93, 10)
    const child = await rest(92, 10, '1', { ParentSignalId: parent.signal })
    await clock('2024-03-12T15:00:00Z')
    await quote(93)
    await clock('2024-03-12T15:00:07Z')
    await execute(await copyOf(child.signal), 92.1, 10)
    await quote(92)
    expect(await rows({ Days: 1 })).toMatchObject([{ SignalId: child.signal, DelaySec: 7 }, {}])
  })

  test('a paper account is held against it, a simulated one is not', async () => {
    const { personId, key } = town.people.holder
    for (const kind of ['paper', 'sim']) {
      await town.door('/accounts', [{ account: kind, personId, kind, cash: 50_000 }])
      const setup = { Account: kind, PersonId: personId, StrategyId: town.strategyId, StocksEnabled: true }
      expect((await town.ask('StartAutotrade', setup, { key })).status).toBe(200)
    }
    const { signal } = await rest(90.5, 10)
    for (const kind of ['paper', 'sim']) await execute(await copyOf(signal, kind), 90.6, 10, '1', kind)
    await quote(90.5)
    const found = (await rows()).filter(({ SignalId }) => SignalId === signal)
    expect(found.map(({ Account }) => Account)).toEqual(['paper'])
  })
})

test('an execution is held against the strategy’s price in its own units where a split lies between them', async () => {
  town = await buildAnew()
  const early = await rest(80, 10)
  await execute(early.copy, 80, 10)
  const late = await rest(90, 10)
  await quote(90)
  const split = { kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 2, old: 1 }
  await town.door('/corporate-actions', [split])
  await clock('2024-03-13T14:00:00Z')
  await execute(late.copy, 45.03, 2)
  await quote(40)
  const found = one(await asked('GetRule575Status', {})).Exceptions as Record<string, unknown>[]
  const prices = found.map((row) => [
    row.SignalId,
    row.StrategyFillPrice,
    row.AccountFillPrice,
    row.SlippageTicks,
  ])
  expect(prices).toEqual([
    [late.signal, 45, 45.03, 3],
    [early.signal, 80, 80, 0],
  ])
})

describe('figures that do not end', () => {
  beforeAll(async () => {
    town = await buildAnew()
  })

  test('show ten digits', async () => {
    const { copy } = await rest(90, 30)
    for (const px of [90.05, 90.05, 90.06]) await execute(copy, px, 10)
    await quote(90)
    const { ExceptionSummary, Rule575 } = one(await asked('GetRule575Status', {}))
    expect(ExceptionSummary).toMatchObject({ TotalExceptionFills: 3, AvgSlippageTicks: 5.333333333 })
    expect(Rule575).toEqual([{ Group: 'Trend', ...(ExceptionSummary as object) }])
  })
})

describe('who may', () => {
  test.each(answersToReaders)('%s %j: %d', async (name, more, status) => {
    expect((await asked('GetRule575Status', more, name)).status).toBe(status)
  })

  test('other sites are the platform admin’s alone, and see none of it', async () => {
    const { west, east, north } = town.sites
    expect((await asked('GetRule575Status', { WhiteLabelSiteId: west }, 'eastAdmin')).status).toBe(403)
    expect((await asked('GetRule575Status', { WhiteLabelSiteId: north }, 'operator')).status).toBe(404)
    const ofEast = one(await asked('GetRule575Status', { WhiteLabelSiteId: east }, 'operator'))
    expect(ofEast.Exceptions).toEqual([])
  })
})
