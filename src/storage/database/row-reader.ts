/**
 * Rows as the server sends them, made into objects. A reader is written for the columns of one statement, so that
 * all its rows are of one shape: objects filled name by name take several times as long to make and to read.
 */
import { types } from './wire.ts'

/** The texts of a row in the order of its columns; null where SQL has null. */
export type RawRow = readonly (string | null)[]
export type RowReader = (row: RawRow) => unknown

export interface Column {
  readonly name: string
  readonly dataTypeID: number
}

type Parse = (text: string) => unknown

/** Writes the reader of these columns. Their names come from our own statements. */
export function makeRowReader(columns: readonly Column[]): RowReader {
  const parsers = columns.map(({ dataTypeID }) => types.getTypeParser(dataTypeID, 'text') as Parse)
  const members = columns.map(
    ({ name }, at) => `${JSON.stringify(name)}: row[${at}] === null ? null : parsers[${at}](row[${at}])`,
  )
  return new Function('parsers', `return (row) => ({ ${members.join(', ')} })`)(parsers) as RowReader
}
