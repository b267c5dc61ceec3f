/**
 * Mirroring: a signal that starts to work is planned for all who followed its strategy at that moment, each
 * follower ending in exactly one row, an order or a skip. Slices commit one by one and remember how far they
 * came, so a worker that dies loses nothing and another goes on. Later the same signal comes back when it was
 * replaced or has ended, and its copies follow.
 */
import { directionOf } from '../../domain/codes.ts'
import { dec, decOrNull } from '../../domain/decimal.ts'
import { codeNumber, codeOf, type SignalFacts } from '../../domain/mirror/mirror-columns.ts'
import { isCrowdedOut, isCutByExits, planSignal } from '../../domain/mirror/mirror-plan.ts'
import { isBlockCode } from '../../domain/mirror/skip.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { instant } from '../../storage/database/wire.ts'
import { type CopyState, insertCopies, insertSkips, type PlannedSlice } from '../../storage/mirror/copies.ts'
import { exitsCloseTheRest, hasCrowdedOut, lockCrowdedOut } from '../../storage/mirror/crowded-out.ts'
import { endExclusions, lockOpposed } from '../../storage/mirror/exclusions.ts'
import {
  type DueSignal,
  type LiveSignal,
  listOtherSignals,
  listWorking,
  loadDueSignal,
  loadFollowers,
  lockPredecessors,
  saveMirrorProgress,
  settleMirroring,
} from '../../storage/mirror/followers.ts'
import {
  claimDueStrategy,
  findNextExits,
  isMirroringDue,
  listDueStrategies,
  settleUnfollowed,
} from '../../storage/mirror/mirror-due.ts'
import { markSetups } from '../../storage/mirror/sync-due.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import { inRounds } from '../rounds.ts'
import { chaseAtOf, endingOf, followSignal, takenOf, takeOver } from './mirror-follow.ts'

/** Followers that one transaction plans. */
const sliceSize = 20_000
const statementTimeoutMs = 30_000

/** Plans and follows every due signal; a strategy's signals in the order of their ids. Answers the rows moved. */
export async function mirrorSignals(ctx: WorkContext, followersAtOnce = sliceSize): Promise<number> {
  const alone = await settleAlone(ctx)
  const followed = await isolated(ctx, {
    name: 'signals of a strategy',
    work: (strategies) => inRounds(ctx, () => mirrorNext(ctx, strategies, followersAtOnce)),
    list: (strategies, limit) => listDueStrategies(ctx.db.read, ctx.clock.now(), strategies, limit),
  })
  return alone + followed
}

/** What nobody follows; exits become due when their entries are settled. */
const settleAlone = (ctx: WorkContext): Promise<number> =>
  inRounds(ctx, async () => (await settleUnfollowed(ctx.db.write, ctx.clock.now())) || undefined)

/** One slice of one signal; undefined when nothing is due. */
const mirrorNext = (
  ctx: WorkContext,
  strategies: Among,
  followersAtOnce: number,
): Promise<number | undefined> =>
  ctx.db.transaction(
    async (tx) => {
      const now = ctx.clock.now()
      const strategyId = await claimDueStrategy(tx, now, strategies)
      if (strategyId === undefined) return undefined
      const signal = await loadDueSignal(tx, strategyId, now)
      // Whoever held the strategy has done it meanwhile.
      if (!signal) return 0
      const opposed = await lockOpposed(tx, signal)
      const crowdedOut = await lockCrowdedOut(tx, signal)
      const slice = signal.mirroredAt === null ? await planSlice(tx, signal, followersAtOnce, now) : undefined
      // Whom older exits kept from what it has traded is locked by the next round: here orders are locked already.
      if (slice && (slice.hasMore || (await hasCrowdedOut(tx, signal)))) {
        await tx.withCommit(() => markSetups(tx, slice.kept, now))
        return slice.rows
      }
      const setups = { kept: slice?.kept ?? [], opposed, crowdedOut }
      const followed = await followSignal(tx, signal, setups, now)
      await tx.withCommit(() => settleMirroring(tx, signal.id))
      return (slice?.rows ?? 0) + followed + 1
    },
    { statementTimeoutMs },
  )

function factsOf(signal: DueSignal): SignalFacts {
  return {
    assetClass: signal.securityType,
    side: signal.side,
    positionEffect: signal.positionEffect,
    quantity: dec(signal.orderQty),
    filled: dec(signal.cumQty),
    filledBefore: dec(signal.filledBefore),
    strategyPosition: dec(signal.position),
    referencePrice: decOrNull(signal.referencePx),
    entryKept: dec(signal.entryKept),
  }
}

