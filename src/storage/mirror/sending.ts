/**
 * Account orders on their way to a broker. A claim is the durable mark that an attempt was begun: it commits
 * before the broker hears anything, so whoever finds an old one knows that the broker must be asked. Locks are
 * taken in one order: account, setup, order.
 */

import type { Instant } from '../../domain/time.ts'
import {
  type Fragment,
  fragment,
  identifier,
  idsOf,
  type Sql,
  type Transaction,
  uncounted,
} from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { lapseOfSetup } from '../people/subscriptions.ts'
import { type CopyRow, copyColumns, type OrderKey, theseOrders } from './account-orders.ts'
import { type AsEnded, inNewUnits, sinceEnd, sinceEndColumns } from './ended-orders.ts'
import { isUnconfirmed } from './order-confirmations.ts'
import { endUnseen } from './unseen-orders.ts'

/** Enabled brokers `b` of the adapter that have an order to hear of. */
const sendingBrokers = (adapter: string): Fragment => fragment`
  broker b where b.adapter = ${adapter} and b.is_enabled and exists (
    select from account_order o where o.broker_id = b.id and o.pending_action is not null
      and not ${isUnconfirmed} and (o.claimed_until is null or o.claimed_until <= clock_timestamp()))`

/** True while there is such a broker. */
export const isSendingDue = (adapter: string): Fragment =>
  fragment`exists (select from ${sendingBrokers(adapter)})`

/** All of them. */
export const listSendingBrokers = (sql: Sql, adapter: string): Promise<number[]> =>
  idsOf(sql.rows`select b.id from ${sendingBrokers(adapter)} order by b.id`)

/** An order to send, with what decides whether it may be. */
export interface SendRow extends CopyRow {
  readonly pendingAction: 'new' | 'cancel' | 'replace'
  readonly symbol: string
  readonly account: string
  readonly isDisabled: boolean
  readonly isSyncEnabled: boolean
  readonly isStopped: boolean
  /** The operator lets nobody open anything, the setup does not allow it, or its subscription has lapsed. */
  readonly noOpening: boolean
  /** What is held that it would close, unsigned, where it closes and no broker has heard of it; null for any other. */
  readonly closable: string | null
  readonly fence: number
  readonly isConfirmationNeeded: boolean
  readonly confirmBy: Instant | null
  /** Its broker did not say what became of it; one that a dead sender has left was not asked of any. */
  readonly isUnknown: boolean
}

/**
 * The broker has told the account `o` of an end that is not booked yet. A replacement that goes out before would be
 * ended with its predecessor here and, where a broker places it as an order of its own, go on there.
 */
const isEndWaiting = fragment`exists (
  select from broker_report r where r.account_id = o.account_id and r.applied_at is null
    and r.kind in ('cancel', 'expire', 'reject'))`

/** Whose turn it is: accounts that come `after` one, 0 for all, but for those that are `served` already. */
export interface Turn {
  readonly after: number
  readonly served: ReadonlySet<number>
}

/**
 * Goes from account to account: each may have thousands that wait, of which the first few are read. A broker that was
 * disabled meanwhile hears of none: many may wait when a sender begins.
 */
const listHeads = (
  tx: Transaction,
  brokerId: number,
  limit: number,
  { after, served }: Turn,
): Promise<(OrderKey & { replaced: number | null })[]> => tx.rows`
  with recursive waiting (account_id) as (
    select (select min(o.account_id) from account_order o
      where o.broker_id = ${brokerId}::int and o.pending_action is not null and o.account_id > ${after}::bigint)
    where exists (select from broker b where b.id = ${brokerId}::int and b.is_enabled)
    union all
    select (select min(o.account_id) from account_order o
      where o.broker_id = ${brokerId}::int and o.pending_action is not null and o.account_id > waiting.account_id)
    from waiting where waiting.account_id is not null)
  select head.account_id as "accountId", head.id, head.replaced from waiting cross join lateral (
    select o.account_id, o.id, o.claimed_until,
      case when o.pending_action = 'replace' then o.replaces_order_id end as replaced
    from account_order o
    where o.broker_id = ${brokerId}::int and o.account_id = waiting.account_id
      and o.pending_action is not null and not ${isUnconfirmed}
      and (o.unknown_at is null or o.claimed_until is null or o.claimed_until <= clock_timestamp())
      and not (o.pending_action = 'replace' and exists (
        select from account_order x where x.account_id = o.account_id and x.id = o.replaces_order_id
          and (x.status in ('A', '6') or ${isEndWaiting})))
    order by o.broker_id, o.account_id, o.id limit 1) head
  where (head.claimed_until is null or head.claimed_until <= clock_timestamp())
    and waiting.account_id <> all(${[...served]}::bigint[])
  limit ${limit}::int`

