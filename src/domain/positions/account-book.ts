/**
 * The money of one strategy: cash, what it holds, the last marks, and the trades these make. At every step
 * the account value is cash, plus stocks and options at their marks, plus what futures and forex would
 * realise. Cash is true cash and may be negative; nothing is rounded inside.
 */
import type { SecurityType } from '../codes.ts'
import { type Decimal, one, sum, zero } from '../decimal.ts'
import type { Instant } from '../time.ts'
import {
  applyFill,
  type Conversion,
  flat,
  isPaidInFull,
  type Position,
  type PositionChange,
  unrealised,
} from './position.ts'
import {
  type FinishedTrade,
  type OpenTrade,
  type TradeFill,
  tradeAfterFill,
  tradeAfterMark,
} from './trade.ts'

/** What the book needs to know of an instrument. */
export interface TradedInstrument {
  readonly symbol: string
  readonly securityType: SecurityType
  readonly pointValue: Decimal
}

/** A symbol that has traded or was marked: its position may be flat, its mark and rate stay known. */
interface Holding {
  readonly instrument: TradedInstrument
  readonly position: Position
  /** Last mark; a fill marks at its price. */
  readonly mark: Decimal
  /** Last rate: account currency per unit of quote currency. */
  readonly fx: Decimal
  readonly trade: OpenTrade | null
}

export interface AccountBook {
  readonly cash: Decimal
  readonly cashDividends: Decimal
  readonly holdings: ReadonlyMap<string, Holding>
}

/** A fill to book; without `fx` the symbol's last rate holds, at first 1. */
export interface BookFill extends TradeFill {
  readonly fx?: Decimal
}

/** A price seen; without `fx` the symbol's last rate holds. */
export interface Mark {
  readonly price: Decimal
  readonly at: Instant
  readonly fx?: Decimal
}

/** A book of cash alone. */
export const openBook = (cash: Decimal): AccountBook => ({ cash, cashDividends: zero, holdings: new Map() })

const conversionOf = (holding: Holding): Conversion => ({ ...holding.instrument, fx: holding.fx })

const withHolding = (book: AccountBook, holding: Holding): AccountBook => ({
  ...book,
  holdings: new Map(book.holdings).set(holding.instrument.symbol, holding),
})

/** Unrealised profit and loss of all positions at their last marks. */
export const equityOf = (book: AccountBook): Decimal =>
  sum(
    [...book.holdings.values()].map((holding) =>
      unrealised(holding.position, holding.mark, conversionOf(holding)),
    ),
  )

/** Cash, plus what stocks and options cost at the current rate, plus equity. */
export const modelAccountValue = (book: AccountBook): Decimal => {
  const costs = [...book.holdings.values()].map(({ instrument, position, fx }) =>
    isPaidInFull(instrument.securityType)
      ? (position.avgPx ?? zero).times(position.quantity).times(instrument.pointValue).times(fx)
      : zero,
  )
  return book.cash.plus(sum(costs)).plus(equityOf(book))
}

/** Moves mark and rate of a symbol and lets its trade see them. */
export function markSymbol(book: AccountBook, instrument: TradedInstrument, mark: Mark): AccountBook {
  const held = book.holdings.get(instrument.symbol)
  const moved: Holding = {
    instrument,
    position: held?.position ?? flat,
    mark: mark.price,
    fx: mark.fx ?? held?.fx ?? one,
    trade: held?.trade ?? null,
  }
  const marked = withHolding(book, moved)
  if (!moved.trade) return marked
  const trade = tradeAfterMark(moved.trade, moved.position, {
    price: mark.price,
    at: mark.at,
    unrealised: unrealised(moved.position, moved.mark, conversionOf(moved)),
    strategyEquity: modelAccountValue(marked),
  })
  return withHolding(marked, { ...moved, trade })
}

const nothing = (holding: Holding | undefined): PositionChange => ({
  position: holding?.position ?? flat,
  closed: zero,
  opened: zero,
  realised: zero,
  cash: zero,
})

/**
 * Books a fill: marks the position it meets at its price, then moves position, cash and trade. The position
 * it leaves stands at the same price and cannot be further under water. Returns the trade it finished. A quantity of 0
 * is no fill.
 */
export function bookFill(
  book: AccountBook,
  instrument: TradedInstrument,
  fill: BookFill,
): { readonly book: AccountBook; readonly change: PositionChange; readonly finished: FinishedTrade | null } {
  const { symbol } = instrument
  if (fill.quantity.isZero()) return { book, change: nothing(book.holdings.get(symbol)), finished: null }
  const met = markSymbol(book, instrument, fill)
  const holding = met.holdings.get(symbol)!
  const change = applyFill(holding.position, fill, conversionOf(holding))
  const { trade, finished } = tradeAfterFill(holding.trade, symbol, fill, change)
  const cash = met.cash.plus(change.cash).minus(fill.commission)
  const moved = withHolding({ ...met, cash }, { ...holding, position: change.position, trade })
  return { book: moved, change, finished }
}

/**
 * Books a cash dividend on what is held: longs receive, shorts pay. It belongs to no trade. Without `fx` the symbol's last
 * rate holds.
 */
export function bookDividend(
  book: AccountBook,
  instrument: TradedInstrument,
  perUnit: Decimal,
  fx?: Decimal,
): AccountBook {
  const unknown: Holding = { instrument, position: flat, mark: zero, fx: one, trade: null }
  const held = book.holdings.get(instrument.symbol) ?? unknown
  const amount = held.position.quantity.times(perUnit).times(fx ?? held.fx)
  const paid = { ...book, cash: book.cash.plus(amount), cashDividends: book.cashDividends.plus(amount) }
  return fx === undefined ? paid : withHolding(paid, { ...held, fx })
}
