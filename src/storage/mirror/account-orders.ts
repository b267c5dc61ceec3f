/**
 * Account orders after their planning: successors of copies, orders that end or are to be canceled. Rows of
 * one statement are locked in the order of (account, id), as everywhere, so batches cannot block each other.
 */

import {
  isLive,
  type OrdStatus,
  type OrdType,
  type PositionEffect,
  type Side,
  type SignalType,
  type TimeInForce,
} from '../../domain/codes.ts'
import { type Decimal, dec, max, min, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import type { OrderSource } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { noiseOfUnits } from '../market/units-since-splits.ts'
import { type AsEnded, inNewUnits, sinceEnd, sinceEndColumns } from './ended-orders.ts'

/** What a new order and one that is read have in common. */
interface AccountOrder {
  readonly accountId: number
  readonly brokerId: number
  readonly setupId: number
  readonly strategyId: number
  readonly source: OrderSource
  readonly sourceId: number
  readonly revision: number
  readonly instrumentId: number
  readonly signalType: SignalType
  readonly side: Side
  readonly ordType: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly status: OrdStatus
  readonly signalFilledBefore: string
  readonly replacesOrderId: number | null
  readonly referencePx: string | null
  readonly setupFence: number
}

/** An order as it is written. */
export interface NewAccountOrder extends AccountOrder {
  /** Totals of the chain, what orders before it executed included. */
  readonly orderQty: Decimal
  readonly cumQty: Decimal
  readonly filledValue: Decimal
  readonly carriedQty: Decimal
  readonly carriedValue: Decimal
  readonly postedAt: Instant
  readonly endedAt: Instant | null
  readonly chaseAt: Instant | null
  readonly pendingAction: 'new' | 'replace' | null
  readonly info: string | null
  /** Why it was refused before any broker saw it. */
  readonly rejectText?: string
  readonly reason: string | null
  readonly strategyQty: Decimal
  readonly scalingPercentage: number
  readonly limitValue: Decimal | null
  readonly heldQty: Decimal
}

/** Where an order begins that follows no other: nothing of its chain is executed yet. */
export const chainStart = {
  cumQty: zero,
  filledValue: zero,
  carriedQty: zero,
  carriedValue: zero,
  signalFilledBefore: '0',
  replacesOrderId: null,
} as const

/** Writes orders one by one decided. A row that exists is a defect and throws. */
export async function insertAccountOrders(tx: Sql, orders: readonly NewAccountOrder[]): Promise<void> {
  if (orders.length === 0) return
  const column = <K extends keyof NewAccountOrder>(name: K): NewAccountOrder[K][] =>
    orders.map((order) => order[name])
  const times = (name: 'postedAt' | 'endedAt' | 'chaseAt'): (string | null)[] =>
    orders.map((order) => instant(order[name]))
  const averages = orders.map(({ cumQty, filledValue }) => (cumQty.isZero() ? null : filledValue.div(cumQty)))
  await tx.run`
    insert into account_order (account_id, broker_id, setup_id, strategy_id, source, source_id, revision, instrument_id,
      signal_type, side, ord_type, time_in_force, position_effect, order_qty, cum_qty, avg_px, filled_value,
      carried_qty, carried_value, limit_px, stop_px, status, signal_filled_before, replaces_order_id, posted_at, ended_at,
      chase_at, pending_action, info, reject_text, reason, strategy_qty, scaling_percentage, limit_value, held_qty, reference_px,
      setup_fence, own_number)
    select *, case when source not in ('S', 'M') then nextval('signal_id_seq') end
    from unnest(${column('accountId')}::bigint[], ${column('brokerId')}::int[], ${column('setupId')}::bigint[],
      ${column('strategyId')}::bigint[], ${column('source')}::text[], ${column('sourceId')}::bigint[],
      ${column('revision')}::int[], ${column('instrumentId')}::bigint[], ${column('signalType')}::smallint[],
      ${column('side')}::text[], ${column('ordType')}::text[], ${column('timeInForce')}::text[],
      ${column('positionEffect')}::text[], ${column('orderQty')}::numeric[], ${column('cumQty')}::numeric[],
      ${averages}::numeric[], ${column('filledValue')}::numeric[], ${column('carriedQty')}::numeric[],
      ${column('carriedValue')}::numeric[], ${column('limitPx')}::numeric[], ${column('stopPx')}::numeric[], ${column('status')}::text[],
      ${column('signalFilledBefore')}::numeric[], ${column('replacesOrderId')}::bigint[],
      ${times('postedAt')}::timestamptz[], ${times('endedAt')}::timestamptz[], ${times('chaseAt')}::timestamptz[],
      ${column('pendingAction')}::text[], ${column('info')}::text[], ${column('rejectText')}::text[],
      ${column('reason')}::text[],
      ${column('strategyQty')}::numeric[], ${column('scalingPercentage')}::int[], ${column('limitValue')}::numeric[],
      ${column('heldQty')}::numeric[], ${column('referencePx')}::numeric[], ${column('setupFence')}::bigint[])
      made (account_id, broker_id, setup_id, strategy_id, source)`
}

/** An order by its row. */
export interface OrderKey {
  readonly accountId: number
  readonly id: number
}

/**
 * The number under which an account order `o` is listed. Copies and manual exits have that of their signal; what
 * the platform adds itself has one of its own, of the same sequence.
 */
export const orderNumber: Fragment = fragment`coalesce(o.own_number, o.source_id)`

/** A condition on `o` that names these orders. */
export const theseOrders = (keys: readonly OrderKey[]): Fragment => fragment`
  (o.account_id, o.id) in (select * from unnest(${keys.map(({ accountId }) => accountId)}::bigint[],
    ${keys.map(({ id }) => id)}::bigint[]))`

/** A condition on `o` that names the copies of these signals. */
export const copiesOf = (signalIds: readonly number[]): Fragment =>
  fragment`o.source_id = any(${uncounted(signalIds, 'bigint')}::bigint[]) and o.source = 'S'`

/**
 * Withdraws live orders: what no broker has seen ends at once, the rest waits for a cancel. A replacement that
 * is still unanswered takes the order it replaces with it: that one is what the broker works. Two steps back reach
 * it, as nothing is sent in the place of an order that is itself unanswered. Answers how many rows moved.
 */
export const cancelOrders = (
  tx: Sql,
  which: Fragment,
  end: { readonly at: Instant; readonly info: string },
): Promise<number> =>
  tx.run`
    with locked as (
      select o.* from account_order o where (o.account_id, o.id) in (${withReplaced(which)})
      order by o.account_id, o.id for update
    ), named as (
      select o.account_id, o.id, o.replaces_order_id, o.status from locked o where ${which} and o.status in ${live}
    ), replaced as (
      ${replacedBy(fragment`named`)}
    ), worked as (
      ${replacedBy(fragment`replaced`)}
    ), withdrawn as (
      select account_id, id, ${waits} as waits from named
      union
      select account_id, id, ${waits} from replaced
      union
      select account_id, id, false from worked
    ), decided as (
      select account_id, id, bool_or(waits) as waits from withdrawn group by account_id, id
    )
    update account_order o set
      status = case when o.attempts = 0 and o.status = 'A' then '4' else '6' end,
      pending_action = case when o.attempts = 0 and o.status = 'A' then null else 'cancel' end,
      ended_at = case when o.attempts = 0 and o.status = 'A' then ${instant(end.at)}::timestamptz end,
      cum_qty = case when o.attempts = 0 and o.status = 'A' then 0 else o.cum_qty end,
      filled_value = case when o.attempts = 0 and o.status = 'A' then 0 else o.filled_value end,
      avg_px = case when o.attempts = 0 and o.status = 'A' then null else o.avg_px end,
      chase_at = null, info = ${end.info}
    from decided d
    where o.account_id = d.account_id and o.id = d.id and o.status <> '6' and not (d.waits and o.attempts > 0)`

/** The same of these orders; of none nothing is asked. */
export const cancelThese = async (
  tx: Transaction,
  orders: readonly OrderKey[],
  end: Parameters<typeof cancelOrders>[2],
): Promise<number> => (orders.length === 0 ? 0 : cancelOrders(tx, theseOrders(orders), end))

/**
 * The orders `o` that `which` names with the live ones that unanswered among them replace: all that is to be locked.
 * Not what has ended: who sends an order has locked it already, and not what went before it.
 */
const withReplaced = (which: Fragment): Fragment => fragment`
  select o.account_id, unnest(array[o.id, x.id, y.id]) from account_order o
  left join account_order x on x.account_id = o.account_id and x.id = o.replaces_order_id
    and o.status in ('A', '6') and x.status in ${live}
  left join account_order y on y.account_id = x.account_id and y.id = x.replaces_order_id
    and x.status in ('A', '6') and y.status in ${live}
  where ${which} and o.status in ${live}`

/**
 * The live orders that unanswered replacements among `orders` are to replace. Asked for as a truth, not as a join: of what
 * a statement has locked the planner knows no number, and might compare each with each.
 */
const replacedBy = (orders: Fragment): Fragment => fragment`
  select x.account_id, x.id, x.replaces_order_id, x.status from locked x
  where x.status in ${live} and ((x.account_id, x.id) in (
    select n.account_id, n.replaces_order_id from ${orders} n
    where n.status = 'A' and n.replaces_order_id is not null)) is true`

/** Whether a named or replaced order is an unanswered replacement of a live one: it then ends with that. */
const waits: Fragment = fragment`
  status = 'A' and replaces_order_id is not null and (account_id, replaces_order_id) in (
    select x.account_id, x.id from locked x where x.status in ${live})`

/** Ends orders that no broker has seen because a successor took their place. */
export async function supersedeOrders(tx: Sql, keys: readonly OrderKey[], at: Instant): Promise<void> {
  if (keys.length === 0) return
  await tx.run`
    update account_order o set status = '5', pending_action = null, chase_at = null, ended_at = ${instant(at)}::timestamptz
    where ${theseOrders(keys)}`
}

/** Lets the copies of filled signals go on by themselves until `chaseAt`. */
export const graceCopies = (
  tx: Transaction,
  signalIds: readonly number[],
  chaseAt: Instant,
): Promise<number> =>
  tx.run`
    with working as (
      select o.account_id, o.id from account_order o
      where ${copiesOf(signalIds)} and o.status in ${live} and o.chase_at is null
      order by o.account_id, o.id for update
    )
    update account_order o set chase_at = ${instant(chaseAt)}::timestamptz from working w
    where o.account_id = w.account_id and o.id = w.id`

/** An order as its successor is decided from it. */
export interface CopyRow extends AccountOrder {
  readonly id: number
  readonly orderQty: string
  readonly cumQty: string
  readonly filledValue: string
  readonly carriedQty: string
  readonly carriedValue: string
  readonly attempts: number
  readonly pendingAction: 'new' | 'cancel' | 'replace' | null
}

/** The columns of `CopyRow`, of the table's alias `o`. */
export const copyColumns: Fragment = fragment`
  o.account_id as "accountId", o.id, o.broker_id as "brokerId", o.setup_id as "setupId",
  o.strategy_id as "strategyId", o.source, o.source_id as "sourceId", o.revision, o.instrument_id as "instrumentId",
  o.signal_type as "signalType", o.side, o.ord_type as "ordType", o.time_in_force as "timeInForce",
  o.position_effect as "positionEffect", o.order_qty as "orderQty", o.cum_qty as "cumQty",
  o.filled_value as "filledValue", o.carried_qty as "carriedQty", o.carried_value as "carriedValue",
  o.limit_px as "limitPx", o.stop_px as "stopPx", o.status, o.attempts, o.pending_action as "pendingAction", o.signal_filled_before as "signalFilledBefore",
  o.replaces_order_id as "replacesOrderId", o.reference_px as "referencePx", o.setup_fence as "setupFence"`

/**
 * The order that a copy goes on from, of its orders from the oldest to the newest: the live one, otherwise the last
 * with all that the copy executed, but for what rounding over splits may leave: the same in other units and back is not
 * always as much. A replacement that never lived has nothing of it.
 */
export function carrierOf<Row extends Pick<CopyRow, 'status' | 'cumQty'>>(
  orders: readonly Row[],
): Row | undefined {
  const live = orders.findLast(({ status }) => isLive(status))
  if (live || orders.length <= 1) return live ?? orders[0]
  const executed = orders.reduce((most, { cumQty }) => max(most, dec(cumQty)), zero)
  const noise = min(noiseOfUnits, executed.div(2))
  return orders.findLast(({ cumQty }) => executed.minus(cumQty).lessThanOrEqualTo(noise))
}

/** What carries on the copies that a chain of signals left in these setups, locked: of each setup one order. */
export async function lockLastCopies(
  tx: Transaction,
  signalIds: readonly number[],
  setups: { readonly after: number; readonly upTo: Fragment },
): Promise<CopyRow[]> {
  const rows = await tx.rows<AsEnded<CopyRow>>`
    select ${copyColumns}, ${sinceEndColumns} from account_order o ${sinceEnd}
    where o.source_id = any(${signalIds}::bigint[]) and o.source = 'S'
      and o.setup_id > ${setups.after}::bigint and o.setup_id <= ${setups.upTo}
    order by o.account_id, o.id for update of o`
  const copies = groupBy(rows.map(inNewUnits), ({ setupId }) => setupId)
  return [...copies.values()].flatMap((orders) => carrierOf(orders) ?? [])
}

/** Ends replacements that no broker has seen; what they should have replaced goes on. */
export async function dropReplacements(tx: Sql, keys: readonly OrderKey[], at: Instant): Promise<void> {
  if (keys.length === 0) return
  await tx.run`
    update account_order o set status = '4', pending_action = null, chase_at = null, cum_qty = 0, filled_value = 0,
      avg_px = null, ended_at = ${instant(at)}::timestamptz, info = 'replaced'
    where ${theseOrders(keys)}`
}
