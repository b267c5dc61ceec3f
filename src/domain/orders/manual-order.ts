/**
 * What the holder of an account may order himself: closing orders in one setup, and changes of exits. Such an
 * order never opens anything and never trades more than is held; the automatic stop loss is not his to touch.
 */

import { isLive, type OrdStatus, type OrdType, type PositionEffect, type Side } from '../codes.ts'
import { type Decimal, min, zero } from '../decimal.ts'
import { actsAgainst } from '../positions/open-close.ts'
import type { OrderSource } from './client-order-id.ts'

interface Holding {
  readonly strategyId: number
  /** Signed. */
  readonly quantity: Decimal
}

/**
 * The setup that a closing order is meant for: the one named, otherwise the only one that holds the symbol, and
 * where none does the only one there is.
 */
export function setupMeant<Setup extends Holding>(
  setups: readonly Setup[],
  strategyId: number | bigint | undefined,
): Setup | 'several' | 'none' {
  if (strategyId !== undefined)
    return setups.find((setup) => BigInt(setup.strategyId) === BigInt(strategyId)) ?? 'none'
  const holding = setups.filter(({ quantity }) => !quantity.isZero())
  if (holding.length > 1) return 'several'
  const [only, second] = holding.length === 1 ? holding : setups
  return only && !second ? only : 'none'
}

/**
 * How much a closing order may trade of the signed position `held`; it is cut to what is there. `promised` (unsigned) is
 * what older exits of its kind work already: two limits may trade on the same quote, so each unit is closed by one of
 * them. A limit and a stop stand on two sides of the market and may both be for all.
 */
export function closableQuantity(
  side: Side,
  quantity: Decimal,
  held: Decimal,
  promised: Decimal,
): Decimal | 'no position to close' | 'other exits close the position' {
  if (!actsAgainst(side, held)) return 'no position to close'
  const left = held.abs().minus(promised)
  return left.greaterThan(zero) ? min(quantity, left) : 'other exits close the position'
}

/** An account order as far as its holder's wish is held against it. */
export interface OwnOrderFacts {
  readonly source: OrderSource
  readonly status: OrdStatus
  readonly ordType: OrdType
  readonly positionEffect: PositionEffect
  /** Another order is about to take its place. */
  readonly isBeingReplaced: boolean
}

/** What a cancel does: nothing when it is canceled already or on its way; refused when the order has ended. */
export function cancelOf({ source, status }: OwnOrderFacts): 'cancel' | 'done' | 'stopLoss' | 'ended' {
  if (source === 'L') return 'stopLoss'
  if (status === '4' || status === '6') return 'done'
  return isLive(status) ? 'cancel' : 'ended'
}

/** Whether the price of an order may be changed: of a limit or stop exit that is at work and undisturbed. */
export function replaceOf(order: OwnOrderFacts): 'replace' | 'stopLoss' | 'notAnExit' | 'ended' | 'busy' {
  const { source, status, ordType, positionEffect } = order
  if (source === 'L') return 'stopLoss'
  if (!isLive(status)) return 'ended'
  if ((source !== 'S' && source !== 'M') || positionEffect !== 'C' || ordType === '1') return 'notAnExit'
  return status === '6' || status === 'E' || order.isBeingReplaced ? 'busy' : 'replace'
}
