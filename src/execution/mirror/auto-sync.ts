/**
 * AutoSync: keeps what accounts hold and work in step with their strategies. A cycle reads everything about its
 * setups under the locks of strategies and accounts, decides by a pure function, and writes orders, which are sent
 * like any other. It comes after whatever changes what it reads, and once more a minute after it has acted.
 */
import { planSync } from '../../domain/mirror/mirror-sync-plan.ts'
import { completedPasses, nextPass } from '../../domain/mirror/sync-groups.ts'
import { type Instant, minute } from '../../domain/time.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { loadRateTable } from '../../storage/market/quotes.ts'
import {
  cancelThese,
  insertAccountOrders,
  type NewAccountOrder,
} from '../../storage/mirror/account-orders.ts'
import { withdrawOfStopped } from '../../storage/mirror/closings.ts'
import { endExclusionsIn, type SetupSymbol } from '../../storage/mirror/exclusions.ts'
import { type Succession, saveSuccessions } from '../../storage/mirror/successions.ts'
import { type SyncCase, syncCases } from '../../storage/mirror/sync-cases.ts'
import {
  claimSyncs,
  findNextSync,
  isSyncDue,
  listDueSyncs,
  settleSyncs,
} from '../../storage/mirror/sync-due.ts'
import { loadSyncFacts } from '../../storage/mirror/sync-facts.ts'
import { nextRevisions, type RevisedOrder, savePasses } from '../../storage/mirror/sync-writes.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'
import { followClosing } from './closing-copies.ts'
import { clampOwnExits, endIdleExits } from './own-exits.ts'
import {
  followStops,
  guardedInstruments,
  type PlannedCase,
  type Rates,
  type StopChanges,
} from './stop-losses.ts'
import { changedCopy, correction, placedCopy, turnedCopy } from './sync-orders.ts'

/** Setups that one transaction looks at: their strategies wait meanwhile. */
const setupsAtOnce = 500
const statementTimeoutMs = 30_000
/** When setups in which something was done are looked at again without being asked. */
const again = minute

/** Looks at every setup that is due; answers how many. */
export const syncAccounts = (ctx: WorkContext): Promise<number> =>
  isolated(ctx, {
    name: 'AutoSync of a setup',
    work: (setups) => syncThese(ctx, setups),
    list: (setups, limit) => listDueSyncs(ctx.db.read, ctx.clock.now(), setups, limit),
  })

async function syncThese(ctx: WorkContext, setups: Among): Promise<number> {
  let looked = 0
  while (!ctx.ending?.aborted) {
    const sync = (tx: Transaction) => syncNext(ctx, tx, setups)
    const count = await ctx.db.transaction(sync, { statementTimeoutMs })
    looked += count
    // What others hold is not waited for: it stays due.
    if (count < setupsAtOnce) break
  }
  return looked
}

async function syncNext(ctx: WorkContext, tx: Transaction, setups: Among): Promise<number> {
  const now = ctx.clock.now()
  const ids = await claimSyncs(tx, now, setups, setupsAtOnce)
  if (ids.length === 0) return 0
  const seen = syncCases(await loadSyncFacts(tx, ids), now)
  const disabled = seen.filter(({ setup }) => setup.isAutotradeDisabled)
  const cases = seen.filter(({ setup }) => !setup.isAutotradeDisabled)
  const planned = cases.map((one): PlannedCase => ({ one, plan: planSync(one.input, one.obstacles) }))
  const stops = await planStops(tx, planned, now)
  const acted = new Set([
    ...(await carryOut(tx, planned, now)),
    ...(await guard(tx, stops, now)),
    ...(await clampOwnExits(tx, planned, now)),
    ...(await followClosing(tx, cases, now)),
  ])
  await endIdleExits(tx, disabled, now)
  const isFollowing = new Set(seen.map(({ setup }) => setup.id))
  const stopped = ids.filter((id) => !isFollowing.has(id))
  if (stopped.length > 0) await withdrawOfStopped(tx, stopped, now)
  await endExclusionsIn(
    tx,
    planned.flatMap(({ one, plan }) => plan.clearedExclusions.map((symbol) => symbolIn(one, symbol))),
    now,
  )
  await saveFlags(tx, planned, now)
  await settleSyncs(tx, ids, nextLooks(planned, acted, now))
  return ids.length
}

/**
 * Closes at once what setups hold against their strategy in a symbol that they follow again from now on. What it has
 * opened on the other side is copied next: a copy that trades first would close it, and open nothing.
 */
export async function closeAgainst(
  tx: Transaction,
  setupIds: readonly number[],
  instrumentId: number,
  now: Instant,
): Promise<void> {
  const cases = syncCases(await loadSyncFacts(tx, setupIds), now)
  const planned = cases.map((one): PlannedCase => {
    const plan = planSync(one.input, one.obstacles)
    const isHere = (id: string): boolean => one.orders.get(id)?.instrumentId === instrumentId
    const actions = {
      toMarket: [],
      place: [],
      open: [],
      cancel: plan.actions.cancel.filter(isHere),
      replace: plan.actions.replace.filter(({ clientOrderId }) => isHere(clientOrderId)),
      close: plan.actions.close.filter(({ symbol }) => symbolIn(one, symbol).instrumentId === instrumentId),
    }
    return { one, plan: { ...plan, actions } }
  })
  await carryOut(tx, planned, now)
}

const symbolIn = ({ setup, instruments }: SyncCase, symbol: string): SetupSymbol => ({
  setupId: setup.id,
  instrumentId: instruments.get(symbol)?.id ?? 0,
})

/** Corrections and protective stops are numbered by their instrument. */
const revisedIn = ({ setup }: SyncCase, instrumentId: number): RevisedOrder => ({
  setupId: setup.id,
  sourceId: instrumentId,
})

