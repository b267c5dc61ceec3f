/** Subscriptions over time: terms, prices, markups, failed payments, and a ledger that adds up. */
import { beforeEach, describe, expect, test } from 'vitest'
import { notePaidOtherwise, waiveCharge } from '../../src/storage/billing/by-hand.ts'
import { claimCharges, retryCharges } from '../../src/storage/billing/charges.ts'
import { savePaymentMethod } from '../../src/storage/billing/payment-methods.ts'
import { changeStrategy } from '../../src/storage/operating/administration.ts'
import { call } from '../support/http.ts'
import { testPlatform } from '../support/platform.ts'
import { billingOf } from './support/billing-scene.ts'
import { at, type Citizen, type Row } from './support/money.ts'

const platform = await testPlatform()
const { door, passTo, get, rowsOf, begin, subscribe } = billingOf(platform)
const violations = async (): Promise<unknown> =>
  ((await call(platform.url, '/test/audit')).json as { violations: unknown }).violations

let site = 0
let owner: Citizen
let customer: Citizen
let guest: Citizen
let strategyId = 0
beforeEach(async () => {
  ;({ site, owner, customer, guest, strategyId } = await begin())
})

const subscribed = async (who = customer, host = '/geo', more: object = {}): Promise<Row[]> =>
  rowsOf(`${host}/General/GetSubscribedStrategies`, { PersonId: who.personId, ...more }, who)
const decline = (who: Citizen, declines: string | null): Promise<unknown> =>
  door('/payment-methods', [{ personId: who.personId, declines }])

describe('a paid subscription', () => {
  beforeEach(() => subscribe(customer))

  test('is shown with the fields of each host', async () => {
    const common = {
      PersonId: customer.personId,
      StrategyId: strategyId,
      StrategyName: 'Trend',
      IsSimulation: false,
      IsPaperTrade: false,
      IsAlive: true,
      StartDate: at(0),
      EndDate: at(30),
      MonthlyCost: 99.99,
    }
    const { Id, ...gen } = (await subscribed(customer, '/gen'))[0] ?? {}
    expect(Id).toEqual(expect.any(Number))
    expect(gen).toEqual(common)
    expect((await subscribed(customer, '/wl'))[0]).toEqual({ Id, ...common, NextChargeDate: at(30) })
    expect((await subscribed())[0]).toEqual({
      Id,
      ...common,
      NextChargeDate: at(30),
      NextBillingPrice: 99.99,
      BillingInterval: 'day',
      BillingIntervalCount: 30,
      IsCancelPending: false,
      BillingFailureCount: 0,
    })
  })

  test('is paid term after term at the price of each, and what is paid adds up', async () => {
    await passTo(10)
    await door('/strategies', [{ strategyId, monthlyCost: 120 }])
    expect((await subscribed())[0]).toMatchObject({ MonthlyCost: 99.99, NextBillingPrice: 120 })
    await passTo(65)
    expect(await subscribed()).toMatchObject([{ MonthlyCost: 120, StartDate: at(0), EndDate: at(90) }])
    const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
    expect(paid.map((row) => [row.Cost, row.StartDate, row.EndDate, row.LastTransactionDate])).toEqual([
      [99.99, at(0), at(30), at(0)],
      [120, at(30), at(60), at(30)],
      [120, at(60), at(90), at(60)],
    ])
    const balances = await platform.db.read.rows<{ kind: string; balance: number }>`
      select a.kind, sum(e.amount)::bigint as balance from ledger_entry e join ledger_account a on a.id = e.account_id
      group by a.kind order by a.kind`
    expect(balances).toEqual([
      { kind: 'customer', balance: 0 },
      { kind: 'owner', balance: 6999 + 8400 + 8400 },
      { kind: 'platform', balance: 3000 + 3600 + 3600 },
      { kind: 'provider', balance: -33_999 },
    ])
    expect(await violations()).toEqual([])
  })

  test('names no next charge where its next term costs nothing', async () => {
    await door('/strategies', [{ strategyId, monthlyCost: 0 }])
    const [before] = await subscribed()
    expect(before).toMatchObject({ MonthlyCost: 99.99, IsAlive: true, EndDate: at(30) })
    expect(before).not.toHaveProperty('NextChargeDate')
    expect(before).not.toHaveProperty('NextBillingPrice')
  })

  test('ends with its term once it is canceled, and is then listed only on request', async () => {
    await platform.db.write.run`update subscription set is_cancel_pending = true`
    const [before] = await subscribed()
    expect(before).toMatchObject({ IsCancelPending: true, IsAlive: true, EndDate: at(30) })
    expect(before).not.toHaveProperty('NextChargeDate')
    await passTo(29)
    expect((await subscribed()).length).toBe(1)
    await passTo(31)
    expect(await subscribed()).toEqual([])
    expect(await subscribed(customer, '/geo', { ActiveOnly: false })).toMatchObject([
      { IsAlive: false, EndDate: at(30), IsCancelPending: false },
    ])
    const subscribers = (more: object) =>
      rowsOf('/gen/Strategies/GetSubscribers', { StrategyId: strategyId, ...more }, owner)
    expect((await subscribers({})).length).toBe(1)
    expect(await subscribers({ ActiveOnly: true })).toEqual([])
    await passTo(100)
    const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
    expect(paid.length).toBe(1)
  })

  test('ends with its term where its strategy has ended: no other one is paid', async () => {
    await changeStrategy(platform.db.write, { strategyId, isAlive: false, changedAt: Date.parse(at(0)) })
    await passTo(31)
    expect(await subscribed()).toEqual([])
    expect(await subscribed(customer, '/geo', { ActiveOnly: false })).toMatchObject([{ EndDate: at(30) }])
    const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
    expect(paid).toHaveLength(1)
  })

  test('is asked of the provider that it was begun with alone, by what the person has there', async () => {
    const { write } = platform.db
    const at30 = Date.parse(at(30))
    const there = { provider: 'stripe', customerRef: 'cus_1', methodRef: 'pm_1' } as const
    await decline(customer, 'card expired')
    await savePaymentMethod(write, { personId: customer.personId, at: at30, ...there })
    await passTo(30)
    await write.run`update charge set provider = 'stripe' where status = 'due'`
    const wanted = { now: at30 + 86_400_000, limit: 10 }
    expect(await claimCharges(write, { provider: 'simulated', ...wanted })).toEqual([])
    expect(await claimCharges(write, { provider: 'stripe', ...wanted })).toMatchObject([
      { customerRef: 'cus_1', methodRef: 'pm_1' },
    ])
  })

  test('joined again costs nothing more within its term', async () => {
    await subscribe(customer)
    await subscribe(customer, 'paper')
    expect(await subscribed()).toMatchObject([{ IsPaperTrade: false }])
    expect(
      (await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)).length,
    ).toBe(1)
  })
})

