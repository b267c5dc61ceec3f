/** A subscriber of a paid strategy whose payments Stripe collects: its own client against a stand-in, no clock of ours. */
import { expect } from 'vitest'
import { billingSteps } from '../../src/execution/billing.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import {
  attachMethod,
  connectStripe,
  readStripeEvent,
  stripeProvider,
} from '../../src/execution/payments/stripe.ts'
import { subscribe } from '../../src/operations/subscribe.ts'
import { choosePlan } from '../../src/operations/subscribe-plan.ts'
import { notePaymentAfterwards, takePaymentEvent } from '../../src/storage/billing/payment-events.ts'
import { findPayer, savePaymentMethod } from '../../src/storage/billing/payment-methods.ts'
import { savePlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { auditViolations } from '../../src/storage/operating/audit.ts'
import { emptyPlatform, insertPersons } from '../../src/storage/operating/provision.ts'
import { insertStrategy } from '../../src/storage/strategies/strategies.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { testDatabase } from '../support/database.ts'
import { silentLog } from '../support/database-server.ts'
import { decliningMethod, startStripeStandIn } from '../support/stripe-stand-in.ts'

export const start = Date.parse('2024-03-12T14:00:00Z')
export const day = 86_400_000
export const environment = 'T'
export const secret = 'whsec_test'

export async function makeStripeScene() {
  const { db } = await testDatabase()
  const standIn = await startStripeStandIn()
  const stripe = await connectStripe({ secretKey: 'sk_test_x', baseUrl: standIn.url })
  const steps = billingSteps([stripeProvider(stripe, environment)])
  const clock = { time: start }
  const ids = { person: 0, strategy: 0 }
  const ctx = {
    db,
    clock: { now: () => clock.time },
    log: silentLog,
    workerId: 'w',
    settings: {},
  } as unknown as WorkContext

  /** An owner whose strategy costs 50 a month, and a subscriber to be. */
  async function begin(): Promise<void> {
    clock.time = start
    standIn.forget()
    await db.transaction(emptyPlatform)
    const person = { role: 'user', lastName: 'X', siteId: 1, createdAt: start } as const
    const [owner = 0, subscriber = 0] = await insertPersons(db.write, [
      { ...person, firstName: 'Olga', email: 'o@example.org' },
      { ...person, firstName: 'Sam', email: 's@example.org' },
    ])
    ids.person = subscriber
    ids.strategy = await insertStrategy(db.write, {
      siteId: 1,
      ownerPersonId: owner,
      name: 'Trend',
      startingCash: '1000',
      startedAt: new Date(start).toISOString(),
    })
    await db.write.run`update strategy set monthly_cost = 50`
    await setSwitch(db.write, 'paymentProvider', 'stripe', start)
  }

  /** Works until nothing moves. */
  async function work(): Promise<void> {
    for (let moved = 1; moved > 0; ) {
      moved = 0
      for (const step of steps) moved += await step.run(ctx)
    }
  }
  async function attach(method = 'pm_card'): Promise<void> {
    const payer = await findPayer(db.read, ids.person, 'stripe')
    const known = payer?.customerRef ?? null
    const customerRef = await attachMethod(stripe, {
      environment,
      personId: ids.person,
      method,
      customerRef: known,
    })
    const saved = { provider: 'stripe', customerRef, methodRef: method } as const
    await savePaymentMethod(db.write, { personId: ids.person, at: clock.time, ...saved })
  }
  const open = () => {
    const wish = { personId: ids.person, strategyId: ids.strategy, kind: 'paid', at: clock.time } as const
    return db.transaction((tx) => subscribe(tx, wish))
  }
  const payBy = (method: string) => db.write.run`update payment_method set method_ref = ${method}`
  /** Opened and paid, and declined when its first term ends. */
  async function declineRenewal(method = decliningMethod): Promise<void> {
    await attach()
    await open()
    await work()
    await payBy(method)
    clock.time = start + 30 * day
    await work()
  }
  /** A first payment whose answer is a long time in coming. */
  async function openUnanswered(): Promise<void> {
    await attach()
    await open()
    standIn.script.push('delay')
    await work()
  }
  const offer = { siteId: 1, kind: 'investor', strategiesIncluded: 3, termDays: 30 } as const
  /** Offers a plan and one ten times as dear; answers their ids. */
  const offerPlans = async (termDays: 30 | 365 = 30) => ({
    small: await savePlan(db.write, { ...offer, name: 'Small', price: '30' }),
    large: await savePlan(db.write, { ...offer, name: 'Large', termDays, price: '300' }),
  })
  const choose = (planId: number) =>
    db.transaction((tx) => choosePlan(tx, { personId: ids.person, planId, at: clock.time }))
  const state = () =>
    db.read.one<{
      status: string
      charge: string
      attempts: number
      failures: number
      reason: string | null
    }>`
      select s.status, c.status as charge, c.attempts, s.billing_failures as failures,
        s.billing_failure_reason as reason
      from subscription s join charge c on c.subscription_id = s.id order by c.id desc limit 1`
  const sound = async () => expect(await auditViolations(db.read)).toEqual([])
  const incidents = () => db.read.rows`select kind from incident order by id`

  /** A signed call of Stripe's about the newest intent. */
  function told(type: string, more: { id?: string; secret?: string; object?: object } = {}) {
    const object = { ...[...standIn.intents.values()].at(-1), ...more.object }
    const body = JSON.stringify({ id: more.id ?? `evt_${type}`, object: 'event', type, data: { object } })
    const signature = stripe.webhooks.generateTestHeaderString({
      payload: body,
      secret: more.secret ?? secret,
    })
    return { body, signature }
  }
  async function tell(type: string, id = `evt_${type}`, object: object = {}): Promise<void> {
    const event = readStripeEvent(stripe, { environment, secret }, told(type, { id, object }))
    if (event === undefined || event === 'forged') throw new Error(`no event: ${event}`)
    await db.transaction((tx) =>
      'chargeId' in event
        ? takePaymentEvent(tx, event, clock.time)
        : notePaymentAfterwards(tx, event, clock.time),
    )
  }
  const paying = { attach, payBy, open, openUnanswered, declineRenewal }
  const doing = { begin, work, ...paying, told, tell, offer, offerPlans, choose }
  return { db, standIn, stripe, clock, ids, ...doing, state, sound, incidents }
}
