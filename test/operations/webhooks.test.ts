/** Sites are told how requests for approval have ended: signed, once per id, for three days, never elsewhere. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { dayLength } from '../../src/domain/time.ts'
import type { WorkContext } from '../../src/execution/context.ts'
import { tryWebhook, webhookSweepStep } from '../../src/execution/webhooks.ts'
import { createOutbound } from '../../src/services/outbound.ts'
import {
  claimDeliveries,
  insertDeliveries,
  listDeliveries,
  resendDelivery,
  sweepDeliveries,
} from '../../src/storage/people/webhook-deliveries.ts'
import {
  disableWebhook,
  enableWebhook,
  listWebhooks,
  operatorsReason,
  rewrapWebhookSecrets,
  rotateWebhook,
} from '../../src/storage/people/webhooks.ts'
import { type Answer, call } from '../support/http.ts'
import { holdLocks, untilWaiting } from '../support/locks.ts'
import { secrets } from '../support/platform.ts'
import { buildTown, type Town, townStart } from './support/town.ts'

interface Taken {
  readonly path: string
  readonly headers: Record<string, string>
  readonly body: string
}

/** What the receiver answers with from now on, and what it has got. */
let answers = 200
let taken: Taken[] = []
const receiver = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const headers = request.headers as Record<string, string>
    taken.push({ path: request.url ?? '', headers, body: Buffer.concat(chunks).toString() })
    response.writeHead(answers, { location: `${base}/elsewhere` }).end()
  })
})
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
})

const town: Town = await buildTown()
const { neighbour } = town.people
const { db } = town.platform
let account = ''
let made = 0
let webhook = { webhookId: 0, secret: '' }
let now = Date.parse(townStart)

const start = (): Promise<Answer> =>
  town.ask(
    'StartAutotrade',
    { Account: account, PersonId: neighbour.personId, StrategyId: town.strategyId, StocksEnabled: true },
    { key: neighbour.key, host: 'WL' },
  )
const stop = (): Promise<Answer> =>
  town.ask(
    'StopAutotrade',
    { Account: account, PersonId: neighbour.personId, StrategyId: town.strategyId },
    { key: neighbour.key, host: 'WL' },
  )
const idOf = (answer: Answer): string => String(answer.headers['x-approval-request-id'] ?? '')
const pass = async (ms: number) => {
  now += ms
  await town.door('/clock', { now: new Date(now).toISOString() })
}
const opened = (one: Taken | undefined) =>
  new Webhook(webhook.secret).verify(one?.body ?? '', one?.headers ?? {}) as Record<string, unknown>
/** The receiver's clock is its machine's: only the signature is looked at. */
const isSigned = ({ headers, body }: Taken, secret: string): boolean => {
  const at = new Date(Number(headers['webhook-timestamp']) * 1000)
  const own = new Webhook(secret).sign(headers['webhook-id'] ?? '', at, body)
  return (headers['webhook-signature'] ?? '').split(' ').includes(own)
}
const listed = async () => (await call(town.platform.url, '/test/webhooks')).json as Record<string, unknown>[]

beforeEach(async () => {
  made += 1
  account = `W${made}`
  answers = 200
  taken = []
  await db.write.run`update webhook_endpoint set event_types = '{approval.expired}' where id > 0`
  await town.door('/accounts', [{ account, personId: neighbour.personId, cash: 10_000 }])
  const wish = [{ siteId: town.sites.west, url: `${base}/${account}` }]
  ;[webhook = webhook] = await town.door<(typeof webhook)[]>('/webhooks', wish)
  await db.write.run`delete from webhook_attempt`
})

test('a request that has ended is told of, with ids and the status alone', async () => {
  const old = idOf(await start())
  expect(taken).toEqual([])
  const next = idOf(await stop())
  const told = taken.map(({ body }) => JSON.parse(body))
  const data = { PersonId: neighbour.personId, StrategyId: town.strategyId }
  const timestamp = new Date(now).toISOString()
  expect(told).toHaveLength(2)
  expect(told).toEqual(
    expect.arrayContaining([
      { type: 'approval.superseded', timestamp, data: { RequestId: old, ...data, Status: 'Superseded' } },
      { type: 'approval.completed', timestamp, data: { RequestId: next, ...data, Status: 'Completed' } },
    ]),
  )
  expect(taken.every((one) => isSigned(one, webhook.secret))).toBe(true)
  expect(taken[0]?.headers).toMatchObject({
    'content-type': 'application/json',
    'webhook-timestamp': String(now / 1000),
  })
  expect(new Set(taken.map(({ headers }) => headers['webhook-id'])).size).toBe(2)
  expect(() => opened(taken[0])).toThrow('timestamp too old')
  const shown = await listed()
  expect(shown).toHaveLength(2)
  expect(shown[0]).toMatchObject({ url: `${base}/${account}`, siteId: town.sites.west, status: 200 })
})

