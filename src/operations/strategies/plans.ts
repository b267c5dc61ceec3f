/** Commission plans across the edge. Plan 0 is what was booked: nothing is priced anew. */

import {
  type ChargedFill,
  inTheirSize,
  type PlanAdjustment,
  planPricer,
} from '../../domain/billing/plan-charges.ts'
import type { Decimal } from '../../domain/decimal.ts'
import type { PlanRates } from '../../domain/positions/commission.ts'
import { type CommissionPlan, commissionPlans } from '../../domain/positions/tables/commission-plans.ts'
import { listResizes, loadBookAdjustments, loadBookFills } from '../../storage/accounts/book-history.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { listInternalOrders } from '../../storage/orders/internal-orders.ts'
import { inTurns } from '../turns.ts'

export type Plan = `${CommissionPlan}`

/** A plan and what it is held against: nothing for the booked plan. */
export interface PlanHistory {
  readonly fills: readonly ChargedFill[]
  readonly adjustments: readonly PlanAdjustment[]
  /** Null for the booked plan. */
  readonly rates: PlanRates | null
}

/** The rates of a plan, the fills to price by it, and the splits between them. */
export async function loadPlanHistory(sql: Sql, strategyId: number, plan: Plan): Promise<PlanHistory> {
  if (plan === '0') return { fills: [], adjustments: [], rates: null }
  const rows = await loadBookFills(sql, 'strategy', [strategyId])
  const adjustments = await loadBookAdjustments(sql, 'strategy', [strategyId])
  const internal = new Set(await listInternalOrders(sql, strategyId))
  const fills = rows.map((row) => {
    const signalId = row.signalId ?? 0
    return { ...row, signalId, isInternal: internal.has(signalId) }
  })
  const rates = commissionPlans[Number(plan) as CommissionPlan]
  return { fills: inTheirSize(fills, await listResizes(sql, strategyId)), adjustments, rates }
}

/** What each fill costs under the plan. */
export function chargesOf({ fills, rates }: PlanHistory): Promise<Decimal[]> {
  const price = planPricer(rates)
  return inTurns(fills, (some) => some.map(price))
}
