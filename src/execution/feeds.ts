/**
 * Runs a feed on one of all workers. What it publishes is written under its lease; when the lease is lost it
 * stops at once. A feed that breaks starts again, a feed that has ended stays ended while its worker lives.
 */
import { once } from 'node:events'
import { DatabaseUnavailable } from '../storage/database/failure.ts'
import { type Lease, LeaseLost } from '../storage/work/leases.ts'
import type { WorkContext } from './context.ts'
import { pause, underLease } from './leases.ts'
import type { Feed, FeedSink } from './market/feed.ts'
import { publishBars, publishQuotes } from './orders/matcher.ts'
import { countRefusal } from './tally.ts'

const restartPause = 1_000
const repeatPause = 100

/** Runs the feed whenever this worker holds its lease, until `ending` aborts. `moved` hears of booked rows. */
export async function runFeed(
  ctx: WorkContext,
  feed: Feed,
  moved: () => void,
  ending: AbortSignal,
): Promise<void> {
  let hasEnded = false
  await underLease(ctx, `feed:${feed.name}`, ending, async (lease, held) => {
    while (!held.aborted) {
      try {
        if (!hasEnded) await feed.run(sinkUnder(ctx, lease, moved, held), held)
        hasEnded ||= !held.aborted
        if (hasEnded) await once(held, 'abort')
      } catch (error) {
        countRefusal(ctx.tally, error)
        if (error instanceof LeaseLost || held.aborted) return
        ctx.log.error({ error, feed: feed.name }, 'a feed broke and will start again')
        await pause(restartPause, held)
      }
    }
  })
}

/** Publishing waits for a database that is away: the same batch again books nothing twice. */
function sinkUnder(ctx: WorkContext, lease: Lease, moved: () => void, held: AbortSignal): FeedSink {
  const deliver = async (publish: () => Promise<number>): Promise<void> => {
    for (;;) {
      held.throwIfAborted()
      try {
        if ((await publish()) > 0) moved()
        return
      } catch (error) {
        if (!(error instanceof DatabaseUnavailable)) throw error
      }
      await pause(repeatPause, held)
    }
  }
  return {
    quotes: (quotes) => deliver(() => publishQuotes(ctx, quotes, lease)),
    bars: (bars) => deliver(() => publishBars(ctx, bars, lease)),
  }
}
