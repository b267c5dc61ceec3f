/**
 * Work that of all workers one does. It starts when the lease is taken and its signal aborts as soon as the
 * lease may be lost: when another holds it, or when the database has not confirmed it for half its length.
 * Whoever resumes late is stopped at his next write, which checks the fence.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { claimLease, type Lease, releaseLease, renewLease, usualLeaseMs } from '../storage/work/leases.ts'
import type { WorkContext } from './context.ts'

/** Durations in milliseconds, by each machine's own steady clock. */
export interface LeaseTiming {
  lease: number
  heartbeat: number
  /** Longest time without a confirmation. */
  silence: number
}

const usualTiming: LeaseTiming = { lease: usualLeaseMs, heartbeat: 3_000, silence: 5_000 }

/** Does `work` whenever this worker holds the lease, until `ending` aborts. `work` ends when its signal aborts. */
export async function underLease(
  ctx: WorkContext,
  name: string,
  ending: AbortSignal,
  work: (lease: Lease, held: AbortSignal) => Promise<void>,
  timing: LeaseTiming = usualTiming,
): Promise<void> {
  while (!ending.aborted) {
    const lease = await claimLease(ctx.db.write, name, ctx.workerId, timing.lease).catch((error: unknown) => {
      ctx.log.warn({ error, lease: name }, 'a lease could not be asked for')
      return undefined
    })
    if (lease) await hold(ctx, lease, ending, work, timing)
    await pause(timing.heartbeat / 3, ending)
  }
}

async function hold(
  ctx: WorkContext,
  lease: Lease,
  ending: AbortSignal,
  work: (lease: Lease, held: AbortSignal) => Promise<void>,
  timing: LeaseTiming,
): Promise<void> {
  try {
    await whileKept(ctx, lease, timing, (kept) => work(lease, AbortSignal.any([ending, kept])))
  } catch (error) {
    ctx.log.error({ error, lease: lease.name }, 'work under a lease failed')
  } finally {
    await giveBack(ctx, lease)
  }
}

/**
 * Keeps a lease renewed for as long as `work` takes. `kept` aborts when it is lost or nobody confirms it: that does not
 * end the work of whoever does not look, and what was not lost is his again once the database is back.
 */
export async function whileKept<Result>(
  ctx: WorkContext,
  lease: Lease,
  timing: Partial<LeaseTiming>,
  work: (kept: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const [over, lost] = [new AbortController(), new AbortController()]
  const heart = beat(ctx, lease, { over: over.signal, lost }, { ...usualTiming, ...timing })
  try {
    return await work(lost.signal)
  } finally {
    over.abort()
    await heart
  }
}

/** Renews until the work is over, and aborts `lost` when the lease is lost or nobody confirms it. */
async function beat(
  ctx: WorkContext,
  lease: Lease,
  { over, lost }: { readonly over: AbortSignal; readonly lost: AbortController },
  timing: LeaseTiming,
): Promise<void> {
  const lose = (): void => {
    if (over.aborted || lost.signal.aborted) return
    ctx.tally.leasesLost++
    lost.abort()
  }
  let watchdog = setTimeout(lose, timing.silence)
  for (let isOurs = true; isOurs; ) {
    await pause(timing.heartbeat, over)
    if (over.aborted) break
    const asked = performance.now()
    try {
      isOurs = await renewLease(ctx.db.write, lease, timing.lease)
      clearTimeout(watchdog)
      watchdog = setTimeout(lose, timing.silence - (performance.now() - asked))
    } catch (error) {
      ctx.log.warn({ error, lease: lease.name }, 'a lease could not be renewed')
    }
    if (!isOurs) lose()
  }
  clearTimeout(watchdog)
}

/**
 * Does `work` once under a lease, and gives it back whatever came of it; undefined, and nothing done, while somebody
 * holds it.
 */
export async function onceUnderLease<Result>(
  ctx: WorkContext,
  name: string,
  milliseconds: number,
  work: (lease: Lease) => Promise<Result>,
): Promise<Result | undefined> {
  const lease = await claimLease(ctx.db.write, name, ctx.workerId, milliseconds)
  if (!lease) return undefined
  try {
    return await work(lease)
  } finally {
    await giveBack(ctx, lease)
  }
}

/** Gives a lease back. One that cannot be, as the database is away, runs out: whoever had it has done his work or ends. */
export const giveBack = (ctx: WorkContext, lease: Lease): Promise<void> =>
  releaseLease(ctx.db.write, lease).catch((error: unknown) =>
    ctx.log.warn({ error, lease: lease.name }, 'a lease could not be given back'),
  )

/** Renews a lease; false when it is lost, which is counted. */
export async function keepLease(ctx: WorkContext, lease: Lease, milliseconds: number): Promise<boolean> {
  const isHeld = await renewLease(ctx.db.write, lease, milliseconds)
  if (!isHeld) ctx.tally.leasesLost++
  return isHeld
}

/** Waits, at most until the signal aborts. */
export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  delay(milliseconds, undefined, { signal }).catch(() => undefined)

/** Waits for work, but no longer than this: undefined where it takes longer. */
export async function atMost<Result>(
  milliseconds: number,
  work: Promise<Result>,
): Promise<Result | undefined> {
  const waiting = new AbortController()
  const late = pause(milliseconds, waiting.signal).then(() => undefined)
  const result = await Promise.race([work, late])
  waiting.abort()
  return result
}