/**
 * Locks the next orders of a broker, one per account, the oldest first. An order whose claim runs holds back
 * the account's later ones; one whose outcome is unknown does not, nor one that waits for its holder's word, nor a
 * replacement that waits for what is told of its predecessor. Accounts that are being written are passed over. Those
 * alone are looked at whose turn it is, so that the first ones do not keep all others waiting; `last` is the one after
 * which others may wait, whoever of these was passed over, and 0 when nobody comes any more.
 */
export async function lockNextSends(
  tx: Transaction,
  brokerId: number,
  limit: number,
  turn: Turn,
): Promise<{ rows: SendRow[]; last: number }> {
  const next = await listHeads(tx, brokerId, limit, turn)
  if (next.length === 0) return { rows: [], last: 0 }
  const accountIds = next.map(({ accountId }) => accountId)
  const accounts = await tx.rows<{ id: number }>`
    select id from account where id = any(${uncounted(accountIds, 'bigint')}::bigint[])
    order by id for share skip locked`
  const free = new Set(accounts.map(({ id }) => id))
  const keys = next.filter(({ accountId }) => free.has(accountId))
  // What an order is to replace is older, and whoever locks both waits for the older first.
  const replaced = keys.flatMap(({ accountId, replaced: id }) => (id === null ? [] : [{ accountId, id }]))
  const [, , rows] = await Promise.all([
    lockSetups(tx, keys),
    replaced.length > 0 && lockOrders(tx, replaced),
    lockSends(tx, keys),
  ])
  return { rows, last: next.length < limit ? 0 : Math.max(...accountIds) }
}

const lockSetups = (tx: Transaction, keys: readonly OrderKey[]): Promise<number> => tx.run`
  select from setup where id in (select o.setup_id from account_order o where ${theseOrders(keys)})
  order by id for share`

const lockOrders = (tx: Transaction, keys: readonly OrderKey[]): Promise<number> => tx.run`
  select from account_order o where ${theseOrders(keys)} order by o.account_id, o.id for update`

const mayOpenIn = (group: string): Fragment => {
  const [enabled, long, short] = ['enabled', 'long', 'short'].map((what) => identifier(`${group}_${what}`))
  return fragment`t.${enabled!} and case o.side when '1' then t.${long!} else t.${short!} end`
}

/** The setup `t` permits what the order `o` opens in its instrument `i`. */
const isOpeningPermitted: Fragment = fragment`not t.closing_orders_only and case i.security_type
  when 'CS' then ${mayOpenIn('stocks')} when 'OPT' then ${mayOpenIn('options')}
  when 'FUT' then ${mayOpenIn('futures')} else ${mayOpenIn('forex')} end`

/** How much is held that a closing order `o` would close, unsigned. */
export const heldAgainst: Fragment = fragment`coalesce((
  select greatest(0, case o.side when '2' then p.quantity else -p.quantity end) from account_position p
  where p.account_id = o.account_id and p.setup_id = o.setup_id and p.instrument_id = o.instrument_id), 0)`

