/**
 * Margin calls: whenever a mark has moved, the accounts of those whose margin depends on it are looked at, and those of
 * whom it has put out of their position; after a fill against a mark that stays, those of who has traded. Where
 * buying power is negative the positions that free the most margin are closed at the market, as much as is
 * needed and only where the market is open. A strategy has one call at a time.
 */

import { type MarginCallOrder, wholeMarginCall } from '../../domain/margin/margin-call.ts'
import {
  buyingPower,
  type Holding,
  type ModelAccount,
  marginableValue,
  marginPositions,
} from '../../domain/margin/model-account.ts'
import { isTrading } from '../../domain/market/expiration.ts'
import { runningDay } from '../../domain/market/trading-day.ts'
import { marketOrder, submitOrder } from '../../domain/orders/book-submit.ts'
import { emptyBook } from '../../domain/orders/order-book.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { loadQuotedInstruments, type QuotedInstrument } from '../../storage/market/quotes.ts'
import {
  claimMarked,
  isMarginDue,
  listCalled,
  loadModelAccounts,
} from '../../storage/orders/model-accounts.ts'
import { causedBy, unworked, worked } from '../../storage/orders/order-books.ts'
import { noWish, type SavedBook, saveOrderBooks } from '../../storage/orders/save-books.ts'
import { lockStrategies } from '../../storage/orders/signals.ts'
import { ratesOf, type Step, type WorkContext } from '../context.ts'
import { accountOf, bookContext, type SignalBook } from './booking.ts'
import { seeLeverage } from './books.ts'

/** What the orders of a call say of themselves. */
const info = 'margin call'

/** Instruments whose holders one transaction looks at. */
const instrumentsAtOnce = 100

/** Closes what margin does not bear; answers how many rows moved. */
export async function callMargins(ctx: WorkContext): Promise<number> {
  const now = ctx.clock.now()
  return ctx.db.transaction(async (tx) => {
    const holders = await claimMarked(tx, info, instrumentsAtOnce)
    const seen = await loadModelAccounts(tx, holders, ratesOf(ctx))
    await seeLeverage(tx, runningDay(now), seen)
    const short = holders.filter(({ strategyId }) => isShort(seen.get(strategyId)))
    if (short.length === 0) return 0
    await lockStrategies(
      tx,
      short.map(({ strategyId }) => strategyId),
    )
    // Read again: under the lock nothing moves any more.
    return callShort(ctx, tx, await loadModelAccounts(tx, short, ratesOf(ctx)))
  })
}

/** Looks at the accounts of these books, which have just been saved: a fill marks as a quote does. */
export async function callTraded(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly SignalBook[],
): Promise<number> {
  const traded = books.filter(({ fills }) => fills.length > 0)
  const known = new Map(
    traded.flatMap((book) => {
      const account = accountOf(book)
      return account ? [[book.strategyId, account] as const] : []
    }),
  )
  const others = traded.filter(({ strategyId }) => !known.has(strategyId))
  const loaded = await loadModelAccounts(tx, others, ratesOf(ctx))
  return callShort(ctx, tx, new Map([...known, ...loaded]))
}

/**
 * Looks at the accounts of those whom a price has just put out of an instrument. They hold it no longer, so its mark
 * does not find them, and what they lost may leave the rest uncovered.
 */
export async function callFlattened(
  ctx: WorkContext,
  tx: Transaction,
  books: readonly SignalBook[],
): Promise<number> {
  const left = books.filter(({ fills, position }) => fills.length > 0 && position.quantity.isZero())
  if (left.length === 0) return 0
  return callShort(ctx, tx, await loadModelAccounts(tx, left, ratesOf(ctx)))
}

const isShort = (account: ModelAccount | undefined): boolean =>
  account !== undefined && buyingPower(account).isNegative()

/** Places the orders of those whose buying power is negative; their strategies are locked. */
async function callShort(
  ctx: WorkContext,
  tx: Transaction,
  accounts: ReadonlyMap<number, ModelAccount>,
): Promise<number> {
  const now = ctx.clock.now()
  const short = [...accounts].filter(([, account]) => isShort(account))
  if (short.length === 0) return 0
  // Asked under the lock: of two who look at once the second one finds the call of the first.
  const called = await listCalled(
    tx,
    short.map(([strategyId]) => strategyId),
    info,
  )
  const ids = short.flatMap(([, { holdings }]) => holdings.map((one) => one.instrumentId))
  const instruments = await loadQuotedInstruments(tx, [], [...new Set(ids)])
  const books = short
    .filter(([strategyId]) => !called.has(strategyId))
    .flatMap(([strategyId, account]) => closings(strategyId, account, instruments, now))
  return saveOrderBooks(tx, books)
}

/** The closing orders of one strategy's call, each in a book of its own. */
function closings(
  strategyId: number,
  account: ModelAccount,
  instruments: readonly QuotedInstrument[],
  now: Instant,
): SavedBook[] {
  const isMarketOpen = (symbol: string): boolean => {
    const instrument = instruments.find((candidate) => candidate.symbol === symbol)
    return instrument !== undefined && isTrading(instrument, now)
  }
  const value = marginableValue(account)
  const orders = wholeMarginCall(marginPositions(account), value, isMarketOpen)
  const power = buyingPower(account).toFixed()
  return orders.flatMap((order) => {
    const holding = account.holdings.find(({ instrument }) => instrument.symbol === order.symbol)
    const instrument = instruments.find(({ symbol }) => symbol === order.symbol)
    if (!holding || !instrument) return []
    const key = { strategyId, instrumentId: instrument.id, calendar: instrument.calendar }
    return [closing(key, holding, order, { now, value: value.toFixed(), power })]
  })
}

function closing(
  key: Parameters<typeof unworked>[0],
  { quantity: held, bid, ask }: Holding,
  { side, quantity }: MarginCallOrder,
  { now, value, power }: { now: Instant; value: string; power: string },
): SavedBook {
  const id = `${info} of ${key.strategyId} in ${key.instrumentId}`
  const empty = unworked(key, emptyBook(held))
  const draft = marketOrder({ id, side, quantity, timeInForce: '0', positionEffect: 'C', info })
  const result = submitOrder(empty.book, draft, bookContext(now))
  const cause = causedBy({ modelAccountValue: value, buyingPower: power, info })
  const referencePx = (side === '1' ? ask : bid)?.toFixed() ?? null
  return {
    wishes: new Map([[id, { ...noWish, referencePx }]]),
    ...worked(empty, result, now, cause),
  }
}

/** Marks that moved wait to be looked at. */
export const marginCallStep: Step = {
  name: 'callMargins',
  due: () => isMarginDue,
  run: callMargins,
}
