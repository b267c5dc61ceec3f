/** What is unpaid is listed, and a charge that was paid otherwise, or is let go, is noted once: never one that may have been paid. */
import { beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { notePaymentAfterwards } from '../../src/storage/billing/payment-events.ts'
import { savePlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { settleCharges } from '../../src/storage/billing/settlement.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { insertSite } from '../../src/storage/operating/provision.ts'
import { commandLine } from '../support/command-line.ts'
import { testDatabase } from '../support/database.ts'
import { addBroker, joinStrategy } from '../support/followers.ts'
import { operatorBy } from '../support/operator.ts'

const { db, url } = await testDatabase()
const { runHere: run } = commandLine(url)
const { told, refused, addPeople, addStrategy } = operatorBy(run)

let customer = 0
let strategyId = 0
let subscription = 0
let charge = 0
beforeAll(async () => {
  const people = await addPeople()
  customer = people.customer
  strategyId = await addStrategy(people.owner)
})

/** A term that was declined once, and waits for its next try. */
beforeEach(async () => {
  await db.write.run`update subscription set status = 'ended', ended_at = coalesce(ended_at, now())`
  ;({ id: subscription } = await db.write.one<{ id: number }>`
    insert into subscription (site_id, person_id, strategy_id, kind, base_price, started_at, term_started_at,
      term_ends_at, billing_failures)
    select site_id, id, ${strategyId}::bigint, 'paid', 5000, now(), now(), now() + interval '30 days', 1
    from person where id = ${customer}::bigint returning id`)
  ;({ id: charge } = await db.write.one<{ id: number }>`
    insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, attempts, next_try_at, failed_at, failure_reason)
    select id, 'term', term_started_at, term_ends_at, base_price, 0, currency, 'stripe', 1,
      '2100-03-12T14:00:00Z', now(), 'card expired' from subscription where id = ${subscription}::bigint returning id`)
})

const settle = () => ['payments', 'settle', String(charge), '--note', 'bank transfer 4711']
const state = () =>
  db.read.one`
    select c.status, s.billing_failures as failures, s.status as subscription from charge c
    join subscription s on s.id = c.subscription_id where c.id = ${charge}::bigint`
const notes = () =>
  db.read.rows`
    select actor, after from audit_entry where object = ${`charge ${charge}`}`

test('is listed until it is settled, which is entered in the log and done once', async () => {
  const listed = {
    id: charge,
    subscriptionId: subscription,
    personId: customer,
    strategyId,
    planId: null,
    purpose: 'term',
    amount: '50.00',
    currency: 'USD',
    provider: 'stripe',
    state: 'due',
    tries: 1,
    dueUtc: '2100-03-12T14:00:00.000Z',
    reason: 'card expired',
  }
  const unpaid = ['payments', 'unpaid', '--person', String(customer)]
  expect(await told(...unpaid, '--limit', '1')).toEqual({ unpaid: [listed] })
  expect((await run(...unpaid)).output).toMatch(
    new RegExp(
      `^charge .*\n${charge} .*strategy ${strategyId} +term +50\\.00 USD +stripe +due +1 +2100-.*card expired`,
    ),
  )
  expect((await run('payments', 'unpaid', '--person', '1')).output).toBe('Nothing is unpaid.')

  expect((await run(...settle())).output).toBe(`Charge ${charge} is noted as paid.`)
  expect(await told(...unpaid)).toEqual({ unpaid: [] })
  expect(await state()).toEqual({ status: 'paid', failures: 0, subscription: 'active' })
  const noted = { actor: 'operator', after: { note: 'bank transfer 4711' } }
  expect(await notes()).toEqual([noted])

  expect(await told(...settle())).toEqual({ charge, noted: false })
  expect((await run(...settle())).output).toBe(
    `Charge ${charge} was noted as paid before, and stays as it was noted.`,
  )
  expect(await notes()).toEqual([noted])
  // Nothing of it stands as collected by Stripe.
  const came = db.read.rows`
    select a.name, t.amount from ledger_transfer t join ledger_account a on a.id = t.from_account_id
    where t.charge_id = ${charge}::bigint and t.reason = 'payment'`
  expect(await came).toEqual([{ name: 'provider:otherwise:USD', amount: 5_000 }])
  expect(await auditViolations(db.read)).toEqual([])
})

test('that its provider is asked for is left to its answer', async () => {
  await db.write.run`
    update charge set claimed_until = now() - interval '1 hour' where id = ${charge}::bigint`
  expect(await refused(...settle())).toBe(
    `lockstep: charge ${charge} is being asked for and may be paid: wait for the provider's answer, then try again, or look it up there and add --looked-up`,
  )
  expect(await told('payments', 'unpaid')).toMatchObject({ unpaid: [{ id: charge, state: 'asked' }] })
  expect(await state()).toMatchObject({ status: 'due', failures: 1 })
  expect(await notes()).toEqual([])
  expect(await told(...settle(), '--looked-up')).toEqual({ charge, noted: true })
  expect(await state()).toEqual({ status: 'paid', failures: 0, subscription: 'active' })
})

test('that is let go is unpaid and listed no more, and its reason is in the log once', async () => {
  await db.write.run`update subscription set status = 'suspended' where id = ${subscription}::bigint`
  await db.write.run`update charge set status = 'failed', next_try_at = null where id = ${charge}::bigint`
  const waive = ['payments', 'waive', String(charge), '--note', 'our broker was down']
  expect(await refused(...waive, '--wrong-price')).toBe(
    `lockstep: charge ${charge} is no fee on gains: --wrong-price is of those`,
  )
  expect((await run(...waive)).output).toBe(`Charge ${charge} is let go.`)
  expect(await state()).toEqual({ status: 'waived', failures: 0, subscription: 'active' })
  expect(await told('payments', 'unpaid', '--person', String(customer))).toEqual({ unpaid: [] })
  expect(await refused('payments', 'retry', String(subscription))).toMatch(/owes nothing that was declined$/)
  expect((await run(...waive)).output).toBe(`Charge ${charge} was let go before.`)
  expect(await told(...waive)).toEqual({ charge, noted: false })
  expect(await notes()).toEqual([{ actor: 'operator', after: { note: 'our broker was down' } }])
  expect(await db.read.rows`select from ledger_transfer where charge_id = ${charge}::bigint`).toEqual([])
  expect(await auditViolations(db.read)).toEqual([])
})

test('that is a fee at a wrong price is let go, and the height that it was settled at', async () => {
  await db.write.run`update charge set purpose = 'performance' where id = ${charge}::bigint`
  const waive = ['payments', 'waive', String(charge), '--note', 'bad print', '--wrong-price']
  const setup = await joinStrategy(db, strategyId, await addBroker(db, 'live'))
  await db.write.run`
    insert into fee_settlement (setup_id, settled_at, subscription_id, percent, capital, gain, fee, charged, units, price,
      mark, fees)
    select ${setup}::bigint, term_ends_at, id, 20, 1000, 250, 50, 5000, 1000, 1.2, 1.2, 50
    from subscription where id = ${subscription}::bigint`
  expect((await run(...waive)).output).toBe(
    `Charge ${charge} is let go. What was gained is settled anew with the next term, if there is one.`,
  )
  expect(await db.read.rows`select is_void from fee_settlement`).toEqual([{ is_void: true }])
  expect((await run(...waive)).output).toBe(`Charge ${charge} was let go before.`)
  expect(await notes()).toEqual([{ actor: 'operator', after: { note: 'bad print' } }])
})

test('of a subscription that has ended is settled, and whoever does it reads that nothing begins', async () => {
  await db.write.run`
    update subscription set status = 'ended', ended_at = now() where id = ${subscription}::bigint`
  expect((await run(...settle())).output).toBe(
    `Charge ${charge} is noted as paid. Its subscription has ended or gone on without it: nothing begins by it.`,
  )
  expect(await told('incidents', 'list')).toEqual({ incidents: [] })
})

test('that is paid a second time is listed until that is given back', async () => {
  const pay = (paymentRef: string) => {
    const answer = { chargeId: charge, attempt: 1, at: Date.now(), paymentRef } as const
    return db.transaction((tx) => settleCharges(tx, [{ outcome: 'paid', ...answer }]))
  }
  await pay(`pi_${charge}`)
  expect((await run('payments', 'surplus')).output).toBe('Nothing is to be given back.')
  await pay(`pi_${charge}_again`)
  const listed = {
    chargeId: charge,
    personId: customer,
    provider: 'stripe',
    paymentRef: `pi_${charge}_again`,
  }
  const money = { amount: '50.00', returned: '0.00', currency: 'USD', bookedUtc: expect.stringMatching(/Z$/) }
  expect(await told('payments', 'surplus')).toEqual({ surplus: [{ ...listed, ...money }] })
  expect((await run('payments', 'surplus', '--limit', '1')).output).toMatch(
    new RegExp(`^charge .*\n${charge} +${customer} +pi_${charge}_again +stripe +50\\.00 USD +0\\.00 +2`),
  )
  const refund = {
    provider: 'stripe',
    kind: 'paymentRefunded',
    paymentRef: listed.paymentRef,
    payer: null,
  } as const
  const event = { ...refund, eventRef: 'evt_1', amount: 5000 }
  await db.transaction((tx) => notePaymentAfterwards(tx, event, Date.now()))
  expect(await told('payments', 'surplus')).toEqual({ surplus: [] })
  expect(await told('payments', 'surplus', '--all')).toMatchObject({
    surplus: [{ ...listed, returned: '50.00' }],
  })
})

test('that its provider has collected is refused', async () => {
  const answer = { chargeId: charge, attempt: 1, at: Date.now(), paymentRef: 'pi_1' } as const
  await db.transaction((tx) => settleCharges(tx, [{ outcome: 'paid', ...answer }]))
  expect(await refused(...settle())).toBe(`lockstep: charge ${charge} is paid already`)
  expect(await notes()).toEqual([])
})

test('whoever chooses Stripe reads which prices it does not collect', async () => {
  vi.stubEnv('STRIPE_SECRET_KEY', 'sk_test_0')
  await db.write.run`update strategy set monthly_cost = 0.3`
  const site = await insertSite(db.write, { kind: 'whitelabel', code: 'w', name: 'West', createdAt: 0 })
  const listing = (markup: number) => db.write.run`
    insert into site_catalog (site_id, strategy_id, markup, added_at)
    values (${site}::bigint, ${strategyId}::bigint, ${markup}::bigint, now())
    on conflict (site_id, strategy_id) do update set markup = excluded.markup`
  await listing(25)
  const offer = { siteId: 1, kind: 'investor', strategiesIncluded: 3, termDays: 30 } as const
  await savePlan(db.write, { ...offer, name: 'Free', price: '0' })
  await savePlan(db.write, { ...offer, name: 'Least', price: '0.50' })
  await savePlan(db.write, { ...offer, name: 'Most', price: '999999.99' })
  const plan = await savePlan(db.write, { ...offer, name: 'Huge', price: '1000000' })
  const strategy = { strategyId, planId: null, siteId: null, amount: '0.30' }
  const huge = { strategyId: null, planId: plan, siteId: null, amount: '1000000.00' }
  const read = async () => (await told<{ uncollected: object[] }>('payments', 'use', 'stripe')).uncollected
  expect(await read()).toEqual([strategy, huge])
  await listing(10)
  expect(await read()).toEqual([strategy, { ...strategy, siteId: site, amount: '0.40' }, huge])
  expect((await run('payments', 'use', 'stripe')).output).toContain(
    `Not collected by stripe, so that nobody new can subscribe and terms are let go: strategy ${strategyId} at 0.30 USD, strategy ${strategyId} at 0.40 USD with the markup of site ${site}, plan ${plan} at 1000000.00 USD`,
  )
  expect(await told('payments', 'use', 'simulated')).toEqual({
    provider: 'simulated',
    withoutMethod: [],
    uncollected: [],
  })
})
