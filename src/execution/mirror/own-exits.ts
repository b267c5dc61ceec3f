/**
 * Exits that the holder of an account works himself, those he placed and those whose price he changed. AutoSync leaves
 * them alone, but they only ever reduce: what exceeds the position is cut, and what finds none to close is canceled,
 * also while AutoSync is off. At a broker they would open a position the other way.
 */
import { type Decimal, zero } from '../../domain/decimal.ts'
import { isRefused } from '../../domain/mirror/mirror-sync-plan.ts'
import { closableQuantity } from '../../domain/orders/manual-order.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { cancelOrders, theseOrders } from '../../storage/mirror/account-orders.ts'
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

/** The holder's exits that work for more than is held, those of one kind together: the younger ones are cut first. */
function excessiveExits({ one, plan }: PlannedCase): OwnExit[] {
  const { orders, accountPositions } = one.input
  const turned = new Set(plan.actions.toMarket.map(({ clientOrderId }) => clientOrderId))
  const promised = new Map<string, Decimal>()
  return orders.flatMap(({ care, clientOrderId, symbol, side, type, leaves, limit, stop }): OwnExit[] => {
    const row = one.orders.get(clientOrderId)!
    // One that its signal left behind may be AutoSync's by now: at market it closes no more than is held.
    if (care !== 'byHand' || leaves.isZero() || row.status === '6' || turned.has(clientOrderId)) return []
    const kind = `${symbol} ${type}`
    const before = promised.get(kind) ?? zero
    const closable = closableQuantity(side, leaves, accountPositions.get(symbol) ?? zero, before)
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
    if (rows.length > 0) await cancelOrders(tx, theseOrders(rows), { at: now, info })
  }
  for (const source of ['M', 'S'] as const) {
    const cut = exits.filter(({ row, leaves }) => leaves !== null && row.source === source)
    const revisions = await nextRevisions(
      tx,
      source,
      cut.map(({ row }) => row),
    )
    const successions = cut.map(({ one, row, leaves }) =>
      cutExit(
        one,
        row,
        { leaves: leaves!, revision: revisions.get(`${row.setupId} ${row.sourceId}`) ?? 0 },
        now,
      ),
    )
    await saveSuccessions(tx, successions, now)
  }
  return exits.map(({ row }) => row.setupId)
}
