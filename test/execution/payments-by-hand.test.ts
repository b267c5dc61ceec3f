/** Charges of Stripe's that an operator notes as paid otherwise, or lets go, and money that comes when nobody waits for it. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { notePaidOtherwise, waiveCharge } from '../../src/storage/billing/by-hand.ts'
import { retryCharges } from '../../src/storage/billing/charges.ts'
import { cancelPlan, savePlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { settleCharges } from '../../src/storage/billing/settlement.ts'
import { decliningMethod } from '../support/stripe-stand-in.ts'
import { day, makeStripeScene, start } from './stripe-scene.ts'

const scene = await makeStripeScene()
const { db, standIn, clock, work, attach, open, openUnanswered, state, sound, incidents, tell } = scene
const { choose, declineRenewal, offer, offerPlans, payBy } = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

const settle = (chargeId: number, isLookedUp = false) =>
  db.transaction((tx) => notePaidOtherwise(tx, { chargeId, at: clock.time, isLookedUp }))
const waive = (chargeId: number, isLookedUp = false) =>
  db.transaction((tx) => waiveCharge(tx, { chargeId, isLookedUp }))
const chosen = () => db.read.one`select plan_id as plan, next_plan_id as next from subscription`

/** On the day after the start of a plan a change to another is declined; what is asked for later is paid. Answers its charge. */
async function declineChange(plan: number, other: number): Promise<number> {
  await attach()
  await choose(plan)
  await work()
  clock.time = start + day
  await payBy(decliningMethod)
  await choose(other)
  await work()
  await payBy('pm_card')
  return (await db.read.one<{ id: number }>`select id from charge where purpose = 'upgrade'`).id
}

test('what was paid otherwise after a decline is asked for no more, and money that comes for it is a second payment', async () => {
  await declineRenewal()
  const { id } = await db.read.one<{ id: number }>`select id from charge where status = 'due'`
  expect(await settle(id)).toBe('noted')
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid', failures: 0 })
  clock.time = start + 59 * day
  await work()
  expect(standIn.intents.size).toBe(2)
  await tell('payment_intent.succeeded')
  await work()
  expect(await incidents()).toEqual([{ kind: 'paidTwice' }])
  await sound()
})

test.each([
  ['noted as paid otherwise', settle, { charge: 'paid' }, 'paidTwice'],
  ['let go', waive, { charge: 'waived' }, 'paidAfterWaiver'],
] as const)(
  'what waits for its answer is not %s unless it was looked up; money that comes all the same is told',
  async (_, doing, state, kind) => {
    await openUnanswered()
    const { id } = await db.read.one<{ id: number }>`select id from charge`
    expect(await doing(id)).toBe('asked')
    expect(await scene.state()).toMatchObject({ status: 'pending', charge: 'due' })
    expect(await doing(id, true)).toMatch(/^(noted|waived)$/)
    expect(await scene.state()).toMatchObject({ status: 'active', ...state })
    await sound()
    await tell('payment_intent.succeeded')
    await work()
    expect(await incidents()).toEqual([{ kind }])
    expect(await scene.state()).toMatchObject({ status: 'active', charge: 'paid' })
    await sound()
  },
)

test('what was let go is asked for no more, and a decline of it that is told late counts nothing', async () => {
  await openUnanswered()
  const { id } = await db.read.one<{ id: number }>`select id from charge`
  expect([await waive(id, true), await waive(id, true)]).toEqual(['waived', 'waivedBefore'])
  await tell('payment_intent.payment_failed')
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'waived', failures: 0 })
  expect(await settle(id)).toBe('noted')
  expect([await waive(id), await settle(id)]).toEqual(['paid', 'notedBefore'])
  expect(await incidents()).toEqual([])
  await sound()
})

test('a term that is paid by hand after the end is told to who notes it, and by no incident', async () => {
  await declineRenewal()
  await db.write.run`update subscription set is_cancel_pending = true`
  clock.time = start + 60 * day
  await work()
  const { id } = await db.read.one<{ id: number }>`select id from charge where status = 'failed'`
  expect(await settle(id)).toBe('notedInVain')
  expect(await incidents()).toEqual([])
  expect(await state()).toMatchObject({ status: 'ended', charge: 'paid' })
  await sound()
})

/** A fee on gains that is due. */
async function insertFee(cents: number): Promise<number> {
  const { id } = await db.write.one<{ id: number }>`
    insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, next_try_at)
    select id, 'performance', term_started_at, term_ends_at, ${cents}::bigint, 0, currency, 'stripe', started_at
    from subscription returning id`
  return id
}

async function askForFee(cents: number): Promise<number> {
  const id = await insertFee(cents)
  await work()
  return id
}

