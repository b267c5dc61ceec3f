/**
 * Cancel and replace of a strategy's order. The platform's own venue confirms at once, so request and
 * confirmation happen in one transaction; both are still recorded as events. Two requests at the same instant
 * wait for each other at the strategy's row, and the later one is answered from what the first left.
 */

import { isLive } from '../../domain/codes.ts'
import { dec, zero } from '../../domain/decimal.ts'
import { openingRejection } from '../../domain/margin/model-account.ts'
import { cancelOrder as cancelInBook, requestReplacement } from '../../domain/orders/book-request.ts'
import type { BookContext, BookResult } from '../../domain/orders/order-book.ts'
import { answerRequest, type RequestRefusal } from '../../domain/orders/order-request.ts'
import { currentPriceOf, immutableDifference } from '../../domain/orders/placing.ts'
import { ownsStrategy } from '../../domain/people/access.ts'
import { chargedRates } from '../../domain/positions/tables/commission-plans.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { instant } from '../../storage/database/wire.ts'
import { spreadNews } from '../../storage/orders/book-families.ts'
import { accountsOf } from '../../storage/orders/model-accounts.ts'
import { causedBy, loadOrderBooks, type WorkedBook, worked } from '../../storage/orders/order-books.ts'
import { loadPlacing, type PlacingRow } from '../../storage/orders/placing.ts'
import { noWish, type SavedBook, type SignalWish, saveOrderBooks } from '../../storage/orders/save-books.ts'
import { findSignal, lockStrategies, type StoredSignal } from '../../storage/orders/signals.ts'
import { loadStrategyFacts } from '../../storage/people/access.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import { refusedSplit } from '../symbols.ts'
import {
  draftOf,
  type OrderCall,
  type OrderDraft,
  readOrder,
  refusedPrice,
  staysUnsynced,
} from './order-draft.ts'
import type { SignalIds } from './order-placement.ts'

/** What the table of requests answers to one for this signal. */
function answerFor(signal: StoredSignal, request: 'cancel' | 'replace') {
  const filledQuantity = dec(signal.cumQty)
  const order = {
    id: signal.id,
    status: signal.status,
    orderQuantity: dec(signal.orderQty),
    filledQuantity,
    filledValue: signal.avgPx === null ? zero : filledQuantity.times(signal.avgPx),
    acknowledged: !signal.isHeld,
    held: signal.isHeld,
  }
  return answerRequest([order], signal.id, request)
}

const contextOf = (ctx: Context): BookContext => ({
  at: ctx.now,
  newId: (kind, orderId) => `${kind} of ${orderId}`,
  rejection: () => null,
})

/** The book that the signal stands in; it is alive, so there is one. */
async function bookOf(sql: Sql, signal: StoredSignal): Promise<WorkedBook> {
  const [book] = await loadOrderBooks(sql, [signal])
  if (!book) throw new Error(`signal ${signal.id} is in no book`)
  return book
}

/** Writes what a request did, here and in the strategy's other symbols. */
async function save(
  sql: Sql,
  ctx: Context,
  book: WorkedBook,
  result: BookResult,
  more: Partial<SavedBook> = {},
): Promise<void> {
  if (result.refusal) throw new Error(`the book refuses what the table allows: ${result.refusal}`)
  const { requestId } = ctx
  const done = worked(book, result, ctx.now, causedBy({ requestId }))
  const { books, others } = await spreadNews(sql, [done], ctx.now, chargedRates(ctx.charging))
  const saved = books.map((changed): SavedBook => ({ ...changed, requestId, ...more }))
  await saveOrderBooks(sql, [...saved, ...others], { wakes: true })
}

/** Cancels a signal of the strategy; canceling a canceled one succeeds and changes nothing. Answers its id. */
export async function cancelOrder(
  ctx: Context,
  strategyId: number | bigint,
  signalId: number | bigint,
): Promise<number | Refused> {
  const { sql } = ctx
  await lockStrategies(sql, [strategyId])
  const signal = await findSignal(sql, signalId)
  if (!signal) return refuse('NotFound', 'SignalId')
  if (BigInt(signal.strategyId) !== BigInt(strategyId)) return refuse('Forbidden', 'SignalId')
  const answer = answerFor(signal, 'cancel')
  if (!answer.accepted) return refuse('CancelRejected', 'SignalId')
  if (!answer.changed) return signal.id
  const book = await bookOf(sql, signal)
  await save(sql, ctx, book, cancelInBook(book.book, String(signal.id), contextOf(ctx)))
  return signal.id
}

const replaceRefusal: Record<RequestRefusal, Refused> = {
  finished: refuse('CancelRejected', 'Order.CancelReplaceSignalId'),
  notAcknowledged: refuse(
    'ReplaceRejected',
    'Order.CancelReplaceSignalId',
    'The order is not acknowledged yet',
  ),
  requestPending: refuse(
    'ReplaceRejected',
    'Order.CancelReplaceSignalId',
    'A request of the order is pending',
  ),
}

/**
 * Replaces a signal by a new one whose quantity is the total of the chain. Answers the new id, and until when it is
 * parked.
 */
