/** What is asked for with a start that waits for its customer: paid as he read it or not at all. */
import { expect, test } from 'vitest'
import { settleAtBroker } from '../../src/operations/approvals.ts'
import { savePaymentMethod } from '../../src/storage/billing/payment-methods.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { resultsOf } from '../support/http.ts'
import { buildApprovals, type ShownApproval } from './support/approvals.ts'

const { town, own, shown, ask, running, answer } = await buildApprovals()
const { people } = town
const { personId } = people.neighbour

test('a start that is not paid leaves what was there', async () => {
  const owner = people.owner.key
  const params = { StrategyName: 'Dear', StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: owner })
  const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  await town.door('/strategies', [{ strategyId, monthlyCost: 100 }])
  await town.door('/subscriptions', [{ personId, strategyId, kind: 'simulated' }])
  await town.door('/payment-methods', [{ personId, declines: 'no money' }])
  const request = await ask({ StrategyId: strategyId })
  expect(await answer(request, 'approve')).toContain('no money')
  expect(await shown(request.RequestId)).toMatchObject({ Status: 'Failed' })
  const subscribed = await town.ask(
    'GetSubscribedStrategies',
    { PersonId: personId, ActiveOnly: false },
    people.neighbour,
  )
  const kept = resultsOf<{ StrategyId: number }>(subscribed).filter((row) => row.StrategyId === strategyId)
  expect(kept).toMatchObject([{ IsSimulation: true, IsAlive: true }])
  await town.door('/payment-methods', [{ personId }])
})

test('the page promises no orders while the payment is awaited', async () => {
  const { write } = town.platform.db
  const at = Date.parse('2024-03-12T14:00:00Z')
  const params = { StrategyName: 'Later', StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: people.owner.key })
  const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  await town.door('/strategies', [{ strategyId, monthlyCost: 49 }])
  const request = await ask({ StrategyId: strategyId })
  await savePaymentMethod(write, { personId, provider: 'stripe', customerRef: 'c', methodRef: 'm', at })
  await setSwitch(write, 'paymentProvider', 'stripe', at)
  const page = await answer(request, 'approve')
  await setSwitch(write, 'paymentProvider', 'simulated', at)
  expect(page).toContain('before the subscription to the strategy is paid and runs')
  expect(page).not.toContain('are copied')
  await write.run`update subscription set status = 'active' where strategy_id = ${strategyId}`
  expect(await (await fetch(request.ApprovalUrl ?? '')).text()).toContain('are copied into the account')
})

test('what costs something else by the time the broker is ready is not charged', async () => {
  const { db } = town.platform
  const params = { StrategyName: 'Rising', StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: people.owner.key })
  const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  const setPrice = (monthlyCost: number) => town.door('/strategies', [{ strategyId, monthlyCost }])
  const agree = async (): Promise<ShownApproval> => {
    await setPrice(49)
    const request = await ask({ StrategyId: strategyId })
    await answer(request, 'approve')
    return request
  }
  const settled = async ({ RequestId, ApprovalUrl = '' }: ShownApproval) => {
    await settleAtBroker(db, RequestId, { isEnabled: true }, Date.parse('2024-03-12T14:00:00Z'))
    return (await fetch(ApprovalUrl)).text()
  }
  const asked = { StrategyId: strategyId }
  const paid = async () =>
    resultsOf<{ Cost: number }>(await town.ask('GetSubscriptionRevenue', asked, people.owner)).map(
      ({ Cost }) => Cost,
    )
  await db.write.run`update broker set needs_authorization = true where name = 'Scripted'`
  const dearer = await agree()
  await setPrice(499)
  expect(await settled(dearer)).toContain('Reason: What it costs has changed since it was agreed to</p>')
  expect([(await shown(dearer.RequestId)).Status, await running(), await paid()]).toEqual(['Failed', 0, []])
  await db.write.run`update account set broker_authorization = 'NotRequired' where account = ${own().Account}`
  expect(await settled(await agree())).toContain('are copied into the account')
  expect([await running(), await paid()]).toEqual([1, [49]])
  await db.write.run`update broker set needs_authorization = false`
})

test('a no is a no, whatever it costs by then', async () => {
  const request = await ask()
  const url = request.ApprovalUrl ?? ''
  const [, costs = ''] = /name="costs" value="([^"]*)"/.exec(await (await fetch(url)).text()) ?? []
  await town.door('/strategies', [{ strategyId: town.strategyId, monthlyCost: 49 }])
  const body = new URLSearchParams({ answer: 'decline', costs })
  expect(await (await fetch(url, { method: 'POST', body })).text()).toContain('declined by the customer')
  expect((await shown(request.RequestId)).Status).toBe('Failed')
  await town.door('/strategies', [{ strategyId: town.strategyId, monthlyCost: 0 }])
})

test('who is in a term with another fee on gains reads both, and is asked again when one of them changes', async () => {
  const { strategyId } = town
  const setFee = (percent: number) =>
    town.platform.db.write
      .run`update strategy set performance_fee_percent = ${percent} where id = ${strategyId}`
  const read = async ({ ApprovalUrl = '' }: ShownApproval) => (await fetch(ApprovalUrl)).text()
  const gains = '% of what the account gains with the strategy'
  await town.platform.db.write.run`
    update subscription set status = 'ended', ended_at = now(), end_reason = 'canceled'
    where person_id = ${personId} and ended_at is null`
  await setFee(10)
  await town.door('/subscriptions', [{ personId, strategyId, kind: 'paid' }])
  expect(await read(await ask())).toContain(`<dd>10 ${gains}</dd>`)
  await setFee(20)
  const request = await ask()
  const page = await read(request)
  expect(page).toContain(`<dd>10 ${gains}, and 20 % from the next term on</dd>`)
  await setFee(30)
  const [, costs = ''] = /name="costs" value="([^"]*)"/.exec(page) ?? []
  const body = new URLSearchParams({ answer: 'approve', costs })
  const answered = await fetch(request.ApprovalUrl ?? '', { method: 'POST', body })
  expect(await answered.text()).toContain('What it costs has changed meanwhile')
  expect((await shown(request.RequestId)).Status).toBe('PendingCustomer')
  await setFee(0)
})

test('a fee on gains is told of money alone, which a paper account has none of', async () => {
  const { strategyId } = town
  const setFee = (percent: number) =>
    town.platform.db.write
      .run`update strategy set performance_fee_percent = ${percent} where id = ${strategyId}`
  await setFee(20)
  const read = async (more: object) => (await fetch((await ask(more)).ApprovalUrl ?? '')).text()
  const [live, paper] = [`LIVE${own().Account}`, `PAPER${own().Account}`]
  await town.door('/accounts', [
    { account: live, personId, cash: 10_000 },
    { account: paper, personId, cash: 10_000, kind: 'paper' },
  ])
  expect(await read({ Account: live })).toContain('Fee on gains')
  expect(await read({ Account: paper })).not.toContain('Fee on gains')
  await setFee(0)
})
