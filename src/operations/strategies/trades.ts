/** The closed trades of a strategy, each from flat to flat with its lowest moment, under any commission plan. */

import { firstFrom } from '../../domain/ascending.ts'
import {
  type ExtraCharges,
  extraCharges,
  type FinishedPlanTrade,
  type PlanAdjustment,
  type PricedFill,
  planBooks,
  runningTotal,
} from '../../domain/billing/plan-charges.ts'
import { oppositeOf } from '../../domain/codes.ts'
import { dec, zero } from '../../domain/decimal.ts'
import { readsPerson, seesStrategy } from '../../domain/people/access.ts'
import { byLedger } from '../../domain/positions/ledger-state.ts'
import { loadBookAdjustments } from '../../storage/accounts/book-history.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { findPersonTenancies, loadStrategyFacts } from '../../storage/people/access.ts'
import { readClosedTrades, type TradeRow } from '../../storage/strategies/trade-listings.ts'
import { refuseAbsent } from '../access.ts'
import { type Context, type Refused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { shownSymbols } from '../symbols.ts'
import { inTurns } from '../turns.ts'
import { type Plan, readPricedFills } from './priced-fills.ts'

/** The whole history in one answer. */
export const getStrategyHistoricalClosedTrades: Handler<'GetStrategyHistoricalClosedTrades'> = async (
  ctx,
  { StrategyId, CommissionPlan, PersonId },
) => {
  if (StrategyId === undefined) return refuse('BadCombination', 'StrategyId')
  const refused = await refusalFor(ctx, StrategyId, PersonId)
  if (refused) return refused
  const trades = readClosedTrades(ctx.sql, StrategyId)
  if (CommissionPlan !== '0') return { results: await priced(ctx.sql, trades, CommissionPlan) }
  const results: ReturnType<typeof shownTrade>[] = []
  for await (const rows of trades) for (const row of rows) results.push(shownTrade(row))
  return { results }
}

/** Who looks for somebody else must be an admin of his, and the other one must see the strategy. */
async function refusalFor(
  { sql, caller }: Context,
  strategyId: number | bigint,
  personId: number | bigint | undefined,
): Promise<Refused | undefined> {
  if (personId === undefined || personId === caller.personId) return undefined
  const tenancy = (await findPersonTenancies(sql, [personId])).get(Number(personId))
  if (!tenancy) return refuseAbsent(caller, 'PersonId')
  if (!readsPerson(caller, { personId: Number(personId), ...tenancy })) return refuse('Forbidden', 'PersonId')
  const viewer = { personId: Number(personId), role: 'user', siteId: tenancy.siteId } as const
  const [facts] = await loadStrategyFacts(sql, [strategyId], [viewer.personId])
  return facts && seesStrategy(viewer, facts) ? undefined : refuse('NotFound', 'StrategyId')
}

/** What a trade costs and leaves under a plan. */
type Charged = Pick<FinishedPlanTrade, 'commission' | 'profitLoss'>

/** The moment up to which fills count for what is shown of a trade. */
const lowestAt = (row: TradeRow): number => row.worstAt ?? row.closedAt

async function priced(sql: Sql, trades: AsyncIterable<readonly TradeRow[]>, plan: Plan) {
  const rows: TradeRow[] = []
  for await (const some of trades) for (const row of some) rows.push(row)
  const [first] = rows
  if (!first) return []
  const moments = Float64Array.from(rows, lowestAt).sort()
  const extras = extraCharges(moments)
  const finished = await finishedTrades(sql, first.strategyId, plan, extras)
  const total = runningTotal()
  const extra = await inTurns(extras.between, (some) => some.map(total))
  const lastOf = lastFirst(finished, rows)
  return inTurns(rows, (some) =>
    some.map((row) => shownTrade(row, lastOf(row), extra[firstFrom(moments, lowestAt(row))])),
  )
}

/** The trades of each instrument as they are finished under a plan; adds what it charges more. */
async function finishedTrades(
  sql: Sql,
  strategyId: number,
  plan: Plan,
  extras: ExtraCharges,
): Promise<Map<number, Charged[]>> {
  const adjustments = await loadBookAdjustments(sql, 'strategy', [strategyId])
  const split = new Set(adjustments.flatMap((one) => (one.split ? one.instrumentId : [])))
  const finished = new Map<number, Charged[]>()
  const book = planBooks()
  const carryOn = (step: PricedFill | PlanAdjustment): void => {
    for (const { instrumentId, commission, profitLoss } of book(step)) {
      const trades = finished.get(instrumentId) ?? []
      trades.push({ commission, profitLoss })
      finished.set(instrumentId, trades)
    }
  }
  // A fill of before a split may be booked after it: of what was split all are put in order first.
  const kept: PricedFill[] = []
  for await (const fills of readPricedFills(sql, strategyId, plan))
    for (const fill of fills) {
      extras.add(fill)
      if (split.has(fill.instrumentId)) kept.push(fill)
      else carryOn(fill)
    }
  const steps = byLedger<PricedFill, PlanAdjustment>(kept, adjustments, ({ instrumentId }) => instrumentId)
  await inTurns(steps, (some) => {
    for (const step of some) carryOn(step)
    return []
  })
  return finished
}

/** Says of each row, the last closed first, what became of its trade: those of an instrument close as its fills finish them. */
function lastFirst(
  finished: ReadonlyMap<number, readonly Charged[]>,
  rows: readonly TradeRow[],
): (row: TradeRow) => Charged | undefined {
  const left = new Map<number, number>()
  for (const { instrumentId } of rows) left.set(instrumentId, (left.get(instrumentId) ?? 0) + 1)
  return ({ instrumentId }) => {
    const place = (left.get(instrumentId) ?? 0) - 1
    left.set(instrumentId, place)
    return finished.get(instrumentId)?.[place]
  }
}

/** `extra`: what the plan charges more until the lowest moment. */
function shownTrade(row: TradeRow, charged?: Charged, extra = zero) {
  return {
    Id: row.tradeId,
    TradeId: row.tradeId,
    StrategyId: row.strategyId,
    OpenDate: row.openedAt,
    CloseDate: row.closedAt,
    AvgOpenFillPrice: row.avgOpenPx,
    AvgCloseFillPrice: row.avgClosePx,
    OpenedQuantity: row.openedQty,
    ClosedQuantity: row.closedQty,
    OpenSide: row.openSide,
    CloseSide: oppositeOf(row.openSide),
    ProfitLoss: charged?.profitLoss ?? row.profitLoss,
    Commission: charged?.commission ?? row.commission,
    MaxDrawdown: row.worstResult,
    // The drawdown is final when the trade is closed.
    MaxDrawdown_DateCalculated: row.worstAt === null ? null : row.closedAt,
    MaxDrawdown_WorstPrice: row.worstPx,
    MaxDrawdown_WorstPriceDate: row.worstAt,
    MaxDrawdown_StrategyEquity:
      row.worstEquity && charged ? dec(row.worstEquity).minus(extra) : row.worstEquity,
    MaxDrawdown_EntryPrice: row.worstEntryPx,
    MaxDrawdown_OpenQuantity: row.worstQty,
    ...shownSymbols(row),
  }
}
