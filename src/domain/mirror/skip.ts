/**
 * Why a signal became no order for a follower: the closed list of codes. Every signal ends for every follower
 * in exactly one row, an account order or a skip with one of these codes, so a customer can always be told why.
 */
import type { PositionEffect } from '../codes.ts'
import { type ScalingReason, scalingReasons } from './mirror-target.ts'

const blockCodes = [
  'Excluded',
  'AutotradeDisabled',
  'BrokerDisabled',
  'NotTradableAtBroker',
  'SubscriptionEnded',
  'UnknownOutcomePending',
  'MassSwitch',
] as const

/** A circumstance of the follower that stands before any arithmetic. */
export type BlockCode = (typeof blockCodes)[number]

/**
 * NothingHeld: a closing signal, and the account holds nothing on that side, or other orders already work to close it.
 * NoIncrease: the size the account should hold is the same before and after the signal.
 */
export type SkipCode = ScalingReason | BlockCode | 'NothingHeld' | 'NoIncrease'

/** The order is the wire and storage number of each code in a plan's column; append only. */
export const skipCodes: readonly SkipCode[] = [...scalingReasons, ...blockCodes, 'NothingHeld', 'NoIncrease']

/** Whether a follower got no order because of a circumstance rather than of its size. */
export const isBlockCode = (code: SkipCode | null): boolean => blockCodes.some((one) => one === code)

/** These forbid new risk only: what protects or ends a position still goes out. */
const openingOnly: readonly BlockCode[] = ['SubscriptionEnded', 'UnknownOutcomePending', 'MassSwitch']

/** Whether the circumstance keeps a signal with this position effect from the account. */
export const blocks = (code: BlockCode, positionEffect: PositionEffect): boolean =>
  positionEffect === 'O' || !openingOnly.includes(code)
