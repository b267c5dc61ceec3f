/**
 * How much of a signal one account copies. A copy is sized from the base: both positions without what the
 * live signals and their copies have done since the copies exist. So one copy's progress never disturbs
 * another, what was executed is never bought again, and nothing is cut because the strategy filled first.
 * Closing is never blocked by permissions.
 */
import { directionOf, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, max, min, zero } from '../decimal.ts'
import {
  missingPermission,
  type ScalingReason,
  type Size,
  type Sizing,
  size,
  target,
} from './mirror-target.ts'

/** What base quantities need of one live copy; quantities unsigned. */
export type CopyProgress = {
  side: Side
  /** The signal's filled quantity now, and when the copy was made. */
  filled: Decimal
  filledBefore: Decimal
  /** The copy's own executed quantity. */
  executed: Decimal
}

/** The strategy's signed position without the live signals' fills since their copies exist. */
export const strategyBase = (position: Decimal, copies: readonly CopyProgress[]): Decimal =>
  copies.reduce(
    (base, copy) => base.minus(copy.filled.minus(copy.filledBefore).times(directionOf(copy.side))),
    position,
  )

/** The account's signed position without what the same copies executed. */
export const accountBase = (position: Decimal, copies: readonly CopyProgress[]): Decimal =>
  copies.reduce((base, copy) => base.minus(copy.executed.times(directionOf(copy.side))), position)

/** One signal for one account. `sizing.held` is the account base. */
export type CopyRequest = {
  side: Side
  positionEffect: PositionEffect
  /** Unsigned quantity of the signal that was still to trade when the copy was made. */
  remaining: Decimal
  /** What the copy has executed already, unsigned; 0 for a new one. */
  executed: Decimal
  strategyBase: Decimal
  sizing: Sizing
  /** For a bracket exit: what this account's copy of its entry executed; null for any other signal. */
  entryExecuted: Decimal | null
  /** What the exits leave of the strategy's entry, unsigned: their owner made them smaller, or others closed it. */
  entryKept: Decimal
}

/** `total` over the copy's life and the leaves still wanted, unsigned; the reason is that of the size after the signal. */
export type CopyQuantity = { total: Decimal; leaves: Decimal; reason: ScalingReason | null }

const nothing: Size = { quantity: zero, reason: null }

/** The rise of the target in the signal's direction; without permission for it no leaves are wanted. */
function opening(request: CopyRequest): CopyQuantity {
  const direction = directionOf(request.side)
  const along = (position: Decimal): Size =>
    position.times(direction).greaterThan(0) ? target(position, request.sizing) : nothing
  const before = along(request.strategyBase)
  const after = along(request.strategyBase.plus(request.remaining.times(direction)))
  const rise = max(zero, after.quantity.abs().minus(before.quantity.abs()))
  const missing = missingPermission(request.sizing.settings, direction)
  const reason = missing !== null && rise.greaterThan(0) ? missing : (after.reason ?? missing)
  return { total: rise, leaves: missing === null ? max(zero, rise.minus(request.executed)) : zero, reason }
}

/** Everything held if the signal ends the strategy's position, otherwise what is above the size that remains. */
function closingTotal(request: CopyRequest): { total: Decimal; reason: ScalingReason | null } {
  const direction = directionOf(request.side)
  const held = request.sizing.held.times(-direction)
  if (!held.greaterThan(0)) return { total: zero, reason: null }
  const after = request.strategyBase.plus(request.remaining.times(direction))
  if (after.times(direction).greaterThanOrEqualTo(0)) return { total: held, reason: null }
  const kept = size(after, request.sizing)
  return { total: max(zero, held.minus(kept.quantity.abs())), reason: kept.reason }
}

/** What a bracket exit covers of the account's own entry, whatever the strategy's entry did. */
export function coveredOfEntry({
  side,
  sizing,
  entryExecuted,
  entryKept,
}: Pick<CopyRequest, 'side' | 'sizing' | 'entryExecuted' | 'entryKept'>): Decimal {
  if (entryExecuted === null) return zero
  return max(zero, entryExecuted.minus(size(entryKept.times(-directionOf(side)), sizing).quantity.abs()))
}

/** A bracket exit closes at least what it covers of its entry. */
function closing(request: CopyRequest): CopyQuantity {
  const { total, reason } = closingTotal(request)
  const covered = max(total, coveredOfEntry(request))
  return { total: covered, leaves: max(zero, covered.minus(request.executed)), reason }
}

/** Quantity of the copy of one signal in one account. */
export const copyQuantity = (request: CopyRequest): CopyQuantity =>
  request.positionEffect === 'O' ? opening(request) : closing(request)

/** A working closing copy; members of one OCA group protect the same quantity. */
export type ClosingLeaves = { ocaGroup: string | null; leaves: Decimal }

/**
 * Leaves of an account's closing copies of one symbol, given oldest first, so that together they never exceed
 * `held` (unsigned): a group counts once, by its largest member, and the younger shrink first.
 */
export function clampClosing(copies: readonly ClosingLeaves[], held: Decimal): Decimal[] {
  const largest = new Map<string, Decimal>()
  let room = max(zero, held)
  return copies.map(({ ocaGroup, leaves }) => {
    const shared = (ocaGroup === null ? undefined : largest.get(ocaGroup)) ?? zero
    const allowed = min(leaves, shared.plus(room))
    const growth = max(zero, allowed.minus(shared))
    room = room.minus(growth)
    if (ocaGroup !== null) largest.set(ocaGroup, shared.plus(growth))
    return allowed
  })
}
