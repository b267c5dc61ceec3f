/**
 * Lists that no page bounds, such as a report on all accounts of a platform. Each part has a turn of the event loop of its
 * own: whatever else the process serves waits for a part, and not for the whole.
 */
import { setImmediate as turn } from 'node:timers/promises'
import { chunked } from '../domain/group.ts'

/** As many as the longest page: it is made in one go. */
export const rowsAtOnce = 1_000

/** What `work` makes of all items, in their order. */
export async function inTurns<Item, Made>(
  items: readonly Item[],
  work: (some: readonly Item[]) => readonly Made[] | Promise<readonly Made[]>,
): Promise<Made[]> {
  const made: Made[] = []
  let isFirst = true
  for (const some of chunked(items, rowsAtOnce)) {
    if (!isFirst) await turn()
    isFirst = false
    for (const one of await work(some)) made.push(one)
  }
  return made
}
