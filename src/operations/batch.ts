/**
 * Gathers calls that arrive together and hands them on as one batch: those of one turn of the event loop, and
 * those that came while an earlier batch was under way. A batch that fails is halved until the bad call stands
 * alone, so nobody suffers from a neighbour. Order of arrival is kept.
 */

export interface BatchLimits {
  /** Calls in one batch. */
  readonly sizeMax: number
  /** From so many on, waiting calls are shared out over several batches at once: one computes, another writes. */
  readonly shareMin: number
  /** Batches under way at the same time. */
  readonly runningMax: number
  /** Fewer calls than a share start beside a running batch only when that has taken longer than this. */
  readonly patienceMs: number
  /** Calls that may wait; beyond it a call is turned away. */
  readonly waitingMax: number
  /**
   * The next batch is under way before the calls of the last one are answered, which takes as long as its first
   * question. Absent: after it, with what comes meanwhile.
   */
  readonly isHasty?: boolean
}

/** Where calls that are gathered stand, over all their batches. */
export interface BatchLoad {
  /** Calls that wait for a batch. */
  waiting: number
  /** Calls that were turned away since the process began. */
  turnedAway: number
}

/** No load yet. */
export const newLoad = (): BatchLoad => ({ waiting: 0, turnedAway: 0 })

/** Thrown at a call that would have to wait behind too many others. */
export class Overloaded extends Error {
  override name = 'Overloaded'
}

interface Waiting<In, Out> {
  readonly input: In
  readonly resolve: (output: Out) => void
  readonly reject: (error: unknown) => void
}

/**
 * A function for one call over a function for many, which answers in the order of its inputs. An error that
 * `isShared` says concerns the whole batch is given to all its calls without trying again.
 */
export function batched<In, Out>(
  many: (inputs: readonly In[]) => Promise<readonly Out[]>,
  isShared: (error: unknown) => boolean,
  limits: BatchLimits,
  load: BatchLoad = newLoad(),
): (input: In) => Promise<Out> {
  const waiting: Waiting<In, Out>[] = []
  let running = 0
  let startedAt = Number.NEGATIVE_INFINITY
  let soon: NodeJS.Immediate | undefined
  let later: NodeJS.Timeout | undefined

  const isTime = (): boolean =>
    running < limits.runningMax && (running === 0 ? waiting.length > 0 : waiting.length >= limits.shareMin)
  const schedule = (): void => {
    if (soon !== undefined || waiting.length === 0 || running >= limits.runningMax) return
    if (isTime()) soon = setImmediate(start)
    else later ??= setTimeout(start, Math.max(0, startedAt + limits.patienceMs - performance.now()))
  }
  const start = (): void => {
    clearImmediate(soon)
    clearTimeout(later)
    soon = later = undefined
    const share = Math.ceil(waiting.length / (limits.runningMax - running))
    const batch = waiting.splice(0, Math.min(limits.sizeMax, Math.max(limits.shareMin, share)))
    if (batch.length === 0) return
    load.waiting -= batch.length
    running++
    startedAt = performance.now()
    void settle(batch, many, isShared, limits.isHasty ? setImmediate : atOnce).finally(() => {
      running--
      if (limits.isHasty && isTime()) start()
      else schedule()
    })
    schedule()
  }
  return (input) =>
    new Promise<Out>((resolve, reject) => {
      if (waiting.length >= limits.waitingMax) {
        load.turnedAway++
        return reject(new Overloaded('too many calls are waiting'))
      }
      load.waiting++
      waiting.push({ input, resolve, reject })
      schedule()
    })
}

const atOnce = (answer: () => void): void => answer()

async function settle<In, Out>(
  batch: readonly Waiting<In, Out>[],
  many: (inputs: readonly In[]) => Promise<readonly Out[]>,
  isShared: (error: unknown) => boolean,
  then: (answer: () => void) => void,
): Promise<void> {
  try {
    const outputs = await many(batch.map(({ input }) => input))
    if (outputs.length !== batch.length)
      throw new Error(`${batch.length} calls got ${outputs.length} answers`)
    then(() => {
      for (const [at, { resolve }] of batch.entries()) resolve(outputs[at] as Out)
    })
  } catch (error) {
    if (batch.length === 1 || isShared(error)) {
      then(() => {
        for (const { reject } of batch) reject(error)
      })
      return
    }
    const half = batch.length >> 1
    await settle(batch.slice(0, half), many, isShared, then)
    await settle(batch.slice(half), many, isShared, then)
  }
}