/** Whether one still waits is asked so that no index of all that wait answers it: these are found by their keys. */
const lockSends = (tx: Transaction, keys: readonly OrderKey[]): Promise<SendRow[]> => tx.rows<SendRow>`
  select ${copyColumns}, i.symbol, a.account, a.is_autotrade_disabled as "isDisabled",
    a.is_sync_enabled as "isSyncEnabled",
    t.stopped_at is not null as "isStopped", t.fence,
    o.position_effect = 'O' and (exists (
      select from platform_switch where name = 'noOpeningOrders' and value = 'true')
      or not (${isOpeningPermitted}) or ${lapseOfSetup}) as "noOpening",
    case when o.position_effect = 'C' and o.pending_action <> 'cancel' and o.attempts = 0 then ${heldAgainst} end as closable,
    t.is_confirmation_needed as "isConfirmationNeeded", o.confirm_by as "confirmBy", o.unknown_at is not null as "isUnknown"
  from account_order o join instrument i on i.id = o.instrument_id join account a on a.id = o.account_id
  join setup t on t.id = o.setup_id
  where ${theseOrders(keys)} and coalesce(o.pending_action, '') <> ''
  order by o.account_id, o.id for update of o skip locked`

/** The orders that these replace, by their id, one that ended before a split in new units; `lockNextSends` has locked them. */
export async function loadReplaced(tx: Transaction, rows: readonly SendRow[]): Promise<Map<number, CopyRow>> {
  const keys = rows.flatMap(({ accountId, replacesOrderId: id }) => (id === null ? [] : [{ accountId, id }]))
  if (keys.length === 0) return new Map()
  const replaced = await tx.rows<AsEnded<CopyRow>>`
    select ${copyColumns}, ${sinceEndColumns} from account_order o ${sinceEnd} where ${theseOrders(keys)}`
  return new Map(replaced.map((row) => [row.id, inNewUnits(row)]))
}

/** How long a claim keeps others away, by the database's clock. */
export const sendClaimSeconds = 10

/** Marks the attempts as begun. */
export async function markAttempts(tx: Transaction, keys: readonly OrderKey[], fence: number): Promise<void> {
  await tx.run`
    update account_order o set attempts = attempts + 1, claim_fence = ${fence}::bigint,
      claimed_until = clock_timestamp() + ${sendClaimSeconds} * interval '1 second'
    where ${theseOrders(keys)}`
}

/** Requests the replacement of these orders; each replacement starts with what its order has filled by now. */
export async function requestReplaces(tx: Transaction, keys: readonly OrderKey[]): Promise<void> {
  if (keys.length === 0) return
  await tx.run`
    with replaced as (
      update account_order x set status = 'E', chase_at = null
      from account_order o
      where ${theseOrders(keys)} and x.account_id = o.account_id and x.id = o.replaces_order_id
        and x.status in ('0', '1', 'E')
      returning x.account_id, x.id, x.cum_qty, x.filled_value, x.avg_px
    )
    update account_order o set cum_qty = r.cum_qty, filled_value = r.filled_value, avg_px = r.avg_px
    from replaced r
    where o.account_id = r.account_id and o.replaces_order_id = r.id and ${theseOrders(keys)}`
}

/** An order that asks for less than what was decided: no broker has heard of it. */
export interface Bounded extends OrderKey {
  readonly orderQty: string
  /** What is held, where it decides; null: as it was decided. */
  readonly heldQty: string | null
}

/** Lets orders ask for less. */
export async function boundOrders(tx: Transaction, bounded: readonly Bounded[]): Promise<void> {
  if (bounded.length === 0) return
  const column = <Name extends keyof Bounded>(name: Name) => bounded.map((order) => order[name])
  await tx.run`
    update account_order o set order_qty = b.order_qty, held_qty = coalesce(b.held_qty, o.held_qty)
    from unnest(${column('accountId')}::bigint[], ${column('id')}::bigint[], ${column('orderQty')}::numeric[],
      ${column('heldQty')}::numeric[]) b (account_id, id, order_qty, held_qty)
    where ${theseOrders(bounded)} and o.account_id = b.account_id and o.id = b.id`
}

