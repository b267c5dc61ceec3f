/** What a customer reads that a yes costs beside a subscription that he has, and what of it is kept for the broker. */
import { beforeEach, expect, test } from 'vitest'
import { settleAtBroker } from '../../src/operations/approvals.ts'
import { changeCatalogEntry } from '../../src/storage/billing/catalog.ts'
import { fragment } from '../../src/storage/database/sql.ts'
import { resultsOf } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { db } = town.platform
const { personId } = town.people.neighbour
const now = Date.parse('2024-03-12T14:00:00Z')
let made = 0
let strategyId = 0

/** A strategy of 49 dollars that the customer follows in a live account. */
beforeEach(async () => {
  made += 1
  const params = { StrategyName: `Costly ${made}`, StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: town.people.owner.key })
  strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  await town.door('/strategies', [{ strategyId, monthlyCost: 49 }])
  await start(await openAccount('live'), 'Gen')
})

async function openAccount(kind: 'live' | 'paper'): Promise<string> {
  const account = `${kind}${made}${Math.random()}`
  await town.door('/accounts', [{ account, personId, cash: 10_000, kind }])
  return account
}

const start = (Account: string, host: 'WL' | 'Gen', { personId, key } = town.people.neighbour) =>
  town.ask(
    'StartAutotrade',
    { Account, PersonId: personId, StrategyId: strategyId, StocksEnabled: true },
    { key, host },
  )

async function ask(account: string, who = town.people.neighbour) {
  const id = String((await start(account, 'WL', who)).headers['x-approval-request-id'])
  const shown = await town.ask('GetAutotradeApprovalStatus', { RequestId: id }, { key: who.key, host: 'WL' })
  const [{ ApprovalUrl: url } = { ApprovalUrl: '' }] = resultsOf<{ ApprovalUrl: string }>(shown)
  return { id, url }
}

const priceOf = async (account: string): Promise<string | undefined> => {
  const page = await (await fetch((await ask(account)).url)).text()
  return /<dt>Price<\/dt><dd>([^<]*)/.exec(page)?.[1]
}

/** What becomes of the subscription. */
const changes = {
  cancel: fragment`is_cancel_pending = true`,
  suspend: fragment`status = 'suspended'`,
  renew: fragment`performance_fee_percent = 20`,
  end: fragment`status = 'ended', ended_at = now(), end_reason = 'canceled'`,
}
const change = (name: keyof typeof changes) =>
  db.write.run`update subscription set ${changes[name]} where strategy_id = ${strategyId}`

test('a paper account that follows under a live subscription leaves that to its end', async () => {
  const paper = await openAccount('paper')
  await start(paper, 'Gen')
  await change('cancel')
  expect(await priceOf(paper)).toBe(undefined)
  expect(await priceOf(await openAccount('paper'))).toMatch(/^49.00 USD every 30 days from /)
})

test('a live account that follows while one for paper accounts runs would keep it, as a paid one', async () => {
  const live = await openAccount('live')
  await start(live, 'Gen')
  await change('end')
  await start(await openAccount('paper'), 'Gen')
  const price = /^49.00 USD every 30 days from /
  await db.write.run`
    update subscription set is_cancel_pending = true where strategy_id = ${strategyId} and ended_at is null`
  expect(await priceOf(live)).toMatch(price)
})

test('what is charged is what was read, whatever the site asks for from that moment on', async () => {
  const reader = town.people.holder
  await town.door('/strategies', [{ strategyId, resellable: true }])
  const sold = { Action: 'Add', StrategyIds: [strategyId] }
  await town.ask('UpdateSiteCatalog', sold, { key: town.people.westAdmin.key, host: 'WL' })
  await town.door('/accounts', [{ account: `R${made}`, personId: reader.personId, cash: 10_000 }])
  const { url } = await ask(`R${made}`, reader)
  const costs = /name="costs" value="([^"]*)"/.exec(await (await fetch(url)).text())?.[1] ?? ''
  expect(costs).toMatch(/^49.00 USD/)
  // The costs were compared by then.
  const letGo = await holdLocks(
    db,
    (tx) => tx.run`select from person where id = ${reader.personId} for update`,
  )
  const answering = fetch(url, { method: 'POST', body: new URLSearchParams({ answer: 'approve', costs }) })
  await untilWaiting(db.read)
  const dearer = { name: undefined, markup: '30' }
  const changing = db.transaction((tx) => changeCatalogEntry(tx, town.sites.west, strategyId, dearer))
  await Promise.race([changing, untilWaiting(db.read, 2)])
  await letGo()
  expect(await (await answering).text()).toContain('are copied into the account')
  expect(await changing).toBe(true)
  expect(
    await db.read.rows`
      select amount from charge join subscription s on s.id = charge.subscription_id
      where s.strategy_id = ${strategyId} and s.person_id = ${reader.personId}`,
  ).toEqual([{ amount: 4900 }])
})

test('no price is promised where a payment that failed comes first', async () => {
  await change('suspend')
  expect(await priceOf(await openAccount('live'))).toBe(undefined)
})

test.each([
  { what: 'renew', says: 'a term with the fee that was announced for it' },
  { what: 'end', says: 'the end of the subscription that was to be kept' },
] as const)('what was agreed to stays while the broker takes its time, over $says', async ({ what }) => {
  await db.write.run`update strategy set performance_fee_percent = 20 where id = ${strategyId}`
  if (what === 'end') await change('cancel')
  await db.write.run`update broker set needs_authorization = true where name = 'Scripted'`
  const { id, url } = await ask(await openAccount('live'))
  await fetch(url, { method: 'POST', body: new URLSearchParams({ answer: 'approve' }) })
  await change(what)
  await settleAtBroker(db, id, { isEnabled: true }, now)
  await db.write.run`update broker set needs_authorization = false`
  expect(await (await fetch(url)).text()).toContain('are copied into the account')
})
