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
  const lost = new AbortController()
  const held = AbortSignal.any([ending, lost.signal])
  const heart = beat(ctx, lease, lost, held, timing)
  try {
    await work(lease, held)
  } catch (error) {
    ctx.log.error({ error, lease: lease.name }, 'work under a lease failed')
  } finally {
    lost.abort()
    await heart
    await releaseLease(ctx.db.write, lease).catch(() => undefined)
  }
}

/** Renews until `held` aborts, and aborts it when the lease is lost or nobody confirms it. */
async function beat(
  ctx: WorkContext,
  lease: Lease,
  lost: AbortController,
  held: AbortSignal,
  timing: LeaseTiming,
): Promise<void> {
  const lose = (): void => {
    if (!lost.signal.aborted) ctx.tally.leasesLost++
    lost.abort()
  }
  let watchdog = setTimeout(lose, timing.silence)
  while (!held.aborted) {
    await pause(timing.heartbeat, held)
    if (held.aborted) break
    const asked = performance.now()
    try {
      if (!(await renewLease(ctx.db.write, lease, timing.lease))) lose()
      clearTimeout(watchdog)
      watchdog = setTimeout(lose, timing.silence - (performance.now() - asked))
    } catch (error) {
      ctx.log.warn({ error, lease: lease.name }, 'a lease could not be renewed')
    }
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
    await releaseLease(ctx.db.write, lease)
  }
}

/** Renews a lease; false when it is lost, which is counted. */
export async function keepLease(ctx: WorkContext, lease: Lease, milliseconds: number): Promise<boolean> {
  const isHeld = await renewLease(ctx.db.write, lease, milliseconds)
  if (!isHeld) ctx.tally.leasesLost++
  return isHeld
}

/** Keeps a lease renewed for as long as `work` takes. One that is lost all the same stops the next write, not the work. */
export async function whileKept<Result>(
  ctx: WorkContext,
  lease: Lease,
  milliseconds: number,
  work: () => Promise<Result>,
): Promise<Result> {
  const over = new AbortController()
  const timing = { ...usualTiming, lease: milliseconds }
  const heart = beat(ctx, lease, new AbortController(), over.signal, timing)
  try {
    return await work()
  } finally {
    over.abort()
    await heart
  }
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
