/**
 * What one strategy has in one instrument, and what the market's moments do to it. Pure: a fill moves signal,
 * position and cash together in a new book, which remembers what happened for whoever writes it down.
 * Invariants: a closing order never trades more than the position; an opening order never trades against it;
 * with the position go the orders that would close it and the rest of the entry that opened it.
 */
import { isLive, type OrdType, type PositionEffect, type SecurityType, type Side } from '../domain/codes.ts'
import {
  addTurnover,
  type CommissionRates,
  fillCommission,
  type OrderTurnover,
} from '../domain/commission.ts'
import { type Decimal, roundTo, zero } from '../domain/decimal.ts'
import type { FillPort, SimulatedFill, WorkingOrder } from '../domain/fill.ts'
import { actsAgainst } from '../domain/open-close.ts'
import { applyEvent } from '../domain/order.ts'
import { type OrderEvent, type OrderState, remainingQuantity } from '../domain/order-state.ts'
import { applyFill, type Position, reducible } from '../domain/position.ts'
import type { Instant } from '../domain/time.ts'

export interface BookSignal {
  readonly id: number
  readonly side: Side
  readonly ordType: OrdType
  readonly positionEffect: PositionEffect
  readonly limitPx: Decimal | null
  readonly stopPx: Decimal | null
  readonly postedAt: Instant
  readonly workingAt: Instant
  readonly expiresAt: Instant | null
  readonly needsMatch: boolean
  readonly order: OrderState
  readonly isTriggered: boolean
  /** Its own fills, by which executions are numbered and commission is charged. */
  readonly fills: number
  readonly turnover: OrderTurnover
  readonly endedAt: Instant | null
  readonly info: string | null
}

/** How the fills of a book become money. */
export interface BookTerms {
  readonly securityType: SecurityType
  /** Of the instrument's prices. */
  readonly currency: string
  readonly pointValue: Decimal
  readonly fx: Decimal
  /** Null: no commission. */
  readonly rates: CommissionRates | null
}

export interface BookedFill {
  readonly execId: string
  readonly signal: BookSignal
  readonly quantity: Decimal
  readonly price: Decimal
  readonly commission: Decimal
  readonly cashChange: Decimal
  readonly at: Instant
}

export interface BookedEvent {
  readonly signalId: number
  readonly event: OrderEvent['event']
  readonly status: OrderState['status']
  readonly at: Instant
  readonly cause: Record<string, unknown>
}

export interface SignalBook {
  readonly strategyId: number
  readonly instrumentId: number
  readonly terms: BookTerms
  readonly position: Position
  readonly openedAt: Instant | null
  readonly signals: ReadonlyMap<number, BookSignal>
  readonly fills: readonly BookedFill[]
  readonly events: readonly BookedEvent[]
}

/** A quote or a bar as the book sees it. */
export interface MarketMoment {
  takesPart(signal: BookSignal): boolean
  timeOf(phase: SimulatedFill['phase'], signal: BookSignal): Instant
  /** The market's price before slippage. */
  seenPrice(phase: SimulatedFill['phase'], signal: BookSignal): Decimal
  /** What is written beside each event as its cause. */
  readonly seen: Record<string, unknown>
}

/** Opens a book to the fill simulation at one moment of the market. */
export function bookingPort(moment: MarketMoment): FillPort<SignalBook> {
  return {
    working: (book) =>
      [...book.signals.values()]
        .filter((signal) => isLive(signal.order.status) && !signal.order.held && moment.takesPart(signal))
        .map((signal) => workingOrder(book, signal)),
    trigger: (book, orderId) => withSignal(book, { ...signalOf(book, orderId), isTriggered: true }),
    fill: (book, fill) => fillSignal(book, fill, moment),
  }
}

function workingOrder(book: SignalBook, signal: BookSignal): WorkingOrder {
  const left = remainingQuantity(signal.order)
  return {
    id: String(signal.id),
    side: signal.side,
    type: signal.ordType,
    openClose: signal.positionEffect,
    leaves: signal.positionEffect === 'C' ? reducible(book.position.quantity, signal.side, left) : left,
    limit: signal.limitPx,
    stop: signal.stopPx,
    acceptedAt: signal.postedAt,
    workingSince: signal.workingAt,
    triggered: signal.isTriggered,
    exitOf: null,
  }
}

