/**
 * Strategy orders meet the market: every batch of quotes or bars once, and each new order once the last quote.
 * A batch is one transaction: its quotes, and every fill they cause, exist together or not at all. An order
 * that commits while a batch is booked waits for the quote and is then held against it, so none falls between.
 */

import { isTrading } from '../../domain/market/expiration.ts'
import { hasBid, isValidQuote, type Quote } from '../../domain/market/quote.ts'
import { bookedDay, runningDay } from '../../domain/market/trading-day.ts'
import type { Day, Instant } from '../../domain/time.ts'
import { lockMarks } from '../../storage/accounts/holders.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import {
  type DatedQuote,
  loadQuotedInstruments,
  lockLastQuotes,
  type QuotedInstrument,
  quotedInstruments,
  saveQuotes,
  voidQuotes,
} from '../../storage/market/quotes.ts'
import { bookCurrency } from '../../storage/orders/order-books.ts'
import { markTrades, type PriceMark } from '../../storage/strategies/trade-marks.ts'
import type { Among } from '../../storage/work/among.ts'
import { guardLease, type Lease } from '../../storage/work/leases.ts'
import {
  claimStrategies,
  isArrivalDue,
  listArrivals,
  listReached,
  lockReached,
  type PriceRange,
  settleArrivals,
  strategiesOf,
} from '../../storage/work/matching.ts'
import type { MarketSink, Step, WorkContext } from '../context.ts'
import { despiteSome, isolated } from '../isolation.ts'
import type { MarketBar, MarketQuote, TimedItem } from '../market/feed.ts'
import type { SignalBook } from './booking.ts'
import { loadBooks, saveBooks, serveBooks, withAccounts } from './books.ts'
import { bookActions, isAnyDue } from './corporate-actions.ts'
import { noteLate } from './late-prices.ts'
import { callFlattened, callTraded } from './margin-calls.ts'
import {
  barRange,
  endOf,
  fillOnArrival,
  fillOnBar,
  fillOnQuote,
  itemsOf,
  type Known,
  knownIn,
  namesIn,
  quoteOf,
  quoteRange,
  touchesSession,
} from './moments.ts'
import { stepsUnder, type TradeStep } from './trades.ts'

/** Signals that one transaction holds against the last quotes. */
const arrivalsAtOnce = 1_000
/** A batch that reaches very many orders may take its time: its statements are few and long. */
const patience = { statementTimeoutMs: 60_000 }

/** What a batch does to the books of the strategies that it reaches. */
interface Batch<Item> {
  readonly known: readonly Known<Item>[]
  readonly rangeOf: (id: number, items: readonly Item[]) => PriceRange
  readonly serve: (book: SignalBook, instrument: QuotedInstrument, item: Item) => SignalBook
  readonly markOf: (item: Item) => PriceMark
  /** The last price of each instrument. */
  readonly last: readonly DatedQuote[]
  /** Writes what fills are held against, and locks its rows. */
  readonly before: (tx: Transaction) => Promise<unknown>
  /** Writes what the fills do not know of. */
  readonly amid?: (tx: Transaction) => Promise<unknown>
}

/**
 * Takes a batch of quotes, in the order in which they were made: stores the last of each instrument and fills
 * what they reach. A crossed quote is ignored, one out of session voids the last valid quote. Unknown
 * instruments are passed over. Answers how many signals moved. Throws `LeaseLost` under a lost lease.
 */
export async function publishQuotes(
  ctx: WorkContext,
  quotes: readonly MarketQuote[],
  lease?: Lease,
): Promise<number> {
  const known = await knownItems(ctx, quotes)
  const inSession = ({ item, instrument }: Known<MarketQuote>): boolean => isTrading(instrument, item.at)
  const valid = known.filter((entry) => isValidQuote(quoteOf(entry.item), inSession(entry)))
  const outside = known.filter((entry) => !inSession(entry))
  const last = lastOfEach(valid, quoteRow)
  const moved = await publish(ctx, lease, {
    known: valid,
    rangeOf: quoteRange,
    serve: fillOnQuote,
    markOf: quoteMark,
    last,
    before: (tx) => {
      const ids = outside.map(({ instrument }) => instrument.id)
      const ats = outside.map(({ item }) => item.at)
      return Promise.all([
        valid.length > 0 && saveQuotes(tx, last, true, ctx.clock.now()),
        outside.length > 0 && voidQuotes(tx, ids, ats),
      ])
    },
  })
  return moved + (await toSinks(ctx, ctx.settings.quoteSinks, quotes, lease))
}