describe('payments that fail', () => {
  test('open nothing when it is the first', async () => {
    await decline(customer, 'insufficient funds')
    const body = [{ personId: customer.personId, strategyId, kind: 'paid' }]
    const answer = await call(platform.url, '/test/subscriptions', { body })
    expect([answer.status, answer.text.includes('insufficient funds')]).toEqual([400, true])
    await door('/accounts', [{ account: 'U1', personId: customer.personId, cash: 1 }])
    const started = await call(platform.url, '/gen/Autotrade/StartAutotrade', {
      key: customer.key,
      body: { Account: 'U1', StrategyId: strategyId, StocksEnabled: true },
    })
    expect([started.status, started.text.includes('insufficient funds')]).toEqual([409, true])
    expect(await subscribed(customer, '/geo', { ActiveOnly: false })).toEqual([])
    expect(await platform.db.read.rows`select id from setup`).toEqual([])
    expect(await violations()).toEqual([])
  })

  test('are counted, tried again and end in a suspension that a payment lifts', async () => {
    await subscribe(customer)
    await decline(customer, 'card expired')
    await passTo(30)
    expect(await subscribed()).toMatchObject([
      {
        IsAlive: true,
        BillingFailureCount: 1,
        LastBillingFailureReason: 'card expired',
        LastBillingFailureAt: at(30),
        EndDate: at(60),
        NextChargeDate: at(31),
        NextBillingPrice: 99.99,
      },
    ])
    await door('/strategies', [{ strategyId, monthlyCost: 120 }])
    await passTo(34)
    const told = { BillingFailureCount: 3, LastBillingFailureAt: at(34) }
    const again = { NextChargeDate: at(39), NextBillingPrice: 99.99, BillingIntervalCount: 30 }
    expect(await subscribed()).toMatchObject([{ ...told, ...again }])
    // Tried as long as its term lasts, though no other follows.
    await platform.db.write.run`update subscription set is_cancel_pending = true`
    const [canceled] = await subscribed()
    expect(canceled).toMatchObject({ NextChargeDate: at(39), NextBillingPrice: 99.99 })
    expect(canceled).not.toHaveProperty('BillingInterval')
    expect(await subscribed(customer, '/wl')).toMatchObject([{ NextChargeDate: at(39) }])
    await platform.db.write.run`update subscription set is_cancel_pending = false`
    await passTo(50)
    expect(await subscribed()).toMatchObject([
      { IsAlive: false, BillingFailureCount: 5, LastBillingFailureAt: at(46) },
    ])
    // What is suspended ends with its term: nobody will be charged then.
    expect((await subscribed())[0]).not.toHaveProperty('NextChargeDate')
    const orders = () => get('/gen/Strategies/GetStrategyActiveOrders', { StrategyIds: strategyId }, customer)
    expect((await orders()).status).toBe(403)
    expect(await violations()).toEqual([])
    await passTo(61)
    expect(await subscribed()).toEqual([])
    const over = await subscribed(customer, '/geo', { ActiveOnly: false })
    expect(over).toMatchObject([{ EndDate: at(60) }])
    expect(over[0]).not.toHaveProperty('NextChargeDate')
    await decline(customer, null)
    await subscribe(customer)
    expect((await orders()).status).toBe(200)
  })

  test('are no next charge where their provider never collects so much', async () => {
    await subscribe(customer)
    await decline(customer, 'too large')
    await passTo(30)
    expect(await subscribed()).toMatchObject([{ NextChargeDate: at(31) }])
    await platform.db.write.run`
      update charge set provider = 'stripe', base_price = 100000000 where status = 'due'`
    expect(await subscribed()).toMatchObject([{ NextChargeDate: at(60), NextBillingPrice: 99.99 }])
  })

  test('and were given up are asked for once more when the operator says so, while the subscription lasts', async () => {
    await subscribe(customer)
    const retry = async (days: number) => {
      const [{ Id } = {}] = await subscribed(customer, '/geo', { ActiveOnly: false })
      return retryCharges(platform.db.write, Number(Id), Date.parse(at(days)))
    }
    await decline(customer, 'card expired')
    await passTo(50)
    expect(await subscribed()).toMatchObject([{ IsAlive: false }])
    await decline(customer, null)
    expect(await retry(50)).toBe(true)
    await passTo(51)
    expect(await subscribed()).toMatchObject([{ IsAlive: true, BillingFailureCount: 0, EndDate: at(60) }])
    expect(await retry(51)).toBe(false)
    await decline(customer, 'card expired')
    await passTo(91)
    expect(await subscribed()).toEqual([])
    expect(await retry(91)).toBe(false)
    expect(await violations()).toEqual([])
  })

  test('once are asked for before the next try when the operator says so', async () => {
    await subscribe(customer)
    await decline(customer, 'card expired')
    await passTo(34)
    expect(await subscribed()).toMatchObject([{ BillingFailureCount: 3 }])
    await decline(customer, null)
    const [{ Id } = {}] = await subscribed()
    const retry = () => retryCharges(platform.db.write, Number(Id), Date.parse(at(35)))
    expect(await retry()).toBe(true)
    await passTo(35)
    expect(await subscribed()).toMatchObject([{ IsAlive: true, BillingFailureCount: 0, EndDate: at(60) }])
    expect(await retry()).toBe(false)
    expect(await violations()).toEqual([])
  })

  test('and were paid otherwise are asked for no more, and what they stopped goes on', async () => {
    await subscribe(customer)
    await decline(customer, 'card expired')
    await passTo(50)
    expect(await subscribed()).toMatchObject([{ IsAlive: false, BillingFailureCount: 5 }])
    const { id } = await platform.db.read.one<{ id: number }>`select id from charge where status = 'failed'`
    const note = (chargeId: number) =>
      platform.db.transaction((tx) =>
        notePaidOtherwise(tx, { chargeId, at: Date.parse(at(50)), isLookedUp: false }),
      )
    expect([await note(id), await note(id), await note(0)]).toEqual(['noted', 'notedBefore', 'absent'])
    expect(await subscribed()).toMatchObject([{ IsAlive: true, BillingFailureCount: 0, EndDate: at(60) }])
    await passTo(59)
    const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
    expect(paid.map(({ LastTransactionDate }) => LastTransactionDate)).toEqual([at(0), at(50)])
    expect(await violations()).toEqual([])
  })

  test('and were let go are nobody’s revenue, and what they stopped goes on', async () => {
    await subscribe(customer)
    await decline(customer, 'card expired')
    await passTo(50)
    const { id } = await platform.db.read.one<{ id: number }>`select id from charge where status = 'failed'`
    const waive = (chargeId: number) =>
      platform.db.transaction((tx) => waiveCharge(tx, { chargeId, isLookedUp: false }))
    expect([await waive(id), await waive(id), await waive(0)]).toEqual(['waived', 'waivedBefore', 'absent'])
    expect(await subscribed()).toMatchObject([{ IsAlive: true, BillingFailureCount: 0, EndDate: at(60) }])
    expect(await retryCharges(platform.db.write, 1, Date.parse(at(51)))).toBe(false)
    await passTo(59)
    const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
    expect(paid.map(({ LastTransactionDate }) => LastTransactionDate)).toEqual([at(0)])
    const subscribers = await rowsOf('/gen/Strategies/GetSubscribers', { StrategyId: strategyId }, owner)
    expect(subscribers).toMatchObject([{ LastTransactionDate: at(0) }])
    expect(await violations()).toEqual([])
  })

  test('once are forgotten when the next try pays', async () => {
    await subscribe(customer)
    await decline(customer, 'card expired')
    await passTo(30)
    await decline(customer, null)
    await passTo(31)
    expect(await subscribed()).toMatchObject([{ IsAlive: true, BillingFailureCount: 0, EndDate: at(60) }])
    const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
    expect(paid.map(({ LastTransactionDate }) => LastTransactionDate)).toEqual([at(0), at(31)])
    expect(await violations()).toEqual([])
  })
})

