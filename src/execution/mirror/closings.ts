/**
 * Closes what a stopped setup holds: one market order per symbol, as soon as nothing else works there. Repeated
 * until the sub-ledger is flat, so a late fill of a canceled copy is closed as well. An order that waits for the market
 * while less is left to close gives way to one for that.
 */
import { dec, zero } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { chainStart, insertAccountOrders, type NewAccountOrder } from '../../storage/mirror/account-orders.ts'
import {
  type ClosingRow,
  claimClosingSetups,
  isClosingDue,
  listClosingSetups,
  loadClosings,
  settleClosings,
  withdrawExcessive,
} from '../../storage/mirror/closings.ts'
import { stoppedInfo } from '../../storage/mirror/setups.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'

const setupsAtOnce = 2_000

/** Places the closing orders that are due; answers how many rows moved. */
export const closeStopped = (ctx: WorkContext): Promise<number> =>
  isolated(ctx, {
    name: 'closing of a stopped setup',
    work: (setups) => closeThese(ctx, setups),
    list: (setups, limit) => listClosingSetups(ctx.db.read, setups, limit),
  })

const closeThese = (ctx: WorkContext, setups: Among): Promise<number> =>
  ctx.db.transaction(async (tx) => {
    const setupIds = await claimClosingSetups(tx, setups, setupsAtOnce)
    if (setupIds.length === 0) return 0
    const now = ctx.clock.now()
    const withdrawn = await withdrawExcessive(tx, setupIds, now)
    const rows = await loadClosings(tx, setupIds)
    await insertAccountOrders(
      tx,
      rows.map((row) => closingOrder(row, now)),
    )
    return withdrawn + rows.length + (await settleClosings(tx, setupIds, now))
  })

function closingOrder(row: ClosingRow, now: Instant): NewAccountOrder {
  const held = dec(row.quantity)
  const side = held.isNegative() ? '1' : '2'
  const { setupId, accountId, brokerId, strategyId, instrumentId, revision, scalingPercentage } = row
  return {
    source: 'X',
    sourceId: instrumentId,
    signalType: 1,
    side,
    ordType: '1',
    timeInForce: '0',
    positionEffect: 'C',
    orderQty: held.abs(),
    limitPx: null,
    stopPx: null,
    status: 'A',
    postedAt: now,
    endedAt: null,
    chaseAt: null,
    pendingAction: 'new',
    info: stoppedInfo,
    reason: null,
    strategyQty: zero,
    limitValue: null,
    heldQty: held,
    referencePx: side === '1' ? row.ask : row.bid,
    setupFence: row.fence,
    setupId,
    accountId,
    brokerId,
    strategyId,
    instrumentId,
    revision,
    scalingPercentage,
    ...chainStart,
  }
}

/** Stopped setups wait for their positions to be closed. */
export const closingStep: Step = { name: 'closeStopped', due: () => isClosingDue, run: closeStopped }
