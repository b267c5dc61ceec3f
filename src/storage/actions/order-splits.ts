/**
 * Splits on orders of accounts and in the paper broker's book, each in one statement for all. What was executed since a
 * split that is entered late is in new units already, and so is an order that came since, but for what it took over.
 */

import { toldCanceled, workingPaper } from '../brokers/paper.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { netExecutions, sinceSplits, wasAlive } from '../market/units-since-splits.ts'
import { cancelOrders } from '../mirror/account-orders.ts'
import { type AccountSplit, divided, onTick, units } from './split-terms.ts'

/**
 * Totals, executed quantities, prices and what they were decided from in new units. One of which nothing whole is left is
 * withdrawn, by its broker where that has it; what it has executed, or may have executed before we are told, is in new
 * units all the same.
 */
export async function splitAccountOrders(tx: Transaction, split: AccountSplit): Promise<void> {
  if (split.isLate) await showExecuted(tx, split)
  const concerned = fragment`(select * from (${restated(split)}) n where n.is_older or n.before_qty <> 0)`
  await cancelOrders(
    tx,
    fragment`o.status = 'A' and o.attempts = 0 and (o.account_id, o.id) in (
      select account_id, id from ${concerned} n where n.is_older and n.is_live and n.left_qty <= 0)`,
    { at: split.at, info: 'split' },
  )
  await tx.run`
    insert into account_adjustment (action_id, setup_id, account_id, quantity_before, quantity_change, cash_change)
    select distinct ${split.actionId}::bigint, n.setup_id, n.account_id, 0, 0, 0 from ${concerned} n
    on conflict (action_id, setup_id, account_id) do nothing`
  const older = (then: Fragment, column: Fragment) =>
    fragment`case when n.is_older then ${then} else ${column} end`
  await tx.run`
    update account_order o set order_qty = n.order_qty, cum_qty = n.cum_qty,
      avg_px = n.filled_value / nullif(n.cum_qty, 0), filled_value = n.filled_value,
      carried_qty = n.carried_qty, carried_value = n.carried_value,
      signal_filled_before = case when n.is_older or n.is_signal_restated
        then ${units(split, 'o.signal_filled_before')} else o.signal_filled_before end,
      limit_px = ${older(onTick(split, 'o.limit_px'), fragment`o.limit_px`)},
      stop_px = ${older(onTick(split, 'o.stop_px'), fragment`o.stop_px`)},
      reference_px = ${older(divided(split, 'o.reference_px'), fragment`o.reference_px`)},
      strategy_qty = ${older(units(split, 'o.strategy_qty'), fragment`o.strategy_qty`)},
      held_qty = ${older(units(split, 'o.held_qty'), fragment`o.held_qty`)}
    from ${concerned} n
    where o.account_id = n.account_id and o.id = n.id and (n.left_qty > 0 or o.cum_qty > 0 or o.attempts > 0)`
}

/** A replacement that was not sent yet shows what its order had executed when it was decided; here what it has by now. */
const showExecuted = (tx: Transaction, split: AccountSplit): Promise<number> =>
  tx.run`
    update account_order o set cum_qty = p.cum_qty, filled_value = p.filled_value, avg_px = p.avg_px
    from account_order p
    where o.instrument_id = ${split.instrumentId}::bigint and o.status = 'A' and o.attempts = 0
      and o.pending_action = 'replace' and p.account_id = o.account_id and p.id = o.replaces_order_id
      and (p.status in ${live} or p.cum_qty > 0 and p.ended_at >= ${instant(split.at)}::timestamptz)`

/** The orders that were alive at the opening, or took over of such, and what they come to; `before_qty` is in old units. */
function restated(split: AccountSplit): Fragment {
  const at = fragment`${instant(split.at)}::timestamptz`
  const value = (all: Fragment, before: Fragment) =>
    split.multiplies ? all : fragment`${divided(split, before)} + ${all} - ${before}`
  return fragment`
    select o.account_id, o.id, o.setup_id, e.is_live, e.is_older, b.cum_qty as before_qty, e.left_qty, t.cum_qty,
      case when o.order_qty <= o.cum_qty then o.order_qty * t.cum_qty / o.cum_qty
        when not e.is_older then t.cum_qty + o.order_qty - o.cum_qty
        when e.is_live and e.left_qty > 0 then t.cum_qty + e.left_qty
        else t.cum_qty + ${units(split, '(o.order_qty - o.cum_qty)')} end as order_qty,
      ${units(split, 'b.carried_qty')} + o.carried_qty - b.carried_qty as carried_qty,
      ${value(fragment`o.filled_value`, fragment`b.filled_value`)} as filled_value,
      ${value(fragment`o.carried_value`, fragment`b.carried_value`)} as carried_value,
      not e.is_older and o.source = 'S' and exists (
        select from signal_event r where r.signal_id = o.source_id and r.event = 'RESTATE' and r.cause ? 'split'
          and r.occurred_at = ${at}) as is_signal_restated
    from account_order o ${split.isLate ? shownSince(at) : nothingSince}
    cross join lateral (
      select greatest(o.cum_qty - late.quantity, 0) as cum_qty,
        case when o.cum_qty > late.quantity then o.filled_value - late.value else 0 end as filled_value,
        greatest(o.carried_qty - late.carried, 0) as carried_qty,
        case when o.carried_qty > late.carried then o.carried_value - late.carried_value else 0 end as carried_value
    ) b
    cross join lateral (select ${units(split, 'b.cum_qty')} + o.cum_qty - b.cum_qty as cum_qty) t
    cross join lateral (
      select o.status in ${live} as is_live, o.posted_at < ${at} as is_older,
        trunc(${units(split, '(o.order_qty - o.cum_qty + late.worked)')}) - late.worked as left_qty
    ) e
    where o.instrument_id = ${split.instrumentId}::bigint and ${aliveAt(split, at)}`
}

