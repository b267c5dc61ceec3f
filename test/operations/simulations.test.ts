/** Simulated subscriptions over HTTP: begun, skipped with reasons, measured, ended. */
import { expect, test } from 'vitest'
import type { OperationName } from '../../src/contract/index.ts'
import { addToCatalog } from '../../src/storage/billing/catalog.ts'
import { faultsOf, resultsOf, told } from '../support/http.ts'
import { buildTown, type CitizenName } from './support/town.ts'

const town = await buildTown()
const { people, strategyId, lonelyStrategyId } = town
const { personId } = people.neighbour
const as = (who: CitizenName, operation: OperationName, params: object, host: 'WL' | 'Geo' = 'WL') =>
  town.ask(operation, params, { key: people[who].key, host })
const addBy = async (who: CitizenName, name: string) => {
  const params = { StrategyName: name, StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: people[who].key })
  return resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
}

interface Started {
  readonly Created: { readonly StrategyId: number; readonly SubscriptionId: number }[]
  readonly Skipped: { readonly StrategyId: number; readonly Reason: string; readonly Message: string }[]
}
const start = async (ids: number[]): Promise<Started> => {
  const answer = await as('westAdmin', 'StartSim', { PersonId: personId, StrategyIds: ids })
  expect(answer.status).toBe(200)
  return resultsOf<Started>(answer)[0] as Started
}
const results = async (who: CitizenName, params: object = {}, host: 'WL' | 'Geo' = 'WL') =>
  resultsOf<Record<string, unknown>>(await as(who, 'GetSimResults', params, host))

test('what can begin begins, the rest is skipped with its reason', async () => {
  const foreign = await addBy('stranger', 'Foreign')
  const secret = await addBy('owner', 'Secret')
  const unknown = await addBy('stranger', 'Private elsewhere')
  const offered = await addBy('stranger', 'Private and offered')
  const followed = await addBy('stranger', 'Private and followed')
  await addToCatalog(town.platform.db.write, town.sites.west, [offered], Date.parse('2024-03-12T14:00:00Z'))
  const subscribed = [lonelyStrategyId, followed].map((id) => ({ personId, strategyId: id, kind: 'paid' }))
  await town.door('/subscriptions', subscribed)
  // Who subscribes to a private strategy knows of it, and so does the site that it belongs to, or that offers it.
  const hidden = [secret, lonelyStrategyId, unknown, offered, followed]
  const hide = hidden.map((id) => ({ strategyId: id, private: true }))
  await town.door('/strategies', hide)
  const { Created, Skipped } = await start([strategyId, foreign, ...hidden, 999])
  expect(Created).toEqual([
    { StrategyId: strategyId, SubscriptionId: expect.any(Number), StartDate: '2024-03-12T14:00:00Z' },
  ])
  expect(Skipped.map(({ StrategyId, Reason }) => [StrategyId, Reason])).toEqual([
    [foreign, 'not_in_site_catalog'],
    [secret, 'strategy_private'],
    [lonelyStrategyId, 'already_subscribed'],
    [unknown, 'strategy_not_found'],
    [offered, 'strategy_private'],
    [followed, 'not_in_site_catalog'],
    [999, 'strategy_not_found'],
  ])
  const again = await start([strategyId])
  expect(again.Skipped).toMatchObject([{ Reason: 'already_simulated' }])
})

test('a simulation shows no orders and follows the worth of its strategy', async () => {
  const orders = await town.ask(
    'GetStrategyOpenPositions',
    { StrategyIds: strategyId },
    { key: people.neighbour.key },
  )
  expect(orders.status).toBe(403)
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 109.99, ask: 110 }])
  const [row] = await results('westAdmin')
  expect(row).toMatchObject({
    PersonId: personId,
    FirstName: 'neighbour',
    StrategyId: strategyId,
    StrategyName: 'Trend',
    StartDate: '2024-03-12T14:00:00Z',
    StartEquity: 99_999,
    EndEquity: 100_999,
    TotalDelta: 1000,
    ScalingFactor: 100,
  })
  expect(row?.TotalReturn).toBeCloseTo(1.00001, 5)
  expect(row).not.toHaveProperty('IsResultReady')
  expect((await results('northAdmin', {}, 'Geo'))[0]).toMatchObject({
    IsResultReady: true,
    SubscriptionId: expect.any(Number),
  })
})

