/** Rate limits: windows, one count for all processes, no fresh start by a restart. */
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import {
  createLimiter,
  type Limiter,
  platformWindows,
  type Verdict,
  type Window,
} from '../../src/operations/limits.ts'
import type { Database } from '../../src/storage/database/database.ts'
import { purgeWindows } from '../../src/storage/work/rate-windows.ts'
import { type Edge, startEdge } from './support/edge.ts'

const five: readonly Window[] = [{ seconds: 1000, limit: 5 }]
let edge: Edge

beforeAll(async () => {
  edge = await startEdge()
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
