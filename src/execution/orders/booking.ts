/**
 * What one strategy has in one instrument, and what the market's moments do to it. Pure: a fill moves orders,
 * position and cash together in a new book, which remembers what happened for whoever writes it down. What a
 * fill means for the other orders is decided by the rules of the order book.
 */

import type { SecurityType, Side } from '../../domain/codes.ts'
import { type Decimal, ledgerPlaces, roundTo, zero } from '../../domain/decimal.ts'
import {
  afterTrades,
  type Intent,
  type ModelAccount,
  openingRefusal,
  openingRejection,
} from '../../domain/margin/model-account.ts'
import { fillOrder, triggerStop, workingOrder, workingOrders } from '../../domain/orders/book-fill.ts'
import { withdrawOrder } from '../../domain/orders/book-request.ts'
import type { FillPort, SimulatedFill, WorkingOrder } from '../../domain/orders/fill.ts'
import type { BookContext, BookEvent, BookOrder } from '../../domain/orders/order-book.ts'
import { withEntry } from '../../domain/orders/overlay-map.ts'
import {
  addTurnover,
  type CommissionRates,
  fillCommission,
  type OrderTurnover,
} from '../../domain/positions/commission.ts'
import { actsAgainst } from '../../domain/positions/open-close.ts'
import { applyFill, openedAtAfter, type Position } from '../../domain/positions/position.ts'
import type { Instant } from '../../domain/time.ts'
import { causedBy, type SignalFacts, type WorkedBook, worked } from '../../storage/orders/order-books.ts'

/** How the fills of a book become money. */
export interface BookTerms {
  readonly securityType: SecurityType
  /** Of the instrument's prices. */
  readonly currency: string
  readonly pointValue: Decimal
  readonly fx: Decimal
  /** The rate is quoted; otherwise it is the last one, or one. */
  readonly isRated: boolean
  /** Null: no commission. */
  readonly rates: CommissionRates | null
}

export interface BookedFill {
  readonly execId: string
  readonly signalId: number
  readonly side: Side
  readonly quantity: Decimal
  readonly price: Decimal
  readonly commission: Decimal
  readonly cashChange: Decimal
  readonly at: Instant
}

/** Own fills of an order, by which executions are numbered and commission is charged. */
interface Progress {
  readonly fills: number
  readonly turnover: OrderTurnover
}

export interface SignalBook extends WorkedBook {
  readonly terms: BookTerms
  readonly position: Position
  readonly openedAt: Instant | null
  readonly progress: ReadonlyMap<string, Progress>
  readonly fills: readonly BookedFill[]
  /** What these brought and cost together. */
  readonly cashChange: Decimal
  /** The strategy's money before this book's fills; null where no order of it opens anything. */
  readonly account: ModelAccount | null
}

/** The strategy's account with what this book has traded; null where no order of it opens anything. */
export const accountOf = ({ account, instrumentId, position, cashChange }: SignalBook): ModelAccount | null =>
  account && afterTrades(account, instrumentId, position, cashChange)

/** The strategy's account as this book's fills met it, and as each of them left it. */
export function accountsAmid({ account, instrumentId, fills, terms }: SignalBook): ModelAccount[] {
  const held = account?.holdings.find((holding) => holding.instrumentId === instrumentId)
  if (!account || !held) return []
  const accounts = [account]
  let cash = zero
  let position: Position = { quantity: held.quantity, avgPx: held.avgPx, avgCost: held.avgPx }
  for (const fill of fills) {
    position = applyFill(position, fill, terms).position
    cash = cash.plus(fill.cashChange)
    accounts.push(afterTrades(account, instrumentId, position, cash))
  }
  return accounts
}

/** A quote or a bar as the book sees it. */
export interface MarketMoment {
  /** `facts` are unknown of an order that the moment itself set to work. */
  takesPart(order: WorkingOrder, facts: SignalFacts | undefined): boolean
  timeOf(phase: SimulatedFill['phase'], order: Pick<WorkingOrder, 'workingSince'>): Instant
  /** The market's price before slippage. */
  seenPrice(phase: SimulatedFill['phase'], order: Pick<WorkingOrder, 'side' | 'limit' | 'stop'>): Decimal
  /** What is written beside each event as its cause. */
  readonly seen: Record<string, unknown>
}

/** Opens a book to the fill simulation at one moment of the market. */
export function bookingPort(moment: MarketMoment): FillPort<SignalBook> {
  const takesPart = (book: SignalBook, order: WorkingOrder): boolean => {
    const hasStarted = book.before.orders.get(order.id)?.workingSince === order.workingSince
    return moment.takesPart(order, hasStarted ? book.facts.get(order.id) : undefined)
  }
  return {
    working: (book) => workingOrders(book.book).filter((order) => takesPart(book, order)),
    find: (book, orderId) => {
      const order = workingOrder(book.book, orderId)
      return order && takesPart(book, order) ? order : undefined
    },
    trigger: (book, orderId) => ({ ...book, book: triggerStop(book.book, orderId) }),
    fill: (book, fill) => fillSignal(book, fill, moment),
  }
}

