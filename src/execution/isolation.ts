/**
 * Work on many at once, of which one may be impossible (a number without room, a row that contradicts another). All would
 * fail with it, again and again: so each is then worked on alone, and whoever fails alone is left out for a while.
 */
import { DatabaseUnavailable } from '../storage/database/failure.ts'
import { type Among, everybody } from '../storage/work/among.ts'
import type { WorkContext } from './context.ts'

/** Milliseconds until what has failed alone is tried again, alone. */
const restMs = 5_000
const apartAtOnce = 1_000

/** Work on accounts, setups or strategies by their ids. */
export interface Isolable {
  /** Names the work in the log. */
  readonly name: string
  /** Works on those of them that are due; answers how much was done. */
  work(among: Among): Promise<number>
  /** Ids of those that are due. */
  list(among: Among, limit: number): Promise<number[]>
}

/** Works on everybody who is due. Throws, once all others are served, when somebody alone has failed. */
export async function isolated(ctx: WorkContext, { name, work, list }: Isolable): Promise<number> {
  const resting = restingOf(ctx, name)
  const failures: unknown[] = []
  const alone = async (id: number): Promise<number> => {
    try {
      const moved = await work({ only: id })
      resting.delete(id)
      return moved
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
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
    moved += await work(resting.size === 0 ? everybody : { except: [...resting.keys()] })
  } catch (cause) {
    if (cause instanceof DatabaseUnavailable) throw cause
    ctx.log.warn({ error: cause, step: name }, 'this cannot be done together: each by itself')
    for (const id of await list({ except: [...resting.keys()] }, apartAtOnce)) moved += await alone(id)
  }
  if (failures.length > 0) throw failures[0]
  return moved
}

/** Until when those who failed alone are left out of this work, by id, in milliseconds of this process. */
function restingOf({ tally }: WorkContext, name: string): Map<number, number> {
  const known = tally.resting.get(name) ?? new Map<number, number>()
  tally.resting.set(name, known)
  return known
}
