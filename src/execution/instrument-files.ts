/**
 * A CSV file of instruments. The first line names the columns: `symbol`, and of the others those that are known; what
 * is left out or empty follows from the symbol. The first faulty cell is told; the first line is number 1.
 */
import type { SecurityType } from '../domain/codes.ts'
import type { Decimal } from '../domain/decimal.ts'
import { calendarNames, readCalendarName } from '../domain/market/calendar.ts'
import { completeInstrument, securityTypeOfSymbol } from '../domain/market/derive-instrument.ts'
import type { Instrument } from '../domain/market/instrument.ts'
import { type Day, readDay } from '../domain/time.ts'
import { readLines, readNumber, UnreadableFile } from './csv.ts'

const types: Readonly<Record<string, SecurityType>> = {
  stock: 'CS',
  option: 'OPT',
  future: 'FUT',
  forex: 'FOR',
  CS: 'CS',
  OPT: 'OPT',
  FUT: 'FUT',
  FOR: 'FOR',
}
const rights: Readonly<Record<string, '0' | '1'>> = { put: '0', call: '1' }

/** Reads one cell that is not empty; undefined says that it cannot be read. */
type Cell = (text: string) => Instrument[keyof Instrument] | undefined

const word =
  <T extends string>(words: Readonly<Record<string, T>>): Cell =>
  (text) =>
    // What every object has is no word of ours.
    Object.hasOwn(words, text) ? words[text] : undefined
const number =
  (isAllowed: (value: Decimal) => boolean): Cell =>
  (text) => {
    const value = readNumber(text)
    return value && isAllowed(value) ? value : undefined
  }
const positive = number((value) => value.greaterThan(0))
const size = number(() => true)
const day: Cell = (text) => (readDay(text) === undefined ? undefined : text)
const text: Cell = (value) => value

const columns: { readonly [Member in keyof Instrument]?: Cell } = {
  symbol: text,
  securityType: word(types),
  description: text,
  currency: (value) => (/^[A-Z]{3}$/.test(value) ? value : undefined),
  exchange: text,
  calendar: (value) => readCalendarName(value),
  pointValue: positive,
  tick: positive,
  initialMargin: size,
  maintenanceMargin: size,
  underlying: text,
  putOrCall: word(rights),
  strike: positive,
  expiry: day,
  settlement: word({ physical: 'physical', cash: 'cash' } as const),
  lastTradingDay: day,
}

/** The columns that a file has, in words. */
export const instrumentColumns = `symbol and some of ${Object.keys(columns)
  .filter((column) => column !== 'symbol')
  .join(', ')}`

/** The instruments of a file, in its order; `today` resolves short years. Throws UnreadableFile. */
export function readInstrumentFile(file: string, today: Day): Instrument[] {
  const [head, ...lines] = readLines(file)
  const names = (head?.cells ?? []).map((name) => name.trim())
  const unknown = names.find((name) => !Object.hasOwn(columns, name))
  if (unknown !== undefined || !names.includes('symbol'))
    throw new UnreadableFile(
      `line 1: the columns are ${instrumentColumns}${unknown === undefined ? '' : `, not "${unknown}"`}`,
    )
  return lines.map(({ cells, number }) => {
    const read = names.flatMap((name, column) => {
      const cell = cells[column]?.trim() ?? ''
      if (cell === '') return []
      const value = columns[name as keyof Instrument]?.(cell)
      if (value === undefined) throw new UnreadableFile(faultOf(number, name, cell))
      return [[name, value] as const]
    })
    const entered: Partial<Instrument> = Object.fromEntries(read)
    const { symbol } = entered
    if (symbol === undefined) throw new UnreadableFile(`line ${number}: there is no symbol`)
    const securityType = entered.securityType ?? securityTypeOfSymbol(symbol)
    return completeInstrument({ ...entered, symbol, securityType }, today)
  })
}

const faultOf = (line: number, name: string, cell: string): string =>
  `line ${line}, ${name}: "${cell}" cannot be read${name === 'calendar' ? `; there are ${calendarNames.join(', ')}` : ''}`
