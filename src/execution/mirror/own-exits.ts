/**
 * Exits that no working signal sizes: those the holder of an account works himself, placed by him or at a price of his,
 * and copies in their grace. AutoSync leaves them alone, but they only ever reduce: what exceeds the position is cut,
 * and what finds none to close is canceled, also while AutoSync is off. At a broker they would open a position the
 * other way.
 */
import { directionOf, isLive } from '../../domain/codes.ts'
import { type Decimal, dec, max, sign, zero } from '../../domain/decimal.ts'
import { reachInGrace } from '../../domain/mirror/mirror-sync-copies.ts'
import { isRefused } from '../../domain/mirror/mirror-sync-plan.ts'
import { leavesOf, readSymbol, type SyncOrder } from '../../domain/mirror/mirror-sync-state.ts'
import { closableQuantity } from '../../domain/orders/manual-order.ts'
import { actsAgainst, closesNothing } from '../../domain/positions/open-close.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { cancelThese } from '../../storage/mirror/account-orders.ts'
import { saveSuccessions } from '../../storage/mirror/successions.ts'
import type { SyncCase } from '../../storage/mirror/sync-cases.ts'
import type { SyncOrderRow } from '../../storage/mirror/sync-facts.ts'
import { nextRevisions } from '../../storage/mirror/sync-writes.ts'
import type { PlannedCase } from './stop-losses.ts'
import { cutExit } from './sync-orders.ts'

interface OwnExit {
  readonly one: SyncCase
  readonly row: SyncOrderRow
  /** What it may still trade; null where nothing is left that it closes, and `info` says why. */
  readonly leaves: Decimal | null
  readonly info: (typeof infos)[keyof typeof infos] | null
}

/** Whether the signal of a closing copy has filled, and the copy works on for its grace. */
const isInGrace = ({ positionEffect }: SyncOrder, { chaseAt }: SyncOrderRow): boolean =>
  positionEffect === 'C' && chaseAt !== null

/**
 * What is held without what AutoSync closes of it at market, as soon as the broker has that order: it may wait there for
 * the market to open, and the opening may find both.
 */
function leftBeside({ input, orders }: SyncCase, symbol: string, held: Decimal): Decimal {
  const isAtBroker = ({ clientOrderId }: SyncOrder): boolean =>
    ['0', '1'].includes(orders.get(clientOrderId)?.status ?? '')
  const isOfWorkingSignal = (order: SyncOrder): boolean =>
    order.signalId !== null && input.signals.some(({ signalId }) => `${signalId}` === `${order.signalId}`)
  const closing = input.orders.filter(
    (order) =>
      order.symbol === symbol &&
      order.type === '1' &&
      actsAgainst(order.side, held) &&
      isAtBroker(order) &&
      !isOfWorkingSignal(order),
  )
  return max(zero, held.abs().minus(leavesOf(closing))).times(sign(held))
}

/** What an exit may close, signed as what is held. */
function closableOf({ one, plan }: PlannedCase, { symbol, side, care }: SyncOrder): Decimal {
  const { input } = one
  if (care === 'byHand') return leftBeside(one, symbol, input.accountPositions.get(symbol) ?? zero)
  const excluded = input.exclusions.has(symbol) && !plan.clearedExclusions.includes(symbol)
  return reachInGrace(readSymbol(input, symbol, excluded), side).times(-directionOf(side))
}

/** Such exits that work for more than is held, those of one kind together: the younger ones are cut first. */
function excessiveExits(planned: PlannedCase): OwnExit[] {
  const { one, plan } = planned
  const { toMarket, cancel } = plan.actions
  // One that its signal left behind may be AutoSync's by now: at market it closes no more than is held.
  const settled = new Set([...toMarket.map(({ clientOrderId }) => clientOrderId), ...cancel])
  const promised = new Map<string, Decimal>()
  return one.input.orders.flatMap((order): OwnExit[] => {
    const { care, clientOrderId, symbol, side, type, leaves, limit, stop } = order
    const row = one.orders.get(clientOrderId)!
    if (leaves.isZero() || row.status === '6' || settled.has(clientOrderId)) return []
    if (care !== 'byHand' && !isInGrace(order, row)) return []
    // What the holder works does not give way to a copy that is about to go.
    const kind = `${symbol} ${type} ${care}`
    const before = promised.get(kind) ?? zero
    const closable = closableQuantity(side, leaves, closableOf(planned, order), before)
    if (typeof closable === 'string') return [{ one, row, leaves: null, info: infos[closable] }]
    const cut = { clientOrderId, type, quantity: closable, limit, stop }
    const isCut = closable.lessThan(leaves) && !isRefused(one.obstacles, cut)
    promised.set(kind, before.plus(isCut ? closable : leaves))
    return isCut ? [{ one, row, leaves: closable, info: null }] : []
  })
}

/** What a canceled exit says. */
const infos = {
  'no position to close': 'position closed',
  'other exits close the position': 'other exits close the position',
} as const

/** Keeps the holders' exits within what is held; answers the setups in which something was done. */
export async function clampOwnExits(
  tx: Transaction,
  planned: readonly PlannedCase[],
  now: Instant,
): Promise<number[]> {
  const exits = planned.flatMap(excessiveExits)
  if (exits.length === 0) return []
  for (const info of Object.values(infos)) {
    const rows = exits.filter((exit) => exit.info === info).map(({ row }) => row)
    await cancelThese(tx, rows, { at: now, info })
  }
  for (const source of ['M', 'S'] as const) {
    const cut = exits.filter(({ row, leaves }) => leaves !== null && row.source === source)
    const revisionOf = await nextRevisions(
      tx,
      source,
      cut.map(({ row }) => row),
    )
    const successions = cut.map(({ one, row, leaves }) =>
      cutExit(one, row, { leaves: leaves!, revision: revisionOf(row) }, now),
    )
    await saveSuccessions(tx, successions, now)
  }
  return exits.map(({ row }) => row.setupId)
}

/**
 * Ends the closing orders that have nothing left to close in accounts whose Autotrade is disabled. Nothing goes out there,
 * so nothing is cut or placed; but what its broker still works protects what is held, and opens a position the other way
 * once that is gone.
 */
export async function endIdleExits(tx: Transaction, cases: readonly SyncCase[], now: Instant): Promise<void> {
  const idle = cases.flatMap(({ orders, held }) =>
    [...orders.values()].filter(
      ({ instrumentId, side, positionEffect, status }) =>
        isLive(status) &&
        status !== '6' &&
        closesNothing({ side, positionEffect: positionEffect }, dec(held.get(instrumentId)?.quantity ?? 0)),
    ),
  )
  await cancelThese(tx, idle, { at: now, info: infos['no position to close'] })
}