test.each<[CitizenName, object, number]>([
  ['neighbour', {}, 1],
  ['westAdmin', { WhiteLabelSiteId: 999 }, 0],
  ['westAdmin', { MinLoginDays: 1 }, 0],
  ['eastAdmin', {}, 0],
  ['holder', {}, 0],
  ['operator', {}, 1],
])('%s asks for %j', async (who, params, count) => {
  expect((await results(who, params)).length).toBe(count)
})

test.each<[CitizenName, number, (number | string)[]]>([
  ['neighbour', people.neighbour.personId, [200]],
  ['westAdmin', people.neighbour.personId, [200]],
  ['holder', people.neighbour.personId, [403, '1002 PersonId']],
  ['holder', 999, [403, '1002 PersonId']],
  ['eastAdmin', people.neighbour.personId, [403, '1002 PersonId']],
  ['westAdmin', 999, [403, '1002 PersonId']],
  ['operator', 999, [404, '2013 PersonId']],
])('%s asks for the results of person %i', async (who, asked, expected) => {
  expect(told(await as(who, 'GetSimResults', { PersonId: asked }))).toEqual(expected)
})

test('sign-ins on enough days', async () => {
  const signIn = (at: string, outcome = 'success') =>
    town.platform.db.write.run`
      insert into sign_in (site_id, person_id, kind, outcome, occurred_at)
      values (${town.sites.west}::bigint, ${personId}::bigint, 'login', ${outcome}, ${at}::timestamptz)`
  await signIn('2024-03-01T10:00:00Z')
  await signIn('2024-03-01T23:00:00Z')
  await signIn('2024-03-02T10:00:00Z', 'failure')
  await signIn('2020-03-02T10:00:00Z')
  expect(await results('westAdmin', { MinLoginDays: 1 })).toHaveLength(1)
  expect(await results('westAdmin', { MinLoginDays: 2 })).toHaveLength(0)
  await signIn('2024-03-03T10:00:00Z')
  expect(await results('westAdmin', { MinLoginDays: 2 })).toHaveLength(1)
  expect(await results('westAdmin', { MinLoginDays: 2, MaxAccountDays: 10 })).toHaveLength(0)
})

test('a simulation stops once, keeps its result and may not begin again soon', async () => {
  const stop = (id = strategyId) => as('westAdmin', 'StopSim', { PersonId: personId, StrategyId: id })
  const stopped = await stop()
  expect(resultsOf(stopped)).toEqual([
    { PersonId: personId, StrategyId: strategyId, StoppedSubscriptionId: expect.any(Number) },
  ])
  expect(told(await stop())).toEqual([404, '2013 StrategyId'])
  expect(told(await stop(lonelyStrategyId))).toEqual([409, '3016 StrategyId'])
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 50, ask: 50.1 }])
  expect(await results('westAdmin')).toEqual([])
  const [row] = await results('westAdmin', { ActiveOnly: false })
  expect(row).toMatchObject({ EndDate: '2024-03-12T14:00:00Z', EndEquity: 100_999 })
  expect((await start([strategyId])).Skipped).toMatchObject([{ Reason: 'simulated_recently' }])
  await town.door('/clock', { now: '2024-04-11T14:00:00Z' })
  expect((await start([strategyId])).Created).toHaveLength(1)
  expect(await results('westAdmin', { ActiveOnly: false, MaxAccountDays: 10 })).toHaveLength(1)
  expect(await results('westAdmin', { ActiveOnly: false })).toHaveLength(2)
})

