/** A strategy's fills at the prices of a commission plan. Plan 0 is what was booked: nothing is priced anew. */

import { inTheirSize, type PricedFill, planPricer } from '../../domain/billing/plan-charges.ts'
import { type CommissionPlan, commissionPlans } from '../../domain/positions/tables/commission-plans.ts'
import { listResizes, readBookFills } from '../../storage/accounts/book-history.ts'
import type { Sql } from '../../storage/database/sql.ts'
import { listInternalOrders } from '../../storage/orders/internal-orders.ts'

export type Plan = `${CommissionPlan}`

/** The fills of a strategy at the prices of a plan, in the order of booking, part by part; none under the booked plan. */
export async function* readPricedFills(
  sql: Sql,
  strategyId: number,
  plan: Plan,
): AsyncGenerator<PricedFill[]> {
  if (plan === '0') return
  const price = planPricer(commissionPlans[Number(plan) as CommissionPlan])
  const internal = new Set(await listInternalOrders(sql, strategyId))
  const resizes = await listResizes(sql, strategyId)
  for await (const rows of readBookFills(sql, 'strategy', [strategyId])) {
    const fills = rows.map((row) => {
      const signalId = row.signalId ?? 0
      return { ...row, signalId, isInternal: internal.has(signalId) }
    })
    yield inTheirSize(fills, resizes).map(price)
  }
}