test('the program of the document tells what is ours from what is not, also after a new secret', async () => {
  const [, program = ''] = /```js\n(.*?)```/s.exec(await readFile('docs/reference/webhooks.md', 'utf8')) ?? []
  const folder = await mkdtemp(join(tmpdir(), 'webhooks-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await writeFile(join(folder, 'ours.mjs'), program)
  const { isOurs } = (await import(pathToFileURL(join(folder, 'ours.mjs')).href)) as {
    isOurs: (secret: string, headers: Record<string, string>, body: string) => boolean
  }
  const newer = await db.transaction((tx) => rotateWebhook(tx, secrets.keyRing, webhook.webhookId, now))
  await start()
  await stop()
  const [{ headers, body } = { headers: {}, body: '' }] = taken
  expect(body).toContain('"type":"approval.')
  for (const secret of [webhook.secret, newer ?? '']) expect(isOurs(secret, headers, body)).toBe(true)
  expect(isOurs(webhook.secret, headers, body.replace('approval', 'refusal'))).toBe(false)
  expect(isOurs(webhook.secret, { ...headers, 'webhook-timestamp': '1' }, body)).toBe(false)
  expect(isOurs('whsec_c29tZWJvZHk=', headers, body)).toBe(false)
  expect(isOurs(webhook.secret, {}, body)).toBe(false)
})

test('other sites are told nothing', async () => {
  const other = [{ siteId: town.sites.east, url: `${base}/east` }]
  await town.door('/webhooks', other)
  await start()
  await stop()
  expect(taken.map(({ path }) => path)).toEqual([`/${account}`, `/${account}`])
})

test('what is not taken is sent again under the same id, ten times in three days, then the endpoint ends', async () => {
  answers = 302
  await start()
  await stop()
  await pass(73 * 3_600_000)
  // The other one's last try falls away when the endpoint ends with this one's.
  const ids = [...new Set(taken.map(({ headers }) => headers['webhook-id']))]
  const triesOf = (id: string | undefined) => taken.filter(({ headers }) => headers['webhook-id'] === id)
  const [same = []] = ids.map(triesOf).sort((a, b) => b.length - a.length)
  expect(ids).toHaveLength(2)
  expect(same).toHaveLength(10)
  expect(new Set(same.map(({ body }) => body)).size).toBe(1)
  const moments = same.map(({ headers }) => Number(headers['webhook-timestamp']))
  const [from = 0] = moments
  expect(moments).toEqual([...moments].sort((a, b) => a - b))
  expect(new Set(moments).size).toBe(10)
  expect((moments.at(-1) ?? 0) - from).toBeGreaterThan(2.7 * 86_400)
  expect((moments.at(-1) ?? 0) - from).toBeLessThanOrEqual(3 * 86_400)
  expect(taken.some(({ path }) => path === '/elsewhere')).toBe(false)
  const ended = (await listWebhooks(db.read)).find(({ id }) => id === webhook.webhookId)
  expect(ended?.disabledReason).toBe('it took nothing for three days')
  // Enabled again it gets what it has missed.
  answers = 200
  taken = []
  expect(await db.transaction((tx) => enableWebhook(tx, webhook.webhookId, now))).toBe(true)
  await pass(1_000)
  expect(taken).toHaveLength(2)
  await pass(86_400_000)
  expect(taken).toHaveLength(2)
})

test('410 ends the endpoint at once', async () => {
  answers = 410
  await start()
  await stop()
  await pass(86_400_000)
  expect(taken.length).toBeLessThanOrEqual(2)
  const ended = (await listWebhooks(db.read)).find(({ id }) => id === webhook.webhookId)
  expect(ended?.disabledReason).toBe('it answered 410')
})

test('two secrets sign while one takes the place of the other', async () => {
  const rotate = () => {
    now += 1000
    return db.transaction((tx) => rotateWebhook(tx, secrets.keyRing, webhook.webhookId, now))
  }
  const second = (await rotate()) ?? ''
  await start()
  await stop()
  const [one] = taken as [Taken]
  expect([isSigned(one, webhook.secret), isSigned(one, second)]).toEqual([true, true])
  const third = (await rotate()) ?? ''
  const [delivery] = await listDeliveries(db.read, webhook.webhookId)
  expect(await resendDelivery(db.write, delivery?.id ?? '', now)).toBe(true)
  await pass(1000)
  const last = taken.at(-1) as Taken
  expect([webhook.secret, second, third].map((secret) => isSigned(last, secret))).toEqual([false, true, true])
  expect(last.headers['webhook-id']).toBe(delivery?.id)
})

test('a secret lies sealed and survives a change of the ring', async () => {
  const row = await db.read.one<{ text: string }>`
    select string_agg(encode(sealed, 'escape') || encode(wrapped_key, 'escape'), '') as text from webhook_secret`
  expect(row.text).not.toContain(webhook.secret.slice(6))
  const ring = { current: 'next', keys: new Map([...secrets.keyRing.keys, ['next', Buffer.alloc(32, 7)]]) }
  expect(await db.transaction((tx) => rewrapWebhookSecrets(tx, ring))).toBeGreaterThan(0)
  expect(await db.transaction((tx) => rewrapWebhookSecrets(tx, ring))).toBe(0)
  expect(
    await db.transaction((tx) => rewrapWebhookSecrets(tx, { ...ring, current: 'test' })),
  ).toBeGreaterThan(0)
})

test.each([
  [{ siteId: 9_999, url: 'https://example.com/' }, 400],
  [{ siteId: town.sites.west, url: 'http://10.0.0.1/' }, 400],
  [{ siteId: town.sites.west, url: 'nowhere' }, 400],
])('the door refuses %j', async (wish, status) => {
  expect((await call(town.platform.url, '/test/webhooks', { body: [wish] })).status).toBe(status)
})

test.each([
  ['enabled', 'is sent'],
  ['disabled', 'is not sent'],
] as const)('what is written down while the endpoint is being %s %s', async (what, _then) => {
  const isEnabled = what === 'enabled'
  const requestId = idOf(await start())
  if (isEnabled) await disableWebhook(db.write, webhook.webhookId, 'out of order', now)
  const told = { requestId, siteId: town.sites.west, eventType: 'approval.completed', body: '{}' }
  const release = await holdLocks(db, (tx) => insertDeliveries(tx, [told], now))
  const changed = db.transaction((tx) =>
    isEnabled
      ? enableWebhook(tx, webhook.webhookId, now)
      : disableWebhook(tx, webhook.webhookId, 'out of order', now),
  )
  await untilWaiting(db.read)
  await release()
  expect(await changed).toBe(true)
  const [delivery] = await listDeliveries(db.read, webhook.webhookId)
  expect(delivery?.nextTryAt).toBe(isEnabled ? now : null)
})

test('what is to be sent again while its endpoint is being disabled is not sent', async () => {
  const requestId = idOf(await start())
  const told = { requestId, siteId: town.sites.west, eventType: 'approval.completed', body: '{}' }
  await db.transaction((tx) => insertDeliveries(tx, [told], now))
  const [delivery] = await listDeliveries(db.read, webhook.webhookId)
  const release = await holdLocks(db, (tx) => disableWebhook(tx, webhook.webhookId, 'out of order', now))
  const resent = resendDelivery(db.write, delivery!.id, now)
  await untilWaiting(db.read)
  await release()
  expect(await resent).toBe(false)
  const [still] = await listDeliveries(db.read, webhook.webhookId)
  expect(still?.nextTryAt).toBe(null)
})

describe('a month later', () => {
  const ctx = { db, clock: { now: () => now } } as unknown as WorkContext
  const isDue = async (): Promise<boolean> =>
    (await db.read.one<{ due: boolean }>`select ${webhookSweepStep.due(now)} as due`).due
  const left = async () => (await listDeliveries(db.read, webhook.webhookId)).length
  const tries = async () =>
    (await db.read.one<{ count: number }>`select count(*)::int as count from webhook_attempt`).count

  beforeEach(async () => {
    // What earlier tests left open has ended and is no longer told of.
    await pass(8 * dayLength)
    await db.write.run`delete from webhook_attempt`
    await db.write.run`delete from webhook_delivery`
  })

  test('what was taken is forgotten with its tries', async () => {
    await start()
    await stop()
    await pass(29 * dayLength)
    expect([await isDue(), await left(), await tries()]).toEqual([false, 2, 2])
    now += dayLength + 1
    expect([await isDue(), await webhookSweepStep.run(ctx), await left(), await tries()]).toEqual([
      true,
      2,
      0,
      0,
    ])
    expect(await isDue()).toBe(false)
  })

  test('what is to be sent again stays, and so does what an endpoint has not taken', async () => {
    answers = 410
    await start()
    await stop()
    const missed = await tries()
    now += 400 * dayLength
    await webhookSweepStep.run(ctx)
    expect([await left(), await tries()]).toEqual([2, missed])
    answers = 200
    await db.transaction((tx) => enableWebhook(tx, webhook.webhookId, now))
    expect(await isDue()).toBe(false)
    await pass(0)
    expect([await left(), await tries()]).toEqual([2, missed + 2])
  })

  test('nobody is told what a webhook missed that the operator had disabled for so long', async () => {
    await disableWebhook(db.write, webhook.webhookId, operatorsReason, now)
    for (const wait of [7, 20]) {
      await start()
      await pass(7 * dayLength)
      now += wait * dayLength
    }
    expect(await left()).toBe(2)
    await webhookSweepStep.run(ctx)
    expect(await left()).toBe(1)
    expect(await isDue()).toBe(false)
  })

  test('one that is on its way stays, whoever disables its webhook meanwhile', async () => {
    answers = 410
    await start()
    await stop()
    now += 40 * dayLength
    await db.transaction((tx) => enableWebhook(tx, webhook.webhookId, now))
    const claimed = await claimDeliveries(db.write, now, { count: 1, perEndpoint: 1 })
    expect(claimed).toHaveLength(1)
    await disableWebhook(db.write, webhook.webhookId, operatorsReason, now)
    await webhookSweepStep.run(ctx)
    expect((await listDeliveries(db.read, webhook.webhookId)).map(({ id }) => id)).toEqual([claimed[0]?.id])
    expect(await isDue()).toBe(false)
    await db.write.run`update webhook_delivery set claimed_until = clock_timestamp() - interval '1 s'`
    expect([await isDue(), await webhookSweepStep.run(ctx), await left()]).toEqual([true, 1, 0])
  })

  test('one that is being sent again stays, and others go in parts', async () => {
    await start()
    await stop()
    now += 31 * dayLength
    const [again, other] = await listDeliveries(db.read, webhook.webhookId)
    const commit = await holdLocks(db, (tx) => resendDelivery(tx, again?.id ?? '', now))
    expect(await webhookSweepStep.run(ctx)).toBe(1)
    await commit()
    expect((await listDeliveries(db.read, webhook.webhookId)).map(({ id }) => id)).toEqual([again?.id])
    expect(other).toBeDefined()
    await pass(0)
    await start()
    await stop()
    now += 31 * dayLength
    const sweep = () => db.transaction((tx) => sweepDeliveries(tx, now, 2))
    expect([await sweep(), await sweep(), await left()]).toEqual([2, 1, 0])
  })
})

test('a sample is signed like what is real, is of nobody, and leaves nothing behind', async () => {
  const outbound = createOutbound({ permitsLocal: true })
  onTestFinished(() => outbound.close())
  const send = (id: number) =>
    tryWebhook(db.read, { keyRing: secrets.keyRing, outbound }, id, 'approval.expired', now)
  const { webhookId, secret } = webhook
  expect(await send(webhookId)).toMatchObject({ status: 200, url: `${base}/${account}` })
  await disableWebhook(db.write, webhookId, operatorsReason, now)
  answers = 410
  const tried = await send(webhookId)
  expect(tried?.status).toBe(410)
  expect(taken.map((one) => isSigned(one, secret))).toEqual([true, true])
  expect(taken[1]).toMatchObject({ headers: { 'webhook-id': tried?.id }, body: tried?.body })
  const RequestId = '00000000-0000-0000-0000-000000000000'
  expect(JSON.parse(tried?.body ?? '')).toEqual({
    type: 'approval.expired',
    timestamp: new Date(now).toISOString(),
    data: { RequestId, PersonId: 0, StrategyId: 0, Status: 'Expired' },
  })
  expect([await listDeliveries(db.read, webhookId), await listed()]).toEqual([[], []])
  expect(await send(0)).toBeUndefined()
})

test('nothing of it breaks the books', async () => {
  const { json } = await call(town.platform.url, '/test/audit')
  expect(json).toEqual({ violations: [] })
  expect(town.platform.errors).toEqual([])
})
