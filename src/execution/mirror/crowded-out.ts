/**
 * Closing signals of which accounts got no copy, or too small a one, because older exits work for all that they hold, or
 * for most of it: once the signal has filled, what it was to close here is closed at market. Its exits shrink for that,
 * or are withdrawn with their signals already. AutoSync does the same by itself, unless it is off, or the strategy has
 * gone over to the other side at once: the copy of what it opened there would close instead, and leave the account short
 * of it.
 */
import { type Decimal, zero } from '../../domain/decimal.ts'
import { type PlannedSync, planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import type { SyncOrder } from '../../domain/mirror/mirror-sync-state.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import {
  cancelThese,
  insertAccountOrders,
  type NewAccountOrder,
} from '../../storage/mirror/account-orders.ts'
import type { DueSignal } from '../../storage/mirror/followers.ts'
import { type Succession, saveSuccessions } from '../../storage/mirror/successions.ts'
import { type SyncCase, syncCases } from '../../storage/mirror/sync-cases.ts'
import { loadSyncFacts, type SyncOrderRow } from '../../storage/mirror/sync-facts.ts'
import { nextRevisions } from '../../storage/mirror/sync-writes.ts'
import { changedCopy, newOrder } from './sync-orders.ts'

const setupsAtOnce = 500

interface Closing {
  readonly canceled: readonly SyncOrderRow[]
  readonly shrunk: readonly Succession[]
  readonly orders: readonly NewAccountOrder[]
}

/** What its broker was told to cancel, or soon will be, closes nothing any more and takes nothing from the new one. */
const isWithdrawn = ({ status, signalStatus }: SyncOrderRow): boolean =>
  status === '6' || signalStatus === '4' || signalStatus === '8' || signalStatus === 'C'

/** What is to be done once these work no more; what they have executed counts on. */
function planWithout(one: SyncCase, isOver: (order: SyncOrder) => boolean): PlannedSync {
  const orders = one.input.orders.map((order) => (isOver(order) ? { ...order, leaves: zero } : order))
  return planSync({ ...one.input, orders, isSyncEnabled: true }, { ...one.obstacles, ending: new Set() })
}

/**
 * A later copy of the signal, at market: the first would have been made before it filled. One that exits left too little
 * room has its grace beside it. Exits give way to what is closed alone.
 */
function closingOf(one: SyncCase, signal: DueSignal, revision: number, now: Instant): Closing {
  const rowOf = ({ clientOrderId }: SyncOrder): SyncOrderRow => one.orders.get(clientOrderId)!
  const isGone = (order: SyncOrder): boolean => isWithdrawn(rowOf(order))
  const exits = new Map(
    one.input.orders
      .filter((order) => order.positionEffect === 'C')
      .filter((order) => rowOf(order).instrumentId === signal.instrumentId)
      .map((order) => [order.clientOrderId, order]),
  )
  // AutoSync corrects nothing before what it cancels is gone; nobody would come back to it here. Exits alone go.
  const { cancel } = planWithout(one, isGone).actions
  const canceled = cancel.filter((id) => exits.has(id))
  const { actions } = planWithout(one, (order) => isGone(order) || cancel.includes(order.clientOrderId))
  const close = actions.close.find(
    ({ symbol, side }) => one.instruments.get(symbol)!.id === signal.instrumentId && side === signal.side,
  )
  if (!close) return { canceled: [], shrunk: [], orders: [] }
  return {
    canceled: canceled.map((id) => one.orders.get(id)!),
    shrunk: actions.replace
      .filter(({ clientOrderId, quantity }) => exits.get(clientOrderId)?.leaves.greaterThan(quantity))
      .map((change) => changedCopy(one, change, now)),
    orders: [lateCopy(one, signal, { quantity: close.quantity, revision }, now)],
  }
}

function lateCopy(
  one: SyncCase,
  signal: DueSignal,
  { quantity, revision }: { readonly quantity: Decimal; readonly revision: number },
  now: Instant,
): NewAccountOrder {
  const { id: sourceId, signalType, side, cumQty: signalFilledBefore } = signal
  const instrument = [...one.instruments.values()].find(({ id }) => id === signal.instrumentId)!
  const terms = { source: 'S', sourceId, revision, signalType, side, orderQty: quantity } as const
  const atMarket = { ordType: '1', timeInForce: '0', positionEffect: 'C' } as const
  return newOrder(one, instrument, now, { ...terms, ...atMarket, signalFilledBefore, info: 'exits gave way' })
}

/** Closes what the signal was to close in these setups. Their accounts are locked. */
export async function closeCrowdedOut(
  tx: Transaction,
  setupIds: readonly number[],
  signal: DueSignal,
  now: Instant,
): Promise<void> {
  for (let at = 0; at < setupIds.length; at += setupsAtOnce) {
    const cases = syncCases(await loadSyncFacts(tx, setupIds.slice(at, at + setupsAtOnce)), now)
    const named = cases.map(({ setup }) => ({ setupId: setup.id, sourceId: signal.id }))
    const revisionOf = await nextRevisions(tx, 'S', named)
    // The first is that of the signal's plan, whether or not it made an order.
    const closings = cases.map((one, place) =>
      closingOf(one, signal, Math.max(1, revisionOf(named[place]!)), now),
    )
    const canceled = closings.flatMap((closing) => closing.canceled)
    await cancelThese(tx, canceled, { at: now, info: 'no longer wanted' })
    await saveSuccessions(
      tx,
      closings.flatMap(({ shrunk }) => shrunk),
      now,
    )
    await insertAccountOrders(
      tx,
      closings.flatMap(({ orders }) => orders),
    )
  }
}