// As it was made before the limits were heeded: Stripe refuses each try, and nobody can wait for its answer.
test('a charge of 49 cents is noted as paid otherwise while it is asked for in vain', async () => {
  await attach()
  await open()
  await work()
  standIn.script.push('bar')
  const id = await askForFee(49)
  expect(await db.read.rows`select id from charge where claimed_until is not null`).toEqual([{ id }])
  expect(await settle(id)).toBe('noted')
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
})

test('a fee that is more than Stripe collects is not asked of it: its payer is told, it suspends, and is paid by hand', async () => {
  await attach()
  await open()
  await work()
  const id = await askForFee(100_000_000)
  const reason = 'too large for one payment by Stripe, to be paid otherwise'
  expect(await state()).toMatchObject({ status: 'active', charge: 'due', attempts: 1, failures: 1, reason })
  const mails = () =>
    db.read.rows`
      select facts ->> 'amount' as amount, facts ->> 'reason' as reason, facts ->> 'effect' as effect,
        facts ->> 'againAt' as again, (facts ->> 'untilAt')::bigint as until from mail order by id`
  const told = { amount: '1000000.00', reason, again: null }
  expect(await mails()).toEqual([{ ...told, effect: 'suspends', until: start + 16 * day }])
  for (const days of [1, 4, 9, 16]) {
    clock.time = start + days * day
    await work()
  }
  expect(await state()).toMatchObject({ status: 'suspended', charge: 'failed', failures: 5 })
  expect((await mails()).slice(1)).toEqual([{ ...told, effect: 'suspended', until: start + 16 * day }])
  expect(standIn.intents.size).toBe(1)
  expect(await settle(id)).toBe('noted')
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid', failures: 0 })
})

test.each(['at Stripe’s', 'by hand'])(
  'a change of plans that was let go, and is paid all the same %s, is made as the operator says so alone',
  async (how) => {
    const { small, large } = await offerPlans()
    const tiny = await savePlan(db.write, { ...offer, name: 'Tiny', price: '10' })
    await attach()
    await choose(small)
    await work()
    clock.time = start + day
    standIn.script.push('delay')
    await choose(large)
    await work()
    const { id } = await db.read.one<{ id: number }>`select id from charge where purpose = 'upgrade'`
    expect(await waive(id, true)).toBe('waived')
    // As the change came to nothing, another was chosen.
    await choose(tiny)
    if (how === 'by hand') expect(await settle(id)).toBe('noted')
    else {
      await tell('payment_intent.succeeded')
      await work()
    }
    expect(await chosen()).toEqual({ plan: how === 'by hand' ? large : small, next: tiny })
    expect(await incidents()).toEqual(how === 'by hand' ? [] : [{ kind: 'paidAfterWaiver' }])
    await sound()
  },
)

test.each([
  ['another', 29, { next: 'tiny' }, 'tiny'],
  ['none', 29, { next: null }, 'ended'],
  ['the present one', 29, { next: 'small' }, 'small'],
  ['another, which has begun', 31, 'in vain', 'tiny'],
] as const)(
  'a change of plans that is paid after all leaves what was chosen since it was declined: %s',
  async (which, days, then, last) => {
    const { small, large } = await offerPlans()
    const tiny = await savePlan(db.write, { ...offer, name: 'Tiny', price: '10' })
    const id = await declineChange(small, large)
    // At the same moment: the clock does not tell what came first.
    if (which === 'none') await cancelPlan(db.write, scene.ids.person, 'investor')
    else await choose(which === 'the present one' ? small : tiny)
    clock.time = start + days * day
    await work()
    const plans = { tiny, small, ended: small }
    if (then === 'in vain') expect(await settle(id)).toBe('notedInVain')
    else {
      expect(await settle(id)).toBe('noted')
      expect(await chosen()).toEqual({ plan: large, next: then.next && plans[then.next] })
      expect(await db.read.one`select base_price as price from subscription`).toEqual({ price: 30_000 })
      clock.time = start + 31 * day
      await work()
    }
    if (last === 'ended') expect(await state()).toMatchObject({ status: 'ended' })
    else expect(await chosen()).toEqual({ plan: plans[last], next: null })
    await sound()
  },
)

test('a change to a plan of another term, too, begins no more once what was chosen since it was declined has begun', async () => {
  const { small, large } = await offerPlans(365)
  const tiny = await savePlan(db.write, { ...offer, name: 'Tiny', price: '10' })
  const id = await declineChange(small, large)
  await choose(tiny)
  clock.time = start + 31 * day
  await work()
  expect(await settle(id)).toBe('notedInVain')
  expect(await chosen()).toEqual({ plan: tiny, next: null })
  await sound()
})

