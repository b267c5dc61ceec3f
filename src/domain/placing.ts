/**
 * What a new order of a strategy becomes: a working signal, a rejected one that is kept with its reason, or a
 * refusal that leaves nothing behind. Margin, exits, parents and reversals are decided where they are built;
 * here they are refused by name, never dropped.
 */
import type { OrdStatus, OrdType, PositionEffect, Side, TimeInForce } from './codes.ts'
import { type Decimal, dec, zero } from './decimal.ts'
import { decideOpenClose } from './open-close.ts'

/** The order as its owner sent it. Quantities are unsigned. */
export interface OrderDraft {
  side: Side
  ordType: OrdType
  timeInForce: TimeInForce
  openClose?: PositionEffect | undefined
  quantity: Decimal
  limitPx?: Decimal | undefined
  stopPx?: Decimal | undefined
  doNotSyncToOpen: boolean
}

/** What it is decided from. `position` is signed; `currentPx` is the side of the last quote it would trade at. */
export interface PlacingFacts {
  tick: Decimal
  position: Decimal
  currentPx?: Decimal | undefined
}

export interface PlacedSignal {
  status: OrdStatus
  openClose: PositionEffect
  rejectText?: string
  doNotSyncToOpen: boolean
  /** What its copies are sized with; absent for a market order without a quote. */
  referencePx?: Decimal
}

export type PlacingRefusal = 'LimitOffTick' | 'StopOffTick' | 'ReversalNotOffered'

/** Decides one order. A price off the tick and a reversal are refused; what the position forbids is kept as rejected. */
export function placeOrder(draft: OrderDraft, facts: PlacingFacts): PlacedSignal | PlacingRefusal {
  if (draft.limitPx && !isOnTick(draft.limitPx, facts.tick)) return 'LimitOffTick'
  if (draft.stopPx && !isOnTick(draft.stopPx, facts.tick)) return 'StopOffTick'
  const decision = decideOpenClose(draft.openClose, draft.side, draft.quantity, facts.position)
  if ('reversal' in decision) return 'ReversalNotOffered'
  const referencePx = referenceOf(draft, facts)
  const priced = referencePx ? { referencePx } : {}
  if ('rejected' in decision) {
    const openClose = draft.openClose ?? 'O'
    return { status: '8', openClose, rejectText: decision.rejected, doNotSyncToOpen: false, ...priced }
  }
  const { openClose } = decision
  // Only an opening order that rests can be missing in an account later; elsewhere the wish means nothing.
  const doNotSyncToOpen = draft.doNotSyncToOpen && openClose === 'O' && draft.ordType !== '1'
  return { status: '0', openClose, doNotSyncToOpen, ...priced }
}

/** A price that the instrument can be quoted at; prices may be negative (spreads, crude oil in 2020). */
export const isOnTick = (price: Decimal, tick: Decimal): boolean => price.mod(tick).isZero()

function referenceOf(draft: OrderDraft, facts: PlacingFacts): Decimal | undefined {
  const own = draft.ordType === '2' ? draft.limitPx : draft.ordType === '3' ? draft.stopPx : undefined
  return own ?? facts.currentPx
}

/** The order that a replacement replaces, as far as the two are compared. */
export interface ReplacedOrder {
  instrumentId: number
  side: Side
  openClose: PositionEffect
}

/** The member in which a replacement differs from the order it replaces where it must not. */
export function immutableDifference(
  replaced: ReplacedOrder,
  draft: OrderDraft,
  instrumentId: number,
): 'Symbol' | 'Side' | 'OpenClose' | undefined {
  if (replaced.instrumentId !== instrumentId) return 'Symbol'
  if (replaced.side !== draft.side) return 'Side'
  if (draft.openClose !== undefined && draft.openClose !== replaced.openClose) return 'OpenClose'
  return undefined
}

/** The price an order of this side would trade at now; zero is no price. */
export function currentPriceOf(side: Side, bid: string | null, ask: string | null): Decimal | undefined {
  const text = side === '1' ? ask : bid
  const price = text === null ? zero : dec(text)
  return price.greaterThan(zero) ? price : undefined
}
