/**
 * AutoSync's rows arranged as its rules read them: one case per setup, symbols for instruments, and one order for
 * each copy of a signal at work, whatever revisions it has been through.
 */
import { isLive, type SecurityType } from '../../domain/codes.ts'
import { type Decimal, dec, max, min, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { storedMid } from '../../domain/market/quote.ts'
import type { SyncObstacles } from '../../domain/mirror/mirror-sync-plan.ts'
import type {
  FinishedSignal,
  SymbolTerms,
  SyncInput,
  SyncOrder,
  SyncSignal,
} from '../../domain/mirror/mirror-sync-state.ts'
import type { MirrorSettings } from '../../domain/mirror/mirror-target.ts'
import {
  type GroupedSymbol,
  type SyncGroup,
  syncGroupOf,
  syncGroups,
} from '../../domain/mirror/sync-groups.ts'
import type { Instant } from '../../domain/time.ts'
import { notTried, type TradingEnds, tradingEnds, untraded } from './not-tried.ts'
import type {
  HeldRow,
  SetupColumns,
  SyncFacts,
  SyncInstrumentRow,
  SyncOrderRow,
  SyncSetupRow,
  SyncSignalRow,
} from './sync-facts.ts'

/** One setup as AutoSync sees it, with the rows behind the names that its plan uses. */
export interface SyncCase {
  readonly setup: SyncSetupRow
  readonly input: SyncInput
  readonly obstacles: SyncObstacles
  readonly instruments: ReadonlyMap<string, SyncInstrumentRow>
  readonly signals: ReadonlyMap<number, SyncSignalRow>
  /** By the id that the plan names. */
  readonly orders: ReadonlyMap<string, SyncOrderRow>
  /** Orders that copy a signal, by the signal that they were made for. */
  readonly copies: ReadonlyMap<number, readonly SyncOrderRow[]>
  /** The signals at work, by their own ids and by those that they replaced. */
  readonly successors: ReadonlyMap<number, SyncSignal>
  /** By instrument. */
  readonly held: ReadonlyMap<number, HeldRow>
  /** Groups in which it may open. */
  readonly groups: readonly SyncGroup[]
  /** Symbols that either side holds. */
  readonly grouped: ReadonlyMap<string, GroupedSymbol>
}

/** How long a copy may trade on by itself after its signal has filled. */
export const driftGraceSeconds = 30

const prefixes: Record<SecurityType, string> = { CS: 'stocks', OPT: 'options', FUT: 'futures', FOR: 'forex' }

const amount = (value: unknown): Decimal | null =>
  typeof value === 'number' || typeof value === 'string' ? dec(value) : null

/** The setup's choices for a class, from its columns. */
export function settingsOf(assetClass: SecurityType, setup: SetupColumns): MirrorSettings {
  const prefix = prefixes[assetClass]
  const isStock = assetClass === 'CS'
  return {
    scalingPercentage: amount(setup.scaling_percentage) ?? dec(100),
    enabled: setup[`${prefix}_enabled`] === true,
    long: setup[`${prefix}_long`] === true,
    short: setup[`${prefix}_short`] === true,
    closingOrdersOnly: setup.closing_orders_only === true,
    minimum: (isStock ? null : amount(setup[`min_${prefix}`])) ?? zero,
    maximum: isStock ? null : amount(setup[`max_${prefix}`]),
    maximumDollars: isStock ? amount(setup.max_stocks_dollars) : null,
    lot: (assetClass === 'FOR' ? amount(setup.forex_lot_size) : null) ?? dec(1),
  }
}

/** A strategy's order as AutoSync reads it. */
export const signalOf = (row: SyncSignalRow, symbol: string): SyncSignal => ({
  signalId: row.id,
  symbol,
  side: row.side,
  positionEffect: row.positionEffect,
  type: row.ordType,
  quantity: dec(row.orderQty),
  filled: dec(row.cumQty),
  limit: amount(row.limitPx),
  stop: amount(row.stopPx),
  referencePrice: amount(row.referencePx),
  doNotSyncToOpen: row.doNotSyncToOpen,
  ocaGroup: row.ocaGroupId === null ? null : `${row.ocaGroupId}`,
  // Copies of the orders that it replaced are given under its own name.
  replaces: null,
  entry: row.entryChain[0] ?? null,
  entryKept: dec(row.entryKept),
})

/** What `orderOf` reads of an order, of an account or of a variant. */
export type OrderFacts = Pick<
  SyncOrderRow,
  | 'id'
  | 'source'
  | 'status'
  | 'side'
  | 'ordType'
  | 'positionEffect'
  | 'orderQty'
  | 'cumQty'
  | 'limitPx'
  | 'stopPx'
  | 'signalType'
  | 'signalFilledBefore'
>

const careOf = ({ source, signalType }: OrderFacts): SyncOrder['care'] =>
  source === 'L' ? 'guard' : source === 'M' || signalType === 5 ? 'byHand' : 'follow'

/** All orders of one copy, or of one order of the account's own, as the one that counts now. */
export function orderOf(rows: readonly OrderFacts[], signalId: number | null, symbol: string): SyncOrder {
  const first = rows[0]!
  const current = rows.findLast(({ status }) => isLive(status)) ?? rows[rows.length - 1]!
  const executed = rows.reduce((most, { cumQty }) => max(most, dec(cumQty)), zero)
  const leaves = isLive(current.status) ? max(zero, dec(current.orderQty).minus(executed)) : zero
  return {
    clientOrderId: `${current.id}`,
    signalId,
    symbol,
    side: current.side,
    positionEffect: current.positionEffect,
    type: current.ordType,
    leaves,
    executed,
    filledBefore: dec(first.signalFilledBefore),
    limit: amount(current.limitPx),
    stop: amount(current.stopPx),
    care: careOf(current),
  }
}

/** The orders of one setup, oldest first; those that replace each other are one. */
function ordersOf(
  rows: readonly SyncOrderRow[],
  liveSignals: ReadonlyMap<number, number>,
  ocaGroups: ReadonlyMap<number, number>,
  symbolOf: (instrumentId: number) => string,
): SyncOrder[] {
  const roots = new Map<number, number>()
  const rootOf = (row: SyncOrderRow): string => {
    const signalId = row.source === 'S' ? liveSignals.get(row.sourceId) : undefined
    if (signalId !== undefined) return `S${signalId}`
    const root = roots.get(row.replacesOrderId ?? 0) ?? row.id
    roots.set(row.id, root)
    return `${root}`
  }
  const counting = rows.filter(({ isForgiven }) => !isForgiven)
  const made = [...groupBy(counting, rootOf).values()].map((copies) => {
    const { source, sourceId, instrumentId } = copies[0]
    const signalId = source === 'S' ? (liveSignals.get(sourceId) ?? copies.at(-1)!.sourceId) : null
    const ordered = copies.reduce((most, { orderQty }) => max(most, dec(orderQty)), zero)
    return { ordered, order: orderOf(copies, signalId, symbolOf(instrumentId)) }
  })
  return withinOrders(made, ocaGroups)
}

/**
 * Of what copies executed counts no more than each was for, and of a group of exits together no more than its largest:
 * what a broker executed beyond that nobody wished for, and it is corrected like any other difference.
 */
function withinOrders(
  made: readonly { readonly order: SyncOrder; readonly ordered: Decimal }[],
  ocaGroups: ReadonlyMap<number, number>,
): SyncOrder[] {
  const groupOf = ({ signalId }: SyncOrder): number | null => ocaGroups.get(Number(signalId)) ?? null
  const room = new Map<number, Decimal>()
  for (const { order, ordered } of made) {
    const group = groupOf(order)
    if (group !== null) room.set(group, max(room.get(group) ?? zero, ordered))
  }
  return made.map(({ order, ordered }) => {
    if (order.signalId === null) return order
    const group = groupOf(order)
    const executed = min(order.executed, group === null ? ordered : room.get(group)!)
    if (group !== null) room.set(group, room.get(group)!.minus(executed))
    return { ...order, executed }
  })
}

/** The signals that orders copy and that no longer work. */
export function finishedSignals(
  rows: readonly Pick<
    SyncOrderRow,
    'source' | 'sourceId' | 'signalStatus' | 'signalEndedAt' | 'signalDoNotSyncToOpen'
  >[],
  now: Instant,
): Map<string, FinishedSignal> {
  return new Map(
    rows.flatMap(({ source, sourceId, signalStatus, signalEndedAt, signalDoNotSyncToOpen }) =>
      source !== 'S' || signalStatus === null || isLive(signalStatus)
        ? []
        : [
            [
              `${sourceId}`,
              {
                status: signalStatus,
                ageSeconds: (now - (signalEndedAt ?? now)) / 1000,
                doNotSyncToOpen: signalDoNotSyncToOpen === true,
              },
            ] as const,
          ],
    ),
  )
}

/** Facts by setup, strategy or instrument. */
interface Index {
  readonly instruments: ReadonlyMap<number, SyncInstrumentRow>
  readonly bySymbol: ReadonlyMap<string, SyncInstrumentRow>
  readonly ends: TradingEnds
  readonly strategyPositions: ReadonlyMap<number, readonly HeldRow[]>
  readonly signals: ReadonlyMap<number, readonly SyncSignalRow[]>
  readonly accountPositions: ReadonlyMap<number, readonly HeldRow[]>
  readonly orders: ReadonlyMap<number, readonly SyncOrderRow[]>
  readonly exclusions: ReadonlyMap<number, SyncFacts['exclusions']>
  readonly rejections: ReadonlyMap<number, SyncFacts['rejections']>
  readonly refusals: ReadonlyMap<number, SyncFacts['refusals']>
}

const indexed = (facts: SyncFacts, now: Instant): Index => ({
  instruments: new Map(facts.instruments.map((row) => [row.id, row])),
  bySymbol: new Map(facts.instruments.map((row) => [row.symbol, row])),
  ends: tradingEnds(facts.instruments, now),
  strategyPositions: groupBy(facts.strategyPositions, ({ ownerId }) => ownerId),
  signals: groupBy(facts.signals, ({ strategyId }) => strategyId),
  accountPositions: groupBy(facts.accountPositions, ({ ownerId }) => ownerId),
  orders: groupBy(facts.orders, ({ setupId }) => setupId),
  exclusions: groupBy(facts.exclusions, ({ setupId }) => setupId),
  rejections: groupBy(facts.rejections, ({ setupId }) => setupId),
  refusals: groupBy(facts.refusals, ({ setupId }) => setupId),
})

/** One setup's facts, symbols by the names that its plan uses. */
interface SetupFacts {
  readonly setup: SyncSetupRow
  readonly signals: readonly SyncSignalRow[]
  readonly orders: readonly SyncOrderRow[]
  readonly ours: readonly HeldRow[]
  readonly theirs: readonly HeldRow[]
  readonly groups: readonly SyncGroup[]
}

const factsOf = (setup: SyncSetupRow, index: Index): SetupFacts => ({
  setup,
  signals: index.signals.get(setup.strategyId) ?? [],
  orders: index.orders.get(setup.id) ?? [],
  ours: index.accountPositions.get(setup.id) ?? [],
  theirs: index.strategyPositions.get(setup.strategyId) ?? [],
  groups: syncGroups.filter((group) => setup[`will_sync_${group}`] === true),
})

const symbolIn =
  ({ instruments }: Index) =>
  (instrumentId: number): string =>
    instruments.get(instrumentId)?.symbol ?? ''

/** What holds for each symbol: sizes are taken at the strategy's average price, or at the market's. */
function termsIn({ setup, theirs, groups }: SetupFacts, index: Index): SyncInput['termsOf'] {
  const symbolOf = symbolIn(index)
  const averages = new Map(theirs.map(({ instrumentId, avgPx }) => [symbolOf(instrumentId), amount(avgPx)]))
  return (symbol): SymbolTerms => {
    const instrument = index.bySymbol.get(symbol)!
    const { securityType: assetClass, securityExchange, calendar } = instrument
    return {
      assetClass,
      settings: settingsOf(assetClass, setup),
      willSyncToOpen: groups.includes(syncGroupOf(assetClass, securityExchange, calendar)),
      referencePrice: averages.get(symbol) ?? storedMid(instrument.bid, instrument.ask),
    }
  }
}

function inputOf(facts: SetupFacts, index: Index, now: Instant): SyncInput {
  const { setup, signals, orders, ours, theirs } = facts
  const symbolOf = symbolIn(index)
  const quantities = (rows: readonly HeldRow[]) =>
    new Map(rows.map(({ instrumentId, quantity }) => [symbolOf(instrumentId), dec(quantity)]))
  const liveSignals = new Map(
    signals.flatMap(({ id, chain }) => chain.map((member) => [member, id] as const)),
  )
  const ocaGroups = new Map(
    signals.flatMap(({ id, ocaGroupId }) => (ocaGroupId === null ? [] : [[id, ocaGroupId] as const])),
  )
  const exclusions = index.exclusions.get(setup.id) ?? []
  return {
    strategyPositions: quantities(theirs),
    accountPositions: quantities(ours),
    signals: signals.map((row) => signalOf(row, symbolOf(row.instrumentId))),
    finished: finishedSignals(orders, now),
    orders: ordersOf(orders, liveSignals, ocaGroups, symbolOf),
    termsOf: termsIn(facts, index),
    exclusions: new Map(exclusions.map(({ instrumentId, sign }) => [symbolOf(instrumentId), sign])),
    chaseFilled: setup.chase_filled === true,
    isSyncEnabled: setup.isSyncEnabled && !setup.isAutotradeDisabled,
    driftGraceSeconds,
  }
}

/** Refused changes as they would be asked for now: an order that has executed since has less left. */
function refusedChanges(
  orders: readonly SyncOrderRow[],
  refusals: SyncFacts['refusals'],
): SyncObstacles['refused'] {
  const executed = new Map(orders.map(({ id, cumQty }) => [id, dec(cumQty)]))
  return new Map(
    refusals.map(({ orderId, orderQty, ordType, limitPx, stopPx }) => [
      `${orderId}`,
      {
        type: ordType,
        limit: amount(limitPx),
        stop: amount(stopPx),
        quantity: dec(orderQty).minus(executed.get(orderId) ?? zero),
      },
    ]),
  )
}

function obstaclesOf({ setup, orders }: SetupFacts, index: Index): SyncObstacles {
  const symbolOf = symbolIn(index)
  const named = (rows: readonly SyncOrderRow[]) =>
    new Set(rows.map(({ instrumentId }) => symbolOf(instrumentId)))
  const rejections = index.rejections.get(setup.id) ?? []
  return {
    ending: named(orders.filter(({ status }) => status === '6')),
    unknown: named(orders.filter(({ unknownAt, status }) => unknownAt !== null && isLive(status))),
    rejected: notTried(
      [
        ...rejections.map(({ instrumentId, ...refusal }) => [symbolOf(instrumentId), refusal] as const),
        ...untraded(setup, index.instruments.values()),
      ],
      index.ends,
    ),
    refused: refusedChanges(orders, index.refusals.get(setup.id) ?? []),
    noOpening: setup.noOpening || !setup.isBrokerEnabled,
  }
}

function caseOf(setup: SyncSetupRow, index: Index, now: Instant): SyncCase {
  const facts = factsOf(setup, index)
  const { signals, orders, ours, theirs, groups } = facts
  const input = inputOf(facts, index, now)
  const copies = orders.filter(({ source }) => source === 'S')
  return {
    setup,
    input,
    obstacles: obstaclesOf(facts, index),
    instruments: index.bySymbol,
    signals: new Map(signals.map((row) => [row.id, row])),
    orders: new Map(orders.map((row) => [`${row.id}`, row])),
    copies: groupBy(copies, ({ sourceId }) => sourceId),
    successors: new Map(
      signals.flatMap(({ chain }, place) => chain.map((member) => [member, input.signals[place]!] as const)),
    ),
    held: new Map(ours.map((row) => [row.instrumentId, row])),
    groups,
    grouped: new Map(
      [...theirs, ...ours].map(({ instrumentId }) => {
        const { symbol, securityType, securityExchange, calendar } = index.instruments.get(instrumentId)!
        return [symbol, { group: syncGroupOf(securityType, securityExchange, calendar), calendar }]
      }),
    ),
  }
}

/** One case per setup, in their order. */
export function syncCases(facts: SyncFacts, now: Instant): SyncCase[] {
  const index = indexed(facts, now)
  return facts.setups.map((setup) => caseOf(setup, index, now))
}
