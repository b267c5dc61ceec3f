/**
 * A cycle of AutoSync as it is carried out: the actions that its sizes demand, less what a circumstance forbids.
 * While an order of a symbol is being canceled nothing is added to it; while the outcome of one is unknown nothing
 * is opened; what a broker refused is not tried again by itself. A preview is the same function, not carried out.
 */
import { min, sign, zero } from '../decimal.ts'
import { actsAgainst } from '../positions/open-close.ts'
import { clampClosing } from './mirror-copy.ts'
import { autoSync, type PositionOrder, type SyncPlan } from './mirror-sync.ts'
import { type Replacement, samePrice } from './mirror-sync-copies.ts'
import type { SyncReportRow } from './mirror-sync-report.ts'
import { type SyncInput, type SyncOrder, signed } from './mirror-sync-state.ts'

/** The last order of a symbol, which was refused. */
export type Refusal = {
  readonly text: string
  /** One that opens says nothing about what closes. */
  readonly closes: boolean
  /** One that was to rest at a price says nothing about a close at market. */
  readonly rests?: boolean
}

const forbidsClosing = (refusal: Refusal | undefined): boolean =>
  refusal?.closes === true && refusal.rests !== true

/** What an order was to become: its leaves, type and prices. */
export type Change = Omit<Replacement, 'clientOrderId'>

export type SyncObstacles = {
  /** Symbols with an order whose cancel is under way. */
  readonly ending: ReadonlySet<string>
  /** Symbols with an order of which nobody knows whether the broker has it. */
  readonly unknown: ReadonlySet<string>
  /** By symbol. */
  readonly rejected: ReadonlyMap<string, Refusal>
  /** The change that the broker refused last of an order, by its client order id. */
  readonly refused: ReadonlyMap<string, Change>
  /** The operator forbids new risk everywhere. */
  readonly noOpening: boolean
}

/**
 * A report's row; `text` is the broker's, where its refusal keeps the symbol out of sync. `isLeft`: what the refusal
 * forbids is all that would be done about it, and it is not tried again by itself.
 */
export type PlannedRow = SyncReportRow & { readonly text: string | null; readonly isLeft: boolean }

export type PlannedSync = Omit<SyncPlan, 'report'> & { readonly report: readonly PlannedRow[] }

type Named = { readonly symbol: string }

const isSame = (one: Change, other: Change): boolean =>
  one.type === other.type &&
  one.quantity.equals(other.quantity) &&
  samePrice(one.limit, other.limit) &&
  samePrice(one.stop, other.stop)

/** Whether the broker has refused just this change. Another one may be asked for. */
export function isRefused({ refused }: SyncObstacles, { clientOrderId, ...change }: Replacement): boolean {
  const last = refused.get(clientOrderId)
  return last !== undefined && isSame(last, change)
}

const atMarket = { type: '1', limit: null, stop: null } as const

/** A stop of the owner's has left an opposite position in a symbol that is left alone: it is closed all the same. */
function overshoots(input: SyncInput, cleared: readonly string[]): PositionOrder[] {
  if (!input.isSyncEnabled) return []
  return [...input.exclusions.keys()].flatMap((symbol): PositionOrder[] => {
    if (cleared.includes(symbol)) return []
    const held = input.accountPositions.get(symbol) ?? zero
    const direction = sign(held)
    const side = direction > 0 ? '2' : '1'
    // What rests closes nothing yet, the stop that guards the overshoot itself least of all.
    const isClosing = (order: SyncOrder): boolean =>
      order.symbol === symbol &&
      order.type === '1' &&
      order.leaves.greaterThan(0) &&
      sign(signed(order.leaves, order.side)) !== direction
    const isOpposite = direction !== 0 && direction === -sign(input.strategyPositions.get(symbol) ?? zero)
    return isOpposite && !input.orders.some(isClosing) ? [{ symbol, side, quantity: held.abs() }] : []
  })
}

/**
 * Exits of symbols that are left alone, where with those of the owner's they work for more than is held: the rest would
 * open a position the other way. They are cut, the younger first, and never grow again.
 */
