/** Payments through Stripe's own client against a stand-in with a state of its own. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { readStripeEvent } from '../../src/execution/payments/stripe.ts'
import { isRefused } from '../../src/operations/context.ts'
import { cancelPlan, savePlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { decliningMethod } from '../support/stripe-stand-in.ts'
import { day, environment, makeStripeScene, secret, start } from './stripe-scene.ts'

const scene = await makeStripeScene()
const {
  db,
  standIn,
  stripe,
  clock,
  ids,
  work,
  attach,
  open,
  openUnanswered,
  state,
  sound,
  incidents,
  told,
  tell,
  offer,
  offerPlans,
  choose,
  declineRenewal,
  payBy,
} = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

/** As if the time had come at which a claim runs out. */
const claimRunsOut = () =>
  db.write.run`update charge set claimed_until = clock_timestamp() - interval '1 second'`

describe('a first payment', () => {
  test('needs a payment method first', async () => {
    const refused = await open()
    expect(isRefused(refused) && refused.message).toContain('payment method')
    expect(await db.read.rows`select id from subscription`).toEqual([])
  })

  test('opens the subscription once it is made', async () => {
    await attach()
    await open()
    expect((await state()).status).toBe('pending')
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 1 })
    expect([...standIn.intents.values()]).toMatchObject([
      { amount: 5000, currency: 'usd', status: 'succeeded' },
    ])
    await sound()
  })

  test('that is declined opens nothing', async () => {
    await attach(decliningMethod)
    await open()
    await work()
    expect(await state()).toMatchObject({ status: 'ended', charge: 'failed', reason: 'insufficient_funds' })
    await sound()
  })

  test('whose method was taken away meanwhile is declined', async () => {
    await attach()
    await open()
    await db.write.run`delete from payment_method`
    await work()
    expect(await state()).toMatchObject({ status: 'ended', charge: 'failed', reason: 'no payment method' })
    expect(standIn.heard.filter((path) => path.startsWith('POST /v1/payment_intents'))).toEqual([])
    await sound()
  })

  test('by a customer whom Stripe has deleted is declined, not asked for again for ever', async () => {
    await attach()
    await open()
    await db.write.run`update payment_method set customer_ref = 'cus_gone'`
    await work()
    expect(await state()).toMatchObject({ status: 'ended', charge: 'failed', reason: 'resource_missing' })
    expect(standIn.intents.size).toBe(0)
    await sound()
  })
})

describe('an answer that does not come', () => {
  test.each(['drop', 'fail'] as const)('(%s) is asked for again and pays once', async (mood) => {
    await attach()
    await open()
    // The client itself asks once more, with the same key, when a connection breaks.
    standIn.script.push(...(mood === 'drop' ? ([mood, mood] as const) : [mood]))
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due', attempts: 1 })
    await work()
    expect(standIn.intents.size).toBe(mood === 'drop' ? 1 : 0)
    await claimRunsOut()
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 1 })
    expect(standIn.intents.size).toBe(1)
    await sound()
  })

  test.each([
    ['', () => undefined],
    [', also when Stripe has forgotten its keys', () => standIn.forgetKeys()],
  ])('is looked for, and not paid a second time another way%s', async (_, passTime) => {
    await attach()
    await open()
    standIn.script.push('drop', 'drop')
    await work()
    await attach('pm_other')
    passTime()
    await claimRunsOut()
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 1 })
    expect(standIn.intents.size).toBe(1)
    await sound()
  })

  test('that comes later is taken from the webhook, in whatever order and however often', async () => {
    await openUnanswered()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due' })
    await tell('payment_intent.succeeded')
    await tell('payment_intent.succeeded')
    await tell('payment_intent.succeeded', 'evt_again')
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    await tell('payment_intent.payment_failed', 'evt_late')
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', failures: 0 })
    await sound()
  })

  test('that nobody tells is looked up when the claim runs out', async () => {
    await openUnanswered()
    const { waits } = await db.read.one<{ waits: boolean }>`
      select claimed_until > clock_timestamp() + interval '50 minutes' as waits from charge`
    expect(waits).toBe(true)
    for (const intent of standIn.intents.values()) intent.status = 'succeeded'
    await claimRunsOut()
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 1 })
    expect(standIn.heard.at(-1)).toMatch(/^GET /)
    await sound()
  })
})

test('a renewal that is declined is tried again under another key, until it is paid', async () => {
  await declineRenewal()
  await tell('payment_intent.payment_failed')
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'due', attempts: 1, failures: 1 })
  await payBy('pm_card')
  clock.time = start + 31 * day
  await work()
  expect(await state()).toMatchObject({ status: 'active', charge: 'paid', attempts: 2, failures: 0 })
  expect([...standIn.intents.values()].map(({ status }) => status)).toEqual([
    'succeeded',
    'requires_payment_method',
    'succeeded',
  ])
  await sound()
})

