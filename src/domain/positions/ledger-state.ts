/**
 * Cash and positions as they stood at moments of the past, from what was booked alone: average-cost netting in every
 * ledger with the twelve decimals that positions are kept with, exact cash as the entries moved it. Whoever asks
 * about a day long gone gets the books of that day, in the units of that day.
 */
import { firstFrom } from '../ascending.ts'
import type { SecurityType, Side } from '../codes.ts'
import { type Decimal, ledgerPlaces, roundTo, zero } from '../decimal.ts'
import { groupBy } from '../group.ts'
import type { Instant } from '../time.ts'
import { applyFill, flat, type Position, takeBack } from './position.ts'
import { type BookedSplit, priceAfter } from './split.ts'

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
  /** Names it in its ledger; null where nothing is ever taken back. */
  readonly name: string | null
  /** It is the opposite of the fill of this name, which never should have been; null of all others. */
  readonly takesBack: string | null
}

/** What a dividend, a split or an entry of cash did to a ledger beside its fills. */
export interface BookedAdjustment {
  /** Null for an entry of cash alone. */
  readonly instrumentId: number | null
  readonly ledger?: number
  readonly at: Instant
  readonly quantityChange: Decimal
  readonly cashChange: Decimal
  /** Null where nothing was split. */
  readonly split: BookedSplit | null
}

/** All that moved a book: fills in the order of booking, adjustments in that of their moments. */
export interface BookHistory {
  readonly fills: readonly BookedFill[]
  readonly adjustments: readonly BookedAdjustment[]
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

type BookedStep = BookedFill | BookedAdjustment

/** What a ledger has come to. */
export interface HeldSince {
  readonly position: Position
  /** When it was opened from flat, or carried through zero; null where it is flat. */
  readonly openedAt: Instant | null
  /** What its fills have moved in cash, before commissions; null where something was taken back and it cannot be told. */
  readonly cash: Decimal | null
}

const untouched: HeldSince = { position: flat, openedAt: null, cash: zero }

interface Entry extends HeldSince {
  readonly instrumentId: number
  readonly fx: Decimal
}

/**
 * Fills and adjustments in one order: the fills between two adjustments as they come, each adjustment before those that
 * are not older, whenever they were told. What trades at the opening of a day trades in its units.
 */
export function inOrder<Fill extends { readonly at: Instant }, Adjustment extends { readonly at: Instant }>(
  fills: readonly Fill[],
  adjustments: readonly Adjustment[],
): (Fill | Adjustment)[] {
  const between = byMoment(fills, [...adjustments.map(({ at }) => at - 1), Number.POSITIVE_INFINITY])
  return between.flatMap((own, place) => [...own, ...adjustments.slice(place, place + 1)])
}

/** Ledger after ledger, each in its order: what befell another one, or the cash alone, stands between none of its fills. */
export function byLedger<Fill extends { readonly at: Instant }, Adjustment extends { readonly at: Instant }>(
  fills: readonly Fill[],
  adjustments: readonly Adjustment[],
  keyOf: (step: Fill | Adjustment) => unknown,
): (Fill | Adjustment)[] {
  const [filled, adjusted] = [groupBy(fills, keyOf), groupBy(adjustments, keyOf)]
  const ledgers = new Set([...filled.keys(), ...adjusted.keys()])
  return [...ledgers].flatMap((key) => inOrder(filled.get(key) ?? [], adjusted.get(key) ?? []))
}

/** A book that is gone through fill by fill: of years there are more than should be held. */
export interface BookStates {
  /** The next one in the order of booking. */
  add(fill: BookedFill): void
  /** The state at each moment, what happened at it included; the same object as long as nothing happens. */
  end(): LedgerState[]
}

/**
 * Says what a book came to by each of `moments` (ascending). Nearly all fills fall to the first of them: they move their
 * ledgers as they come, but where an adjustment stands between them.
 */
export function bookStates(
  openingCash: Decimal,
  adjustments: readonly BookedAdjustment[],
  moments: readonly Instant[],
): BookStates {
  const ledgers = new Ledgers()
  const adjusted = new Set(adjustments.map(({ instrumentId }) => instrumentId))
  const waiting = moments.map((): BookedFill[] => [])
  let cash = openingCash
  let hasMoved = false
  const move = (step: BookedStep): void => {
    ledgers.move(step)
    cash = cash.plus(step.cashChange)
    hasMoved = true
  }
  return {
    add: (fill) => {
      const place = firstFrom(moments, fill.at)
      if (place === 0 && !adjusted.has(fill.instrumentId)) move(fill)
      else waiting[place]?.push(fill)
    },
    end: () => {
      let state: LedgerState = { cash, positions: [] }
      return byMoment(adjustments, moments).map((own, place) => {
        for (const step of byLedger(waiting[place] ?? [], own, ledgerOf)) move(step)
        if (hasMoved) state = { cash, positions: [...ledgers.entries()].flatMap(heldOf) }
        hasMoved = false
        return state
      })
    },
  }
}

const ledgerOf = ({ ledger, instrumentId }: BookedStep): string => `${ledger ?? ''} ${instrumentId}`

/** What a ledger of one instrument has come to in the end. */
export function heldAtLast({ fills, adjustments }: BookHistory): HeldSince {
  const ledgers = new Ledgers()
  for (const step of inOrder(fills, adjustments)) ledgers.move(step)
  const [last] = ledgers.entries()
  if (!last) return untouched
  const { position, openedAt, cash } = last
  return { position, openedAt: position.quantity.isZero() ? null : openedAt, cash }
}

/** Ledgers while their books are gone through. */
class Ledgers {
  readonly #entries = new Map<string, Entry>()
  /** What has moved each, and still counts, by its name; adjustments by themselves. Of what is never taken back nothing. */
  readonly #steps = new Map<string, Map<string | BookedStep, BookedStep>>()
  /** Those out of which something was taken back: netted again once, however much that was. */
  readonly #disturbed = new Set<string>()