/**
 * Takes a batch of bars, in the order in which they were made: fills what they reach by the worst case and
 * leaves each close as the instrument's mark, which fills nothing itself. Bars that lie outside the session
 * are passed over. Answers how many signals moved. Throws `LeaseLost` under a lost lease.
 */
export async function publishBars(
  ctx: WorkContext,
  bars: readonly MarketBar[],
  lease?: Lease,
): Promise<number> {
  const known = (await knownItems(ctx, bars)).filter(({ item, instrument }) =>
    touchesSession(instrument, item),
  )
  const last = lastOfEach(known, markRow)
  const moved = await publish(ctx, lease, {
    known,
    rangeOf: barRange,
    serve: fillOnBar,
    markOf: barMark,
    last,
    // Their rows come before the strategies, and their closes after the fills: at a bar's open nobody knows its close.
    before: (tx) => lockMarks(tx, [...new Set(known.map(({ instrument }) => instrument.id))]),
    amid: (tx) => saveQuotes(tx, last, false, ctx.clock.now()),
  })
  return moved + (await toSinks(ctx, ctx.settings.barSinks, bars, lease))
}

/** Holds new orders against the last valid quotes, once each. Answers how many rows moved. */
export const matchArrivals = (ctx: WorkContext): Promise<number> =>
  isolated(ctx, {
    name: 'new orders of a strategy',
    work: (strategies) => matchThese(ctx, strategies),
    list: async (strategies, limit) => strategiesOf(await listArrivals(ctx.db.read, strategies, limit)),
  })

const matchThese = (ctx: WorkContext, strategies: Among): Promise<number> =>
  ctx.db.transaction(async (tx) => {
    const due = await listArrivals(tx, strategies, arrivalsAtOnce)
    if (due.length === 0) return 0
    const instrumentIds = [...new Set(due.map((key) => key.instrumentId))]
    const quotes = await lockLastQuotes(tx, instrumentIds)
    const claimed = await claimStrategies(tx, strategiesOf(due))
    const keys = due.filter((key) => claimed.has(key.strategyId))
    if (keys.length === 0) return 0
    const instruments = await quotedInstruments(tx, instrumentIds)
    const books = await loadBooks(ctx, tx, keys, instruments)
    const served = serveBooks(books, (book) => {
      const quote = quotes.get(book.instrumentId)
      const instrument = instruments.get(book.instrumentId)
      return quote && instrument ? fillOnArrival(book, instrument, quote) : book
    })
    const filled = await withAccounts(ctx, tx, served)
    const steps = filled.map((book) => stepsUnder(book, quotes.get(book.instrumentId)))
    const moved = (await saveBooks(ctx, tx, filled, steps)) + (await settleArrivals(tx, keys))
    // No new quote will have them looked at. What a call sells is an arrival of its own, so it comes last.
    return moved + (await callTraded(ctx, tx, filled))
  })

/** New orders wait to be held against the last quote. */
export const arrivalStep: Step = {
  name: 'matchArrivals',
  due: () => isArrivalDue,
  run: matchArrivals,
}

/** The batch's items whose instrument exists. New orders meet the last quote before it is replaced. */
async function knownItems<Item extends TimedItem>(
  ctx: WorkContext,
  items: readonly Item[],
): Promise<Known<Item>[]> {
  const { symbols, ids } = namesIn(items)
  if (await isAnyDue(ctx)) await bookActions(ctx)
  const instruments = await loadQuotedInstruments(ctx.db.read, symbols, ids)
  if (instruments.some((instrument) => instrument.hasArrivals)) await despiteSome(ctx, matchArrivals(ctx))
  return knownIn(items, instruments)
}

/**
 * Books a batch in one transaction. Where it cannot be booked for one strategy it passes that one by and holds up nobody
 * else: the market goes on.
 */
