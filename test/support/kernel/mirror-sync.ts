/** The op mirror.sync: one AutoSync cycle of one account, numbers in and the list of actions out. */
import type { OrdStatus, OrdType, PositionEffect, SecurityType, Side } from '../../../src/domain/codes.ts'
import { type Decimal, dec, zero } from '../../../src/domain/decimal.ts'
import { autoSync, type SyncActions } from '../../../src/domain/mirror/mirror-sync.ts'
import type {
  SignalKey,
  SyncInput,
  SyncOrder,
  SyncSignal,
} from '../../../src/domain/mirror/mirror-sync-state.ts'
import { referencePriceOf } from '../../../src/domain/mirror/mirror-target.ts'
import { classOf, effectOf, sideOf, typeOf } from './codes.ts'
import { type Maybe, orNull, orZero, type PlainSettings, settingsOf } from './mirror-settings.ts'
import { print } from './numbers.ts'

type PlainSignal = {
  signalId: SignalKey
  symbol: string
  side: Side
  openClose: PositionEffect
  type: OrdType
  quantity: number
  filled?: Maybe
  limit?: Maybe
  stop?: Maybe
  doNotSyncToOpen?: boolean
  ocaGroup?: string | number | null
  replaces?: SignalKey | null
}

type PlainOrder = {
  clientOrderId: string
  signalId?: SignalKey | null
  symbol: string
  side: Side
  openClose: PositionEffect
  type?: OrdType
  leaves: number
  executed?: Maybe
  filledBefore?: Maybe
  limit?: Maybe
  stop?: Maybe
}

type PlainSync = {
  strategy: {
    positions?: Record<string, number>
    orders?: PlainSignal[]
    finishedSignals?: Record<string, { status: OrdStatus; ageSec: number; doNotSyncToOpen?: boolean }>
  }
  account: { positions?: Record<string, number>; orders?: PlainOrder[] }
  classes: Record<string, SecurityType>
  settings: Partial<Record<SecurityType, PlainSettings>>
  willSyncToOpen?: Partial<Record<SecurityType, boolean>>
  excludedSymbols?: string[]
  excludedSigns?: Record<string, 1 | -1 | '1' | '-1'>
  chaseFilled?: boolean
  referencePrices?: Record<string, Maybe>
  closingOrdersOnly?: boolean
  isSyncEnabled?: boolean
  driftGraceSecs?: number
}

const positionsOf = (positions: Record<string, number> = {}): Map<string, Decimal> =>
  new Map(Object.entries(positions).map(([symbol, quantity]) => [symbol, dec(quantity)]))

const pricesOf = (read: PlainSignal) => ({ limit: orNull(read.limit), stop: orNull(read.stop) })

const signalOf = (read: PlainSignal): SyncSignal => ({
  signalId: read.signalId,
  symbol: read.symbol,
  side: sideOf(read.side),
  positionEffect: effectOf(read.openClose),
  type: typeOf(read.type),
  quantity: dec(read.quantity),
  filled: orZero(read.filled),
  ...pricesOf(read),
  referencePrice: referencePriceOf({ type: typeOf(read.type), ...pricesOf(read) }, null),
  doNotSyncToOpen: read.doNotSyncToOpen ?? false,
  ocaGroup: read.ocaGroup === null || read.ocaGroup === undefined ? null : `${read.ocaGroup}`,
  replaces: read.replaces ?? null,
  entry: null,
  entryKept: zero,
})

const orderOf = (read: PlainOrder): SyncOrder => ({
  clientOrderId: read.clientOrderId,
  signalId: read.signalId ?? null,
  symbol: read.symbol,
  side: sideOf(read.side),
  positionEffect: effectOf(read.openClose),
  type: typeOf(read.type ?? (read.signalId ? '2' : '1')),
  leaves: dec(read.leaves),
  executed: orZero(read.executed),
  filledBefore: orZero(read.filledBefore),
  limit: orNull(read.limit),
  stop: orNull(read.stop),
  care: 'follow',
})

const signOf = (sign: 1 | -1 | '1' | '-1' | undefined): 1 | -1 | null =>
  sign === undefined ? null : String(sign) === '1' ? 1 : -1

function inputOf(read: PlainSync): SyncInput {
  const termsOf: SyncInput['termsOf'] = (symbol) => {
    const assetClass = classOf(read.classes[symbol] ?? 'CS')
    const settings = settingsOf(read.settings[assetClass])
    return {
      assetClass,
      settings: {
        ...settings,
        closingOrdersOnly: settings.closingOrdersOnly || (read.closingOrdersOnly ?? false),
      },
      willSyncToOpen: read.willSyncToOpen?.[assetClass] ?? false,
      referencePrice: orNull(read.referencePrices?.[symbol]),
    }
  }
  return {
    strategyPositions: positionsOf(read.strategy.positions),
    accountPositions: positionsOf(read.account.positions),
    signals: (read.strategy.orders ?? []).map(signalOf),
    finished: new Map(
      Object.entries(read.strategy.finishedSignals ?? {}).map(([id, signal]) => [
        id,
        {
          // One that nobody knows is as good as unknown: its copies are canceled.
          status: String(signal.status) as OrdStatus,
          ageSeconds: signal.ageSec,
          doNotSyncToOpen: signal.doNotSyncToOpen ?? false,
        },
      ]),
    ),
    orders: (read.account.orders ?? []).map(orderOf),
    termsOf,
    exclusions: new Map(
      (read.excludedSymbols ?? []).map((symbol) => [symbol, signOf(read.excludedSigns?.[symbol])]),
    ),
    chaseFilled: read.chaseFilled ?? true,
    isSyncEnabled: read.isSyncEnabled ?? true,
    driftGraceSeconds: read.driftGraceSecs ?? 30,
  }
}

const priceOf = (price: Decimal | null): number | null => price?.toNumber() ?? null

/** One flat list, in the order in which the actions are carried out. */
const listed = (actions: SyncActions) => [
  ...actions.cancel.map((clientOrderId) => ({ action: 'cancel', clientOrderId })),
  ...actions.toMarket.map(({ clientOrderId, quantity }) => ({
    action: 'toMarket',
    clientOrderId,
    qty: print(quantity),
  })),
  ...actions.replace.map(({ clientOrderId, quantity, limit, stop }) => ({
    action: 'replace',
    clientOrderId,
    qty: print(quantity),
    limit: priceOf(limit),
    stop: priceOf(stop),
  })),
  ...actions.place.map(({ signal, quantity }) => ({
    action: 'place',
    signalId: signal.signalId,
    symbol: signal.symbol,
    side: signal.side,
    openClose: signal.positionEffect,
    type: signal.type,
    qty: print(quantity),
    limit: priceOf(signal.limit),
    stop: priceOf(signal.stop),
  })),
  ...(['close', 'open'] as const).flatMap((action) =>
    actions[action].map(({ symbol, side, quantity }) => ({ action, symbol, side, qty: print(quantity) })),
  ),
]

export function syncOp(input: PlainSync) {
  const { actions, report, clearedExclusions } = autoSync(inputOf(input))
  return {
    actions: listed(actions),
    report: report.map((row) => ({
      symbol: row.symbol,
      AccountQuantity: print(row.accountQuantity),
      StrategyQuantity: print(row.strategyQuantity),
      ScaledQuantity: print(row.scaledQuantity),
      InSync: row.inSync,
      NotInSyncReason: row.reason,
    })),
    clearedExclusions,
  }
}
