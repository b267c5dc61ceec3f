/** A start on the white-label host: asked for, answered on its page, expired, replaced, enabled at the broker. */
import { describe, expect, test } from 'vitest'
import { settleAtBroker } from '../../src/operations/approvals.ts'
import { changeCatalogEntry } from '../../src/storage/billing/catalog.ts'
import { unseal } from '../../src/storage/database/vault.ts'
import { rotateCredentials } from '../../src/storage/people/credentials.ts'
import { resultsOf, told } from '../support/http.ts'
import { secrets } from '../support/platform.ts'
import { buildApprovals } from './support/approvals.ts'
import type { CitizenName } from './support/town.ts'

const { town, own, wish, start, idOf, status, shown, ask, running, answer } = await buildApprovals()
const { people } = town
const { personId } = people.neighbour

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
  const [settings] = resultsOf(await town.ask('GetAutotradeSettings', own(), { key: people.neighbour.key }))
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
    const stopping = { ...own(), StrategyId: town.strategyId }
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

test('a request for another strategy stands beside it, and is no change of what is followed', async () => {
  const first = await ask()
  const second = await ask({ StrategyId: town.lonelyStrategyId })
  expect(await answer(second, 'approve')).toContain('are copied into the account from now on')
  expect(await shown(first.RequestId)).toMatchObject({ Status: 'PendingCustomer' })
  const page = await (await fetch(first.ApprovalUrl ?? '')).text()
  expect(page).toContain('asks you to let the orders of a strategy be copied')
  expect(await answer(first, 'approve')).toContain('are copied into the account from now on')
  expect(await running()).toBe(2)
})

test('the strategy is called as the site of its customer calls it', async () => {
  const params = { StrategyName: 'Named', StartingCapital: 1000 }
  const added = await town.ask('AddStrategy', params, { key: people.owner.key })
  const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
  await town.door('/strategies', [{ strategyId, resellable: true }])
  for (const site of ['east', 'west'] as const) {
    const sold = { Action: 'Add', StrategyIds: [strategyId] }
    await town.ask('UpdateSiteCatalog', sold, { key: people[`${site}Admin`].key, host: 'WL' })
    const entry = { name: `Named by ${site}`, markup: undefined }
    await town.platform.db.transaction((tx) => changeCatalogEntry(tx, town.sites[site], strategyId, entry))
  }
  const { ApprovalUrl = '' } = await ask({ StrategyId: strategyId })
  expect(await (await fetch(ApprovalUrl)).text()).toContain('<title>Approve Named by west?</title>')
})

test('the page of a request that took effect says when that holds no more', async () => {
  const request = await ask()
  const read = async () => (await fetch(request.ApprovalUrl ?? '')).text()
  expect(await answer(request, 'approve')).toContain('are copied into the account from now on')
  const stopping = { ...own(), StrategyId: town.strategyId }
  await town.ask('StopAutotrade', stopping, people.neighbour)
  expect(await read()).toContain('has been stopped since')
  expect(await read()).not.toContain('are copied')
  await start({}, 'Gen')
  expect(await read()).toContain('are copied into the account from now on')
})

test('the same idempotency key makes one request', async () => {
  const send = () =>
    town.ask('StartAutotrade', wish(), {
      key: people.neighbour.key,
      host: 'WL',
      headers: { 'idempotency-key': own().Account },
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
  const other = ApprovalUrl.at(-2) === 'A' ? 'BA' : 'AA'
  for (const url of [
    `${ApprovalUrl}x`,
    ApprovalUrl.replace(/\.[^.]+$/, ''),
    `${ApprovalUrl.slice(0, -2)}${other}`,
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
  await town.door('/accounts', [{ account: own().Account, personId, cash: 10_000, kind: 'paper' }])
  const request = await ask({ BrokerId: 2 })
  expect(await answer(request, 'approve')).toContain('Approved')
  const setups = await town.ask('GetAutotradedStrategies', own(), { key: people.neighbour.key })
  expect(resultsOf(setups)).toMatchObject([{ Account: own().Account, BrokerId: 2 }])
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
  const settings = await town.ask('GetAutotradeSettings', own(), { ...people.neighbour, host: 'WL' })
  expect(resultsOf(settings)).toMatchObject([{ BrokerAuthorizationStatus: 'Authorized' }])
  await town.door('/accounts', [{ account: 'LATE', personId, cash: 1 }])
  const refused = await ask({ Account: 'LATE' })
  await answer(refused, 'approve')
  expect(await settle(refused.RequestId, false)).toBe(true)
  expect(await shown(refused.RequestId)).toMatchObject({ Status: 'Failed' })
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
  const settings = await town.ask('GetAutotradeSettings', own(), { key: people.neighbour.key })
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
