/** What files of CSV that an operator enters have in common: instruments, dividends, splits, settlement values. */
import { parse } from 'csv-parse/sync'
import { type Decimal, dec } from '../domain/decimal.ts'

/** A line that cannot be read, or a file whose columns are wrong. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile'
}

interface Row {
  readonly record: readonly string[]
  readonly info: { readonly lines: number }
}

/** The cells of a line, and its number in the file. */
export interface FileLine {
  readonly cells: readonly string[]
  readonly number: number
}

/**
 * The lines that are not blank, the names of the columns first. A line may end early or in empty cells, but not hold
 * more: an amount with a decimal comma would be read without its cents. Throws UnreadableFile.
 */
export function readLines(text: string): FileLine[] {
  const [head, ...rows] = parsed(text)
  const width = head?.record.length ?? 0
  const longer = rows.find(({ record }) => record.slice(width).some((cell) => cell.trim() !== ''))
  if (longer) throw new UnreadableFile(`line ${longer.info.lines}: there are more cells than columns`)
  return [...(head ? [head] : []), ...rows].map(({ record, info }) => ({ cells: record, number: info.lines }))
}

function parsed(text: string): readonly Row[] {
  const options = { bom: true, skip_empty_lines: true, relax_column_count: true, info: true } as const
  try {
    return parse(text, options) as unknown as readonly Row[]
  } catch (error) {
    throw new UnreadableFile(error instanceof Error ? error.message : String(error))
  }
}

/** A number without a sign, of at most 12 digits on either side of its point; undefined for any other text. */
export const readNumber = (text: string): Decimal | undefined =>
  /^\d{1,12}(\.\d{1,12})?$/.test(text) ? dec(text) : undefined
