/** The catalog of a white-label site: additions, removals, prices, plans, and a subscriber who comes meanwhile. */
import { beforeAll, describe, expect, test } from 'vitest'
import { subscribe } from '../../src/operations/subscribe.ts'
import { lockStrategies } from '../../src/storage/orders/signals.ts'
import { type Answer, call, resultsOf } from '../support/http.ts'
import { untilWaiting } from '../support/locks.ts'
import { buildTown, type Citizen, type Town } from './support/town.ts'

let town: Town
const ids: number[] = []

beforeAll(async () => {
  town = await buildTown()
  for (const name of ['One', 'Two', 'Three', 'Four', 'Five']) {
    const answer = await town.ask(
      'AddStrategy',
      { StrategyName: name, StartingCapital: 1 },
      town.people.owner,
    )
    ids.push(resultsOf<{ StrategyId: number }>(answer)[0]?.StrategyId ?? 0)
  }
  const [one = 0, two = 0] = ids
  await town.door('/strategies', [
    { strategyId: one, monthlyCost: 49.5 },
    { strategyId: two, resellable: false },
  ])
})

const update = (Action: string, StrategyIds: unknown[], more: object = {}, who = town.people.westAdmin) =>
  town.ask('UpdateSiteCatalog', { Action, StrategyIds, ...more }, { key: who.key, host: 'WL' })
const outcomes = async (answer: Promise<Answer>): Promise<unknown[]> =>
  resultsOf<Record<string, unknown>>(await answer).map(({ StrategyId, Ok, Status, ActiveSubscribers }) => [
    ...[StrategyId, Ok, Status],
    ...(ActiveSubscribers === undefined ? [] : [ActiveSubscribers]),
  ])
const catalog = async () =>
  resultsOf<Record<string, unknown>>(
    await town.ask('GetSiteCatalog', {}, { key: town.people.westAdmin.key, host: 'WL' }),
  )
const neighbour = () => town.people.neighbour.personId

