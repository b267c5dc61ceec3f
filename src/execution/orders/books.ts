/**
 * The market's side of order books: loads what locked strategies have at work, with the terms by which fills
 * become money, and writes what happened to them, news to their other symbols included.
 */
import { type Decimal, one, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { accountLeverage, type ModelAccount } from '../../domain/margin/model-account.ts'
import { bookedDay } from '../../domain/market/trading-day.ts'
import { emptyBook } from '../../domain/orders/order-book.ts'
import { flat, type Position } from '../../domain/positions/position.ts'
import type { Day } from '../../domain/time.ts'
import { loadHoldingRows } from '../../storage/accounts/holders.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { tellUnrated } from '../../storage/market/missing-rates.ts'
import { loadRates, type QuotedInstrument } from '../../storage/market/quotes.ts'
import { spreadNews } from '../../storage/orders/book-families.ts'
import { insertFills, savePositions } from '../../storage/orders/fills.ts'
import { loadModelAccounts } from '../../storage/orders/model-accounts.ts'
import {
  bookCurrency,
  hasEnded,
  loadOrderBooks,
  type StoredBook,
  unworked,
  type WorkedBook,
} from '../../storage/orders/order-books.ts'
import { type SavedBook, saveOrderBooks } from '../../storage/orders/save-books.ts'
import { raiseLeverage } from '../../storage/strategies/strategy-leverage.ts'
import { type BookKey, bookName } from '../../storage/work/matching.ts'
import { outdateStatistics } from '../../storage/work/record-changes.ts'
import { ratesOf, type WorkContext } from '../context.ts'
import { accountOf, accountsAmid, type BookTerms, type SignalBook } from './booking.ts'
import { bookTrades, type TradeStep } from './trades.ts'

/** Loads the books; one without a live signal is missing. The caller has locked their strategies. */
export async function loadBooks(
  ctx: WorkContext,
  tx: Transaction,
  keys: readonly BookKey[],
  instruments: ReadonlyMap<number, QuotedInstrument>,
): Promise<SignalBook[]> {
  if (keys.length === 0) return []
  const stored = await loadOrderBooks(tx, keys)
  const rates = await foreignRates(tx, instruments)
  const accounts = await loadModelAccounts(tx, stored.filter(opensSomething), ratesOf(ctx))
  return stored.flatMap((book) => {
    const instrument = instruments.get(book.instrumentId)
    const account = accounts.get(book.strategyId) ?? null
    return instrument ? [{ account, ...signalBook(book, termsOf(ctx, instrument, rates, book.lastFx)) }] : []
  })
}

/** The books of all these keys, those without a live order too. The caller has locked their strategies. */
export async function loadWholeBooks(
  ctx: WorkContext,
  tx: Transaction,
  keys: readonly BookKey[],
  instruments: ReadonlyMap<number, QuotedInstrument>,
): Promise<SignalBook[]> {
  const books = await loadBooks(ctx, tx, keys, instruments)
  const known = new Set(books.map(bookName))
  const rates = await foreignRates(tx, instruments)
  const held = await loadHoldingRows(
    tx,
    keys.filter((key) => !known.has(bookName(key))),
  )
  const empty = held.flatMap((row): SignalBook[] => {
    const instrument = instruments.get(row.instrumentId)
    if (!instrument) return []
    const { avgPx: positionAvgPx, openedAt, lastFx } = row
    const stored = { positionAvgPx, openedAt, lastFx, ...unworked(row, emptyBook(row.quantity)) }
    return [{ account: null, ...signalBook(stored, termsOf(ctx, instrument, rates, lastFx)) }]
  })
  return [...books, ...empty]
}

/** Account currency per unit of each currency of the instruments that is not the books' own. */
const foreignRates = (
  tx: Transaction,
  instruments: ReadonlyMap<number, QuotedInstrument>,
): Promise<Map<string, Decimal>> =>
  loadRates(
    tx,
    bookCurrency,
    [...instruments.values()].map(({ currency }) => currency),
  )

const opensSomething = ({ book }: StoredBook): boolean =>
  [...book.orders.values()].some((order) => order.positionEffect === 'O' && !hasEnded(order))

/**
 * Lets a moment of the market act on books one after the other: what one of a strategy's books has traded
 * counts when the next one asks for margin.
 */
export function serveBooks(
  books: readonly SignalBook[],
  serve: (book: SignalBook, place: number) => SignalBook,
): SignalBook[] {
  const accounts = new Map<number, ModelAccount>()
  return books.map((book, place) => {
    const served = serve({ ...book, account: accounts.get(book.strategyId) ?? book.account }, place)
    const account = accountOf(served)
    if (account) accounts.set(book.strategyId, account)
    return served
  })
}

/**
 * The books with their accounts where they have traded: those of which nothing opens were loaded without. To be asked
 * before the books are saved, while the rows still say what the fills have met.
 */
export async function withAccounts(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly SignalBook[],
): Promise<SignalBook[]> {
  const hasNone = ({ account, fills }: SignalBook): boolean => account === null && fills.length > 0
  const accounts = await loadModelAccounts(tx, books.filter(hasNone), ratesOf(ctx))
  return books.map((book) => {
    const account = accounts.get(book.strategyId)
    if (!account || !hasNone(book)) return book
    const known = { ...book, account }
    accounts.set(book.strategyId, accountOf(known) ?? account)
    return known
  })
}

/** The pair's quote decides the rate, else the strategy's last one, else one. */
function termsOf(
  ctx: WorkContext,
  { securityType, pointValue, currency }: QuotedInstrument,
  rates: ReadonlyMap<string, Decimal>,
  lastFx: Decimal | null,
): BookTerms {
  return {
    securityType,
    currency,
    pointValue,
    fx: currency === bookCurrency ? one : (rates.get(currency) ?? lastFx ?? one),
    isRated: currency === bookCurrency || rates.has(currency),
    rates: ratesOf(ctx)?.[securityType] ?? null,
  }
}

function signalBook(stored: StoredBook, terms: BookTerms): Omit<SignalBook, 'account'> {
  const { positionAvgPx: _, lastFx: __, ...book } = stored
  const progress = [...stored.facts].map(([id, { fills, ownQuantity, ownNotional }]) => {
    const turnover = { quantity: ownQuantity, notional: ownNotional.times(terms.pointValue) }
    return [id, { fills, turnover }] as const
  })
  return {
    terms,
    position: positionOf(stored, terms),
    progress: new Map(progress),
    fills: [],
    cashChange: zero,
    ...book,
  }
}

/** The cost in account currency is not kept beside the position: no cash depends on it. */
function positionOf({ book, positionAvgPx }: StoredBook, terms: BookTerms): Position {
  if (positionAvgPx === null) return flat
  const avgCost = positionAvgPx.times(terms.pointValue).times(terms.fx)
  return { quantity: book.position, avgPx: positionAvgPx, avgCost }
}

/**
 * Writes what the market did to the books and answers how many signals it moved. `steps` are each one's fills with
 * the prices it saw between them. What no quote has set to work says that it is not served yet.
 */
export async function saveBooks(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly (SignalBook & Pick<SavedBook, 'isServed'>)[],
  steps: readonly (readonly TradeStep[])[] = books.map(({ fills }) => fills),
): Promise<number> {
  const moved = books.filter(({ before, book }) => before !== book)
  if (moved.length === 0) return 0
  const traded = books.flatMap((book, place) =>
    book.fills.length > 0 ? [{ book, steps: steps[place] ?? book.fills }] : [],
  )
  // Trades are valued with the cash before the fills, and fills name their trades.
  const trades = traded.length > 0 ? await bookTrades(tx, traded) : new Map<string, number>()
  // Written first: what news sets to work elsewhere is held against the account after these fills.
  await saveLeverage(tx, moved)
  const [, told] = await Promise.all([
    saveFills(ctx, tx, moved, trades),
    spreadNews(tx, moved, ctx.clock.now(), ratesOf(ctx)),
  ])
  // What a quote sets to work it has also served; what news set to work it has not.
  const saved = told.books.map((book, place): SavedBook => ({ isServed: book === moved[place], ...book }))
  return saveOrderBooks(tx, [...saved, ...told.others])
}

/**
 * How far accounts were stretched when the fills met them and after each: what a fill closes was held until then, and
 * a quote of which nothing is left to look at is the only one of its day.
 */
async function saveLeverage(tx: Transaction, books: readonly SignalBook[]): Promise<void> {
  const seen = groupBy(
    books.flatMap((book) => {
      const at = book.fills.at(-1)?.at
      if (at === undefined) return []
      return accountsAmid(book).map((account) => ({
        strategyId: book.strategyId,
        leverage: accountLeverage(account),
        day: bookedDay(at),
      }))
    }),
    ({ day }) => day,
  )
  for (const [day, rows] of seen) await raiseLeverage(tx, day, rows)
}

/** How far accounts are stretched at these marks; they stand on `day`. */
export const seeLeverage = (
  tx: Transaction,
  day: Day,
  accounts: ReadonlyMap<number, ModelAccount>,
): Promise<void> =>
  raiseLeverage(
    tx,
    day,
    [...accounts].map(([strategyId, account]) => ({ strategyId, leverage: accountLeverage(account) })),
  )

/** Writes books that only time has changed, and what their ends mean elsewhere. */
export async function saveTimed(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly WorkedBook[],
): Promise<number> {
  const told = await spreadNews(tx, books, ctx.clock.now(), ratesOf(ctx))
  return saveOrderBooks(tx, [...told.books, ...told.others])
}

/** A fill dated longer ago is news though other news is younger: its strategy's figures are computed again, as of now. */
const lateAfter = 60_000

async function saveFills(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly SignalBook[],
  trades: ReadonlyMap<string, number>,
): Promise<void> {
  const traded = books.filter((book) => book.fills.length > 0)
  if (traded.length === 0) return
  const fills = traded.flatMap(({ strategyId, instrumentId, terms, fills: booked }) =>
    booked.map(({ price, at, ...fill }) => ({
      tradeId: trades.get(fill.execId) ?? null,
      ...fill,
      strategyId,
      instrumentId,
      px: price,
      fx: terms.fx,
      filledAt: at,
    })),
  )
  const unrated = traded.flatMap(({ terms: { isRated, currency } }) =>
    isRated ? [] : [{ account: bookCurrency, currency }],
  )
  await Promise.all([
    insertFills(tx, fills, ctx.clock.now()),
    savePositions(tx, traded),
    tellUnrated(tx, unrated, ctx.clock.now()),
  ])
  const before = ctx.clock.now() - lateAfter
  const late = fills.filter(({ filledAt }) => filledAt < before)
  await outdateStatistics(tx, [...new Set(late.map(({ strategyId }) => strategyId))])
}
