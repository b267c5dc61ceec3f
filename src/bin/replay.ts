/** Plays recorded bars or quotes from a CSV file into the platform; what it publishes fills orders like any market. */
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { assembleWork } from '../execution/assembly.ts'
import type { WorkContext } from '../execution/context.ts'
import type { Feed } from '../execution/market/feed.ts'
import { replayFeed } from '../execution/market/replay.ts'
import { createWorker } from '../execution/worker.ts'
import type { Database } from '../storage/database.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import { environments } from './environment.ts'
import { workerId } from './worker.ts'

export interface ReplayOptions {
  file: string
  /** Recorded time per time of the clock; Infinity: as fast as it is booked. */
  speed: number
}

/**
 * Resolves when the file has been played to its end, also over several tries. Throws ConfigError where it cannot be
 * read; what stands before that row has been played.
 */
export async function replayFile(
  config: Config,
  db: Database,
  log: WorkContext['log'],
  options: ReplayOptions,
): Promise<void> {
  const name = `replay:${basename(options.file)}`
  const open = () => createReadStream(options.file)
  const recorded = replayFeed(db, systemClock, { name, open, speed: options.speed, isLive: true })
  let finished = (_unreadable?: ConfigError): void => {}
  const played = new Promise<ConfigError | undefined>((resolve) => {
    finished = resolve
  })
  const feed: Feed = {
    name,
    run: async (sink, signal) => {
      try {
        await recorded.run(sink, signal)
      } catch (error) {
        if (!isOfTheFile(error)) throw error
        return finished(new ConfigError(`${options.file}: ${error.message}`))
      }
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
  const unreadable = await played
  await worker.stop()
  if (unreadable) throw unreadable
}

/** A row that says nothing, text that is no CSV, a file that is not there: trying again does not mend it. */
const isOfTheFile = (error: unknown): error is Error =>
  error instanceof RangeError ||
  (error instanceof Error && 'code' in error && /^(CSV_|ENOENT$|EACCES$|EISDIR$)/.test(String(error.code)))
