/** Who is let in: the forms of a key, its life, its end in every process. */
import { randomBytes } from 'node:crypto'
import { beforeAll, describe, expect, test } from 'vitest'
import { composeKey } from '../../src/domain/people/access-key.ts'
import { isRefused } from '../../src/operations/context.ts'
import { issueKey } from '../../src/operations/keys.ts'
import { deleteKey } from '../../src/storage/people/keys.ts'
import { type Answered, type Edge, faultsOf, secrets, start, startEdge, year } from './support/edge.ts'

const handlers = { Hello: async (ctx: { caller: unknown }) => ({ results: [JSON.stringify(ctx.caller)] }) }
const hello = '/gen/General/Hello'
let edge: Edge
let compat: Edge
let second: Edge
let key: string

beforeAll(async () => {
  edge = await startEdge({ handlers })
  compat = await startEdge({ handlers, dialect: 'compat', db: edge.db })
  second = await startEdge({ handlers, db: edge.db })
  key = (await edge.key(await edge.person())).key
})

const enter = (at: Edge, authorization: string | string[] | undefined): Promise<Answered> =>
  at.call(hello, { body: '{}', headers: { authorization } })
const statusOf = async (at: Edge, text: string) => (await enter(at, `Bearer ${text}`)).status
const strange = () => composeKey('test', { keyId: randomBytes(8), secret: randomBytes(32) }).key

