/** The recorded prices as they become known, day by day. What lies ahead cannot be asked for. */
import { sessionOn } from '../domain/calendar.ts'
import type { Decimal } from '../domain/decimal.ts'
import type { Day, Instant } from '../domain/time.ts'
import type { MarketBar } from '../execution/market/feed.ts'
import { type DailyBar, readAppleBars, readIndexBars } from './prices.ts'
import type { DemoSymbol } from './rules.ts'

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
  const apple = new Map(readAppleBars().map((bar) => [bar.day, bar]))
  const days = readIndexBars()
    .filter(({ day }) => day <= lastDay)
    .map((bar) => dayOf(bar, apple.get(bar.day)))
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

function dayOf(index: DailyBar, apple: DailyBar | undefined): TapeDay {
  const { day } = index
  const session = sessionOn('US_EQUITY', day)
  if (!session) throw new RangeError(`no session on day ${day}`)
  const { open, close } = session
  const bars = [barOf('SPX', index, open, close), ...(apple ? [barOf('AAPL', apple, open, close)] : [])]
  return { day, open, close, bars }
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