  move(step: BookedStep): void {
    const key = ledgerOf(step)
    const before = this.#entries.get(key)
    const steps = this.#steps.get(key) ?? new Map<string | BookedStep, BookedStep>()
    this.#steps.set(key, steps)
    if (before && 'side' in step && step.takesBack !== null && steps.delete(step.takesBack)) {
      this.#disturbed.add(key)
      this.#entries.set(key, { ...before, position: kept(takeBack(before.position, step, step)), cash: null })
      return
    }
    if (!('side' in step)) steps.set(step, step)
    else if (step.name !== null) steps.set(step.name, step)
    const after = afterStep(before, step)
    if (after) this.#entries.set(key, after)
  }

  entries(): IterableIterator<Entry> {
    for (const key of this.#disturbed) this.#netAgain(key)
    this.#disturbed.clear()
    return this.#entries.values()
  }

  /**
   * What is left in a ledger, as if what was taken back had never been. Where it was restated meanwhile and the rest does
   * not add up to what is held, only the share of that was undone.
   */
  #netAgain(key: string): void {
    const left = [...(this.#steps.get(key)?.values() ?? [])]
    const entry = this.#entries.get(key)
    if (!entry) return
    const again = left.reduce<Entry | undefined>(afterStep, undefined) ?? { ...entry, ...untouched }
    if (again.position.quantity.equals(entry.position.quantity)) this.#entries.set(key, again)
  }
}

/** What falls to each moment and not to the one before it, in the order given; what is later falls to none. */
function byMoment<Step extends { readonly at: Instant }>(
  steps: readonly Step[],
  moments: readonly Instant[],
): Step[][] {
  const found = moments.map((): Step[] => [])
  for (const step of steps) found[firstFrom(moments, step.at)]?.push(step)
  return found
}

const afterStep = (entry: Entry | undefined, step: BookedStep): Entry | undefined =>
  'side' in step ? afterFill(entry, step) : entry && afterAdjustment(entry, step)

function afterFill(entry: Entry | undefined, fill: BookedFill): Entry {
  const { position, opened, cash } = applyFill(entry?.position ?? flat, fill, fill)
  const isNew = !entry || position.quantity.abs().equals(opened)
  const { instrumentId, fx, at } = fill
  const openedAt = isNew ? at : entry.openedAt
  return {
    position: kept(position),
    openedAt,
    cash: entry ? (entry.cash?.plus(cash) ?? null) : cash,
    instrumentId,
    fx,
  }
}

function afterAdjustment(entry: Entry, { quantityChange, split }: BookedAdjustment): Entry {
  // Of nothing a split makes nothing, also where it found something that was taken back since: that has no average.
  if (entry.position.quantity.isZero()) return entry
  const quantity = entry.position.quantity.plus(quantityChange)
  if (quantity.isZero()) return { ...entry, position: flat }
  if (!split) return entry
  const avgPx = entry.position.avgPx && priceAfter(entry.position.avgPx, split.ratio)
  return { ...entry, position: kept({ ...entry.position, quantity, avgPx }) }
}

const kept = (position: Position): Position => ({
  ...position,
  avgPx: position.avgPx && roundTo(position.avgPx, ledgerPlaces),
})

const heldOf = ({ position, instrumentId, fx }: Entry): LedgerPosition[] =>
  position.avgPx === null ? [] : [{ instrumentId, quantity: position.quantity, avgPx: position.avgPx, fx }]