async function publish<Item>(
  ctx: WorkContext,
  lease: Lease | undefined,
  batch: Batch<Item>,
): Promise<number> {
  const items = itemsOf(batch.known)
  const ranges = [...items].map(([id, list]) => batch.rangeOf(id, list))
  const instruments = new Map(batch.known.map(({ instrument }) => [instrument.id, instrument]))
  const work = (strategies: Among): Promise<number> =>
    ctx.db.transaction(async (tx) => {
      if (lease) await guardLease(tx, lease)
      const [, moved] = await Promise.all([
        batch.before(tx),
        batch.known.length > 0
          ? matchReached(ctx, tx, { ...batch, items, instruments, ranges }, strategies)
          : 0,
      ])
      await noteLate(ctx, tx, batch.last, instruments)
      return moved
    }, patience)
  const list = (strategies: Among, limit: number) => listReached(ctx.db.read, ranges, strategies, limit)
  return despiteSome(ctx, isolated(ctx, { name: 'prices for a strategy', work, list }))
}

/** A batch by its instruments, with the prices that each covers. */
interface Grouped<Item> extends Batch<Item> {
  readonly items: ReadonlyMap<number, readonly Item[]>
  readonly instruments: ReadonlyMap<number, QuotedInstrument>
  readonly ranges: readonly PriceRange[]
}

/** Locks what the batch reaches and serves it item by item. */
async function matchReached<Item>(
  ctx: WorkContext,
  tx: Transaction,
  { known, items, instruments, ranges, serve, markOf, amid }: Grouped<Item>,
  strategies: Among,
): Promise<number> {
  const keys = await lockReached(tx, ranges, strategies)
  const books = await loadBooks(ctx, tx, keys, instruments)
  const steps: TradeStep[][] = books.map(() => [])
  const served = serveBooks(books, (book, place) => {
    const instrument = instruments.get(book.instrumentId)
    if (!instrument) return book
    return (items.get(book.instrumentId) ?? []).reduce((current, item) => {
      const after = serve(current, instrument, item)
      steps[place]?.push(...after.fills.slice(current.fills.length), markOf(item))
      return after
    }, book)
  })
  await amid?.(tx)
  const filled = await withAccounts(ctx, tx, served)
  const marks = known.map(({ item, instrument }) => ({ instrumentId: instrument.id, ...markOf(item) }))
  const traded = filled.filter(({ fills }) => fills.length > 0)
  await markTrades(tx, marks, traded, bookCurrency, strategies)
  const moved = await saveBooks(ctx, tx, filled, steps)
  return moved + (await callFlattened(ctx, tx, filled))
}

/** Lets the others who trade on the market have the batch. */
async function toSinks<Item>(
  ctx: WorkContext,
  sinks: readonly MarketSink<Item>[],
  batch: readonly Item[],
  lease: Lease | undefined,
): Promise<number> {
  let moved = 0
  for (const sink of sinks) moved += await sink(ctx, batch, lease)
  return moved
}

/** One row per instrument: of several items the latest, of equal ones the last. A bid stays until there is another. */
function lastOfEach<Item>(
  batch: readonly Known<Item>[],
  rowOf: (known: Known<Item>) => DatedQuote,
): DatedQuote[] {
  const last = new Map<number, DatedQuote>()
  for (const known of batch) {
    const row = rowOf(known)
    const before = last.get(row.instrumentId)
    if (before && before.at > row.at) continue
    last.set(row.instrumentId, before && !row.hasBid ? { ...row, bid: before.bid } : row)
  }
  return [...last.values()]
}

const quoteMark = ({ bid, ask, at }: MarketQuote): PriceMark => ({ bid, ask, at })
const barMark = (bar: MarketBar): PriceMark => ({ bid: bar.close, ask: bar.close, at: endOf(bar) })

const quoteRow = ({ item, instrument }: Known<MarketQuote>): DatedQuote =>
  datedQuote(instrument, quoteOf(item), item.at, runningDay(item.at))

/** A bar that ends with its day is a mark of that day. */
const markRow = ({ item, instrument }: Known<MarketBar>): DatedQuote => {
  const close = { bid: item.close, ask: item.close, bidSize: null, askSize: null }
  return datedQuote(instrument, close, endOf(item), bookedDay(endOf(item)))
}

const datedQuote = (
  { id, securityType }: QuotedInstrument,
  quote: Quote,
  at: Instant,
  day: Day,
): DatedQuote => ({ instrumentId: id, ...quote, hasBid: hasBid(quote, securityType), at, day })
