/**
 * Closes of an index from a CSV file: a header that names `date` and `close`, a row per day, other columns ignored.
 * A file is taken whole or not at all.
 */
import { parse } from 'csv-parse/sync'
import { Decimal } from '../../domain/decimal.ts'
import { type Day, readDay } from '../../domain/time.ts'

export interface IndexClose {
  readonly day: Day
  /** Exact text, above zero. */
  readonly close: string
}

interface IndexRow {
  readonly record: Readonly<Record<string, string | undefined>>
  readonly info: { readonly lines: number }
}

const columns = ['date', 'close']

/**
 * The rows of the file by day. Throws a RangeError that names the line it cannot read, or that says of a day something
 * else than a line before it.
 */
export function readIndexCloses(text: string | Buffer): IndexClose[] {
  let isTable = false
  const header = (names: string[]): string[] => {
    const known = names.map((name) => name.trim().toLowerCase())
    isTable = columns.every((name) => known.includes(name))
    return known
  }
  // With the number of each line: empty ones are passed over, and count.
  const options = { columns: header, skip_empty_lines: true, trim: true, bom: true, info: true } as const
  const rows = parse(text, options) as unknown as readonly IndexRow[]
  if (!isTable) throw new RangeError(`line 1: the columns must be ${columns.join(' and ')}`)
  const closes = new Map<Day, string>()
  for (const { record, info } of rows) {
    const { date = '', close = '' } = record
    const day = readDay(date.slice(0, 10))
    if (day === undefined || !isPrice(close))
      throw new RangeError(
        `line ${info.lines}: a date and a close above zero are needed, not '${date}', '${close}'`,
      )
    const told = closes.get(day)
    // Which of two is right nobody can tell from the file.
    if (told !== undefined && !new Decimal(told).equals(close))
      throw new RangeError(`line ${info.lines}: ${date} has two closes, ${told} and ${close}`)
    closes.set(day, close)
  }
  return [...closes].map(([day, close]) => ({ day, close })).sort((a, b) => a.day - b.day)
}

function isPrice(text: string): boolean {
  if (!/^\d{1,11}(?:\.\d+)?$/.test(text)) return false
  return new Decimal(text).greaterThan(0)
}
