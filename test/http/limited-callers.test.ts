/** Rate limits as callers meet them: whom they count together, which are told, what goes on over them. */
import { beforeAll, expect, test } from 'vitest'
import { readNetworks } from '../../src/http/address.ts'
import { refuse } from '../../src/operations/context.ts'
import { platformWindows } from '../../src/operations/limits.ts'
import { deleteKey } from '../../src/storage/people/keys.ts'
import { type Edge, faultsOf, startEdge } from './support/edge.ts'

const hello = '/gen/General/Hello'
let edge: Edge

beforeAll(async () => {
  edge = await startEdge({ isCounting: () => true, handlers: { Hello: async () => ({ results: ['x'] }) } })
})

test('callers behind a proxy that is trusted are counted apart, others by their own address', async () => {
  const from = async (other: Edge, forwarded: string): Promise<unknown> =>
    (await other.call('/gen/Nothing', { headers: { 'x-forwarded-for': forwarded } })).headers[
      'x-limit-remaining'
    ]
  const settings = { isCounting: () => true, db: edge.db, handlers: {} }
  const behind = await startEdge({ ...settings, trustedProxies: readNetworks('127.0.0.0/8') })
  const { limiter } = behind.operations
  for (let time = 0; time < 30; time++) await limiter.take('address:198.51.100.1', platformWindows)
  expect(await from(behind, '203.0.113.9, 198.51.100.1')).toBe('70')
  expect(await from(behind, '198.51.100.1, 203.0.113.9')).toBe('100')
  expect(await from(edge, '198.51.100.1')).not.toBe('70')
})

test('each answer says where the caller stands; the next one over the limit is 429', async () => {
  const { key } = await edge.key(await edge.person(), { limits: { 10: 2, 3600: 50 } })
  const ask = () => edge.call(hello, { key, body: '{}' })
  const [one, two, three] = [await ask(), await ask(), await ask()]
  expect(one.headers).toMatchObject({
    'x-limit-limit': '2',
    'x-limit-type': '10s',
    'x-limit-remaining': '1',
    'x-limit-reset': '10',
    'ratelimit-policy': '"10s";q=2;w=10, "1h";q=50;w=3600',
    ratelimit: '"10s";r=1;t=10',
  })
  expect([two.status, two.headers['x-limit-remaining']]).toEqual([200, '0'])
  expect(three.status).toBe(429)
  expect(three.headers['retry-after']).toBe(three.headers['x-limit-reset'])
  expect(faultsOf(three)).toEqual([{ code: '3005', field: '' }])
  expect(three.json).toMatchObject({ ResponseStatus: { ErrorCode: '429', Message: 'TooManyRequests' } })
  expect(JSON.parse(edge.lines.at(-1) ?? '')).toMatchObject({ status: 429, keyId: key.split('_')[2] })
})

test('a key without limits of its own has those of the platform', async () => {
  const { key } = await edge.key(await edge.person())
  const answered = await edge.call(hello, { key, body: '{}' })
  expect(answered.headers['ratelimit-policy']).toBe(
    '"10s";q=100;w=10, "1h";q=3000;w=3600, "1d";q=20000;w=86400',
  )
})

test('two keys of a person have windows of their own', async () => {
  const person = await edge.person()
  for (const { key } of [
    await edge.key(person, { limits: { 10: 1 } }),
    await edge.key(person, { limits: { 10: 1 } }),
  ])
    expect((await edge.call(hello, { key, body: '{}' })).status).toBe(200)
})

test.each([
  [5400, '5400s'],
  [7200, '2h'],
  [172_800, '2d'],
])('a window of %i seconds is called %s', async (seconds, name) => {
  const { key } = await edge.key(await edge.person(), { limits: { [seconds]: 5 } })
  expect((await edge.call(hello, { key, body: '{}' })).headers['x-limit-type']).toBe(name)
})

