/** Rate limits: windows, their headers, one count for all processes, no fresh start by a restart. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { readNetworks } from '../../src/http/address.ts'
import { refuse } from '../../src/operations/context.ts'
import {
  createLimiter,
  type Limiter,
  platformWindows,
  type Verdict,
  type Window,
} from '../../src/operations/limits.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { deleteKey } from '../../src/storage/people/keys.ts'
import { purgeWindows } from '../../src/storage/work/rate-windows.ts'
import { type Edge, faultsOf, startEdge } from './support/edge.ts'

const five: readonly Window[] = [{ seconds: 1000, limit: 5 }]
const hello = '/gen/General/Hello'
let edge: Edge

beforeAll(async () => {
  edge = await startEdge({ isCounting: () => true, handlers: { Hello: async () => ({ results: ['x'] }) } })
})

const log = { warn: () => undefined }
/** Counts statements; fails them all when told to. */
function watched(db: Database): { db: Pick<Database, 'write'>; statements: () => number; break(): void } {
  let count = 0
  let isBroken = false
  const rows = (async (...statement: Parameters<typeof db.write.rows>) => {
    count++
    if (isBroken) throw new Error('away')
    return db.write.rows(...statement)
  }) as typeof db.write.rows
  return {
    db: { write: { ...db.write, rows } },
    statements: () => count,
    break: () => {
      isBroken = true
    },
  }
}

const takeMany = async (
  limiter: Limiter,
  subject: string,
  times: number,
  windows = five,
): Promise<Verdict[]> => {
  const verdicts: Verdict[] = []
  for (let time = 0; time < times; time++) verdicts.push(await limiter.take(subject, windows))
  return verdicts
}
const allowed = (verdicts: readonly Verdict[]): number => verdicts.filter(({ isAllowed }) => isAllowed).length

describe('windows', () => {
  test('a window admits its limit, says where it stands, and opens again when it ends', async () => {
    const away = watched(edge.db)
    away.break()
    let now = 0
    const limiter = createLimiter({ db: away.db, log, now: () => now })
    const first = await limiter.take('a', five)
    expect(first).toMatchObject({ isAllowed: true, tightest: { limit: 5, remaining: 4, resetSeconds: 1000 } })
    now = 999_500
    expect(allowed(await takeMany(limiter, 'a', 6))).toBe(4)
    expect(limiter.peek('a', five)).toMatchObject({
      isAllowed: false,
      tightest: { remaining: 0, resetSeconds: 1 },
    })
    now = 1_000_000
    expect(limiter.peek('a', five).tightest).toMatchObject({ remaining: 5, resetSeconds: 1000 })
    expect(allowed(await takeMany(limiter, 'a', 6))).toBe(5)
    await limiter.close()
  })

  test('of several windows the fullest is shown, and the longest of those that are full', async () => {
    const windows = [
      { seconds: 10, limit: 3 },
      { seconds: 100, limit: 5 },
    ]
    let now = 0
    const away = watched(edge.db)
    away.break()
    const limiter = createLimiter({ db: away.db, log, now: () => now })
    expect((await takeMany(limiter, 'a', 4, windows)).map(({ tightest }) => tightest.seconds)).toEqual([
      10, 10, 10, 10,
    ])
    now = 10_000
    const later = await takeMany(limiter, 'a', 3, windows)
    expect(later.map(({ isAllowed }) => isAllowed)).toEqual([true, true, false])
    expect(later[2]?.tightest).toEqual({ seconds: 100, limit: 5, remaining: 0, resetSeconds: 90 })
    await limiter.close()
  })

  test('never more than two windows’ worth in any window’s time, whatever the pace', async () => {
    const away = watched(edge.db)
    away.break()
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 4000 }), { maxLength: 60 }), async (pauses) => {
        let now = 0
        const limiter = createLimiter({ db: away.db, log, now: () => now })
        const admitted: number[] = []
        for (const pause of pauses) {
          now += pause
          const verdict = await limiter.take('a', [{ seconds: 10, limit: 5 }])
          if (verdict.isAllowed) admitted.push(now)
          expect(verdict.tightest.remaining).toBeGreaterThanOrEqual(0)
        }
        await limiter.close()
        // Burst, refill in proportion to time, and at most one refill more.
        for (const [at, from] of admitted.entries())
          for (const [later, to] of admitted.slice(at).entries())
            expect(later + 1).toBeLessThanOrEqual(5 + ((to - from) / 10_000) * 5 + 5)
      }),
      { numRuns: 50 },
    )
  })
})

