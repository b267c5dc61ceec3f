/** Orders that wait for their account holder's word. What ends otherwise meanwhile waits no more. */
import type { Side } from '../../domain/codes.ts'
import { type Instant, minute } from '../../domain/time.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type OrderKey, theseOrders } from './account-orders.ts'
import { endUnseen } from './unseen-orders.ts'

/** A condition on `o`: its holder has not said yes. */
export const isUnconfirmed: Fragment = fragment`
  (o.confirm_by is not null and o.confirmed_at is null and o.pending_action is not null)`

/** Asks the holders of these orders, until `confirmBy`. */
export async function askConfirmation(
  sql: Sql,
  keys: readonly OrderKey[],
  confirmBy: Instant,
): Promise<void> {
  if (keys.length === 0) return
  await sql.run`
    update account_order o set confirm_by = ${instant(confirmBy)}::timestamptz where ${theseOrders(keys)}`
}

const overdue = (now: Instant): Fragment => fragment`
  ${isUnconfirmed} and ${hasCome(fragment`o.confirm_by`, now)}`

/** True when the time of an order's holder is over. */
export const isConfirmationOverdue = (now: Instant): Fragment =>
  fragment`exists (select from account_order o where ${overdue(now)})`

/** When the next holder's time is over. */
export const findNextOverdue = firstMoment`select min(o.confirm_by) from account_order o where ${isUnconfirmed}`

/** Lest who has just said no is asked again at once. */
const inAMinute = (now: Instant) => ({ at: now, syncAt: now + minute })

/** Ends what nobody confirmed in time; answers how many orders. */
export const endUnconfirmed = (tx: Transaction, now: Instant): Promise<number> =>
  endUnseen(tx, overdue(now), { info: 'not confirmed in time', ...inAMinute(now) })

export interface WaitingOrder extends OrderKey {
  readonly account: string
  readonly brokerId: number
  readonly strategyId: number
  readonly symbol: string
  readonly side: Side
  readonly quantity: string
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly confirmBy: Instant
}

/** What waits for a word now, the most urgent first. */
export const listWaitingOrders = (sql: Sql, now: Instant): Promise<WaitingOrder[]> =>
  sql.rows<WaitingOrder>`
    select o.account_id as "accountId", o.id, a.account, o.broker_id as "brokerId", o.strategy_id as "strategyId",
      i.symbol, o.side, trim_scale(o.order_qty - o.carried_qty) as quantity, trim_scale(o.limit_px) as "limitPx",
      trim_scale(o.stop_px) as "stopPx",
      o.confirm_by as "confirmBy"
    from account_order o join account a on a.id = o.account_id join instrument i on i.id = o.instrument_id
    where ${isUnconfirmed} and o.confirm_by > ${instant(now)}::timestamptz order by o.confirm_by, o.id`

const waiting = (orderId: number, now: Instant): Fragment => fragment`
  o.id = ${orderId}::bigint and ${isUnconfirmed} and o.confirm_by > ${instant(now)}::timestamptz`

/** The holder's yes: the order is sent. False where it waits no more. */
export const confirmOrder = async (sql: Sql, orderId: number, now: Instant): Promise<boolean> =>
  (await sql.run`
    update account_order o set confirmed_at = ${instant(now)}::timestamptz where ${waiting(orderId, now)}`) >
  0

/** The holder's no: the order ends. False where it waits no more. */
export const declineOrder = async (tx: Transaction, orderId: number, now: Instant): Promise<boolean> =>
  (await endUnseen(tx, waiting(orderId, now), {
    info: 'declined by the account holder',
    ...inAMinute(now),
  })) > 0
