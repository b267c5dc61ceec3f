/** Of many workers one publishes a feed; who lost the lease writes nothing more. */
import { once } from 'node:events'
import { expect, test, vi } from 'vitest'
import { Following } from '../../src/execution/brokers/alpaca/following.ts'
import { onceUnderLease, underLease, whileKept } from '../../src/execution/leases.ts'
import type { Feed } from '../../src/execution/market/feed.ts'
import { publishBars, publishQuotes } from '../../src/execution/orders/matcher.ts'
import { createWorker } from '../../src/execution/worker.ts'
import { fragment } from '../../src/storage/database/sql.ts'
import { claimLease, LeaseLost, releaseLease, renewLease } from '../../src/storage/work/leases.ts'
import { testDatabase } from '../support/database.ts'
import {
  addInstrument,
  addStrategy,
  bar,
  makeWorld,
  opening,
  place,
  quote,
  readSignal,
  steps,
} from './world.ts'

const { db } = await testDatabase()
const long = 60_000
const brief = { lease: 300, heartbeat: 20, silence: 150 }

/** The database, whose single writes fail while it `isDown`. */
const failing = (isDown: () => boolean): typeof db => ({
  ...db,
  write: {
    ...db.write,
    run: (...statement) => (isDown() ? Promise.reject(new Error('no answer')) : db.write.run(...statement)),
  },
})

/** As if the holder had been silent for the whole lease. */
const expire = (name: string) =>
  db.write.run`update lease set expires_at = clock_timestamp() where name = ${name}`

test('one holder at a time; every change of holder raises the fence', async () => {
  const first = await claimLease(db.write, 'a', 'w1', long)
  expect(first).toEqual({ name: 'a', holder: 'w1', fence: 1 })
  expect(await claimLease(db.write, 'a', 'w2', long)).toBeUndefined()
  expect(await claimLease(db.write, 'a', 'w1', long)).toBeUndefined()
  expect(await renewLease(db.write, first!, long)).toBe(true)
  await expire('a')
  const second = await claimLease(db.write, 'a', 'w2', long)
  expect(second).toMatchObject({ holder: 'w2', fence: 2 })
  expect(await renewLease(db.write, first!, long)).toBe(false)
  await releaseLease(db.write, first!)
  expect(await renewLease(db.write, second!, long)).toBe(true)
  await releaseLease(db.write, second!)
  expect(await claimLease(db.write, 'a', 'w1', long)).toMatchObject({ fence: 3 })
})

test('of many askers one gets it', async () => {
  const asked = await Promise.all(
    Array.from({ length: 8 }, (_, n) => claimLease(db.write, 'b', `w${n}`, long)),
  )
  expect(asked.filter(Boolean)).toHaveLength(1)
})

test('a lost lease stops every write of quotes and bars', async () => {
  const world = makeWorld(db)
  const { symbol, id } = await addInstrument(db)
  const lease = await claimLease(db.write, 'feed:c', 'w1', long)
  expect(await publishQuotes(world.ctx, [quote(symbol, '9', '10')], lease)).toBe(0)
  await expire('feed:c')
  await claimLease(db.write, 'feed:c', 'w2', long)
  await expect(publishQuotes(world.ctx, [quote(symbol, '19', '20')], lease)).rejects.toThrow(LeaseLost)
  await expect(
    publishBars(world.ctx, [bar(symbol, ['1', '1', '1', '1'], opening, opening + 1)], lease),
  ).rejects.toThrow(LeaseLost)
  expect(await db.read.one`select ask::float8 from quote where instrument_id = ${id}`).toEqual({ ask: 10 })
})

test('the work is told when another takes the lease', async () => {
  const ending = new AbortController()
  const { ctx } = makeWorld(db)
  const holders: number[] = []
  await underLease(
    ctx,
    'd',
    ending.signal,
    async (lease, held) => {
      holders.push(lease.fence)
      if (holders.length === 2) return ending.abort()
      await db.write.run`update lease set fence = fence + 1, expires_at = clock_timestamp() where name = 'd'`
      await once(held, 'abort')
    },
    brief,
  )
  expect(holders).toEqual([1, 3])
  expect(ctx.tally.leasesLost).toBe(1)
})

test('the work is told when nobody confirms the lease for too long', async () => {
  const ending = new AbortController()
  const world = makeWorld(db)
  let isDown = false
  const began = performance.now()
  let lost = 0
  await underLease(
    { ...world.ctx, db: failing(() => isDown) },
    'e',
    ending.signal,
    async (_, held) => {
      isDown = true
      await once(held, 'abort')
      lost = performance.now() - began
      ending.abort()
    },
    brief,
  )
  expect(lost).toBeLessThan(brief.lease)
})

