/**
 * Splits at the opening of their day: positions, open trades, working orders and the last quote in new units, for
 * every strategy and every sub-ledger, in one transaction. What is more than whole shares is sold, or bought
 * back, at the previous close without commission. Options on the stock are adjusted as the clearing house does.
 */
import { type Decimal, dec, ledgerPlaces, quantityPlaces, roundTo } from '../../domain/decimal.ts'
import { midOf } from '../../domain/market/quote.ts'
import { formatSymbol, parseSymbol } from '../../domain/market/symbol.ts'
import { beforeOpening } from '../../domain/market/trading-day.ts'
import { type BookSplit, splitOrderBook } from '../../domain/orders/split-book.ts'
import { flat, type Position, type PositionFill } from '../../domain/positions/position.ts'
import {
  fractionOf,
  isWholeRatio,
  priceAfter,
  restatePosition,
  type SplitRatio,
  splitContract,
  splitOptionPosition,
  unitsAfter,
} from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import {
  type LastMark,
  listFlattenedSince,
  listTradersSince,
  lockHolders,
  lockMarks,
} from '../../storage/accounts/holders.ts'
import { splitAccounts } from '../../storage/actions/account-splits.ts'
import { settleAgain } from '../../storage/actions/contract-ends.ts'
import { type DueAction, insertAdjusted } from '../../storage/actions/corporate-actions.ts'
import {
  adjustOptions,
  adjustPositions,
  listOptionsOn,
  listTakenSymbols,
  type OptionRow,
  restateQuotes,
  restateTerms,
} from '../../storage/actions/splits.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { loadRateTable, type QuotedInstrument, quotedInstruments } from '../../storage/market/quotes.ts'
import { markFollowers } from '../../storage/mirror/sync-due.ts'
import { savePositions } from '../../storage/orders/fills.ts'
import { bookCurrency, causedBy, worked } from '../../storage/orders/order-books.ts'
import { newSignalIds } from '../../storage/orders/signals.ts'
import { insertIncidents } from '../../storage/work/incidents.ts'
import { touchAdjusted } from '../../storage/work/record-changes.ts'
import type { WorkContext } from '../context.ts'
import { bookContext, type SignalBook } from './booking.ts'
import { loadWholeBooks, saveBooks } from './books.ts'
import { tradeInternally } from './internal-orders.ts'
import { splitTrades } from './trades.ts'

/** What one instrument goes through. */
interface InstrumentSplit extends BookSplit {
  readonly actionId: number
  readonly at: Instant
  /** It was entered when it had taken effect. */
  readonly isLate: boolean
  readonly instrument: QuotedInstrument
  /** Of one unit in old units; null where nobody has ever quoted it. */
  readonly previousClose: Decimal | null
}

/** Books a split; answers how many books it changed. */
export async function bookSplit(ctx: WorkContext, tx: Transaction, action: DueAction): Promise<number> {
  const ratio: SplitRatio = { new: dec(action.newUnits ?? 1), old: dec(action.oldUnits ?? 1) }
  const options = await listOptionsOn(tx, action.symbol)
  const ids = [action.instrumentId, ...options.map(({ id }) => id)]
  const marks = await lockMarks(tx, ids)
  const keys = await lockHolders(tx, ids)
  const instruments = await quotedInstruments(tx, ids)
  const actionIds = await insertAdjusted(tx, action, ids.slice(1), isWholeRatio(ratio))
  const splits = splitsOf({ ...action, actionIds, ratio }, instruments, marks)
  const missed = action.isLate ? await listTradersSince(tx, ids, action.at) : new Set<number>()
  const flattened = action.isLate ? await listFlattenedSince(tx, ids, action.at) : []
  const books = await loadWholeBooks(
    ctx,
    tx,
    keys.filter(({ strategyId }) => !missed.has(strategyId)),
    instruments,
  )
  await restateBooks(ctx, tx, books, splits)
  await tellMissed(tx, action, [
    ...keys.filter(({ strategyId }) => missed.has(strategyId)).map(({ strategyId }) => strategyId),
    ...flattened,
  ])
  for (const split of splits.values())
    await splitAccounts(tx, { instrumentId: split.instrument.id, ...split })
  // Each side is rounded by itself: what an account should work need no longer be what it works.
  const strategyIds = books.map(({ strategyId }) => strategyId)
  await tx.withCommit(() => markFollowers(tx, strategyIds, ctx.clock.now()))
  await touchAdjusted(tx, [...actionIds.values()], action.at, ctx.clock.now())
  await restateQuotes(tx, ids, ratio, action.at)
  // A stock that is delisted was paid for in the units of before: what that leaves over is paid like the rest.
  if (action.isLate) await settleAgain(tx, [action.instrumentId], ctx.clock.now())
  await adjustOptions(
    tx,
    await listAnew(tx, options, ratio),
    options.map(({ symbol }) => symbol),
    action.at,
  )
  return books.length
}

