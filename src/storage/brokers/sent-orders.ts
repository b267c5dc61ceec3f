/** Orders of ours that went out to brokers, as they are held against what the brokers say of them. */
import type { OrdStatus, Side } from '../../domain/codes.ts'
import type { ClientOrderKey, OrderSource } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { mayBeDone } from '../market/calendar-effects.ts'
import { netExecutions, toldOf, unitsBy, wasAlive } from '../market/units-since-splits.ts'
import type { OrderKey } from '../mirror/account-orders.ts'

/** An order that was sent. */
export interface SentOrder extends OrderKey {
  readonly setupId: number
  readonly source: OrderSource
  readonly sourceId: number
  readonly revision: number
  readonly account: string
  readonly symbol: string
  readonly side: Side
  readonly status: OrdStatus
  readonly replacesOrderId: number | null
  readonly endedAt: Instant | null
  /** Something is still to be sent, or to be asked. */
  readonly isPending: boolean
  /** Net executions under its own id, told and inferred, as they were told. */
  readonly executed: string
  /** Of one that was alive at a split: the same in the units of today, and of a split of this night; otherwise null. */
  readonly restated: readonly string[] | null
  /** Sent and not yet answered, or a market order not yet complete. */
  readonly isInFlight: boolean
}

const listOrders = <More = object>(
  sql: Sql,
  now: Instant,
  which: Fragment,
  more: { readonly columns: Fragment; readonly joins: Fragment } = { columns: fragment``, joins: fragment`` },
): Promise<(SentOrder & More)[]> =>
  sql.rows<SentOrder & More>`
    select o.account_id as "accountId", o.id, o.setup_id as "setupId", o.source, o.source_id as "sourceId", o.revision,
      a.account, i.symbol, o.side, o.status, o.replaces_order_id as "replacesOrderId",
      o.ended_at as "endedAt", o.pending_action is not null as "isPending",
      told.executed, case when splits.count > 0
        then array[round(told.restated, 8), round(told.restated * splits.ahead, 8)]::text[] end as restated,
      o.status in ('A', '6', 'E') or o.pending_action is not null
        or o.status in ('0', '1') and (o.ord_type = '1' or not o.is_acknowledged) as "isInFlight"${more.columns}
    from account_order o join account a on a.id = o.account_id join instrument i on i.id = o.instrument_id
    ${more.joins}
    ${toldOf(wasAlive)}
    cross join lateral (
      select count(*) as count, ${unitsBy(fragment`a.booked_at is null`)} as ahead
      from corporate_action a
      where a.kind = 'split' and not a.resizes
        and a.instrument_id = any(array[i.id, (select u.id from instrument u where u.symbol = i.underlying)])
        and a.takes_effect_at > o.posted_at and ${wasAlive}
        and (a.booked_at is not null or ${mayBeDone(now)})
    ) splits
    where o.attempts > 0 and ${which}`

/** The accounts' orders that live. */
export const listSentOrders = (sql: Sql, accountIds: readonly number[], now: Instant): Promise<SentOrder[]> =>
  listOrders(
    sql,
    now,
    fragment`o.status in ${live}
      and o.setup_id = any(array(select id from setup where account_id = any(${accountIds}::bigint[])))`,
  )

/** The accounts' orders that ended at most so long ago. */
export const listEndedOrders = async (
  sql: Sql,
  accountIds: readonly number[],
  now: Instant,
  age: number,
): Promise<SentOrder[]> =>
  accountIds.length === 0
    ? []
    : listOrders(
        sql,
        now,
        fragment`o.account_id = any(${accountIds}::bigint[]) and o.ended_at > ${instant(now - age)}::timestamptz`,
      )

/**
 * The accounts' orders that may have ended otherwise than their broker says, noted at most so long ago: also those of
 * which an operator was told, who can settle only what is known to differ.
 */
export const listWatchedOrders = (
  sql: Sql,
  accountIds: readonly number[],
  now: Instant,
  age: number,
): Promise<SentOrder[]> =>
  listOrders(
    sql,
    now,
    fragment`o.status not in ${live} and (o.account_id, o.id) in (
      select account_id, order_id from order_gap
      where account_id = any(${accountIds}::bigint[]) and since > ${instant(now - age)}::timestamptz)`,
  )

/** An order on which its broker and we disagree and no rule decides. Quantities are in the units of today. */
export interface DifferingOrder extends SentOrder {
  readonly brokerId: number
  /** What the order may execute beyond what is booked. */
  readonly open: string
  /** Quantity times price of what is booked. */
  readonly amount: string
  /** What the broker said, as words: what differs, its status and its count. */
  readonly told: string
  readonly since: Instant
}

/** Differences that were believed, of one order or of all, by the order's id. */
export const listDifferingOrders = (
  sql: Sql,
  now: Instant,
  orderId: number | null,
): Promise<DifferingOrder[]> =>
  listOrders<Omit<DifferingOrder, keyof SentOrder>>(
    sql,
    now,
    fragment`(${orderId}::bigint is null or o.id = ${orderId}::bigint) and g.confirmed_at is not null
      order by o.id`,
    {
      columns: fragment`, o.broker_id as "brokerId", greatest(o.order_qty - o.cum_qty, 0) as open, g.told, g.since, coalesce((
        select sum(e.quantity * e.px) from ${netExecutions} e where e.account_id = o.account_id and e.order_id = o.id
      ), 0) as amount`,
      joins: fragment`join order_gap g on g.account_id = o.account_id and g.order_id = o.id`,
    },
  )

/** An order of an account, named as its client order id names it. */
export type NamedOrder = ClientOrderKey & { readonly accountId: number }

/** The orders `o` of these names, as far as they exist, each with the place of its name in `k`. */
export function ordersNamed(names: readonly NamedOrder[]): Fragment {
  const column = <K extends keyof NamedOrder>(name: K): NamedOrder[K][] => names.map((one) => one[name])
  return fragment`
    unnest(${names.map((_, place) => place)}::int[], ${column('accountId')}::bigint[], ${column('setupId')}::bigint[],
      ${column('source')}::text[], ${column('sourceId')}::bigint[], ${column('revision')}::int[])
      k (place, account_id, setup_id, source, source_id, revision)
    join account_order o on o.source_id = k.source_id and o.setup_id = k.setup_id and o.source = k.source
      and o.revision = k.revision and o.account_id = k.account_id`
}

/** Which of these orders exist, by their places. */
export async function findOwnOrders(sql: Sql, names: readonly NamedOrder[]): Promise<Set<number>> {
  if (names.length === 0) return new Set()
  const rows = await sql.rows<{ place: number }>`select k.place from ${ordersNamed(names)}`
  return new Set(rows.map(({ place }) => place))
}

/**
 * `chain`: the rows of `named` (place and order), each with the orders that it has replaced in turn, as far as a broker
 * counts them into it: one that was sent anew after the order before it had ended begins a chain of its own. Quantities
 * of an order that ended before a split are in the units of then, so that what it carried says nothing there.
 */
export const chainsOfNamed: Fragment = fragment`
  chain as (
    select n.place, n.account_id, n.id, o.replaces_order_id, o.carried_qty, 0 as depth
    from named n join account_order o on o.account_id = n.account_id and o.id = n.id
    union all
    select c.place, o.account_id, o.id, o.replaces_order_id, o.carried_qty, c.depth + 1
    from chain c join account_order o on o.account_id = c.account_id and o.id = c.replaces_order_id
    where o.status in ('5', 'E', '6') or o.carried_qty = c.carried_qty
  )`