/** Sends a replacement as an order of its own, or points it at the order that is still at work. */
export async function redirectReplacement(
  tx: Transaction,
  key: OrderKey,
  to: { readonly anew: CopyRow } | { readonly replaces: number },
): Promise<void> {
  if ('replaces' in to) {
    await tx.run`
      update account_order o set replaces_order_id = ${to.replaces}::bigint where ${theseOrders([key])}`
    return
  }
  const { cumQty, filledValue } = to.anew
  await tx.run`
    update account_order o set pending_action = 'new', carried_qty = ${cumQty}::numeric,
      carried_value = ${filledValue}::numeric, cum_qty = ${cumQty}::numeric, filled_value = ${filledValue}::numeric,
      avg_px = ${filledValue}::numeric / nullif(${cumQty}::numeric, 0)
    where ${theseOrders([key])}`
}

/** What came of an attempt, for the row. */
export interface Attempted extends OrderKey {
  readonly action: 'new' | 'cancel' | 'replace'
  /** Which one it was: one that was begun later is written by itself. */
  readonly attempt: number
  /**
   * later: not sent although the broker is there. absent: the broker has none of those before either. underWay: unknown,
   * and the call itself may not be over.
   */
  readonly outcome: 'done' | 'unsent' | 'later' | 'absent' | 'unknown' | 'underWay'
}

/** How long an order `o` is left alone before its broker is asked again: longer with each attempt. */
export const askingPause = fragment`least(30, 2 ^ least(o.attempts, 5) / 2) * interval '1 second'`

/** How long an order is left alone that its broker, which others reach, could not be sent. */
const laterPause = fragment`interval '1 second'`

/**
 * Writes what came of attempts made under the fence. An action that was overtaken by another (a cancel) stays
 * as it is. What is unknown is asked for again after a pause that grows with the attempts, but an order
 * that may be under way not before its claim has run out: a broker that does not have it yet would be believed.
 */
export async function saveAttempts(
  tx: Transaction,
  attempts: readonly Attempted[],
  fence: number,
  now: Instant,
): Promise<void> {
  const column = (name: keyof Attempted, type: string) =>
    uncounted(
      attempts.map((attempt) => attempt[name]),
      type,
    )
  await tx.run`
    update account_order o set
      pending_action = case when t.outcome = 'done' and o.pending_action = t.action then null else o.pending_action end,
      attempts = case when t.outcome = 'absent' then 0 when t.outcome in ('unsent', 'later') then o.attempts - 1
        else o.attempts end,
      unknown_at = case when t.outcome in ('unknown', 'underWay') and t.action <> 'cancel' then coalesce(o.unknown_at, ${instant(now)}::timestamptz) end,
      claimed_until = case when t.outcome = 'later' and o.pending_action = t.action then clock_timestamp() + ${laterPause}
        when t.outcome in ('unknown', 'underWay') then greatest(clock_timestamp() + ${askingPause},
        case when t.outcome = 'underWay' and t.action <> 'cancel' then o.claimed_until end) end
    from unnest(${column('accountId', 'bigint')}, ${column('id', 'bigint')}, ${column('action', 'text')},
      ${column('attempt', 'int')}, ${column('outcome', 'text')}) t (account_id, id, action, attempt, outcome)
    where o.account_id = t.account_id and o.id = t.id and o.claim_fence = ${fence}::bigint and o.attempts = t.attempt
      and o.claimed_until is not null`
}

/** Says of an order that AutoSync made it. */
export const autoSyncInfo = 'AutoSync'

/**
 * Copies that no broker has seen although they were made, or confirmed by their holders, at or before `before`. One that
 * was changed while it waited, as to a market order after its signal had filled, has waited since it was made. One whose
 * holder has not said yes does not wait for its broker; what comes of it begins to. What AutoSync has made is AutoSync's
 * already: given up, it would be made anew every minute of a weekend. It is a copy like any other once AutoSync is off or
 * the grace after its signal's end is over: at market it would open whenever the link comes back.
 */
