/**
 * Cancel and replace of a strategy's order. The platform's own venue confirms at once, so request and
 * confirmation happen in one transaction; both are still recorded as events. Two requests at the same instant
 * wait for each other at the strategy's row, and the later one is answered from what the first left.
 */
import type { OrdStatus } from '../../domain/codes.ts'
import { dec, zero } from '../../domain/decimal.ts'
import { applyToChain, type ChainOrder } from '../../domain/order-chain.ts'
import { answerRequest, type RequestRefusal } from '../../domain/order-request.ts'
import { averageFillPrice } from '../../domain/order-state.ts'
import { immutableDifference, isOnTick } from '../../domain/placing.ts'
import {
  endSignal,
  findSignal,
  insertSignalEvents,
  type LockedStrategy,
  loadPlacing,
  lockStrategies,
  type NewSignal,
  type NewSignalEvent,
  type PlacingRow,
  type StoredSignal,
  wakeWorkers,
} from '../../storage/signals.ts'
import type { Sql } from '../../storage/sql.ts'
import { instant } from '../../storage/wire.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import { baseSignal, draftOf, expiryOf, type OrderCall, readOrder, save } from './orders.ts'

/** Replacement of a chain whose id is not made yet. */
const unborn = -1

const chainOrder = (signal: StoredSignal): ChainOrder<number> => {
  const filledQuantity = dec(signal.cumQty)
  return {
    id: signal.id,
    status: signal.status,
    orderQuantity: dec(signal.orderQty),
    filledQuantity,
    filledValue: signal.avgPx === null ? zero : filledQuantity.times(signal.avgPx),
    acknowledged: !signal.isHeld,
    held: signal.isHeld,
  }
}

const eventOf = (
  ctx: Context,
  signalId: number,
  offset: number,
  event: string,
  status: OrdStatus,
  isFirst = false,
): NewSignalEvent => ({
  signalId,
  offset,
  isFirst,
  event,
  status,
  occurredAt: instant(ctx.now),
  cause: { requestId: ctx.requestId },
})

/** Cancels a signal of the strategy; canceling a canceled one succeeds and changes nothing. Answers its id. */
export async function cancelOrder(
  sql: Sql,
  ctx: Context,
  strategyId: number | bigint,
  signalId: number | bigint,
): Promise<number | Refused> {
  await lockStrategies(sql, [strategyId])
  const signal = await findSignal(sql, signalId)
  if (!signal || BigInt(signal.strategyId) !== BigInt(strategyId)) return refuse('NotFound', 'SignalId')
  const chain = [chainOrder(signal)]
  const answer = answerRequest(chain, signal.id, 'cancel')
  if (!answer.accepted) return refuse('CancelRejected', 'SignalId')
  if (!answer.changed) return signal.id
  const events = [eventOf(ctx, signal.id, 0, 'CANCEL_REQUEST', answer.status)]
  // A held order is at no venue: its cancel needs no confirmation.
  if (answer.status === '6') events.push(eventOf(ctx, signal.id, 1, 'CANCEL_ACK', '4'))
  await Promise.all([
    endSignal(sql, signal.id, '4', instant(ctx.now)),
    insertSignalEvents(sql, events),
    wakeWorkers(sql),
  ])
  return signal.id
}

