/**
 * What was decided for each follower of a signal: the orders that one got, or why it got none, with the numbers that the
 * decision was made from. Orders that the platform adds of itself were decided in the same way, for one account.
 */
import type { OrdStatus, OrdType, Side } from '../../domain/codes.ts'
import type { OrderSource } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'

export interface DecidedSignal {
  readonly id: number
  readonly strategyId: number
  readonly symbol: string
  readonly side: Side
  readonly type: OrdType
  readonly quantity: string
  readonly limit: string | null
  readonly stop: string | null
  readonly status: OrdStatus
  readonly filled: string
  readonly averagePrice: string | null
  readonly postedAt: Instant
  /** The request that brought it; null where the platform made it. */
  readonly requestId: string | null
  /** Why it ended as it did, where there is more to say than its status. */
  readonly note: string | null
  /** Whether every follower has its decision; until then some may be missing. What ended before it worked needs none. */
  readonly isDecided: boolean
}

/** The order of a decision; null of each where it was that there is none. */
export interface DecidedOrder {
  readonly source: OrderSource
  readonly sourceId: number
  readonly revision: number
  readonly side: Side
  readonly symbol: string
  readonly quantity: string
  readonly status: OrdStatus
  readonly filled: string
  readonly averagePrice: string | null
  readonly note: string | null
}

export interface Decision {
  readonly account: string
  readonly brokerId: number
  readonly setupId: number
  /** Why there is no order, or why its size is not the plain scaled one. */
  readonly reason: string | null
  /** What the strategy was to hold, signed. */
  readonly strategyQuantity: string
  readonly scalingPercentage: number
  /** The cap or the minimum that was set. */
  readonly limit: string | null
  readonly held: string
  readonly referencePrice: string | null
  readonly decidedAt: Instant
  readonly order: DecidedOrder | null
}

/** A signal as its decisions are told with it. */
export const findDecidedSignal = (sql: Sql, id: number): Promise<DecidedSignal | undefined> =>
  sql.maybe<DecidedSignal>`
    select s.id, s.strategy_id as "strategyId", i.symbol, s.side, s.ord_type as type, trim_scale(s.order_qty) as quantity,
      trim_scale(s.limit_px) as limit, trim_scale(s.stop_px) as stop, s.status, trim_scale(s.cum_qty) as filled,
      trim_scale(s.avg_px) as "averagePrice", s.posted_at as "postedAt", s.request_id as "requestId",
      coalesce(s.reject_text, s.info) as note,
      (s.mirrored_at is not null or s.ended_at is not null and s.working_at is null) and not s.mirror_due
        as "isDecided"
    from signal s join instrument i on i.id = s.instrument_id where s.id = ${id}::bigint`

const orderedOf = (which: Fragment): Fragment => fragment`
  select o.account_id, o.setup_id, o.reason, o.strategy_qty, o.scaling_percentage, o.limit_value, o.held_qty,
    o.reference_px, o.posted_at as decided_at, o.source, o.source_id, o.revision, o.side, i.symbol, o.order_qty,
    o.status, o.cum_qty, o.avg_px, coalesce(o.reject_text, o.info) as note, o.id
  from account_order o join instrument i on i.id = o.instrument_id where ${which}`

const skippedOf = (signalId: number): Fragment => fragment`
  select account_id, setup_id, code, strategy_qty, scaling_percentage, limit_value, held_qty, reference_px, skipped_at,
    null, null, null, null, null, null, null, null, null, null, null
  from account_skip where signal_id = ${signalId}::bigint`

const listDecisions = (sql: Sql, decided: Fragment, account: string | null): Promise<Decision[]> =>
  sql.rows<Decision>`
    select a.account, a.broker_id as "brokerId", d.setup_id as "setupId", d.reason,
      trim_scale(d.strategy_qty) as "strategyQuantity", d.scaling_percentage as "scalingPercentage",
      trim_scale(d.limit_value) as limit, trim_scale(d.held_qty) as held, trim_scale(d.reference_px) as "referencePrice",
      d.decided_at as "decidedAt",
      case when d.source is not null then jsonb_build_object('source', d.source, 'sourceId', d.source_id,
        'revision', d.revision, 'side', d.side, 'symbol', d.symbol, 'quantity', trim_scale(d.order_qty)::text,
        'status', d.status, 'filled', trim_scale(d.cum_qty)::text, 'averagePrice', trim_scale(d.avg_px)::text,
        'note', d.note) end as order
    from (${decided}) d join account a on a.id = d.account_id
    where ${account}::text is null or a.account = ${account}::text
    order by a.account, a.broker_id, d.setup_id, d.decided_at, d.id`

/** Of a signal, by account; of one account where it is named. */
export const listSignalDecisions = (
  sql: Sql,
  signalId: number,
  account: string | null,
): Promise<Decision[]> =>
  listDecisions(
    sql,
    fragment`${orderedOf(fragment`o.source_id = ${signalId}::bigint and o.source = 'S'`)}
      union all ${skippedOf(signalId)}`,
    account,
  )

/**
 * Of what is listed under a number that is no signal's: AutoSync, a stop loss, the end of a setup, a manual exit. Of one
 * account where it is named.
 */
export const listOwnDecisions = (sql: Sql, number: number, account: string | null): Promise<Decision[]> =>
  listDecisions(
    sql,
    orderedOf(fragment`o.own_number = ${number}::bigint
      or (o.source_id = ${number}::bigint and o.source = 'M')`),
    account,
  )
