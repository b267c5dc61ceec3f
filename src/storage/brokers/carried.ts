/** What orders that were sent anew carry of those that had ended before them, where these execute after their end. */
import { fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { sinceSplits, wasAlive } from '../market/units-since-splits.ts'
import type { OrderChange } from './reports.ts'

/**
 * Has all orders that came after these carry what was executed, or taken back, after the end. What they are for grows
 * with it: it is the total of the copy, and what a broker works for them is left as it is. A replacement that never
 * became live shows nothing.
 */
export async function carryLate(tx: Transaction, changes: readonly OrderChange[]): Promise<void> {
  const late = changes.flatMap(({ accountId, id, late: more }) =>
    more.map((one) => ({ accountId, id, ...one })),
  )
  if (late.length === 0) return
  await tx.run`
    with recursive after as (
      select l.account_id, l.id as origin, l.id, l.quantity, l.value, l.at
      from unnest(${late.map(({ accountId }) => accountId)}::bigint[], ${late.map(({ id }) => id)}::bigint[],
        ${late.map(({ quantity }) => quantity)}::numeric[], ${late.map(({ value }) => value)}::numeric[],
        ${late.map(({ at }) => instant(at))}::timestamptz[]) l (account_id, id, quantity, value, at)
      union all
      select o.account_id, after.origin, o.id, after.quantity, after.value, after.at
      from after join account_order o on o.account_id = after.account_id and o.replaces_order_id = after.id
    ), more as (
      select o.account_id, o.id, sum(round(after.quantity * since.units, 8)) as quantity,
        sum(round(after.value * since.units * since.price, 12)) as value
      from after join account_order o on o.account_id = after.account_id and o.id = after.id
      join account_order p on p.account_id = after.account_id and p.id = after.origin
      ${sinceSplits(fragment`p.instrument_id`, fragment`greatest(p.ended_at, after.at)`, wasAlive)}
      where after.id <> after.origin and not (o.status in ('4', '8') and o.cum_qty = 0)
      group by o.account_id, o.id
    )
    update account_order o set order_qty = o.order_qty + m.quantity, cum_qty = o.cum_qty + m.quantity,
      carried_qty = o.carried_qty + m.quantity, filled_value = o.filled_value + m.value,
      carried_value = o.carried_value + m.value,
      avg_px = (o.filled_value + m.value) / nullif(o.cum_qty + m.quantity, 0),
      status = case when o.status in ('0', '1') then case when o.cum_qty + m.quantity > 0 then '1' else '0' end
        else o.status end
    from more m where o.account_id = m.account_id and o.id = m.id`
}