test('the work goes on while the lease is confirmed, and is told when that ends', async () => {
  const ending = new AbortController()
  const world = makeWorld(db)
  const timing = { lease: 3_000, heartbeat: 50, silence: 1_000 }
  const began = performance.now()
  let silentSince: number | undefined
  const down = failing(() => {
    // Confirmed for longer than it could have gone without.
    if (performance.now() - began > timing.silence * 1.5) silentSince ??= performance.now()
    return silentSince !== undefined
  })
  let lost = 0
  await underLease(
    { ...world.ctx, db: down },
    'f',
    ending.signal,
    async (_, held) => {
      await once(held, 'abort')
      lost = performance.now()
      ending.abort()
    },
    timing,
  )
  expect(silentSince).toBeDefined()
  expect(lost - (silentSince ?? 0)).toBeLessThan(timing.lease)
})

test('one that cannot be given back runs out, and whoever has done his work or ends is done', async () => {
  let isDown = false
  const ctx = { ...makeWorld(db).ctx, db: failing(() => isDown) }
  const work = async (): Promise<string> => {
    isDown = true
    return 'done'
  }
  expect(await onceUnderLease(ctx, 'g', long, work)).toBe('done')
  isDown = false
  const following = new Following('ending', { of: async () => [] }, () => true)
  await following.steps()[0]!.run(ctx)
  expect(await db.read.maybe`select from lease where name = 'follow:ending'`).toBeDefined()
  isDown = true
  await following.close()
})

test('one under which the work goes on all the same is renewed again when the database is back', async () => {
  let isDown = true
  const ctx = { ...makeWorld(db).ctx, db: failing(() => isDown) }
  const lease = await claimLease(db.write, 'h', ctx.workerId, long)
  await whileKept(ctx, lease!, { ...brief, lease: 2 * long }, async (kept) => {
    await once(kept, 'abort')
    isDown = false
    const renewed = () => db.read.maybe`
      select from lease where name = 'h' and expires_at > clock_timestamp() + ${long} * interval '1 millisecond'`
    await vi.waitFor(async () => expect(await renewed()).toBeDefined(), 5_000)
  })
  expect(ctx.tally.leasesLost).toBe(1)
})

/** A feed that publishes one quote and then waits for its end. */
function oneQuoteFeed(symbol: string, started: (worker: string) => void, worker: string): Feed {
  return {
    name: symbol,
    async run(sink, signal) {
      started(worker)
      await sink.quotes([quote(symbol, '9', '10')])
      if (!signal.aborted) await once(signal, 'abort')
    },
  }
}

test('two started workers: one publishes, both match, and a stop hands the feed over', async () => {
  const world = makeWorld(db)
  const { symbol, id: instrumentId } = await addInstrument(db)
  const signalId = await place(world, { strategyId: await addStrategy(db), instrumentId, side: '1' })
  const runs: string[] = []
  let heard = (): void => undefined
  const next = () => new Promise<void>((resolve) => (heard = resolve))
  const started = (worker: string): void => {
    runs.push(worker)
    heard()
  }
  const workers = ['w1', 'w2'].map((workerId) =>
    createWorker({
      ctx: { ...world.ctx, workerId },
      steps,
      feeds: [oneQuoteFeed(symbol, started, workerId)],
    }),
  )
  const first = next()
  await Promise.all(workers.map((worker) => worker.start()))
  await first
  expect(runs).toHaveLength(1)
  const handedOver = next()
  const holder = runs[0] === 'w1' ? 0 : 1
  await workers[holder]!.stop()
  await handedOver
  expect(new Set(runs)).toEqual(new Set(['w1', 'w2']))
  await workers[1 - holder]!.stop()
  expect((await readSignal(world, signalId)).status).toBe('2')
})

test('writes that come too late are counted, in a step and in a feed', async () => {
  const { ctx } = makeWorld(db)
  const late = async (): Promise<never> => {
    throw new LeaseLost('lease x is lost')
  }
  const feed: Feed = { name: 'late', run: late }
  let isDue = true
  const due = () => {
    const now = isDue
    isDue = false
    return fragment`${now}::boolean`
  }
  const worker = createWorker({ ctx, steps: [{ name: 'late', due, run: late }], feeds: [feed] })
  await worker.start()
  await vi.waitFor(() => expect(ctx.tally.fenceRefusals).toBeGreaterThanOrEqual(2), 5_000)
  await worker.stop()
  expect(ctx.tally.stepFailures.get('late')).toBe(1)
})
