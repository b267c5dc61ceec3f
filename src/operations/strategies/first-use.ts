/**
 * Instruments on first use: a contract, pair or option that nobody entered is made from its symbol when the first
 * order takes it. Stocks are never made: whether one exists, its symbol cannot tell. An order that is refused
 * leaves no instrument behind.
 */

import { deriveInstrument } from '../../domain/market/derive-instrument.ts'
import { hasExpired } from '../../domain/market/expiration.ts'
import { type Instrument, isListedAs } from '../../domain/market/instrument.ts'
import { isListedMonth, type SymbolParts } from '../../domain/market/symbol.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { findUnderlyings, insertInstruments } from '../../storage/market/instruments.ts'
import { loadPlacing, type PlacingQuestion, type PlacingRow } from '../../storage/orders/placing.ts'

/** A question whose symbol was read; without `parts` it names no instrument that could be made. */
export interface Wish extends PlacingQuestion {
  readonly parts?: SymbolParts
}

/** Whether an order that names it may trade at `at`. */
export const tradesAt = (
  row: Pick<PlacingRow, 'isTradable' | 'calendar' | 'lastTradingDay'>,
  at: Instant,
): boolean => row.isTradable && !hasExpired(row, at)

/**
 * The rows of the wishes, `known` ones first; an instrument that is missing is made if it can be and if
 * `accepts` would take an order for it; otherwise its row has no id, so that the refusal can be told again. A
 * wish without a row names nothing that can be traded.
 */
export async function withFirstUses(
  sql: Sql,
  now: Instant,
  wishes: readonly Wish[],
  known: ReadonlyMap<number, PlacingRow>,
  accepts: (row: PlacingRow, place: number) => boolean,
): Promise<ReadonlyMap<number, PlacingRow>> {
  const derived = wishes.flatMap((wish, place) => {
    const instrument = wish.parts && !known.has(place) ? derive(wish.parts, now) : undefined
    return instrument && isListedAs(instrument, wish) ? [{ place, instrument }] : []
  })
  if (derived.length === 0) return known
  const listed = (await withUnderlying(sql, derived)).map(({ place, instrument }) => ({
    place,
    instrument,
    row: provisional(instrument),
  }))
  const taken = listed.filter(({ row, place }) => accepts(row, place))
  const rows = new Map([...known, ...listed.map(({ place, row }) => [place, row] as const)])
  if (taken.length === 0) return rows
  await insertInstruments(
    sql,
    taken.map(({ instrument }) => instrument),
  )
  const places = taken.map(({ place }) => place)
  const made = await loadPlacing(
    sql,
    places.map((place) => wishes[place] as Wish),
  )
  for (const [index, row] of made.rows) rows.set(places[index] as number, row)
  return rows
}

/** What the tables make of a symbol, as long as it trades. */
function derive(parts: SymbolParts, now: Instant): Instrument | undefined {
  if (parts.securityType === 'CS') return undefined
  if (parts.securityType === 'FUT' && !isListedMonth(parts)) return undefined
  const instrument = deriveInstrument(parts)
  return typeof instrument === 'string' || hasExpired(instrument, now) ? undefined : instrument
}

interface Derived {
  readonly place: number
  readonly instrument: Instrument
}

/** Without the options whose stock does not exist. That an index exists, the table of index options says. */
async function withUnderlying(sql: Sql, derived: readonly Derived[]): Promise<Derived[]> {
  const options = derived.flatMap(({ instrument }) =>
    instrument.securityType === 'OPT' ? [instrument.underlying ?? ''] : [],
  )
  if (options.length === 0) return [...derived]
  const found = await findUnderlyings(sql, [...new Set(options)], 'USD')
  return derived.filter(
    ({ instrument }) =>
      instrument.securityType !== 'OPT' || instrument.indexOption || found.has(instrument.underlying ?? ''),
  )
}

/** The row of an instrument that is not made yet: nobody holds it and nobody has quoted it. */
const provisional = ({ calendar, tick, lastTradingDay }: Instrument): PlacingRow => ({
  // Ids that no signal has: nothing of this row is written.
  signalId: 0,
  moreIds: [-1, -2, -3, -4],
  instrumentId: 0,
  isTradable: true,
  splitAt: null,
  position: '0',
  bid: null,
  ask: null,
  calendar,
  tick: tick.toFixed(),
  lastTradingDay,
})
