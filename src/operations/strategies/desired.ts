/**
 * Desired positions: cancels, cuts and places what leads from what a strategy holds to what it shall hold, all in
 * one transaction. The strategy is locked before anything is read, so of two calls at the same instant the second
 * finds the orders of the first and changes nothing.
 */
import type { ParamsOf } from '../../contract/index.ts'
import type { OrdStatus } from '../../domain/codes.ts'
import { dec } from '../../domain/decimal.ts'
import type { ModelAccount } from '../../domain/margin/model-account.ts'
import { hasExpired } from '../../domain/market/expiration.ts'
import type { Parent } from '../../domain/orders/conditional.ts'
import { type DesiredOrder, type DesiredPlan, planDesired } from '../../domain/orders/desired.ts'
import { chargedRates } from '../../domain/positions/tables/commission-plans.ts'
import { instant } from '../../storage/database/wire.ts'
import { listSignals, type OrderRow } from '../../storage/mirror/signal-listings.ts'
import {
  type LiveOrderRow,
  loadHoldings,
  loadLiveOrders,
  restateSignals,
} from '../../storage/orders/desired-orders.ts'
import { loadModelAccounts } from '../../storage/orders/model-accounts.ts'
import { loadPlacing, type PlacingRow } from '../../storage/orders/placing.ts'
import {
  insertSignalEvents,
  type LockedStrategy,
  lockStrategies,
  newSignalIds,
} from '../../storage/orders/signals.ts'
import { type Context, isRefused, type Refused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { shownOrder } from '../orders.ts'
import { namedInstrument, refusedSplit } from '../symbols.ts'
import { cancelOrder } from './changes.ts'
import { tradesAt, type Wish, withFirstUses } from './first-use.ts'
import type { OrderDraft } from './order-draft.ts'
import { type PlacedCall, placeDraft } from './order-placement.ts'
import { savePlaced } from './placing.ts'

type Desired = ParamsOf<'SetDesiredPositions'>['Positions'][number]

/** Moves a strategy to the positions: cancels what is in the way, and orders the difference. */
export const setDesiredPositions: Handler<'SetDesiredPositions'> = async (ctx, { StrategyId, Positions }) => {
  const strategy = (await lockStrategies(ctx.sql, [StrategyId])).get(Number(StrategyId))
  if (!strategy) return refuse('NotFound', 'StrategyId')
  if (!strategy.isAlive) return refuse('StateConflict', 'StrategyId', 'The strategy is not alive')
  const wanted = await readWanted(ctx, strategy, Positions)
  if (isRefused(wanted)) return wanted
  const [held, live] = await Promise.all([
    loadHoldings(ctx.sql, strategy.id),
    loadLiveOrders(ctx.sql, strategy.id),
  ])
  const rows = new Map([...wanted, ...held].map((row) => [String(row.instrumentId), row]))
  const split = wanted.map((row) => refusedSplit(row, ctx.now)).find(isRefused)
  if (split) return split
  const plan = planFor(ctx, Positions, wanted, held, live)
  if (isRefused(plan)) return plan
  const refusal = refusalOf(ctx, plan, rows)
  if (refusal) return refusal
  for (const id of plan.canceled) {
    const canceled = await cancelOrder(ctx, strategy.id, id)
    if (isRefused(canceled)) return canceled
  }
  await cut(ctx, strategy, plan, live)
  const opening = plan.newOrders
    .filter(({ positionEffect }) => positionEffect === 'O')
    .map(({ symbol }) => ({ strategyId: strategy.id, instrumentId: Number(symbol) }))
  const account = (await loadModelAccounts(ctx.sql, opening, chargedRates(ctx.charging))).get(strategy.id)
  const placed = await placePlan(ctx, strategy, plan, { rows, account })
  await savePlaced(ctx.sql, placed)
  return { results: [await shownPlan(ctx, plan, placed)] }
}

/** The instruments of the positions, in order; one that can be made is made. */
async function readWanted(
  ctx: Context,
  { id: strategyId }: LockedStrategy,
  positions: readonly Desired[],
): Promise<PlacingRow[] | Refused> {
  const wishes = positions.flatMap((position): Wish[] => {
    const named = namedInstrument(position, ctx.now)
    return named ? [{ strategyId, ...named }] : []
  })
  const known = await loadPlacing(ctx.sql, wishes)
  const rows = await withFirstUses(ctx.sql, ctx.now, wishes, known.rows, () => true)
  const inOrder = positions.flatMap((_, place) => rows.get(place) ?? [])
  const isWhole = wishes.length === positions.length && inOrder.length === positions.length
  return isWhole ? inOrder : refuse('InvalidSymbol', 'Symbol')
}

function planFor(
  ctx: Context,
  positions: readonly Desired[],
  wanted: readonly PlacingRow[],
  held: readonly PlacingRow[],
  live: readonly LiveOrderRow[],
): DesiredPlan<number> | Refused {
  const ids = wanted.map(({ instrumentId }) => instrumentId)
  // What is held after its last session waits to be settled: nobody who does not want it can have it closed.
  const named = new Set(ids.filter((_, place) => Number(positions[place]?.Quantity) !== 0))
  const plan = planDesired({
    current: new Map(
      held
        .filter((row) => named.has(row.instrumentId) || !hasExpired(row, ctx.now))
        .map((row) => [String(row.instrumentId), dec(row.position)]),
    ),
    working: live.map((order) => ({
      symbol: String(order.instrumentId),
      ...order,
      leaves: dec(order.leaves),
    })),
    desired: wanted.map((row, place) => ({
      symbol: String(row.instrumentId),
      quantity: dec(positions[place]?.Quantity ?? 0),
    })),
    zeroMeansFlat: ctx.dialect === 'compat',
  })
  if (typeof plan !== 'string') return plan
  const at = ids.findIndex((id, place) =>
    plan === 'RepeatedSymbol' ? ids.indexOf(id) < place : Number(positions[place]?.Quantity) === 0,
  )
  return plan === 'RepeatedSymbol'
    ? refuse('InvalidParameter', `Positions[${at}]`, 'The symbol is repeated')
    : refuse('InvalidParameter', `Positions[${at}].Quantity`)
}

/** What the plan needs and cannot have. */
function refusalOf(
  ctx: Context,
  { newOrders }: DesiredPlan<number>,
  rows: ReadonlyMap<string, PlacingRow>,
): Refused | undefined {
  const isOver = ({ symbol, positionEffect }: DesiredOrder): boolean => {
    const row = rows.get(symbol)
    return !row || hasExpired(row, ctx.now) || (positionEffect === 'O' && !tradesAt(row, ctx.now))
  }
  return newOrders.some(isOver) ? refuse('InvalidSymbol', 'Symbol') : undefined
}

/** Protective exits that cover more than the new size are cut to it. */
async function cut(
  ctx: Context,
  { id: strategyId }: LockedStrategy,
  { reduced }: DesiredPlan<number>,
  live: readonly LiveOrderRow[],
): Promise<void> {
  if (reduced.length === 0) return
  await restateSignals(ctx.sql, strategyId, reduced)
  const stored = await listSignals(
    ctx.sql,
    reduced.map(({ signalId }) => signalId),
  )
  const before = new Map(live.map(({ signalId, leaves }) => [signalId, leaves]))
  await insertSignalEvents(
    ctx.sql,
    stored.map(({ id, status, orderQty }) => ({
      signalId: id,
      offset: 0,
      event: 'RESTATE',
      status,
      occurredAt: instant(ctx.now),
      cause: { requestId: ctx.requestId, leavesBefore: before.get(id), orderQty },
    })),
  )
}

interface Surroundings {
  readonly rows: ReadonlyMap<string, PlacingRow>
  readonly account: ModelAccount | undefined
}

/** Places the orders of the plan; one that changes the side waits for the close before it. */
async function placePlan(
  ctx: Context,
  strategy: LockedStrategy,
  { newOrders }: DesiredPlan<number>,
  { rows, account }: Surroundings,
): Promise<PlacedCall[]> {
  const waiting = newOrders.filter(({ conditional }) => conditional).length
  const ids = waiting > 0 ? await newSignalIds(ctx.sql, waiting) : []
  const placed: PlacedCall[] = []
  for (const order of newOrders) {
    const row = rows.get(order.symbol)
    if (!row) throw new Error('an order of desired positions has no instrument')
    const parent = order.conditional ? closeOf(placed.at(-1)) : null
    // The close took the id that was read with the row.
    const own = order.conditional ? { ...row, signalId: ids.shift() ?? 0 } : row
    placed.push(place(ctx, strategy, order, own, { account, parent }))
  }
  return placed
}

/** The order of the call that has just been placed, as the parent of the next one. */
function closeOf(placed: PlacedCall | undefined): Parent {
  const close = placed?.saved.book.orders.get(String(placed.answer.SignalId))
  if (!close) throw new Error('nothing closes the position whose side changes')
  return close
}

/** A market order that waits until it is done, or until a later call wants something else. */
function place(
  ctx: Context,
  strategy: LockedStrategy,
  { side, positionEffect, quantity }: DesiredOrder,
  row: PlacingRow,
  { account, parent }: { readonly account: ModelAccount | undefined; readonly parent: Parent | null },
): PlacedCall {
  const draft: OrderDraft = {
    side,
    positionEffect,
    quantity,
    ordType: '1',
    timeInForce: '1',
    doNotSyncToOpen: false,
  }
  const family = { parent, parkedUntil: null, doNotCreateOcaGroup: false }
  const placed = placeDraft(ctx, strategy, row, draft, { account, family, fromDesired: true })
  if (typeof placed === 'string') throw new Error(`an order of desired positions was refused: ${placed}`)
  return placed
}

const isRejected = (status: OrdStatus): boolean => status === '8'

async function shownPlan(ctx: Context, { canceled }: DesiredPlan<number>, placed: readonly PlacedCall[]) {
  const ids = [...placed.map(({ answer }) => answer.SignalId), ...canceled]
  const rows = await listSignals(ctx.sql, ids)
  const shown = (of: readonly OrderRow[]) => of.map((row) => shownOrder(row, ctx.environment))
  const made = rows.slice(0, placed.length)
  return {
    NewSignals: shown(made.filter(({ status }) => !isRejected(status))),
    CanceledSignals: shown(rows.slice(placed.length)),
    RejectedSignals: shown(made.filter(({ status }) => isRejected(status))),
  }
}
