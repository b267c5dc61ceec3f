/** Commission plans across the edge. Plan 0 is what was booked: nothing is priced anew. */
import type { PlanRates } from '../../domain/commission.ts'
import type { ChargedFill } from '../../domain/plan-charges.ts'
import { type CommissionPlan, commissionPlans } from '../../domain/tables/commission-plans.ts'
import { loadBookFills } from '../../storage/daily-close.ts'
import type { Sql } from '../../storage/sql.ts'

export type Plan = `${CommissionPlan}`

/** The rates of a plan, and the fills to price by it: none for the booked plan. */
export async function loadPlanFills(
  sql: Sql,
  strategyId: number,
  plan: Plan,
): Promise<{ readonly fills: readonly ChargedFill[]; readonly rates: PlanRates | null }> {
  if (plan === '0') return { fills: [], rates: null }
  const rows = await loadBookFills(sql, 'strategy', [strategyId])
  const fills = rows.map((row) => ({ ...row, signalId: row.signalId ?? 0 }))
  return { fills, rates: commissionPlans[Number(plan) as CommissionPlan] }
}
