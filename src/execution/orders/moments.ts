/**
 * One book at one moment of the market: a quote, a bar, or the last quote as an order arrives. Decides who
 * takes part and when and from what a fill happened; prices and order are the fill rules' own.
 */

import { Decimal } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { isOpen, nextOpen } from '../../domain/market/calendar.ts'
import { hasExpired, isTrading } from '../../domain/market/expiration.ts'
import { isFresh, type LastQuote, priceFor, type Quote } from '../../domain/market/quote.ts'
import { defaultFillConfig, type FillConfig } from '../../domain/orders/fill.ts'
import { type Bar, fillAgainstBar } from '../../domain/orders/fill-bars.ts'
import { fillAgainstQuote } from '../../domain/orders/fill-quotes.ts'
import type { Instant } from '../../domain/time.ts'
import type { QuotedInstrument, QuoteRow } from '../../storage/market/quotes.ts'
import type { SignalFacts } from '../../storage/orders/order-books.ts'
import type { PriceRange } from '../../storage/work/matching.ts'
import type { InstrumentKey, MarketBar, MarketQuote, TimedItem } from '../market/feed.ts'
import { bookingPort, type MarketMoment, type SignalBook } from './booking.ts'

/** The quote as the domain reads it. */
export const quoteOf = ({ bid, ask, bidSize, askSize }: MarketQuote): Quote => ({
  bid,
  ask,
  bidSize: bidSize ?? null,
  askSize: askSize ?? null,
})

/** Serves the orders that worked when the quote came. */
export function fillOnQuote(book: SignalBook, instrument: QuotedInstrument, quote: MarketQuote): SignalBook {
  const { at } = quote
  return atQuote(book, instrument, quoteOf(quote), at, {
    takesPart: (order, facts) => order.workingSince <= at && worksAt(facts, at),
    timeOf: () => at,
  })
}

/** Serves the orders that have just started to work, if the last quote was fresh and the market open then. */
export function fillOnArrival(book: SignalBook, instrument: QuotedInstrument, last: QuoteRow): SignalBook {
  const timeOf: MarketMoment['timeOf'] = (_, { workingSince }) => Math.max(workingSince, last.at)
  return atQuote(book, instrument, last, last.at, {
    takesPart: (order, facts) =>
      (facts?.needsMatch ?? true) &&
      isFresh(lastQuote(last, last.at), order.workingSince, configOf(instrument).maxQuoteAgeSec) &&
      isTrading(instrument, timeOf('quote', order)) &&
      worksAt(facts, timeOf('quote', order)),
    timeOf,
  })
}

/** Serves the orders that worked when the bar began; what fills inside it fills at its end. */
export function fillOnBar(book: SignalBook, instrument: QuotedInstrument, bar: MarketBar): SignalBook {
  const end = endOf(bar)
  const moment: MarketMoment = {
    takesPart: (_, facts) => worksAt(facts, bar.at),
    timeOf: (phase) => (phase === 'open' ? bar.at : end),
    seenPrice: (phase, { stop, limit }) => (phase === 'open' ? bar.open : (stop ?? limit ?? bar.open)),
    seen: {
      bar: {
        open: bar.open.toFixed(),
        high: bar.high.toFixed(),
        low: bar.low.toFixed(),
        at: new Date(bar.at).toISOString(),
      },
    },
  }
  return fillAgainstBar(book, bookingPort(moment), barOf(bar), configOf(instrument))
}

/** The bar as the domain reads it. */
export const barOf = ({ at, open, high, low, volume }: MarketBar): Bar => ({
  start: at,
  open,
  high,
  low,
  volume: volume ?? null,
})

/** When the bar was complete. */
export const endOf = (bar: MarketBar): Instant => bar.endsAt ?? bar.at

/** Whether the instrument trades at any moment of the bar. */
export const touchesSession = (instrument: QuotedInstrument, bar: MarketBar): boolean =>
  !hasExpired(instrument, bar.at) &&
  (isOpen(instrument.calendar, bar.at) || nextOpen(instrument.calendar, bar.at) < endOf(bar))

