/** Orders that a cycle of AutoSync makes: corrections of a position, copies that are missing, copies that change. */
import { type Decimal, dec, zero } from '../../domain/decimal.ts'
import { limitOf } from '../../domain/mirror/mirror-plan.ts'
import type { PositionOrder } from '../../domain/mirror/mirror-sync.ts'
import { explainCopy, type Placement, type Replacement } from '../../domain/mirror/mirror-sync-copies.ts'
import { readSymbol, type SyncSignal } from '../../domain/mirror/mirror-sync-state.ts'
import { size } from '../../domain/mirror/mirror-target.ts'
import type { Instant } from '../../domain/time.ts'
import { carrierOf, chainStart, type NewAccountOrder } from '../../storage/mirror/account-orders.ts'
import { autoSyncInfo } from '../../storage/mirror/sending.ts'
import { type NextOrder, type Succession, successionOf } from '../../storage/mirror/successions.ts'
import type { SyncCase } from '../../storage/mirror/sync-cases.ts'
import type { SyncInstrumentRow, SyncOrderRow } from '../../storage/mirror/sync-facts.ts'

const scalingOf = ({ setup }: SyncCase): number => Number(setup.scaling_percentage)

/** What an order says about the numbers behind it. */
const reasonsOf = (one: SyncCase, symbol: string, reason: string | null) => ({
  reason,
  strategyQty: one.input.strategyPositions.get(symbol) ?? zero,
  scalingPercentage: scalingOf(one),
  limitValue: null,
  heldQty: one.input.accountPositions.get(symbol) ?? zero,
})

/** What bounds the size of the strategy's position here. */
function limitIn({ input }: SyncCase, symbol: string): Decimal | null {
  const terms = input.termsOf(symbol)
  const held = input.accountPositions.get(symbol) ?? zero
  const { reason } = size(input.strategyPositions.get(symbol) ?? zero, { held, ...terms })
  return limitOf(terms, terms.settings, reason)
}

/** The numbers behind the copy of a signal at work. */
function reasonsOfCopy({ input }: SyncCase, signal: SyncSignal) {
  const state = readSymbol(input, signal.symbol, false)
  const copy = state.copyOf.get(`${signal.signalId}`)
  if (!copy) return {}
  const { reason, strategyQuantity, limit } = explainCopy(state, copy)
  return { reason, strategyQty: strategyQuantity, limitValue: limit }
}

type Kind = Pick<
  NewAccountOrder,
  | 'source'
  | 'sourceId'
  | 'revision'
  | 'signalType'
  | 'side'
  | 'ordType'
  | 'timeInForce'
  | 'positionEffect'
  | 'orderQty'
>

/** A new order of the setup, as far as its kind does not say otherwise. */
export const newOrder = (
  one: SyncCase,
  instrument: SyncInstrumentRow,
  at: Instant,
  kind: Kind & Partial<NewAccountOrder>,
): NewAccountOrder => ({
  accountId: one.setup.accountId,
  brokerId: one.setup.brokerId,
  setupId: one.setup.id,
  strategyId: one.setup.strategyId,
  instrumentId: instrument.id,
  limitPx: null,
  stopPx: null,
  status: 'A',
  postedAt: at,
  endedAt: null,
  chaseAt: null,
  pendingAction: 'new',
  info: autoSyncInfo,
  ...reasonsOf(one, instrument.symbol, null),
  referencePx: kind.side === '1' ? instrument.ask : instrument.bid,
  setupFence: Number(one.setup.fence),
  ...chainStart,
  ...kind,
})

/** A market order that brings a position to its size. `revision` numbers the corrections of the symbol. */
export function correction(
  one: SyncCase,
  { symbol, side, quantity }: PositionOrder,
  positionEffect: 'O' | 'C',
  revision: number,
  at: Instant,
): NewAccountOrder {
  const instrument = one.instruments.get(symbol)!
  const kind = { source: 'Y', sourceId: instrument.id, signalType: 1 } as const
  const terms = { side, ordType: '1', timeInForce: '0', positionEffect, orderQty: quantity } as const
  const reason = positionEffect === 'O' ? 'Opening' : 'Reducing'
  const why = { ...reasonsOf(one, symbol, reason), limitValue: limitIn(one, symbol) }
  return newOrder(one, instrument, at, { revision, ...kind, ...terms, ...why })
}

const textOf = (price: Decimal | null): string | null => price?.toFixed() ?? null

const symbolOf = ({ instruments }: SyncCase, { instrumentId }: SyncOrderRow): string =>
  [...instruments.values()].find(({ id }) => id === instrumentId)?.symbol ?? ''