test('owners and simulations cost nothing, term after term', async () => {
  await subscribe(owner)
  await subscribe(guest, 'simulated')
  await passTo(70)
  const [own] = await subscribed(owner)
  expect(own).toMatchObject({ MonthlyCost: 0, IsAlive: true, EndDate: at(90) })
  expect(own).not.toHaveProperty('NextChargeDate')
  const [simulated] = await subscribed(guest)
  expect(simulated).toMatchObject({ IsSimulation: true, MonthlyCost: 0, IsAlive: true, StartDate: at(0) })
  expect(simulated).not.toHaveProperty('EndDate')
  const listed = await rowsOf('/gen/Strategies/GetSubscribers', { StrategyId: strategyId }, owner)
  expect(listed).toMatchObject([{ PersonId: owner.personId, IsStrategyOwner: true, Cost: 0 }])
  expect(await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)).toEqual(
    [],
  )
})

test('a free strategy that a site resells costs what the site asks, which is its income', async () => {
  await door('/strategies', [{ strategyId, monthlyCost: 0 }])
  await platform.db.write.run`
    insert into site_catalog (site_id, strategy_id, markup, added_at)
    values (${site}, ${strategyId}, 1050, ${at(0)}::timestamptz)`
  await subscribe(customer)
  await subscribe(guest)
  expect(await subscribed()).toMatchObject([{ MonthlyCost: 10.5 }])
  expect(await subscribed(guest)).toMatchObject([{ MonthlyCost: 0 }])
  await passTo(31)
  const earned = await platform.db.read.rows`
    select a.kind, sum(e.amount)::bigint as balance from ledger_entry e join ledger_account a on a.id = e.account_id
    where a.kind in ('site', 'provider') group by a.kind order by a.kind`
  expect(earned).toEqual([
    { kind: 'provider', balance: -2_100 },
    { kind: 'site', balance: 2_100 },
  ])
  expect(await violations()).toEqual([])
})

