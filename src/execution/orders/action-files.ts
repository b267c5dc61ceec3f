/**
 * CSV files of dividends, splits, settlement values and delistings. The first line names the columns: `symbol` and `date`
 * (the ex-date, YYYY-MM-DD), and `amount`, or `new` and `old`. Every faulty line is told; the first line is number 1.
 */
import type { Decimal } from '../../domain/decimal.ts'
import type { ActionKind } from '../../storage/actions/corporate-actions.ts'
import { readLines, readNumber, UnreadableFile } from '../csv.ts'
import type { EnteredAction } from './enter-actions.ts'

/** What a file holds. */
export type FileKind = ActionKind | 'delisting'

/** Columns of each kind of file, all needed. */
export const actionColumns: Readonly<Record<FileKind, readonly string[]>> = {
  dividend: ['symbol', 'date', 'amount'],
  split: ['symbol', 'date', 'new', 'old'],
  settlement: ['symbol', 'date', 'amount'],
  delisting: ['symbol', 'date'],
}

/** An action, and the line that it stands in. */
export interface ActionLine<Kind extends FileKind> extends Omit<EnteredAction, 'kind'> {
  readonly kind: Kind
  readonly line: number
}

/** The actions of a file, in its order. Throws UnreadableFile. */
export function readActionFile<Kind extends FileKind>(kind: Kind, text: string): ActionLine<Kind>[] {
  const [head, ...lines] = readLines(text)
  const columns = (head?.cells ?? []).map((name) => name.trim().toLowerCase())
  const wanted = actionColumns[kind]
  if (columns.length !== wanted.length || !wanted.every((name) => columns.includes(name)))
    throw new UnreadableFile(`line 1: the columns must be ${wanted.join(', ')}`)
  return lines.map(({ cells, number: line }) => {
    const cell = (name: string): string => cells[columns.indexOf(name)]?.trim() ?? ''
    const number = (name: string): Decimal | undefined =>
      wanted.includes(name) ? numberOf(cell(name), `line ${line}, ${name}`) : undefined
    const numbers = { amount: number('amount'), new: number('new'), old: number('old') }
    return { kind, line, symbol: cell('symbol'), day: cell('date'), ...numbers }
  })
}

function numberOf(text: string, where: string): Decimal {
  const number = readNumber(text)
  if (!number) throw new UnreadableFile(`${where}: "${text}" is no number`)
  return number
}
