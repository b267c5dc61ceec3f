/**
 * Instruments from what is known of them: derived from a symbol and the tables of roots and pairs, or entered by hand
 * or by an import; all go through the same defaults.
 */
import type { SecurityType } from '../codes.ts'
import { type Decimal, dec } from '../decimal.ts'
import { type Day, formatDay, partsOfDay, readDay } from '../time.ts'
import type { CalendarName } from './calendar.ts'
import { type LastTradingRule, lastTradingDayOf, optionLastTradingDay } from './expiration.ts'
import type { Instrument, InstrumentInput } from './instrument.ts'
import {
  expiryLabelOf,
  type FutureParts,
  formatSymbol,
  guessSecurityType,
  isListedMonth,
  maturityOf,
  type OptionParts,
  parseSymbol,
  rootOf,
  type SymbolParts,
  type SymbolRefusal,
} from './symbol.ts'
import { forexPairs } from './tables/forex.ts'
import { futureGroups } from './tables/futures.ts'
import { indexOptionRoots } from './tables/index-options.ts'

type FutureRoot = {
  exchange: string
  calendar: CalendarName
  lastTrading: LastTradingRule
  currency: string
  pointValue: Decimal
  tick: Decimal
  initialMargin: Decimal | null
  maintenanceMargin: Decimal | null
  description: string
}

const classDefaults: Record<SecurityType, { calendar: CalendarName; pointValue: Decimal; tick: Decimal }> = {
  CS: { calendar: 'US_EQUITY', pointValue: dec(1), tick: dec('0.01') },
  OPT: { calendar: 'US_EQUITY', pointValue: dec(100), tick: dec('0.01') },
  FUT: { calendar: 'CME_GLOBEX', pointValue: dec(1), tick: dec('0.01') },
  FOR: { calendar: 'FOREX', pointValue: dec(1000), tick: dec('0.00001') },
}

/** The currencies of the pair table. */
const currencies = new Set<string>()
const tickOfPair = new Map<string, Decimal>()
for (const { tick, pairs } of forexPairs) {
  for (const pair of pairs.trim().split(/\s+/)) {
    tickOfPair.set(pair, dec(tick))
    currencies.add(pair.slice(0, 3)).add(pair.slice(3))
  }
}

const futureRoots = new Map<string, FutureRoot>()
for (const { roots, ...group } of futureGroups) {
  for (const line of roots.trim().split('\n')) {
    const [root = '', currency = '', pointValue = '', tick = '', initial = '', maintenance = '', ...words] =
      line.trim().split(' ')
    futureRoots.set(root, {
      currency,
      pointValue: dec(pointValue),
      tick: dec(tick),
      initialMargin: initial === '-' ? null : dec(initial),
      maintenanceMargin: maintenance === '-' ? null : dec(maintenance),
      description: words.join(' '),
      ...group,
    })
  }
}

/** The roots of the futures table and the pairs of the forex table: what can be derived without an import. */
export const knownFutureRoots = (): string[] => [...futureRoots.keys()]

/** Symbols of all currency pairs that may be traded. */
export const knownForexPairs = (): string[] => [...tickOfPair.keys()]

/** The security type of a bare native symbol. */
export const securityTypeOfSymbol = (symbol: string): SecurityType =>
  guessSecurityType(symbol, (code) => currencies.has(code))

/** How many months later than its last day the month that names a contract may be; first that of most. */
const namedLater = [0, 1, 2, -3]

/**
 * The future of a root that trades for the last time on a day (YYYY-MM-DD). Delivery follows up to two months later,
 * as of crude oil, and a quarter of interest is named by its first month. A root of no table names its contracts by the
 * month of that day; undefined when none ends then.
 */
export function futureEndingOn(root: string, lastDay: string): FutureParts | undefined {
  const { year, month } = partsOfDay(readDay(lastDay) ?? 0)
  const contracts = namedLater.map((later): FutureParts => {
    const months = year * 12 + month - 1 + later
    return { securityType: 'FUT', root, year: Math.floor(months / 12), month: (months % 12) + 1 }
  })
  if (!futureRoots.has(root)) return contracts[0]
  return contracts.find((parts) => {
    const instrument = deriveInstrument(parts)
    return isListedMonth(parts) && typeof instrument !== 'string' && instrument.lastTradingDay === lastDay
  })
}

/** The last trading day (YYYY-MM-DD) of a future by the rule of its root; null where no table knows that. */
export function ruledLastDay({ root, maturityMonthYear }: Contract): string | null {
  if (maturityMonthYear === null) return null
  const [year, month] = [Number(maturityMonthYear.slice(0, 4)), Number(maturityMonthYear.slice(4))]
  const derived = deriveInstrument({ securityType: 'FUT', root, year, month })
  return typeof derived === 'string' ? null : derived.lastTradingDay
}

type Contract = Pick<Instrument, 'root' | 'maturityMonthYear'>

/**
 * The instrument that a symbol names by the tables. Refuses futures and pairs that no table knows; whether a
 * stock or an option is listed, the symbol alone cannot tell.
 */
