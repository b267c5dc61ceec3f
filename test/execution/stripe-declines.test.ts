/** Declines that Stripe tells late, twice, beside a payment, or of what is not its own. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { savePlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { settleCharges } from '../../src/storage/billing/settlement.ts'
import { insertSite } from '../../src/storage/operating/provision.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { detachedMethod } from '../support/stripe-stand-in.ts'
import { day, makeStripeScene, start } from './stripe-scene.ts'

const scene = await makeStripeScene()
const { db, standIn, clock, ids, work, attach, open, openUnanswered, state, sound, incidents, tell } = scene
const { choose, declineRenewal, offer, offerPlans, payBy } = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

/** Lets the renewal be declined, and its second try wait for an answer; answers the payment that was declined. */
async function tryAgain() {
  await declineRenewal()
  const declined = [...standIn.intents.values()].at(-1)
  await payBy('pm_card')
  standIn.script.push('delay')
  clock.time = start + 31 * day
  await work()
  return declined
}

test('that an earlier try was declined, told late, is no answer to the present one', async () => {
  const earlier = await tryAgain()
  await tell('payment_intent.payment_failed', 'evt_late', earlier)
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'due', attempts: 2, failures: 1 })
  // Tried once more while the bank still thinks, it would be paid twice.
  clock.time = start + 40 * day
  await work()
  expect(standIn.intents.size).toBe(3)
  await tell('payment_intent.succeeded')
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 2, failures: 0 })
  await sound()
})

test('a try that is told as declined twice in one turn has failed once', async () => {
  await tryAgain()
  await tell('payment_intent.payment_failed', 'evt_1')
  await tell('payment_intent.payment_failed', 'evt_2')
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'due', attempts: 2, failures: 2 })
  await sound()
})

test('a try that is told as declined while it is booked as paid is not asked for again', async () => {
  await openUnanswered()
  const { id: chargeId } = await db.read.one<{ id: number }>`select id from charge`
  const answer = { chargeId, attempt: 1, at: start, paymentRef: 'pi_1' } as const
  const letGo = await holdLocks(db, (tx) => settleCharges(tx, [{ outcome: 'paid', ...answer }]))
  const declining = db.transaction((tx) =>
    settleCharges(tx, [{ outcome: 'declined', reason: 'declined', ...answer }]),
  )
  await untilWaiting(db.read)
  await letGo()
  expect(await declining).toBe(0)
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 1, failures: 0 })
  await sound()
})

