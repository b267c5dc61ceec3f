/**
 * How copies follow their signal after they were made. A replacement takes over its predecessor's copy with
 * what was executed; the copies of a signal that ended unfilled are withdrawn; those of a filled one go on by
 * themselves for a grace, then chase.ts turns them to market.
 */

import { directionOf, isLive, type OrdStatus } from '../../domain/codes.ts'
import { type Decimal, dec, max, min, zero } from '../../domain/decimal.ts'
import { codeNumber, type SignalFacts } from '../../domain/mirror/mirror-columns.ts'
import { copyQuantity } from '../../domain/mirror/mirror-copy.ts'
import { explainRow, type Follower, followerAt, limitOf } from '../../domain/mirror/mirror-plan.ts'
import { type BlockCode, blocks } from '../../domain/mirror/skip.ts'
import { type Instant, second } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import {
  type CopyRow,
  cancelOrders,
  cancelThese,
  copiesOf,
  graceCopies,
} from '../../storage/mirror/account-orders.ts'
import type { PlannedSlice } from '../../storage/mirror/copies.ts'
import { endExclusions } from '../../storage/mirror/exclusions.ts'
import type { DueSignal, FollowerSlice } from '../../storage/mirror/followers.ts'
import {
  executedOf,
  type Succession,
  saveSuccessions,
  successionOf,
} from '../../storage/mirror/successions.ts'
import { driftGraceSeconds } from '../../storage/mirror/sync-cases.ts'
import { markFollowers, markSetups } from '../../storage/mirror/sync-due.ts'
import { closeAgainst } from './auto-sync.ts'
import { closeCrowdedOut } from './crowded-out.ts'

/** How long a copy may trade on by itself after its signal has filled, in milliseconds. */
export const driftGrace = driftGraceSeconds * second

/** When the copies of a signal are to be turned to market; null while it is not filled. */
export const chaseAtOf = (signal: DueSignal): Instant | null =>
  signal.status === '2' && signal.endedAt !== null ? signal.endedAt + driftGrace : null

const endings: Partial<Record<OrdStatus, string>> = {
  '4': 'signal canceled',
  '8': 'signal rejected',
  C: 'signal expired',
}

/** Why copies of the signal are no longer wanted; undefined while they are. */
export const endingOf = (signal: DueSignal): string | undefined => endings[signal.status]

/** Setups that a signal concerns beside those with a copy of it. */
interface Concerned {
  readonly kept: readonly number[]
  readonly opposed: readonly number[]
  readonly crowdedOut: readonly number[]
}

/**
 * Lets the copies of a planned signal follow what became of it. Answers how many moved. AutoSync is told last, also of
 * the `kept` setups: who books reports has locked orders before he marks their setups. `opposed` are those that
 * `lockOpposed` has found.
 */
export async function followSignal(
  tx: Transaction,
  signal: DueSignal,
  { kept, opposed, crowdedOut }: Concerned,
  now: Instant,
): Promise<number> {
  const ending = endingOf(signal)
  const freed = await endExclusions(tx, signal, [signal.position], now)
  if (opposed.length > 0) await closeAgainst(tx, opposed, signal.instrumentId, now)
  await closeCrowdedOut(tx, crowdedOut, signal, now)
  const moved = await moveCopies(tx, signal, ending, now)
  // What ended at once is told by its copies; whatever ends later may leave accounts apart from the strategy.
  const isNews = signal.endedAt !== null && (signal.mirroredAt !== null || ending !== undefined)
  if (isNews) await markFollowers(tx, [signal.strategyId], now)
  else await markSetups(tx, [...freed, ...kept], now)
  return moved
}

async function moveCopies(
  tx: Transaction,
  signal: DueSignal,
  ending: string | undefined,
  now: Instant,
): Promise<number> {
  // Where a broker refused the change, it still works the copy of what the signal has replaced.
  const chain = [...signal.predecessors, signal.id]
  if (ending) return cancelOrders(tx, copiesOf(chain), { at: now, info: ending })
  const chaseAt = chaseAtOf(signal)
  return chaseAt === null ? 0 : graceCopies(tx, chain, chaseAt)
}

/** A follower whose copy of the predecessor goes on. */
export interface TakenRow {
  readonly row: number
  readonly copy: CopyRow
}

/** The slice's followers that have one of these copies of what the signal replaces. */
export function takenOf(copies: readonly CopyRow[], { setupIds }: FollowerSlice): TakenRow[] {
  const bySetup = new Map(copies.map((copy) => [copy.setupId, copy]))
  return [...setupIds].flatMap((setupId, row) => {
    const copy = bySetup.get(setupId)
    return copy ? [{ row, copy }] : []
  })
}

