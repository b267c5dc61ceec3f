/**
 * Trades of the books that have just traded: from flat to flat, with their lowest moment. Fills and the prices
 * between them are taken in the order in which they happened, by the rules of the account book.
 */

import { directionOf } from '../../domain/codes.ts'
import { Decimal, dec, ledgerPlaces, zero } from '../../domain/decimal.ts'
import { markOf } from '../../domain/market/quote.ts'
import {
  type AccountBook,
  bookFill,
  markSymbol,
  type TradedInstrument,
} from '../../domain/positions/account-book.ts'
import { flat, type Position } from '../../domain/positions/position.ts'
import { type BookedSplit, splitHolding } from '../../domain/positions/split.ts'
import type { FinishedTrade, OpenTrade } from '../../domain/positions/trade.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { bookCurrency } from '../../storage/orders/order-books.ts'
import type { PriceMark } from '../../storage/strategies/trade-marks.ts'
import {
  loadOtherValues,
  lockOpenTrades,
  nextTradeIds,
  type OpenTradeRow,
  saveTrades,
  type TradeState,
} from '../../storage/strategies/trades.ts'
import { bookName } from '../../storage/work/matching.ts'
import type { BookedFill, SignalBook } from './booking.ts'

/** What happened to a book, in order: it traded, or it saw a price. */
export type TradeStep = BookedFill | PriceMark

/** A book with fills, and what happened between them. */
export interface TradedBook {
  readonly book: SignalBook
  readonly steps: readonly TradeStep[]
}

/** One trade as the steps left it, with the fills of these steps that belong to it. */
interface Chapter {
  readonly book: SignalBook
  /** Null for a new trade. */
  readonly id: number | null
  readonly trade: OpenTrade | FinishedTrade
  readonly position: Position
  readonly fills: readonly BookedFill[]
}

const isFill = (step: TradeStep): step is BookedFill => 'execId' in step

/** The fills of a book under the quote that stands meanwhile: what they leave is marked with it. */
export function stepsUnder({ fills }: SignalBook, quote: Omit<PriceMark, 'at'> | undefined): TradeStep[] {
  const last = fills.at(-1)
  return quote && last ? [...fills, { bid: quote.bid, ask: quote.ask, at: last.at }] : [...fills]
}

/**
 * Books the fills on their trades and writes these; answers the trade of each execution. Cash and quotes of the
 * strategies are those before the fills.
 */
export async function bookTrades(
  tx: Transaction,
  traded: readonly TradedBook[],
): Promise<ReadonlyMap<string, number>> {
  const keys = traded.map(({ book }) => book)
  const [rows, values] = await Promise.all([
    lockOpenTrades(tx, keys),
    loadOtherValues(tx, keys, bookCurrency),
  ])
  const open = new Map(rows.map((row) => [bookName(row), row]))
  const chapters = traded.flatMap((one) => {
    const key = bookName(one.book)
    return chaptersOf(one, open.get(key), dec(values.get(key) ?? 0))
  })
  const opened = chapters.filter(({ id }) => id === null).length
  const ids = opened > 0 ? await nextTradeIds(tx, opened) : []
  const named = chapters.map((chapter) => ({ ...chapter, id: chapter.id ?? (ids.shift() as number) }))
  await saveTrades(
    tx,
    named.map((chapter) => stateOf(chapter, chapter.id)),
  )
  return new Map(named.flatMap(({ id, fills }) => fills.map(({ execId }) => [execId, id] as const)))
}

/** Plays the steps; each trade that was open in them is a chapter, the last one may stay open. */
function chaptersOf({ book, steps }: TradedBook, row: OpenTradeRow | undefined, cash: Decimal): Chapter[] {
  const { terms } = book
  const symbol = String(book.instrumentId)
  const instrument: TradedInstrument = { symbol, ...terms }
  const chapters: Chapter[] = []
  let account = accountOf(instrument, terms.fx, row, cash)
  let id = row?.id ?? null
  let fills: BookedFill[] = []
  for (const step of steps) {
    const position = account.holdings.get(symbol)?.position ?? flat
    if (!isFill(step)) {
      const price = markOf({ bidSize: null, askSize: null, ...step }, terms.securityType, position.quantity)
      if (price !== null) account = markSymbol(account, instrument, { price, at: step.at, fx: terms.fx })
      continue
    }
    const { side, signalId, quantity, price, commission, at } = step
    const fill = { side, signalId, quantity, price, commission, at, fx: terms.fx }
    const booked = bookFill(account, instrument, fill)
    account = booked.book
    fills.push(step)
    if (!booked.finished) continue
    chapters.push({ book, id, trade: booked.finished, position: flat, fills })
    id = null
    fills = []
  }
  const holding = account.holdings.get(symbol)
  if (holding?.trade) chapters.push({ book, id, trade: holding.trade, position: holding.position, fills })
  return chapters
}

