/**
 * Orders of a strategy: new, cancel, replace. Each locks the strategy, reads, lets the domain decide and writes;
 * many new orders go through the same three statements as one.
 */
import type { StrategyOrderInput } from '../../contract/resources/order.ts'
import type { ReadOf } from '../../contract/schema.ts'
import { dayOrderExpiry, readCalendarName } from '../../domain/calendar.ts'
import type { OrdStatus } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import { currentPriceOf, type OrderDraft, type PlacingRefusal, placeOrder } from '../../domain/placing.ts'
import {
  insertSignalEvents,
  insertSignals,
  type LockedStrategy,
  loadPlacing,
  lockStrategies,
  type NewSignal,
  type NewSignalEvent,
  type PlacingRow,
  wakeWorkers,
} from '../../storage/signals.ts'
import type { Sql } from '../../storage/sql.ts'
import { instant } from '../../storage/wire.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import { type NamedInstrument, namedInstrument } from '../symbols.ts'
import { tradesAt, withFirstUses } from './first-use.ts'

export type OrderInput = ReadOf<typeof StrategyOrderInput>
export interface OrderCall {
  ctx: Context
  order: OrderInput
}
export interface PlacedCall {
  signal: NewSignal
  events: NewSignalEvent[]
}

/** What an order asks for that is not built yet; nothing of it is ignored in silence. */
const notOffered = ['ProfitTarget', 'StopLoss', 'ParentSignalId', 'ParkedUntilDate'] as const

/** The first part of an order that cannot be served, with its symbol read. */
export function readOrder({ ctx, order }: OrderCall): NamedInstrument | Refused {
  const missing = notOffered.find((member) => order[member] !== undefined)
  if (missing) return refuse('NotOfferedYet', `Order.${missing}`)
  return namedInstrument(order, ctx.now) ?? refuse('InvalidSymbol', 'Symbol')
}

/** The order in the domain's words; prices and quantities by their shortest exact text. */
export const draftOf = (order: OrderInput): OrderDraft => ({
  side: order.Side,
  ordType: order.OrderType,
  timeInForce: order.TIF,
  openClose: order.OpenClose,
  quantity: dec(order.OrderQuantity),
  // A price of another order type than the one sent is not part of the order.
  limitPx: order.OrderType === '2' && order.Limit !== undefined ? dec(order.Limit) : undefined,
  stopPx: order.OrderType === '3' && order.Stop !== undefined ? dec(order.Stop) : undefined,
  doNotSyncToOpen: order.DoNotSyncToOpen ?? false,
})

const refusalOf: Record<PlacingRefusal, Refused> = {
  LimitOffTick: refuse('InvalidParameter', 'Order.Limit', 'The price is no multiple of the tick size'),
  StopOffTick: refuse('InvalidParameter', 'Order.Stop', 'The price is no multiple of the tick size'),
  ReversalNotOffered: refuse(
    'NotOfferedYet',
    'Order.OrderQuantity',
    'Reversing a position is not offered yet',
  ),
}

/** Places new orders, all in the caller's transaction; one answer per call, in order. */
export async function placeOrders(sql: Sql, calls: readonly OrderCall[]): Promise<(PlacedCall | Refused)[]> {
  const read = calls.map(readOrder)
  const questions = read.map((named, index) => ({
    strategyId: calls[index]?.order.StrategyId ?? 0,
    securityType: isRefused(named) ? ('CS' as const) : named.securityType,
    spellings: isRefused(named) ? [] : named.spellings,
    ...(!isRefused(named) && named.parts && { parts: named.parts }),
  }))
  // Sent together: the server reads the positions after it has the locks, in a snapshot of its own.
  const [strategies, known] = await Promise.all([
    lockStrategies(sql, [...new Set(calls.map(({ order }) => order.StrategyId))]),
    loadPlacing(sql, questions),
  ])
  const answer = (index: number, row: PlacingRow | undefined): PlacedCall | Refused => {
    const call = calls[index] as OrderCall
    const named = read[index]
    if (isRefused(named)) return named
    return decide(call, strategies.get(Number(call.order.StrategyId)), row)
  }
  const now = calls[0]?.ctx.now ?? 0
  const rows = await withFirstUses(sql, now, questions, known, (row) => !isRefused(answer(row.place, row)))
  const placed = calls.map((_, index) => answer(index, rows.get(index)))
  await save(
    sql,
    placed.filter((outcome): outcome is PlacedCall => !isRefused(outcome)),
  )
  return placed
}

