/** Work for brokers side by side: one that is slow or fails keeps none of the others waiting. */
import type { WorkContext } from '../context.ts'
import { atMost } from '../leases.ts'

/** While a broker takes its time the others are looked at again this often, as by an idle worker. */
export const lookAgainMs = 200
/** Until one that failed meanwhile is tried again. */
const restMs = 5_000

/**
 * Serves the brokers that are listed, also those that are listed while others are still served. Answers what they add up
 * to; throws, once nothing is under way, what one of them failed with.
 */
export async function serveEach(
  ctx: WorkContext,
  list: () => Promise<readonly number[]>,
  serve: (brokerId: number) => Promise<number>,
): Promise<number> {
  const underWay = new Map<number, Promise<void>>()
  const restingUntil = new Map<number, number>()
  const failures: unknown[] = []
  let total = 0
  const serveOne = async (brokerId: number): Promise<void> => {
    try {
      total += await serve(brokerId)
    } catch (error) {
      ctx.log.warn({ error, brokerId }, 'a broker could not be served and is tried again')
      failures.push(error)
      restingUntil.set(brokerId, performance.now() + restMs)
    } finally {
      underWay.delete(brokerId)
    }
  }
  const isFree = (brokerId: number): boolean =>
    !underWay.has(brokerId) && performance.now() >= (restingUntil.get(brokerId) ?? 0)
  const begin = async (): Promise<void> => {
    for (const brokerId of await list()) if (isFree(brokerId)) underWay.set(brokerId, serveOne(brokerId))
  }
  do {
    if (!ctx.ending?.aborted) await begin().catch((error: unknown) => failures.push(error))
    await atMost(lookAgainMs, Promise.all(underWay.values()))
  } while (underWay.size > 0)
  if (failures.length > 0) throw failures[0]
  return total
}
