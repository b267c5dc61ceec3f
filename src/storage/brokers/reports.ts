/**
 * What brokers reported: taken in once each, whatever order and however often it arrives, and applied account by
 * account in the order of arrival. The account's row is locked while its reports are applied.
 */

import type { OrdStatus, SecurityType, Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import type { OrderSource } from '../../domain/orders/client-order-id.ts'
import type { InLast } from '../../domain/orders/order-chain.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { OrderKey } from '../mirror/account-orders.ts'
import { askingPause } from '../mirror/sending.ts'
import { type Among, isAmong } from '../work/among.ts'
import { touchAccounts } from '../work/record-changes.ts'
import { type NamedOrder, ordersNamed } from './sent-orders.ts'

export type ReportKind =
  | 'ack'
  | 'fill'
  | 'bust'
  | 'cancel'
  | 'reject'
  | 'cancelReject'
  | 'cancelUnknown'
  | 'replace'
  | 'replaceReject'
  | 'expire'
  | 'total'
  | 'delink'
  | 'marginCall'
  | 'patternDayTrader'
  | 'restriction'

/** What tells that an order has ended, and that no other took its place. */
export const endKinds: readonly ReportKind[] = ['cancel', 'expire', 'reject']

export interface NewReport {
  readonly brokerId: number
  readonly reportKey: string
  readonly accountId: number
  readonly clientOrderId: string | null
  readonly kind: ReportKind
  readonly symbol: string
  /** That of its order, where no broker has said of which symbol it is; absent or null: that of the symbol. */
  readonly instrumentId?: number | null
  readonly text: string | null
  readonly occurredAt: Instant
  /**
   * With an execution or an end: what its broker counts as executed of the order by then; null where it does not say.
   * Some count what the orders before it executed as well.
   */
  readonly cumQty?: string | null
}

/** An execution, or a broker's total of an order: what it has executed, and at what average. */
export interface NewTotal extends NewReport {
  readonly side: Side
  readonly quantity: string
  readonly px: string
}

/** An account whose reports are applied now. */
export interface ReportedAccount {
  readonly id: number
  readonly currency: string
  readonly isSyncEnabled: boolean
  readonly ignoresManualOrders: boolean
}

const isReported = (accounts: Among): Fragment =>
  fragment`applied_at is null and ${isAmong(fragment`account_id`, accounts)}`

/** True while reports wait to be applied. */
export const areReportsWaiting: Fragment = fragment`exists (select from broker_report where applied_at is null)`

/** Accounts that have unapplied reports. */
export const listReportedAccounts = (sql: Sql, among: Among, limit: number): Promise<number[]> =>
  idsOf(sql.rows`
    select distinct account_id as id from broker_report where ${isReported(among)} order by id limit ${limit}::int`)

/** Locks such accounts; those that others hold are passed over. */
export const claimReportedAccounts = (
  tx: Transaction,
  among: Among,
  limit: number,
): Promise<ReportedAccount[]> =>
  tx.rows<ReportedAccount>`
    select id, currency, is_sync_enabled as "isSyncEnabled", ignore_manual_orders as "ignoresManualOrders"
    from account where id in (
      select account_id from (
        select distinct account_id from broker_report where ${isReported(among)} order by account_id
      ) due limit ${limit}::int)
    order by id for no key update skip locked`

/** A report to apply. Quantity and price are those of an execution. */
export interface ReportRow extends NewReport, InLast {
  readonly id: number
  readonly side: Side | null
  readonly quantity: string | null
  readonly px: string | null
  readonly cumQty: string | null
  /** Of the symbol; null where no such instrument exists. */
  readonly instrumentId: number | null
  readonly securityType: SecurityType | null
  readonly pointValue: string | null
  readonly currency: string | null
  /** An execution whose cancellation arrived before it. */
  readonly isBusted: boolean
  /** The execution that this one takes the place of; null where it corrects none. */
  readonly corrects: string | null
  /** The opening of the last split before it, where something of before that is booked: it is none of that. */
  readonly splitAt?: Instant | undefined
  /** As of when it counts, where that is not when it occurred. */
  readonly asOf?: Instant | undefined
}

/** What a broker tells of a correction beside the new execution: the one before it is canceled. */
export const correctionKey = (execId: string): string => `${execId}/corrects`

/**
 * Unapplied reports of the accounts, in the order of their arrival; of an account those before the first that tells of
 * a time after the opening of a split or an ex-date which are not booked yet: it speaks of other units, and of what no
 * dividend is paid for.
 */
export const loadReports = (
  tx: Transaction,
  accountIds: readonly number[],
  limit: number,
): Promise<ReportRow[]> =>
  tx.rows<ReportRow>`
    with waiting as materialized (
      select id, account_id, symbol, occurred_at from broker_report
      where applied_at is null and account_id = any(${accountIds}::bigint[])
    ), opened as materialized (
      select i.symbol, c.takes_effect_at from corporate_action c join instrument i on i.id = c.instrument_id
      where c.booked_at is null and c.takes_effect_at <= (select max(occurred_at) from waiting)
    ), ahead as materialized (
      select w.account_id, min(w.id) as id
      from waiting w join (
        select * from opened
        union all
        select i.symbol, o.takes_effect_at from opened o
        join instrument i on i.underlying = o.symbol and i.security_type = 'OPT'
      ) o on o.symbol = w.symbol and o.takes_effect_at <= w.occurred_at
      group by w.account_id
    )
    select r.id, r.broker_id as "brokerId", r.report_key as "reportKey", r.account_id as "accountId",
      r.client_order_id as "clientOrderId", r.kind, r.symbol, r.side, r.quantity, r.px,
      r.cum_qty as "cumQty", r.text, r.occurred_at as "occurredAt", i.id as "instrumentId",
      i.security_type as "securityType", i.point_value as "pointValue", i.currency, r.kind = 'fill' and exists (
        select from broker_report b where b.kind = 'bust' and b.broker_id = r.broker_id
          and b.account_id = r.account_id and b.text = r.report_key and b.applied_at is not null) as "isBusted",
      case r.kind when 'fill' then (select c.text from broker_report c where c.kind = 'bust'
        and c.broker_id = r.broker_id and c.account_id = r.account_id
        and c.report_key = r.report_key || ${correctionKey('')}) end as corrects
    from broker_report r left join instrument i on i.symbol = r.symbol
    left join ahead on ahead.account_id = r.account_id
    where r.applied_at is null and r.account_id = any(${accountIds}::bigint[]) and (ahead.id is null or r.id < ahead.id)
    order by r.id limit ${limit}::int`

/** An order as reports change it. */
export interface ReportedOrder extends OrderKey {
  readonly setupId: number
  readonly strategyId: number
  readonly instrumentId: number
  readonly side: Side
  readonly source: OrderSource
  readonly sourceId: number
  readonly revision: number
  readonly status: OrdStatus
  readonly attempts: number
  readonly pendingAction: 'new' | 'cancel' | 'replace' | null
  readonly isAcknowledged: boolean
  readonly orderQty: string
  readonly cumQty: string
  /** What of it was executed by orders that had ended before it was sent anew. */
  readonly carriedQty: string
  readonly filledValue: string
  readonly replacesOrderId: number | null
  readonly endedAt: Instant | null
}

/**
 * The orders of these ids with all orders of their chains, locked. Only what was replaced, is being replaced or
 * replaces has more than itself in its chain.
 */
export const lockReportedOrders = (tx: Transaction, names: readonly NamedOrder[]): Promise<ReportedOrder[]> =>
  tx.rows<ReportedOrder>`
    with recursive named as (
      select o.account_id, o.id, o.status, o.replaces_order_id from ${ordersNamed(names)}
    ), chain as (
      select account_id, id, status, replaces_order_id from named
      union
      select o.account_id, o.id, o.status, o.replaces_order_id
      from chain join account_order o on o.account_id = chain.account_id
        and (o.id = chain.replaces_order_id or o.replaces_order_id = chain.id and chain.status in ('5', '6', 'E'))
      where chain.replaces_order_id is not null or chain.status in ('5', '6', 'E')
    )
    select o.account_id as "accountId", o.id, o.setup_id as "setupId", o.strategy_id as "strategyId",
      o.instrument_id as "instrumentId", o.side, o.source, o.source_id as "sourceId", o.revision, o.status, o.attempts,
      o.pending_action as "pendingAction", o.is_acknowledged as "isAcknowledged", o.order_qty as "orderQty",
      o.cum_qty as "cumQty", o.carried_qty as "carriedQty", o.filled_value as "filledValue",
      o.replaces_order_id as "replacesOrderId", o.ended_at as "endedAt"
    from account_order o where (o.account_id, o.id) in (select account_id, id from chain)
    order by o.account_id, o.id for update`

/** How much more, or less, an order has executed by something of this moment, and the value of that. */
export interface LateChange {
  readonly quantity: Decimal
  readonly value: Decimal
  readonly at: Instant
}

export interface OrderChange extends OrderKey {
  readonly status: OrdStatus
  readonly pendingAction: 'new' | 'cancel' | 'replace' | null
  readonly isAcknowledged: boolean
  readonly orderQty: Decimal
  readonly cumQty: Decimal
  readonly avgPx: Decimal | null
  readonly filledValue: Decimal
  /** When a report ended it; an order that had ended before stays as it was. */
  readonly endedAt: Instant | null
  /** Null leaves what is there. */
  readonly rejectText: string | null
  /** What it has executed since it ended, or what was taken back of it. */
  readonly late: readonly LateChange[]
}

/** A cancel that was refused while a replacement is unanswered: it is asked again later, and holds nobody up. */
const isAskedAgain = fragment`(o.status = '6' and o.pending_action is null and c.pending_action = 'cancel')`

/** What a refused replacement had of the grace after its signal's fill is again that of the order it was to replace. */
const graceOfRefused = fragment`
  case when o.status = 'E' and c.status <> 'E' then (
    select max(r.chase_at) from account_order r where r.account_id = o.account_id and r.replaces_order_id = o.id) end`

/** Writes orders as reports left them: what was reported is known again, and a cancel that came too late explains nothing. */
export async function saveReportedOrders(tx: Transaction, changes: readonly OrderChange[]): Promise<void> {
  if (changes.length === 0) return
  const column = <K extends keyof OrderChange>(name: K): OrderChange[K][] =>
    changes.map((change) => change[name])
  await tx.run`
    update account_order o set status = c.status, pending_action = c.pending_action,
      is_acknowledged = c.is_acknowledged, order_qty = c.order_qty, cum_qty = c.cum_qty, avg_px = c.avg_px,
      filled_value = c.filled_value, reject_text = coalesce(c.reject_text, o.reject_text),
      ended_at = case when c.status in ${live} then null else coalesce(o.ended_at, c.ended_at) end,
      chase_at = case when c.status in ${live} then coalesce(o.chase_at, ${graceOfRefused}) end,
      info = case when o.status <> '6' or c.status in ('6', '4') then o.info end,
      unknown_at = case when ${isAskedAgain} then clock_timestamp() end,
      claimed_until = case when ${isAskedAgain} then clock_timestamp() + ${askingPause}
        when c.pending_action is not distinct from o.pending_action then o.claimed_until end
    from unnest(${uncounted(column('accountId'), 'bigint')}, ${column('id')}::bigint[], ${column('status')}::text[],
      ${column('pendingAction')}::text[], ${column('isAcknowledged')}::boolean[], ${column('orderQty')}::numeric[],
      ${column('cumQty')}::numeric[], ${column('avgPx')}::numeric[], ${column('filledValue')}::numeric[],
      ${changes.map(({ endedAt }) => instant(endedAt))}::timestamptz[], ${column('rejectText')}::text[])
      c (account_id, id, status, pending_action, is_acknowledged, order_qty, cum_qty, avg_px, filled_value, ended_at,
        reject_text)
    where o.account_id = c.account_id and o.id = c.id`
}

export interface NewExecution {
  readonly brokerId: number
  readonly accountId: number
  readonly execId: string
  readonly orderId: number | null
  readonly setupId: number | null
  readonly instrumentId: number
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
  /** Account currency per unit of the instrument's. */
  readonly fx: Decimal
  readonly commission: Decimal
  readonly cashChange: Decimal
  /** The execution that this one takes back. */
  readonly busts: string | null
  /** No report told of it: the broker's total did. */
  readonly isInferred?: boolean
  readonly executedAt: Instant
}

/** An execution as it was booked. */
export interface BookedExecution {
  readonly accountId: number
  readonly execId: string
  readonly side: Side
  readonly quantity: string
  readonly px: string
  readonly commission: string
  readonly cashChange: string
  readonly isBusted: boolean
}

/** An execution that a report cancels or corrects, with the name of the order that had it. */
export interface BustedExecution
  extends BookedExecution,
    InLast,
    Nullable<Pick<ReportedOrder, 'setupId' | 'source' | 'sourceId' | 'revision'>> {
  readonly orderId: number | null
  readonly instrumentId: number
  readonly at: Instant
}

type Nullable<T> = { readonly [K in keyof T]: T[K] | null }

/** The execution that a report cancels or corrects. */
export const targetOf = ({
  kind,
  text,
  corrects,
}: Pick<ReportRow, 'kind' | 'text' | 'corrects'>): string | null => (kind === 'bust' ? text : corrects)

/** The executions that these reports cancel or correct, as far as they are booked. */
export async function loadBusted(tx: Transaction, reports: readonly ReportRow[]): Promise<BustedExecution[]> {
  const busts = reports.flatMap(({ brokerId, accountId, ...report }) => {
    const text = targetOf(report)
    return text === null ? [] : [{ brokerId, accountId, text }]
  })
  if (busts.length === 0) return []
  return tx.rows<BustedExecution>`
    select e.account_id as "accountId", e.exec_id as "execId", e.side, e.quantity, e.px, e.commission,
      e.order_id as "orderId", e.instrument_id as "instrumentId", o.setup_id as "setupId", o.source,
      o.source_id as "sourceId", o.revision, e.cash_change as "cashChange", e.executed_at as at, exists (
        select from execution b where b.account_id = e.account_id and b.broker_id = e.broker_id
          and b.busts = e.exec_id) as "isBusted"
    from (select distinct * from unnest(${busts.map(({ brokerId }) => brokerId)}::int[],
      ${busts.map(({ accountId }) => accountId)}::bigint[],
      ${busts.map(({ text }) => text)}::text[]) t (broker_id, account_id, exec_id)) named
    join execution e using (broker_id, account_id, exec_id)
    left join account_order o on o.account_id = e.account_id and o.id = e.order_id`
}

/** Books executions and what they did to the accounts' cash. An id that is known throws: each is booked once. */
export async function insertExecutions(tx: Transaction, executions: readonly NewExecution[]): Promise<void> {
  if (executions.length === 0) return
  const column = <K extends keyof NewExecution>(name: K): NewExecution[K][] =>
    executions.map((execution) => execution[name])
  await tx.run`
    with booked as (
      insert into execution (broker_id, account_id, exec_id, order_id, setup_id, instrument_id, side, quantity, px, fx,
        commission, cash_change, busts, is_inferred, executed_at)
      select * from unnest(${column('brokerId')}::int[], ${column('accountId')}::bigint[], ${column('execId')}::text[],
        ${column('orderId')}::bigint[], ${column('setupId')}::bigint[], ${column('instrumentId')}::bigint[],
        ${column('side')}::text[], ${column('quantity')}::numeric[], ${column('px')}::numeric[],
        ${column('fx')}::numeric[], ${column('commission')}::numeric[], ${column('cashChange')}::numeric[], ${column('busts')}::text[],
        ${executions.map(({ isInferred = false }) => isInferred)}::boolean[], ${executions.map(({ executedAt }) => instant(executedAt))}::timestamptz[])
      returning account_id, cash_change
    )
    update account set cash = cash + change.total
    from (select account_id, sum(cash_change) as total from booked group by account_id) change
    where account.id = change.account_id`
  await touchAccounts(
    tx,
    executions.map(({ accountId, executedAt }) => ({ id: accountId, at: executedAt })),
  )
}

/** Reports that were applied, whatever they did. */
export async function settleReports(tx: Transaction, ids: readonly number[], now: Instant): Promise<void> {
  await tx.run`
    update broker_report set applied_at = ${instant(now)}::timestamptz
    where id = any(${uncounted(ids, 'bigint')}::bigint[])`
}
