/** Payments whose answer is still awaited when nobody may ask for them any more. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { cancelPlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { day, makeStripeScene, start } from './stripe-scene.ts'

const scene = await makeStripeScene()
const { db, standIn, clock, ids, work, attach, openUnanswered, state, sound, incidents, tell } = scene
const { offerPlans, choose } = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

/** As if the time had come at which a claim runs out. */
const claimRunsOut = () =>
  db.write
    .run`update charge set claimed_until = clock_timestamp() - interval '1 second' where claimed_until is not null`

describe('a payment without an answer as its subscription ends', () => {
  async function end(mood: 'drop' | 'fail' | 'delay'): Promise<void> {
    const { small, large } = await offerPlans()
    await attach()
    await choose(small)
    await work()
    clock.time = start + 29 * day
    standIn.script.push(mood, mood)
    await choose(large)
    await work()
    await cancelPlan(db.write, ids.person, 'investor')
    clock.time = start + 31 * day
    await work()
    standIn.script.length = 0
  }
  const upgrade = () =>
    db.read.one`select status, attempts, failure_reason as reason from charge where purpose = 'upgrade'`

  test('is looked for and booked when it was made', async () => {
    await end('drop')
    await claimRunsOut()
    await work()
    expect(await upgrade()).toMatchObject({ status: 'paid', attempts: 1 })
    expect(await incidents()).toEqual([{ kind: 'paidAfterTheEnd' }])
    await sound()
  })

  test('is not made any more when it was not', async () => {
    await end('fail')
    await claimRunsOut()
    await work()
    expect(await upgrade()).toEqual({ status: 'failed', attempts: 1, reason: 'subscription ended' })
    expect(await state()).toMatchObject({ failures: 0, reason: null })
    expect(standIn.intents.size).toBe(1)
    expect(await incidents()).toEqual([])
    clock.time = start + 60 * day
    await work()
    expect(standIn.intents.size).toBe(1)
    await sound()
  })

  test('and is declined in the end is not tried again', async () => {
    await end('delay')
    const asked = [...standIn.intents.values()].at(-1)
    if (asked) asked.status = 'requires_payment_method'
    await claimRunsOut()
    await work()
    clock.time = start + 60 * day
    await work()
    expect(await upgrade()).toMatchObject({ status: 'failed', attempts: 1 })
    expect(standIn.intents.size).toBe(2)
    await sound()
  })
})

test('money that comes after the end is booked and told to the operator', async () => {
  await openUnanswered()
  await db.write
    .run`update subscription set status = 'ended', ended_at = ${new Date(clock.time).toISOString()}::timestamptz`
  await tell('payment_intent.succeeded')
  await work()
  expect(await state()).toMatchObject({ status: 'ended', charge: 'paid' })
  expect(await db.read.rows`select kind from incident`).toEqual([{ kind: 'paidAfterTheEnd' }])
  await sound()
})