/** The next order of a copy, under its signal's present terms. */
function follow(
  one: SyncCase,
  copy: SyncOrderRow,
  next: Pick<NextOrder, 'sourceId' | 'revision' | 'leaves' | 'at'> & Partial<NextOrder>,
): Succession {
  const symbol = symbolOf(one, copy)
  return successionOf(copy, {
    ordType: copy.ordType,
    timeInForce: copy.timeInForce,
    limitPx: copy.limitPx,
    stopPx: copy.stopPx,
    chaseAt: null,
    info: autoSyncInfo,
    referencePx: copy.referencePx,
    ...reasonsOf(one, symbol, null),
    ...next,
  })
}

/** What was made for these signals, oldest first. */
const rowsOf = ({ copies }: SyncCase, signalIds: readonly number[]): SyncOrderRow[] =>
  signalIds.flatMap((signalId) => copies.get(signalId) ?? []).sort((one, other) => one.id - other.id)

/** A copy's revisions begin with the one of its signal's plan, whether or not that made an order. */
const revisionAfter = (rows: readonly SyncOrderRow[], sourceId: number): number =>
  1 + Math.max(0, ...rows.filter((row) => row.sourceId === sourceId).map(({ revision }) => revision))

/** A copy that is missing: the next after one that ended, where that closes; otherwise one that begins anew. */
export function placedCopy(one: SyncCase, { signal, quantity }: Placement, at: Instant): Succession {
  const row = one.signals.get(Number(signal.signalId))!
  const copies = rowsOf(one, row.chain)
  const last = row.positionEffect === 'C' ? carrierOf(copies) : undefined
  const revision = revisionAfter(copies, row.id)
  const terms = {
    ordType: row.ordType,
    timeInForce: row.timeInForce,
    limitPx: row.limitPx,
    stopPx: row.stopPx,
    referencePx: row.referencePx,
    ...reasonsOfCopy(one, signal),
  } as const
  // At the signal's own price it is a plain copy, whatever its holder made of the one before.
  const kind = { sourceId: row.id, signalType: 1 } as const
  if (last) return follow(one, last, { ...kind, revision, leaves: quantity, at, ...terms })
  const { side, positionEffect, cumQty: signalFilledBefore } = row
  const size = { side, positionEffect, orderQty: quantity, signalFilledBefore }
  const order = newOrder(one, one.instruments.get(signal.symbol)!, at, {
    source: 'S',
    revision,
    ...kind,
    ...size,
    ...terms,
  })
  return { order, superseded: null, dropped: null }
}

/** A copy at new leaves and its signal's type and prices: where a change was refused, they may be another's by now. */
export function changedCopy(
  one: SyncCase,
  { clientOrderId, type, quantity, limit, stop }: Replacement,
  at: Instant,
): Succession {
  const copy = one.orders.get(clientOrderId)!
  const signal = one.successors.get(copy.sourceId)
  return follow(one, copy, {
    sourceId: copy.sourceId,
    revision: revisionAfter(rowsOf(one, [copy.sourceId]), copy.sourceId),
    leaves: quantity,
    ordType: type,
    limitPx: textOf(limit),
    stopPx: textOf(stop),
    at,
    ...(signal && reasonsOfCopy(one, signal)),
  })
}

/** A copy that its signal has left behind, turned to market for what is still missing. */
export function turnedCopy(
  one: SyncCase,
  copy: SyncOrderRow,
  terms: { readonly leaves: Decimal; readonly revision: number },
  at: Instant,
): Succession {
  const atMarket = { ordType: '1', timeInForce: '0', limitPx: null, stopPx: null } as const
  const why = { limitValue: limitIn(one, symbolOf(one, copy)), info: 'turned to market' }
  return follow(one, copy, { sourceId: copy.sourceId, ...terms, at, ...atMarket, ...why })
}

/** A protective stop at another price or for another quantity. */
export const changedStop = (
  one: SyncCase,
  row: SyncOrderRow,
  terms: { readonly stop: Decimal; readonly quantity: Decimal; readonly revision: number },
  at: Instant,
): Succession => {
  const { stop, quantity: leaves, revision } = terms
  const next = { sourceId: row.sourceId, revision, leaves, stopPx: stop.toFixed(), at }
  return follow(one, row, { info: 'auto stop loss', ...next })
}

/** An exit of the holder's own, cut to what is held; left behind by its signal, it has what is left of its grace. */
export const cutExit = (
  one: SyncCase,
  row: SyncOrderRow,
  terms: { readonly leaves: Decimal; readonly revision: number },
  at: Instant,
): Succession => {
  const { sourceId, chaseAt } = row
  return follow(one, row, { sourceId, ...terms, at, chaseAt, info: 'cut to the position' })
}

/** Whether nothing of the order has been executed. */
export const isUntouched = (row: SyncOrderRow): boolean => dec(row.cumQty).isZero()
