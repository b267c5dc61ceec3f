/**
 * Claims the next orders of a broker. Here, under the rows' locks, an opening order is held against what its setup is
 * now: after a stop or a disabling, or while nothing may be opened, by the operator's word, by the setup's permissions or
 * for want of a subscription, it ends instead of being sent. So does one that closes what is held no more; one that would
 * close more than is held is cut to that, or it would open the other side. A replacement whose order has ended meanwhile
 * goes on as an order of its own where it closes, and ends where it opens.
 */
import { isLive } from '../../domain/codes.ts'
import { dec } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { type CopyRow, cancelThese, type OrderKey } from '../../storage/mirror/account-orders.ts'
import { askConfirmation } from '../../storage/mirror/order-confirmations.ts'
import {
  type Bounded,
  boundOrders,
  loadReplaced,
  lockNextSends,
  markAttempts,
  redirectReplacement,
  requestReplaces,
  type SendRow,
  type Turn,
} from '../../storage/mirror/sending.ts'
import { stoppedInfo } from '../../storage/mirror/setups.ts'
import { guardLease, type Lease } from '../../storage/work/leases.ts'
import type { WorkContext } from '../context.ts'
import { confirmByOf, needsConfirmation } from './order-confirmations.ts'

/** An order that this process sends now; `attempts` were made before. */
export interface Claimed extends SendRow {
  readonly replaced: CopyRow | undefined
}

export interface Claims {
  readonly claimed: readonly Claimed[]
  /** Those that are not sent, for good or until their holder says yes. */
  readonly ended: number
  /** The account after which others may wait; 0 when it was the last one. */
  readonly last: number
  /** Before the claims began to run, however late it was heard that they do; by this machine's steady clock. */
  readonly claimedAt: number
}

/** Claims up to `limit` orders of the accounts whose turn it is. */
export const claimSends = (
  ctx: WorkContext,
  lease: Lease,
  brokerId: number,
  limit: number,
  turn: Turn,
): Promise<Claims> =>
  ctx.db.transaction(async (tx) => {
    const sends = lockNextSends(tx, brokerId, limit, turn)
    const [, { rows, last }] = await Promise.all([guardLease(tx, lease), sends])
    const claimedAt = performance.now()
    if (rows.length === 0) return { claimed: [], ended: 0, last, claimedAt }
    const now = ctx.clock.now()
    const refused = rows.filter((row) => refusalOf(row) !== undefined)
    await end(tx, refused, now)
    const asked = rows.filter((row) => !refused.includes(row) && needsConfirmation(row))
    await askConfirmation(tx, asked, confirmByOf(now))
    const allowed = rows.filter((row) => !refused.includes(row) && !asked.includes(row))
    const replacements = allowed.filter((row) => row.pendingAction === 'replace')
    const replaced = await loadReplaced(tx, replacements)
    const orphans = replacements.filter((row) => !isAtWork(replacedBy(row, replaced)))
    for (const row of orphans) await settleOrphan(tx, row, replacedBy(row, replaced), now)
    const claimed = allowed
      .filter((row) => !orphans.includes(row))
      .map((row) => ({ replaced: replacedBy(row, replaced), ...row }))
      .map((row) => ({ ...row, ...boundOf(row) }))
    await boundOrders(
      tx,
      claimed.filter((row): row is Claimed & Bounded => 'heldQty' in row),
    )
    await requestReplaces(
      tx,
      claimed.filter((row) => row.pendingAction === 'replace'),
    )
    await markAttempts(tx, claimed, lease.fence)
    return {
      claimed,
      ended: refused.length + asked.length + orphans.length,
      last,
      claimedAt,
    }
  })

const replacedBy = (row: SendRow, replaced: ReadonlyMap<number, CopyRow>): CopyRow | undefined =>
  row.pendingAction === 'replace' && row.replacesOrderId !== null
    ? replaced.get(row.replacesOrderId)
    : undefined

/**
 * While nothing may be opened a replacement that opens asks for no more than the order it replaces, also where it has
 * waited since before; what closes asks for no more than is held. One that may have arrived is as it was sent.
 */
function boundOf(row: Claimed): Omit<Bounded, keyof OrderKey> | undefined {
  const { replaced, closable } = row
  const asked = dec(row.orderQty)
  if (closable !== null) {
    // A replacement for nothing is no order: what it replaces is withdrawn by whoever keeps closing copies.
    if (dec(closable).isZero()) return undefined
    // It takes over what its predecessor has executed; that is held no more, and what is not booked yet still is.
    const most = dec(replaced?.cumQty ?? row.carriedQty).plus(closable)
    const heldQty = row.side === '2' ? closable : `-${closable}`
    return asked.greaterThan(most) ? { orderQty: most.toFixed(), heldQty } : undefined
  }
  const isBound = row.noOpening && row.positionEffect === 'O' && row.attempts === 0
  if (!replaced || !isBound || asked.lessThanOrEqualTo(replaced.orderQty)) return undefined
  return { orderQty: replaced.orderQty, heldQty: null }
}

const isAtWork = (order: CopyRow | undefined): boolean =>
  order !== undefined && (order.status === '0' || order.status === '1' || order.status === 'E')

/** Why the order may not go out any more; a cancel always may. */
function refusalOf(row: SendRow): string | undefined {
  if (row.pendingAction === 'cancel') return undefined
  if (row.isDisabled) return 'autotrade disabled'
  if (row.source === 'Y' && !row.isSyncEnabled) return 'AutoSync is off'
  if (row.positionEffect === 'C') {
    const isVain = row.pendingAction === 'new' && row.closable !== null && dec(row.closable).isZero()
    return isVain ? 'nothing left to close' : undefined
  }
  // What already works may go on, at another price too.
  if (row.noOpening && row.pendingAction === 'new') return 'no opening orders'
  return row.isStopped || row.fence !== row.setupFence ? stoppedInfo : undefined
}

/** Ends orders that no broker has; one that may have arrived is canceled instead. */
async function end(tx: Transaction, rows: readonly SendRow[], now: Instant): Promise<void> {
  for (const info of new Set(rows.map(refusalOf))) {
    const these = rows.filter((row) => refusalOf(row) === info)
    if (info !== undefined) await cancelThese(tx, these, { at: now, info })
  }
}

/** What becomes of a replacement whose order is no longer at work. */
async function settleOrphan(
  tx: Transaction,
  row: SendRow,
  replaced: CopyRow | undefined,
  now: Instant,
): Promise<void> {
  const wasNeverLive = replaced?.status === '8' || (replaced?.status === '4' && dec(replaced.cumQty).isZero())
  if (wasNeverLive && replaced.replacesOrderId !== null) {
    await redirectReplacement(tx, row, { replaces: replaced.replacesOrderId })
    return
  }
  const isWanted = row.positionEffect === 'C' && replaced && dec(row.orderQty).greaterThan(replaced.cumQty)
  if (isWanted && !isLive(replaced.status)) {
    await redirectReplacement(tx, row, { anew: replaced })
    return
  }
  await cancelThese(tx, [row], { at: now, info: 'the order it replaces has ended' })
}
