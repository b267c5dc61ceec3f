/** Who subscribes and what it brings in: who sees which of it, cut by dates, people and sites. */
import { beforeEach, describe, expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { billingOf } from './support/billing-scene.ts'
import { at, type Citizen, type Row } from './support/money.ts'

const { passTo, get, rowsOf, begin, subscribe } = billingOf(await testPlatform())

let site = 0
let owner: Citizen
let customer: Citizen
let guest: Citizen
let admin: Citizen
let strategyId = 0
beforeEach(async () => {
  ;({ site, owner, customer, guest, admin, strategyId } = await begin())
})

describe('who sees subscribers and revenue', () => {
  beforeEach(async () => {
    await subscribe(customer)
    await subscribe(guest)
  })
  const people = async (operation: string, who: Citizen, more: object = {}): Promise<unknown[]> =>
    (await rowsOf(`/gen/Strategies/${operation}`, { StrategyId: strategyId, ...more }, who)).map(
      ({ FirstName }) => FirstName,
    )

  test.each(['GetSubscribers', 'GetSubscriptionRevenue'])('%s', async (operation) => {
    expect(await people(operation, owner)).toEqual(['Carl', 'Gwen'])
    expect(await people(operation, owner, { AscendingOrder: false })).toEqual(['Gwen', 'Carl'])
    expect(await people(operation, admin)).toEqual(['Carl'])
    expect(await people(operation, customer)).toEqual(['Carl'])
    expect(await people(operation, guest)).toEqual(['Gwen'])
  })

  test('a subscriber has a price and a last payment', async () => {
    const [first] = await rowsOf('/gen/Strategies/GetSubscribers', { StrategyId: strategyId }, customer)
    expect(first).toEqual({
      Id: expect.any(Number),
      StrategyId: strategyId,
      StrategyName: 'Trend',
      PersonId: customer.personId,
      SubscriptionId: first?.Id,
      SubscriberId: customer.personId,
      IsStrategyOwner: false,
      Alias: 'Carl',
      FirstName: 'Carl',
      LastName: 'C',
      Email: 'carl@example.org',
      StartDate: at(0),
      EndDate: at(30),
      BasePrice: 99.99,
      Markup: 0,
      Cost: 99.99,
      LastTransactionDate: at(0),
      LastTransactionAmount: 99.99,
      IsResale: 0,
      WhiteLabelSiteId: site,
    })
  })

  test('revenue is cut by dates, people and sites', async () => {
    await passTo(31)
    const revenue = async (more: object): Promise<number> =>
      (await rowsOf('/gen/Strategies/GetSubscriptionRevenue', more, owner)).length
    expect(await revenue({ StrategyOwnerPersonId: owner.personId })).toBe(4)
    expect(await revenue({ StrategyId: strategyId, StartDate: at(1) })).toBe(2)
    expect(await revenue({ StrategyId: strategyId, EndDate: '2024-03-12' })).toBe(2)
    expect(await revenue({ SubscriberPersonId: guest.personId })).toBe(2)
    expect(await revenue({ WhiteLabelSiteId: site })).toBe(2)
    expect(await revenue({ StrategyId: 999 })).toBe(0)
    const dates = await get('/gen/Strategies/GetSubscriptionRevenue', { StartDate: at(1) }, owner)
    expect(dates.status).toBe(400)
  })

  test('pages go through every payment once', async () => {
    const seen: unknown[] = []
    let cursor: string | undefined
    do {
      const answer = await get(
        '/gen/Strategies/GetSubscriptionRevenue',
        { StrategyId: strategyId, Limit: 1, ...(cursor && { Cursor: decodeURIComponent(cursor) }) },
        owner,
      )
      seen.push(...resultsOf<Row>(answer).map(({ Id }) => Id))
      cursor = (answer.json as { Pagination?: { next_cursor?: string } }).Pagination?.next_cursor
    } while (cursor)
    expect([seen.length, new Set(seen).size]).toEqual([2, 2])
  })

  test.each(['GetSubscribedStrategies', 'GetInvestorPlanSubscriptions', 'GetManagerPlanSubscriptions'])(
    "%s is the person's and the admin's of the site",
    async (operation) => {
      const ask = async (who: Citizen, whose: Citizen): Promise<number> =>
        (await get(`/gen/General/${operation}`, { PersonId: whose.personId }, who)).status
      expect(await ask(customer, customer)).toBe(200)
      expect(await ask(admin, customer)).toBe(200)
      expect(await ask(guest, customer)).toBe(403)
      expect(await ask(admin, guest)).toBe(403)
    },
  )
})
