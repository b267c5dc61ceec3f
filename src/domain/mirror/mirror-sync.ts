/**
 * AutoSync of one account with one strategy: a pure function of what both hold and work now. Every cycle
 * computes from the present, symbol by symbol: first the copies follow their signals, then a position that still
 * differs is corrected, closes before opens. Reducing is always allowed, increasing only where the account asked
 * for it. Applied twice without news the second run does nothing.
 */
import type { Side } from '../codes.ts'
import { type Decimal, max, sign, zero } from '../decimal.ts'
import { type CopyActions, closingInFlight, followSignals, settleInFlight } from './mirror-sync-copies.ts'
import { correctionOf, permitted } from './mirror-sync-correction.ts'
import { reportRow, type SyncReportRow } from './mirror-sync-report.ts'
import { readSymbol, type SymbolState, type SyncInput } from './mirror-sync-state.ts'

/** A market DAY order that brings a position to its size. */
export type PositionOrder = { symbol: string; side: Side; quantity: Decimal }

/** In the order in which they are carried out. */
export type SyncActions = CopyActions & { close: PositionOrder[]; open: PositionOrder[] }

export type SyncPlan = {
  actions: SyncActions
  /** One row for every symbol that either side holds or names, sorted by symbol. */
  report: SyncReportRow[]
  /** Symbols whose exclusion has ended; they were treated normally in this cycle. */
  clearedExclusions: string[]
}

/** An exclusion ends when the strategy is flat in the symbol or has changed sides since. */
function exclusionEnded(input: SyncInput, symbol: string): boolean {
  const direction = sign(input.strategyPositions.get(symbol) ?? zero)
  const excludedAt = input.exclusions.get(symbol) ?? null
  return direction === 0 || (excludedAt !== null && excludedAt !== direction)
}

/** The side that takes a signed position further from, or (negated) back to, flat. */
const sideOf = (direction: number): Side => (direction > 0 ? '1' : '2')

function syncSymbol(state: SymbolState, input: SyncInput): { actions: SyncActions; row: SyncReportRow } {
  const { symbol, accountPosition } = state
  const { effective, ...settled } = settleInFlight(state, input)
  const closing = closingInFlight(state, settled.inFlight)
  const available = max(zero, accountPosition.abs().minus(closing))
  const demanded = correctionOf(state, effective, available)
  const reserved = state.excluded ? zero : demanded.close
  const followed = followSignals(state, available.minus(reserved))
  const isClosing =
    followed.closesAtMarket || settled.inFlight.some(({ positionEffect }) => positionEffect === 'C')
  const correction = permitted(demanded, state, isClosing)
  const cancel = [...settled.cancel, ...followed.cancel]
  const corrects = cancel.length === 0 && !state.excluded
  const order = (quantity: Decimal, direction: number): PositionOrder[] =>
    corrects && !quantity.isZero() ? [{ symbol, side: sideOf(direction), quantity: quantity.abs() }] : []
  return {
    actions: {
      cancel,
      toMarket: settled.toMarket,
      replace: followed.replace,
      place: followed.place,
      close: order(correction.close, -sign(accountPosition)),
      open: order(correction.open, sign(correction.open)),
    },
    row: reportRow(state, correction, input, cancel.length > 0),
  }
}

const noActions = (): SyncActions => ({
  cancel: [],
  toMarket: [],
  replace: [],
  place: [],
  close: [],
  open: [],
})

/** Joins the symbols' actions kind by kind, so that all cancels come first and all opens last. */
const joined = (all: readonly SyncActions[]): SyncActions => ({
  cancel: all.flatMap(({ cancel }) => cancel),
  toMarket: all.flatMap(({ toMarket }) => toMarket),
  replace: all.flatMap(({ replace }) => replace),
  place: all.flatMap(({ place }) => place),
  close: all.flatMap(({ close }) => close),
  open: all.flatMap(({ open }) => open),
})

/** One cycle. With AutoSync off nothing is done and the report says so. */
export function autoSync(input: SyncInput): SyncPlan {
  const held = new Set([...input.strategyPositions.keys(), ...input.accountPositions.keys()])
  const ordered = [...input.signals, ...input.orders].map(({ symbol }) => symbol)
  const symbols = [...new Set([...held, ...ordered])].sort()
  const clearedExclusions = [...input.exclusions.keys()].filter((symbol) => exclusionEnded(input, symbol))
  const done = symbols.map((symbol) => {
    const excluded = input.exclusions.has(symbol) && !clearedExclusions.includes(symbol)
    return syncSymbol(readSymbol(input, symbol, excluded), input)
  })
  return {
    actions: input.isSyncEnabled ? joined(done.map(({ actions }) => actions)) : noActions(),
    report: done.map(({ row }) => row).filter(({ symbol }) => held.has(symbol)),
    clearedExclusions,
  }
}