describe('changing the catalog', () => {
  test('every strategy is decided by itself, and a repetition changes nothing', async () => {
    const [one = 0, two = 0] = ids
    expect(await outcomes(update('Add', [one, two, 999_999]))).toEqual([
      [one, true, 'added'],
      [two, false, 'not_resellable'],
      [999_999, false, 'not_found'],
    ])
    expect(await outcomes(update('Add', [one]))).toEqual([[one, true, 'already_in_catalog']])
    expect((await catalog()).map(({ StrategyId }) => StrategyId)).toEqual([one])
    expect(await outcomes(update('Remove', [one, two]))).toEqual([
      [one, true, 'removed'],
      [two, true, 'not_in_catalog'],
    ])
    expect(await catalog()).toEqual([])
  })

  test('a private strategy of others does not exist', async () => {
    const [, , three = 0] = ids
    const answer = await town.ask(
      'AddStrategy',
      { StrategyName: 'Own', StartingCapital: 1 },
      town.people.stranger,
    )
    const foreign = resultsOf<{ StrategyId: number }>(answer)[0]?.StrategyId ?? 0
    await town.door('/strategies', [
      { strategyId: foreign, private: true },
      { strategyId: three, private: true },
    ])
    expect(await outcomes(update('Add', [foreign, three]))).toEqual([
      [foreign, false, 'not_found'],
      [three, true, 'added'],
    ])
    await town.door('/strategies', [{ strategyId: three, private: false }])
  })

  test('the removal of one that has become private may be repeated, and brings nothing back', async () => {
    const add = { StrategyName: 'Withdrawn', StartingCapital: 1 }
    const added = await town.ask('AddStrategy', add, town.people.stranger)
    const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
    await town.door('/strategies', [{ strategyId, resellable: true }])
    await update('Add', [strategyId])
    await town.door('/strategies', [{ strategyId, private: true }])
    expect(await outcomes(update('Remove', [strategyId]))).toEqual([[strategyId, true, 'removed']])
    expect(await outcomes(update('Remove', [strategyId]))).toEqual([[strategyId, true, 'not_in_catalog']])
    expect(await outcomes(update('Add', [strategyId]))).toEqual([[strategyId, false, 'not_found']])
  })

  test.each([
    ['paid', 0, false],
    ['paper', 10, false],
    ['paper', 0, true],
    ['simulated', 10, true],
  ] as const)('a customer with a %s subscription at %s', async (kind, monthlyCost, isRemoved) => {
    const [, , , four = 0] = ids
    await update('Add', [four])
    await town.door('/strategies', [{ strategyId: four, monthlyCost }])
    const [person] = await town.door<Citizen[]>('/people', [
      { firstName: kind, email: `${kind}${monthlyCost}@example.org`, site: 'west' },
    ])
    await town.door('/subscriptions', [{ personId: person?.personId, strategyId: four, kind }])
    const [outcome] = await outcomes(update('Remove', [four]))
    expect(outcome).toEqual(isRemoved ? [four, true, 'removed'] : [four, false, 'active_subscribers', 1])
    await town.platform.db.write.run`
      update subscription set status = 'ended', ended_at = now() where strategy_id = ${four}`
    expect(await outcomes(update('Remove', [four]))).toEqual([
      [four, true, isRemoved ? 'not_in_catalog' : 'removed'],
    ])
  })

  test('a customer whose subscription waits for its first payment holds it, one who is suspended does not', async () => {
    const [, , , four = 0] = ids
    await update('Add', [four])
    await town.door('/strategies', [{ strategyId: four, monthlyCost: 0 }])
    await town.door('/subscriptions', [{ personId: neighbour(), strategyId: four, kind: 'paid' }])
    const change = (status: string) => town.platform.db.write.run`
      update subscription set status = ${status} where strategy_id = ${four} and ended_at is null`
    await change('pending')
    expect(await outcomes(update('Remove', [four]))).toEqual([[four, false, 'active_subscribers', 1]])
    await change('suspended')
    expect(await outcomes(update('Remove', [four]))).toEqual([[four, true, 'removed']])
    await town.platform.db.write.run`
      update subscription set status = 'ended', ended_at = now() where strategy_id = ${four}`
  })

  test.each(['stranger', 'owner'] as const)('nobody else, here the %s, holds it', async (who) => {
    const [, , , , five = 0] = ids
    await update('Add', [five])
    const { personId } = town.people[who]
    await town.door('/subscriptions', [{ personId, strategyId: five, kind: 'paid' }])
    expect(await outcomes(update('Remove', [five]))).toEqual([[five, true, 'removed']])
  })

  test('a subscription that commits at the same moment is seen', async () => {
    const [, , , , five = 0] = ids
    await update('Add', [five])
    let removal: Promise<unknown[]> | undefined
    await town.platform.db.transaction(async (tx) => {
      await lockStrategies(tx, [five])
      const opening = { personId: neighbour(), strategyId: five, kind: 'paid' as const, at: Date.now() }
      await subscribe(tx, opening)
      removal = outcomes(update('Remove', [five]))
      await untilWaiting(town.platform.db.read)
    })
    expect(await removal).toEqual([[five, false, 'active_subscribers', 1]])
    expect((await catalog()).map(({ StrategyId }) => StrategyId)).toContain(five)
  })
})

describe('who may', () => {
  test.each([
    ['westAdmin', {}, 200],
    ['northAdmin', {}, 403],
    ['stranger', {}, 403],
    ['owner', {}, 403],
    ['operator', {}, 400],
  ] as const)('%s %j: %d', async (name, more, status) => {
    const options = { key: town.people[name].key, host: 'WL' } as const
    for (const operation of ['GetSiteCatalog', 'GetAutotradePlans'] as const)
      expect((await town.ask(operation, more, options)).status).toBe(status)
    expect((await update('Add', [999_999], more, town.people[name])).status).toBe(status)
  })

  test("another site's is the platform admin's alone", async () => {
    const { operator, westAdmin, eastAdmin } = town.people
    const west = { WhiteLabelSiteId: town.sites.west }
    const ask = async (who: Citizen, more: object): Promise<number> =>
      (await town.ask('GetSiteCatalog', more, { key: who.key, host: 'WL' })).status
    expect(await ask(operator, west)).toBe(200)
    expect(await ask(westAdmin, west)).toBe(200)
    expect(await ask(eastAdmin, west)).toBe(403)
    expect(await ask(westAdmin, { WhiteLabelSiteId: '9223372036854775807' })).toBe(403)
    expect(await ask(operator, { WhiteLabelSiteId: town.sites.north })).toBe(404)
    expect((await update('Add', [1], west, eastAdmin)).status).toBe(403)
  })
})

