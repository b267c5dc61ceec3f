/** Plays recorded bars or quotes from a CSV file into the platform; what it publishes fills orders like any market. */
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import type { Logger } from 'pino'
import { assembleWork } from '../execution/assembly.ts'
import type { Feed } from '../execution/market/feed.ts'
import { replayFeed } from '../execution/market/replay.ts'
import { createWorker } from '../execution/worker.ts'
import type { Database } from '../storage/database.ts'
import { systemClock } from './clock.ts'
import type { Config } from './config.ts'
import { environments } from './environment.ts'
import { workerId } from './worker.ts'

export interface ReplayOptions {
  file: string
  /** Recorded time per time of the clock; Infinity: as fast as it is booked. */
  speed: number
}

/** Resolves when the file has been played to its end, also over several tries. */
export async function replayFile(
  config: Config,
  db: Database,
  log: Logger,
  options: ReplayOptions,
): Promise<void> {
  const name = `replay:${basename(options.file)}`
  const open = () => createReadStream(options.file)
  const recorded = replayFeed(db, systemClock, { name, open, speed: options.speed, isLive: true })
  let finished = (): void => {}
  const played = new Promise<void>((resolve) => {
    finished = resolve
  })
  const feed: Feed = {
    name,
    run: async (sink, signal) => {
      await recorded.run(sink, signal)
      if (!signal.aborted) finished()
    },
  }
  const { ctx } = assembleWork({
    db,
    clock: systemClock,
    log,
    workerId: workerId(),
    environment: environments(config).orders,
  })
  const worker = createWorker({ ctx, steps: [], feeds: [feed] })
  await worker.start()
  await played
  await worker.stop()
}
