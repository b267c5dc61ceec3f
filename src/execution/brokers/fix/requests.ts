/**
 * What is asked of a FIX broker, as messages of FIX 4.4: an order and its instrument go in, the fields come out, only ids
 * are drawn by lot. Prices and quantities stay the decimal text they are. Each cancel has an id of its own that begins
 * with the order's, so an answer that names the cancel alone still leads to the order.
 */
import { randomBytes } from 'node:crypto'
import type { Side } from '../../../domain/codes.ts'
import { dec } from '../../../domain/decimal.ts'
import type { Instant } from '../../../domain/time.ts'
import type { FixOrder } from '../../../storage/brokers/fix-sessions.ts'
import type { OrderTicket } from '../broker.ts'
import type { FixRequest } from './message.ts'

/** What a broker wants to be told beyond the standard. */
export interface RequestHabits {
  /** A sale that opens a stock position is Side 5, sell short, instead of 2. */
  readonly marksShortSales: boolean
}

/** A short name that no other request of these days has: upper-case letters and digits. */
export const nonce = (): string =>
  BigInt(`0x${randomBytes(6).toString('hex')}`)
    .toString(36)
    .toUpperCase()

/** Whether a text can be a value: a control character would end the field and begin another. */
export const isSendable = (text: string): boolean => /^[\x20-\x7e]+$/.test(text)

/** NewOrderSingle (D). */
export const newOrder = (
  ticket: OrderTicket,
  order: FixOrder,
  at: Instant,
  habits: RequestHabits,
): FixRequest => ({
  type: 'D',
  fields: {
    ClOrdID: ticket.clientOrderId,
    ...termsOf(ticket, order, at, habits),
    PositionEffect: ticket.positionEffect,
  },
})

/** OrderCancelReplaceRequest (G); the quantity is the chain's total. */
export const replaceOrder = (
  ticket: OrderTicket & { readonly replacesClientOrderId: string },
  order: FixOrder,
  at: Instant,
  habits: RequestHabits,
): FixRequest => ({
  type: 'G',
  fields: {
    OrigClOrdID: ticket.replacesClientOrderId,
    ClOrdID: ticket.clientOrderId,
    ...termsOf(ticket, order, at, habits),
  },
})

/** OrderCancelRequest (F). */
export const cancelOrder = (
  cancelId: string,
  order: FixOrder,
  at: Instant,
  habits: RequestHabits,
): FixRequest => ({
  type: 'F',
  fields: {
    OrigClOrdID: order.clientOrderId,
    ClOrdID: cancelId,
    Account: order.account,
    Instrument: instrumentOf(order),
    Side: sideOf(order, habits),
    TransactTime: new Date(at),
    OrderQtyData: { OrderQty: plain(order.orderQty) },
  },
})

/** OrderStatusRequest (H). */
export const askOrder = (requestId: string, order: FixOrder, habits: RequestHabits): FixRequest => ({
  type: 'H',
  fields: {
    ClOrdID: order.clientOrderId,
    OrdStatusReqID: requestId,
    Account: order.account,
    Instrument: instrumentOf(order),
    Side: sideOf(order, habits),
  },
})

/** OrderMassStatusRequest (AF) for all working orders of an account. */
export const askWorking = (requestId: string, account: string): FixRequest => ({
  type: 'AF',
  fields: { MassStatusReqID: requestId, MassStatusReqType: 7, Account: account },
})

/** RequestForPositions (AN) for all positions of an account. */
export const askPositions = (requestId: string, account: string, at: Instant): FixRequest => ({
  type: 'AN',
  fields: {
    PosReqID: requestId,
    PosReqType: 0,
    Account: account,
    AccountType: 1,
    ClearingBusinessDate: new Date(at).toISOString().slice(0, 10).replaceAll('-', ''),
    TransactTime: new Date(at),
  },
})

/** An id for one attempt to cancel; `attempt` tells attempts apart. */
export const cancelIdOf = (clientOrderId: string, attempt: string): string => `${clientOrderId}-${attempt}`

const cancelId = /^(LS[0-9A-Z]+-[0-9A-Z]+-[0-9A-Z]+-[0-9A-Z]+)-[0-9A-Z]+$/i

/** The order that an id is about: itself, or the order that a cancel of ours names. */
export const orderIdOf = (id: string): string => cancelId.exec(id)?.[1] ?? id

/** A number without superfluous zeros. */
const plain = (decimal: string): string => dec(decimal).toFixed()

function termsOf(ticket: OrderTicket, order: FixOrder, at: Instant, habits: RequestHabits) {
  return {
    Account: ticket.account,
    HandlInst: '1',
    Instrument: instrumentOf(order),
    Side: sideOf(order, habits),
    TransactTime: new Date(at),
    OrderQtyData: { OrderQty: plain(ticket.quantity) },
    OrdType: ticket.ordType,
    ...(ticket.limitPx !== null && { Price: plain(ticket.limitPx) }),
    ...(ticket.stopPx !== null && { StopPx: plain(ticket.stopPx) }),
    TimeInForce: ticket.timeInForce,
    Currency: order.currency,
  }
}

const sideOf = (
  { side, positionEffect, securityType }: FixOrder,
  { marksShortSales }: RequestHabits,
): Side | '5' =>
  marksShortSales && securityType === 'CS' && side === '2' && positionEffect === 'O' ? '5' : side

/** The platform's symbol, and what it means in words that every broker knows. */
const instrumentOf = ({ symbol, securityType, maturityMonthYear, putOrCall, strike }: FixOrder) => ({
  Symbol: symbol,
  SecurityType: securityType,
  ...(maturityMonthYear !== null && { MaturityMonthYear: maturityMonthYear }),
  ...(putOrCall !== null && { PutOrCall: Number(putOrCall) }),
  ...(strike !== null && { StrikePrice: plain(strike) }),
})
