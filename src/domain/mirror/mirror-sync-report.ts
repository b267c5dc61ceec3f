/**
 * The line that tells a customer how one symbol stands and why it is not in sync. One code: what explains the
 * difference by itself (an exclusion, AutoSync off, orders that still work) before what was done about it.
 */
import type { Decimal } from '../decimal.ts'
import type { Correction, CorrectionReason } from './mirror-sync-correction.ts'
import type { SymbolState } from './mirror-sync-state.ts'
import { hundredth, type ScalingReason } from './mirror-target.ts'

export type NotInSyncReason = 'Excluded' | 'SyncDisabled' | CorrectionReason | ScalingReason

export type SyncReportRow = {
  symbol: string
  accountQuantity: Decimal
  strategyQuantity: Decimal
  scaledQuantity: Decimal
  inSync: boolean
  reason: NotInSyncReason | null
}

/** The reason beside a position that is as expected: live orders at work, or limits that shape the size. */
function reasonInSync({
  accountPosition,
  strategyPosition,
  scaled,
  terms,
}: SymbolState): NotInSyncReason | null {
  if (!accountPosition.equals(scaled.quantity)) return 'OrderPending'
  const exact = strategyPosition.times(terms.settings.scalingPercentage).times(hundredth)
  return scaled.quantity.equals(exact) ? null : scaled.reason
}

function reasonOf(
  state: SymbolState,
  correction: Correction,
  input: { isSyncEnabled: boolean },
  hasCancel: boolean,
) {
  if (state.excluded) return 'Excluded'
  // What holds an opening back while a close works explains the row also where the position is still as expected.
  const isHeldBack = input.isSyncEnabled && !hasCancel && correction.reason === 'OrderPending'
  if (state.accountPosition.equals(state.expected)) return isHeldBack ? 'OrderPending' : reasonInSync(state)
  if (!input.isSyncEnabled) return 'SyncDisabled'
  return hasCancel ? 'OrderPending' : correction.reason
}

/** The row of one symbol; `hasCancel` where this cycle cancels an order of it and therefore corrects nothing. */
export function reportRow(
  state: SymbolState,
  correction: Correction,
  input: { isSyncEnabled: boolean },
  hasCancel: boolean,
): SyncReportRow {
  return {
    symbol: state.symbol,
    accountQuantity: state.accountPosition,
    strategyQuantity: state.strategyPosition,
    scaledQuantity: state.scaled.quantity,
    inSync: state.excluded || state.accountPosition.equals(state.expected),
    reason: reasonOf(state, correction, input, hasCancel),
  }
}
