/** Plays recorded bars or quotes from a CSV file into the platform; what it publishes fills orders like any market. */
import { createHash } from 'node:crypto'
import { createReadStream, type ReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { assembleWork } from '../execution/assembly.ts'
import type { WorkContext } from '../execution/context.ts'
import type { Feed, FeedSink, InstrumentKey } from '../execution/market/feed.ts'
import { replayFeed } from '../execution/market/replay.ts'
import { createWorker } from '../execution/worker.ts'
import type { Database } from '../storage/database/database.ts'
import { loadQuotedInstruments } from '../storage/market/quotes.ts'
import { noteCommand } from './acting.ts'
import { systemClock } from './clock.ts'
import { type Config, ConfigError } from './config.ts'
import { environments } from './environment.ts'
import { fileWords, isOfFile } from './file-words.ts'
import { safeLine } from './tool.ts'
import { workerId } from './worker.ts'

export interface ReplayOptions {
  file: string
  /** Recorded time per time of the clock; Infinity: as fast as it is booked. */
  speed: number
}

export interface Played {
  /** Rows that were played now: none of an empty file, or of one that was played before. */
  readonly rows: number
  /** Of instruments that the platform does not have: their rows moved nothing. */
  readonly unknownSymbols: readonly string[]
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
): Promise<Played> {
  const open = () => createReadStream(options.file)
  const unreadable = (error: unknown): never => {
    throw isOfTheFile(error) ? new ConfigError(safeLine(`${options.file}: ${fileWords(error)}`)) : error
  }
  const name = `replay:${await digestOf(open).catch(unreadable)}`
  // A file that cannot be read moves nothing; from here on rows may be played.
  await noteCommand(db.write, `file ${basename(options.file)}`)
  const recorded = replayFeed(db, systemClock, { name, open, speed: options.speed })
  const tally = { rows: 0, symbols: new Set<string>() }
  let finished = (_fault?: Error): void => {}
  const played = new Promise<Error | undefined>((resolve) => {
    finished = resolve
  })
  const feed: Feed = {
    name,
    run: async (sink, signal) => {
      try {
        await recorded.run(counting(sink, tally), signal)
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
    paper: config.paper,
  })
  const worker = createWorker({ ctx, steps: [], feeds: [feed] })
  await worker.start()
  const fault = await played
  await worker.stop()
  if (fault) unreadable(fault)
  const known = await loadQuotedInstruments(db.read, [...tally.symbols], [])
  for (const { symbol } of known) tally.symbols.delete(symbol)
  return { rows: tally.rows, unknownSymbols: [...tally.symbols] }
}

/** The same sink, which notes what has been booked. */
function counting(sink: FeedSink, tally: { rows: number; symbols: Set<string> }): FeedSink {
  const note = (items: readonly InstrumentKey[]): void => {
    tally.rows += items.length
    for (const item of items) if ('symbol' in item) tally.symbols.add(item.symbol)
  }
  return {
    quotes: async (quotes) => {
      await sink.quotes(quotes)
      note(quotes)
    },
    bars: async (bars) => {
      await sink.bars(bars)
      note(bars)
    },
  }
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
  isOfFile(error) ||
  (error instanceof Error && 'code' in error && codesOfCsv.test(String(error.code)))

const codesOfCsv = /^(CSV_|INVALID_OPENING_QUOTE$)/