describe('keys', () => {
  test.each<[string, () => string | string[] | undefined, string]>([
    ['missing', () => undefined, '2014'],
    ['empty', () => '', '2014'],
    ['another scheme', () => `Basic ${key}`, '2014'],
    ['no scheme', () => key, '2014'],
    ['a scheme without a blank', () => `Bearer${key}`, '2014'],
    ['a tab', () => `Bearer\t${key}`, '2014'],
    ['something behind', () => `Bearer ${key} x`, '2014'],
    ['two headers', () => [`Bearer ${key}`, `Bearer ${key}`], '2014'],
    ['a changed character', () => `Bearer ${key.replace(/.$/, key.endsWith('a') ? 'b' : 'a')}`, '2014'],
    ['ten kilobytes', () => `Bearer ${key}${'x'.repeat(10_000)}`, '2014'],
    ['a UUID on a native host', () => 'Bearer 123e4567-e89b-12d3-a456-426614174000', '2014'],
    ['a well-formed stranger', () => `Bearer ${strange()}`, '2015'],
    [
      'another environment',
      () => `Bearer ${composeKey('live', { keyId: randomBytes(8), secret: randomBytes(32) }).key}`,
      '2015',
    ],
  ])('%s is 401', async (_, header, code) => {
    const answer = await enter(edge, header())
    expect(answer.status).toBe(401)
    expect(faultsOf(answer)).toEqual([{ code, field: 'APIKey' }])
    expect(answer.headers['www-authenticate']).toBe('Bearer')
    expect(answer.json).toMatchObject({ ResponseStatus: { ErrorCode: '401', Message: 'Unauthorized' } })
  })

  test.each(['bearer ', 'BEARER ', 'Bearer  '])('the scheme may be written %j', async (scheme) => {
    const answer = await enter(edge, `${scheme}${key}`)
    expect(answer.status).toBe(200)
  })

  test('a key in the query is no key', async () => {
    expect((await edge.call(`${hello}?api_key=${key}`, { body: '{}' })).status).toBe(401)
  })

  test('a good key brings its person, role and site', async () => {
    const person = await edge.person('platform_admin')
    const issued = await edge.key(person, { limits: { 10: 5 } })
    const answer = (await enter(edge, `Bearer ${issued.key}`)).json as { Results: string[] }
    expect(JSON.parse(answer.Results[0] ?? '')).toEqual({
      accessKeyId: issued.id,
      keyId: issued.keyId,
      personId: person,
      role: 'platform_admin',
      siteId: 1,
      siteKind: 'platform',
      permissions: null,
      limits: { 10: 5 },
    })
  })

  test('the table holds nothing that opens a door', async () => {
    const rows = await edge.db.read.rows<Record<string, unknown>>`select * from access_key`
    const dump = JSON.stringify(rows, (_, value) =>
      value instanceof Buffer ? value.toString('latin1') : value,
    )
    expect(dump).not.toContain(key)
    expect(dump).not.toContain(key.split('_')[3])
    expect(rows[0]).toMatchObject({ masked: `ls_test_****${key.slice(-4)}` })
  })

  test('expired keys and keys of the dead are 401, at once by the business clock', async () => {
    const brief = await edge.key(await edge.person(), { expiresAt: start + 1000 })
    expect(await statusOf(edge, brief.key)).toBe(200)
    edge.clock.at = start + 1000
    expect(await statusOf(edge, brief.key)).toBe(401)
    edge.clock.at = start
    const person = await edge.person()
    const orphan = await edge.key(person)
    await edge.db.write.run`update person set is_alive = false where id = ${person}`
    expect(await statusOf(edge, orphan.key)).toBe(401)
    await expect(edge.key(person)).rejects.toThrow('NotFound')
  })

  test('two keys may live at once, a third is refused, also when two are asked for together', async () => {
    const person = await edge.person()
    const order = { personId: person, keyEnvironment: 'test', expiresAt: start + year, now: start }
    const issue = (more: object = {}) =>
      edge.db.transaction((tx) => issueKey(tx, secrets, { ...order, ...more }))
    const all = await Promise.all(Array.from({ length: 5 }, () => issue()))
    const made = all.flatMap((one) => (isRefused(one) ? [] : [one]))
    expect(made).toHaveLength(2)
    expect(all.filter(isRefused).map(({ refused }) => refused)).toEqual(Array(3).fill('StateConflict'))
    await deleteKey(edge.db.write, made[0]?.keyId ?? '', start)
    expect(isRefused(await issue())).toBe(false)
    // What has expired lives no more.
    expect(isRefused(await issue({ now: start + year, expiresAt: start + 2 * year }))).toBe(false)
  })

  test('a revoked key is dead within a second in every process', async () => {
    const issued = await edge.key(await edge.person())
    expect([await statusOf(edge, issued.key), await statusOf(second, issued.key)]).toEqual([200, 200])
    expect(await deleteKey(edge.db.write, issued.keyId, start)).toBe(true)
    const began = performance.now()
    for (const at of [edge, second]) await expect.poll(() => statusOf(at, issued.key)).toBe(401)
    expect(performance.now() - began).toBeLessThan(1000)
    expect(await deleteKey(edge.db.write, issued.keyId, start)).toBe(false)
  })

  test('without any notification a key still dies within a second', async () => {
    const issued = await edge.key(await edge.person())
    expect(await statusOf(edge, issued.key)).toBe(200)
    await edge.db.write.run`update access_key set deleted_at = now() where key_id = ${issued.keyId}`
    const began = performance.now()
    await expect.poll(() => statusOf(edge, issued.key), { interval: 20 }).toBe(401)
    expect(performance.now() - began).toBeLessThan(1000)
  })

  test('a UUID opens compat hosts only, in any case', async () => {
    const issued = await edge.key(await edge.person(), { form: 'uuid' })
    expect(await statusOf(compat, issued.key)).toBe(200)
    expect(await statusOf(compat, issued.key.toUpperCase())).toBe(200)
    expect(await statusOf(edge, issued.key)).toBe(401)
    expect(await statusOf(compat, '123e4567-e89b-12d3-a456-426614174000')).toBe(401)
    expect(await statusOf(compat, key)).toBe(200)
  })

  test('junk costs no query, one key in a crowd costs one', async () => {
    const asked: string[] = []
    const watched = {
      ...edge.db,
      read: {
        ...edge.db.read,
        maybe: ((...statement: Parameters<typeof edge.db.read.maybe>) => {
          asked.push(statement[0].join('?'))
          return edge.db.read.maybe(...statement)
        }) as typeof edge.db.read.maybe,
      },
    }
    const counted = await startEdge({ handlers, db: watched })
    const junk = strange().split('_').slice(0, 4).join('_')
    const letters = 'abcdefghijklmnopqrstuvwxyz'
    await Promise.all(
      Array.from({ length: 500 }, (_, at) =>
        statusOf(
          counted,
          `${junk}_${letters[at % 26]}${letters[(at * 7) % 26]}${String(at).padStart(4, '0')}`,
        ),
      ),
    )
    expect(asked).toHaveLength(0)
    const stranger = strange()
    await Promise.all(Array.from({ length: 100 }, () => statusOf(counted, stranger)))
    await Promise.all(Array.from({ length: 100 }, () => statusOf(counted, key)))
    expect(asked.length).toBeLessThanOrEqual(4)
  })
})