/**
 * Decides a follower's copy anew under the replacement, with what it executed and the fills of the strategy
 * since it was made: its leaves. Writes the reason, and the numbers behind it, into the plan's row.
 */
function decide(facts: SignalFacts, { slice, plan }: PlannedSlice, { row, copy }: TakenRow): Decimal {
  const follower = followerAt(slice.columns, row)
  const direction = directionOf(facts.side)
  const executed = executedOf(copy)
  const ahead = facts.filled.minus(copy.signalFilledBefore).times(direction)
  const strategyBase = facts.strategyPosition.minus(ahead).minus(follower.filledAhead)
  const remaining = max(zero, facts.quantity.minus(copy.signalFilledBefore))
  const held = follower.position.minus(follower.executed).minus(executed.times(direction))
  const { leaves, reason } = copyQuantity({
    side: facts.side,
    positionEffect: facts.positionEffect,
    remaining,
    executed,
    strategyBase,
    sizing: { settings: follower.settings, held, ...facts },
    entryExecuted: follower.entryExecuted,
    entryKept: facts.entryKept,
  })
  const allowed = withinLimits(facts, follower, slice.stopped[row] === 1, copy, leaves)
  const code = allowed.block ?? reason ?? (allowed.leaves.isZero() ? 'NoIncrease' : null)
  plan.code[row] = codeNumber(code)
  plan.limit[row] = limitOf(facts, follower.settings, code)?.toNumber() ?? Number.NaN
  plan.quantity[row] = allowed.leaves.toNumber()
  plan.strategyQuantity[row] = strategyBase.plus(remaining.times(direction)).toNumber()
  return allowed.leaves
}

/** Closing stays within what is held; a circumstance ends the copy, or keeps it from growing. */
function withinLimits(
  facts: SignalFacts,
  follower: Follower,
  isStopped: boolean,
  copy: CopyRow,
  leaves: Decimal,
): { readonly leaves: Decimal; readonly block: BlockCode | null } {
  const { block } = follower
  const working = isLive(copy.status) || copy.status === '5' ? dec(copy.orderQty).minus(copy.cumQty) : zero
  if (isStopped) return { leaves: zero, block: 'SubscriptionEnded' }
  if (block !== null && blocks(block, facts.positionEffect)) {
    const mayStay = block === 'MassSwitch' || block === 'UnknownOutcomePending'
    return { leaves: mayStay ? min(leaves, max(zero, working)) : zero, block }
  }
  // A copy that ended stays ended; only closing is attempted a second time.
  if (facts.positionEffect === 'O') return { leaves: working.isZero() ? zero : leaves, block: null }
  const along = follower.position.times(-directionOf(facts.side))
  return { leaves: min(leaves, max(zero, along.minus(follower.closingLeaves))), block: null }
}

/**
 * Hands the predecessor's copies to the signal. Answers the rows whose copy goes on; what still
 * works of the other copies is withdrawn.
 */
export async function takeOver(
  tx: Transaction,
  facts: SignalFacts,
  planned: PlannedSlice,
  taken: readonly TakenRow[],
  now: Instant,
): Promise<ReadonlySet<number>> {
  const { signal, slice, plan } = planned
  const decided = taken.map((one) => ({ ...one, leaves: decide(facts, planned, one) }))
  const isWanted = endingOf(signal) === undefined
  const kept = decided.filter(({ leaves }) => isWanted && leaves.greaterThan(0))
  const withdrawn = decided.filter((one) => !kept.includes(one) && isLive(one.copy.status))
  const successions = kept.map(({ row, copy, leaves }): Succession => {
    const why = explainRow(facts, slice.columns, plan, row)
    return successionOf(copy, {
      sourceId: signal.id,
      // The price is the strategy's again, and with it the care of AutoSync.
      signalType: signal.signalType,
      revision: 0,
      ordType: signal.ordType,
      timeInForce: signal.timeInForce,
      limitPx: signal.limitPx,
      stopPx: signal.stopPx,
      leaves,
      at: now,
      chaseAt: chaseAtOf(signal),
      info: null,
      reason: why.code,
      strategyQty: why.strategyQuantity,
      scalingPercentage: slice.columns.scalingPercentage[row]!,
      limitValue: why.limit,
      heldQty: why.position,
      referencePx: signal.referencePx,
    })
  })
  const canceled = withdrawn.map(({ copy }) => copy)
  await cancelThese(tx, canceled, { at: now, info: endingOf(signal) ?? 'no longer wanted' })
  await saveSuccessions(tx, successions, now)
  return new Set(kept.map(({ row }) => row))
}
