/**
 * Plays a recorded market: a CSV of quotes (symbol, t, bid, ask, bidSize, askSize) or bars (symbol, t, o, h, l,
 * c, v) in order of time, at any speed. They carry the moment at which they are due now, not the recorded one, and
 * a bar is over as it comes: no file says how long it lasted. Rows of one moment are one batch. After every batch
 * the position is kept: whoever carries on repeats at most the last batch, which books nothing twice.
 */
import { pipeline, type Readable } from 'node:stream'
import { parse } from 'csv-parse'
import { type Decimal, dec } from '../../domain/decimal.ts'
import { type Instant, readInstant } from '../../domain/time.ts'
import type { Database } from '../../storage/database/database.ts'
import { loadFeedPosition, saveFeedPosition } from '../../storage/market/feed-positions.ts'
import type { WorkContext } from '../context.ts'
import { pause } from '../leases.ts'
import type { Feed, FeedSink, MarketBar, MarketQuote } from './feed.ts'

export interface Recording {
  /** Names the feed, its lease and its position. */
  name: string
  /** Opens the text at its beginning. */
  open(): Readable
  /** Recorded time per time of the clock; Infinity publishes as fast as it is booked. */
  speed: number
}

/** A batch as recorded: its moment, and where it ends in the file. */
interface Batch {
  at: Instant
  rows: Row[]
  /** Rows of the file up to and with this batch. */
  until: number
}

type Row = Readonly<Record<string, string>>

/** The columns of a recording, of quotes or of bars, for whoever makes one; those with a question mark may be left out. */
export const recordingColumns = 'symbol, t, bid, ask, bidSize?, askSize? or symbol, t, o, h, l, c, v?'

/** Plays the recording from its position to its end. A row that cannot be read ends the run with its number. */
export function replayFeed(
  db: Database,
  clock: WorkContext['clock'],
  recording: Recording,
  wait: typeof pause = pause,
): Feed {
  const { name, speed } = recording
  return {
    name,
    async run(sink, signal) {
      const done = await loadFeedPosition(db.read, name)
      const startedAt = clock.now()
      let first: Instant | undefined
      for await (const { at, rows, until } of batchesOf(recording.open(), done)) {
        first ??= at
        const due = startedAt + (at - first) / speed
        while (clock.now() < due && !signal.aborted) await wait(due - clock.now(), signal)
        if (signal.aborted) return
        await publish(sink, rows, Math.floor(due))
        await saveFeedPosition(db.write, name, until, clock.now())
      }
    },
  }
}

/** The rows behind the first `skip` ones, those of one moment together. Throws when time runs backwards. */
async function* batchesOf(source: Readable, skip: number): AsyncGenerator<Batch> {
  const parser = parse({ columns: true, skip_empty_lines: true, trim: true })
  // A failure of the source reaches the loop through the parser.
  pipeline(source, parser, () => undefined)
  let batch: Batch | undefined
  let count = 0
  let last = Number.NEGATIVE_INFINITY
  for await (const row of parser as AsyncIterable<Row>) {
    count += 1
    const at = momentOf(row, count)
    if (at < last) throw new RangeError(`row ${count} is older than the row before it`)
    last = at
    if (count <= skip) continue
    if (batch?.at === at) {
      batch.rows.push(row)
      batch.until = count
      continue
    }
    if (batch) yield batch
    batch = { at, rows: [row], until: count }
  }
  if (batch) yield batch
}

async function publish(sink: FeedSink, rows: readonly Row[], at: Instant): Promise<void> {
  const isQuotes = rows[0]?.bid !== undefined
  if (isQuotes) await sink.quotes(rows.map((row) => quoteOf(row, at)))
  else await sink.bars(rows.map((row) => barOf(row, at)))
}

function momentOf(row: Row, count: number): Instant {
  const text = row.t ?? ''
  const at = /^\d+$/.test(text) ? Number(text) : readInstant(text)
  if (at === undefined) throw new RangeError(`row ${count} has no time: ${JSON.stringify(row)}`)
  return at
}

function quoteOf(row: Row, at: Instant): MarketQuote {
  const [bidSize, askSize] = [optional(row, 'bidSize'), optional(row, 'askSize')]
  return {
    symbol: textOf(row, 'symbol'),
    at,
    bid: number(row, 'bid'),
    ask: number(row, 'ask'),
    ...(bidSize && { bidSize }),
    ...(askSize && { askSize }),
  }
}

function barOf(row: Row, at: Instant): MarketBar {
  const volume = optional(row, 'v')
  return {
    symbol: textOf(row, 'symbol'),
    at,
    endsAt: at,
    open: number(row, 'o'),
    high: number(row, 'h'),
    low: number(row, 'l'),
    close: number(row, 'c'),
    ...(volume && { volume }),
  }
}

function textOf(row: Row, column: string): string {
  const text = row[column]
  if (!text) throw new RangeError(`a row has no ${column}: ${JSON.stringify(row)}`)
  return text
}

function number(row: Row, column: string): Decimal {
  const text = textOf(row, column)
  try {
    return dec(text)
  } catch {
    throw new RangeError(`a row has no number as ${column}: ${JSON.stringify(row)}`)
  }
}

const optional = (row: Row, column: string): Decimal | undefined =>
  row[column] ? number(row, column) : undefined
