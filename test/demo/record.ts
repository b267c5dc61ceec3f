/**
 * The recorded prices as somebody else reads them: straight from the packages' files, in plain numbers, with
 * nothing of the product. Prices are whole cents, so that sums of them are exact.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export interface Row {
  date: string
  open: number
  high: number
  low: number
  close: number
}

const centsOf = (text: string): number => Math.round(Number(text) * 100)

/** The index by trade date, in cents. */
export const index: readonly Row[] = readFileSync(
  require.resolve('vega-datasets').replace('build/index.js', 'data/sp500-2000.csv'),
  'utf8',
)
  .trim()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [date = '', open = '', high = '', low = '', close = ''] = line.split(',')
    return { date, open: centsOf(open), high: centsOf(high), low: centsOf(low), close: centsOf(close) }
  })

export const tradeDates: readonly string[] = index.map(({ date }) => date)
const isTradeDate = new Set(tradeDates)

/** Apple by trade date, in cents: one price a day. */
export const apple: readonly Row[] = (
  require('@visx/mock-data') as { appleStock: { date: string; close: number }[] }
).appleStock
  .map(({ date, close }) => ({ date: date.slice(0, 10), price: Math.round(close * 100) }))
  .filter(({ date }) => isTradeDate.has(date))
  .map(({ date, price }) => ({ date, open: price, high: price, low: price, close: price }))

export const recordOf = (symbol: string): readonly Row[] => (symbol === 'SPX' ? index : apple)

/** The date in New York at an instant; no trading hour of the record lies near midnight. */
export const dateOf = (at: number): string => new Date(at - 5 * 3_600_000).toISOString().slice(0, 10)

/** The first recorded day of the symbol after a date. */
export function rowAfter(symbol: string, date: string): Row {
  const row = recordOf(symbol).find((row) => row.date > date)
  if (!row) throw new Error(`nothing is recorded of ${symbol} after ${date}`)
  return row
}

/** The last close that was known at an instant, in cents; undefined before the first. */
export function closeKnownAt(symbol: string, at: number): number | undefined {
  const date = dateOf(at)
  const isAfterClose = new Date(at).getUTCHours() >= 17
  return recordOf(symbol).findLast((row) => (isAfterClose ? row.date <= date : row.date < date))?.close
}