function decide(
  { ctx, order }: OrderCall,
  strategy: LockedStrategy | undefined,
  row: PlacingRow | undefined,
): PlacedCall | Refused {
  if (!strategy) return refuse('NotFound', 'Order.StrategyId')
  if (!strategy.isAlive) return refuse('StateConflict', 'Order.StrategyId', 'The strategy is not alive')
  if (!row || !tradesAt(row, ctx.now)) return refuse('InvalidSymbol', 'Symbol')
  const placed = placeDraft(ctx, strategy, draftOf(order), row)
  return typeof placed === 'string' ? refusalOf[placed] : placed
}

/** What an order becomes as a signal of a locked strategy, with its first events. */
export function placeDraft(
  ctx: Context,
  strategy: LockedStrategy,
  draft: OrderDraft,
  row: PlacingRow,
): PlacedCall | PlacingRefusal {
  const currentPx = currentPriceOf(draft.side, row.bid, row.ask)
  const decision = placeOrder(draft, { tick: dec(row.tick), position: dec(row.position), currentPx })
  if (typeof decision === 'string') return decision
  const now = instant(ctx.now)
  const works = decision.status === '0'
  const signal: NewSignal = {
    ...baseSignal(ctx, strategy.id, draft, row),
    positionEffect: decision.openClose,
    status: decision.status,
    workingAt: works ? now : null,
    expiresAt: works ? expiryOf(draft, row.calendar, ctx.now) : null,
    endedAt: works ? null : now,
    doNotSyncToOpen: decision.doNotSyncToOpen,
    rejectText: decision.rejectText ?? null,
    referencePx: decision.referencePx?.toFixed() ?? null,
    membershipHorizon: works ? strategy.membershipVersion : null,
  }
  const cause = { requestId: ctx.requestId, position: row.position, bid: row.bid, ask: row.ask }
  return { signal, events: firstEvents(signal, cause) }
}

/** The members of a new signal that do not depend on what is decided about it. */
export const baseSignal = (
  ctx: Context,
  strategyId: number,
  draft: OrderDraft,
  row: { signalId: number; instrumentId: number },
) => ({
  id: row.signalId,
  strategyId,
  instrumentId: row.instrumentId,
  side: draft.side,
  ordType: draft.ordType,
  timeInForce: draft.timeInForce,
  orderQty: draft.quantity.toFixed(),
  limitPx: textOf(draft.limitPx),
  stopPx: textOf(draft.stopPx),
  cumQty: '0',
  avgPx: null,
  postedAt: instant(ctx.now),
  replacesSignalId: null,
  fromDesired: false,
  requestId: ctx.requestId,
})

const textOf = (value: Decimal | undefined): string | null => value?.toFixed() ?? null

/** When a day order ends: with the session that runs, or the next one; null for good till canceled. */
export function expiryOf(draft: OrderDraft, calendar: string, now: number): string | null {
  if (draft.timeInForce === '1') return null
  const name = readCalendarName(calendar)
  if (!name) throw new Error(`an instrument names the unknown calendar ${calendar}`)
  return instant(dayOrderExpiry(name, now))
}

function firstEvents(signal: NewSignal, cause: Record<string, unknown>): NewSignalEvent[] {
  const event = (offset: number, name: string, status: OrdStatus): NewSignalEvent => ({
    signalId: signal.id,
    offset,
    isFirst: true,
    event: name,
    status,
    occurredAt: signal.postedAt,
    cause,
  })
  const answer = signal.status === '8' ? 'REJECT' : 'ACK'
  return [event(0, 'NEW', 'A'), event(1, answer, signal.status)]
}

/** Writes what was placed and wakes the workers. */
export async function save(sql: Sql, placed: readonly PlacedCall[]): Promise<void> {
  if (placed.length === 0) return
  await Promise.all([
    insertSignals(
      sql,
      placed.map(({ signal }) => signal),
    ),
    insertSignalEvents(
      sql,
      placed.flatMap(({ events }) => events),
    ),
    wakeWorkers(sql),
  ])
}
