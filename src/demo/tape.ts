/** The recorded and the synthetic prices as they become known, day by day. What lies ahead cannot be asked for. */

import type { Decimal } from '../domain/decimal.ts'
import { sessionOn } from '../domain/market/calendar.ts'
import { type Day, type Instant, readDay } from '../domain/time.ts'
import type { MarketBar } from '../execution/market/feed.ts'
import { type DailyBar, readAppleBars, readIndexBars } from './prices.ts'
import type { DemoSymbol } from './rules.ts'
import { syntheticBars } from './synthetic.ts'

export interface TapeDay {
  readonly day: Day
  readonly open: Instant
  readonly close: Instant
  readonly bars: readonly MarketBar[]
}

export interface Tape {
  readonly days: readonly TapeDay[]
  /** Makes a day's closes known. */
  see(day: TapeDay): void
  closes(symbol: DemoSymbol, count: number): readonly number[]
  price(symbol: DemoSymbol): Decimal | undefined
}

/** The tape at its start; it ends with `lastDay`, where one is given. */
export function openTape(lastDay: Day = Number.POSITIVE_INFINITY): Tape {
  const index = readIndexBars()
  const ofDay = barsByDay({ SPX: index, AAPL: readAppleBars(), ...synthetic(index.map(({ day }) => day)) })
  const days = index.filter(({ day }) => day <= lastDay).map(({ day }) => dayOf(day, ofDay.get(day) ?? []))
  const closes = new Map<string, number[]>()
  const prices = new Map<string, Decimal>()
  return {
    days,
    see: ({ bars }) => {
      for (const { symbol, close } of bars.filter((bar) => 'symbol' in bar)) {
        closes.set(symbol, [...(closes.get(symbol) ?? []).slice(-longestLook + 1), close.toNumber()])
        prices.set(symbol, close)
      }
    },
    closes: (symbol, count) => (closes.get(symbol) ?? []).slice(-count),
    price: (symbol) => prices.get(symbol),
  }
}

/** Closes that are kept: no rule looks further back. */
const longestLook = 200

/** The first day of the synthetic prices. */
const syntheticFrom = readDay('2018-01-02') ?? 0

const synthetic = (all: readonly Day[]): Pick<SymbolBars, '@MGCZ30' | 'EURUSD'> => {
  const days = all.filter((day) => day >= syntheticFrom)
  return { '@MGCZ30': syntheticBars('@MGCZ30', days), EURUSD: syntheticBars('EURUSD', days) }
}

type SymbolBars = Readonly<Record<DemoSymbol, readonly DailyBar[]>>
type SymbolBar = readonly [DemoSymbol, DailyBar]

function barsByDay(recorded: SymbolBars): ReadonlyMap<Day, readonly SymbolBar[]> {
  const ofDay = new Map<Day, SymbolBar[]>()
  for (const [symbol, bars] of Object.entries(recorded) as [DemoSymbol, readonly DailyBar[]][]) {
    for (const bar of bars) ofDay.set(bar.day, [...(ofDay.get(bar.day) ?? []), [symbol, bar]])
  }
  return ofDay
}

function dayOf(day: Day, bars: readonly SymbolBar[]): TapeDay {
  const session = sessionOn('US_EQUITY', day)
  if (!session) throw new RangeError(`no session on day ${day}`)
  const { open, close } = session
  return { day, open, close, bars: bars.map(([symbol, bar]) => barOf(symbol, bar, open, close)) }
}

const barOf = (symbol: DemoSymbol, bar: DailyBar, at: Instant, endsAt: Instant): MarketBar => ({
  symbol,
  at,
  endsAt,
  open: bar.open,
  high: bar.high,
  low: bar.low,
  close: bar.close,
  ...(bar.volume && { volume: bar.volume }),
})