/** Copies turn to market by themselves when their grace is over; these did not, as their brokers refused it. */
async function planTurns(
  tx: Transaction,
  planned: readonly PlannedCase[],
  now: Instant,
): Promise<Succession[]> {
  const stuck = planned
    .flatMap(({ one, plan }) =>
      plan.actions.toMarket.map(({ clientOrderId, quantity }) => ({
        one,
        leaves: quantity,
        row: one.orders.get(clientOrderId)!,
      })),
    )
    .filter(({ row }) => row.chaseAt === null)
  const rows = stuck.map(({ row }) => row)
  const revisionOf = await nextRevisions(tx, 'S', rows)
  return stuck.map(({ one, row, leaves }) => turnedCopy(one, row, { leaves, revision: revisionOf(row) }, now))
}

/** Writes what the plans demand, closes before opens; answers the setups in which something was done. */
async function carryOut(tx: Transaction, planned: readonly PlannedCase[], now: Instant): Promise<number[]> {
  const canceled = planned.flatMap(({ one, plan }) =>
    plan.actions.cancel.map((id) => one.orders.get(id)!).filter(({ status }) => status !== '6'),
  )
  await cancelThese(tx, canceled, { at: now, info: 'no longer wanted' })
  const turns = await planTurns(tx, planned, now)
  const followed = planned.flatMap(({ one, plan }): Succession[] => [
    ...plan.actions.replace.map((replacement) => changedCopy(one, replacement, now)),
    ...plan.actions.place.map((placement) => placedCopy(one, placement, now)),
  ])
  const successions = [...turns, ...followed]
  await saveSuccessions(tx, successions, now)
  const corrections = await planCorrections(tx, planned, now)
  await insertAccountOrders(tx, corrections)
  return [...canceled, ...successions.map(({ order }) => order), ...corrections].map(({ setupId }) => setupId)
}

async function planCorrections(
  tx: Transaction,
  planned: readonly PlannedCase[],
  now: Instant,
): Promise<NewAccountOrder[]> {
  const wanted = (['close', 'open'] as const).flatMap((action) =>
    planned.flatMap(({ one, plan }) =>
      plan.actions[action].map((order) => {
        const { instrumentId } = symbolIn(one, order.symbol)
        return { one, order, action, ...revisedIn(one, instrumentId) }
      }),
    ),
  )
  const revisionOf = await nextRevisions(tx, 'Y', wanted)
  return wanted.map(({ one, order, action, ...revised }) =>
    correction(one, order, action === 'close' ? 'C' : 'O', revisionOf(revised), now),
  )
}

async function planStops(
  tx: Transaction,
  planned: readonly PlannedCase[],
  now: Instant,
): Promise<StopChanges[]> {
  const guarded = planned
    .map(({ one, plan }) => ({ one, plan, ids: guardedInstruments(one) }))
    .filter(({ ids }) => ids.length > 0)
  if (guarded.length === 0) return []
  const symbols = guarded.flatMap(({ one, ids }) => ids.map((instrumentId) => revisedIn(one, instrumentId)))
  const [revisionOf, rates] = await Promise.all([nextRevisions(tx, 'L', symbols), ratesOf(tx, guarded)])
  return guarded.flatMap(({ one, plan }) =>
    followStops({ one, plan }, rates.get(one.setup.currency) ?? new Map(), revisionOf, now),
  )
}

/** Rates of the currencies in which the cases' instruments are quoted, by account currency. */
const ratesOf = (tx: Transaction, guarded: readonly { one: SyncCase }[]): Promise<Map<string, Rates>> =>
  loadRateTable(
    tx,
    guarded.map(({ one }) => one.setup.currency),
    guarded.flatMap(({ one }) => [...one.instruments.values()].map(({ currency }) => currency)),
  )

/** Writes protective stops; answers the setups in which something was done. */
async function guard(tx: Transaction, stops: readonly StopChanges[], now: Instant): Promise<number[]> {
  const canceled = stops.flatMap(({ cancel }) => cancel)
  await cancelThese(tx, canceled, { at: now, info: 'no longer wanted' })
  const changed = stops.flatMap(({ change }) => change)
  const placed = stops.flatMap(({ place }) => place)
  await saveSuccessions(tx, changed, now)
  await insertAccountOrders(tx, placed)
  return [...changed.map(({ order }) => order), ...placed].map(({ setupId }) => setupId)
}

/** A group's permission to open ends with its first complete pass. */
const saveFlags = (tx: Transaction, planned: readonly PlannedCase[], now: Instant): Promise<void> =>
  savePasses(
    tx,
    planned.flatMap(({ one, plan }) =>
      one.input.isSyncEnabled
        ? completedPasses(one.groups, one.grouped, plan.report, now).map((group) => ({
            setupId: one.setup.id,
            group,
          }))
        : [],
    ),
    now,
  )

/** Setups that time alone makes worth another look: those acted in, and those whose market is still closed. */
const nextLooks = (
  planned: readonly PlannedCase[],
  acted: ReadonlySet<number>,
  now: Instant,
): { setupId: number; at: Instant }[] =>
  planned.flatMap(({ one }) => {
    const setupId = one.setup.id
    const opening = one.input.isSyncEnabled ? nextPass(one.groups, one.grouped, now) : null
    const moments = [...(acted.has(setupId) ? [now + again] : []), ...(opening === null ? [] : [opening])]
    return moments.length > 0 ? [{ setupId, at: Math.min(...moments) }] : []
  })

/** Setups wait to be looked at. */
export const syncStep: Step = {
  name: 'syncAccounts',
  due: isSyncDue,
  moments: [findNextSync],
  run: syncAccounts,
}