test('a start in the past is made up for, term by term', async () => {
  await subscribe(customer, 'paid', { start: at(-70) })
  expect(await subscribed()).toMatchObject([{ StartDate: at(-70), EndDate: at(20) }])
  const paid = await rowsOf('/gen/Strategies/GetSubscriptionRevenue', { StrategyId: strategyId }, owner)
  expect(paid.map(({ LastTransactionDate }) => LastTransactionDate)).toEqual([at(-70), at(-40), at(-10)])
})

describe('the ledger', () => {
  test.each([
    ['a transfer that leaves and does not arrive', `update ledger_transfer set amount = 1`],
    ['a payment that is not passed on', `delete from ledger_transfer where reason = 'ownerShare'`],
    [
      'a charge that says it was not paid',
      `update charge set status = 'failed', paid_at = null, failed_at = now()`,
    ],
    [
      'a payment that nobody asked for',
      `insert into ledger_transfer (charge_id, reason, from_account_id, to_account_id, amount, currency, booked_at)
        select charge_id, 'siteMarkup', to_account_id, from_account_id, 5, currency, booked_at from ledger_transfer
        where reason = 'payment'`,
    ],
    [
      'another currency on one side',
      `insert into ledger_transfer (charge_id, reason, from_account_id, to_account_id, amount, currency, booked_at)
        select charge_id, 'siteMarkup', to_account_id, from_account_id, 5, 'EUR', booked_at from ledger_transfer
        where reason = 'payment'`,
    ],
  ])('refuses %s', async (_name, statement) => {
    await subscribe(customer)
    await expect(platform.db.transaction((tx) => tx.script(statement))).rejects.toThrow()
    expect(await violations()).toEqual([])
  })
})