test('a wish to go on with another plan, once that is paid, outlasts an older change that is paid after all', async () => {
  const { small, large } = await offerPlans()
  const medium = await savePlan(db.write, { ...offer, name: 'Medium', price: '100' })
  await attach()
  await choose(small)
  await work()
  await payBy(decliningMethod)
  for (const plan of [large, medium]) {
    clock.time += day
    await cancelPlan(db.write, scene.ids.person, 'investor')
    await choose(plan)
    await work()
  }
  const upgrades = await db.read.rows<{
    id: number
  }>`select id from charge where purpose = 'upgrade' order by id`
  for (const { id } of upgrades) expect(await settle(id)).toBe('noted')
  expect(await chosen()).toEqual({ plan: medium, next: null })
  expect(await db.read.one`select is_cancel_pending as ends from subscription`).toEqual({ ends: false })
  await sound()
})

test('what was chosen before a change of plans gives way to it, paid after all as it may be', async () => {
  const { small, large } = await offerPlans()
  const tiny = await savePlan(db.write, { ...offer, name: 'Tiny', price: '10' })
  const medium = await savePlan(db.write, { ...offer, name: 'Medium', price: '100' })
  await declineChange(small, medium)
  await choose(tiny)
  clock.time = start + 2 * day
  await payBy(decliningMethod)
  await choose(large)
  await work()
  const { id } = await db.read.one<{ id: number }>`select max(id) as id from charge where purpose = 'upgrade'`
  expect(await settle(id)).toBe('noted')
  expect(await chosen()).toEqual({ plan: large, next: null })
})

test.each(['let go', 'paid'])(
  'a suspension goes on while what was given up is tried again, though a fee is %s',
  async (how) => {
    await declineRenewal()
    for (const days of [31, 34, 39, 46]) {
      clock.time = start + days * day
      await work()
    }
    expect(await state()).toMatchObject({ status: 'suspended', charge: 'failed' })
    const { id } = await db.read.one<{ id: number }>`select id from subscription`
    await retryCharges(db.write, id, clock.time)
    const now = () => db.read.one`select status, billing_failures as failures from subscription`
    standIn.script.push('delay')
    await payBy('pm_card')
    await work()
    const fee = await insertFee(700)
    expect(await (how === 'let go' ? waive : settle)(fee)).toBe(how === 'let go' ? 'waived' : 'noted')
    expect(await now()).toEqual({ status: 'suspended', failures: 5 })
    await tell('payment_intent.succeeded')
    await work()
    expect(await now()).toEqual({ status: 'active', failures: 0 })
  },
)

test.each(['by hand', 'at Stripe’s'])(
  'a change of plans that is paid %s after a later one does not undo it, and is told',
  async (how) => {
    const { small, large } = await offerPlans()
    const medium = await savePlan(db.write, { ...offer, name: 'Medium', price: '100' })
    const id = await declineChange(small, medium)
    clock.time = start + 2 * day
    await choose(large)
    await work()
    if (how === 'by hand') expect(await settle(id)).toBe('notedInVain')
    else {
      const answer = { chargeId: id, attempt: 1, at: clock.time, paymentRef: 'pi_late' } as const
      await db.transaction((tx) => settleCharges(tx, [{ outcome: 'paid', ...answer }]))
    }
    expect(await incidents()).toEqual(how === 'by hand' ? [] : [{ kind: 'paidTooLate' }])
    const kept = db.read.one`select plan_id as plan, base_price as price from subscription`
    expect(await kept).toEqual({ plan: large, price: 30_000 })
    await sound()
  },
)

test.each(['by hand', 'at Stripe’s'])(
  'a change of plans that would begin with a next term, and is paid %s when there is none to come, is told',
  async (how) => {
    const { small, large } = await offerPlans()
    const id = await declineChange(small, large)
    clock.time = start + 30 * day
    await work()
    expect(await cancelPlan(db.write, scene.ids.person, 'investor')).toBe(true)
    if (how === 'by hand') expect(await settle(id)).toBe('notedInVain')
    else {
      const answer = { chargeId: id, attempt: 1, at: clock.time, paymentRef: 'pi_late' } as const
      await db.transaction((tx) => settleCharges(tx, [{ outcome: 'paid', ...answer }]))
    }
    expect(await incidents()).toEqual(how === 'by hand' ? [] : [{ kind: 'paidTooLate' }])
    await sound()
  },
)

test('a term too large for Stripe that nobody asks for after the end has failed for nobody', async () => {
  await attach()
  await open()
  await work()
  const id = await insertFee(100_000_000)
  await db.write.run`
    update charge set purpose = 'term', period_started_at = period_started_at - interval '30 days',
      attempts = 1, claimed_until = to_timestamp(0) where id = ${id}::bigint`
  await db.write.run`update subscription set status = 'ended', ended_at = now(), end_reason = 'canceled'`
  await work()
  expect(await state()).toMatchObject({ status: 'ended', charge: 'failed', failures: 0, reason: null })
})