/** The one holding of the book; everything else of the strategy counts as cash. */
function accountOf(
  instrument: TradedInstrument,
  fx: Decimal,
  row: OpenTradeRow | undefined,
  cash: Decimal,
): AccountBook {
  const book = { cash, cashDividends: zero, holdings: new Map() }
  if (!row) return book
  const position = positionOf(row)
  const holding = { instrument, position, mark: position.avgPx, fx, trade: tradeOf(row) }
  // What is paid in full has left the cash already; the book adds its value.
  return { ...book, holdings: new Map([[instrument.symbol, holding]]) }
}

const positionOf = (row: OpenTradeRow) => ({
  quantity: dec(row.openedQty).minus(row.closedQty).times(directionOf(row.openSide)),
  avgPx: dec(row.avgPx),
  avgCost: dec(row.avgCost),
})

function tradeOf(row: OpenTradeRow): OpenTrade {
  const { worstResult, worstPx, worstAt, worstEntryPx, worstQty, worstEquity } = row
  const hasWorst = worstResult !== null && worstAt !== null
  return {
    tradeId: row.signalId,
    openedAt: row.openedAt,
    openSide: row.openSide,
    openedQuantity: dec(row.openedQty),
    closedQuantity: dec(row.closedQty),
    openTurnover: dec(row.openTurnover),
    closeTurnover: dec(row.closeTurnover),
    commission: dec(row.commission),
    realised: dec(row.realised),
    worst: hasWorst
      ? {
          drawdown: dec(worstResult),
          price: dec(worstPx ?? 0),
          at: worstAt,
          entryPrice: dec(worstEntryPx ?? 0),
          openQuantity: dec(worstQty ?? 0),
          strategyEquity: dec(worstEquity ?? 0),
        }
      : null,
  }
}

function stateOf({ book, trade, position, fills }: Chapter, id: number): TradeState {
  const { worst } = trade
  const finished = 'closedAt' in trade ? trade : null
  // A late quote fills at its own time: what is booked last need not be what happened last.
  const moments = [trade.openedAt, ...fills.map(({ at }) => at)]
  const changedAt = Math.max(...moments)
  return {
    id,
    strategyId: book.strategyId,
    instrumentId: book.instrumentId,
    signalId: trade.tradeId,
    openSide: trade.openSide,
    openedAt: Math.min(...moments),
    changedAt,
    closedAt: finished && changedAt,
    openedQty: trade.openedQuantity,
    closedQty: trade.closedQuantity,
    openTurnover: trade.openTurnover,
    closeTurnover: trade.closeTurnover,
    commission: trade.commission,
    realised: trade.realised,
    fx: book.terms.fx,
    avgPx: position.avgPx,
    avgCost: position.avgCost,
    watchPx: watchPrice(book, trade, position),
    profitLoss: finished?.profitLoss ?? null,
    worstResult: worst?.drawdown ?? null,
    worstPx: worst?.price ?? null,
    worstAt: worst?.at ?? null,
    worstEntryPx: worst?.entryPrice ?? null,
    worstQty: worst?.openQuantity ?? null,
    worstEquity: worst?.strategyEquity ?? null,
  }
}

/** Restates the open trades of books whose units a split has changed; `book.position` is in new units already. */
export async function splitTrades(
  tx: Transaction,
  books: readonly SignalBook[],
  split: BookedSplit & { readonly at: Instant },
): Promise<void> {
  const rows = new Map((await lockOpenTrades(tx, books)).map((row) => [bookName(row), row]))
  const states = books.flatMap((book): TradeState[] => {
    const row = rows.get(bookName(book))
    if (!row) return []
    const before = positionOf(row)
    const { position: after, trade } = splitHolding({ position: before, trade: tradeOf(row) }, split)
    const position = { ...book.position, avgCost: after.avgCost }
    return [{ ...stateOf({ book, id: row.id, trade, position, fills: [] }, row.id), changedAt: split.at }]
  })
  await saveTrades(tx, states)
}

/**
 * The price beyond which the position would stand lower than the trade ever did, rounded so that none is missed;
 * where the rate can move too, every price beyond the average. Null when it is flat.
 */
function watchPrice(
  { terms }: SignalBook,
  { worst }: OpenTrade,
  { quantity, avgPx }: Position,
): Decimal | null {
  if (avgPx === null) return null
  const isOwn = terms.currency === bookCurrency
  const depth = worst && isOwn ? worst.drawdown.div(quantity.times(terms.pointValue)) : zero
  const rounding = quantity.isNegative() ? Decimal.ROUND_FLOOR : Decimal.ROUND_CEIL
  return avgPx.plus(depth).toDecimalPlaces(ledgerPlaces, rounding)
}
