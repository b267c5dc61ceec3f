/**
 * What AutoSync reads, arranged for one symbol: the live signals with their copies here, the bases that take
 * both sides' live progress away, and the size the account should hold now (`expected`). A copy ahead of
 * its signal or behind it is thus no difference until the signal ends.
 */
import {
  directionOf,
  type OrdStatus,
  type OrdType,
  type PositionEffect,
  type SecurityType,
  type Side,
} from '../codes.ts'
import { type Decimal, sum, zero } from '../decimal.ts'
import { groupBy } from '../group.ts'
import { accountBase, type ClosingLeaves, type CopyProgress, strategyBase } from './mirror-copy.ts'
import { type MirrorSettings, type Size, type Sizing, size } from './mirror-target.ts'

export type SignalKey = number | string

/** A working order of the strategy; an order held for a parent or a date is not yet a signal. */
export type SyncSignal = {
  signalId: SignalKey
  symbol: string
  side: Side
  positionEffect: PositionEffect
  type: OrdType
  quantity: Decimal
  filled: Decimal
  limit: Decimal | null
  stop: Decimal | null
  /** The price its copies are sized at; null: that of the symbol. */
  referencePrice: Decimal | null
  doNotSyncToOpen: boolean
  ocaGroup: string | null
  /** The signal that this one replaced and whose copy it takes over. */
  replaces: SignalKey | null
  /** For a bracket exit: the entry that it protects. */
  entry: SignalKey | null
  /** What it leaves of that entry, unsigned. */
  entryKept: Decimal
}

export type FinishedSignal = { status: OrdStatus; ageSeconds: number; doNotSyncToOpen: boolean }

/** An order in the account, oldest first; finished ones (leaves 0) as long as their signal lives. */
export type SyncOrder = {
  clientOrderId: string
  /** null for an order of AutoSync itself. */
  signalId: SignalKey | null
  symbol: string
  side: Side
  positionEffect: PositionEffect
  type: OrdType
  leaves: Decimal
  executed: Decimal
  filledBefore: Decimal
  limit: Decimal | null
  stop: Decimal | null
  /** `follow`: AutoSync's or a plain copy. `byHand`: the owner's, counted and left alone. `guard`: the auto stop loss, left alone. */
  care: 'follow' | 'byHand' | 'guard'
}

/** What holds for a symbol in this account. */
export type SymbolTerms = {
  assetClass: SecurityType
  settings: MirrorSettings
  willSyncToOpen: boolean
  referencePrice: Decimal | null
}

export type SyncInput = {
  strategyPositions: ReadonlyMap<string, Decimal>
  accountPositions: ReadonlyMap<string, Decimal>
  signals: readonly SyncSignal[]
  /** By the signal's id as text. */
  finished: ReadonlyMap<string, FinishedSignal>
  orders: readonly SyncOrder[]
  termsOf: (symbol: string) => SymbolTerms
  /** The strategy's direction when the symbol was excluded; null where it is not known. */
  exclusions: ReadonlyMap<string, 1 | -1 | null>
  /** Whether a copy left behind by its signal is turned to market after the grace. */
  chaseFilled: boolean
  isSyncEnabled: boolean
  driftGraceSeconds: number
}

/**
 * A live signal with its copy here, over all revisions of the copy: `filledBefore` is the first one's. No orders where
 * it was never copied.
 */
export type LiveCopy = {
  signal: SyncSignal
  orders: readonly SyncOrder[]
  filledBefore: Decimal
  executed: Decimal
}

export type SymbolState = {
  symbol: string
  terms: SymbolTerms
  excluded: boolean
  strategyPosition: Decimal
  accountPosition: Decimal
  /** All of the symbol, oldest first. */
  orders: readonly SyncOrder[]
  copies: readonly LiveCopy[]
  /** The same by the text of their signals' ids. */
  copyOf: ReadonlyMap<string, LiveCopy>
  /** Working copies whose signal is no longer live. */
  strays: readonly SyncOrder[]
  syncOrders: readonly SyncOrder[]
  /** What the owner works by hand. A repriced exit stays in its group: its stop and its target still protect the same. */
  byHand: readonly ClosingLeaves[]
  strategyBase: Decimal
  /** The sizing whose `held` is the account base, and the one whose `held` is the position. */
  baseSizing: Sizing
  sizing: Sizing
  /** What the account should hold now, given what the live orders of both sides have done. */
  expected: Decimal
  /** The size of the strategy's whole position. */
  scaled: Size
}

/** Signed by side. */
export const signed = (quantity: Decimal, side: Side): Decimal => quantity.times(directionOf(side))

