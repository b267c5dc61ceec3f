/** The closed trades of a strategy, each from flat to flat with its lowest moment, under any commission plan. */

import { extraCharges, planBooks, planSteps } from '../../domain/billing/plan-charges.ts'
import { oppositeOf } from '../../domain/codes.ts'
import { type Decimal, dec, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { isPlatformAdmin, readsPerson, seesStrategy } from '../../domain/people/access.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { findPersonTenancies, loadStrategyFacts } from '../../storage/people/access.ts'
import { listClosedTrades, type TradeRow } from '../../storage/strategies/trade-listings.ts'
import { type Context, type Refused, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { shownSymbols } from '../symbols.ts'
import { inTurns } from '../turns.ts'
import { chargesOf, loadPlanHistory, type Plan, type PlanHistory } from './plans.ts'

/** The whole history in one answer. */
export const getStrategyHistoricalClosedTrades: Handler<'GetStrategyHistoricalClosedTrades'> = async (
  ctx,
  { StrategyId, CommissionPlan, PersonId },
) => {
  if (StrategyId === undefined) return refuse('BadCombination', 'StrategyId')
  const refused = await refusalFor(ctx, StrategyId, PersonId)
  if (refused) return refused
  const rows = await listClosedTrades(ctx.sql, StrategyId)
  return { results: await priced(ctx.sql, rows, CommissionPlan) }
}

/** Who looks for somebody else must be an admin of his, and the other one must see the strategy. */
async function refusalFor(
  { sql, caller }: Context,
  strategyId: number | bigint,
  personId: number | bigint | undefined,
): Promise<Refused | undefined> {
  if (personId === undefined || personId === caller.personId) return undefined
  const tenancy = (await findPersonTenancies(sql, [personId])).get(Number(personId))
  if (!tenancy && isPlatformAdmin(caller)) return refuse('NotFound', 'PersonId')
  if (!tenancy || !readsPerson(caller, { personId: Number(personId), ...tenancy }))
    return refuse('Forbidden', 'PersonId')
  const viewer = { personId: Number(personId), role: 'user', siteId: tenancy.siteId } as const
  const [facts] = await loadStrategyFacts(sql, [strategyId], [viewer.personId])
  return facts && seesStrategy(viewer, facts) ? undefined : refuse('NotFound', 'StrategyId')
}

/** What a plan changes of a trade. */
interface Charged {
  readonly commission: Decimal
  readonly profitLoss: Decimal
  /** What it charges more until the lowest moment. */
  readonly extra: Decimal
}

async function priced(sql: Sql, rows: readonly TradeRow[], plan: Plan) {
  const [first] = rows
  const history = first && plan !== '0' ? await loadPlanHistory(sql, first.strategyId, plan) : undefined
  const charged = history && (await chargedTrades(rows, history))
  return inTurns(rows, (some) => some.map((row) => shownTrade(row, charged?.get(row.id))))
}

/** Trades of an instrument close in the order in which its fills finish them. */
async function chargedTrades(rows: readonly TradeRow[], history: PlanHistory): Promise<Map<number, Charged>> {
  const { fills, adjustments } = history
  const momentOf = (row: TradeRow): number => row.worstAt ?? row.closedAt
  const byMoment = [...rows].sort((a, b) => momentOf(a) - momentOf(b))
  const charges = await chargesOf(history)
  const extras = extraCharges(fills, charges, byMoment.map(momentOf))
  const extraOf = new Map(byMoment.map((row, place) => [row.id, extras[place] ?? zero]))
  const book = planBooks()
  const finished = groupBy(
    await inTurns(planSteps(fills, adjustments, charges), (some) => some.flatMap(book)),
    (trade) => trade.instrumentId,
  )
  const oldestFirst = [...rows].sort((a, b) => a.closedAt - b.closedAt || a.id - b.id)
  const charged = new Map<number, Charged>()
  for (const [instrumentId, trades] of groupBy(oldestFirst, (row) => row.instrumentId)) {
    for (const [place, { id }] of trades.entries()) {
      const trade = finished.get(instrumentId)?.[place]
      if (!trade) continue
      const { commission, profitLoss } = trade
      charged.set(id, { commission, profitLoss, extra: extraOf.get(id) ?? zero })
    }
  }
  return charged
}

function shownTrade(row: TradeRow, charged?: Charged) {
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
      row.worstEquity && charged ? dec(row.worstEquity).minus(charged.extra) : row.worstEquity,
    MaxDrawdown_EntryPrice: row.worstEntryPx,
    MaxDrawdown_OpenQuantity: row.worstQty,
    ...shownSymbols(row),
  }
}
