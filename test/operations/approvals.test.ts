/** A start on the white-label host: asked for, answered on its page, expired, replaced, enabled at the broker. */
import { beforeEach, describe, expect, test } from 'vitest'
import { settleAtBroker } from '../../src/operations/approvals.ts'
import { savePaymentMethod } from '../../src/storage/billing/payment-methods.ts'
import { unseal } from '../../src/storage/database/vault.ts'
import { rotateCredentials } from '../../src/storage/people/credentials.ts'
import { setSwitch } from '../../src/storage/work/switches.ts'
import { type Answer, faultsOf, resultsOf } from '../support/http.ts'
import { secrets } from '../support/platform.ts'
import { buildTown, type CitizenName, type Town } from './support/town.ts'

const town: Town = await buildTown()
const { people } = town
const { personId } = people.neighbour
let account = ''
let made = 0

interface Shown {
  readonly RequestId: string
  readonly Status: string
  readonly ApprovalUrl?: string
  readonly SupersededByRequestId?: string
}

const told = (answer: Answer) => [answer.status, ...faultsOf(answer)]
const wish = () => ({
  Account: account,
  PersonId: personId,
  StrategyId: town.strategyId,
  StocksEnabled: true,
})
const start = (more: object, host: 'WL' | 'Gen' | 'Geo' = 'WL') =>
  town.ask('StartAutotrade', { ...wish(), ...more }, { key: people.neighbour.key, host })
const idOf = (answer: Answer): string => String(answer.headers['x-approval-request-id'] ?? '')
const status = (id: string, who: CitizenName = 'neighbour') =>
  town.ask('GetAutotradeApprovalStatus', { RequestId: id }, { key: people[who].key, host: 'WL' })
const shown = async (id: string): Promise<Shown> => resultsOf<Shown>(await status(id))[0] as Shown
const ask = async (more: object = {}): Promise<Shown> => shown(idOf(await start(more)))
const running = async () =>
  resultsOf(
    await town.ask(
      'GetAutotradedStrategies',
      { PersonId: personId, Account: account },
      { key: people.neighbour.key },
    ),
  ).length
const answer = async (request: Shown, word: string): Promise<string> => {
  const response = await fetch(request.ApprovalUrl ?? '', {
    method: 'POST',
    body: new URLSearchParams({ answer: word }),
  })
  expect(response.status).toBe(200)
  return response.text()
}

beforeEach(async () => {
  made += 1
  account = `N${made}`
  await town.door('/accounts', [{ account, personId, cash: 10_000 }])
})

test('a customer who comes by the address was signed in by the site, once', async () => {
  const request = await ask()
  for (let visit = 0; visit < 2; visit++) {
    expect((await fetch(request.ApprovalUrl ?? '')).status).toBe(200)
  }
  const params = { WhiteLabelSiteId: town.sites.west, PersonId: personId }
  const [found] = resultsOf<{ SessionEvents: object[]; SessionEventSummary: object }>(
    await town.ask('GetWlInstrumentationExport', params, { key: people.westAdmin.key, host: 'WL' }),
  )
  expect(found?.SessionEvents).toMatchObject([
    { PersonId: personId, Kind: 'sso', Outcome: 'success', IPAddress: '127.0.0.1' },
  ])
  expect(found?.SessionEventSummary).toEqual({ Sso: 1, Login: 0, Failed: 0 })
})

test('a start is a request until its customer agrees', async () => {
  const asked = await start({ MaxStocksDollars: 2500, ScalingPercentage: 50 })
  expect([asked.status, asked.text]).toEqual([200, 'true'])
  const id = idOf(asked)
  expect(asked.headers.location).toBe(`/wl/Autotrade/GetAutotradeApprovalStatus?RequestId=${id}`)
  const request = await shown(id)
  expect(request).toMatchObject({
    RequestId: id,
    Status: 'PendingCustomer',
    PersonId: personId,
    StrategyId: town.strategyId,
    CreatedUtc: '2024-03-12T14:00:00Z',
    ExpiresUtc: '2024-03-19T14:00:00Z',
  })
  expect(request).not.toHaveProperty('CompletedUtc')
  expect(await running()).toBe(0)
  const page = await (await fetch(request.ApprovalUrl ?? '')).text()
  expect(page).toContain('Approve Trend?')
  expect(page).toContain('at most 2,500 dollars')
  expect(await answer(request, 'approve')).toContain('Approved')
  const done = await shown(id)
  expect(done).toMatchObject({ Status: 'Completed', CompletedUtc: '2024-03-12T14:00:00Z' })
  expect(done).not.toHaveProperty('ApprovalUrl')
  const own = { PersonId: personId, Account: account }
  const [settings] = resultsOf(await town.ask('GetAutotradeSettings', own, { key: people.neighbour.key }))
  expect(settings).toMatchObject({ ScalingPercentage: 50, MaxStocksDollars: 2500, EnabledStocks: true })
  await answer(request, 'decline')
  expect((await shown(id)).Status).toBe('Completed')
})

