/**
 * The correction of one symbol's position once its copies are settled. `effective` is the position with the
 * orders in flight done. Reducing is always allowed; increasing only with every permission, where sync-to-open
 * is on, and with no close in flight.
 */
import { type Decimal, min, sign, zero } from '../decimal.ts'
import type { SymbolState } from './mirror-sync-state.ts'
import { missingPermission, type PermissionReason } from './mirror-target.ts'

export type CorrectionReason =
  | 'Reducing'
  | 'Reversing'
  | 'Opening'
  | 'OrderPending'
  | 'SyncToOpenDisabled'
  | PermissionReason

/** `open` is signed, `close` unsigned; at most one is not 0. The reason is null where nothing differs. */
export type Correction = { close: Decimal; open: Decimal; reason: CorrectionReason | null }

const nothing = (reason: CorrectionReason | null): Correction => ({ close: zero, open: zero, reason })

/** What has to be closed, at most what of the position is not yet being closed. */
function closeBy(quantity: Decimal, available: Decimal, reason: CorrectionReason): Correction {
  const close = min(quantity, available)
  return close.greaterThan(0) ? { close, open: zero, reason } : nothing('OrderPending')
}

/**
 * The correction as the sizes alone demand it; `permitted` decides whether it may open. `available` (unsigned) is what
 * of the position no order in flight closes; it is 0 where those would carry the account to the other side.
 */
export function correctionOf(state: SymbolState, effective: Decimal, available: Decimal): Correction {
  const { expected, accountPosition } = state
  if (effective.equals(expected)) return nothing(accountPosition.equals(expected) ? null : 'OrderPending')
  const isOpposite = sign(effective) * sign(expected) < 0
  if (isOpposite || effective.abs().greaterThan(expected.abs())) {
    return isOpposite
      ? closeBy(effective.abs(), available, 'Reversing')
      : closeBy(effective.minus(expected).abs(), available, 'Reducing')
  }
  return { close: zero, open: expected.minus(effective), reason: 'Opening' }
}

/** Holds an opening correction back where something forbids it, with the first such reason. */
export function permitted(correction: Correction, state: SymbolState, isClosing: boolean): Correction {
  const direction = sign(correction.open)
  if (direction === 0) return correction
  const { settings, willSyncToOpen } = state.terms
  const obstacle =
    missingPermission(settings, direction) ??
    (willSyncToOpen ? null : 'SyncToOpenDisabled') ??
    (isClosing ? 'OrderPending' : null)
  return obstacle === null ? correction : nothing(obstacle)
}