describe('a dearer plan that is paid when the term is over', () => {
  test.each([
    ['begins with the next term', 30, false, { plan: 'Small', next: 'Large', days: 60 }],
    ['begins at once where it has a term of its own', 365, false, { plan: 'Large', next: null, days: 394 }],
    [
      'begins no more what has ended, and is not asked for',
      30,
      true,
      { plan: 'Small', next: null, days: 30 },
    ],
  ] as const)('%s', async (_what, termDays, isCanceled, expected) => {
    const { small, large } = await offerPlans(termDays)
    await attach()
    await choose(small)
    await work()
    clock.time = start + 29 * day
    standIn.script.push('delay')
    await choose(large)
    await work()
    if (isCanceled) await cancelPlan(db.write, ids.person, 'investor')
    const [, asked] = standIn.intents.values()
    clock.time = start + 31 * day
    await work()
    const upgrade = () => db.read.one`select status from charge where purpose = 'upgrade'`
    expect(await upgrade()).toEqual({ status: 'due' })
    expect(standIn.intents.size).toBe(isCanceled ? 2 : 3)
    await tell('payment_intent.succeeded', 'evt_late', asked)
    await work()
    expect(await upgrade()).toEqual({ status: 'paid' })
    expect(await incidents()).toEqual(isCanceled ? [{ kind: 'paidAfterTheEnd' }] : [])
    const standing = await db.read.one`
      select plan.name as plan, next.name as next,
        extract(day from s.term_ends_at - to_timestamp(${start / 1000}::float8))::int as days
      from subscription s join plan on plan.id = s.plan_id left join plan next on next.id = s.next_plan_id`
    expect(standing).toEqual(expected)
    await sound()
  })
})

test('a dearer plan costs what it did as it was chosen, whatever it costs when its payment comes', async () => {
  const [small, large] = [
    { name: 'Small', price: '10' },
    { name: 'Large', price: '90' },
  ]
  const huge = await savePlan(db.write, { ...offer, name: 'Huge', price: '320' })
  await attach()
  await choose(await savePlan(db.write, { ...offer, ...small }))
  await work()
  clock.time += day
  standIn.script.push('delay')
  await choose(await savePlan(db.write, { ...offer, ...large }))
  await work()
  await savePlan(db.write, { ...offer, ...large, price: '300' })
  await tell('payment_intent.succeeded')
  await work()
  expect(await db.read.one`select base_price + markup as price from subscription`).toEqual({ price: 9000 })
  clock.time += day
  await choose(huge)
  await work()
  const asked = await db.read.rows`select amount from charge where purpose = 'upgrade' order by id`
  // 80 and 230 dollars for what is left of 30 days, less what each rounds down.
  expect(asked).toEqual([{ amount: 7734 }, { amount: 21_466 }])
  await sound()
})

describe('a plan that is canceled while a dearer one waits for its payment', () => {
  test.each([
    ['ends with its term: that was said last', false, true],
    ['goes on with the dearer one that was chosen after', true, false],
  ] as const)('%s', async (_what, isCanceledFirst, isCancelPending) => {
    const { small, large } = await offerPlans()
    await attach()
    await choose(small)
    await work()
    clock.time = start + 10 * day
    if (isCanceledFirst) await cancelPlan(db.write, ids.person, 'investor')
    standIn.script.push('delay')
    await choose(large)
    await work()
    if (!isCanceledFirst) await cancelPlan(db.write, ids.person, 'investor')
    await tell('payment_intent.succeeded')
    await work()
    const standing = await db.read.one`
      select plan.name as plan, s.is_cancel_pending as "isCancelPending"
      from subscription s join plan on plan.id = s.plan_id`
    expect(standing).toEqual({ plan: 'Large', isCancelPending })
    clock.time = start + 31 * day
    await work()
    const { status } = await db.read.one<{ status: string }>`select status from subscription`
    expect(status).toBe(isCancelPending ? 'ended' : 'active')
    await sound()
  })
})