/** The signal may have ended before its copies exist: then they end with it, unseen by any broker. */
function stateOf(signal: DueSignal, now: number): CopyState {
  const info = endingOf(signal) ?? null
  const status = info !== null ? '4' : signal.status === '5' ? '5' : 'A'
  const isLive = status === 'A'
  return {
    status,
    pendingAction: isLive ? 'new' : null,
    postedAt: instant(now),
    endedAt: isLive ? null : instant(now),
    chaseAt: isLive ? instant(chaseAtOf(signal)) : null,
    info,
  }
}

/** What a signal's skips are decided from. */
interface Skipped extends PlannedSlice {
  readonly facts: SignalFacts
  readonly others: readonly LiveSignal[]
  readonly skips: readonly number[]
}

/**
 * The setups among those that got no copy that AutoSync is to look at, as no report of an order makes them due. Whom a
 * circumstance kept from the signal may be brought in step when it is over; those whose resting exits left no room for
 * it, as soon as it has traded. And what it traded at once moves the sizes of all other copies: of signals at work, and
 * of what still works for a size that is none any more.
 */
async function keptSetups(tx: Transaction, skipped: Skipped): Promise<number[]> {
  const { signal, facts, others, slice, plan, skips } = skipped
  const hasTraded = signal.endedAt !== null && facts.filled.greaterThan(facts.filledBefore)
  const movesOthers = others.length > 0 && hasTraded
  const isKept = (row: number): boolean =>
    movesOthers || isBlockCode(codeOf(plan.code[row]!)) || isCrowdedOut(facts, slice.columns, plan, row)
  const kept: number[] = []
  const rest: number[] = []
  for (const row of skips) (isKept(row) ? kept : rest).push(slice.setupIds[row]!)
  return hasTraded ? [...kept, ...(await listWorking(tx, signal.instrumentId, rest))] : kept
}

/** Plans the next followers in one go and notes how far it came; `kept` are the setups that AutoSync looks at then. */
async function planSlice(
  tx: Transaction,
  signal: DueSignal,
  followersAtOnce: number,
  now: number,
): Promise<{ rows: number; hasMore: boolean; kept: readonly number[] }> {
  const facts = factsOf(signal)
  const own = facts.filled.minus(facts.filledBefore).times(directionOf(facts.side))
  const [copies, others] = await Promise.all([
    lockPredecessors(tx, signal, followersAtOnce),
    listOtherSignals(tx, signal),
    endExclusions(tx, signal, [signal.position, facts.strategyPosition.minus(own).toFixed()], now),
  ])
  const slice = await loadFollowers(tx, signal, others, followersAtOnce)
  const { columns, setupIds, stopped } = slice
  const plan = planSignal(facts, columns)
  // Nothing is closed by copies where the owner has stopped: what he holds there is closed, or left, as a whole.
  for (let row = stopped.indexOf(1); row >= 0; row = stopped.indexOf(1, row + 1)) {
    plan.quantity[row] = 0
    plan.code[row] = codeNumber('SubscriptionEnded')
  }
  const taken = takenOf(copies, slice)
  const planned = { signal, slice, plan }
  const continued = await takeOver(tx, facts, planned, taken, now)
  const orders: number[] = []
  const skips: number[] = []
  for (let row = 0; row < columns.count; row += 1) {
    if (!continued.has(row)) (plan.quantity[row]! > 0 ? orders : skips).push(row)
  }
  const kept = await keptSetups(tx, { ...planned, facts, others, skips })
  const hasMore = columns.count === followersAtOnce
  const isCut = (row: number): boolean => isCutByExits(facts, columns, plan, row)
  const state = stateOf(signal, now)
  await Promise.all([
    insertCopies(
      tx,
      planned,
      orders.filter((row) => !isCut(row)),
      state,
    ),
    insertCopies(tx, planned, orders.filter(isCut), { ...state, info: state.info ?? exitsCloseTheRest }),
    insertSkips(tx, planned, skips, instant(now)),
    saveMirrorProgress(tx, signal.id, {
      afterSetupId: setupIds[columns.count - 1] ?? signal.afterSetupId,
      mirroredAt: hasMore ? null : instant(now),
    }),
  ])
  return { rows: columns.count, hasMore, kept }
}

/** Signals wait for their copies, or their copies for them. */
export const mirrorStep: Step = {
  name: 'mirrorSignals',
  due: isMirroringDue,
  moments: [findNextExits],
  run: (ctx) => mirrorSignals(ctx),
}
