/**
 * Closing copies in accounts whose AutoSync is off. That nothing is repaired there does not leave them alone: the exits
 * of an entry follow as far as the account's own entry has filled, for they are what it was sent with, and together
 * copies never close more than is held, for a broker would open a position the other way with the rest.
 */
import { type Decimal, max, min, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { clampClosing, coveredOfEntry } from '../../domain/mirror/mirror-copy.ts'
import { leavesInGroup, type Placement, type Replacement } from '../../domain/mirror/mirror-sync-copies.ts'
import { isRefused, planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import {
  readSymbol,
  type SymbolState,
  type SyncOrder,
  type SyncSignal,
} from '../../domain/mirror/mirror-sync-state.ts'
import { actsAgainst, closesNothing } from '../../domain/positions/open-close.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { cancelThese } from '../../storage/mirror/account-orders.ts'
import { entryKey, loadEntryFills } from '../../storage/mirror/entry-fills.ts'
import { type Succession, saveSuccessions } from '../../storage/mirror/successions.ts'
import type { SyncCase } from '../../storage/mirror/sync-cases.ts'
import type { SyncOrderRow } from '../../storage/mirror/sync-facts.ts'
import { changedCopy, placedCopy } from './sync-orders.ts'

/** A closing copy at work, or an exit that has never had one here. */
interface ClosingCopy {
  readonly signal: SyncSignal
  readonly leaves: Decimal
  readonly executed: Decimal
  /** What AutoSync would have it work for. */
  readonly wanted: Decimal
  /** What is canceled where nothing is left to close; undefined where nothing works. */
  readonly row: SyncOrderRow | undefined
  /** Whether its broker has refused to let it work for so much. */
  wasRefused(quantity: Decimal): boolean
  write(quantity: Decimal): Succession
}

/** The signal at work that an order copies. */
const copied = ({ successors }: SyncCase, { signalId }: SyncOrder): SyncSignal | undefined =>
  signalId === null ? undefined : successors.get(Number(signalId))

/** Whether it is the exit of an entry. That of a variant names none: its copy of the entry may be several orders. */
const isExit = ({ signals }: SyncCase, { entry, signalId }: SyncSignal): boolean =>
  entry !== null || signals.get(Number(signalId))?.isVariantExit === true

function missing(one: SyncCase, places: readonly Placement[], now: Instant): ClosingCopy[] {
  const attempted = new Set(one.input.orders.map((order) => copied(one, order)))
  return places
    .filter(({ signal }) => isExit(one, signal) && !attempted.has(signal))
    .map((place) => ({
      signal: place.signal,
      leaves: zero,
      executed: zero,
      wanted: place.quantity,
      row: undefined,
      wasRefused: () => false,
      write: (quantity) => placedCopy(one, { ...place, quantity }, now),
    }))
}

/** Oldest first. What is being canceled is not at work any more. */
function standing(one: SyncCase, replacements: readonly Replacement[], now: Instant): ClosingCopy[] {
  const changes = new Map(replacements.map((change) => [change.clientOrderId, change]))
  return one.input.orders.flatMap((order): ClosingCopy[] => {
    const { clientOrderId, leaves, executed, care } = order
    const signal = copied(one, order)
    const row = one.orders.get(clientOrderId)
    const isAtWork = care === 'follow' && leaves.greaterThan(zero) && row?.status !== '6'
    if (signal?.positionEffect !== 'C' || !isAtWork) return []
    const change = changes.get(clientOrderId)
    const { type, limit, stop } = change ?? order
    const changed = (quantity: Decimal): Replacement => ({ clientOrderId, type, quantity, limit, stop })
    return [
      {
        signal,
        leaves,
        executed,
        row,
        wanted: change?.quantity ?? leaves,
        wasRefused: (quantity) => isRefused(one.obstacles, changed(quantity)),
        write: (quantity) => changedCopy(one, changed(quantity), now),
      },
    ]
  })
}

function closingCopies(one: SyncCase, now: Instant): ClosingCopy[] {
  const hasExits = one.input.signals.some((signal) => isExit(one, signal))
  const { replace, place } = hasExits
    ? planSync({ ...one.input, isSyncEnabled: true }, one.obstacles).actions
    : { replace: [], place: [] }
  return [...standing(one, replace, now), ...missing(one, place, now)]
}

/**
 * What a copy may work for by itself: more only as far as it covers its entry here, and less only by what another exit
 * of its group has closed here.
 */
function followed(one: SyncCase, state: SymbolState, copy: ClosingCopy, filled: Decimal | null): Decimal {
  const own = grown(one, copy, filled)
  const live = state.copyOf.get(`${copy.signal.signalId}`)
  return min(own, (live && leavesInGroup(state, live)) ?? own)
}

/** What it would grow to by its entry here alone, if it names one; never less than it works for. */
function grown(one: SyncCase, copy: ClosingCopy, entryExecuted: Decimal | null): Decimal {
  const { signal, leaves, executed, wanted } = copy
  if (signal.entry === null) return isExit(one, signal) ? max(leaves, wanted) : leaves
  const held = one.input.accountPositions.get(signal.symbol) ?? zero
  const covered = coveredOfEntry({
    side: signal.side,
    entryExecuted,
    entryKept: signal.entryKept,
    sizing: { held, ...one.input.termsOf(signal.symbol) },
  })
  return max(leaves, min(wanted, covered.minus(executed)))
}

/** What becomes of the copies of one setup and symbol: those that change, and those with nothing left to close. */
interface Changes {
  readonly successions: readonly Succession[]
  readonly canceled: readonly SyncOrderRow[]
}

function changesOf(
  one: SyncCase,
  symbol: string,
  copies: readonly ClosingCopy[],
  filledOf: (copy: ClosingCopy) => Decimal | null,
): Changes {
  const held = one.input.accountPositions.get(symbol) ?? zero
  const state = readSymbol(one.input, symbol, false)
  const next = copies.map((copy) => ({
    ocaGroup: copy.signal.ocaGroup,
    leaves: actsAgainst(copy.signal.side, held) ? followed(one, state, copy, filledOf(copy)) : zero,
  }))
  // AutoSync alone counts what the holder works: a stop does not give way to his target before that has traded.
  const allowed = clampClosing(next, held.abs())
  const changed = copies.map((copy, at) => ({ copy, quantity: allowed[at]! }))
  return {
    successions: changed
      .filter(({ copy, quantity }) => !quantity.isZero() && !quantity.equals(copy.leaves))
      .filter(({ copy, quantity }) => !copy.wasRefused(quantity))
      .map(({ copy, quantity }) => copy.write(quantity)),
    canceled: changed.flatMap(({ copy: { row }, quantity }) => (row && quantity.isZero() ? [row] : [])),
  }
}

/** Copies past their grace that have nothing left to close: what they would do is open. */
const idle = (one: SyncCase): SyncOrderRow[] => {
  const { input, orders } = one
  return input.orders.flatMap((order) => {
    const { clientOrderId, signalId, leaves, care, symbol } = order
    const isCopy = care === 'follow' && signalId !== null && leaves.greaterThan(zero)
    const isOver = copied(one, order) === undefined
    const row = orders.get(clientOrderId)
    if (!isCopy || !isOver || row === undefined || row.chaseAt !== null || row.status === '6') return []
    return closesNothing(order, input.accountPositions.get(symbol) ?? zero) ? [row] : []
  })
}

/** Keeps closing copies as they should be where AutoSync is off; answers the setups in which something was done. */
export async function followClosing(
  tx: Transaction,
  cases: readonly SyncCase[],
  now: Instant,
): Promise<number[]> {
  const unsynced = cases.filter(({ input }) => !input.isSyncEnabled)
  const found = unsynced.flatMap((one) => closingCopies(one, now).map((copy) => ({ one, copy })))
  const over = unsynced.flatMap(idle)
  if (found.length === 0 && over.length === 0) return []
  const filled = await loadEntryFills(
    tx,
    found.flatMap(({ one, copy: { signal } }) =>
      signal.entry === null ? [] : [{ setupId: one.setup.id, signalId: Number(signal.entry) }],
    ),
  )
  const bySymbol = groupBy(found, ({ one, copy }) => `${one.setup.id} ${copy.signal.symbol}`)
  const changes = [...bySymbol.values()].map((own) => {
    const { one, copy } = own[0]
    return changesOf(
      one,
      copy.signal.symbol,
      own.map((each) => each.copy),
      ({ signal }) => filled.get(entryKey(one.setup.id, Number(signal.entry))) ?? null,
    )
  })
  const canceled = [...over, ...changes.flatMap((each) => each.canceled)]
  const successions = changes.flatMap((each) => each.successions)
  await cancelThese(tx, canceled, { at: now, info: 'position closed' })
  await saveSuccessions(tx, successions, now)
  return [...canceled, ...successions.map(({ order }) => order)].map(({ setupId }) => setupId)
}