/** One that has ended since and executed nothing stays as it was. */
const aliveAt = ({ instrumentId, isLate }: AccountSplit, at: Fragment): Fragment =>
  isLate
    ? fragment`(o.status in ${live} or o.cum_qty > 0 and o.ended_at >= ${at} and o.account_id = any(array(
        select account_id from account_position where instrument_id = ${instrumentId}::bigint)))`
    : fragment`o.status in ${live} and (o.posted_at < ${at} or o.cum_qty > 0)`

const nothingSince = fragment`
  cross join (values (0::numeric, 0::numeric, 0::numeric, 0::numeric, 0::numeric))
    late (quantity, value, worked, carried, carried_value)`

/**
 * What an order `o` shows of what was executed since: `worked` of its own total, `carried` by orders that had ended before
 * it was sent.
 */
const shownSince = (at: Fragment): Fragment => fragment`
  cross join lateral (
    with recursive chain as (
      select o.id, o.replaces_order_id, o.carried_qty, true as is_own
      union all
      select p.id, p.replaces_order_id, p.carried_qty,
        chain.is_own and (p.status in ('5', 'E', '6') or p.carried_qty = chain.carried_qty)
      from chain join account_order p on p.account_id = o.account_id and p.id = chain.replaces_order_id
    )
    select coalesce(sum(e.quantity * since.units), 0) as quantity,
      coalesce(sum(e.quantity * since.units * e.px * since.price), 0) as value,
      coalesce(sum(e.quantity * since.units) filter (where is_own), 0) as worked,
      coalesce(sum(e.quantity * since.units) filter (where not is_own), 0) as carried,
      coalesce(sum(e.quantity * since.units * e.px * since.price) filter (where not is_own), 0) as carried_value
    from chain join ${netExecutions} e on e.account_id = o.account_id and e.order_id = chain.id
    ${sinceSplits(fragment`o.instrument_id`, fragment`e.executed_at`, wasAlive)}
    where e.executed_at >= ${at}
  ) late`

/** The broker's own book: what it executed stays as it told it, what is left is in new units. */
export async function splitPaperOrders(tx: Transaction, split: AccountSplit): Promise<void> {
  const at = fragment`${instant(split.at)}::timestamptz`
  const ids = workingPaper(fragment`o.instrument_id = ${split.instrumentId}::bigint
    and (o.accepted_at < ${at} or o.carried_qty <> 0)`)
  const book = fragment`(
    select o.id, o.accepted_at < ${at} as is_older,
      trunc(${units(split, '(o.order_qty - o.cum_qty + late.worked)')}) - late.worked as left_qty,
      ${units(split, 'b.quantity')} - b.quantity + o.carried_qty as carried_qty
    from paper_order o ${split.isLate ? toldSince(at) : fragment`cross join (values (0::numeric, 0::numeric)) late (quantity, worked)`}
    cross join lateral (select greatest(o.carried_qty + o.cum_qty - late.quantity, 0) as quantity) b
    where o.id = ${ids}
  )`
  await tx.run`
    with ended as (
      update paper_order o set status = '4', needs_match = false, carried_qty = n.carried_qty
      from ${book} n where o.id = n.id and n.is_older and n.left_qty <= 0
      returning o.broker_id, o.account_id, o.client_order_id, o.instrument_id
    ) ${toldCanceled(fragment`ended`, split.at)}`
  await tx.run`
    update paper_order o set carried_qty = n.carried_qty,
      order_qty = case when n.is_older then o.cum_qty + n.left_qty else o.order_qty end,
      limit_px = case when n.is_older then ${onTick(split, 'o.limit_px')} else o.limit_px end,
      stop_px = case when n.is_older then ${onTick(split, 'o.stop_px')} else o.stop_px end
    from ${book} n where o.id = n.id`
}

/** What the book told of an order `o` since, `worked`, and of those that it replaced; what it took back from when it was executed. */
const toldSince = (at: Fragment): Fragment => fragment`
  cross join lateral (
    with recursive chain as (
      select o.client_order_id, o.replaces, true as is_own
      union all
      select p.client_order_id, p.replaces, false
      from chain join paper_order p on p.account_id = o.account_id and p.client_order_id = chain.replaces
    )
    select coalesce(sum(r.told), 0) as quantity, coalesce(sum(r.told) filter (where is_own), 0) as worked
    from chain cross join lateral (
      select case r.kind when 'fill' then r.quantity else -r.quantity end as told
      from paper_report r left join paper_report f on r.kind = 'bust' and f.broker_id = r.broker_id
        and f.account_id = r.account_id and f.report_key = r.text
      where r.account_id = o.account_id and r.client_order_id = chain.client_order_id
        and r.kind in ('fill', 'bust') and coalesce(f.occurred_at, r.occurred_at) >= ${at}
    ) r
  ) late`
