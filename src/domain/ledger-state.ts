/**
 * Cash and positions as they stood at moments of the past, from the fills alone: average-cost netting in every
 * ledger with the twelve decimals that positions are kept with, exact cash as the fills moved it. Whoever asks about a day long gone gets the books of that day.
 */
import type { SecurityType, Side } from './codes.ts'
import { type Decimal, roundTo } from './decimal.ts'
import { applyFill, flat, type Position } from './position.ts'
import type { Instant } from './time.ts'

/** A fill as it was booked. */
export interface BookedFill {
  readonly instrumentId: number
  /** Positions of one instrument may be kept in several ledgers; absent where there is only one. */
  readonly ledger?: number
  readonly side: Side
  readonly quantity: Decimal
  readonly price: Decimal
  readonly securityType: SecurityType
  readonly pointValue: Decimal
  readonly fx: Decimal
  /** What it moved in cash, commission included. */
  readonly cashChange: Decimal
  readonly at: Instant
}

export interface LedgerPosition {
  readonly instrumentId: number
  readonly quantity: Decimal
  readonly avgPx: Decimal
  /** Of the last fill: account currency per unit of quote currency. */
  readonly fx: Decimal
}

export interface LedgerState {
  readonly cash: Decimal
  readonly positions: readonly LedgerPosition[]
}

interface Entry {
  readonly position: Position
  readonly instrumentId: number
  readonly fx: Decimal
}

/**
 * The state at each of `moments` (ascending), what happened at the moment itself included. Fills in the order in
 * which they were booked.
 */
export function statesAt(
  openingCash: Decimal,
  fills: readonly BookedFill[],
  moments: readonly Instant[],
): LedgerState[] {
  const inTime = fills
    .map((fill, place) => ({ fill, place }))
    .sort((a, b) => a.fill.at - b.fill.at || a.place - b.place)
  const entries = new Map<string, Entry>()
  let cash = openingCash
  let next = 0
  return moments.map((moment) => {
    for (let item = inTime[next]; item && item.fill.at <= moment; item = inTime[++next]) {
      const { fill } = item
      const key = `${fill.ledger ?? ''} ${fill.instrumentId}`
      const { position: exact } = applyFill(entries.get(key)?.position ?? flat, fill, fill)
      const position = { ...exact, avgPx: exact.avgPx && roundTo(exact.avgPx, 12) }
      entries.set(key, { position, instrumentId: fill.instrumentId, fx: fill.fx })
      cash = cash.plus(fill.cashChange)
    }
    return { cash, positions: [...entries.values()].flatMap(heldOf) }
  })
}

const heldOf = ({ position, instrumentId, fx }: Entry): LedgerPosition[] =>
  position.avgPx === null ? [] : [{ instrumentId, quantity: position.quantity, avgPx: position.avgPx, fx }]