describe('prices', () => {
  test('a strategy that comes back has the name and the markup that the site had given it', async () => {
    const [, , three = 0] = ids
    const listed = async () => (await catalog()).find(({ StrategyId }) => StrategyId === three)
    await update('Remove', [three])
    await update('Add', [three])
    for (const [name, markup] of [
      ['West Three', 5.25],
      ['West Drei', 7],
    ] as const) {
      await town.platform.db.write.run`
        update site_catalog set display_name = ${name}, markup = ${markup * 100} where strategy_id = ${three}`
      await update('Remove', [three])
      expect(await listed()).toBeUndefined()
      await update('Add', [three])
      expect(await listed()).toMatchObject({ DisplayName: name, MarkupDollars: markup })
    }
  })

  test("a site's name and markup are what its customers see and pay", async () => {
    const [one = 0] = ids
    await update('Add', [one])
    await town.platform.db.write.run`
      update site_catalog set display_name = 'West One', markup = 1050 where strategy_id = ${one}`
    expect((await catalog()).find(({ StrategyId }) => StrategyId === one)).toEqual({
      Id: expect.any(Number),
      StrategyId: one,
      OriginalName: 'One',
      DisplayName: 'West One',
      BaseMonthlyCost: 49.5,
      MarkupDollars: 10.5,
      SiteMonthlyCost: 60,
      IsAlive: true,
    })
    const { stranger, owner, westAdmin } = town.people
    await town.door('/subscriptions', [
      { personId: neighbour(), strategyId: one, kind: 'paid' },
      { personId: stranger.personId, strategyId: one, kind: 'paid' },
    ])
    const paid = resultsOf<Record<string, unknown>>(
      await town.ask('GetSubscriptionRevenue', { StrategyId: one }, owner),
    ).map(({ BasePrice, Markup, Cost, IsResale }) => [BasePrice, Markup, Cost, IsResale])
    expect(paid).toEqual([
      [49.5, 10.5, 60, 1],
      [49.5, 0, 49.5, 0],
    ])
    const [site] = await town.platform.db.read.rows<{ balance: number }>`
      select sum(e.amount)::bigint as balance from ledger_entry e join ledger_account a on a.id = e.account_id
      where a.site_id = ${town.sites.west}`
    expect(site).toEqual({ balance: 1050 })
    const [own] = resultsOf<Record<string, unknown>>(
      await town.ask(
        'GetSubscribedStrategies',
        { PersonId: neighbour(), AscendingOrder: false },
        { key: westAdmin.key },
      ),
    )
    expect(own).toMatchObject({ StrategyName: 'West One', MonthlyCost: 60 })
  })

  test('plans and the fee policy', async () => {
    const { west } = town.sites
    const ask = async () =>
      resultsOf<Record<string, unknown>>(
        await town.ask('GetAutotradePlans', {}, { key: town.people.westAdmin.key, host: 'WL' }),
      )[0]
    expect(await ask()).toEqual({
      WhiteLabelSiteId: west,
      MonthlyPlans: [],
      AnnualPlans: [],
      FeePolicy: { Payer: 'none' },
    })
    await town.platform.db.transaction((tx) =>
      tx.script(`
        insert into plan (site_id, kind, name, term_days, strategies_included, price) values
          (${west}, 'investor', 'Basic', 30, 2, 4900), (${west}, 'investor', 'Basic', 365, 2, 49000),
          (${west}, 'manager', 'Manager', 30, 1, 9900);
        insert into site_fee_policy values (${west}, 'site');
        insert into site_fee_tier (site_id, from_accounts, to_accounts, price_per_account) values
          (${west}, 1, 100, 500), (${west}, 101, null, 350)`),
    )
    expect(await ask()).toEqual({
      WhiteLabelSiteId: west,
      MonthlyPlans: [
        { Id: expect.any(Number), Name: 'Basic', StrategiesIncluded: 2, Price: 49, Currency: 'USD' },
      ],
      AnnualPlans: [
        { Id: expect.any(Number), Name: 'Basic', StrategiesIncluded: 2, Price: 490, Currency: 'USD' },
      ],
      FeePolicy: {
        Payer: 'site',
        Tiers: [
          { FromAccounts: 1, ToAccounts: 100, PricePerAccount: 5, Currency: 'USD' },
          { FromAccounts: 101, PricePerAccount: 3.5, Currency: 'USD' },
        ],
      },
    })
  })
})

test('nothing is left that does not add up', async () => {
  expect((await call(town.platform.url, '/test/audit')).json).toEqual({ violations: [] })
})
