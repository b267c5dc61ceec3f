/**
 * The worker's loop. A round asks in one statement which steps have work and runs them; an idle platform costs
 * one round trip per poll. Started, steps run beside each other, woken by the database and by a clock; a step
 * that fails is tried again later and never takes the worker down. Drained, rounds follow one another until
 * one moves nothing: what the test door and the seeding wait for.
 */
import type { Subscription } from '../storage/database/listener.ts'
import { fragment, join } from '../storage/database/sql.ts'
import { backoff } from './backoff.ts'
import type { Step, WorkContext } from './context.ts'
import { runFeed } from './feeds.ts'
import { pause } from './leases.ts'
import type { Feed } from './market/feed.ts'
import { countFailure, countRefusal } from './tally.ts'

/** How long a failing step or an unreachable database is left alone at least and at most. */
const shortestPause = 100
const longestPause = 5_000

export interface Worker {
  /** Runs steps and feeds until stopped. Resolves when the worker listens. */
  start(): Promise<void>
  /** Ends feeds first, then lets running steps come to a safe point. */
  stop(): Promise<void>
  /** Works until nothing is left to do; answers how many rows moved. Rejects when a step fails. */
  drain(): Promise<number>
}

export interface WorkerParts {
  ctx: WorkContext
  steps: readonly Step[]
  feeds?: readonly Feed[]
  /** Longest time without looking for work, in milliseconds (200). */
  pollInterval?: number
}

/** Builds a worker; it does nothing until it is started or drained. */
export function createWorker({ ctx, steps, feeds = [], pollInterval = 200 }: WorkerParts): Worker {
  const ending = new AbortController()
  const started = { ...ctx, ending: ending.signal }
  const bell = createBell(pollInterval)
  const tasks: Promise<unknown>[] = []
  let subscription: Subscription | undefined

  return {
    async start() {
      subscription = await ctx.db.listen('work', bell.ring)
      tasks.push(watch(started, steps, bell, ending.signal))
      for (const feed of feeds) tasks.push(runFeed(ctx, feed, bell.ring, ending.signal))
    },
    async stop() {
      ending.abort()
      bell.ring()
      await Promise.all(tasks.splice(0))
      await subscription?.stop()
    },
    async drain() {
      let total = 0
      for (;;) {
        let moved = 0
        for (const step of await dueSteps(ctx, steps)) moved += await step.run(ctx)
        if (moved === 0) return total
        total += moved
      }
    },
  }
}

/**
 * The steps that have work now, in their order. Those that run are asked too: without them the statement would read
 * another way for every set of them, and each connection keeps a plan for every statement that it has seen.
 */
async function dueSteps(ctx: WorkContext, steps: readonly Step[]): Promise<readonly Step[]> {
  if (steps.length === 0) return []
  const now = ctx.clock.now()
  const conditions = steps.map((step) => {
    const condition = step.due(now)
    return typeof condition === 'boolean' ? fragment`${condition}::boolean` : condition
  })
  const { due } = await ctx.db.read.one<{ due: boolean[] }>`select array[${join(conditions, ', ')}] as due`
  return steps.filter((_, place) => due[place])
}

/** Starts what is due and not yet running, at every ring of the bell and at least once per poll interval. */
async function watch(
  ctx: WorkContext,
  steps: readonly Step[],
  bell: Bell,
  ending: AbortSignal,
): Promise<void> {
  const running = new Map<Step, Promise<void>>()
  const failures = new Map<Step, number>()
  let silence = 0
  while (!ending.aborted) {
    try {
      // What ends while we ask was asked about before it was done.
      const busy = new Set(running.keys())
      for (const step of await dueSteps(ctx, steps)) {
        if (busy.has(step)) continue
        const run = runStep(ctx, step, failures, bell, ending).finally(() => running.delete(step))
        running.set(step, run)
      }
      silence = 0
    } catch (error) {
      silence += 1
      ctx.log.warn({ error }, 'looking for work failed')
      await pause(restAfter(silence), ending)
    }
    await bell.wait()
  }
  await Promise.all(running.values())
}

/** One run of a step. After a failure the step rests, longer each time, before it may run again. */
async function runStep(
  ctx: WorkContext,
  step: Step,
  failures: Map<Step, number>,
  bell: Bell,
  ending: AbortSignal,
): Promise<void> {
  try {
    const moved = await step.run(ctx)
    failures.delete(step)
    if (moved > 0) bell.ring()
  } catch (error) {
    const count = (failures.get(step) ?? 0) + 1
    failures.set(step, count)
    countFailure(ctx.tally, step.name)
    countRefusal(ctx.tally, error)
    ctx.log.error({ error, step: step.name }, 'a step failed and will run again')
    await pause(restAfter(count), ending)
  }
}

const restAfter = (failures: number): number => backoff(failures, shortestPause, longestPause)

/** A bell that remembers having been rung until somebody waited for it. */
interface Bell {
  ring(): void
  /** Resolves when the bell was or is rung, at the latest after its patience. */
  wait(): Promise<void>
}

function createBell(patience: number): Bell {
  let isRung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      isRung = true
      wake?.()
    },
    async wait() {
      if (!isRung) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, patience)
          wake = () => {
            clearTimeout(timer)
            resolve()
          }
        })
      }
      wake = undefined
      isRung = false
    },
  }
}
