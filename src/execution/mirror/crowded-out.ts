/**
 * Closing signals of which accounts got no copy, because older exits work for all that they hold: once the signal has
 * filled, what it was to close here is closed at market. Its exits shrink for that, or are withdrawn with their signals
 * already. AutoSync does the same by itself, unless it is off, or the strategy has gone over to the other side at once:
 * the copy of what it opened there would close instead, and leave the account short of it.
 */
import { planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import {
  cancelOrders,
  insertAccountOrders,
  type NewAccountOrder,
  theseOrders,
} from '../../storage/mirror/account-orders.ts'
import type { DueSignal } from '../../storage/mirror/followers.ts'
import { type Succession, saveSuccessions } from '../../storage/mirror/successions.ts'
import { type SyncCase, syncCases } from '../../storage/mirror/sync-cases.ts'
import { loadSyncFacts, type SyncOrderRow } from '../../storage/mirror/sync-facts.ts'
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

/** A later copy of the signal, at market: the first would have been made before it filled. */
function closingOf(one: SyncCase, signal: DueSignal, now: Instant): Closing {
  const rowOf = (clientOrderId: string): SyncOrderRow => one.orders.get(clientOrderId)!
  const orders = one.input.orders.filter(({ clientOrderId }) => !isWithdrawn(rowOf(clientOrderId)))
  const input = { ...one.input, orders, isSyncEnabled: true }
  const { actions } = planSync(input, { ...one.obstacles, ending: new Set() })
  const exits = new Map(
    orders
      .filter(({ positionEffect }) => positionEffect === 'C')
      .filter(({ clientOrderId }) => rowOf(clientOrderId).instrumentId === signal.instrumentId)
      .map((order) => [order.clientOrderId, order]),
  )
  const terms = { source: 'S', sourceId: signal.id, revision: 1, signalType: signal.signalType } as const
  const atMarket = { side: signal.side, ordType: '1', timeInForce: '0', positionEffect: 'C' } as const
  return {
    canceled: actions.cancel.filter((id) => exits.has(id)).map(rowOf),
    shrunk: actions.replace
      .filter(({ clientOrderId, quantity }) => exits.get(clientOrderId)?.leaves.greaterThan(quantity))
      .map((change) => changedCopy(one, change, now)),
    orders: actions.close.flatMap(({ symbol, side, quantity }) => {
      const instrument = one.instruments.get(symbol)!
      if (instrument.id !== signal.instrumentId || side !== signal.side) return []
      const why = { orderQty: quantity, signalFilledBefore: signal.filledBefore, info: 'exits gave way' }
      return [newOrder(one, instrument, now, { ...terms, ...atMarket, ...why })]
    }),
  }
}

/** Closes what the signal was to close in these setups. Their accounts are locked. */
export async function closeCrowdedOut(
  tx: Transaction,
  setupIds: readonly number[],
  signal: DueSignal,
  now: Instant,
): Promise<void> {
  for (let at = 0; at < setupIds.length; at += setupsAtOnce) {
    const facts = await loadSyncFacts(tx, setupIds.slice(at, at + setupsAtOnce))
    const closings = syncCases(facts, now).map((one) => closingOf(one, signal, now))
    const canceled = closings.flatMap((closing) => closing.canceled)
    if (canceled.length > 0)
      await cancelOrders(tx, theseOrders(canceled), { at: now, info: 'no longer wanted' })
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
