/**
 * The ends of contracts and of stocks that are delisted. A future may only be closed from 48 hours before the end of its
 * last session: its orders end and what is held is closed at the market. An option ends at the official close of its
 * last trading day: delivered at the strike, paid, or worthless. What is held of a stock that is delisted is paid once
 * somebody knows what is paid for it. Working orders end in C. Everything happens once, in order, however late it is
 * noticed.
 */

import { type Decimal, dec, zero } from '../../domain/decimal.ts'
import { contractExpiring } from '../../domain/margin/model-account.ts'
import { sessionOn, tradeDateAtOrBefore } from '../../domain/market/calendar.ts'
import { cutoffOf, endOfTrading } from '../../domain/market/expiration.ts'
import { midOf } from '../../domain/market/quote.ts'
import { indexOptionRoots } from '../../domain/market/tables/index-options.ts'
import { bookedDay } from '../../domain/market/trading-day.ts'
import { expireOrder } from '../../domain/orders/book-request.ts'
import { marketOrder, submitOrder } from '../../domain/orders/book-submit.ts'
import { expireOption, type OptionExpiry } from '../../domain/positions/option-expiry.ts'
import { type Instant, readDay } from '../../domain/time.ts'
import { loadDailyMarks } from '../../storage/accounts/daily-marks.ts'
import { type LastMark, lockHolders, lockMarks } from '../../storage/accounts/holders.ts'
import {
  claimEnding,
  type EndingRow,
  expireAccountOrders,
  findSettlementValue,
  hasOtherEnds,
  postponeEnd,
  settleAgain,
} from '../../storage/actions/contract-ends.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { quotedInstruments } from '../../storage/market/quotes.ts'
import { markFollowers } from '../../storage/mirror/sync-due.ts'
import { loadModelAccounts } from '../../storage/orders/model-accounts.ts'
import { bookCurrency, causedBy, hasEnded, worked } from '../../storage/orders/order-books.ts'
import { newSignalIds } from '../../storage/orders/signals.ts'
import { markTrades } from '../../storage/strategies/trade-marks.ts'
import { everybody } from '../../storage/work/among.ts'
import { ratesOf, type WorkContext } from '../context.ts'
import { settleLedgers } from './account-ends.ts'
import { bookContext, type SignalBook } from './booking.ts'
import { loadWholeBooks, saveBooks, seeLeverage } from './books.ts'
import { type InternalBook, type InternalTrade, tradeInternally } from './internal-orders.ts'
import { tradesOfToday } from './late-deliveries.ts'

/** The contract that ends next, not later than at `by`; answers how many books it changed. */
export async function endNext(ctx: WorkContext, tx: Transaction, by: Instant): Promise<number> {
  const now = ctx.clock.now()
  const contract = await claimEnding(tx, by)
  if (!contract) return 0
  const end = endOfTrading(contract)
  const cutoff = cutoffOf(contract)
  if (end === null) return postponeEnd(tx, contract.id, null, now)
  const first = cutoff ?? end
  // Entered before its exact moment was known.
  if (first > now) return postponeEnd(tx, contract.id, first, now)
  if (cutoff !== null && contract.dueAt < end) {
    // Where its day was entered within its last hours, it has traded until then.
    const books = await cutOff(ctx, tx, contract, Math.max(cutoff, contract.dueAt))
    return books + (await postponeEnd(tx, contract.id, end, now))
  }
  // A stock trades until somebody says that it trades no more, be it days later.
  return finish(ctx, tx, contract, contract.securityType === 'CS' ? Math.max(end, contract.dueAt) : end)
}

/** Ends the orders of a contract and closes what is held at the market. */
async function cutOff(ctx: WorkContext, tx: Transaction, contract: EndingRow, at: Instant): Promise<number> {
  const books = await booksOf(ctx, tx, [contract.id])
  const closed = books.map((book) => {
    const ended = withoutOrders(book, at)
    const { quantity } = ended.position
    if (quantity.isZero()) return ended
    const order = marketOrder({
      id: `close of ${book.strategyId} in ${book.instrumentId}`,
      side: quantity.isNegative() ? '1' : '2',
      quantity: quantity.abs(),
      positionEffect: 'C',
      info: contractExpiring,
    })
    const result = submitOrder(ended.book, order, bookContext(at))
    const told = worked(ended, result, at, causedBy({ info: contractExpiring }))
    // No quote has made it: like any new order it meets the last one, as the copies of it do.
    return { ...told, isServed: false }
  })
  await saveBooks(ctx, tx, closed)
  return books.length
}