describe('one count for all processes', () => {
  test('what one process has let in counts in the other', async () => {
    const [one, two] = [createLimiter({ db: edge.db, log }), createLimiter({ db: edge.db, log })]
    expect(allowed(await takeMany(one, 'shared', 3))).toBe(3)
    await one.flush()
    expect(allowed(await takeMany(two, 'shared', 5))).toBe(2)
    await two.flush()
    await one.take('shared', five)
    await one.flush()
    expect((await one.take('shared', five)).isAllowed).toBe(false)
    await Promise.all([one.close(), two.close()])
  })

  test('several processes that are asked at once let in a twentieth more at most, each', async () => {
    const limiters = Array.from({ length: 3 }, () => createLimiter({ db: edge.db, log }))
    const windows = [
      { seconds: 1000, limit: 100 },
      { seconds: 5000, limit: 1000 },
    ]
    const burst = () =>
      Promise.all(
        limiters.flatMap((limiter) => Array.from({ length: 100 }, () => limiter.take('burst', windows))),
      )
    const letIn = allowed(await burst())
    expect(letIn).toBeGreaterThanOrEqual(100)
    expect(letIn).toBeLessThanOrEqual(115)
    await Promise.all(limiters.map((limiter) => limiter.flush()))
    const kept = await edge.db.read.rows`select used from rate_window where subject = 'burst'`
    expect(kept).toEqual([{ used: letIn }, { used: letIn }])
    await Promise.all(limiters.map((limiter) => limiter.flush()))
    expect(allowed(await burst())).toBe(0)
    await Promise.all(limiters.map((limiter) => limiter.close()))
  })

  test('one process lets in the limit, however fast it is asked', async () => {
    const limiter = createLimiter({ db: edge.db, log })
    const windows = [{ seconds: 1000, limit: 100 }]
    const verdicts = await Promise.all(Array.from({ length: 300 }, () => limiter.take('fast', windows)))
    expect(allowed(verdicts)).toBe(100)
    await limiter.close()
  })

  test('a statement that hangs holds nobody up; what it adds is not added twice', async () => {
    let release = (): void => undefined
    let isHung = false
    const rows = (async (...statement: Parameters<Database['write']['rows']>) => {
      if (isHung) {
        await new Promise<void>((resolve) => {
          release = resolve
        })
      }
      return edge.db.write.rows(...statement)
    }) as Database['write']['rows']
    const limiter = createLimiter({ db: { write: { ...edge.db.write, rows } }, log })
    expect(allowed(await takeMany(limiter, 'hung', 1))).toBe(1)
    isHung = true
    expect(allowed(await takeMany(limiter, 'hung', 2))).toBe(2)
    isHung = false
    release()
    await limiter.close()
    const other = createLimiter({ db: edge.db, log })
    expect(allowed(await takeMany(other, 'hung', 5))).toBe(2)
    await other.close()
  })

  test('a restart gives nobody a fresh window', async () => {
    const before = createLimiter({ db: edge.db, log })
    await takeMany(before, 'restarted', 5)
    await before.close()
    const after = createLimiter({ db: edge.db, log })
    const verdict = await after.take('restarted', five)
    expect(verdict.isAllowed).toBe(false)
    expect(verdict.tightest.resetSeconds).toBeGreaterThan(990)
    await after.close()
  })

  test('a thousand calls cost a statement for each twentieth of the limit, a thousand newcomers one', async () => {
    const counted = watched(edge.db)
    const limiter = createLimiter({ db: counted.db, log })
    await Promise.all(Array.from({ length: 1000 }, () => limiter.take('busy', platformWindows)))
    await limiter.flush()
    const busy = counted.statements()
    expect(busy).toBeLessThanOrEqual(21)
    await Promise.all(Array.from({ length: 1000 }, (_, at) => limiter.take(`new ${at}`, five)))
    expect(counted.statements()).toBe(busy + 1)
    await limiter.close()
  })

  test('counts that could not be shared are shared later', async () => {
    let isAway = true
    const rows = ((...statement: Parameters<Database['write']['rows']>) =>
      isAway
        ? Promise.reject(new Error('away'))
        : edge.db.write.rows(...statement)) as Database['write']['rows']
    const limiter = createLimiter({ db: { write: { ...edge.db.write, rows } }, log })
    await takeMany(limiter, 'cut off', 4)
    await limiter.flush()
    isAway = false
    await limiter.take('cut off', five)
    await limiter.close()
    const other = createLimiter({ db: edge.db, log })
    expect((await other.take('cut off', five)).isAllowed).toBe(false)
    await other.close()
  })

  test('a database that stays away is said once, and then once a minute how often', async () => {
    let now = 0
    const said: object[] = []
    const away = watched(edge.db)
    away.break()
    const limiter = createLimiter({
      db: away.db,
      log: { warn: (fields) => said.push(fields) },
      now: () => now,
    })
    for (let time = 0; time < 240; time++) {
      await limiter.take('away', [{ seconds: 1000, limit: 1000 }])
      await limiter.flush()
      now += 500
    }
    expect(said).toMatchObject([{ failures: 1 }, { failures: 121 }])
    await limiter.close()
  })

  test('windows that have run out are swept away, others stay', async () => {
    await edge.db.write
      .run`insert into rate_window values ('old', 10, clock_timestamp() - interval '11 s', 1), ('older', 10, '2000-01-01', 1),
      ('young', 10, clock_timestamp(), 1), ('future', 10, clock_timestamp() + interval '1 h', 10)`
    expect(await purgeWindows(edge.db.write, 1)).toBe(1)
    expect(await purgeWindows(edge.db.write, 10_000)).toBeGreaterThanOrEqual(1)
    const left = await edge.db.read
      .rows`select subject from rate_window where subject in ('old', 'older', 'young', 'future')`
    expect(left).toHaveLength(2)
    const limiter = createLimiter({ db: edge.db, log })
    expect((await limiter.take('future', [{ seconds: 10, limit: 5 }])).isAllowed).toBe(true)
    await limiter.close()
  })
})

describe('over HTTP', () => {
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

  test('an address has one window for all its keys', async () => {
    const statuses: number[] = []
    for (let time = 0; time < 60; time++) statuses.push((await edge.call(hello, { body: '{}' })).status)
    expect(statuses.at(-1)).toBe(429)
    const { key } = await edge.key(await edge.person())
    expect((await edge.call(hello, { key, body: '{}' })).status).toBe(429)
  })
})
