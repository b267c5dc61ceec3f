/** Money that came beside what was asked for: it is in the books, apart, until it is given back, and whoever gives it back is told. */
import { afterAll, beforeEach, expect, test } from 'vitest'
import { notePaidOtherwise } from '../../src/storage/billing/by-hand.ts'
import { makeStripeScene } from './stripe-scene.ts'

const scene = await makeStripeScene()
const { db, standIn, clock, work, attach, open, openUnanswered, declineRenewal, tell, sound } = scene
beforeEach(scene.begin)
afterAll(() => standIn.close())

const told = () =>
  db.read.rows`
    select kind, detail -> 'amount' as amount, detail -> 'paid' as paid, detail ->> 'currency' as currency,
      detail -> 'isSurplus' as "isSurplus" from incident order by id`
/** What stands apart, and what Stripe has collected, in cents. */
const books = async () => {
  const rows = await db.read.rows<{ name: string; balance: number }>`
    select a.name, sum(e.amount)::int as balance from ledger_entry e join ledger_account a on a.id = e.account_id
    where a.kind = 'surplus' or a.provider = 'stripe' group by a.name`
  const balances = Object.fromEntries(rows.map(({ name, balance }) => [name, balance]))
  return { surplus: balances['surplus::USD'] ?? 0, stripe: balances['provider:stripe:USD'] ?? 0 }
}

/** A renewal that was declined and noted as paid otherwise, whose money comes all the same. */
async function payTwice(): Promise<string> {
  await declineRenewal()
  const { id: chargeId } = await db.read.one<{ id: number }>`select id from charge where status = 'due'`
  await db.transaction((tx) => notePaidOtherwise(tx, { chargeId, at: clock.time, isLookedUp: false }))
  for (const event of ['evt_1', 'evt_2']) {
    await tell('payment_intent.succeeded', event)
    await work()
  }
  return [...standIn.intents.keys()].at(-1) ?? ''
}

const twice = { kind: 'paidTwice', amount: 5000, paid: null, currency: 'USD', isSurplus: null }
const second = { paid: 5000, currency: 'USD', isSurplus: true }

test('a second payment stands apart until it is refunded, of which the operator is told with the amounts', async () => {
  const payment_intent = await payTwice()
  expect(await told()).toEqual([twice])
  expect(await books()).toEqual({ surplus: 5000, stripe: -10_000 })
  await sound()
  const refund = (event: string, amount_refunded: number) =>
    tell('charge.refunded', event, { id: 'ch_1', payment_intent, amount_refunded })
  await refund('evt_part', 2000)
  await refund('evt_part', 2000)
  const part = { kind: 'paymentRefunded', amount: 2000, ...second }
  expect(await told()).toEqual([twice, part])
  expect(await books()).toEqual({ surplus: 3000, stripe: -8000 })
  await refund('evt_rest', 5000)
  expect(await told()).toEqual([twice, part, { ...part, amount: 5000 }])
  expect(await books()).toEqual({ surplus: 0, stripe: -5000 })
  await sound()
})

test.each([
  ['won', 'disputeWon', { surplus: 5000, stripe: -10_000 }],
  ['lost', 'disputeLost', { surplus: 0, stripe: -5000 }],
])('a dispute of a second payment, which names no charge, is told, and %s', async (status, kind, after) => {
  const payment_intent = await payTwice()
  const dispute = { id: 'dp_1', payment_intent, metadata: {}, amount: 5000 }
  await tell('charge.dispute.created', 'evt_d', { ...dispute, status: 'needs_response' })
  expect(await books()).toEqual({ surplus: 5000, stripe: -10_000 })
  await tell('charge.dispute.closed', 'evt_e', { ...dispute, status })
  expect(await told()).toEqual([
    twice,
    { kind: 'paymentDisputed', amount: 5000, ...second },
    { kind, amount: 5000, ...second },
  ])
  expect(await books()).toEqual(after)
  await sound()
})

test('a payment of another amount stands apart, too, and what is given back of it is told', async () => {
  await openUnanswered()
  const intent = { id: 'pi_other', amount_received: 4999 }
  await tell('payment_intent.succeeded', 'evt_1', intent)
  await tell('payment_intent.succeeded', 'evt_2', intent)
  expect(await books()).toEqual({ surplus: 4999, stripe: -4999 })
  await tell('payment_intent.succeeded', 'evt_3')
  await work()
  await tell('charge.refunded', 'evt_4', { id: 'ch_1', payment_intent: 'pi_other', amount_refunded: 4999 })
  expect(await told()).toMatchObject([
    { kind: 'paidOtherwise', amount: 4999 },
    { kind: 'paymentRefunded', amount: 4999, paid: 4999, isSurplus: true },
  ])
  expect(await books()).toEqual({ surplus: 0, stripe: -5000 })
  await sound()
})

test('what pays something goes on standing as paid, as much of it as is refunded', async () => {
  await attach()
  await open()
  await work()
  const [made] = standIn.intents.keys()
  await tell('charge.refunded', 'evt_1', { id: 'ch_1', payment_intent: made, amount_refunded: 1000 })
  const first = { amount: 1000, paid: 5000, currency: 'USD', isSurplus: false }
  expect(await told()).toEqual([{ kind: 'paymentRefunded', ...first }])
  expect(await books()).toEqual({ surplus: 0, stripe: -5000 })
  await sound()
})

test('a payment of another amount pays nothing, also where Stripe is asked what became of it', async () => {
  await openUnanswered()
  const [made] = standIn.intents.values()
  Object.assign(made ?? {}, { status: 'succeeded', amount_received: 4999 })
  await tell('payment_intent.succeeded', 'evt_1')
  await db.write.run`update charge set claimed_until = to_timestamp(0)`
  await work()
  expect(await told()).toMatchObject([{ kind: 'paidOtherwise', amount: 4999 }])
  expect(await books()).toEqual({ surplus: 4999, stripe: -4999 })
  await sound()
})

test('a lost dispute of a part and a refund of the rest are all that there was', async () => {
  const payment_intent = await payTwice()
  const dispute = { id: 'dp_1', payment_intent, metadata: {}, amount: 2000, status: 'lost' }
  await tell('charge.dispute.closed', 'evt_d', dispute)
  await tell('charge.refunded', 'evt_r', { id: 'ch_1', payment_intent, amount_refunded: 3000 })
  expect(await books()).toEqual({ surplus: 0, stripe: -5000 })
  await sound()
})

test('a payment of nothing is told', async () => {
  await openUnanswered()
  await tell('payment_intent.succeeded', 'evt_1', { id: 'pi_other', amount_received: 0 })
  expect(await told()).toMatchObject([{ kind: 'paidOtherwise', amount: 0 }])
  expect(await books()).toEqual({ surplus: 0, stripe: 0 })
})
