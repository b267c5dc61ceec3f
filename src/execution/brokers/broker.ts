/**
 * The port to a broker. Requests go out in batches and each gets an answer of its own; what becomes of an order
 * is told by reports, at least once and in any order, never by the answer. An answer says only whether the
 * broker has the request. A client order id is used for one order for ever, so the same request may be sent
 * again: it changes nothing the second time.
 */
import type { OrdStatus, OrdType, PositionEffect, Side, TimeInForce } from '../../domain/codes.ts'
import type { Trades } from '../../domain/mirror/tradable.ts'
import type { Step, WorkContext } from '../context.ts'

/** An order in the broker's words. */
export interface OrderTicket {
  readonly accountId: number
  /** The broker's own number of the account. */
  readonly account: string
  readonly clientOrderId: string
  readonly instrumentId: number
  readonly symbol: string
  readonly side: Side
  readonly ordType: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  /** Total, of a replacement with what the broker's chain has filled. */
  readonly quantity: string
  readonly limitPx: string | null
  readonly stopPx: string | null
}

export interface ReplaceTicket extends OrderTicket {
  readonly replacesClientOrderId: string
}

export type OrderName = Pick<OrderTicket, 'accountId' | 'account' | 'clientOrderId'>

/**
 * accepted: the broker has it, reports follow. rejected: it refused (`unknownOrder`: it has no order of that id;
 * FIX CxlRejReason 102 = 1). unsent: the link is down, nobody could speak for the account or it was too late, and the
 * call has written nothing. unknown: it may have it or not; only asking by client order id can tell, a time-out cannot.
 * A broker's refusal of an id it knows is `unknown`.
 */
export type Answer =
  | { readonly answer: 'accepted' | 'unsent' | 'unknown' }
  | { readonly answer: 'rejected'; readonly text: string; readonly unknownOrder?: boolean }

/** How an order stands at the broker. */
export interface OrderStanding {
  readonly status: OrdStatus
  /** Executed under this client order id alone, without what it replaced; the average is null at 0. */
  readonly cumQty: string
  readonly avgPx: string | null
}

export interface WorkingOrder extends OrderStanding {
  readonly clientOrderId: string
}

/** What the broker says an account holds, works and owns. */
export interface AccountSnapshot {
  readonly accountId: number
  /** Signed quantities by symbol, flat ones left out. */
  readonly positions: ReadonlyMap<string, string>
  readonly working: readonly WorkingOrder[]
  /** Null where the broker does not tell it. */
  readonly balance: { readonly currency: string; readonly cash: string } | null
}

/** The broker could not be asked: what was to be learnt stays unknown. */
export class BrokerUnreachable extends Error {
  override name = 'BrokerUnreachable'
}

export interface Broker {
  /** Requests that one call may carry, and calls that may be under way at once. */
  readonly limits: { readonly batch: number; readonly concurrency: number }
  /** What it can trade at all; absent, everything is sent. */
  readonly trades?: Trades
  /** Whether the link is up; while it is down nothing is sent. */
  isUp(): boolean
  /** Another worker keeps the link: it alone sends, and gives up what has waited too long. */
  isElsewhere?(): boolean
  /**
   * Answers in the order of the tickets. Throwing means that all are unknown, and that nothing is under way any more.
   *
   * `until`, by this machine's steady clock, is the last moment to begin a write: whoever waits for the call may have
   * given it up long ago, and later others ask for the order, are told that the broker does not have it, and act on
   * that. It is looked at right before each write. What was begun arrives within three seconds or never, or else
   * before whatever is asked later.
   */
  place(
    ctx: WorkContext,
    brokerId: number,
    tickets: readonly OrderTicket[],
    until: number,
  ): Promise<readonly Answer[]>
  replace(
    ctx: WorkContext,
    brokerId: number,
    tickets: readonly ReplaceTicket[],
    until: number,
  ): Promise<readonly Answer[]>
  cancel(
    ctx: WorkContext,
    brokerId: number,
    orders: readonly OrderName[],
    until: number,
  ): Promise<readonly Answer[]>
  /**
   * How each order stands, null where it has none, undefined where it does not say; of those it has, reports
   * follow. Throws `BrokerUnreachable`.
   */
  find(
    ctx: WorkContext,
    brokerId: number,
    orders: readonly OrderName[],
  ): Promise<readonly (OrderStanding | null | undefined)[]>
  /** Throws `BrokerUnreachable`: a failed question is never an empty account. */
  snapshot(ctx: WorkContext, accountIds: readonly number[]): Promise<readonly AccountSnapshot[]>
  /** What the adapter does by itself, above all taking in its reports. */
  readonly steps: readonly Step[]
}

/** A broker outside: its links are open until they are closed. */
export interface LiveBroker extends Broker {
  close(): Promise<void>
}