/** What the split means for the stock and for each option on it. */
function splitsOf(
  action: DueAction & { readonly ratio: SplitRatio; readonly actionIds: ReadonlyMap<number, number> },
  instruments: ReadonlyMap<number, QuotedInstrument>,
  marks: ReadonlyMap<number, LastMark>,
): Map<number, InstrumentSplit> {
  const { ratio, at, isLate } = action
  const splits = new Map<number, InstrumentSplit>()
  for (const instrument of instruments.values()) {
    const isOption = instrument.id !== action.instrumentId
    splits.set(instrument.id, {
      previousClose: closeOf(marks.get(instrument.id), at, ratio),
      ratio,
      isOption,
      multiplies: !isOption || isWholeRatio(ratio),
      tick: instrument.tick,
      instrument,
      at,
      isLate,
      actionId: action.actionIds.get(instrument.id) ?? action.id,
    })
  }
  return splits
}

/** A quote of after the opening is in new units already. */
const closeOf = (mark: LastMark | undefined, at: Instant, ratio: SplitRatio): Decimal | null => {
  const mid = mark ? midOf(mark) : null
  return mid && mark && mark.at >= at ? mid.times(ratio.new).div(ratio.old) : mid
}

async function restateBooks(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly SignalBook[],
  splits: ReadonlyMap<number, InstrumentSplit>,
): Promise<void> {
  const ids = await newSignalIds(tx, books.length)
  const restated = books.map((book) => restate(book, splits.get(book.instrumentId) as InstrumentSplit))
  await savePositions(tx, restated)
  for (const split of splits.values()) {
    const { instrument } = split
    const place = books.flatMap((book, at) => (book.instrumentId === instrument.id ? [at] : []))
    await adjustPositions(
      tx,
      split.actionId,
      place.map((at) => ({
        strategyId: (books[at] as SignalBook).strategyId,
        before: (books[at] as SignalBook).position.quantity,
        after: (restated[at] as SignalBook).position.quantity,
      })),
    )
    await splitTrades(
      tx,
      place.map((at) => restated[at] as SignalBook),
      split,
    )
  }
  await restateTerms(tx, restated)
  const paid = await atOpeningRates(tx, restated, splits)
  const whole = paid.map((book, place) =>
    withoutFraction(book, splits.get(book.instrumentId) as InstrumentSplit, String(ids[place])),
  )
  await saveBooks(ctx, tx, whole)
}

/** Books of one action whose money is of the rates of its opening, as far as these are known. */
async function atOpeningRates(
  tx: Transaction,
  books: readonly SignalBook[],
  splits: ReadonlyMap<number, InstrumentSplit>,
): Promise<SignalBook[]> {
  const [split] = splits.values()
  const currencies = books.map(({ terms }) => terms.currency)
  const table = split && (await loadRateTable(tx, [bookCurrency], currencies, beforeOpening(split.at)))
  return books.map((book) => {
    const fx = table?.get(bookCurrency)?.get(book.terms.currency) ?? book.terms.fx
    return { ...book, terms: { ...book.terms, fx } }
  })
}

