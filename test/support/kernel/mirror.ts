/** Mirroring ops: sizes, copies, AutoSync, auto stop loss, broker reports, external activity, execution gap. */
import type { PositionEffect, SecurityType, Side } from '../../../src/domain/codes.ts'
import { dec, zero } from '../../../src/domain/decimal.ts'
import { accountBase, copyQuantity, strategyBase } from '../../../src/domain/mirror/mirror-copy.ts'
import { target } from '../../../src/domain/mirror/mirror-target.ts'
import { classOf, effectOf } from './codes.ts'
import { applyReportsOp, autoStopLossOp, classifyExternalOp, executionGapOp } from './mirror-account.ts'
import { type Maybe, orNull, orZero, type PlainSettings, settingsOf } from './mirror-settings.ts'
import { syncOp } from './mirror-sync.ts'
import { print } from './numbers.ts'
import type { KernelOp } from './types.ts'

function targetOp(input: {
  assetClass: SecurityType
  strategyQuantity: number
  settings: PlainSettings
  heldQuantity?: Maybe
  referencePrice?: Maybe
}) {
  const sized = target(dec(input.strategyQuantity), {
    assetClass: classOf(input.assetClass, 'assetClass'),
    settings: settingsOf(input.settings),
    held: orZero(input.heldQuantity),
    referencePrice: orNull(input.referencePrice),
  })
  return { target: print(sized.quantity), reason: sized.reason }
}

function orderQuantityOp(input: {
  assetClass: SecurityType
  strategyPosition: number
  signedQuantity: number
  filled?: Maybe
  filledBefore?: Maybe
  openClose: PositionEffect
  accountPosition: number
  executed?: Maybe
  settings: PlainSettings
  referencePrice?: Maybe
}) {
  const side: Side = input.signedQuantity < 0 ? '2' : '1'
  const progress = {
    side,
    filled: orZero(input.filled).abs(),
    filledBefore: orZero(input.filledBefore).abs(),
    executed: orZero(input.executed).abs(),
  }
  const copy = copyQuantity({
    side,
    positionEffect: effectOf(input.openClose),
    remaining: dec(input.signedQuantity).abs().minus(progress.filledBefore),
    executed: progress.executed,
    strategyBase: strategyBase(dec(input.strategyPosition), [progress]),
    sizing: {
      assetClass: classOf(input.assetClass, 'assetClass'),
      settings: settingsOf(input.settings),
      held: accountBase(dec(input.accountPosition), [progress]),
      referencePrice: orNull(input.referencePrice),
    },
    entryExecuted: null,
    entryKept: zero,
  })
  return { total: print(copy.total), quantity: print(copy.leaves), reason: copy.reason }
}

export const mirrorOps: Record<string, KernelOp> = {
  'mirror.target': targetOp,
  'mirror.orderQuantity': orderQuantityOp,
  'mirror.sync': syncOp,
  'mirror.autoStopLoss': autoStopLossOp,
  'mirror.classifyExternal': classifyExternalOp,
  'mirror.executionGap': executionGapOp,
  'broker.applyReports': applyReportsOp,
}
