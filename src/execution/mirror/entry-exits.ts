/**
 * Bracket exits of entries that fill in an account after its exits were planned. AutoSync places and raises them as it
 * does all copies; while it is off they still follow, as far as the account's own entry has filled: they are no repair
 * but what the entry was sent with.
 */
import { type Decimal, min, zero } from '../../domain/decimal.ts'
import type { Placement, Replacement } from '../../domain/mirror/mirror-sync-copies.ts'
import { planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import type { SyncOrder, SyncSignal } from '../../domain/mirror/mirror-sync-state.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { entryKey, loadEntryFills } from '../../storage/mirror/entry-fills.ts'
import { type Succession, saveSuccessions } from '../../storage/mirror/successions.ts'
import type { SyncCase } from '../../storage/mirror/sync-cases.ts'
import { changedCopy, placedCopy } from './sync-orders.ts'

/** An exit of an account that is off, as AutoSync would have it. */
interface Wanted {
  readonly one: SyncCase
  readonly entryId: number
  readonly quantity: Decimal
  /** What its copy works for and has executed here; zero where there has never been one. */
  readonly working: Decimal
  readonly executed: Decimal
  write(quantity: Decimal): Succession
}

const isCopyOf =
  (signal: SyncSignal) =>
  ({ signalId }: SyncOrder): boolean =>
    `${signalId}` === `${signal.signalId}`

/** Exits that have never had a copy here. */
const missing = (one: SyncCase, places: readonly Placement[], now: Instant): Wanted[] =>
  places
    .filter(({ signal }) => signal.entry !== null && !one.input.orders.some(isCopyOf(signal)))
    .map((place) => ({
      ...{
        one,
        entryId: Number(place.signal.entry),
        quantity: place.quantity,
        working: zero,
        executed: zero,
      },
      write: (quantity) => placedCopy(one, { ...place, quantity }, now),
    }))

/** Exits that may work for less than they should. */
const standing = (one: SyncCase, replacements: readonly Replacement[], now: Instant): Wanted[] =>
  replacements.flatMap((replacement): Wanted[] => {
    const order = one.input.orders.find(({ clientOrderId }) => clientOrderId === replacement.clientOrderId)!
    const signal = one.input.signals.find((each) => isCopyOf(each)(order))
    if (!signal || signal.entry === null) return []
    const { leaves, executed } = order
    return [
      {
        ...{ one, entryId: Number(signal.entry), quantity: replacement.quantity, working: leaves, executed },
        write: (quantity) => changedCopy(one, { ...replacement, quantity }, now),
      },
    ]
  })

/** Keeps exits up with their entries where AutoSync is off; answers the setups in which something was done. */
export async function followEntries(
  tx: Transaction,
  cases: readonly SyncCase[],
  now: Instant,
): Promise<number[]> {
  const off = cases.filter(
    ({ input }) => !input.isSyncEnabled && input.signals.some(({ entry }) => entry !== null),
  )
  const wanted = off.flatMap((one) => {
    const { actions } = planSync({ ...one.input, isSyncEnabled: true }, one.obstacles)
    return [...missing(one, actions.place, now), ...standing(one, actions.replace, now)]
  })
  if (wanted.length === 0) return []
  const filled = await loadEntryFills(
    tx,
    wanted.map(({ one, entryId }) => ({ setupId: one.setup.id, signalId: entryId })),
  )
  const grown = wanted.flatMap(({ one, entryId, quantity, working, executed, write }) => {
    // Never more than the entry has filled here, and never less than what works: shrinking is for repairs.
    const covered = (filled.get(entryKey(one.setup.id, entryId)) ?? zero).minus(executed)
    const next = min(quantity, covered)
    return next.greaterThan(working) ? [{ setupId: one.setup.id, succession: write(next) }] : []
  })
  if (grown.length === 0) return []
  await saveSuccessions(
    tx,
    grown.map(({ succession }) => succession),
    now,
  )
  return grown.map(({ setupId }) => setupId)
}