/** Orders by the text of the id of the signal that they copy. A strategy may work thousands: none is looked for. */
const bySignal = (orders: readonly SyncOrder[]): Map<string, [SyncOrder, ...SyncOrder[]]> =>
  groupBy(
    orders.filter(({ signalId }) => signalId !== null),
    ({ signalId }) => `${signalId}`,
  )

function liveCopy(
  signal: SyncSignal,
  orders: readonly SyncOrder[],
  copies: ReturnType<typeof bySignal>,
): LiveCopy {
  const current = copies.get(`${signal.signalId}`) ?? []
  const earlier = (signal.replaces === null ? undefined : copies.get(`${signal.replaces}`)) ?? []
  const both = new Set([...earlier, ...current])
  const own = earlier.length === 0 ? current : orders.filter((order) => both.has(order))
  return {
    signal,
    orders: own,
    filledBefore: own[0]?.filledBefore ?? signal.filled,
    executed: sum(own.map((order) => order.executed)),
  }
}

/** A replacement that waits while its predecessor still works is not a signal of its own yet. */
function withoutPendingReplacements(signals: readonly SyncSignal[]): SyncSignal[] {
  const live = new Set(signals.map(({ signalId }) => `${signalId}`))
  return signals.filter(({ replaces }) => replaces === null || !live.has(`${replaces}`))
}

const progressOf = ({ signal, filledBefore, executed }: LiveCopy): CopyProgress => ({
  side: signal.side,
  filled: signal.filled,
  filledBefore,
  executed,
})

function byHandOf(orders: readonly SyncOrder[], copies: readonly LiveCopy[]): ClosingLeaves[] {
  const groups = new Map(
    copies.flatMap(({ signal, orders: own }) => own.map((order) => [order, signal.ocaGroup] as const)),
  )
  return orders
    .filter(({ care }) => care === 'byHand')
    .map((order) => ({ ocaGroup: groups.get(order) ?? null, leaves: order.leaves }))
}

/**
 * As it counts in this cycle. The owner's price holds while the signal of a repriced exit works: left behind by it, the
 * exit has its grace like any other copy, or what it still sells in that time would be sold beside it as well.
 */
const counted = (order: SyncOrder, { finished }: SyncInput): SyncOrder =>
  order.care === 'byHand' && finished.has(`${order.signalId}`) ? { ...order, care: 'follow' } : order

/** What orders work for together, unsigned. */
export const leavesOf = (orders: readonly Pick<SyncOrder, 'leaves'>[]): Decimal =>
  sum(orders.map(({ leaves }) => leaves))

const readings = new WeakMap<SyncInput, Map<string, SymbolState>>()

/**
 * Arranges one symbol; `excluded` as it holds in this cycle. Its plan, and each of the many orders that the plan makes,
 * ask for the same reading: it is made once.
 */
export function readSymbol(input: SyncInput, symbol: string, excluded: boolean): SymbolState {
  const known = readings.get(input) ?? new Map<string, SymbolState>()
  readings.set(input, known)
  const key = `${excluded} ${symbol}`
  const state = known.get(key) ?? arrange(input, symbol, excluded)
  known.set(key, state)
  return state
}

function arrange(input: SyncInput, symbol: string, excluded: boolean): SymbolState {
  const terms = input.termsOf(symbol)
  const strategyPosition = input.strategyPositions.get(symbol) ?? zero
  const accountPosition = input.accountPositions.get(symbol) ?? zero
  const orders = input.orders.filter((order) => order.symbol === symbol).map((order) => counted(order, input))
  const signals = withoutPendingReplacements(input.signals.filter((signal) => signal.symbol === symbol))
  const grouped = bySignal(orders)
  const copies = signals.map((signal) => liveCopy(signal, orders, grouped))
  const copied = new Set(copies.flatMap((copy) => copy.orders))
  const progress = copies.map(progressOf)
  const base = strategyBase(strategyPosition, progress)
  const sizing = { held: accountPosition, ...terms }
  const baseSizing = { held: accountBase(accountPosition, progress), ...terms }
  const followed = orders.filter((order) => order.care === 'follow' && order.leaves.greaterThan(0))
  return {
    symbol,
    terms,
    excluded,
    strategyPosition,
    accountPosition,
    orders,
    copies,
    copyOf: new Map(copies.map((copy) => [`${copy.signal.signalId}`, copy])),
    strays: followed.filter((order) => order.signalId !== null && !copied.has(order)),
    syncOrders: followed.filter((order) => order.signalId === null),
    byHand: byHandOf(orders, copies),
    strategyBase: base,
    baseSizing,
    sizing,
    expected: size(base, baseSizing).quantity.plus(accountPosition.minus(baseSizing.held)),
    scaled: size(strategyPosition, sizing),
  }
}
