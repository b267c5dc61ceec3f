/**
 * The market-data port. A feed publishes batches of quotes or bars and knows nothing of orders; whether a
 * quote may fill anything is decided where it is booked. Prices are decimals, times are instants.
 */
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'

/** An instrument by its native symbol or by its row. */
export type InstrumentKey = { symbol: string } | { instrumentId: number }

export type MarketQuote = InstrumentKey & {
  bid: Decimal
  ask: Decimal
  /** Displayed sizes; absent when the feed shows none. */
  bidSize?: Decimal
  askSize?: Decimal
  at: Instant
}

export type MarketBar = InstrumentKey & {
  /** The bar's start: an order takes part when it began to work at or before it. */
  at: Instant
  /** The bar's end, where its close becomes the mark; absent means the start. */
  endsAt?: Instant
  open: Decimal
  high: Decimal
  low: Decimal
  close: Decimal
  volume?: Decimal
}

/** A quote, or a bar, as far as its time goes. */
export type TimedItem = InstrumentKey & Pick<MarketBar, 'at' | 'endsAt'>

/** Where a feed delivers. Resolves when the batch is booked; rejects when the feed must stop. */
export interface FeedSink {
  quotes(quotes: readonly MarketQuote[]): Promise<void>
  bars(bars: readonly MarketBar[]): Promise<void>
}

export interface Feed {
  /** Names the lease: of all workers one publishes the feed of a name. */
  name: string
  /** Publishes until `signal` aborts or the feed has ended. A feed that rejects is started again. */
  run(sink: FeedSink, signal: AbortSignal): Promise<void>
}
