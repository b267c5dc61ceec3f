/** The market: instruments, quotes at the present moment, bars. */

import { calendarNames, dayOrderExpiry, nextOpen, readCalendarName } from '../../domain/market/calendar.ts'
import { completeInstrument, securityTypeOfSymbol } from '../../domain/market/derive-instrument.ts'
import { parseSymbol, spellingsOf } from '../../domain/market/symbol.ts'
import { dayIn, instantAt, newYork, readDay } from '../../domain/time.ts'
import type { MarketBar } from '../../execution/market/feed.ts'
import { publishBars, publishQuotes } from '../../execution/orders/matcher.ts'
import { replaceInstruments } from '../../storage/market/instruments.ts'
import { saveIndexCloses } from '../../storage/strategies/strategy-statistics.ts'
import { type DoorCall, type DoorState, post, Unserved } from '../call.ts'
import {
  aBoolean,
  aDate,
  aMoment,
  aNumber,
  anyText,
  aPositive,
  aSize,
  aText,
  choice,
  list,
  maybe,
  object,
  type Read,
  value,
  word,
} from '../read.ts'
import { listInstruments } from '../rows.ts'

const aSecurityType = choice('CS', 'FUT', 'OPT', 'FOR')
const aCalendar = value(`one of ${calendarNames.join(', ')}`, (raw) =>
  typeof raw === 'string' ? readCalendarName(raw) : undefined,
)

const Instrument = object({
  symbol: aText,
  securityType: aSecurityType,
  pointValue: maybe(aPositive),
  tick: maybe(aPositive),
  calendar: maybe(aCalendar),
  currency: maybe(aText),
  initialMargin: maybe(aSize),
  underlying: maybe(anyText),
  putOrCall: maybe(word({ '0': '0', '1': '1', put: '0', call: '1', P: '0', C: '1' } as const)),
  strike: maybe(aPositive),
  expiry: maybe(aDate),
  settlement: maybe(choice('physical', 'cash')),
  indexOption: maybe(aBoolean),
  lastTradingDay: maybe(aDate),
})

const instruments = post('/instruments', list(Instrument), async ({ work, clock }, wanted) => {
  const today = dayIn(clock.now(), newYork)
  // Who names an instrument twice means what he says last, as in two calls.
  const bySymbol = new Map(
    wanted
      // Where no day is said, trading has no end.
      .map((entered) =>
        completeInstrument({ ...entered, lastTradingDay: entered.lastTradingDay ?? null }, today),
      )
      .map((complete) => [complete.symbol, complete]),
  )
  await replaceInstruments(work.db.write, [...bySymbol.values()])
})

const Quote = object({
  symbol: aText,
  bid: aNumber,
  ask: aNumber,
  bidSize: maybe(aSize),
  askSize: maybe(aSize),
})

const quotes = post('/quotes', list(Quote), async (door, wanted) => {
  const found = await findInstruments(
    door,
    wanted.map(({ symbol }) => symbol),
  )
  const at = door.clock.now()
  await publishQuotes(
    door.work,
    wanted.map(({ bidSize, askSize, ...quote }, place) => ({
      ...quote,
      symbol: found[place]?.symbol ?? '',
      ...(bidSize && { bidSize }),
      ...(askSize && { askSize }),
      at,
    })),
  )
})

/** A moment, or a date that stands for the whole session of that day. */
const aBarStart: Read<{ at: number } | { day: number }> = (raw, path, faults) => {
  const day = typeof raw === 'string' ? readDay(raw) : undefined
  return day === undefined ? { at: aMoment(raw, path, faults) } : { day }
}

const Bar = object({
  symbol: aText,
  t: aBarStart,
  o: aNumber,
  h: aNumber,
  l: aNumber,
  c: aNumber,
  v: maybe(aSize),
})

const bars = post('/bars', list(Bar), async (door, wanted) => {
  const found = await findInstruments(
    door,
    wanted.map(({ symbol }) => symbol),
  )
  const batch = wanted.map(({ t, o, h, l, c, v }, place): MarketBar => {
    const { symbol, calendar } = found[place] as Found
    const prices = { open: o, high: h, low: l, close: c, ...(v && { volume: v }) }
    return { symbol, ...prices, ...spanOf(t, calendar) }
  })
  const bent = batch.findIndex(({ open, high, low, close }) =>
    [open, close, low].some((price) => price.greaterThan(high) || price.lessThan(low)),
  )
  if (bent >= 0) throw new Unserved(`[${bent}]`, 'The low must be the least and the high the greatest price')
  // One bar after the other: a later one may reach what an earlier one caused.
  for (const bar of batch) {
    await publishBars(door.work, [bar])
    await door.drain()
  }
})

function spanOf(t: { at: number } | { day: number }, calendarName: string): { at: number; endsAt?: number } {
  if ('at' in t) return { at: t.at }
  const calendar = readCalendarName(calendarName) ?? 'US_EQUITY'
  const at = nextOpen(calendar, instantAt(t.day, 0, newYork))
  return { at, endsAt: dayOrderExpiry(calendar, at) }
}

interface Found {
  readonly symbol: string
  readonly calendar: string
}

/** The instruments of symbols in any spelling, in order. Throws Unserved for the first that is not there. */
export async function findInstruments(
  door: DoorState,
  symbols: readonly string[],
  pathOf = (place: number): string => `[${place}].symbol`,
): Promise<Found[]> {
  const today = dayIn(door.clock.now(), newYork)
  const spellings = new Map(symbols.map((symbol) => [symbol, spellingsIn(symbol, today)]))
  const rows = await listInstruments(door.work.db.read, [...spellings.values()].flat())
  const known = new Map(rows.map((row) => [row.symbol, row]))
  const found: Found[] = []
  for (const [place, symbol] of symbols.entries()) {
    const spelling = spellings.get(symbol)?.find((text) => known.has(text))
    const row = spelling === undefined ? undefined : known.get(spelling)
    if (!row) throw new Unserved(pathOf(place), `There is no instrument ${symbol}`)
    found.push(row)
  }
  return found
}

function spellingsIn(symbol: string, today: number): string[] {
  const parts = parseSymbol(symbol, securityTypeOfSymbol(symbol), today)
  return typeof parts === 'string' ? [symbol] : [symbol, ...spellingsOf(parts)]
}

const benchmark = post(
  '/benchmark',
  list(object({ date: aDate, close: aPositive })),
  async ({ work }, closes) => {
    const byDay = new Map(closes.map(({ date, close }) => [readDay(date) ?? 0, close.toFixed()]))
    await saveIndexCloses(
      work.db.write,
      [...byDay].map(([day, close]) => ({ day, close })),
    )
  },
)

export const marketCalls: readonly DoorCall[] = [instruments, quotes, bars, benchmark]
