/** Symbols across the edge: what a request names, and what an answer shows of an instrument. */
import type { SecurityType } from '../domain/codes.ts'
import { dec } from '../domain/decimal.ts'
import { futureEndingOn } from '../domain/market/derive-instrument.ts'
import type { ListingTerms } from '../domain/market/instrument.ts'
import {
  expiryLabelOf,
  formatSymbol,
  isWithinCentury,
  parseExchangeSymbol,
  parseSymbol,
  type SymbolParts,
  type SymbolType,
  securityTypeOf,
  spellingsOf,
  symbolTypeOf,
} from '../domain/market/symbol.ts'
import { dayIn, type Instant, newYork } from '../domain/time.ts'
import type { InstrumentColumns } from '../storage/market/instruments.ts'
import { type Refused, refuse } from './context.ts'

/** The pair of symbols a request may carry: one of them, or both of one instrument. */
export interface SymbolsInput {
  readonly PlatformSymbol?: PlatformSymbolInput
  readonly ExchangeSymbol?: ExchangeSymbolInput
}

interface PlatformSymbolInput {
  readonly FullSymbol: string
  readonly SymbolType: SymbolType
}

interface ExchangeSymbolInput {
  readonly Symbol: string
  readonly Currency: string
  readonly SecurityExchange: string
  readonly SecurityType: SecurityType
  readonly MaturityMonthYear?: string
  readonly PutOrCall?: '0' | '1'
  readonly StrikePrice?: number
  readonly PriceMultiplier?: number
}

/** What the request asks for: the class and every spelling the instrument may be stored under. */
export interface NamedInstrument extends ListingTerms {
  securityType: SecurityType
  spellings: string[]
  /** What the symbol says; absent when it only stands for itself. */
  parts?: SymbolParts
}

/**
 * Reads the symbol of a request; undefined when it is no symbol at all, or two of different instruments. `now`
 * resolves short years. A platform symbol outside the native spelling stands for itself, as it does where
 * instruments are entered.
 */
export function namedInstrument(input: SymbolsInput, now: number): NamedInstrument | undefined {
  const { PlatformSymbol: platform, ExchangeSymbol: exchange } = input
  const byExchange = exchange ? partsOfExchange(exchange) : 'InvalidSymbol'
  const parts = platform ? partsOfPlatform(platform, now) : byExchange
  if (areDifferent(parts, byExchange)) return undefined
  if (typeof parts !== 'string') {
    const terms = platform || !exchange ? {} : termsOf(exchange, parts, now)
    return terms && { securityType: parts.securityType, spellings: spellingsOf(parts), parts, ...terms }
  }
  return platform && { securityType: securityTypeOf(platform.SymbolType), spellings: [platform.FullSymbol] }
}

const marketCode = /^[A-Z0-9]{4}$/

/**
 * An exchange symbol names the instrument in its currency and on its market and no other; a pair may be named in
 * either of its own currencies (FIX 15). Undefined when it contradicts itself.
 */
function termsOf(exchange: ExchangeSymbolInput, parts: SymbolParts, now: number): ListingTerms | undefined {
  const { Currency: currency, SecurityExchange: market } = exchange
  if (!isWithinCentury(parts, dayIn(now, newYork))) return undefined
  if (market !== 'DEFAULT' && !marketCode.test(market)) return undefined
  if (parts.securityType === 'FOR' && ![parts.base, parts.quote].includes(currency)) return undefined
  const lastDay = lastDayOf(exchange)
  return {
    ...(parts.securityType !== 'FOR' && { currency }),
    ...(market !== 'DEFAULT' && { exchange: market }),
    ...(lastDay !== undefined && { lastDay }),
  }
}

/** A future's maturity with a day is its last day of trading. */
const lastDayOf = ({ SecurityType, MaturityMonthYear = '' }: ExchangeSymbolInput): string | undefined =>
  SecurityType === 'FUT' && MaturityMonthYear.length === 8
    ? MaturityMonthYear.replace(/(....)(..)/, '$1-$2-')
    : undefined

const partsOfPlatform = ({ FullSymbol, SymbolType }: PlatformSymbolInput, now: number) =>
  parseSymbol(FullSymbol, securityTypeOf(SymbolType), dayIn(now, newYork))

function partsOfExchange(exchange: ExchangeSymbolInput) {
  const parts = parseExchangeSymbol({
    ...exchange,
    StrikePrice: exchange.StrikePrice === undefined ? undefined : dec(exchange.StrikePrice),
    PriceMultiplier: exchange.PriceMultiplier === undefined ? undefined : dec(exchange.PriceMultiplier),
  })
  const lastDay = lastDayOf(exchange)
  if (typeof parts === 'string' || parts.securityType !== 'FUT' || lastDay === undefined) return parts
  return futureEndingOn(parts.root, lastDay) ?? 'InvalidSymbol'
}

/** Whether both were read and are not the same; what could not be read contradicts nothing. */
const areDifferent = (one: SymbolParts | string, other: SymbolParts | string): boolean =>
  typeof one !== 'string' &&
  typeof other !== 'string' &&
  (one.securityType !== other.securityType || formatSymbol(one) !== formatSymbol(other))

/** Both symbols of an instrument, as every order, position and trade shows them. */
export function shownSymbols(row: InstrumentColumns) {
  const { securityType, symbol } = row
  const option = row.putOrCall !== null && row.strike !== null
  return {
    PlatformSymbol: {
      FullSymbol: symbol,
      SymbolType: symbolTypeOf(securityType),
      Underlying: row.underlying,
      Expiry: row.maturityMonthYear === null ? null : expiryLabelOf(row.maturityMonthYear),
      PutOrCall: option ? (row.putOrCall === '0' ? 'put' : 'call') : null,
      StrikePrice: row.strike,
      Description: row.description,
    },
    ExchangeSymbol: {
      Symbol: row.root,
      Currency: row.currency,
      SecurityExchange: row.securityExchange,
      SecurityType: securityType,
      MaturityMonthYear: row.maturityMonthYear,
      PutOrCall: row.putOrCall,
      StrikePrice: row.strike,
      PriceMultiplier: 1,
    },
  } as const
}

/**
 * Refuses what came before a split and waited for a lock until it was booked: its prices and quantities are those of
 * the day before, and nothing would restate them.
 */
export const refusedSplit = (
  { splitAt }: { readonly splitAt: Instant | null },
  cameAt: Instant,
): Refused | undefined =>
  splitAt !== null && splitAt > cameAt
    ? refuse('StateConflict', 'Symbol', 'It has been split meanwhile')
    : undefined

/** Whoever is refused a price is told which there are: not every host has an operation that says it. */
export const offTickWords = (tick: string): string =>
  `Must be a multiple of the tick size, ${dec(tick).toFixed()}`