describe('what is told of a payment', () => {
  test('twice in one turn, before its first answer came, is told to nobody', async () => {
    await attach()
    await open()
    standIn.script.push('drop', 'drop')
    await work()
    await tell('payment_intent.succeeded', 'evt_1')
    await tell('payment_intent.succeeded', 'evt_2')
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    expect(await incidents()).toEqual([])
    await sound()
  })

  test.each([
    ['another amount', { amount_received: 4999 }],
    ['another currency', { currency: 'eur' }],
  ])('with %s pays nothing and is told to the operator once', async (_name, object) => {
    await openUnanswered()
    await tell('payment_intent.succeeded', 'evt_1', object)
    await tell('payment_intent.succeeded', 'evt_2', object)
    await work()
    expect(await state()).toMatchObject({ status: 'pending', charge: 'due' })
    expect(await incidents()).toEqual([{ kind: 'paidOtherwise' }])
    await tell('payment_intent.succeeded', 'evt_3')
    await work()
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    await sound()
  })

  test.each([
    ['', false],
    [', also after the end: it is in no book', true],
  ])('made a second time for a charge that is paid is told to the operator%s', async (_name, isOver) => {
    await attach()
    await open()
    await work()
    if (isOver) await db.write.run`update subscription set status = 'ended', ended_at = term_ends_at`
    await tell('payment_intent.succeeded', 'evt_second', { id: 'pi_second' })
    await work()
    expect(await incidents()).toEqual([{ kind: 'paidTwice' }])
    const { booked } = await db.read.one<{ booked: number }>`
      select sum(amount)::int as booked from ledger_transfer where reason = 'payment'`
    expect(booked).toBe(5000)
  })

  test('for another charge than it was made for holds nothing up', async () => {
    await attach()
    await open()
    await work()
    clock.time = start + 30 * day
    standIn.script.push('delay')
    await work()
    const [first] = standIn.intents.values()
    await tell('payment_intent.succeeded', 'evt_1', { id: first?.id })
    await tell('payment_intent.succeeded', 'evt_2')
    await work()
    expect(await incidents()).toEqual([{ kind: 'paidOtherwise' }])
    expect(await state()).toMatchObject({ status: 'active', charge: 'paid' })
    await sound()
  })

  test.each([
    ['charge.refunded', 'paymentRefunded', {}],
    ['charge.dispute.created', 'paymentDisputed', { status: 'needs_response' }],
    ['charge.dispute.closed', 'disputeWon', { status: 'won' }],
    ['charge.dispute.closed', 'disputeWon', { status: 'warning_closed' }],
    ['charge.dispute.closed', 'disputeLost', { status: 'lost' }],
  ])('%s is told to the operator once, as %s', async (type, kind, more) => {
    await attach()
    await open()
    await work()
    const [made] = standIn.intents.values()
    for (const payment_intent of [made?.id, made?.id, 'pi_of_others']) {
      const metadata = payment_intent === made?.id ? made?.metadata : {}
      await tell(type, `evt_${payment_intent}`, { id: 'ch_1', payment_intent, metadata, ...more })
    }
    expect(await incidents()).toEqual([{ kind }])
    await sound()
  })

  test('a refund is told to the operator also where it comes before the payment', async () => {
    await openUnanswered()
    const [made] = standIn.intents.values()
    await tell('charge.refunded', 'evt_refund', { id: 'ch_1', payment_intent: made?.id })
    expect(await incidents()).toEqual([{ kind: 'paymentRefunded' }])
    await tell('payment_intent.succeeded')
    await tell('charge.refunded', 'evt_refund', { id: 'ch_1', payment_intent: made?.id })
    await work()
    expect(await incidents()).toEqual([{ kind: 'paymentRefunded' }])
    expect(await state()).toMatchObject({ charge: 'paid' })
    await sound()
  })
})

describe('a webhook', () => {
  test.each([
    ['with another secret', () => told('payment_intent.succeeded', { secret: 'whsec_other' })],
    ['without a signature', () => ({ ...told('payment_intent.succeeded'), signature: '' })],
    [
      'with another body',
      () => ({ ...told('payment_intent.succeeded'), body: told('payment_intent.payment_failed').body }),
    ],
  ])('%s is forged', async (_name, forged) => {
    await attach()
    await open()
    await work()
    expect(readStripeEvent(stripe, { environment, secret }, forged())).toBe('forged')
  })

  test('about something else, or of another platform, is nothing to us', async () => {
    await attach()
    await open()
    await work()
    const about = (type: string, of = environment) =>
      readStripeEvent(stripe, { environment: of, secret }, told(type))
    expect(about('customer.created')).toBeUndefined()
    expect(about('payment_intent.succeeded', 'OTHER')).toBeUndefined()
    expect(about('payment_intent.succeeded')).toMatchObject({ kind: 'paid', attempt: 1 })
    const metadata = { environment, charge: '1' }
    for (const odd of [
      { metadata: null },
      { metadata },
      { metadata: { ...metadata, attempt: '9999999999' } },
    ])
      expect(
        readStripeEvent(stripe, { environment, secret }, told('payment_intent.succeeded', { object: odd })),
      ).toBeUndefined()
  })
})
