/** Changes of plans: what is charged, when, once, and who earns it. */
import { beforeEach, describe, expect, test } from 'vitest'
import { isRefused } from '../../src/operations/context.ts'
import { choosePlan } from '../../src/operations/subscribe-plan.ts'
import { retryCharges } from '../../src/storage/billing/charges.ts'
import {
  cancelPlan,
  type NewPlan,
  savePlan,
  withdrawPlan,
} from '../../src/storage/billing/plan-subscriptions.ts'
import { findPlatformSite } from '../../src/storage/operating/provision.ts'
import { call, resultsOf } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { at, type Citizen, day, moneyOf, type Row, start } from './support/money.ts'

const platform = await testPlatform()
const { db } = platform
const { door, passTo, charges, balances, audit } = moneyOf(platform)

let customer: Citizen
let guest: Citizen

beforeEach(async () => {
  await door('/reset', { now: at(0) })
  await door('/sites', [{ kind: 'whitelabel', name: 'west', domain: 'west.example' }])
  const people = await door<Citizen[]>('/people', [
    { firstName: 'Carl', lastName: 'C', email: 'carl@example.org', site: 'west' },
    { firstName: 'Gwen', lastName: 'G', email: 'gwen@example.org' },
  ])
  ;[customer, guest] = people as [Citizen, Citizen]
})