test('of a key and an address the one with less left is told', async () => {
  const { key } = await edge.key(await edge.person(), { limits: { 3600: 5000 } })
  const answered = await edge.call(hello, { key, body: '{}' })
  expect([answered.status, answered.headers['x-limit-limit']]).toEqual([200, '100'])
})

test('counting may be switched off and on, and begin anew', async () => {
  let isOn = false
  const other = await startEdge({
    isCounting: () => isOn,
    handlers: { Hello: async () => ({ results: ['x'] }) },
    db: edge.db,
  })
  const { key } = await other.key(await other.person(), { limits: { 10: 1 } })
  const ask = async () => (await other.call(hello, { key, body: '{}' })).status
  expect([await ask(), await ask()]).toEqual([200, 200])
  isOn = true
  expect([await ask(), await ask()]).toEqual([200, 429])
  await other.operations.limiter.flush()
  await other.db.write.run`delete from rate_window`
  other.operations.limiter.forget()
  expect([await ask(), await ask()]).toEqual([200, 429])
})

test('answers before the key carry the address’s windows', async () => {
  for (const answer of [await edge.call('/gen/Nothing'), await edge.call(hello, { body: '{}' })]) {
    expect([401, 404]).toContain(answer.status)
    expect(answer.headers['x-limit-limit']).toBe('100')
  }
})

test('an address that guesses keys is stopped; good keys go on, also those that were never seen here', async () => {
  const person = await edge.person()
  const { key, keyId } = await edge.key(person)
  const ask = async (used: string) => (await edge.call(hello, { key: used, body: '{}' })).status
  const statuses: number[] = []
  for (let time = 0; time < 70; time++) {
    if (time % 10 === 0) expect(await ask(key)).toBe(200)
    statuses.push(await ask('guess'))
  }
  expect(statuses[0]).toBe(401)
  expect(statuses.at(-1)).toBe(429)
  const stopped = await edge.call(hello, { key: 'guess', body: '{}' })
  expect(stopped.headers).toMatchObject({ 'x-limit-limit': '60', 'x-limit-type': '60s' })
  expect(stopped.headers['retry-after']).toBe(stopped.headers['x-limit-reset'])
  const { key: unseen } = await edge.key(person)
  expect([await ask(key), await ask(unseen)]).toEqual([200, 200])
  await deleteKey(edge.db.write, keyId, Date.now())
  await expect.poll(() => ask(key)).toBe(429)
})

test('a key that cannot be looked up is no guess', async () => {
  const other = await startEdge({ isCounting: () => true })
  Object.assign(other.operations, { authenticate: async () => refuse('Disconnected') })
  for (let time = 0; time < 70; time++) {
    const { status, headers } = await other.call(hello, { key: 'good', body: '{}' })
    expect([status, headers['www-authenticate']]).toEqual([503, undefined])
  }
})

test('an address may have windows of its own, so that a key can have more than the platform gives', async () => {
  const addressWindows = [{ seconds: 10, limit: 130 }]
  const settings = { isCounting: () => true, db: edge.db, handlers: {}, addressWindows }
  const other = await startEdge(settings)
  await other.db.write.run`delete from rate_window`
  const { key } = await other.key(await other.person(), { limits: { 10: 1000 } })
  const ask = async () => (await other.call(hello, { key, body: '{}' })).status
  const statuses: number[] = []
  for (let time = 0; time < 131; time++) statuses.push(await ask())
  expect(statuses.filter((status) => status !== 429)).toHaveLength(130)
  expect(statuses.at(-1)).toBe(429)
})

test('an address has one window for all its keys', async () => {
  const statuses: number[] = []
  for (let time = 0; time < 60; time++) statuses.push((await edge.call(hello, { body: '{}' })).status)
  expect(statuses.at(-1)).toBe(429)
  const { key } = await edge.key(await edge.person())
  expect((await edge.call(hello, { key, body: '{}' })).status).toBe(429)
})
