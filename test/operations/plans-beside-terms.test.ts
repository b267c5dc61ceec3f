/** Plans and retries beside what changes them meanwhile: nobody has two plans, and no word is lost. */
import { beforeEach, expect, test } from 'vitest'
import { billingSteps } from '../../src/execution/billing.ts'
import { isRefused } from '../../src/operations/context.ts'
import { choosePlan } from '../../src/operations/subscribe-plan.ts'
import { retryCharges } from '../../src/storage/billing/charges.ts'
import { cancelPlan, continueWith, savePlan } from '../../src/storage/billing/plan-subscriptions.ts'
import { settleCharges } from '../../src/storage/billing/settlement.ts'
import { emptyPlatform, insertPersons, insertSite } from '../../src/storage/operating/provision.ts'
import { makeWorld } from '../execution/world.ts'
import { testDatabase } from '../support/database.ts'
import { holdLocks, holdTable, untilWaiting } from '../support/locks.ts'

const { db } = await testDatabase()
const { ctx, clock } = makeWorld(db)
const begun = clock.time
const termMs = 30 * 86_400_000
const turned = begun + termMs
const ids = { person: 0, small: 0, large: 0, huge: 0 }

const plan = (name: string, price: string): Promise<number> =>
  savePlan(db.write, { siteId: 1, kind: 'investor', termDays: 30, strategiesIncluded: 3, name, price })
const choose = (planId: number, at: number) =>
  db.transaction(async (tx) => {
    const chosen = await choosePlan(tx, { personId: ids.person, planId, at })
    return isRefused(chosen) ? chosen.refused : chosen.begins
  })
const turn = () =>
  billingSteps([])
    .find(({ name }) => name === 'turnTerms')!
    .run(ctx)
const held = () => db.read.rows`
  select plan_id as plan, is_cancel_pending as "isCancelPending" from subscription where ended_at is null order by id`

beforeEach(async () => {
  clock.time = begun
  await db.transaction(emptyPlatform)
  const [person = 0] = await insertPersons(db.write, [
    { role: 'user', firstName: 'Carl', lastName: 'C', email: 'c@example.org', siteId: 1, createdAt: begun },
  ])
  const [small, large, huge] = [
    await plan('Small', '30'),
    await plan('Large', '90'),
    await plan('Huge', '120'),
  ]
  Object.assign(ids, { person, small, large, huge })
  await choose(large, begun)
})

test('one that is chosen while the cheaper one begins is a change of that one, not a second plan', async () => {
  await choose(ids.small, begun + 1)
  clock.time = turned
  const letGo = await holdTable(db, 'charge')
  const turning = turn()
  await untilWaiting(db.read)
  const choosing = choose(ids.huge, turned)
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), turning])
  expect(await choosing).toBe('StateConflict')
  expect(await held()).toEqual([{ plan: ids.small, isCancelPending: false }])
})

test('one that is canceled while a dearer one begins ends with its term', async () => {
  const letGo = await holdTable(db, 'ledger_transfer')
  const choosing = choose(ids.huge, begun + 1)
  await untilWaiting(db.read)
  const canceling = cancelPlan(db.write, ids.person, 'investor')
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), choosing])
  expect(await canceling).toBe(true)
  expect(await held()).toEqual([{ plan: ids.huge, isCancelPending: true }])
})

test('what is retried while its subscription ends is not asked for any more', async () => {
  await db.write.run`
    with suspended as (update subscription set status = 'suspended' returning id)
    insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, status, attempts, failed_at)
    select id, 'term', to_timestamp(0), to_timestamp(1), 100, 0, 'USD', 'simulated', 'failed', 5, to_timestamp(1)
    from suspended`
  const { id } = await db.read.one<{ id: number }>`select id from subscription`
  clock.time = turned
  // What turning the terms reads last, when it has ended the subscription.
  const letGo = await holdLocks(db, (tx) => tx.run`lock table platform_switch`)
  const turning = turn()
  await untilWaiting(db.read)
  const retrying = retryCharges(db.write, id, turned)
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), turning])
  expect(await retrying).toBe(false)
  expect(await db.read.rows`select status from charge where status = 'due'`).toEqual([])
})

test('what is paid for a term while the next one begins is income of the site whose plan it is', async () => {
  const site = { kind: 'geo', code: 'west', name: 'West', createdAt: begun } as const
  const region = await insertSite(db.write, site)
  const partner = { ...site, kind: 'whitelabel', code: 'shop', domain: 'shop.example' } as const
  const siteId = await insertSite(db.write, { ...partner, parentSiteId: region })
  await db.write.run`update person set site_id = ${siteId}`
  await db.write.run`update plan set site_id = ${region}`
  await db.write.run`update subscription set site_id = ${siteId}`
  await choose(ids.small, begun + 1)
  const { id } = await db.write.one<{ id: number }>`
    insert into charge (subscription_id, purpose, period_started_at, period_ends_at, base_price, markup, currency,
      provider, status, attempts, next_try_at, claimed_until)
    select id, 'term', to_timestamp(0), to_timestamp(1), 0, 100, 'USD', 'simulated', 'due', 1, to_timestamp(1), now()
    from subscription
    returning id`
  clock.time = turned
  const letGo = await holdTable(db, 'charge')
  const turning = turn()
  await untilWaiting(db.read)
  const paid = { chargeId: id, attempt: 1, at: turned, paymentRef: 'pi_1', outcome: 'paid' } as const
  const settling = db.transaction((tx) => settleCharges(tx, [paid]))
  await untilWaiting(db.read, 2)
  await Promise.all([letGo(), turning])
  expect(await settling).toBe(1)
  expect(
    await db.read.rows`
      select a.site_id as site, t.amount from ledger_transfer t join ledger_account a on a.id = t.to_account_id
      where t.charge_id = ${id} and t.reason = 'siteMarkup'`,
  ).toEqual([{ site: region, amount: 100 }])
})

test('terms turn while other plans are chosen to follow them', async () => {
  const person = { role: 'user', firstName: 'C', lastName: 'C', siteId: 1, createdAt: begun } as const
  const many = Array.from({ length: 999 }, (_, n) => ({ ...person, email: `c${n}@example.org` }))
  await db.write.run`
    insert into subscription (site_id, person_id, plan_id, kind, base_price, started_at, term_started_at, term_ends_at)
    select 1, person_id, ${ids.large}::bigint, 'paid', 9000, to_timestamp(${begun}::float8 / 1000),
      to_timestamp(${begun}::float8 / 1000), to_timestamp(${turned}::float8 / 1000)
    from unnest(${await insertPersons(db.write, many)}::bigint[]) person_id`
  const all = await db.read.rows<{ id: number }>`select id from subscription order by id`
  let isOver = false
  const lanes = [0, 1, 2, 3].map(async (lane) => {
    for (let turns = 0; !isOver; turns += 1) {
      const wanted = turns % 2 === 0 ? ids.small : ids.huge
      for (const [place, { id }] of all.entries())
        if (place % 4 === lane) await continueWith(db.write, id, wanted)
    }
  })
  try {
    for (clock.time = turned; clock.time < turned + 5 * termMs; clock.time += termMs)
      while ((await turn()) > 0);
  } finally {
    isOver = true
    await Promise.all(lanes)
  }
  expect(
    await db.read.rows`
      select count(*)::int as count, min(period_started_at) as first, max(period_started_at) as last from charge
      where period_started_at > to_timestamp(${begun}::float8 / 1000)`,
  ).toEqual([{ count: 5 * all.length, first: turned, last: turned + 4 * termMs }])
})