function fillSignal(
  book: SignalBook,
  fill: SimulatedFill,
  moment: MarketMoment,
): { readonly book: SignalBook; readonly quantity: Decimal } {
  const signal = signalOf(book, fill.orderId)
  const at = moment.timeOf(fill.phase, signal)
  const { quantity: held } = book.position
  if (signal.positionEffect === 'O' && actsAgainst(signal.side, held)) {
    const cause = { ...moment.seen, position: held.toFixed() }
    return { book: endSignal(book, signal, at, 'position changed', cause), quantity: zero }
  }
  const { quantity } = fill
  const slippage = fill.price.minus(moment.seenPrice(fill.phase, signal)).abs()
  const booked = bookFill(book, signal, fill, at, {
    ...moment.seen,
    phase: fill.phase,
    slippage: slippage.toFixed(),
  })
  const isFlat = booked.position.quantity.isZero()
  return { book: isFlat ? endWithPosition(booked, at, { closedBy: signal.id }) : booked, quantity }
}

function bookFill(
  book: SignalBook,
  signal: BookSignal,
  { quantity, price }: SimulatedFill,
  at: Instant,
  seen: Record<string, unknown>,
): SignalBook {
  const { terms } = book
  const change = applyFill(book.position, { side: signal.side, quantity, price }, terms)
  const turnover = addTurnover(signal.turnover, {
    quantity,
    price,
    pointValue: terms.pointValue.times(terms.fx),
  })
  const commission = terms.rates ? fillCommission(terms.rates, signal.turnover, turnover) : zero
  const { order } = applyEvent(signal.order, { event: 'FILL', quantity, price })
  const fills = signal.fills + 1
  const execId = `S${signal.id}-${fills}`
  const moved = { ...signal, order, turnover, fills, endedAt: isLive(order.status) ? null : at }
  // The ledger keeps twelve decimals; rounding each entry once keeps cash the exact sum of its entries.
  const cashChange = roundTo(change.cash.minus(commission), 12)
  const cause = {
    execId,
    quantity: quantity.toFixed(),
    price: price.toFixed(),
    commission: commission.toFixed(),
    fx: terms.fx.toFixed(),
    ...(signal.isTriggered && { isTriggered: true }),
    positionBefore: book.position.quantity.toFixed(),
    ...seen,
  }
  return {
    ...withSignal(book, moved),
    position: change.position,
    openedAt: openedAtAfter(book, change.position, change.opened, at),
    fills: [...book.fills, { execId, signal, quantity, price, commission, cashChange, at }],
    events: [...book.events, { signalId: signal.id, event: 'FILL', status: order.status, at, cause }],
  }
}

/** A position is as old as the fill that opened it from flat, or that carried it through zero. */
function openedAtAfter(book: SignalBook, position: Position, opened: Decimal, at: Instant): Instant | null {
  if (position.quantity.isZero()) return null
  const isNew = position.quantity.abs().equals(opened)
  return isNew ? at : (book.openedAt ?? at)
}

/** The position is gone: closing orders have nothing left to close, and more of its entry would stand alone. */
function endWithPosition(book: SignalBook, at: Instant, cause: Record<string, unknown>): SignalBook {
  const over = [...book.signals.values()].filter(
    ({ order, positionEffect }) =>
      (order.status === '0' || order.status === '1') && (positionEffect === 'C' || order.status === '1'),
  )
  return over.reduce((ended, signal) => endSignal(ended, signal, at, 'position closed', cause), book)
}

function endSignal(
  book: SignalBook,
  signal: BookSignal,
  at: Instant,
  info: string,
  cause: Record<string, unknown>,
): SignalBook {
  const { order } = applyEvent(signal.order, { event: 'UNSOLICITED_CANCEL' })
  const event = {
    signalId: signal.id,
    event: 'UNSOLICITED_CANCEL',
    status: order.status,
    at,
    cause: { ...cause, info },
  } as const
  return { ...withSignal(book, { ...signal, order, info, endedAt: at }), events: [...book.events, event] }
}

function signalOf(book: SignalBook, orderId: string): BookSignal {
  const signal = book.signals.get(Number(orderId))
  if (!signal) throw new RangeError(`no signal ${orderId} in the book`)
  return signal
}

const withSignal = (book: SignalBook, signal: BookSignal): SignalBook => ({
  ...book,
  signals: new Map(book.signals).set(signal.id, signal),
})