/** The last session is over: what is still held is settled. */
async function finish(ctx: WorkContext, tx: Transaction, contract: EndingRow, end: Instant): Promise<number> {
  const now = ctx.clock.now()
  const settlement = await settlementOf(tx, contract, end)
  const books = await booksOf(ctx, tx, [contract.id])
  const ended = books.map((book) => withoutOrders(book, end))
  await expireAccountOrders(tx, contract.id, { at: end, info: endWords(contract) })
  if (settlement !== null && contract.dueAt < settlement.until) {
    await saveBooks(ctx, tx, ended)
    return books.length + (await postponeEnd(tx, contract.id, settlement.until, now))
  }
  const at = settlement === null ? end : settlement.until
  const marks = await marksAtEnd(tx, contract, at)
  const last = lastPricesOf(contract, marks, settlement?.value ?? null)
  // What ends was held until now, also on a day without a quote; between payment and delivery nobody is looked at.
  const held = contract.endedAt !== null ? [] : ended.filter(({ position }) => !position.quantity.isZero())
  await seeLeverage(tx, bookedDay(at), await loadModelAccounts(tx, held, ratesOf(ctx)))
  const deliveries = await settleBooks(ctx, tx, contract, ended, { last, at })
  await deliver(ctx, tx, contract, deliveries, at)
  if (contract.endedAt === null) await markDelivered(tx, contract, at)
  await settleLedgers(tx, contract, {
    at,
    now,
    endingOf: (quantity, avgPx) => endingOf(contract, quantity, avgPx, last),
  })
  // What the strategy took or gave is no signal that is mirrored: accounts that held less of the contract are apart now.
  const strategyIds = ended.map(({ strategyId }) => strategyId)
  // Last of all, behind what is told with the commit.
  await tx.withCommit(() => markFollowers(tx, strategyIds, now))
  // What was delivered of a stock that is delisted is paid like the rest of it.
  if (contract.underlyingId !== null) await settleAgain(tx, [contract.underlyingId], now)
  return books.length + (await postponeEnd(tx, contract.id, null, now))
}

/** The last prices of a contract and of what it is written on; null where nobody has quoted them, or paid for it. */
interface LastPrices {
  readonly underlying: Decimal | null
  readonly own: Decimal | null
}

const lastPricesOf = (
  { id, underlyingId, securityType }: EndingRow,
  marks: Awaited<ReturnType<typeof marksAtEnd>>,
  settlement: Decimal | null,
): LastPrices =>
  securityType === 'CS'
    ? { underlying: null, own: settlement }
    : { underlying: settlement ?? lastOf(marks.get(underlyingId ?? 0)), own: lastOf(marks.get(id)) }

/** The last marks, locked by the claim; of a contract that is settled again, those of the day on which it was. */
async function marksAtEnd(
  tx: Transaction,
  { id, underlyingId, endedAt }: EndingRow,
  at: Instant,
): Promise<ReadonlyMap<number, Pick<LastMark, 'bid' | 'ask'>>> {
  const ids = [id, underlyingId ?? id]
  if (endedAt === null) return lockMarks(tx, ids)
  const day = bookedDay(at)
  const marks = await loadDailyMarks(tx, ids, day, day)
  return new Map(marks.map((mark) => [mark.instrumentId, mark]))
}

const lastOf = (mark: Pick<LastMark, 'bid' | 'ask'> | undefined): Decimal | null =>
  mark ? midOf(mark) : null

/** What counts in place of the last price, and from when on. */
interface SettlementValue {
  /** Undefined: from then on the last price counts. */
  readonly value: Decimal | undefined
  readonly until: Instant
}

/** A stock is worth what is paid for it, as long as that may take, and so it is for options; null: nobody knows. */
async function settlementOf(
  tx: Transaction,
  contract: EndingRow,
  end: Instant,
): Promise<SettlementValue | null> {
  const { id, lastTradingDay, underlyingId, underlyingEnd, endedAt } = contract
  const [stock, day, before] =
    contract.securityType === 'CS' ? [id, lastTradingDay, null] : [underlyingId, underlyingEnd, endedAt]
  if (stock === null || day === null) return morningValueOf(tx, contract, end)
  const paid = await findSettlementValue(tx, stock, day, before)
  return paid ? { value: paid.amount, until: Math.max(end, paid.enteredAt) } : null
}

/**
 * Morning-settled options wait for the value that their exchange makes of the opening prices, until the close of
 * the day of their expiry; null for all others.
 */
async function morningValueOf(
  tx: Transaction,
  contract: EndingRow,
  end: Instant,
): Promise<SettlementValue | null> {
  const { expiry, lastTradingDay, underlyingId, calendar, endedAt } = contract
  const isMorning = indexOptionRoots.get(contract.root)?.morningSettled === true
  if (!isMorning || expiry === null || underlyingId === null || expiry === lastTradingDay) return null
  const value = await findSettlementValue(tx, underlyingId, expiry, endedAt)
  const day = readDay(expiry)
  const session = day === undefined ? undefined : sessionOn(calendar, tradeDateAtOrBefore(calendar, day))
  const close = session?.close ?? end
  return { value: value?.amount, until: Math.max(end, Math.min(value?.enteredAt ?? close, close)) }
}