function oversized(
  input: SyncInput,
  { actions, clearedExclusions }: SyncPlan,
): Pick<SyncPlan['actions'], 'cancel' | 'replace'> {
  if (!input.isSyncEnabled) return { cancel: [], replace: [] }
  const groups = new Map(input.signals.map(({ signalId, ocaGroup }) => [`${signalId}`, ocaGroup]))
  const cuts = [...input.exclusions.keys()].flatMap((symbol) => {
    if (clearedExclusions.includes(symbol)) return []
    const held = input.accountPositions.get(symbol) ?? zero
    const isExit = (order: SyncOrder): boolean =>
      order.symbol === symbol &&
      order.positionEffect === 'C' &&
      order.leaves.greaterThan(0) &&
      actsAgainst(order.side, held) &&
      !actions.cancel.includes(order.clientOrderId)
    // What the owner works takes its share first and is left alone.
    const exits = (['byHand', 'follow'] as const).flatMap((care) =>
      input.orders.filter((order) => order.care === care && isExit(order)),
    )
    const wanted = exits.map(({ signalId, leaves }) => ({
      ocaGroup: groups.get(`${signalId}`) ?? null,
      leaves,
    }))
    const allowed = clampClosing(wanted, held.abs())
    return exits
      .map((order, at) => ({ ...order, quantity: allowed[at]! }))
      .filter(({ care }) => care === 'follow')
  })
  return {
    cancel: cuts.flatMap(({ clientOrderId, quantity }) => (quantity.isZero() ? [clientOrderId] : [])),
    replace: cuts.filter(({ quantity, leaves }) => !quantity.isZero() && quantity.lessThan(leaves)),
  }
}

function plannedRow(row: SyncReportRow, obstacles: SyncObstacles): PlannedRow {
  const refusal = row.inSync ? undefined : obstacles.rejected.get(row.symbol)
  const isWaiting =
    obstacles.ending.has(row.symbol) || (row.reason === 'Opening' && obstacles.unknown.has(row.symbol))
  const reason = isWaiting && !row.inSync && row.reason !== 'SyncDisabled' ? 'OrderPending' : row.reason
  const isCloseLeft = forbidsClosing(refusal) && (reason === 'Reducing' || reason === 'Reversing')
  const isLeft = isCloseLeft || (refusal !== undefined && reason === 'Opening')
  return { text: refusal?.text ?? null, isLeft, ...row, reason }
}

/**
 * Changes without what they would add to an order that opens, where nothing may be opened: at another price, or
 * smaller, it may go on.
 */
function withoutGrowth(
  input: SyncInput,
  { noOpening, unknown }: SyncObstacles,
  changes: readonly Replacement[],
): readonly Replacement[] {
  const opening = new Map(
    input.orders
      .filter(({ positionEffect, symbol }) => positionEffect === 'O' && (noOpening || unknown.has(symbol)))
      .map((order) => [order.clientOrderId, order]),
  )
  return changes.flatMap((change) => {
    const order = opening.get(change.clientOrderId)
    if (!order) return [change]
    const bounded = { ...change, quantity: min(change.quantity, order.leaves) }
    return isSame(bounded, { quantity: order.leaves, ...order }) ? [] : [bounded]
  })
}

/** What the next cycle does, and how the account stands before it. */
export function planSync(input: SyncInput, obstacles: SyncObstacles): PlannedSync {
  const plan = autoSync(input)
  const { actions, report, clearedExclusions } = plan
  const cuts = oversized(input, plan)
  const { ending, unknown, rejected, noOpening } = obstacles
  const mayMove = ({ symbol }: Named): boolean => !ending.has(symbol)
  const mayProtect = (named: Named): boolean => mayMove(named) && rejected.get(named.symbol)?.closes !== true
  const mayClose = (named: Named): boolean => mayMove(named) && !forbidsClosing(rejected.get(named.symbol))
  const mayOpen = (named: Named): boolean =>
    mayMove(named) && !rejected.has(named.symbol) && !unknown.has(named.symbol) && !noOpening
  const symbols = new Map(input.orders.map(({ clientOrderId, symbol }) => [clientOrderId, symbol]))
  const mayChange = (change: Replacement): boolean =>
    mayMove({ symbol: symbols.get(change.clientOrderId) ?? '' }) && !isRefused(obstacles, change)
  return {
    actions: {
      cancel: [...actions.cancel, ...cuts.cancel],
      toMarket: actions.toMarket.filter((change) => mayChange({ ...atMarket, ...change })),
      replace: [...withoutGrowth(input, obstacles, actions.replace), ...cuts.replace].filter(mayChange),
      place: actions.place.filter(({ signal }) =>
        signal.positionEffect === 'C' ? mayProtect(signal) : mayOpen(signal),
      ),
      close: [...actions.close, ...overshoots(input, clearedExclusions)].filter(mayClose),
      open: actions.open.filter(mayOpen),
    },
    report: report.map((row) => plannedRow(row, obstacles)),
    clearedExclusions,
  }
}
