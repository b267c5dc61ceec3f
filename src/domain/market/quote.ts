/**
 * A quote of one instrument and what it is good for. Only valid quotes of the session fill orders or move
 * marks; the last of them stays at hand, with the size that its fills have left, for orders that arrive
 * before the next one. A quote outside the session voids it.
 */
import type { SecurityType, Side } from '../codes.ts'
import { type Decimal, dec, one, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'

export interface Quote {
  readonly bid: Decimal
  readonly ask: Decimal
  /** Displayed sizes; null when the source shows none. */
  readonly bidSize: Decimal | null
  readonly askSize: Decimal | null
}

/** What each side may still take of a quote or a bar; null is without limit. */
interface Unused {
  readonly '1': Decimal | null
  readonly '2': Decimal | null
}

export interface LastQuote {
  readonly quote: Quote
  readonly at: Instant
  readonly unused: Unused
}

/** What a side trades at: buys the ask, sells the bid. */
export const priceFor = (quote: Quote, side: Side): Decimal => (side === '1' ? quote.ask : quote.bid)

/** A side can trade at a positive price only: an option quoted 0 at 0.05 can be bought, not sold. */
export const isTradable = (quote: Quote, side: Side): boolean => priceFor(quote, side).greaterThan(0)

/** In session, not crossed, and at least the buyers can trade on it. */
export const isValidQuote = (quote: Quote, inSession: boolean): boolean =>
  inSession && quote.ask.greaterThanOrEqualTo(quote.bid) && isTradable(quote, '1')

/** The middle of bid and ask. */
export const midOf = ({ bid, ask }: Pick<Quote, 'bid' | 'ask'>): Decimal => bid.plus(ask).div(2)

/** The same of a quote as it is stored; null without one. */
export const storedMid = (bid: string | null, ask: string | null): Decimal | null =>
  bid === null || ask === null ? null : midOf({ bid: dec(bid), ask: dec(ask) })

/**
 * The price that a position of `quantity` is marked at: long at the bid, short at the ask, options in the
 * middle. Null when that side has no positive price: the last mark stays.
 */
export function markOf(quote: Quote, securityType: SecurityType, quantity: Decimal): Decimal | null {
  if (securityType === 'OPT') return midOf(quote)
  const closingSide = quantity.isNegative() ? '1' : '2'
  return isTradable(quote, closingSide) ? priceFor(quote, closingSide) : null
}

/** Whether the quote says what a long position is worth. */
export const hasBid = (quote: Quote, securityType: SecurityType): boolean =>
  markOf(quote, securityType, one) !== null

/** A share of a displayed size in whole units; a missing size counts as 0, a missing or zero share as no limit. */
export function participate(participation: Decimal | null, size: Decimal | null): Decimal | null {
  if (participation === null || participation.isZero()) return null
  return (size ?? zero).times(participation).floor()
}

/**
 * The last valid quote after this one was seen at `at`: the quote itself when valid, nothing when the
 * instrument is out of session, otherwise the one before. Identity with `last` means that nothing can fill.
 */
export function observeQuote(
  last: LastQuote | null,
  quote: Quote,
  seen: { readonly at: Instant; readonly inSession: boolean },
  participation: Decimal | null,
): LastQuote | null {
  if (!seen.inSession) return null
  if (!isValidQuote(quote, seen.inSession)) return last
  const unused = {
    '1': participate(participation, quote.askSize),
    '2': participate(participation, quote.bidSize),
  }
  return { quote, at: seen.at, unused }
}

/** Whether an order that starts to work at `now` may still trade on the last valid quote. */
export const isFresh = (last: LastQuote, now: Instant, maxQuoteAgeSec: number): boolean =>
  now - last.at <= maxQuoteAgeSec * 1000