/** Fills what a contract's end makes of each position; answers what each strategy takes or gives of the underlying. */
async function settleBooks(
  ctx: WorkContext,
  tx: Transaction,
  contract: EndingRow,
  books: readonly SignalBook[],
  { last, at }: { last: LastPrices; at: Instant },
): Promise<ReadonlyMap<number, InternalTrade>> {
  const held = books.filter(({ position }) => !position.quantity.isZero())
  const ids = (await newSignalIds(tx, held.length * 3)).map(String)
  const deliveries = new Map<number, InternalTrade>()
  const settled = books.map((book) => {
    const { quantity, avgPx } = book.position
    const ending = endingOf(contract, quantity, avgPx, last)
    if (!ending?.option) return book
    const { strike } = contract
    const told =
      strike === null
        ? { price: ending.option.price.toFixed() }
        : { underlyingPrice: last.underlying?.toFixed() ?? null, strike }
    const trade = { at, info: infoOf(contract, ending, quantity), told, ids: ids.splice(0, 1) }
    if (ending.underlying)
      deliveries.set(book.strategyId, { ...ending.underlying, ...trade, ids: ids.splice(0, 2) })
    return tradeInternally(book, { ...ending.option, ...trade })
  })
  await saveBooks(ctx, tx, settled)
  return deliveries
}

/**
 * Fills what is taken or given at the strike, once the contract itself is paid for: drawdowns show what the account is
 * worth at the fill.
 */
async function deliver(
  ctx: WorkContext,
  tx: Transaction,
  { underlyingId, endedAt }: EndingRow,
  deliveries: ReadonlyMap<number, InternalTrade>,
  at: Instant,
): Promise<void> {
  if (underlyingId === null || deliveries.size === 0) return
  const late = { instrumentId: underlyingId, at, now: ctx.clock.now() }
  const trades = endedAt === null ? deliveries : await tradesOfToday(tx, deliveries, late)
  const keys = [...trades.keys()].map((strategyId) => ({ strategyId, instrumentId: underlyingId }))
  const books = await loadWholeBooks(ctx, tx, keys, await quotedInstruments(tx, [underlyingId]))
  const delivered = books.map((book): InternalBook => {
    const trade = trades.get(book.strategyId)
    return trade ? tradeInternally(book, trade) : book
  })
  await saveBooks(ctx, tx, delivered)
}

/**
 * Marks what was delivered with the last price of the underlying, at which accounts count it until somebody quotes it
 * again. Once everything that ends at this moment is delivered: what one option takes another may give.
 */
async function markDelivered(tx: Transaction, contract: EndingRow, at: Instant): Promise<void> {
  const { id, underlyingId } = contract
  if (underlyingId === null || (await hasOtherEnds(tx, { id, underlyingId, at }))) return
  const mark = (await lockMarks(tx, [underlyingId])).get(underlyingId)
  if (mark) await markTrades(tx, [{ ...mark, instrumentId: underlyingId, at }], [], bookCurrency, everybody)
}

/**
 * What becomes of a position; null where nothing is held, of a stock as long as nobody knows what is paid for it, and of
 * currencies. Without a price of its underlying an option closes at its own last one.
 */
function endingOf(
  contract: EndingRow,
  quantity: Decimal,
  avgPx: Decimal | null,
  { underlying, own }: LastPrices,
): OptionExpiry | null {
  const { securityType, putOrCall, strike, settlement } = contract
  if (quantity.isZero() || securityType === 'FOR' || (securityType === 'CS' && own === null)) return null
  if (putOrCall === null || strike === null || underlying === null) {
    const side = quantity.isNegative() ? '1' : '2'
    const price = own ?? (securityType === 'FUT' ? avgPx : null) ?? zero
    return { exercised: false, option: { side, quantity: quantity.abs(), price }, underlying: null }
  }
  return expireOption({
    quantity,
    putOrCall,
    strike: dec(strike),
    pointValue: dec(contract.pointValue),
    settlement: settlement ?? 'physical',
    underlyingClose: underlying,
  })
}

const endWords = ({ securityType }: EndingRow): string =>
  securityType === 'CS' ? 'delisted' : 'contract expired'

function infoOf(contract: EndingRow, { exercised, underlying }: OptionExpiry, quantity: Decimal): string {
  if (contract.securityType !== 'OPT') return endWords(contract)
  if (!exercised) return 'option expired'
  if (underlying === null) return 'option settled in cash'
  return quantity.isNegative() ? 'option assigned' : 'option exercised'
}

/** The whole books of everybody concerned, locked. */
async function booksOf(ctx: WorkContext, tx: Transaction, ids: readonly number[]): Promise<SignalBook[]> {
  const keys = await lockHolders(tx, ids)
  return loadWholeBooks(ctx, tx, keys, await quotedInstruments(tx, ids))
}

/** The book after the end of its live orders; nobody needs to look at exits that end with their contract. */
function withoutOrders(book: SignalBook, at: Instant): SignalBook {
  // Children first: then they end with the contract, and not with their parent.
  const live = [...book.book.orders.values()].filter((order) => !hasEnded(order)).reverse()
  const ended = live.reduce((current, { id }) => {
    const result = expireOrder(current.book, id, bookContext(at))
    return worked(current, result, at, causedBy({ contract: 'ended' }))
  }, book)
  return { ...ended, alerts: book.alerts }
}
