/**
 * Work on many at once, of which one may be impossible (a number without room, a row that contradicts another). All would
 * fail with it, again and again: so each is then worked on alone, and whoever fails alone is left out for a while.
 */
import { DatabaseUnavailable } from '../storage/database/failure.ts'
import type { Among } from '../storage/work/among.ts'
import { LeaseLost } from '../storage/work/leases.ts'
import type { WorkContext } from './context.ts'
import { countFailure } from './tally.ts'

/** Milliseconds until what has failed alone is tried again, alone. */
const restMs = 5_000
const apartAtOnce = 1_000

/** Work on accounts, setups or strategies by their ids. Done again in part, it must not do again what was done. */
export interface Isolable {
  /** Names the work in the log. */
  readonly name: string
  /** Works on those of them that are due; answers how much was done. */
  work(among: Among): Promise<number>
  /** Ids of those that are due. */
  list(among: Among, limit: number): Promise<number[]>
}

/** Somebody failed alone; all others are served. */
class FailedAlone extends Error {
  override name = 'FailedAlone'
  readonly work: string
  /** How much was done. */
  readonly moved: number

  constructor(work: string, moved: number, cause: unknown) {
    super(`${work}: it cannot be done for somebody`, { cause })
    this.work = work
    this.moved = moved
  }
}

/** Where the database is away, or the work is somebody else's by now, nothing is learned of whoever is worked on. */
const isNobodysFault = (error: unknown): boolean =>
  error instanceof DatabaseUnavailable || error instanceof LeaseLost

/** Works on everybody who is due. Throws `FailedAlone`, once all others are served, when somebody alone has failed. */
export async function isolated(ctx: WorkContext, { name, work, list }: Isolable): Promise<number> {
  const resting = restingOf(ctx, name)
  const served: number[] = []
  const failures: unknown[] = []
  const others = (): Among => ({ except: [...resting.keys(), ...served] })
  const alone = async (id: number): Promise<number> => {
    try {
      const moved = await work({ only: id })
      resting.delete(id)
      served.push(id)
      return moved
    } catch (error) {
      if (isNobodysFault(error)) throw error
      ctx.log.error({ error, step: name, id }, 'this cannot be done and is left alone for a while')
      resting.set(id, performance.now() + restMs)
      failures.push(error)
      return 0
    }
  }
  let moved = 0
  const now = performance.now()
  for (const id of [...resting].flatMap(([id, until]) => (until <= now ? [id] : []))) moved += await alone(id)
  try {
    moved += await work(others())
  } catch (cause) {
    if (isNobodysFault(cause)) throw cause
    ctx.log.warn({ error: cause, step: name }, 'this cannot be done together: each by itself')
    for (const id of await list(others(), apartAtOnce)) moved += await alone(id)
    moved += await work(others())
  }
  if (failures.length > 0) throw new FailedAlone(name, moved, failures[0])
  return moved
}

/** For work that must go on although it cannot be done for somebody: it counts as failed and stops nobody. */
export async function despiteSome({ tally }: WorkContext, work: Promise<number>): Promise<number> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof FailedAlone)) throw error
    countFailure(tally, error.work)
    return error.moved
  }
}

/** Until when those who failed alone are left out of this work, by id, in milliseconds of this process. */
function restingOf({ tally }: WorkContext, name: string): Map<number, number> {
  const known = tally.resting.get(name) ?? new Map<number, number>()
  tally.resting.set(name, known)
  return known
}