test('a declined request has failed', async () => {
  const request = await ask()
  expect(await answer(request, 'decline')).toContain('declined by the customer')
  const failed = await shown(request.RequestId)
  expect(failed.Status).toBe('Failed')
  expect(failed).not.toHaveProperty('CompletedUtc')
  expect(await running()).toBe(0)
})

test('what cannot be started any more fails with the reason', async () => {
  const request = await ask()
  await town.door('/strategies', [{ strategyId: town.strategyId, noSubs: true }])
  expect(await answer(request, 'approve')).toContain('The strategy takes no subscribers')
  expect((await shown(request.RequestId)).Status).toBe('Failed')
  await town.door('/strategies', [{ strategyId: town.strategyId, noSubs: false }])
  const hidden = await ask({ StrategyId: town.lonelyStrategyId })
  await town.door('/strategies', [{ strategyId: town.lonelyStrategyId, private: true }])
  expect(await answer(hidden, 'approve')).toContain('Reason: the strategy is no longer offered</p>')
  await town.door('/strategies', [{ strategyId: town.lonelyStrategyId, private: false }])
})

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

describe('a newer request takes the place of the open one', () => {
  test('another start', async () => {
    const old = await ask()
    const next = await ask({ ScalingPercentage: 20 })
    expect(await shown(old.RequestId)).toMatchObject({
      Status: 'Superseded',
      SupersededByRequestId: next.RequestId,
    })
    expect(await answer(old, 'approve').catch(() => '')).not.toContain('are copied')
    expect([await running(), next.Status]).toEqual([0, 'PendingCustomer'])
  })

  test('a start that needs no approval', async () => {
    const old = await ask()
    expect((await start({}, 'Gen')).text).toBe('true')
    const { Status, SupersededByRequestId } = await shown(old.RequestId)
    expect(Status).toBe('Superseded')
    expect(await shown(SupersededByRequestId ?? '')).toMatchObject({ Status: 'Completed' })
  })

  test('a stop, which is completed at once', async () => {
    const old = await ask()
    const stopping = { Account: account, PersonId: personId, StrategyId: town.strategyId }
    const stop = (host: 'WL' | 'Gen') =>
      town.ask('StopAutotrade', stopping, { key: people.neighbour.key, host })
    const stopped = await stop('WL')
    expect([stopped.status, stopped.text]).toEqual([200, 'true'])
    const by = idOf(stopped)
    expect(await shown(old.RequestId)).toMatchObject({ Status: 'Superseded', SupersededByRequestId: by })
    expect(await shown(by)).toMatchObject({ Status: 'Completed' })
    expect(told(await stop('WL'))).toEqual([404, '2013 StrategyId'])
    await start({}, 'Gen')
    expect(await shown(idOf(await stop('WL')))).toMatchObject({ Status: 'Completed' })
    expect(stopped.headers.location).toBe(`/wl/Autotrade/GetAutotradeApprovalStatus?RequestId=${by}`)
    await start({}, 'Gen')
    expect(idOf(await stop('Gen'))).toBe('')
    const another = await ask()
    const elsewhere = await stop('Gen')
    expect((await shown(another.RequestId)).SupersededByRequestId).toBe(idOf(elsewhere))
    expect(elsewhere.headers).not.toHaveProperty('location')
  })
})

