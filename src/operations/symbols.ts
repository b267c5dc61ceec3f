/** Symbols across the edge: what a request names, and what an answer shows of an instrument. */
import type { SecurityType } from '../domain/codes.ts'
import { dec } from '../domain/decimal.ts'
import {
  expiryLabelOf,
  parseExchangeSymbol,
  parseSymbol,
  type SymbolParts,
  type SymbolType,
  securityTypeOf,
  spellingsOf,
  symbolTypeOf,
} from '../domain/symbol.ts'
import { dayIn, newYork } from '../domain/time.ts'
import type { InstrumentColumns } from '../storage/instruments.ts'

/** The pair of symbols a request may carry; it names one of them. */
export interface SymbolsInput {
  readonly PlatformSymbol?: { readonly FullSymbol: string; readonly SymbolType: SymbolType }
  readonly ExchangeSymbol?: {
    readonly Symbol: string
    readonly Currency: string
    readonly SecurityType: SecurityType
    readonly MaturityMonthYear?: string
    readonly PutOrCall?: '0' | '1'
    readonly StrikePrice?: number
    readonly PriceMultiplier?: number
  }
}

/** What the request asks for: the class and every spelling the instrument may be stored under. */
export interface NamedInstrument {
  securityType: SecurityType
  spellings: string[]
  /** What it must be quoted in; absent when the request leaves that to the symbol. */
  currency?: string
  /** What the symbol says; absent when it only stands for itself. */
  parts?: SymbolParts
}

/**
 * Reads the symbol of a request; undefined when it is no symbol at all. `now` resolves short years. A platform
 * symbol outside the native spelling stands for itself, as it does where instruments are entered. An exchange symbol
 * names the instrument in its currency and no other; a pair may be named in either of its own (FIX 15).
 */
export function namedInstrument(input: SymbolsInput, now: number): NamedInstrument | undefined {
  const parts = partsOf(input, now)
  const { PlatformSymbol: platform, ExchangeSymbol: exchange } = input
  if (typeof parts !== 'string') {
    const named = { securityType: parts.securityType, spellings: spellingsOf(parts), parts }
    if (platform || !exchange) return named
    if (parts.securityType !== 'FOR') return { ...named, currency: exchange.Currency }
    return [parts.base, parts.quote].includes(exchange.Currency) ? named : undefined
  }
  return platform && { securityType: securityTypeOf(platform.SymbolType), spellings: [platform.FullSymbol] }
}

function partsOf(
  { PlatformSymbol: platform, ExchangeSymbol: exchange }: SymbolsInput,
  now: number,
): SymbolParts | string {
  if (platform)
    return parseSymbol(platform.FullSymbol, securityTypeOf(platform.SymbolType), dayIn(now, newYork))
  if (!exchange) return 'InvalidSymbol'
  return parseExchangeSymbol({
    ...exchange,
    StrikePrice: exchange.StrikePrice === undefined ? undefined : dec(exchange.StrikePrice),
    PriceMultiplier: exchange.PriceMultiplier === undefined ? undefined : dec(exchange.PriceMultiplier),
  })
}

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