const unseenSince = (before: Instant): Fragment => fragment`
  o.pending_action is not null and o.status = 'A' and o.attempts = 0 and o.source = 'S' and not ${isUnconfirmed}
  and not (o.info is not distinct from ${autoSyncInfo} and exists (
    select from signal s join account a on a.id = o.account_id
    where s.id = o.source_id and a.is_sync_enabled
      and (s.ended_at is null or s.ended_at > ${instant(before)}::timestamptz)))
  and not (o.pending_action = 'replace' and o.position_effect = 'C' and o.ord_type <> '1' and exists (
    select from account_order x where x.account_id = o.account_id and x.id = o.replaces_order_id
      and x.status in ('0', '1', 'E')))
  and coalesce(o.confirmed_at, least(o.posted_at, (
    select case when x.confirm_by is null then x.posted_at else x.confirmed_at end
    from account_order x where x.account_id = o.account_id and x.id = o.replaces_order_id
      and x.source_id = o.source_id and x.status = '5' and x.attempts = 0))) <= ${instant(before)}::timestamptz`

const queued = (adapter: string, before: Instant): Fragment =>
  fragment`${unseenSince(before)} and o.broker_id in (select id from broker where adapter = ${adapter})`

/** True when the adapter has such copies. */
export const isQueueStale = (adapter: string, before: Instant): Fragment =>
  fragment`exists (select from account_order o where ${queued(adapter, before)})`

/** Gives copies up; answers how many rows moved. What they were to do is AutoSync's from now on. */
const giveUp = (tx: Transaction, which: Fragment, now: Instant): Promise<number> =>
  endUnseen(tx, which, { at: now, info: 'broker not reachable', syncAt: now })

/** Gives up what the adapter's brokers have not seen since then. */
export const dropQueue = (tx: Transaction, adapter: string, before: Instant, now: Instant): Promise<number> =>
  giveUp(tx, queued(adapter, before), now)

/**
 * The same of these accounts alone: their broker is there, but not for them. Also of what waits behind an order that is
 * not given up: it would go out with that one, whenever that is.
 */
export const dropUnsent = (
  tx: Transaction,
  brokerId: number,
  accountIds: readonly number[],
  before: Instant,
  now: Instant,
): Promise<number> =>
  giveUp(
    tx,
    fragment`o.broker_id = ${brokerId}::int and o.account_id = any(${accountIds}::bigint[]) and ${unseenSince(before)}`,
    now,
  )

/**
 * Orders that would open and that their broker is not known to have. Kept until a disabled one is enabled they would open
 * then, whatever the price, for holders who have been told that what they missed is opened at their request. One that
 * was claimed counts once its claim is over: whoever claimed it is gone, or could not send it after all.
 */
const opensUnheard: Fragment = fragment`o.pending_action = 'new' and o.status = 'A' and o.position_effect = 'O'
  and (o.attempts = 0 or o.unknown_at is not null or o.claimed_until is null or o.claimed_until <= clock_timestamp())
  and not ${isUnconfirmed}`

/**
 * True when orders would open at a disabled broker of the adapter. Every round of a worker asks, however many orders wait:
 * they are looked for broker by broker (what has a limit is not joined the other way round), and as a rule none is disabled.
 */
export const isShutOut = (adapter: string): Fragment => fragment`exists (
  select from broker b cross join lateral (
    select from account_order o where o.broker_id = b.id and ${opensUnheard} limit 1) waiting
  where b.adapter = ${adapter} and not b.is_enabled)`

const shutOut = (adapter: string): Fragment => fragment`${opensUnheard}
  and o.broker_id = any(array(select id from broker where adapter = ${adapter} and not is_enabled))`

/** Ends such orders; one that may have arrived is canceled as soon as its broker is asked again. Answers how many rows moved. */
export const endShutOut = (tx: Transaction, adapter: string, now: Instant): Promise<number> =>
  endUnseen(tx, shutOut(adapter), { at: now, info: 'broker disabled', syncAt: now })
