/**
 * AutoSync inputs written briefly: quantities as numbers, one symbol (ES) unless another is named, and everything
 * that is not stated as the product defaults it. `told` says a plan's actions as words.
 */
import type { OrdStatus, SecurityType, Side } from '../../src/domain/codes.ts'
import { type Decimal, dec, zero } from '../../src/domain/decimal.ts'
import type { SyncPlan } from '../../src/domain/mirror/mirror-sync.ts'
import type { SyncInput, SyncOrder, SyncSignal } from '../../src/domain/mirror/mirror-sync-state.ts'
import { type MirrorSettings, unlimited } from '../../src/domain/mirror/mirror-target.ts'

const open: MirrorSettings = { ...unlimited, scalingPercentage: dec(100) }

export type Signal = Partial<Omit<SyncSignal, 'quantity' | 'filled' | 'limit' | 'stop'>> & {
  q: number
  f?: number
  limit?: number
  stop?: number
}
export type Order = Partial<Omit<SyncOrder, 'leaves' | 'executed' | 'filledBefore' | 'limit' | 'stop'>> & {
  leaves: number
  e?: number
  b?: number
  limit?: number
  stop?: number
}

const orNull = (value: number | undefined): Decimal | null => (value === undefined ? null : dec(value))

const signal = ({ q, f = 0, limit, stop, ...rest }: Signal): SyncSignal => ({
  signalId: 1,
  symbol: 'ES',
  side: '1',
  positionEffect: 'O',
  type: limit === undefined ? (stop === undefined ? '1' : '3') : '2',
  quantity: dec(q),
  filled: dec(f),
  limit: orNull(limit),
  stop: orNull(stop),
  referencePrice: null,
  doNotSyncToOpen: false,
  ocaGroup: null,
  replaces: null,
  entry: null,
  entryKept: zero,
  ...rest,
})

export const order = ({ leaves, e = 0, b = 0, limit, stop, ...rest }: Order): SyncOrder => ({
  clientOrderId: 'a',
  signalId: 1,
  symbol: 'ES',
  side: '1',
  positionEffect: 'O',
  type: limit === undefined ? (stop === undefined ? '1' : '3') : '2',
  leaves: dec(leaves),
  executed: dec(e),
  filledBefore: dec(b),
  limit: orNull(limit),
  stop: orNull(stop),
  care: 'follow',
  ...rest,
})

/** P and A are positions in ES unless given by symbol; everything else as the product's defaults. */
export type Given = {
  p?: number | Record<string, number>
  a?: number | Record<string, number>
  signals?: Signal[]
  orders?: Order[]
  finished?: Record<string, [status: OrdStatus, ageSeconds: number, doNotSyncToOpen?: boolean]>
  settings?: Partial<MirrorSettings>
  cls?: SecurityType
  ref?: number
  syncToOpen?: boolean
} & Partial<Pick<SyncInput, 'chaseFilled' | 'isSyncEnabled' | 'exclusions'>>

const positions = (given: Given['p']) =>
  new Map(
    Object.entries(given === undefined ? {} : typeof given === 'number' ? { ES: given } : given).map(
      ([symbol, quantity]) => [symbol, dec(quantity)],
    ),
  )

export const inputOf = ({
  p,
  a,
  signals = [],
  orders = [],
  finished = {},
  settings,
  cls,
  ref,
  ...rest
}: Given): SyncInput => ({
  strategyPositions: positions(p),
  accountPositions: positions(a),
  signals: signals.map(signal),
  orders: orders.map(order),
  finished: new Map(
    Object.entries(finished).map(([id, [status, ageSeconds, doNotSyncToOpen = false]]) => [
      id,
      { status, ageSeconds, doNotSyncToOpen },
    ]),
  ),
  termsOf: () => ({
    assetClass: cls ?? 'FUT',
    settings: { ...open, ...settings },
    willSyncToOpen: rest.syncToOpen ?? true,
    referencePrice: orNull(ref),
  }),
  exclusions: rest.exclusions ?? new Map(),
  chaseFilled: rest.chaseFilled ?? true,
  isSyncEnabled: rest.isSyncEnabled ?? true,
  driftGraceSeconds: 30,
})

/** Actions as words. */
export function told({ actions }: SyncPlan): string[] {
  const side = (code: Side): string => (code === '1' ? 'buy' : 'sell')
  return [
    ...actions.cancel.map((id) => `cancel ${id}`),
    ...actions.toMarket.map(({ clientOrderId, quantity }) => `market ${clientOrderId} ${quantity}`),
    ...actions.replace.map(
      ({ clientOrderId, quantity, limit, stop }) => `replace ${clientOrderId} ${quantity} @${limit ?? stop}`,
    ),
    ...actions.place.map(
      ({ signal: placed, quantity }) => `place ${placed.signalId} ${side(placed.side)} ${quantity}`,
    ),
    ...actions.close.map(({ symbol, side: code, quantity }) => `close ${symbol} ${side(code)} ${quantity}`),
    ...actions.open.map(({ symbol, side: code, quantity }) => `open ${symbol} ${side(code)} ${quantity}`),
  ]
}
