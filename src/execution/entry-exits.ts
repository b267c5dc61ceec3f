/**
 * Bracket exits of entries that fill in an account after its exits were planned. AutoSync places and raises them as it
 * does all copies; while it is off they still follow, as far as the account's own entry has filled: they are no repair
 * but what the entry was sent with.
 */
import { type Decimal, min, zero } from '../domain/decimal.ts'
import type { Placement, Replacement } from '../domain/mirror-sync-copies.ts'
import { planSync } from '../domain/mirror-sync-plan.ts'
import type { SyncOrder, SyncSignal } from '../domain/mirror-sync-state.ts'
import type { Instant } from '../domain/time.ts'
import { entryKey, loadEntryFills } from '../storage/entry-fills.ts'
import type { Transaction } from '../storage/sql.ts'
import { saveSuccessions } from '../storage/successions.ts'
import type { SyncCase } from '../storage/sync-cases.ts'
import { changedCopy, placedCopy } from './sync-orders.ts'

interface Wanted<Change> {
  readonly one: SyncCase
  readonly signal: SyncSignal
  /** What its copy has executed here. */
  readonly executed: Decimal
  readonly change: Change
}

const isCopyOf =
  (signal: SyncSignal) =>
  ({ signalId }: SyncOrder): boolean =>
    `${signalId}` === `${signal.signalId}`

/** Exits that have never had a copy here. */
const missing = (one: SyncCase, places: readonly Placement[]): Wanted<Placement>[] =>
  places
    .filter(({ signal }) => signal.entry !== null && !one.input.orders.some(isCopyOf(signal)))
    .map((change) => ({ one, signal: change.signal, executed: zero, change }))

/** Exits that work for less than they should. */
const small = (one: SyncCase, replacements: readonly Replacement[]): Wanted<Replacement>[] =>
  replacements.flatMap((change) => {
    const order = one.input.orders.find(({ clientOrderId }) => clientOrderId === change.clientOrderId)!
    const signal = one.input.signals.find((each) => isCopyOf(each)(order))
    const grows = signal && signal.entry !== null && change.quantity.greaterThan(order.leaves)
    return grows ? [{ one, signal, executed: order.executed, change }] : []
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
  const plans = off.map((one) => ({
    one,
    actions: planSync({ ...one.input, isSyncEnabled: true }, one.obstacles).actions,
  }))
  const places = plans.flatMap(({ one, actions }) => missing(one, actions.place))
  const raises = plans.flatMap(({ one, actions }) => small(one, actions.replace))
  const wanted = [...places, ...raises]
  if (wanted.length === 0) return []
  const filled = await loadEntryFills(
    tx,
    wanted.map(({ one, signal }) => ({ setupId: one.setup.id, signalId: Number(signal.entry) })),
  )
  /** Never more than the entry has filled here. */
  const covered = ({ one, signal, executed, change }: Wanted<Placement | Replacement>): Decimal =>
    min(change.quantity, (filled.get(entryKey(one.setup.id, Number(signal.entry))) ?? zero).minus(executed))
  const isCovered = (each: Wanted<Placement | Replacement>): boolean => covered(each).greaterThan(0)
  await saveSuccessions(
    tx,
    [
      ...places
        .filter(isCovered)
        .map((each) => placedCopy(each.one, { ...each.change, quantity: covered(each) }, now)),
      ...raises
        .filter(isCovered)
        .map((each) => changedCopy(each.one, { ...each.change, quantity: covered(each) }, now)),
    ],
    now,
  )
  return wanted.filter(isCovered).map(({ one }) => one.setup.id)
}
