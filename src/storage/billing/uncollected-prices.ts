/** Prices that a provider does not collect, as an operator reads them before its customers do. */
import type { Sql } from '../database/sql.ts'
import { collectedBy, type ProviderName } from './charges.ts'

export interface UncollectedPrice {
  /** One of the two. */
  readonly strategyId: number | null
  readonly planId: number | null
  /** That marks the strategy up; null where the price is the owner's alone. */
  readonly siteId: number | null
  readonly amount: string
}

/** What is offered and costs something that a provider does not collect: of strategies, of those marked up, of plans. */
export function listUncollected(sql: Sql, provider: ProviderName): Promise<UncollectedPrice[]> {
  const { least, most } = collectedBy[provider]
  return sql.rows<UncollectedPrice>`
    select "strategyId", "planId", "siteId", (cents::numeric / 100)::numeric(20, 2)::text as amount
    from (
      select s.id as "strategyId", null::bigint as "planId", c.site_id as "siteId",
        round(s.monthly_cost * 100)::bigint + coalesce(c.markup, 0) as cents
      from strategy s left join (
        select strategy_id, site_id, markup from site_catalog where markup > 0
        union all select id, null, 0 from strategy) c on c.strategy_id = s.id
      where s.is_alive
      union all select null, id, null, price from plan where is_offered
    ) offered
    where cents > 0 and cents not between ${least}::bigint and ${most}::bigint
    order by "strategyId", "planId", "siteId" nulls first`
}
