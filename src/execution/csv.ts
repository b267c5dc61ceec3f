/** What files of CSV that an operator enters have in common: instruments, dividends, splits, settlement values. */
import { parse } from 'csv-parse/sync'
import { type Decimal, dec } from '../domain/decimal.ts'

/** A line that cannot be read, or a file whose columns are wrong. */
export class UnreadableFile extends Error {
  override name = 'UnreadableFile'
}

/** The cells of each line that is not blank, the names of the columns first. Throws UnreadableFile. */
export function readLines(text: string): string[][] {
  try {
    return parse(text, { bom: true, skip_empty_lines: true, relax_column_count: true })
  } catch (error) {
    throw new UnreadableFile(error instanceof Error ? error.message : String(error))
  }
}

/** A number without a sign, of at most 12 digits on either side of its point; undefined for any other text. */
export const readNumber = (text: string): Decimal | undefined =>
  /^\d{1,12}(\.\d{1,12})?$/.test(text) ? dec(text) : undefined