export async function replaceOrder(sql: Sql, { ctx, order }: OrderCall): Promise<SignalIds | Refused> {
  const named = readOrder({ ctx, order })
  if (isRefused(named)) return named
  const strategy = (await lockStrategies(sql, [order.StrategyId])).get(Number(order.StrategyId))
  const signal = await findSignal(sql, order.CancelReplaceSignalId ?? 0)
  if (!signal) return refuse('NotFound', 'Order.CancelReplaceSignalId')
  if (!strategy || signal.strategyId !== strategy.id) return refusedElsewhere(sql, ctx, signal)
  const { rows, holdings } = await loadPlacing(sql, [{ strategyId: strategy.id, ...named }])
  const row = rows.get(0)
  if (!row?.isTradable) return refuse('InvalidSymbol', 'Symbol')
  const refusal = refusedSplit(row, ctx.now) ?? refusedChange({ ctx, order }, signal, row)
  if (refusal) return refusal
  const answer = answerFor(signal, 'replace')
  if (!answer.accepted) return replaceRefusal[answer.refusal]
  const draft = draftOf(order)
  const book = await bookOf(sql, signal)
  const replacement = {
    newId: String(row.signalId),
    quantity: draft.quantity,
    type: draft.ordType,
    timeInForce: draft.timeInForce,
    limit: draft.limitPx ?? null,
    stop: draft.stopPx ?? null,
  }
  const accounts = await accountsOf(
    sql,
    holdings,
    new Map([[strategy.id, strategy]]),
    chargedRates(ctx.charging),
  )
  const rejection = openingRejection(accounts.get(strategy.id), row.instrumentId, ctx.now)
  const context = { ...contextOf(ctx), rejection }
  const result = requestReplacement(book.book, String(signal.id), replacement, context)
  const isRejected = result.outcome === 'rejected'
  const parkedUntil = isRejected ? null : releaseOf(signal, { ctx, order })
  const wish = isRejected
    ? { ...noWish, referencePx: referenceOf(draft, row) }
    : wishOf(signal, draft, row, parkedUntil)
  await save(sql, ctx, book, result, { wishes: new Map([[replacement.newId, wish]]) })
  const isParked = parkedUntil !== null && parkedUntil > ctx.now
  return { SignalId: row.signalId, ...(isParked && { ParkedUntilDate: parkedUntil }) }
}

const unchangeable = 'A replacement cannot change it'

/** A signal of another strategy is no business of the caller's, unless that is the caller's own as well. */
async function refusedElsewhere(sql: Sql, { caller }: Context, signal: StoredSignal): Promise<Refused> {
  const [facts] = await loadStrategyFacts(sql, [signal.strategyId], [caller.personId])
  return facts && ownsStrategy(caller, facts)
    ? refuse('InvalidParameter', 'Order.StrategyId', unchangeable)
    : refuse('Forbidden', 'Order.CancelReplaceSignalId')
}

/**
 * A parked order keeps its date unless the replacement names another. One that is past releases it now, not at that
 * moment: its day would be over, and it would meet bars that are older than itself.
 */
function releaseOf({ isParked, parkedUntil }: StoredSignal, { ctx, order }: OrderCall): Instant | null {
  const date = order.ParkedUntilDate ?? parkedUntil
  return isParked && date !== null ? Math.max(date, ctx.now) : null
}

/** Why the replacement cannot be what was sent; undefined when it can. */
function refusedChange(
  { ctx, order }: OrderCall,
  signal: StoredSignal,
  row: PlacingRow,
): Refused | undefined {
  const draft = draftOf(order)
  const difference = immutableDifference(signal, draft, row.instrumentId)
  if (difference) return refuse('InvalidParameter', `Order.${difference}`, unchangeable)
  const { ParentSignalId: parent, ParkedUntilDate: parked } = order
  if (parent !== undefined && String(parent) !== String(signal.parentSignalId))
    return refuse('InvalidParameter', 'Order.ParentSignalId', unchangeable)
  if (parked !== undefined && parked > ctx.now && !signal.isParked && isLive(signal.status))
    return refuse(
      'InvalidParameter',
      'Order.ParkedUntilDate',
      'Only an order that is still parked can be parked until another date',
    )
  return refusedPrice(draft, row.tick)
}

const referenceOf = ({ side }: OrderDraft, { bid, ask }: PlacingRow): string | null =>
  currentPriceOf(side, bid, ask)?.toFixed() ?? null

/** What the replacement takes over, and what it is sized with. */
function wishOf(
  signal: StoredSignal,
  draft: OrderDraft,
  row: PlacingRow,
  parkedUntil: Instant | null,
): SignalWish {
  return {
    doNotSyncToOpen: staysUnsynced(draft, signal.positionEffect),
    fromDesired: false,
    parkedUntil: instant(parkedUntil),
    profitTarget: signal.profitTarget,
    stopLoss: signal.stopLoss,
    doNotCreateOcaGroup: signal.doNotCreateOcaGroup,
    referencePx: referenceOf(draft, row),
  }
}
