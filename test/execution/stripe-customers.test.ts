/** People who pay with Stripe's methods, one after the other, and what is done to them at Stripe's. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { makeStripeScene, start } from './stripe-scene.ts'

const scene = await makeStripeScene()
const { db, standIn, clock, work, attach, open, state, sound } = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

const present = () => db.read.one`select customer_ref as customer, method_ref as method from payment_method`

test('a person stays one customer, also when Stripe has forgotten the first call', async () => {
  await attach()
  const { customer } = (await present()) as { customer: string }
  standIn.forgetKeys()
  await attach('pm_other')
  // A method of a customer could be given to no other.
  standIn.forgetKeys()
  await attach()
  expect(await present()).toEqual({ customer, method: 'pm_card' })
  expect(standIn.customers.size).toBe(1)
})

test('who was deleted at Stripe’s becomes a customer again, and pays', async () => {
  await attach()
  const [gone] = standIn.customers.values()
  if (gone) gone.deleted = true
  await open()
  await work()
  expect(await state()).toMatchObject({ status: 'ended', charge: 'failed', reason: 'resource_missing' })
  await attach('pm_other')
  clock.time = start + 1
  await open()
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
  expect(standIn.customers.size).toBe(2)
  await sound()
})

test('what Stripe says against a method is told in its words alone', async () => {
  await attach()
  await db.write.run`delete from payment_method`
  standIn.forgetKeys()
  const refusal = new Error(
    'Stripe did not take pm_card: The payment method you provided has already been attached to a customer.',
  )
  await expect(attach()).rejects.toEqual(refusal)
})