test('the page of a request that took effect says when that holds no more', async () => {
  const request = await ask()
  const read = async () => (await fetch(request.ApprovalUrl ?? '')).text()
  expect(await answer(request, 'approve')).toContain('are copied into the account from now on')
  const stopping = { Account: account, PersonId: personId, StrategyId: town.strategyId }
  await town.ask('StopAutotrade', stopping, people.neighbour)
  expect(await read()).toContain('has been stopped since')
  expect(await read()).not.toContain('are copied')
  await start({}, 'Gen')
  expect(await read()).toContain('are copied into the account from now on')
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

test('the same idempotency key makes one request', async () => {
  const send = () =>
    town.ask('StartAutotrade', wish(), {
      key: people.neighbour.key,
      host: 'WL',
      headers: { 'idempotency-key': account },
    })
  const [first, second] = [await send(), await send()]
  expect(idOf(first)).not.toBe('')
  expect([idOf(second), second.headers.location]).toEqual([idOf(first), first.headers.location])
})

test.each<[CitizenName, (number | string)[]]>([
  ['westAdmin', [200]],
  ['northAdmin', [200]],
  ['operator', [200]],
  ['holder', [403, '1002 RequestId']],
  ['eastAdmin', [403, '1002 RequestId']],
  ['stranger', [403, '1002 RequestId']],
])('the request as %s sees it', async (who, expected) => {
  const { RequestId } = await ask()
  expect(told(await status(RequestId, who))).toEqual(expected)
})

test.each(['00000000-0000-4000-8000-000000000000', 'x', "'"])('no request %s', async (id) => {
  expect(told(await status(id, 'westAdmin'))).toEqual([403, '1002 RequestId'])
  expect(told(await status(id, 'operator'))).toEqual([404, '2013 RequestId'])
})

test('an address that was never given out leads nowhere', async () => {
  const { ApprovalUrl = '' } = await ask()
  for (const url of [
    `${ApprovalUrl}x`,
    ApprovalUrl.replace(/\.[^.]+$/, ''),
    `${ApprovalUrl.slice(0, -2)}AA`,
  ]) {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(url, { method })
      expect(response.status).toBe(404)
      expect(await response.text()).toContain('nothing to approve')
    }
  }
  const odd = await fetch(ApprovalUrl, { method: 'POST', body: new URLSearchParams({ answer: 'maybe' }) })
  expect(await odd.text()).toContain('Approve Trend?')
})

test('what is approved takes effect in the account that was named, not in one of the same number at another broker', async () => {
  await town.door('/accounts', [{ account, personId, cash: 10_000, kind: 'paper' }])
  const request = await ask({ BrokerId: 2 })
  expect(await answer(request, 'approve')).toContain('Approved')
  const own = { PersonId: personId, Account: account }
  const setups = await town.ask('GetAutotradedStrategies', own, { key: people.neighbour.key })
  expect(resultsOf(setups)).toMatchObject([{ Account: account, BrokerId: 2 }])
})

test.each(['Gen', 'Geo'] as const)('a start on the host %s asks nobody', async (host) => {
  const started = await start({}, host)
  expect([started.text, idOf(started), await running()]).toEqual(['true', '', 1])
})

test('a start that is refused asks nobody', async () => {
  expect(told(await start({ StrategyId: 999 }))).toEqual([404, '2013 StrategyId'])
  expect(told(await start({ Account: 'NONE' }))).toEqual([403, '1002 Account'])
})

test('a broker that enables accounts one by one has the last word', async () => {
  const { db } = town.platform
  await db.write.run`update broker set needs_authorization = true where name = 'Scripted'`
  const asked = await ask()
  expect(await answer(asked, 'approve')).toContain('five to ten business days')
  expect(await shown(asked.RequestId)).toMatchObject({ Status: 'PendingBroker' })
  expect(await running()).toBe(0)
  const now = Date.parse('2024-03-12T14:00:00Z')
  const settle = (id: string, isEnabled: boolean) =>
    settleAtBroker(db, id, isEnabled ? { isEnabled } : { isEnabled, reason: 'no permission' }, now)
  expect(await settle(asked.RequestId, true)).toBe(true)
  expect(await settle(asked.RequestId, true)).toBe(false)
  expect(await shown(asked.RequestId)).toMatchObject({ Status: 'Completed' })
  expect(await running()).toBe(1)
  const own = { PersonId: personId, Account: account }
  const settings = await town.ask('GetAutotradeSettings', own, { ...people.neighbour, host: 'WL' })
  expect(resultsOf(settings)).toMatchObject([{ BrokerAuthorizationStatus: 'Authorized' }])
  await town.door('/accounts', [{ account: 'LATE', personId, cash: 1 }])
  account = 'LATE'
  const refused = await ask()
  await answer(refused, 'approve')
  expect(await settle(refused.RequestId, false)).toBe(true)
  expect(await shown(refused.RequestId)).toMatchObject({ Status: 'Failed' })
  await db.write.run`update broker set needs_authorization = false`
})

test('what costs something else by the time the broker is ready is not charged', async () => {
  const { db } = town.platform
  const params = { StrategyName: 'Rising', StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: people.owner.key })
  const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  const setPrice = (monthlyCost: number) => town.door('/strategies', [{ strategyId, monthlyCost }])
  const agree = async (): Promise<Shown> => {
    await setPrice(49)
    const request = await ask({ StrategyId: strategyId })
    await answer(request, 'approve')
    return request
  }
  const settled = async ({ RequestId, ApprovalUrl = '' }: Shown) => {
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
  await db.write.run`update account set broker_authorization = 'NotRequired' where account = ${account}`
  expect(await settled(await agree())).toContain('are copied into the account')
  expect([await running(), await paid()]).toEqual([1, [49]])
  await db.write.run`update broker set needs_authorization = false`
})

test('nobody answers for seven days', async () => {
  const request = await ask()
  await town.door('/clock', { now: '2024-03-19T13:59:59Z' })
  expect((await shown(request.RequestId)).Status).toBe('PendingCustomer')
  await town.door('/clock', { now: '2024-03-19T14:00:00Z' })
  expect((await shown(request.RequestId)).Status).toBe('Expired')
  expect(await answer(request, 'approve')).toContain('has expired')
  expect(await running()).toBe(0)
})

test('credentials are sealed, shown never, and asked for where the broker needs them', async () => {
  const { db } = town.platform
  const secret = { AccountUserName: 'jane', AccountPassword: 'correct horse' }
  await db.write.run`update broker set needs_credentials = true where name = 'Scripted'`
  expect(told(await start({}, 'Gen'))).toEqual([400, '1102 AccountUserName'])
  const blank = { AccountUserName: '', AccountPassword: ' ' }
  expect(told(await start(blank, 'WL'))).toEqual([400, '1102 AccountUserName'])
  expect(told(await start({ AccountUserName: 'jane' }, 'Gen'))).toEqual([400, '1102 AccountPassword'])
  expect((await start(secret, 'Gen')).text).toBe('true')
  for (const later of [{}, blank]) expect((await start(later, 'Gen')).text).toBe('true')
  await db.write.run`update broker set needs_credentials = false`
  const own = { PersonId: personId, Account: account }
  const settings = await town.ask('GetAutotradeSettings', own, { key: people.neighbour.key })
  expect(resultsOf(settings)).toMatchObject([{ BrokerUserID: 'jane' }])
  expect(settings.text).not.toContain('correct')
  const [row] = await db.read.rows<{ id: number; keyId: string; wrappedKey: Buffer; sealed: Buffer }>`
    select account_id as id, key_id as "keyId", wrapped_key as "wrappedKey", sealed from account_credential`
  if (!row) throw new Error('nothing was kept')
  const place = `account_credential ${row.id} password`
  expect(unseal(secrets.keyRing, row, place).toString()).toBe('correct horse')
  const newer = { current: 'new', keys: new Map([...secrets.keyRing.keys, ['new', Buffer.alloc(32, 7)]]) }
  expect([await rotateCredentials(db, newer), await rotateCredentials(db, newer)]).toEqual([1, 0])
  const stranger = { current: 'other', keys: new Map([['other', Buffer.alloc(32, 8)]]) }
  expect(await rotateCredentials(db, stranger)).toBe(0)
})

test('who is in a term with another fee on gains reads both, and is asked again when one of them changes', async () => {
  const { strategyId } = town
  const setFee = (percent: number) =>
    town.platform.db.write
      .run`update strategy set performance_fee_percent = ${percent} where id = ${strategyId}`
  const read = async ({ ApprovalUrl = '' }: Shown) => (await fetch(ApprovalUrl)).text()
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