/** Position and orders in new units; a fraction is still part of the position. */
function restate(book: SignalBook, split: InstrumentSplit): SignalBook {
  const { ratio, at, isOption, multiplies } = split
  const position = rounded((isOption ? splitOptionPosition : restatePosition)(book.position, ratio))
  const result = splitOrderBook(book.book, split, position.quantity, bookContext(at))
  const told = { split: `${ratio.new.toFixed()}:${ratio.old.toFixed()}` }
  const pointValue = multiplies ? book.terms.pointValue : unitsAfter(book.terms.pointValue, ratio)
  const terms = { ...book.terms, pointValue }
  return { ...worked(book, result, at, causedBy(told)), position, terms }
}

const rounded = (position: Position): Position =>
  position.quantity.isZero() ? flat : { ...position, quantity: roundTo(position.quantity, quantityPlaces) }

/** The book after what is more than whole units was closed at the previous close. */
function withoutFraction(book: SignalBook, split: InstrumentSplit, id: string): SignalBook {
  const { ratio, previousClose, at } = split
  const close = previousClose ? priceAfter(previousClose, ratio) : book.position.avgPx
  const fraction: PositionFill | null =
    close && fractionOf(book.position.quantity, roundTo(close, ledgerPlaces))
  if (!fraction) return book
  const told = { split: `${ratio.new.toFixed()}:${ratio.old.toFixed()}`, price: fraction.price.toFixed() }
  return tradeInternally(book, { at, info: 'cash in lieu', ids: [id], told, ...fraction })
}

/** The options' listings after the split, under the symbols of their new strikes. No two may share one. */
async function listAnew(
  tx: Transaction,
  options: readonly OptionRow[],
  ratio: SplitRatio,
): Promise<OptionRow[]> {
  const choices = options.map((option) => listingsAfter(option, ratio))
  const wished = choices.flatMap((listings) => listings.map(({ symbol }) => symbol))
  const leaving = options.map(({ id }) => id)
  const taken = await listTakenSymbols(tx, wished, leaving)
  return choices.map((listings) => {
    const free = listings.find(({ symbol }) => !taken.has(symbol))
    if (!free) throw new Error(`every root for ${listings[0]?.symbol} is taken`)
    taken.add(free.symbol)
    return free
  })
}

/**
 * What an option may be listed as. The clearing house lists a contract of another size under a root with a digit, and
 * one whose terms another contract already has under the next digit.
 */
function listingsAfter(option: OptionRow, ratio: SplitRatio): OptionRow[] {
  const contract = splitContract({ strike: option.strike, pointValue: option.pointValue }, ratio)
  const parts = parseSymbol(option.symbol, 'OPT', 0)
  if (typeof parts === 'string' || parts.securityType !== 'OPT') return [{ ...option, ...contract }]
  const keepsRoot = isWholeRatio(ratio) || /\d$/.test(parts.root)
  const numbered = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `${parts.root.replace(/\d$/, '')}${digit}`)
  const roots = keepsRoot ? [parts.root, ...numbered] : numbered
  return roots.map((root) => {
    const symbol = formatSymbol({ ...parts, root, strike: contract.strike })
    return { ...option, ...contract, root, symbol }
  })
}

/** Whoever traded in new units before the split was entered has to be looked at by hand. */
const tellMissed = (
  tx: Transaction,
  { id, symbol, at }: DueAction,
  strategyIds: readonly number[],
): Promise<void> =>
  insertIncidents(
    tx,
    [...new Set(strategyIds)].map((strategyId) => ({
      key: `SplitMissed:${id}:${strategyId}`,
      kind: 'SplitMissed',
      detail: { strategyId, symbol, actionId: id },
      occurredAt: at,
    })),
  )