describe('plans', () => {
  const plan = async (name: string, price: string, more: Partial<NewPlan> = {}): Promise<number> => {
    const siteId = more.siteId ?? (await findPlatformSite(db.read))
    const offer = { kind: 'investor', termDays: 30, strategiesIncluded: 3, name, price } as const
    return savePlan(db.write, { ...offer, ...more, siteId })
  }
  const choose = (planId: number, days: number, who = customer) =>
    db.transaction(async (tx) => {
      const chosen = await choosePlan(tx, { personId: who.personId, planId, at: start + days * day })
      return isRefused(chosen) ? chosen.refused : chosen.begins
    })
  const held = async (): Promise<Row[]> => {
    const path = `/gen/General/GetInvestorPlanSubscriptions?PersonId=${customer.personId}`
    return resultsOf<Row>(await call(platform.url, path, { key: customer.key }))
  }

  test('a dearer one is paid for the rest of the term and begins at once', async () => {
    const small = await plan('Small', '30')
    const large = await plan('Large', '90')
    expect(await choose(small, 0)).toBe('now')
    expect(await held()).toMatchObject([{ LicenseTypeId: small, Cost: 30, EndDate: at(30) }])
    expect(await cancelPlan(db.write, customer.personId, 'investor')).toBe(true)
    await passTo(15)
    expect(await choose(large, 15)).toBe('now')
    expect(await charges('upgrade')).toMatchObject([{ amount: 3_000, status: 'paid', at: '04-11' }])
    expect(await held()).toMatchObject([
      { LicenseTypeId: large, Cost: 90, StartDate: at(0), EndDate: at(30), IsRecurring: true },
    ])
    await passTo(31)
    expect((await charges('term')).map(({ amount }) => amount)).toEqual([3_000, 9_000])
    expect(await balances()).toEqual({ customer: 0, platform: 15_000, provider: -15_000 })
    await audit()
  })

  test('one of another length begins a term of its own, less what is left', async () => {
    const month = await plan('Month', '30')
    const year = await plan('Year', '300', { termDays: 365 })
    await choose(month, 0)
    await passTo(10)
    expect(await choose(year, 10)).toBe('now')
    expect(await charges('upgrade')).toMatchObject([{ amount: 28_000, status: 'paid' }])
    expect(await held()).toMatchObject([{ LicenseTypeId: year, EndDate: at(375) }])
    await passTo(100)
    expect((await charges('term')).length).toBe(1)
    await audit()
  })

  test('a dearer one twice within a term: each is charged for what is left of it', async () => {
    await choose(await plan('Small', '30'), 0)
    const [medium, large] = [await plan('Medium', '60'), await plan('Large', '90')]
    expect([await choose(medium, 10), await choose(large, 20)]).toEqual(['now', 'now'])
    expect(await charges('upgrade')).toMatchObject([{ amount: 2_000 }, { amount: 1_000 }])
    expect(await held()).toMatchObject([{ LicenseTypeId: large, Cost: 90, EndDate: at(30) }])
    await audit()
  })

  test('a dearer one takes back the cheaper one that was to begin later', async () => {
    const small = await plan('Small', '30')
    await choose(await plan('Large', '90'), 0)
    const huge = await plan('Huge', '120')
    expect([await choose(small, 1), await choose(huge, 2)]).toEqual(['later', 'now'])
    await passTo(30)
    expect(await held()).toMatchObject([{ LicenseTypeId: huge, Cost: 120, EndDate: at(60) }])
    await audit()
  })

  test('one that has become dearer costs its holder more from the next term on, also where he chooses it again', async () => {
    const small = await plan('Small', '30')
    await choose(small, 0)
    expect(await plan('Small', '60')).toBe(small)
    expect(await choose(small, 10)).toBe('now')
    expect(await charges('upgrade')).toEqual([])
    expect(await held()).toMatchObject([{ LicenseTypeId: small, Cost: 30, EndDate: at(30) }])
    await passTo(30)
    expect(await held()).toMatchObject([{ LicenseTypeId: small, Cost: 60, EndDate: at(60) }])
    await audit()
  })

  test('a year is followed by a year', async () => {
    const year = await plan('Year', '300', { termDays: 365 })
    await choose(year, 0)
    await passTo(365)
    expect(await held()).toMatchObject([{ LicenseTypeId: year, Cost: 300, EndDate: at(730) }])
    await audit()
  })

  test('a cheaper one begins when the term ends, and what is canceled ends with it', async () => {
    const small = await plan('Small', '30')
    const large = await plan('Large', '90')
    await choose(large, 0)
    expect(await cancelPlan(db.write, customer.personId, 'investor')).toBe(true)
    expect(await choose(small, 0)).toBe('later')
    expect(await held()).toMatchObject([{ LicenseTypeId: large, Cost: 90 }])
    await passTo(30)
    expect(await held()).toMatchObject([{ LicenseTypeId: small, Cost: 30 }])
    expect(await choose(small, 30)).toBe('now')
    expect(await cancelPlan(db.write, customer.personId, 'investor')).toBe(true)
    expect(await held()).toMatchObject([{ IsRecurring: false }])
    await passTo(61)
    expect(await held()).toEqual([])
    expect(await cancelPlan(db.write, customer.personId, 'investor')).toBe(false)
    await audit()
  })

  test('a free one begins when the term ends, and nothing more is asked for', async () => {
    const free = await plan('Free', '0')
    await choose(await plan('Large', '90'), 0)
    expect(await choose(free, 1)).toBe('later')
    await passTo(61)
    expect(await held()).toMatchObject([{ LicenseTypeId: free, Cost: 0, EndDate: at(90) }])
    expect(await charges('term')).toMatchObject([{ amount: 9_000, status: 'paid' }])
    expect((await charges('term')).length).toBe(1)
    await audit()
  })

  test('a cheaper one that is withdrawn before it begins leaves the present one', async () => {
    const small = await plan('Small', '30')
    const large = await plan('Large', '90')
    await choose(large, 0)
    expect(await choose(small, 0)).toBe('later')
    await withdrawPlan(db.write, small)
    await passTo(30)
    expect(await held()).toMatchObject([{ LicenseTypeId: large, Cost: 90, EndDate: at(60) }])
    expect(await charges('term')).toMatchObject([{ amount: 9_000 }, { amount: 9_000, status: 'paid' }])
    await withdrawPlan(db.write, large)
    await passTo(60)
    expect(await held()).toEqual([])
    await audit()
  })

  test('do not recur once they are withdrawn, unless another one was chosen to follow', async () => {
    const small = await plan('Small', '30')
    const large = await plan('Large', '90')
    await choose(large, 0)
    expect(await held()).toMatchObject([{ IsRecurring: true }])
    await withdrawPlan(db.write, large)
    expect(await held()).toMatchObject([{ LicenseTypeId: large, EndDate: at(30), IsRecurring: false }])
    expect(await choose(small, 1)).toBe('later')
    expect(await held()).toMatchObject([{ LicenseTypeId: large, IsRecurring: true }])
    await passTo(30)
    expect(await held()).toMatchObject([{ LicenseTypeId: small, IsRecurring: true }])
    await audit()
  })

  test('do not recur while they are suspended: nothing follows what was not paid', async () => {
    await choose(await plan('Small', '30'), 0)
    await door('/payment-methods', [{ personId: customer.personId, declines: 'no money' }])
    await passTo(47)
    expect(await db.read.rows`select status from subscription`).toEqual([{ status: 'suspended' }])
    expect(await held()).toMatchObject([{ EndDate: at(60), IsRecurring: false }])
    await door('/payment-methods', [{ personId: customer.personId }])
    // What is left of a term that nobody has paid is taken off nothing.
    expect(await choose(await plan('Large', '90'), 47)).toBe('StateConflict')
    await passTo(60)
    expect(await held()).toEqual([])
  })

  test('what is declined changes nothing', async () => {
    const small = await plan('Small', '30')
    const large = await plan('Large', '90')
    await choose(small, 0)
    await door('/payment-methods', [{ personId: customer.personId, declines: 'no money' }])
    expect(await choose(large, 1)).toBe('StateConflict')
    expect(await charges('upgrade')).toMatchObject([{ status: 'failed' }])
    const { id } = await db.read.one<{ id: number }>`select id from subscription`
    expect(await retryCharges(db.write, id, start + day)).toBe(false)
    const [present] = await held()
    expect(present).toMatchObject({ LicenseTypeId: small, Cost: 30 })
    await door('/payment-methods', [{ personId: customer.personId }])
    expect(await choose(large, 1)).toBe('StateConflict')
    expect(await choose(large, 2)).toBe('now')
    expect(await held()).toMatchObject([{ LicenseTypeId: large, Cost: 90 }])
    const forgotten = [{ failures: 0 }]
    expect(await db.read.rows`select billing_failures as failures from subscription`).toEqual(forgotten)
    await audit()
  })

  test('of a partner site are its income, and offered to its people alone', async () => {
    const { id: siteId } = await db.read.one<{ id: number }>`select id from site where code = 'west'`
    const own = await plan('Own', '50', { siteId })
    const more = await plan('More', '80', { siteId })
    expect(await choose(own, 0, guest)).toBe('NotFound')
    expect(await choose(own, 0)).toBe('now')
    expect(await choose(more, 0)).toBe('now')
    expect(await charges('upgrade')).toMatchObject([{ amount: 3_000 }])
    expect(await held()).toMatchObject([{ LicenseTypeId: more, Cost: 80 }])
    expect(await balances()).toEqual({ customer: 0, provider: -8_000, site: 8_000 })
    expect(await withdrawPlan(db.write, more)).toBe(true)
    expect(await withdrawPlan(db.write, more)).toBe(false)
    expect(await choose(more, 1)).toBe('NotFound')
    await passTo(31)
    expect(await held()).toEqual([])
    await audit()
  })

  test('of one site that follows one of another is the income of its own site', async () => {
    const { id: siteId } = await db.read.one<{ id: number }>`select id from site where code = 'west'`
    await choose(await plan('Small', '30'), 0)
    expect(await choose(await plan('Own', '50', { siteId }), 0)).toBe('now')
    expect(await charges('upgrade')).toMatchObject([{ amount: 2_000 }])
    const earned = await db.read.rows<{ site: number; earned: number }>`
      select a.site_id as site, sum(e.amount)::bigint as earned from ledger_entry e
      join ledger_account a on a.id = e.account_id where a.kind = 'site' group by a.site_id`
    expect(earned).toEqual([{ site: siteId, earned: 2_000 }])
    expect(await balances()).toMatchObject({ platform: 3_000, site: 2_000 })
    await audit()
  })

  test('whose term is not paid yet is not changed: nothing of it is there to be taken off', async () => {
    const small = await plan('Small', '30')
    const large = await plan('Large', '90')
    await choose(small, 0)
    await door('/payment-methods', [{ personId: customer.personId, declines: 'no money' }])
    await passTo(30)
    await door('/payment-methods', [{ personId: customer.personId }])
    expect(await choose(large, 30)).toBe('StateConflict')
    expect(await charges('upgrade')).toEqual([])
    await passTo(31)
    expect(await choose(large, 31)).toBe('now')
    await audit()
  })

  test('a manager’s and an investor’s stand side by side', async () => {
    await choose(await plan('Small', '30'), 0)
    expect(await choose(await plan('Manager', '10', { kind: 'manager' }), 0)).toBe('now')
    expect(await held()).toHaveLength(1)
    expect((await charges('term')).length).toBe(2)
    expect(await cancelPlan(db.write, customer.personId, 'investor')).toBe(true)
    await passTo(30)
    expect(await held()).toEqual([])
    expect((await charges('term')).map(({ amount }) => amount)).toEqual([3_000, 1_000, 1_000])
  })
})