/** What rules ask of a platform that confirms everything itself; new orders get their ids when they are saved. */
export const bookContext = (at: Instant, rejection: BookContext['rejection'] = () => null): BookContext => ({
  at,
  newId: (kind, orderId) => `${kind} of ${orderId} at ${at}`,
  rejection,
})

function fillSignal(
  book: SignalBook,
  fill: SimulatedFill,
  moment: MarketMoment,
): { readonly book: SignalBook; readonly quantity: Decimal } {
  const order = orderIn(book, fill.orderId)
  const at = moment.timeOf(fill.phase, { workingSince: order.workingSince ?? order.acceptedAt })
  const account = accountOf(book)
  const context = bookContext(at, rejectionAmid(book, order, fill, at))
  const cause = { position: book.position.quantity.toFixed(), ...moment.seen }
  // What would act against the position ends for that, whatever it would cost.
  const isAsked = account !== null && !actsAgainst(order.side, book.book.position)
  const refusal = isAsked ? openingRefusal(account, intentOf(book, order, fill)) : null
  if (refusal !== null) {
    const result = withdrawOrder(book.book, order.id, refusal, context)
    return { book: worked(book, result, at, causedBy(cause)), quantity: zero }
  }
  const result = fillOrder(book.book, order.id, fill, context)
  const { quantity } = result
  if (quantity.isZero()) return { book: worked(book, result, at, causedBy(cause)), quantity }
  const booked = bookMoney(book, order, { ...fill, quantity }, at)
  const slippage = fill.price.minus(moment.seenPrice(fill.phase, order)).abs()
  const seen = { phase: fill.phase, slippage: slippage.toFixed(), ...moment.seen }
  const told = { ...fillCause(book, order, booked), ...seen }
  const causeOf = (event: BookEvent): Record<string, unknown> =>
    event.event === 'FILL' ? told : causedBy({ byFillOf: Number(order.id) })(event)
  return { book: worked(booked, result, at, causeOf), quantity }
}

/** What a fill sets to work is held against the account as the fill leaves it: spread and commission are paid by then. */
const rejectionAmid =
  (book: SignalBook, order: BookOrder, fill: SimulatedFill, at: Instant): BookContext['rejection'] =>
  (started, position) => {
    const quantity = position.minus(book.book.position).abs()
    const account = accountOf(bookMoney(book, order, { ...fill, quantity }, at)) ?? undefined
    return openingRejection(account, book.instrumentId, at)(started, position)
  }

const nothingYet: Progress = { fills: 0, turnover: { quantity: zero, notional: zero } }

/** What a fill would cost the order beside its price, and how far the order is then. */
function chargeOf(
  { terms, progress }: SignalBook,
  order: BookOrder,
  { quantity, price }: Pick<SimulatedFill, 'quantity' | 'price'>,
): { readonly commission: Decimal; readonly progress: Progress } {
  const before = progress.get(order.id) ?? nothingYet
  const pointValue = terms.pointValue.times(terms.fx)
  const turnover = addTurnover(before.turnover, { quantity, price, pointValue })
  const commission = terms.rates ? fillCommission(terms.rates, before.turnover, turnover) : zero
  return { commission, progress: { fills: before.fills + 1, turnover } }
}

const intentOf = (book: SignalBook, order: BookOrder, fill: SimulatedFill): Intent => ({
  instrumentId: book.instrumentId,
  side: order.side,
  positionEffect: order.positionEffect,
  quantity: fill.quantity,
  price: fill.price,
  commission: chargeOf(book, order, fill).commission,
})

/** Moves position and cash by a fill of the order. */
function bookMoney(
  book: SignalBook,
  order: BookOrder,
  { quantity, price }: SimulatedFill,
  at: Instant,
): SignalBook {
  const change = applyFill(book.position, { side: order.side, quantity, price }, book.terms)
  const { commission, progress } = chargeOf(book, order, { quantity, price })
  // The ledger keeps twelve decimals; rounding each entry once keeps cash the exact sum of its entries.
  const cashChange = roundTo(change.cash.minus(commission), ledgerPlaces)
  const fill: BookedFill = {
    execId: `S${order.id}-${progress.fills}`,
    signalId: Number(order.id),
    side: order.side,
    quantity,
    price,
    commission,
    cashChange,
    at,
  }
  return {
    ...book,
    position: change.position,
    openedAt: openedAtAfter(book.openedAt, change, at),
    progress: withEntry(book.progress, order.id, progress),
    fills: [...book.fills, fill],
    cashChange: book.cashChange.plus(cashChange),
  }
}

/** The numbers a fill was decided from, with the book before it. */
function fillCause(before: SignalBook, order: BookOrder, after: SignalBook): Record<string, unknown> {
  const fill = after.fills.at(-1)
  return {
    execId: fill?.execId,
    quantity: fill?.quantity.toFixed(),
    price: fill?.price.toFixed(),
    commission: fill?.commission.toFixed(),
    fx: before.terms.fx.toFixed(),
    ...(order.isTriggered && { isTriggered: true }),
    positionBefore: before.position.quantity.toFixed(),
  }
}

function orderIn({ book }: SignalBook, orderId: string): BookOrder {
  const order = book.orders.get(orderId)
  if (!order) throw new RangeError(`no signal ${orderId} in the book`)
  return order
}
