/**
 * What time alone does to strategy orders: a day order ends with its session. It ends at that moment of
 * business time, however late this is noticed. A clock that jumps asks here where it must stop on the way.
 */
import { dec } from '../domain/decimal.ts'
import { applyEvent } from '../domain/order.ts'
import type { Instant } from '../domain/time.ts'
import { updateSignals } from '../storage/fills.ts'
import {
  claimStrategies,
  type ExpiringSignal,
  findNextExpiry,
  listExpiringStrategies,
  loadExpiring,
} from '../storage/matching.ts'
import { insertSignalEvents } from '../storage/signals.ts'
import { fragment } from '../storage/sql.ts'
import { instant } from '../storage/wire.ts'
import type { DueSource, Step, WorkContext } from './context.ts'

/** Signals that one transaction expires. */
const expiriesAtOnce = 1_000

/** Ends day orders whose session is over; answers how many. */
export async function expireSignals(ctx: WorkContext): Promise<number> {
  const now = ctx.clock.now()
  return ctx.db.transaction(async (tx) => {
    const due = await listExpiringStrategies(tx, now, expiriesAtOnce)
    const claimed = due.length > 0 ? await claimStrategies(tx, due) : new Set<number>()
    if (claimed.size === 0) return 0
    const ended = (await loadExpiring(tx, [...claimed], now)).map((signal) => ({
      signal,
      status: statusAfter(signal),
    }))
    await updateSignals(
      tx,
      ended.map(({ signal, status }) => ({
        signalId: signal.signalId,
        status,
        isTriggered: signal.isTriggered,
        cumQty: dec(signal.cumQty),
        avgPx: signal.avgPx === null ? null : dec(signal.avgPx),
        endedAt: signal.expiresAt,
        info: null,
      })),
    )
    await insertSignalEvents(
      tx,
      ended.map(({ signal, status }) => ({
        signalId: signal.signalId,
        offset: 0,
        event: 'EXPIRE',
        status,
        occurredAt: instant(signal.expiresAt),
        cause: { session: 'closed' },
      })),
    )
    return ended.length
  })
}

function statusAfter(signal: ExpiringSignal): ExpiringSignal['status'] {
  const quantity = dec(signal.cumQty)
  const order = {
    status: signal.status,
    orderQuantity: dec(signal.orderQty),
    filledQuantity: quantity,
    filledValue: quantity.times(signal.avgPx ?? 0),
    acknowledged: signal.status !== 'A',
    held: signal.isHeld,
  }
  return applyEvent(order, { event: 'EXPIRE' }).order.status
}

/** Day orders wait for the end of their session. */
export const expiryStep: Step = {
  name: 'expireSignals',
  due: (now) => fragment`exists (
    select from signal where expires_at <= ${instant(now)}::timestamptz and status in ('A', '0', '1', '6', 'E'))`,
  run: expireSignals,
}

/** When the next day order ends. */
export const nextSignalExpiry: DueSource = findNextExpiry

/** The earliest moment at which time makes work; undefined when nothing waits for time. */
export async function nextDue(ctx: WorkContext): Promise<Instant | undefined> {
  const moments = await Promise.all(ctx.settings.dueSources.map((source) => source(ctx.db.read)))
  const known = moments.filter((at) => at !== undefined)
  return known.length > 0 ? Math.min(...known) : undefined
}