/** A batch's item with its instrument. */
export interface Known<Item> {
  readonly item: Item
  readonly instrument: QuotedInstrument
}

/** The names of instruments in a batch, each item's symbol or id. */
export const namesIn = (items: readonly InstrumentKey[]): { symbols: string[]; ids: number[] } => ({
  symbols: items.flatMap((item) => ('symbol' in item ? [item.symbol] : [])),
  ids: items.flatMap((item) => ('instrumentId' in item ? [item.instrumentId] : [])),
})

/**
 * The items whose instrument is one of these. A price of before a split that is booked is passed over: orders and
 * positions are in new units, of which it knows nothing.
 */
export function knownIn<Item extends TimedItem>(
  items: readonly Item[],
  instruments: Iterable<QuotedInstrument>,
): Known<Item>[] {
  const found = new Map<string | number, QuotedInstrument>()
  for (const instrument of instruments)
    found.set(instrument.symbol, instrument).set(instrument.id, instrument)
  return items.flatMap((asked) => {
    const instrument = found.get('symbol' in asked ? asked.symbol : asked.instrumentId)
    const item = instrument && sinceSplit(asked, instrument.splitAt)
    return item ? [{ item, instrument }] : []
  })
}

/**
 * A price as far as it is one of since a split; undefined where it is none. A split takes effect at an opening, where
 * trading begins: a bar that began before it, as one of the whole day or hour does, knows prices of since then alone.
 */
function sinceSplit<Item extends TimedItem>(item: Item, splitAt: Instant | null): Item | undefined {
  if (splitAt === null || item.at >= splitAt) return item
  return (item.endsAt ?? item.at) > splitAt ? { ...item, at: splitAt } : undefined
}

/** The items of a batch by their instruments, in their order. */
export const itemsOf = <Item>(batch: readonly Known<Item>[]): Map<number, Item[]> =>
  new Map(
    [...groupBy(batch, ({ instrument }) => instrument.id)].map(([id, list]) => [
      id,
      list.map(({ item }) => item),
    ]),
  )

/** The prices at which quotes serve each side. */
export function quoteRange(instrumentId: number, quotes: readonly MarketQuote[]): PriceRange {
  const asks = quotes.map((quote) => quote.ask)
  const bids = quotes.map((quote) => quote.bid)
  return {
    instrumentId,
    buyLow: Decimal.min(...asks),
    buyHigh: Decimal.max(...asks),
    sellLow: Decimal.min(...bids),
    sellHigh: Decimal.max(...bids),
  }
}

/** The prices that bars cover. */
export function barRange(instrumentId: number, bars: readonly MarketBar[]): PriceRange {
  const low = Decimal.min(...bars.map((bar) => bar.low))
  const high = Decimal.max(...bars.map((bar) => bar.high))
  return { instrumentId, buyLow: low, buyHigh: high, sellLow: low, sellHigh: high }
}

function atQuote(
  book: SignalBook,
  instrument: QuotedInstrument,
  quote: Quote,
  at: Instant,
  when: Pick<MarketMoment, 'takesPart' | 'timeOf'>,
): SignalBook {
  const moment: MarketMoment = {
    seenPrice: (_, order) => priceFor(quote, order.side),
    seen: { quote: { bid: quote.bid.toFixed(), ask: quote.ask.toFixed(), at: new Date(at).toISOString() } },
    ...when,
  }
  return fillAgainstQuote(book, bookingPort(moment), lastQuote(quote, at), configOf(instrument)).book
}

/** A quote of which nobody has taken anything yet. */
export const lastQuote = (quote: Quote, at: Instant): LastQuote => ({
  quote,
  at,
  unused: { '1': null, '2': null },
})

/** A day order does not trade at or after its end, however late its expiry is noticed. */
const worksAt = (facts: SignalFacts | undefined, at: Instant): boolean =>
  (facts?.expiresAt ?? null) === null || at < (facts?.expiresAt ?? 0)

const configOf = ({ securityType, tick }: QuotedInstrument): FillConfig =>
  defaultFillConfig(securityType, tick)
