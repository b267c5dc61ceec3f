/** Work that is done in rounds, each a transaction of its own. */
import type { WorkContext } from './context.ts'

/** Adds up what rounds answer until one finds nothing, or the worker is told to end. */
export async function inRounds(
  { ending }: WorkContext,
  round: () => Promise<number | undefined>,
): Promise<number> {
  let total = 0
  while (!ending?.aborted) {
    const count = await round()
    if (count === undefined) break
    total += count
  }
  return total
}
