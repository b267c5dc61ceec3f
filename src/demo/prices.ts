/**
 * The recorded prices that the demo trades, read from the packages that carry them: the S&P 500 index by day
 * (vega-datasets) and Apple's daily closes (@visx/mock-data). Prices are rounded to cents: the carriers keep
 * them as doubles with noise behind. Rows of days without a session, which repeat the day before, are left out.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { appleStock } from '@visx/mock-data'
import { parse } from 'csv-parse/sync'
import { cents, type Decimal, dec } from '../domain/decimal.ts'
import { isTradeDate } from '../domain/market/calendar.ts'
import { type Day, readDay } from '../domain/time.ts'

export interface DailyBar {
  readonly day: Day
  readonly open: Decimal
  readonly high: Decimal
  readonly low: Decimal
  readonly close: Decimal
  /** Null where the source shows none. */
  readonly volume: Decimal | null
}

/** The S&P 500 from 2000-01-03 to 2020-04-17, in order of days. Throws when the package does not carry it. */
export function readIndexBars(): DailyBar[] {
  const main = createRequire(import.meta.url).resolve('vega-datasets')
  const file = join(dirname(main), '..', 'data', 'sp500-2000.csv')
  const rows = parse(readFileSync(file), { columns: true }) as Record<keyof DailyBar | 'date', string>[]
  const bars = rows.map(({ date, open, high, low, close, volume }) => ({
    day: dayOfRow(date),
    open: cents(dec(open)),
    high: cents(dec(high)),
    low: cents(dec(low)),
    close: cents(dec(close)),
    volume: dec(volume),
  }))
  return onTradeDates(bars)
}

/** Apple from 2007-04-24 to 2012-05-01: only closes are recorded, so a day's four prices are one. */
export function readAppleBars(): DailyBar[] {
  const bars = appleStock.map(({ date, close: price }) => {
    const close = cents(dec(price))
    return { day: dayOfRow(date.slice(0, 10)), open: close, high: close, low: close, close, volume: null }
  })
  return onTradeDates(bars)
}

const onTradeDates = (bars: readonly DailyBar[]): DailyBar[] =>
  bars.filter(({ day }) => isTradeDate('US_EQUITY', day))

function dayOfRow(text: string): Day {
  const day = readDay(text)
  if (day === undefined) throw new RangeError(`a recorded price has the date ${text}`)
  return day
}
