/** Declines that Stripe tells late, twice, beside a payment, or of what is not its own. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { billingSteps } from '../../src/execution/billing.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import {
  attachMethod,
  connectStripe,
  readStripeEvent,
  stripeProvider,
} from '../../src/execution/payments/stripe.ts'
import { subscribe } from '../../src/operations/subscribe.ts'
import { auditViolations } from '../../src/storage/audit.ts'
import { notePaymentTakenBack, takePaymentEvent } from '../../src/storage/payment-events.ts'
import { savePaymentMethod } from '../../src/storage/payment-methods.ts'
import { emptyPlatform, insertPersons } from '../../src/storage/provision.ts'
import { insertStrategy } from '../../src/storage/strategies.ts'
import { setSwitch } from '../../src/storage/switches.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { decliningMethod, startStripeStandIn } from '../support/stripe-stand-in.ts'

const { db } = await testDatabase()
const standIn = await startStripeStandIn()
afterAll(() => standIn.close())
const environment = 'T'
const secret = 'whsec_test'
const stripe = await connectStripe({ secretKey: 'sk_test_x', baseUrl: standIn.url })
const steps = billingSteps([stripeProvider(stripe, environment)])

const start = Date.parse('2024-03-12T14:00:00Z')
const day = 86_400_000
let now = start
const ctx = {
  ...{ db, clock: { now: () => now }, log: silentLog, workerId: 'w', settings: {} },
} as unknown as WorkContext

let personId = 0
let strategyId = 0

beforeEach(async () => {
  now = start
  standIn.forget()
  await db.transaction(emptyPlatform)
  const person = { role: 'user', lastName: 'X', siteId: 1, createdAt: now } as const
  const [owner = 0, subscriber = 0] = await insertPersons(db.write, [
    { ...person, firstName: 'Olga', email: 'o@example.org' },
    { ...person, firstName: 'Sam', email: 's@example.org' },
  ])
  personId = subscriber
  strategyId = await insertStrategy(db.write, {
    ...{ siteId: 1, ownerPersonId: owner, name: 'Trend', startingCash: '1000' },
    startedAt: new Date(now).toISOString(),
  })
  await db.write.run`update strategy set monthly_cost = 50`
  await setSwitch(db.write, 'paymentProvider', 'stripe', now)
})

/** Works until nothing moves. */
async function work(): Promise<void> {
  for (let moved = 1; moved > 0; ) {
    moved = 0
    for (const step of steps) moved += await step.run(ctx)
  }
}
async function attach(method = 'pm_card'): Promise<void> {
  const customerRef = await attachMethod(stripe, { environment, personId, method })
  await savePaymentMethod(db.write, { personId, provider: 'stripe', customerRef, methodRef: method, at: now })
}
const open = () => db.transaction((tx) => subscribe(tx, { personId, strategyId, kind: 'paid', at: now }))
const state = () =>
  db.read.one<{ status: string; charge: string; attempts: number; failures: number; reason: string | null }>`
    select s.status, c.status as charge, c.attempts, s.billing_failures as failures,
      s.billing_failure_reason as reason
    from subscription s join charge c on c.subscription_id = s.id order by c.id desc limit 1`
const sound = async () => expect(await auditViolations(db.read)).toEqual([])

/** A signed call of Stripe's about the newest intent. */
function told(type: string, more: { id?: string; secret?: string; object?: object } = {}) {
  const object = { ...[...standIn.intents.values()].at(-1), ...more.object }
  const body = JSON.stringify({ id: more.id ?? `evt_${type}`, object: 'event', type, data: { object } })
  const signature = stripe.webhooks.generateTestHeaderString({ payload: body, secret: more.secret ?? secret })
  return { body, signature }
}
async function tell(type: string, id = `evt_${type}`, object: object = {}): Promise<void> {
  const event = readStripeEvent(stripe, { environment, secret }, told(type, { id, object }))
  if (event === undefined || event === 'forged') throw new Error(`no event: ${event}`)
  if ('chargeId' in event) await takePaymentEvent(db.write, event, now)
  else await notePaymentTakenBack(db.write, event, now)
}
const incidents = () => db.read.rows`select kind from incident order by id`

/** Lets the renewal be declined, and its second try wait for an answer; answers the payment that was declined. */
async function tryAgain() {
  await attach()
  await open()
  await work()
  await db.write.run`update payment_method set method_ref = ${decliningMethod}`
  now = start + 30 * day
  await work()
  const declined = [...standIn.intents.values()].at(-1)
  await db.write.run`update payment_method set method_ref = 'pm_card'`
  standIn.script.push('delay')
  now = start + 31 * day
  await work()
  return declined
}

test('that an earlier try was declined, told late, is no answer to the present one', async () => {
  const earlier = await tryAgain()
  await tell('payment_intent.payment_failed', 'evt_late', earlier)
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'due', attempts: 2, failures: 1 })
  // Tried once more while the bank still thinks, it would be paid twice.
  now = start + 40 * day
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

describe('what is told of a payment', () => {
  test.each([
    ['and then as paid', ['payment_intent.payment_failed', 'payment_intent.succeeded']],
    ['after it was paid', ['payment_intent.succeeded', 'payment_intent.payment_failed']],
  ])('as declined %s, in one turn, is not asked for again', async (_name, types) => {
    await attach()
    await open()
    standIn.script.push('delay')
    await work()
    for (const type of types) await tell(type)
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', failures: 0 })
    await sound()
  })

  test('for a charge of another provider pays nothing', async () => {
    await attach()
    await open()
    standIn.script.push('delay')
    await work()
    await db.write.run`update charge set provider = 'simulated', claimed_until = null`
    await tell('payment_intent.succeeded')
    await tell('payment_intent.payment_failed')
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due', failures: 0 })
    expect(await incidents()).toEqual([])
  })
})
