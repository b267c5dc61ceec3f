/** Who is told of a payment that failed, and of which: once in a term, and not of what nobody asks for any more. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { retryCharges } from '../../src/storage/billing/charges.ts'
import { settleCharges } from '../../src/storage/billing/settlement.ts'
import { insertSite } from '../../src/storage/operating/provision.ts'
import { decliningMethod } from '../support/stripe-stand-in.ts'
import { day, makeStripeScene, start } from './stripe-scene.ts'

const scene = await makeStripeScene()
const { db, standIn, clock, ids, work, attach, payBy, open, offerPlans, choose, state } = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

const mails = () =>
  db.read.rows`
    select address, facts from mail where kind = 'payment-failed' order by id`
const told = async () => (await mails()).length
const pass = async (days: number) => {
  clock.time = start + days * day
  await work()
}
const decline = (method = decliningMethod) => payBy(method)
const common = { firstName: 'Sam', siteName: 'Lockstep', offer: 'Trend', currency: 'USD' }
const declined = { ...common, amount: '50.00', reason: 'insufficient_funds', untilAt: null }

/** A charge whose provider is being asked. */
const asked = async (purpose: 'term' | 'upgrade' | 'performance', startsAt: number, price: number) =>
  (
    await db.write.one<{ id: number }>`
      insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
        provider, next_try_at, attempts, claimed_until, plan_id, plan_price)
      select id, ${purpose}, ${new Date(startsAt).toISOString()}::timestamptz, term_ends_at, ${price}::bigint, 0, currency,
        'stripe', now(), 1, now(), case ${purpose} when 'upgrade' then plan_id end,
        case ${purpose} when 'upgrade' then 30000 end from subscription returning id`
  ).id
const answer = (at: number, ...ids: number[]) =>
  db.transaction((tx) =>
    settleCharges(
      tx,
      ids.map((chargeId) => {
        return { chargeId, attempt: 1, at, paymentRef: null, outcome: 'declined', reason: 'late' } as const
      }),
    ),
  )

async function subscribeAndDecline(): Promise<void> {
  await attach()
  await open()
  await work()
  await decline()
}

test('of a first payment that opens nothing', async () => {
  await attach(decliningMethod)
  await open()
  await work()
  const facts = { ...declined, effect: 'nothingOpened', againAt: null }
  expect(await mails()).toEqual([{ address: 's@example.org', facts }])
})

test('of a later one when it fails first, and again in another term', async () => {
  await subscribeAndDecline()
  await pass(30)
  const facts = { ...declined, effect: 'suspends', againAt: start + 31 * day }
  expect(await mails()).toEqual([{ address: 's@example.org', facts }])
  await pass(31)
  await pass(34)
  expect(await state()).toMatchObject({ failures: 3 })
  await decline('pm_card')
  await pass(39)
  expect(await state()).toMatchObject({ charge: 'paid' })
  expect(await told()).toBe(1)
  await decline()
  await pass(60)
  await pass(61)
  expect(await told()).toBe(2)
})

test('once more as the last try suspends the subscription, and not of what is asked for in vain after it', async () => {
  await subscribeAndDecline()
  for (const days of [30, 31, 34, 39]) await pass(days)
  expect(await told()).toBe(1)
  await pass(46)
  expect(await state()).toMatchObject({ status: 'suspended', failures: 5 })
  const facts = { ...declined, effect: 'suspended', againAt: null }
  expect((await mails()).slice(1)).toEqual([{ address: 's@example.org', facts }])
  const { id } = await db.read.one<{ id: number }>`select id from subscription`
  await retryCharges(db.write, id, clock.time)
  await work()
  expect(await state()).toMatchObject({ status: 'suspended', failures: 6 })
  expect(await told()).toBe(2)
})

test('of a suspension also where a fee that failed beside it is tried again', async () => {
  await subscribeAndDecline()
  await pass(30)
  const fee = await asked('performance', start, 200)
  const term = await asked('term', start + day, 700)
  await db.write.run`update charge set attempts = 5 where id = ${term}::bigint`
  const given = { at: start + 31 * day, paymentRef: null, outcome: 'declined', reason: 'late' } as const
  const answers = [
    { chargeId: fee, attempt: 1, ...given },
    { chargeId: term, attempt: 5, ...given },
  ]
  await db.transaction((tx) => settleCharges(tx, answers))
  const facts = { amount: '9.00', effect: 'suspended', againAt: start + 32 * day }
  expect((await mails()).slice(1)).toMatchObject([{ facts }])
})

test('of a fee that Stripe does not collect by itself: it is never tried again, and everything goes on until it suspends', async () => {
  await subscribeAndDecline()
  await pass(30)
  await db.write.run`delete from mail`
  await db.write.run`update charge set failed_at = null`
  const term = await asked('term', start + day, 700)
  await answer(start + 30 * day, await asked('performance', start, 100_000_000), term)
  const large = { amount: '1000000.00', effect: 'suspends', againAt: null, untilAt: start + 46 * day }
  const small = { amount: '7.00', effect: 'suspends', againAt: start + 31 * day, untilAt: null }
  expect(await mails()).toMatchObject([{ facts: small }, { facts: large }])
})

