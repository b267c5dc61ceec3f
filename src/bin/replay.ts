/** Plays recorded bars or quotes from a CSV file into the platform; what it publishes fills orders like any market. */
import { createHash } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
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
 * Resolves when the file has been played to its end, also over several tries. A file is known by what it holds: under
 * another name it goes on where it stopped, and with another content it begins anew. Throws ConfigError where it
 * cannot be read; what stands before that row has been played.
 */
export async function replayFile(
  config: Config,
  db: Database,
  log: WorkContext['log'],
  options: ReplayOptions,
): Promise<void> {
  const open = () => createReadStream(options.file)
  const unreadable = (error: unknown): never => {
    throw isOfTheFile(error) ? new ConfigError(`${options.file}: ${error.message}`) : error
  }
  const name = `replay:${await digestOf(open).catch(unreadable)}`
  const recorded = replayFeed(db, systemClock, { name, open, speed: options.speed, isLive: true })
  let finished = (_fault?: Error): void => {}
  const played = new Promise<Error | undefined>((resolve) => {
    finished = resolve
  })
  const feed: Feed = {
    name,
    run: async (sink, signal) => {
      try {
        await recorded.run(sink, signal)
      } catch (error) {
        if (!isOfTheFile(error)) throw error
        return finished(error)
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
  const fault = await played
  await worker.stop()
  if (fault) unreadable(fault)
}

/** The same for the same bytes. */
async function digestOf(open: () => ReadStream): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(open(), digest)
  return digest.digest('base64url')
}

/** A row that says nothing, text that is no CSV, a file that is not there: trying again does not mend it. */
const isOfTheFile = (error: unknown): error is Error =>
  error instanceof RangeError ||
  (error instanceof Error && 'code' in error && codesOfFiles.test(String(error.code)))

const codesOfFiles = /^(CSV_|INVALID_OPENING_QUOTE$|ENOENT$|EACCES$|EISDIR$)/
