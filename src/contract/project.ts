/**
 * One row seen by one audience: the compiled reader of its requests and the compiled writer of its answers.
 * Compiled once at start; nothing is interpreted per request.
 */
import { envelope, type PageLinks } from './envelope.ts'
import { compileReader, type Input } from './read.ts'
import type { Row } from './row.ts'
import type { Audience } from './schema.ts'
import { writerOf } from './write.ts'

/** What a handler gives on success. */
type Answer =
  | { readonly results: readonly unknown[]; readonly links?: PageLinks }
  | { readonly bare: boolean }

export interface CompiledRow {
  /** Raw is the parsed body of a POST or PUT (undefined without one), and the query of a GET or DELETE. */
  readInput(raw: unknown): Input
  /** The JSON text of the whole answer. Throws on an answer that is none of the row's. */
  writeAnswer(answer: Answer): string
}

/** Compiles a row for a host and dialect; `version` is that of the route. */
export function compileRow(
  row: Row,
  host: Audience['host'],
  dialect: Audience['dialect'],
  version: 1 | 2 = 1,
): CompiledRow {
  const write = writerOf(row.result, { host, dialect, version }, 'Results')
  return {
    readInput: compileReader(row, { host, dialect }),
    writeAnswer: (answer) =>
      'bare' in answer
        ? String(answer.bare)
        : envelope(answer.results.map((result) => write(result, 'Results')).join(','), answer.links),
  }
}
