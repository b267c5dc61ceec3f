/**
 * The size an account should hold for a strategy's position: one pure function of that position, the
 * follower's settings and what is held. Copies and AutoSync both derive from it, so they cannot disagree.
 * Scaling rounds down: up would exceed what the investor chose. A permission taken away, a missing price and
 * a dollar cap stop increases; they never sell.
 */
import type { OrdType, SecurityType } from '../codes.ts'
import { ceilTo, type Decimal, dec, floorTo, max, min, one, sign, zero } from '../decimal.ts'

const permissionReasons = [
  'AssetClassDisabled',
  'LongNotAllowed',
  'ShortNotAllowed',
  'ClosingOrdersOnly',
] as const

/** What an account lacks to increase. */
export type PermissionReason = (typeof permissionReasons)[number]

export const scalingReasons = [
  'RoundedToZero',
  'RaisedToMinimum',
  'CappedToMaximum',
  'NoReferencePrice',
  ...permissionReasons,
] as const

/** The last step that changed the plain scaled size. */
export type ScalingReason = (typeof scalingReasons)[number]

/** One follower's choices for one asset class. `minimum`, `maximum` and `lot` are never those of a stock. */
export type MirrorSettings = {
  /** Percent of the strategy's quantity, 1..1000. */
  scalingPercentage: Decimal
  enabled: boolean
  long: boolean
  short: boolean
  closingOrdersOnly: boolean
  minimum: Decimal
  /** null: no cap; 0: nothing. */
  maximum: Decimal | null
  /** Stocks only, per symbol, in the currency of the price. null: no cap. */
  maximumDollars: Decimal | null
  /** Quantities are multiples of it; forex only, 1 elsewhere. */
  lot: Decimal
}

/** Choices that cap and forbid nothing, in whole units. */
export const unlimited: Omit<MirrorSettings, 'scalingPercentage'> = {
  enabled: true,
  long: true,
  short: true,
  closingOrdersOnly: false,
  minimum: zero,
  maximum: null,
  maximumDollars: null,
  lot: one,
}

export type Sizing = {
  assetClass: SecurityType
  settings: MirrorSettings
  /** Signed quantity the account holds. */
  held: Decimal
  /** null where there is none; needed only under a dollar cap. */
  referencePrice: Decimal | null
}

/** A signed size and the reason it is not the plain scaled one. */
export type Size = { quantity: Decimal; reason: ScalingReason | null }

/** One percent. */
export const hundredth = dec('0.01')

const lotOf = ({ assetClass, settings }: Sizing): Decimal => (assetClass === 'FOR' ? settings.lot : one)

/** The next step's size: its reason replaces the earlier one only where it changes the quantity. */
const step = (from: Size, quantity: Decimal, reason: ScalingReason): Size =>
  quantity.equals(from.quantity) ? from : { quantity, reason }

/** `held` counted in the direction of the strategy's position, 0 when it is on the other side. */
const heldAlong = (direction: 1 | -1, held: Decimal): Decimal => max(zero, held.times(direction))

/** Scaled and rounded down to the lot, before minimum, cap and permissions; unsigned. */
const scaled = (strategyQuantity: Decimal, sizing: Sizing): Decimal =>
  floorTo(strategyQuantity.abs().times(sizing.settings.scalingPercentage).times(hundredth), lotOf(sizing))

/** A stock's size under its dollar cap; what is held already may stay, up to the scaled size. */
function dollarCapped(from: Size, held: Decimal, { settings, referencePrice }: Sizing): Size {
  if (settings.maximumDollars === null) return from
  if (referencePrice === null || !referencePrice.greaterThan(0)) {
    return step(from, min(from.quantity, held), 'NoReferencePrice')
  }
  const cap = max(settings.maximumDollars.divToInt(referencePrice), held)
  return step(from, min(from.quantity, cap), 'CappedToMaximum')
}

/** Minimum, then maximum: the maximum wins. */
function bounded(from: Size, sizing: Sizing): Size {
  const { minimum, maximum } = sizing.settings
  const raised = from.quantity.lessThan(minimum)
    ? step(from, ceilTo(minimum, lotOf(sizing)), 'RaisedToMinimum')
    : from
  if (maximum === null) return raised
  return step(raised, min(raised.quantity, floorTo(maximum, lotOf(sizing))), 'CappedToMaximum')
}

function unsignedSize(strategyQuantity: Decimal, direction: 1 | -1, sizing: Sizing): Size {
  const quantity = scaled(strategyQuantity, sizing)
  const rounded: Size = { quantity, reason: quantity.isZero() ? 'RoundedToZero' : null }
  return sizing.assetClass === 'CS'
    ? dollarCapped(rounded, heldAlong(direction, sizing.held), sizing)
    : bounded(rounded, sizing)
}

/** Why an account may not increase in this direction, or null where it may. */
export function missingPermission(settings: MirrorSettings, direction: 1 | -1): PermissionReason | null {
  if (!settings.enabled) return 'AssetClassDisabled'
  if (direction === 1 && !settings.long) return 'LongNotAllowed'
  if (direction === -1 && !settings.short) return 'ShortNotAllowed'
  return settings.closingOrdersOnly ? 'ClosingOrdersOnly' : null
}

/** What the strategy's signed position means for this account before permissions. */
export function size(strategyQuantity: Decimal, sizing: Sizing): Size {
  const direction = sign(strategyQuantity)
  if (direction === 0) return { quantity: zero, reason: null }
  const { quantity, reason } = unsignedSize(strategyQuantity, direction, sizing)
  return { quantity: quantity.times(direction), reason }
}

/** The signed size the account should hold: `size`, held back where a permission to increase is missing. */
export function target(strategyQuantity: Decimal, sizing: Sizing): Size {
  const direction = sign(strategyQuantity)
  if (direction === 0) return { quantity: zero, reason: null }
  const wanted = unsignedSize(strategyQuantity, direction, sizing)
  const missing = missingPermission(sizing.settings, direction)
  const allowed =
    missing === null ? wanted : step(wanted, min(wanted.quantity, heldAlong(direction, sizing.held)), missing)
  return { quantity: allowed.quantity.times(direction), reason: allowed.reason }
}

/** The price sizes are taken at: the order's own, otherwise the current one. */
export function referencePriceOf(
  order: { type: OrdType; limit: Decimal | null; stop: Decimal | null },
  currentPrice: Decimal | null,
): Decimal | null {
  const own = order.type === '2' ? order.limit : order.type === '3' ? order.stop : null
  return own ?? currentPrice
}