test('the history goes back to the first one, the present a year', async () => {
  const count = async (params: object) => (await results('westAdmin', params)).length
  await town.door('/clock', { now: '2025-04-11T14:00:00Z' })
  expect(await count({})).toBe(1)
  expect(await count({ MaxAccountDays: 1000 })).toBe(1)
  expect(await count({ MaxAccountDays: 364 })).toBe(0)
  await town.door('/clock', { now: '2025-05-01T14:00:00Z' })
  expect(await count({})).toBe(0)
  expect(await count({ ActiveOnly: false })).toBe(2)
  expect(await count({ ActiveOnly: false, MaxAccountDays: 1000 })).toBe(0)
})

test('nobody waits with a simulation because a real subscription has ended', async () => {
  await town.platform.db.write.run`
    update subscription set status = 'ended', ended_at = '2025-05-01T13:00:00Z'
    where strategy_id = ${lonelyStrategyId}::bigint and kind = 'paid'`
  await town.door('/strategies', [{ strategyId: lonelyStrategyId, private: false }])
  expect((await start([lonelyStrategyId])).Created).toHaveLength(1)
})

test.each<[object, (number | string)[]]>([
  [{ StrategyIds: [] }, [400, '1130 StrategyIds']],
  [{ StrategyIds: [1, 1] }, [400, '1130 StrategyIds']],
  [{ StrategyIds: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, [400, '1130 StrategyIds']],
  [{}, [400, '1102 StrategyIds']],
])('StartSim of %j', async (params, expected) => {
  const { status, ...rest } = await as('westAdmin', 'StartSim', { PersonId: personId, ...params })
  expect([status, ...faultsOf({ status, ...rest }).slice(0, 1)]).toEqual(expected)
})

test('one that began in the past is measured from the close before it, or from what the strategy began with', async () => {
  await town.door('/quotes', [{ symbol: 'AAPL', bid: 60, ask: 60.1 }])
  const measured = async (who: CitizenName, begun: string) => {
    const { personId: id } = people[who]
    await town.door('/subscriptions', [{ personId: id, strategyId, kind: 'simulated', start: begun }])
    const [row] = await results('operator', { PersonId: id, ActiveOnly: false })
    return [row?.StartDate, row?.StartEquity, row?.EndEquity, row?.TotalDelta]
  }
  // 100 shares bought at 100 and, by the order that was at work, 100 at 50.10: worth 50 each at the closes, then 60.
  const closed = '2024-03-20T14:00:00Z'
  expect(await measured('stranger', closed)).toEqual([closed, 94_990, 96_990, 2000])
  // On the day that was closed last, too.
  const later = '2025-04-30T15:00:00Z'
  expect(await measured('owner', later)).toEqual([later, 94_990, 96_990, 2000])
  const first = '2024-03-12T15:00:00Z'
  expect(await measured('eastAdmin', first)).toEqual([first, 100_000, 96_990, -3010])
})

test('one that ran in a simulated account keeps its number and scaling when it has ended', async () => {
  const { personId: PersonId, key } = people.stranger
  const own = async () =>
    (await results('stranger', { ActiveOnly: false, PersonId })).map((row) => [
      row.Account,
      row.ScalingFactor,
      row.EndDate !== undefined,
    ])
  await town.door('/accounts', [{ account: 'SIM50', personId: PersonId, kind: 'sim', cash: 1000 }])
  const setup = { Account: 'SIM50', PersonId, StrategyId: strategyId }
  const begun = await town.ask(
    'StartAutotrade',
    { ...setup, StocksEnabled: true, ScalingPercentage: 50 },
    { key },
  )
  expect(begun.json).toBe(true)
  expect(await own()).toEqual([['SIM50', 50, false]])
  const stop = { ...setup, TerminateStrategySubscription: true }
  expect((await town.ask('StopAutotrade', stop, { key })).json).toBe(true)
  expect(await own()).toEqual([['SIM50', 50, true]])
})