export function deriveInstrument(parts: SymbolParts): Instrument | SymbolRefusal {
  const symbol = formatSymbol(parts)
  if (parts.securityType === 'FUT') return deriveFuture(symbol, parts)
  if (parts.securityType === 'FOR') {
    const tick = tickOfPair.get(symbol)
    return tick
      ? { ...blank(symbol, 'FOR', parts.quote, parts), description: `${parts.base}/${parts.quote}`, tick }
      : 'InvalidSymbol'
  }
  return parts.securityType === 'OPT' ? deriveOption(symbol, parts) : blank(symbol, 'CS', 'USD', parts)
}

/**
 * An instrument from what was entered, the rest from its symbol and the defaults of its class. A symbol that
 * does not parse stands for itself; a pair is known by its native symbol however it was entered, because rates are
 * found by that. `today` resolves short years. Where no last trading day was entered a future ends by the rule of its
 * root, or never where that is unknown or null was entered; an option ends by its expiry.
 */
export function completeInstrument(input: InstrumentInput, today: Day): Instrument {
  const parts = parseSymbol(input.symbol, input.securityType, today)
  const derived = typeof parts === 'string' ? parts : deriveInstrument(parts)
  const base =
    typeof derived === 'string' ? blank(input.symbol, input.securityType, quoteOf(parts), parts) : derived
  const entered = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined))
  const symbol =
    typeof parts !== 'string' && parts.securityType === 'FOR' ? formatSymbol(parts) : input.symbol
  const all: Instrument = { ...base, ...entered, ...marginsOf(input), symbol }
  if (all.securityType !== 'OPT') return all
  return {
    ...all,
    maturityMonthYear: input.maturityMonthYear ?? all.expiry?.replaceAll('-', '') ?? null,
    settlement: all.settlement ?? 'physical',
    lastTradingDay:
      all.lastTradingDay ??
      (all.expiry === base.expiry ? base.lastTradingDay : lastDayOfOption(all.calendar, all.expiry)),
  }
}

/** One margin entered stands for both: beside it the other one of the table would be that of another day. */
function marginsOf({ initialMargin, maintenanceMargin }: InstrumentInput): Partial<Instrument> {
  const [initial, maintenance] = [initialMargin ?? maintenanceMargin, maintenanceMargin ?? initialMargin]
  return initial && maintenance ? { initialMargin: initial, maintenanceMargin: maintenance } : {}
}

const quoteOf = (parts: SymbolParts | SymbolRefusal): string =>
  typeof parts !== 'string' && parts.securityType === 'FOR' ? parts.quote : 'USD'

function blank(
  symbol: string,
  securityType: SecurityType,
  currency: string,
  parts: SymbolParts | SymbolRefusal,
): Instrument {
  const known = typeof parts === 'string' ? undefined : parts
  return {
    symbol,
    securityType,
    description: symbol,
    currency,
    exchange: 'DEFAULT',
    ...classDefaults[securityType],
    initialMargin: null,
    maintenanceMargin: null,
    underlying: null,
    root: known ? rootOf(known) : symbol,
    maturityMonthYear: (known && maturityOf(known)) ?? null,
    putOrCall: null,
    strike: null,
    expiry: null,
    settlement: null,
    indexOption: false,
    lastTradingDay: null,
  }
}

function deriveFuture(symbol: string, parts: FutureParts): Instrument | SymbolRefusal {
  const known = futureRoots.get(parts.root)
  if (!known) return 'InvalidSymbol'
  const { lastTrading, ...facts } = known
  const business = facts.exchange === 'XEUR' ? 'EUREX' : 'US_EQUITY'
  return {
    ...blank(symbol, 'FUT', facts.currency, parts),
    ...facts,
    description: `${facts.description} ${expiryLabelOf(maturityOf(parts))}`,
    underlying: parts.root,
    settlement: 'cash',
    lastTradingDay: formatDay(lastTradingDayOf(lastTrading, parts.year, parts.month, business)),
  }
}

function deriveOption(symbol: string, parts: OptionParts): Instrument {
  const index = indexOptionRoots.get(parts.root)
  const [year, month, day] = parts.expiry.split('-')
  const kind = parts.putOrCall === '1' ? 'Call' : 'Put'
  const calendar: CalendarName = index ? 'US_INDEX_OPTION' : 'US_EQUITY'
  return {
    ...blank(symbol, 'OPT', 'USD', parts),
    calendar,
    description: `${parts.root} ${year}-${month}-${day} ${parts.strike.toFixed()} ${kind}`,
    underlying: index?.underlying ?? parts.root,
    putOrCall: parts.putOrCall,
    strike: parts.strike,
    expiry: parts.expiry,
    settlement: index ? 'cash' : 'physical',
    indexOption: index !== undefined,
    lastTradingDay: lastDayOfOption(calendar, parts.expiry, index?.morningSettled),
  }
}

function lastDayOfOption(
  calendar: CalendarName,
  expiry: string | null,
  morningSettled = false,
): string | null {
  const day = expiry === null ? undefined : readDay(expiry)
  return day === undefined ? null : formatDay(optionLastTradingDay(calendar, day, morningSettled))
}
