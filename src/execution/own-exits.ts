/**
 * Exits that the holder of an account works himself, those he placed and those whose price he changed. AutoSync leaves
 * them alone, but they only ever reduce: what exceeds the position is cut, and what finds none to close is canceled,
 * also while AutoSync is off. At a broker they would open a position the other way.
 */
import { type Decimal, zero } from '../domain/decimal.ts'
import { closableQuantity } from '../domain/manual-order.ts'
import type { Instant } from '../domain/time.ts'
import { cancelOrders, theseOrders } from '../storage/account-orders.ts'
import type { Transaction } from '../storage/sql.ts'
import { saveSuccessions } from '../storage/successions.ts'
import type { SyncCase } from '../storage/sync-cases.ts'
import type { SyncOrderRow } from '../storage/sync-facts.ts'
import { nextRevisions } from '../storage/sync-writes.ts'
import { cutExit } from './sync-orders.ts'

interface OwnExit {
  readonly one: SyncCase
  readonly row: SyncOrderRow
  /** What it may still trade; null where nothing is left that it closes. */
  readonly leaves: Decimal | null
}

/** The holder's exits that work for more than is held. */
function excessiveExits(one: SyncCase): OwnExit[] {
  const { orders, accountPositions } = one.input
  return orders.flatMap(({ care, clientOrderId, symbol, side, leaves }): OwnExit[] => {
    const row = one.orders.get(clientOrderId)!
    if (care !== 'byHand' || leaves.isZero() || row.status === '6') return []
    const closable = closableQuantity(side, leaves, accountPositions.get(symbol) ?? zero)
    if (typeof closable === 'string') return [{ one, row, leaves: null }]
    const isCut = closable.lessThan(leaves) && !one.obstacles.irreplaceable.has(clientOrderId)
    return isCut ? [{ one, row, leaves: closable }] : []
  })
}

/** Keeps the holders' exits within what is held; answers the setups in which something was done. */
export async function clampOwnExits(
  tx: Transaction,
  cases: readonly SyncCase[],
  now: Instant,
): Promise<number[]> {
  const exits = cases.flatMap(excessiveExits)
  if (exits.length === 0) return []
  const rows = exits.filter(({ leaves }) => leaves === null).map(({ row }) => row)
  if (rows.length > 0) await cancelOrders(tx, theseOrders(rows), { at: now, info: 'position closed' })
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