const replaceRefusal: Record<RequestRefusal, Refused> = {
  finished: refuse('CancelRejected', 'Order.CancelReplaceSignalId', 'Unable to cancel'),
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

/** Replaces a signal by a new one whose quantity is the total of the chain. Answers the new id. */
export async function replaceOrder(sql: Sql, { ctx, order }: OrderCall): Promise<number | Refused> {
  const named = readOrder({ ctx, order })
  if (isRefused(named)) return named
  const strategy = (await lockStrategies(sql, [order.StrategyId])).get(Number(order.StrategyId))
  const signal = await findSignal(sql, order.CancelReplaceSignalId ?? 0)
  if (!signal) return refuse('NotFound', 'Order.CancelReplaceSignalId')
  if (!strategy || signal.strategyId !== strategy.id)
    return refuse('Forbidden', 'Order.CancelReplaceSignalId')
  const row = (await loadPlacing(sql, [{ strategyId: strategy.id, ...named }])).get(0)
  if (!row?.isTradable) return refuse('InvalidSymbol', 'Symbol')
  return confirmReplacement(sql, { ctx, order }, strategy, signal, row)
}

async function confirmReplacement(
  sql: Sql,
  call: OrderCall,
  strategy: LockedStrategy,
  signal: StoredSignal,
  row: PlacingRow,
): Promise<number | Refused> {
  const { ctx } = call
  const replacement = replacementOf(call, signal, row)
  if (isRefused(replacement)) return replacement
  const next = replacingSignal(call, strategy, signal, row, replacement)
  await endSignal(sql, signal.id, '5', instant(ctx.now))
  await insertSignalEvents(sql, [
    eventOf(ctx, signal.id, 0, 'REPLACE_REQUEST', 'E'),
    eventOf(ctx, signal.id, 1, 'REPLACE_ACK', '5'),
  ])
  const events = [
    eventOf(ctx, next.id, 0, 'NEW', 'A', true),
    eventOf(ctx, next.id, 1, 'REPLACE_ACK', next.status, true),
  ]
  await save(sql, [{ signal: next, events }])
  return next.id
}

/** The replacement as the chain leaves it after request and confirmation, or why there is none. */
function replacementOf(
  { order }: OrderCall,
  signal: StoredSignal,
  row: PlacingRow,
): ChainOrder<number> | Refused {
  const draft = draftOf(order)
  const difference = immutableDifference(
    { ...signal, openClose: signal.positionEffect },
    draft,
    row.instrumentId,
  )
  if (difference) return refuse('InvalidParameter', `Order.${difference}`, 'A replacement cannot change it')
  const prices = [
    ['Order.Limit', draft.limitPx],
    ['Order.Stop', draft.stopPx],
  ] as const
  const offTick = prices.find(([, price]) => price && !isOnTick(price, dec(row.tick)))
  if (offTick) return refuse('InvalidParameter', offTick[0], 'The price is no multiple of the tick size')
  const before = [chainOrder(signal)]
  const answer = answerRequest(before, signal.id, 'replace')
  if (!answer.accepted) return replaceRefusal[answer.refusal]
  const request = { event: 'REPLACE_REQUEST', quantity: draft.quantity, newId: unborn } as const
  const requested = applyToChain(before, signal.id, request)
  const confirmed = applyToChain(requested.chain, signal.id, { event: 'REPLACE_ACK' })
  const replacement = confirmed.chain.find(({ id }) => id === unborn)
  if (!replacement) throw new Error('a confirmed replacement is missing from its chain')
  return replacement
}

function replacingSignal(
  { ctx, order }: OrderCall,
  strategy: LockedStrategy,
  signal: StoredSignal,
  row: PlacingRow,
  replacement: ChainOrder<number>,
): NewSignal {
  const draft = draftOf(order)
  const now = instant(ctx.now)
  const ended = replacement.status === '2'
  return {
    ...baseSignal(ctx, strategy.id, draft, row),
    positionEffect: signal.positionEffect,
    orderQty: replacement.orderQuantity.toFixed(),
    cumQty: replacement.filledQuantity.toFixed(),
    avgPx: averageFillPrice(replacement)?.toFixed(12) ?? null,
    status: replacement.status,
    workingAt: now,
    expiresAt: ended ? null : expiryOf(draft, row.calendar, ctx.now),
    endedAt: ended ? now : null,
    replacesSignalId: signal.id,
    doNotSyncToOpen: draft.doNotSyncToOpen && signal.positionEffect === 'O' && draft.ordType !== '1',
    rejectText: null,
    referencePx: (draft.limitPx ?? draft.stopPx)?.toFixed() ?? (draft.side === '1' ? row.ask : row.bid),
    membershipHorizon: strategy.membershipVersion,
  }
}
