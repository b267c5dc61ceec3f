/** Orders of a strategy that its books made themselves, deliveries, payments and fractions: nobody was asked for them. */
import { ended, live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql } from '../database/sql.ts'

/** Their ids: they have worked, and were told to no followers. */
export const listInternalOrders = (sql: Sql, strategyId: number): Promise<number[]> => {
  // Of all signals of a strategy no index knows: of the live ones and of the ended ones there is one each.
  const internal = (statuses: Fragment): Fragment => fragment`
    select id from signal where strategy_id = ${strategyId}::bigint and status in ${statuses}
      and working_at is not null and membership_horizon is null`
  return idsOf(sql.rows`${internal(live)} union all ${internal(ended)}`)
}
