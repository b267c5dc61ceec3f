/**
 * CSV files of dividends, splits and settlement values. The first line names the columns: `symbol` and `date` (the
 * ex-date, YYYY-MM-DD), and `amount`, or `new` and `old`. Every faulty line is told; the first line is number 1.
 */
import { parse } from 'csv-parse/sync'
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { ActionKind } from '../../storage/actions/corporate-actions.ts'
import type { EnteredAction } from './enter-actions.ts'

/** Columns of each kind of file, all needed. */
export const actionColumns: Readonly<Record<ActionKind, readonly string[]>> = {
  dividend: ['symbol', 'date', 'amount'],
  split: ['symbol', 'date', 'new', 'old'],
  settlement: ['symbol', 'date', 'amount'],
}

/** A line that cannot be read, or a file whose columns are wrong. */
export class UnreadableActions extends Error {
  override name = 'UnreadableActions'
}

/** The actions of a file, in its order. Throws UnreadableActions. */
export function readActionFile(kind: ActionKind, text: string): EnteredAction[] {
  const [head, ...lines] = rowsOf(text)
  const columns = (head ?? []).map((name) => name.trim().toLowerCase())
  const wanted = actionColumns[kind]
  if (columns.length !== wanted.length || !wanted.every((name) => columns.includes(name)))
    throw new UnreadableActions(`line 1: the columns must be ${wanted.join(', ')}`)
  return lines.map((line, place) => {
    const cell = (name: string): string => line[columns.indexOf(name)]?.trim() ?? ''
    const number = (name: string): Decimal | undefined =>
      wanted.includes(name) ? numberOf(cell(name), `line ${place + 2}, ${name}`) : undefined
    const numbers = { amount: number('amount'), new: number('new'), old: number('old') }
    return { kind, symbol: cell('symbol'), day: cell('date'), ...numbers }
  })
}

function rowsOf(text: string): string[][] {
  try {
    return parse(text, { bom: true, skip_empty_lines: true, relax_column_count: true })
  } catch (error) {
    throw new UnreadableActions(error instanceof Error ? error.message : String(error))
  }
}

function numberOf(text: string, where: string): Decimal {
  if (!/^\d{1,12}(\.\d{1,12})?$/.test(text)) throw new UnreadableActions(`${where}: "${text}" is no number`)
  return dec(text)
}
