/**
 * What Alpaca tells, as reports like any broker's. Each has a key that the same news has on every way it comes: an
 * execution its own id, anything else the order's id and what became of it. So the stream, an answer and the history
 * may tell it as often and in whatever order they like. Pure.
 */
import type { OrdStatus } from '../../../domain/codes.ts'
import { dec, quantityPlaces, roundTo } from '../../../domain/decimal.ts'
import type { Instant } from '../../../domain/time.ts'
import {
  correctionKey,
  type NewReport,
  type NewTotal,
  type ReportKind,
} from '../../../storage/brokers/reports.ts'
import type { OrderStanding } from '../broker.ts'
import { symbolOf } from './tickets.ts'
import type { AlpacaOrder, TradeActivity, TradeUpdate } from './wire.ts'

export type Report = NewReport | NewTotal

/** Where news comes from, and what it is dated when it says no time. */
export interface Source {
  readonly brokerId: number
  readonly accountId: number
  readonly now: Instant
}

const ends: Readonly<Record<string, { readonly status: OrdStatus; readonly kind: ReportKind }>> = {
  canceled: { status: '4', kind: 'cancel' },
  expired: { status: 'C', kind: 'expire' },
  rejected: { status: '8', kind: 'reject' },
  replaced: { status: '5', kind: 'replace' },
}

/** Taken by Alpaca, not yet by a venue. A replacement in these may still come to nothing. */
const early = ['accepted', 'pending_new', 'pending_replace', 'accepted_for_bidding', 'held']
const working = [
  'new',
  'partially_filled',
  'done_for_day',
  'pending_cancel',
  'stopped',
  'suspended',
  'calculated',
]

/** How the order stands; null where Alpaca gives a status that nobody knows. */
export function standingOf(order: AlpacaOrder): OrderStanding | null {
  const cumQty = order.filledQty
  const standing = { cumQty, avgPx: dec(cumQty).isZero() ? null : order.filledAvgPrice }
  const end = ends[order.status]
  if (end) return { status: end.status, ...standing }
  if (order.status === 'filled') return { status: '2', ...standing }
  if (order.replaces !== null && early.includes(order.status)) return { status: 'A', ...standing }
  if (!early.includes(order.status) && !working.includes(order.status)) return null
  return { status: dec(cumQty).isZero() ? '0' : '1', ...standing }
}

/** What an order by itself tells: that it is there and how it ended. Its executions have ids that it does not say. */
export function reportsOfOrder(source: Source, order: AlpacaOrder): Report[] {
  const standing = standingOf(order)
  if (standing === null || standing.status === 'A') return []
  const end = ends[order.status]
  const ack = report(source, order, 'ack', `new:${order.id}`, order.updatedAt)
  if (!end) return [ack]
  const { status, id, updatedAt, filledQty: cumQty } = order
  const told = { ...report(source, order, end.kind, `${status}:${id}`, updatedAt), cumQty }
  return end.kind === 'reject' ? [told] : [ack, told]
}

const tellsMore = ['fill', 'partial_fill', 'trade_bust', 'trade_correct', 'order_cancel_rejected']

/** Whether the event says no more than how its order stands. */
export const isAboutOrder = ({ event }: TradeUpdate): boolean => !tellsMore.includes(event)

/** What an event of the stream tells; null where it lacks what its kind must say. */
export function reportsOfUpdate(source: Source, update: TradeUpdate): Report[] | null {
  const { event, order, at } = update
  switch (event) {
    case 'fill':
    case 'partial_fill':
      return executed(source, order, update.executionId, update)
    case 'trade_bust':
      return busted(source, order, update)
    case 'trade_correct':
      return corrected(source, order, update.executionId, update)
    case 'order_cancel_rejected':
      return [report(source, order, 'cancelReject', `${event}:${order.id}:${at ?? source.now}`, at)]
    default:
      return reportsOfOrder(source, order)
  }
}

/** What the history tells of an execution; null where it lacks what its kind must say. */
export function reportsOfActivity(source: Source, activity: TradeActivity): Report[] | null {
  if (activity.type === 'trade_bust') return busted(source, activity, activity)
  if (activity.type === 'trade_correct') return corrected(source, activity, activity.executionId, activity)
  return executed(source, activity, activity.executionId, activity)
}

type Named = Pick<AlpacaOrder, 'symbol' | 'side'> & { readonly clientOrderId: string | null }

interface Executed {
  readonly previousExecutionId: string | null
  readonly quantity: string | null
  readonly price: string | null
  readonly cumQty: string | null
  readonly at: Instant | null
}

const report = (
  { brokerId, accountId, now }: Source,
  { clientOrderId, symbol }: Named,
  kind: ReportKind,
  reportKey: string,
  at: Instant | null,
): NewReport => ({
  brokerId,
  accountId,
  reportKey,
  clientOrderId,
  kind,
  symbol: symbolOf(symbol),
  text: null,
  occurredAt: at ?? now,
})

function executed(source: Source, named: Named, id: string | null, news: Executed): NewTotal[] | null {
  const { quantity, price, cumQty, at } = news
  if (id === null || quantity === null || price === null) return null
  if (!dec(quantity).greaterThan(0) || !dec(price).greaterThan(0)) return null
  // Alpaca trades parts of shares finer than any book: of what is nothing here there is nothing to tell.
  const booked = roundTo(dec(quantity), quantityPlaces)
  if (booked.isZero()) return []
  const told = { side: named.side, quantity: booked.toFixed(), px: price, cumQty }
  return [{ ...report(source, named, 'fill', id, at), ...told }]
}

/** An execution is taken back; one that corrects it, if any, names the report. */
function busted(
  source: Source,
  named: Named,
  { previousExecutionId, at }: Executed,
  correctedBy: string | null = null,
): Report[] | null {
  if (previousExecutionId === null) return null
  const key = correctedBy === null ? `bust:${previousExecutionId}` : correctionKey(correctedBy)
  return [{ ...report(source, named, 'bust', key, at), text: previousExecutionId }]
}

/** A correction takes the execution back and tells it anew, under an id of its own. */
function corrected(source: Source, named: Named, id: string | null, news: Executed): Report[] | null {
  const [back, anew] = [busted(source, named, news, id), executed(source, named, id, news)]
  return back && anew && [...back, ...anew]
}
