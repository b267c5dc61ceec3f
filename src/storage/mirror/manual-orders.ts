/**
 * Orders that the holder of an account asks for himself: closing ones, and changes of exits that are at work.
 * They take their numbers from the signals, so a number names one thing on the whole platform. The caller has
 * locked the account.
 */

import type { OrdType, Side } from '../../domain/codes.ts'
import type { ClientOrderKey, OrderSource } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import { live } from '../database/order-statuses.ts'
import type { Sql } from '../database/sql.ts'
import { type CopyRow, copyColumns, type OrderKey, orderNumber, theseOrders } from './account-orders.ts'

/** A live setup, and what it holds of one instrument. */
export interface SetupHolding {
  readonly setupId: number
  readonly strategyId: number
  readonly fence: number
  readonly scalingPercentage: number
  /** Signed. */
  readonly quantity: string
  readonly strategyQty: string
  /** Unsigned: what the holder's own exits of the kind work already. */
  readonly promised: string
}

/** Orders of which each unit of a position needs one at most. */
interface ExitKind {
  readonly instrumentId: number
  readonly side: Side
  readonly ordType: OrdType
}

/** The account's live setups, by id; they do not stop before the commit. What is being canceled promises nothing. */
export const lockHoldings = (
  sql: Sql,
  accountId: number,
  { instrumentId, side, ordType }: ExitKind,
): Promise<SetupHolding[]> =>
  sql.rows<SetupHolding>`
    select setup.id as "setupId", setup.strategy_id as "strategyId", setup.fence,
      setup.scaling_percentage as "scalingPercentage", coalesce(p.quantity, 0) as quantity,
      coalesce(s.quantity, 0) as "strategyQty", coalesce((
        select sum(greatest(0, o.order_qty - o.cum_qty)) from account_order o
        where o.setup_id = setup.id and o.status in ('A', '0', '1', 'E') and (o.source = 'M' or o.signal_type = 5)
          and o.instrument_id = ${instrumentId}::bigint and o.side = ${side} and o.ord_type = ${ordType}
          and not exists (select from account_order r where r.account_id = o.account_id
            and r.replaces_order_id = o.id and r.status in ('A', '0', '1', 'E'))), 0) as promised
    from setup
    left join account_position p on p.setup_id = setup.id and p.instrument_id = ${instrumentId}::bigint
    left join position s on s.strategy_id = setup.strategy_id and s.instrument_id = ${instrumentId}::bigint
    where setup.account_id = ${accountId}::bigint and setup.stopped_at is null
    order by setup.id for share of setup`

/** Of these accounts those with a live setup, of the strategy where one is named, and whether one holds the instrument. */
export const followingAccounts = (
  sql: Sql,
  accountIds: readonly number[],
  wanted: { instrumentId: number; strategyId: number | bigint | undefined },
): Promise<{ id: number; isHolding: boolean }[]> =>
  sql.rows`
    select setup.account_id as id, bool_or(coalesce(p.quantity, 0) <> 0) as "isHolding"
    from setup
    left join account_position p on p.setup_id = setup.id and p.instrument_id = ${wanted.instrumentId}::bigint
    where setup.account_id = any(${accountIds}::bigint[]) and setup.stopped_at is null
      and ${asked`setup.strategy_id = ${wanted.strategyId}::bigint`}
    group by setup.account_id`

/** The account of a setup, live or not. */
export const accountOfSetup = async (sql: Sql, setupId: number): Promise<number | undefined> =>
  (await sql.maybe<{ id: number }>`select account_id as id from setup where id = ${setupId}::bigint`)?.id

/** The number of a new order. */
export const nextManualId = async (sql: Sql): Promise<number> =>
  (await sql.one<{ id: number }>`select nextval('signal_id_seq') as id`).id

/** An order as its holder may change it. */
export interface OwnOrder extends CopyRow {
  /** Under which it is listed. */
  readonly number: number
  readonly source: OrderSource
  /** When it is to be turned to market; null while its signal works. */
  readonly chaseAt: Instant | null
  readonly tick: string
  /** Live orders that replace it. */
  readonly replacements: readonly number[]
  readonly lastRevision: number
  readonly strategyQty: string
  readonly scalingPercentage: number
  readonly held: string
}

/**
 * Locks the strategy whose orders an order of the account follows: whoever hands its copies on holds that, and not the
 * accounts. Before the account, as everywhere.
 */
export const lockOwnStrategy = (sql: Sql, accountId: number, { setupId }: ClientOrderKey): Promise<number> =>
  sql.run`
    select from strategy where id = (
      select strategy_id from setup where id = ${setupId}::bigint and account_id = ${accountId}::bigint)
    for no key update`

/** The account's order of this key, locked; the caller has locked its strategy too. */
export const lockOwnOrder = (
  sql: Sql,
  accountId: number,
  key: ClientOrderKey,
): Promise<OwnOrder | undefined> =>
  sql.maybe<OwnOrder>`
    select ${copyColumns}, ${orderNumber} as number, o.source, o.chase_at as "chaseAt", i.tick, o.strategy_qty as "strategyQty",
      o.scaling_percentage as "scalingPercentage", array(
        select r.id from account_order r where r.account_id = o.account_id and r.replaces_order_id = o.id
          and r.status in ${live}) as replacements,
      (select max(r.revision) from account_order r where r.source_id = o.source_id and r.setup_id = o.setup_id
        and r.source = o.source) as "lastRevision", coalesce((
        select p.quantity from account_position p where p.setup_id = o.setup_id
          and p.instrument_id = o.instrument_id), 0) as held
    from account_order o join instrument i on i.id = o.instrument_id
    where o.account_id = ${accountId}::bigint and o.setup_id = ${key.setupId}::bigint
      and o.source = ${key.source}::text and o.source_id = ${key.sourceId}::bigint
      and o.revision = ${key.revision}::int
    for update of o`

/** A condition that names an order and what is to replace it. */
export const withReplacements = (order: OwnOrder) =>
  theseOrders([order.id, ...order.replacements].map((id): OrderKey => ({ accountId: order.accountId, id })))
