/** Imports what companies and exchanges announce, each file whole or not at all. */
import { readFile } from 'node:fs/promises'
import { dayIn, newYork } from '../domain/time.ts'
import { UnreadableFile } from '../execution/csv.ts'
import { readInstrumentFile } from '../execution/instrument-files.ts'
import { actionColumns, type FileKind, readActionFile } from '../execution/orders/action-files.ts'
import { enterActions } from '../execution/orders/enter-actions.ts'
import { enterDelistings } from '../execution/orders/enter-delistings.ts'
import type { Database } from '../storage/database/database.ts'
import { insertInstruments } from '../storage/market/instruments.ts'
import { systemClock } from './clock.ts'
import { ConfigError } from './config.ts'
import { fileWords } from './file-words.ts'
import { safeLine } from './tool.ts'

/** What a file holds, by the word of the command. */
export const importKinds: Readonly<Record<string, FileKind>> = {
  dividends: 'dividend',
  splits: 'split',
  settlements: 'settlement',
  delistings: 'delisting',
}

/** The columns of such a file. */
export const importColumns = (kind: FileKind): string => actionColumns[kind].join(', ')

/** Enters a file; answers how many of its lines are new. Throws ConfigError where a line cannot be entered. */
export async function importFile(
  db: Database,
  kind: FileKind,
  file: string,
): Promise<{ added: number; known: number }> {
  const lines = await linesOf(file, (text) => readActionFile(kind, text))
  const at = { db, clock: systemClock }
  const { faults, ...count } = await (kind === 'delisting'
    ? enterDelistings(at, lines)
    : enterActions(
        at,
        lines.map((line) => ({ ...line, kind })),
      ))
  if (faults.length > 0)
    throw new ConfigError(
      faults.map(({ place, says }) => safeLine(`${file}, line ${lines[place]?.line}: ${says}`)).join('\n'),
    )
  return count
}

/** Adds the instruments of a file; one whose symbol is known stays as it is. */
export async function importInstruments(
  db: Database,
  file: string,
): Promise<{ added: number; known: number }> {
  const today = dayIn(systemClock.now(), newYork)
  const instruments = await linesOf(file, (text) => readInstrumentFile(text, today))
  const added = instruments.length === 0 ? 0 : await insertInstruments(db.write, instruments)
  return { added, known: instruments.length - added }
}

async function linesOf<Line>(file: string, read: (text: string) => Line[]): Promise<Line[]> {
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw new ConfigError(safeLine(`${file} cannot be read: ${fileWords(error)}`))
  })
  try {
    return read(text)
  } catch (error) {
    throw error instanceof UnreadableFile ? new ConfigError(safeLine(`${file}, ${error.message}`)) : error
  }
}