describe('a payment that Stripe refuses to make', () => {
  test('with a method that was detached is declined: its first opens nothing', async () => {
    await attach(detachedMethod)
    await open()
    await work()
    const reason = 'payment method detached'
    expect(await state()).toMatchObject({ status: 'ended', charge: 'failed', attempts: 1, reason })
    expect(standIn.intents.size).toBe(0)
    await sound()
  })

  test('because our account may collect nothing now is nobody’s failure: it stays due', async () => {
    await attach()
    await open()
    standIn.script.push('bar')
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due', failures: 0 })
    await db.write.run`update charge set claimed_until = to_timestamp(0)`
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', failures: 0 })
    await sound()
  })

  test('is nobody’s failure either where its method cannot be looked at', async () => {
    await attach(detachedMethod)
    await open()
    standIn.script.push('bar', 'fail')
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due', failures: 0 })
    expect(standIn.script).toEqual([])
    await sound()
  })

  test.each([49, 100_000_000])(
    'because it is %d cents is not asked for: no plan is opened',
    async (cents) => {
      await attach()
      const { small } = await offerPlans()
      await db.write.run`update plan set price = ${cents}::bigint where id = ${small}`
      expect(await choose(small)).toMatchObject({ refused: 'StateConflict' })
      expect(await db.read.rows`select from subscription`).toEqual([])
    },
  )

  test.each([
    ['small', 0.49, 0.5],
    ['large', 1_000_000, 999_999.99],
  ])('because it is too %s is not asked for: nothing is opened', async (_, price, collected) => {
    const cost = (dollars: number) => db.write.run`update strategy set monthly_cost = ${dollars}::numeric`
    await cost(price)
    await attach()
    const range = '0.50 to 999999.99 USD'
    expect(await open()).toMatchObject({
      refused: 'StateConflict',
      message: `No payment of ${price.toFixed(2)} USD is collected by stripe, only of ${range}`,
    })
    await cost(collected)
    await open()
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    await sound()
  })

  test('because its next term costs too little lets that go, and is told to the operator once a month', async () => {
    await attach()
    await open()
    await work()
    await db.write.run`update strategy set monthly_cost = 0.3`
    for (const days of [30, 60]) {
      clock.time = start + days * day
      await work()
    }
    const detail = { strategyId: ids.strategy, planId: null, siteId: null, amount: 30 }
    const told = { kind: 'priceNotCollected', detail }
    expect(await db.read.rows`select kind, detail from incident order by id`).toEqual([told, told])
    const standing = await db.read.one`select status, base_price as price from subscription`
    expect(standing).toEqual({ status: 'active', price: 0 })
    await db.write.run`update strategy set monthly_cost = 60`
    clock.time = start + 90 * day
    await work()
    expect([...standIn.intents.values()].map(({ amount }) => amount)).toEqual([5_000, 6_000])
    await sound()
  })

  test.each([
    ['once where it stays', false],
    ['of each where there are two', true],
  ])('because of a markup is told of in a month %s', async (_, moves) => {
    clock.time = Date.parse('2024-04-01T14:00:00Z')
    const site = { kind: 'whitelabel', code: 'w', name: 'W', createdAt: start } as const
    const other = await insertSite(db.write, site)
    await db.write.run`update strategy set monthly_cost = 0`
    await open()
    await db.write.run`
      insert into site_catalog (site_id, strategy_id, markup, added_at)
      select site, id, 30, now() from strategy cross join unnest(array[1, ${other}::bigint]) site`
    clock.time += 30 * day
    await work()
    if (moves)
      await db.write.run`update person set site_id = ${other}::bigint where id = ${ids.person}::bigint`
    clock.time += 30 * day
    await work()
    const sites = await db.read.rows`select detail -> 'siteId' as site from incident order by id`
    expect(sites).toEqual(moves ? [{ site: 1 }, { site: other }] : [{ site: 1 }])
  })

  // Asked for in vain for ever, it would refuse every other change.
  test('because it is too small is not asked for a dearer plan: that begins with the next term', async () => {
    await attach()
    const { small, large } = await offerPlans()
    expect(await choose(small)).toMatchObject({ begins: 'withPayment' })
    await work()
    clock.time = start + 30 * day - 3_600_000
    expect(await choose(large)).toMatchObject({ begins: 'later' })
    await work()
    expect(await choose(small)).toMatchObject({ begins: 'now' })
    expect(await choose(large)).toMatchObject({ begins: 'later' })
    clock.time = start + 30 * day
    await work()
    expect([...standIn.intents.values()].map(({ amount }) => amount)).toEqual([3_000, 30_000])
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    await sound()
  })

  test.each([
    ['small', '0.30'],
    ['large', '1000000'],
  ])('because it is too %s in every term is no plan to go on with', async (_, price) => {
    await attach()
    const { small } = await offerPlans()
    await choose(small)
    await work()
    const wrong = await savePlan(db.write, { ...offer, name: 'Wrong', price })
    clock.time = start + 30 * day - 1
    expect(await choose(wrong)).toMatchObject({ refused: 'StateConflict' })
    await db.write.run`update plan set price = 30 where id = ${small}::bigint`
    expect(await choose(small)).toMatchObject({ begins: 'now' })
    clock.time = start + 30 * day
    await work()
    expect(await db.read.rows`select detail -> 'planId' as plan from incident`).toEqual([{ plan: small }])
    await sound()
  })

  test('for later terms is tried again like a declined one, and suspends in the end', async () => {
    await declineRenewal(detachedMethod)
    expect(await state()).toMatchObject({ status: 'active', charge: 'due', failures: 1 })
    for (const days of [1, 4, 9, 16]) {
      clock.time = start + (30 + days) * day
      await work()
    }
    expect(await state()).toMatchObject({ status: 'suspended', charge: 'failed', failures: 5 })
    expect(standIn.intents.size).toBe(1)
    await sound()
  })
})

describe('what is told of a payment', () => {
  test.each([
    ['charge.refunded', { amount_refunded: 1200 }, 1200],
    ['charge.dispute.created', { amount: 700 }, 700],
  ])('as %s in part says how much', async (type, part, amount) => {
    await attach()
    await open()
    await work()
    const [made] = standIn.intents.values()
    await tell(type, 'evt_part', { id: 'du_1', payment_intent: made?.id, ...part })
    expect(await db.read.rows`select detail -> 'amount' as amount from incident`).toEqual([{ amount }])
  })

  test.each([
    ['and then as paid', ['payment_intent.payment_failed', 'payment_intent.succeeded']],
    ['after it was paid', ['payment_intent.succeeded', 'payment_intent.payment_failed']],
  ])('as declined %s, in one turn, is not asked for again', async (_name, types) => {
    await openUnanswered()
    for (const type of types) await tell(type)
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', failures: 0 })
    await sound()
  })

  test('to a charge of the same number on another platform is not of this one', async () => {
    await openUnanswered()
    const [asked] = standIn.intents.values()
    const metadata = { ...asked?.metadata, period: String(start - 30 * day) }
    await tell('payment_intent.succeeded', 'evt_1', { id: 'pi_elsewhere', metadata })
    await tell('payment_intent.payment_failed', 'evt_2', { id: 'pi_elsewhere', metadata })
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due', failures: 0 })
    expect(await incidents()).toEqual([])
    await tell('payment_intent.succeeded', 'evt_3')
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    await sound()
  })

  test('for a charge of another provider pays nothing', async () => {
    await openUnanswered()
    await db.write.run`update charge set provider = 'simulated', claimed_until = null`
    await tell('payment_intent.succeeded')
    await tell('payment_intent.payment_failed')
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due', failures: 0 })
    expect(await incidents()).toEqual([])
  })
})
