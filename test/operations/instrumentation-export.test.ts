/** What a white-label site may take along about its customers: sign-ins, subscriptions, accounts and executions. */
import { beforeAll, describe, expect, test } from 'vitest'
import { siteReports } from './support/site-reports.ts'
import { holderAccount, type Town, townStart } from './support/town.ts'

const { asked, one, rest, execute, clock, audit, buildAnew } = siteReports()
let town: Town

describe('the export', () => {
  const exportOf = async (params: object = {}) =>
    one(await asked('GetWlInstrumentationExport', { WhiteLabelSiteId: town.sites.west, ...params }))
  const start = Date.parse(townStart) / 1000
  const listed = (found: Record<string, unknown>, name: string) => found[name] as Record<string, unknown>[]

  beforeAll(async () => {
    town = await buildAnew()
    const { holder, neighbour, stranger } = town.people
    await town.platform.db.write.run`
      insert into sign_in (site_id, person_id, kind, outcome, ip_address, occurred_at) values
        (${town.sites.west}, ${holder.personId}, 'login', 'failure', '192.0.2.1', '2024-03-12T13:00:00Z'),
        (${town.sites.west}, ${holder.personId}, 'sso', 'success', null, '2024-03-12T13:30:00Z'),
        (${town.sites.west}, ${neighbour.personId}, 'login', 'success', null, '2024-03-12T14:00:00.5Z'),
        (1, ${stranger.personId}, 'login', 'success', null, '2024-03-12T13:00:00Z')`
  })

  test('everything of the last thirty days', async () => {
    const { holder, neighbour } = town.people
    const common = { PersonId: holder.personId, Account: holderAccount }
    expect(await exportOf()).toEqual({
      WhiteLabelSiteId: town.sites.west,
      WhiteLabelSiteName: 'west',
      WhiteLabelSiteDomain: 'west.example',
      RequestedWindow: { FromWhen: start - 30 * 86_400, ToWhen: start, DaysBack: 30 },
      Filters: {},
      SessionEventSummary: { Sso: 1, Login: 2, Failed: 1 },
      SessionEvents: [
        {
          Id: 3,
          PersonId: neighbour.personId,
          Kind: 'login',
          Outcome: 'success',
          OccurredUtc: '2024-03-12T14:00:00Z',
        },
        {
          Id: 2,
          PersonId: holder.personId,
          Kind: 'sso',
          Outcome: 'success',
          OccurredUtc: '2024-03-12T13:30:00Z',
        },
        {
          Id: 1,
          PersonId: holder.personId,
          Kind: 'login',
          Outcome: 'failure',
          IPAddress: '192.0.2.1',
          OccurredUtc: '2024-03-12T13:00:00Z',
        },
      ],
      Autotrade: { Accounts: 1, Setups: 1, Disabled: 0 },
      Subscriptions: [
        {
          Id: expect.any(Number),
          PersonId: holder.personId,
          StrategyId: town.strategyId,
          Cost: 0,
          IsSimulation: false,
          IsAlive: true,
          StartDate: townStart,
        },
      ],
      AccountStability: [{ ...common, Connects: 1, Disconnects: 0, Disables: 0 }],
      Executions: [
        {
          ...common,
          Id: expect.any(Number),
          StrategyId: town.strategyId,
          Symbol: 'AAPL',
          Side: '1',
          SignalId: town.signals.filled,
          Quantity: 100,
          AvgFillPrice: 100,
          ExecutedUtc: townStart,
        },
      ],
      Summary: { SessionEvents: 3, Subscriptions: 1, Accounts: 1, Executions: 1 },
    })
  })

  test('limits cut the lists, never the counts', async () => {
    const found = await exportOf({ SessionLimit: 1, SubscriptionLimit: 1, ExecutionLimit: 1 })
    expect(listed(found, 'SessionEvents').map(({ Id }) => Id)).toEqual([3])
    expect(found).toMatchObject({ Summary: { SessionEvents: 3 }, SessionEventSummary: { Login: 2 } })
    expect(
      (await asked('GetWlInstrumentationExport', { WhiteLabelSiteId: town.sites.west, SessionLimit: 9_999 }))
        .status,
    ).toBe(200)
  })

  test('by person, by strategy and by time', async () => {
    const { neighbour } = town.people
    const ofNeighbour = await exportOf({ PersonId: neighbour.personId })
    expect(ofNeighbour).toMatchObject({
      Filters: { PersonId: neighbour.personId },
      Executions: [],
      Subscriptions: [],
      AccountStability: [],
      Summary: { SessionEvents: 1 },
      Autotrade: { Accounts: 0 },
    })
    const ofLonely = await exportOf({ SystemId: town.lonelyStrategyId })
    expect(ofLonely).toMatchObject({ Executions: [], Subscriptions: [], Autotrade: { Setups: 0 } })
    expect(await exportOf({ SystemId: town.strategyId })).toMatchObject({ Summary: { Executions: 1 } })
    const early = await exportOf({ FromWhen: start - 3600, ToWhen: start - 1800 })
    expect(listed(early, 'SessionEvents').map(({ Id }) => Id)).toEqual([2, 1])
    expect(early).toMatchObject({
      Executions: [],
      AccountStability: [],
      RequestedWindow: { FromWhen: start - 3600, ToWhen: start - 1800 },
    })
    expect(await exportOf({ ToWhen: 0 })).toMatchObject({ RequestedWindow: { FromWhen: 0, ToWhen: 0 } })
    expect(await exportOf({ ToWhen: 253_402_300_799 })).toMatchObject({ Summary: { Executions: 0 } })
  })

  test('a broker that cuts an account off, and its return', async () => {
    await town.door('/broker', { delink: holderAccount })
    expect(await exportOf()).toMatchObject({
      AccountStability: [{ Connects: 1, Disconnects: 1, Disables: 1 }],
      Autotrade: { Disabled: 1 },
    })
    const { holder } = town.people
    const again = {
      Account: holderAccount,
      PersonId: holder.personId,
      StrategyId: town.strategyId,
      StocksEnabled: true,
    }
    expect((await town.ask('StartAutotrade', again, { key: holder.key })).status).toBe(200)
    expect(await exportOf()).toMatchObject({
      AccountStability: [{ Connects: 2, Disconnects: 1, Disables: 1 }],
      Autotrade: { Disabled: 0 },
    })
    await audit()
  })

  test('bad windows and limits', async () => {
    for (const [wrong, words] of [
      [{ FromWhen: start + 1 }, 'FromWhen must not be after ToWhen.'],
      [{ FromWhen: 10, ToWhen: 9 }, 'FromWhen must not be after ToWhen.'],
      [{ SessionLimit: 0 }, 'Must be at least 1'],
      [{ DaysBack: 0 }, 'Must be from 1 to 36500'],
      [{ WhiteLabelSiteId: 'x' }, 'Must be an integer'],
    ] as const) {
      const told = await asked('GetWlInstrumentationExport', { WhiteLabelSiteId: town.sites.west, ...wrong })
      expect([told.status, told.text]).toEqual([400, expect.stringContaining(`"Message":"${words}"`)])
    }
    expect((await asked('GetWlInstrumentationExport', {})).status).toBe(400)
  })

  test('what an order executed before and after a split is in the units of its last execution', async () => {
    town = await buildAnew()
    const { copy } = await rest(90, 10)
    await execute(copy, 90, 4)
    const split = { kind: 'split', symbol: 'AAPL', date: '2024-03-13', new: 2, old: 1 }
    await town.door('/corporate-actions', [split])
    await clock('2024-03-13T14:00:00Z')
    await execute(copy, 44, 12)
    const newest = async (params: object) => listed(await exportOf(params), 'Executions')[0]
    expect([await newest({}), await newest({ ToWhen: start })]).toMatchObject([
      { Quantity: 20, AvgFillPrice: 44.4 },
      { Quantity: 4, AvgFillPrice: 90 },
    ])
  })
})