test.each(['before', 'after'])(
  'of a fee that is to be paid otherwise and of a term, each once, where the fee is told of %s it',
  async (order) => {
    await subscribeAndDecline()
    await pass(30)
    await db.write.run`delete from mail`
    await db.write.run`update charge set failed_at = null`
    const fee = await asked('performance', start, 100_000_000)
    const term = await asked('term', start + day, 700)
    const both = order === 'before' ? [fee, term] : [term, fee]
    for (const one of both) await answer(start + 30 * day, one)
    const large = { facts: { amount: '1000000.00', untilAt: start + 46 * day } }
    const small = { facts: { amount: '7.00', againAt: start + 31 * day } }
    expect(await mails()).toMatchObject(order === 'before' ? [large, small] : [small, large])
    await db.write.run`update charge set claimed_until = now() where id = any(${both}::bigint[])`
    for (const one of both) await answer(start + 31 * day, one)
    expect(await told()).toBe(2)
  },
)

test('under the name that the strategy has at the site of who pays', async () => {
  const kind = { kind: 'whitelabel', code: 'w', name: 'West', createdAt: start } as const
  const west = await insertSite(db.write, kind)
  await db.write.run`update person set site_id = ${west}::bigint where id = ${ids.person}::bigint`
  await db.write.run`
    insert into site_catalog (site_id, strategy_id, display_name, markup, added_at)
    values (${west}::bigint, ${ids.strategy}::bigint, 'Own', 25, now())`
  await subscribeAndDecline()
  await pass(30)
  expect(await mails()).toMatchObject([{ facts: { siteName: 'West', offer: 'Own', amount: '50.25' } }])
})

test('of a change of plans, by the name of the plan that was wanted', async () => {
  const { small, large } = await offerPlans()
  await attach()
  await choose(small)
  await work()
  await decline()
  await choose(large)
  await work()
  const facts = { ...declined, offer: 'Large', amount: '270.00', effect: 'nothingChanged', againAt: null }
  expect(await mails()).toEqual([{ address: 's@example.org', facts }])
})

test('of a fee that is owed after the end, also where a term was told of before it', async () => {
  await subscribeAndDecline()
  await pass(30)
  await decline('pm_card')
  await pass(31)
  await db.write.run`update subscription set is_cancel_pending = true`
  await decline()
  await pass(60)
  await db.write.run`
    insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, next_try_at)
    select id, 'performance', term_started_at, term_ends_at, 1234, 0, currency, 'stripe', term_ends_at from subscription`
  await pass(61)
  await pass(62)
  const facts = { ...declined, amount: '12.34', effect: 'owed', againAt: start + 62 * day }
  expect((await mails()).slice(1)).toEqual([{ address: 's@example.org', facts }])
})

test('to nobody who was removed', async () => {
  await subscribeAndDecline()
  await db.write.run`update person set is_alive = false where id = ${ids.person}::bigint`
  await pass(30)
  expect(await state()).toMatchObject({ failures: 1 })
  expect(await told()).toBe(0)
})

test('not where the payment is given up with its subscription', async () => {
  const { small, large } = await offerPlans()
  await attach()
  await choose(small)
  await work()
  clock.time = start + 29 * day
  standIn.script.push('fail', 'fail')
  await choose(large)
  await work()
  await db.write.run`update subscription set is_cancel_pending = true, next_plan_id = null`
  await pass(31)
  standIn.script.length = 0
  await db.write.run`update charge set claimed_until = to_timestamp(0) where claimed_until is not null`
  await work()
  expect(await db.read.one`select status from charge where purpose = 'upgrade'`).toEqual({ status: 'failed' })
  expect(await told()).toBe(0)
})

test('of a term beside a change of plans, at once or after it: what follows is not the same', async () => {
  const { small } = await offerPlans()
  await attach()
  await choose(small)
  await work()
  const both = [await asked('upgrade', start, 300), await asked('performance', start, 200)]
  await answer(start + day, ...both)
  const change = { amount: '3.00', effect: 'nothingChanged', againAt: null }
  const fee = { amount: '2.00', effect: 'suspends', againAt: start + 2 * day }
  expect(await mails()).toMatchObject([{ facts: change }, { facts: fee }])
  await answer(start + 2 * day, await asked('upgrade', start + day, 300))
  expect(await told()).toBe(3)
  await pass(30)
  await answer(start + 31 * day, await asked('upgrade', start + 31 * day, 300))
  await answer(start + 32 * day, await asked('performance', start + 30 * day, 200))
  expect((await mails()).slice(-2)).toMatchObject([{ facts: change }, { facts: { effect: 'suspends' } }])
})

test('once, also where what was declined before is made up for later; the last failure stays the last', async () => {
  await subscribeAndDecline()
  await pass(30)
  const late = await asked('term', start - day, 700)
  await answer(start + day, late)
  await db.write.run`update charge set claimed_until = now() where id = ${late}::bigint`
  await answer(start + 4 * day, late)
  expect(await told()).toBe(1)
  const last = db.read.one`
    select billing_failed_at as at, billing_failure_reason as reason, billing_failures as failures from subscription`
  expect(await last).toEqual({ at: start + 30 * day, reason: 'insufficient_funds', failures: 3 })
})

test('of a fee after the end, also where a payment that nobody asks for any more was declined before it', async () => {
  await attach()
  await open()
  await work()
  const [term, fee] = [await asked('term', start - day, 700), await asked('performance', start, 200)]
  await db.write.run`update subscription set is_cancel_pending = true`
  await pass(30)
  await answer(start + 31 * day, term)
  expect(await told()).toBe(0)
  await answer(start + 32 * day, fee)
  expect(await mails()).toMatchObject([{ facts: { amount: '2.00', effect: 'owed' } }])
})
