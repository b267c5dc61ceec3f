/**
 * The plan of one signal: every follower ends in exactly one row, an order quantity or a skip code, with the
 * numbers it was decided from. `planFollower` is the definition, in decimals; `planSignal` runs it over columns
 * and takes the whole-number form where that is exact, which a property test holds equal to the definition.
 */
import { directionOf } from '../codes.ts'
import { type Decimal, dec, max, min, zero } from '../decimal.ts'
import {
  blockOf,
  codeNumber,
  codeOf,
  type FollowerColumns,
  type PlanColumns,
  permissionBits,
  planColumns,
  readMaximum,
  readQuantity,
  type SignalFacts,
} from './mirror-columns.ts'
import { copyQuantity } from './mirror-copy.ts'
import type { MirrorSettings } from './mirror-target.ts'
import { planWhole, wholeSignal } from './mirror-whole.ts'
import { type BlockCode, blocks, type SkipCode } from './skip.ts'

/** What the plan reads of one follower; the meaning of each member is that of its column. */
export type Follower = {
  settings: MirrorSettings
  block: BlockCode | null
  position: Decimal
  executed: Decimal
  filledAhead: Decimal
  closingLeaves: Decimal
  entryExecuted: Decimal | null
}

export type Decision = {
  quantity: Decimal
  code: SkipCode | null
  strategyQuantity: Decimal
  limit: Decimal | null
}

/** The setting that bounds the size: the minimum where it raised it, otherwise the class's cap. */
export function limitOf(
  { assetClass }: Pick<SignalFacts, 'assetClass'>,
  { minimum, maximum, maximumDollars }: MirrorSettings,
  code: SkipCode | null,
): Decimal | null {
  if (code === 'RaisedToMinimum') return minimum
  return assetClass === 'CS' ? maximumDollars : maximum
}

/** Quantity and code of a follower whom nothing blocks. */
function sized(signal: SignalFacts, follower: Follower, strategyBase: Decimal, remaining: Decimal) {
  const direction = directionOf(signal.side)
  const held = follower.position.minus(follower.executed)
  const { leaves, reason } = copyQuantity({
    side: signal.side,
    positionEffect: signal.positionEffect,
    remaining,
    executed: zero,
    strategyBase,
    sizing: { settings: follower.settings, held, ...signal },
    entryExecuted: follower.entryExecuted,
    entryKept: signal.entryKept,
  })
  if (signal.positionEffect === 'O') {
    return { quantity: leaves, code: reason ?? (leaves.isZero() ? 'NoIncrease' : null) } as const
  }
  const free = max(zero, follower.position.times(-direction).minus(follower.closingLeaves))
  const quantity = min(leaves, free)
  if (!quantity.isZero()) return { quantity, code: reason }
  const unchanged = leaves.isZero() && held.times(-direction).greaterThan(0)
  return { quantity, code: unchanged ? (reason ?? 'NoIncrease') : 'NothingHeld' } as const
}

/** Decides one signal for one follower: the definition that the columns form follows. */
export function planFollower(signal: SignalFacts, follower: Follower): Decision {
  const direction = directionOf(signal.side)
  const ahead = signal.filled.minus(signal.filledBefore).times(direction)
  const strategyBase = signal.strategyPosition.minus(ahead).minus(follower.filledAhead)
  const remaining = max(zero, signal.quantity.minus(signal.filledBefore))
  const strategyQuantity = strategyBase.plus(remaining.times(direction))
  const blocked = follower.block !== null && blocks(follower.block, signal.positionEffect)
  const { quantity, code } = blocked
    ? { quantity: zero, code: follower.block }
    : sized(signal, follower, strategyBase, remaining)
  return { quantity, code, strategyQuantity, limit: limitOf(signal, follower.settings, code) }
}

/** One row of the columns as `planFollower` reads it. */
export function followerAt(columns: FollowerColumns, row: number): Follower {
  const bits = columns.permissions[row]!
  const has = (bit: number): boolean => (bits & bit) !== 0
  return {
    settings: {
      scalingPercentage: dec(columns.scalingPercentage[row]!),
      enabled: has(permissionBits.enabled),
      long: has(permissionBits.long),
      short: has(permissionBits.short),
      closingOrdersOnly: has(permissionBits.closingOrdersOnly),
      minimum: dec(columns.minimum[row]!),
      maximum: readMaximum(columns.maximum, row),
      maximumDollars: readMaximum(columns.maximumDollars, row),
      lot: dec(columns.lot[row]!),
    },
    block: blockOf(columns.block[row]!),
    position: dec(columns.position[row]!),
    executed: dec(columns.executed[row]!),
    filledAhead: dec(columns.filledAhead[row]!),
    closingLeaves: dec(columns.closingLeaves[row]!),
    entryExecuted: readQuantity(columns.entryExecuted, row),
  }
}

/** Decides one signal for all followers of the columns; row i of the plan is row i of the followers. */
export function planSignal(signal: SignalFacts, columns: FollowerColumns): PlanColumns {
  const plan = planColumns(columns.count)
  const whole = wholeSignal(signal)
  for (let row = 0; row < columns.count; row += 1) {
    if (whole !== null && planWhole(whole, columns, row, plan)) continue
    const decision = planFollower(signal, followerAt(columns, row))
    plan.quantity[row] = decision.quantity.toNumber()
    plan.code[row] = codeNumber(decision.code)
    plan.strategyQuantity[row] = decision.strategyQuantity.toNumber()
    plan.limit[row] = decision.limit?.toNumber() ?? Number.NaN
  }
  return plan
}

/**
 * Whether a follower got no copy although he holds what the signal closes: his other closing orders, all of them
 * older, keep the whole position. What the signal does to the strategy is then for AutoSync to follow.
 */
export const isCrowdedOut = (
  signal: SignalFacts,
  columns: FollowerColumns,
  plan: PlanColumns,
  row: number,
): boolean =>
  codeOf(plan.code[row]!) === 'NothingHeld' && columns.position[row]! * -directionOf(signal.side) > 0

/** Whether a follower's copy closes all that his older closing orders leave, and it might have been more without them. */
export const isCutByExits = (
  { positionEffect, side }: SignalFacts,
  { position, closingLeaves }: FollowerColumns,
  { quantity }: PlanColumns,
  row: number,
): boolean =>
  positionEffect === 'C' &&
  closingLeaves[row]! > 0 &&
  quantity[row]! >= position[row]! * -directionOf(side) - closingLeaves[row]!

/** The numbers behind one row, for the skip's record or the order's information. */
export function explainRow(signal: SignalFacts, columns: FollowerColumns, plan: PlanColumns, row: number) {
  return {
    code: codeOf(plan.code[row]!),
    strategyQuantity: dec(plan.strategyQuantity[row]!),
    scalingPercentage: dec(columns.scalingPercentage[row]!),
    limit: readQuantity(plan.limit, row),
    position: dec(columns.position[row]!),
    price: signal.referencePrice,
  }
}
