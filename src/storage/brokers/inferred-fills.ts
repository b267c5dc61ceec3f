/** Fills that no report told of: booked from a broker's total of an order until their own reports come. */
import type { InLast } from '../../domain/orders/order-chain.ts'
import type { Instant } from '../../domain/time.ts'
import type { Transaction } from '../database/sql.ts'
import type { OrderKey } from '../mirror/account-orders.ts'
import type { BookedExecution } from './reports.ts'

/** An execution that still counts, of an order. */
export interface StandingExecution extends BookedExecution, InLast {
  readonly orderId: number
  readonly instrumentId: number
  readonly isInferred: boolean
  readonly at: Instant
}

/**
 * What is booked of orders where totals and inferred fills meet: everything of orders that have either. Executions
 * that were taken back, and what took them back, are left out.
 */
export const loadStanding = (
  tx: Transaction,
  orders: readonly OrderKey[],
  totaled: readonly OrderKey[],
): Promise<StandingExecution[]> =>
  orders.length === 0
    ? Promise.resolve([])
    : tx.rows<StandingExecution>`
    with concerned as (
      select e.account_id, e.order_id from unnest(${orders.map(({ accountId }) => accountId)}::bigint[],
        ${orders.map(({ id }) => id)}::bigint[]) o (account_id, id)
      join execution e on e.account_id = o.account_id and e.order_id = o.id and e.is_inferred
      union
      select * from unnest(${totaled.map(({ accountId }) => accountId)}::bigint[],
        ${totaled.map(({ id }) => id)}::bigint[])
    )
    select e.account_id as "accountId", e.order_id as "orderId", e.exec_id as "execId", e.side, e.quantity, e.px,
      e.commission, e.cash_change as "cashChange", e.is_inferred as "isInferred", false as "isBusted",
      e.instrument_id as "instrumentId", e.executed_at as at
    from concerned join execution e using (account_id, order_id)
    where e.busts is null and not exists (select from execution b where b.account_id = e.account_id
      and b.broker_id = e.broker_id and b.order_id = e.order_id and b.busts = e.exec_id)
    order by e.account_id, e.order_id, e.executed_at, e.exec_id`
