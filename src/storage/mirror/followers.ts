/**
 * The followers of one signal, read in slices by the ten thousand: every number the plan is decided from, as
 * columns of one row, because objects per follower would cost more than the whole plan. The strategy's row is
 * locked first: signals, fills and membership then stand still until the commit.
 */
import type {
  OrdStatus,
  OrdType,
  PositionEffect,
  SecurityType,
  Side,
  SignalType,
  TimeInForce,
} from '../../domain/codes.ts'
import {
  codeNumber,
  type FollowerColumns,
  noMaximum,
  permissionBits,
} from '../../domain/mirror/mirror-columns.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Transaction } from '../database/sql.ts'
import { lapsedSubscribers } from '../people/subscriptions.ts'
import { type CopyRow, lockLastCopies } from './account-orders.ts'
import { chainOf, copiesExecuted, type EntryColumns, entryColumns } from './entry-fills.ts'
import { isMirrorDue } from './mirror-due.ts'

/** A signal whose copies must be planned or must follow it. */
export interface DueSignal extends EntryColumns {
  readonly id: number
  readonly strategyId: number
  readonly instrumentId: number
  readonly securityType: SecurityType
  readonly currency: string
  readonly signalType: SignalType
  readonly side: Side
  readonly ordType: OrdType
  readonly timeInForce: TimeInForce
  readonly positionEffect: PositionEffect
  readonly orderQty: string
  readonly limitPx: string | null
  readonly stopPx: string | null
  readonly status: OrdStatus
  readonly cumQty: string
  /** What its chain had filled before it: its copies are made together with it, however late they are planned. */
  readonly filledBefore: string
  readonly endedAt: Instant | null
  /** The signals that it replaced, one after the other. */
  readonly predecessors: readonly number[]
  readonly referencePx: string | null
  /** The followers are those who had joined and not left at this version. */
  readonly horizon: number
  readonly mirroredAt: Instant | null
  readonly afterSetupId: number
  /** The strategy's signed position now. */
  readonly position: string
  readonly ocaGroupId: number | null
}

/** The strategy's oldest due signal. The caller has locked the strategy. */
export const loadDueSignal = (
  tx: Transaction,
  strategyId: number,
  now: Instant,
): Promise<DueSignal | undefined> =>
  tx.maybe<DueSignal>`
    select s.id, s.strategy_id as "strategyId", s.instrument_id as "instrumentId",
      i.security_type as "securityType", i.currency, s.signal_type as "signalType", s.side, s.ord_type as "ordType",
      s.time_in_force as "timeInForce", s.position_effect as "positionEffect", s.order_qty as "orderQty",
      s.limit_px as "limitPx", s.stop_px as "stopPx", s.status, s.cum_qty as "cumQty",
      coalesce(before.cum_qty, 0) as "filledBefore", s.ended_at as "endedAt",
      case when s.replaces_signal_id is null then '{}'
        else ${chainOf(fragment`s.replaces_signal_id`)} end as predecessors,
      s.reference_px as "referencePx", coalesce(s.membership_horizon, strategy.membership_version) as horizon,
      s.mirrored_at as "mirroredAt", coalesce(s.mirror_after_setup_id, 0) as "afterSetupId",
      coalesce(p.quantity, 0) as position, s.oca_group_id as "ocaGroupId",
      ${entryColumns}
    from signal s
    join strategy on strategy.id = s.strategy_id
    join instrument i on i.id = s.instrument_id
    left join signal before on before.id = s.replaces_signal_id
    left join position p on p.strategy_id = s.strategy_id and p.instrument_id = s.instrument_id
    where s.strategy_id = ${strategyId}::bigint and ${isMirrorDue(now)}
    order by s.id limit 1`

/** Notes how far the planning came; the last slice sets `mirroredAt`. */
export async function saveMirrorProgress(
  tx: Transaction,
  signalId: number,
  progress: { afterSetupId: number; mirroredAt: string | null },
): Promise<void> {
  await tx.run`
    update signal set mirror_after_setup_id = ${progress.afterSetupId}::bigint,
      mirrored_at = ${progress.mirroredAt}::timestamptz
    where id = ${signalId}::bigint`
}

/** The signal's copies are as they should be. */
export async function settleMirroring(tx: Transaction, signalId: number): Promise<void> {
  await tx.run`update signal set mirror_due = false where id = ${signalId}::bigint`
}

/** Another live signal of the symbol whose copies exist. */
export interface LiveSignal {
  readonly id: number
  readonly side: Side
  readonly cumQty: string
}

/** The other live signals of the strategy in the instrument. */
export const listOtherSignals = (tx: Transaction, signal: DueSignal): Promise<LiveSignal[]> =>
  tx.rows<LiveSignal>`
    select id, side, cum_qty as "cumQty" from signal
    where strategy_id = ${signal.strategyId}::bigint and instrument_id = ${signal.instrumentId}::bigint
      and status in ${live} and not is_held and id <> ${signal.id}::bigint
    order by id`

/** Those of the setups in which a copy or a correction of the symbol works. What has its grace is decided at its end. */
export const listWorking = async (
  tx: Transaction,
  instrumentId: number,
  setupIds: readonly number[],
): Promise<number[]> =>
  setupIds.length === 0
    ? []
    : idsOf(tx.rows`
      select distinct setup_id as id from account_order
      where setup_id = any(${setupIds}::bigint[]) and instrument_id = ${instrumentId}::bigint
        and status in ${live} and source in ('S', 'Y') and chase_at is null`)

/** A slice of followers in the order of their setups; the arrays and columns run in step. */
export interface FollowerSlice {
  readonly columns: FollowerColumns
  readonly setupIds: Float64Array
  readonly accountIds: Float64Array
  readonly brokerIds: Int32Array
  readonly fences: Float64Array
  /** 1 where the setup has stopped since the signal was made. */
  readonly stopped: Uint8Array
}

const settingsOf: Record<SecurityType, Fragment> = {
  CS: fragment`s.stocks_enabled as enabled, s.stocks_long as long, s.stocks_short as short, 0 as minimum,
    ${noMaximum}::int as maximum, coalesce(s.max_stocks_dollars, ${noMaximum}::int) as dollars, 1 as lot`,
  OPT: fragment`s.options_enabled as enabled, s.options_long as long, s.options_short as short,
    s.min_options as minimum, coalesce(s.max_options, ${noMaximum}::int) as maximum, ${noMaximum}::int as dollars, 1 as lot`,
  FUT: fragment`s.futures_enabled as enabled, s.futures_long as long, s.futures_short as short,
    s.min_futures as minimum, coalesce(s.max_futures, ${noMaximum}::int) as maximum, ${noMaximum}::int as dollars, 1 as lot`,
  FOR: fragment`s.forex_enabled as enabled, s.forex_long as long, s.forex_short as short,
    s.min_forex as minimum, coalesce(s.max_forex, ${noMaximum}::int) as maximum, ${noMaximum}::int as dollars, coalesce(s.forex_lot_size, 1) as lot`,
}

/**
 * The fills of other live signals since their copies here exist, and what those copies executed; signed. A copy
 * that waits to replace another shows what that one executed meanwhile.
 */
const progressOf = (others: readonly LiveSignal[]): Fragment =>
  others.length === 0
    ? fragment`(select null::numeric as ahead, null::numeric as executed)`
    : fragment`(
      select sum((other.filled - copy.before) * other.direction) as ahead,
        sum(copy.executed * other.direction) as executed
      from unnest(${others.map(({ id }) => id)}::bigint[], ${others.map(({ cumQty }) => cumQty)}::numeric[],
        ${others.map(({ side }) => (side === '1' ? 1 : -1))}::int[]) other (id, filled, direction)
      cross join lateral (
        select o.signal_filled_before as before, greatest(o.cum_qty, x.cum_qty) as executed
        from account_order o
        left join account_order x on x.account_id = o.account_id and x.id = o.replaces_order_id
        where o.source_id = other.id and o.setup_id = member.id and o.source = 'S'
        order by o.revision desc limit 1
      ) copy)`

/**
 * Leaves of the account's other closing orders on the signal's side; a pair in replacement counts once, and so
 * does a group of exits, whose members protect the same lots; the signal's own group is left out. What is being
 * canceled, or copies a signal that has ended, closes nothing any more and takes nothing from the new one.
 */
const closingLeavesOf = (signal: DueSignal): Fragment =>
  signal.positionEffect === 'O'
    ? fragment`(select null::numeric as leaves)`
    : fragment`(
      select sum(leaves) as leaves from (
        select max(greatest(o.order_qty - o.cum_qty, 0)) as leaves
        from account_order o left join signal copied on o.source = 'S' and copied.id = o.source_id
        where o.setup_id = member.id and o.instrument_id = ${signal.instrumentId}::bigint
          and o.status in ('A', '0', '1', 'E') and o.position_effect = 'C' and o.side = ${signal.side}
          and o.source <> 'L' and not (o.source = 'S' and o.source_id = any(${signal.predecessors}::bigint[]))
          and (copied.status is null or copied.status not in ('4', '8', 'C'))
          and (copied.oca_group_id is null or copied.oca_group_id is distinct from ${signal.ocaGroupId}::bigint)
          and not exists (
            select from account_order r where r.account_id = o.account_id and r.replaces_order_id = o.id
              and r.status in ${live})
        group by coalesce(copied.oca_group_id, -o.id)
      ) once)`

/** What the account's copy of an exit's entry executed; null where it has none. */
const entryExecutedOf = ({ entryChain }: DueSignal): Fragment =>
  entryChain.length === 0
    ? fragment`(select null::numeric as executed)`
    : copiesExecuted(fragment`${entryChain}::bigint[]`, fragment`member.id`)

const { enabled, long, short, closingOrdersOnly } = permissionBits
const permissions: Fragment = fragment`
  member.enabled::int * ${enabled}::int + member.long::int * ${long}::int + member.short::int * ${short}::int
    + member.closing_only::int * ${closingOrdersOnly}::int`

/** Accounts with an order in the instrument of which nobody knows what became. */
const withUnknownOutcome = (instrumentId: number): Fragment => fragment`
  select account_id from account_order where unknown_at is not null and instrument_id = ${instrumentId}::bigint`

/**
 * What stands in the way before any arithmetic, strongest first. Who has lapsed or waits is asked for as a truth, not
 * joined: a broker that does not answer makes thousands of what the server has counted as none, and each follower would
 * be compared with all of them.
 */
const blockOf = ({ securityType, currency, strategyId, instrumentId }: DueSignal): Fragment => fragment`
  case when member.stopped then ${codeNumber('SubscriptionEnded')}::int
    when a.is_autotrade_disabled then ${codeNumber('AutotradeDisabled')}::int
    when not b.is_enabled then ${codeNumber('BrokerDisabled')}::int
    when ${securityType}::text <> all(b.traded_types) or ${currency}::text <> b.traded_currency
      then ${codeNumber('NotTradableAtBroker')}::int
    when excluded.setup_id is not null then ${codeNumber('Excluded')}::int
    when (select value = 'true' from platform_switch where name = 'noOpeningOrders')
      then ${codeNumber('MassSwitch')}::int
    when (a.person_id, a.kind = 0) in (${lapsedSubscribers(strategyId)})
      then ${codeNumber('SubscriptionEnded')}::int
    when member.account_id in (${withUnknownOutcome(instrumentId)}) then ${codeNumber('UnknownOutcomePending')}::int
    else 0 end`

interface ColumnTexts {
  count: number
  setupId: string | null
  accountId: string | null
  brokerId: string | null
  fence: string | null
  stopped: string | null
  scaling: string | null
  permissions: string | null
  minimum: string | null
  maximum: string | null
  dollars: string | null
  lot: string | null
  block: string | null
  position: string | null
  executed: string | null
  ahead: string | null
  closing: string | null
  entry: string | null
}

/** A column as one text with commas between; nothing where every row has the default. */
const listed = (column: string, name: keyof ColumnTexts, isDefault = false): Fragment => ({
  strings: [isDefault ? `null::text as "${name}"` : `string_agg(${column}::text, ',') as "${name}"`],
  values: [],
})

/** The setups `s` of the next `limit` followers behind `signal.afterSetupId`, fixed by the signal's horizon. */
const nextMembers = (signal: DueSignal, limit: number): Fragment => fragment`
  from setup s
  where s.strategy_id = ${signal.strategyId}::bigint and s.id > ${signal.afterSetupId}::bigint
    and s.joined_version <= ${signal.horizon}::bigint
    and (s.left_version is null or s.left_version > ${signal.horizon}::bigint)
  order by s.id limit ${limit}::int`

/**
 * What the next followers have of the signals that this one replaces, locked. It is locked before anything is read of
 * the followers: what brokers execute of it is booked on the order and on what is held at once, and is seen on both.
 */
export const lockPredecessors = async (
  tx: Transaction,
  signal: DueSignal,
  limit: number,
): Promise<CopyRow[]> =>
  signal.predecessors.length === 0
    ? []
    : lockLastCopies(tx, signal.predecessors, {
        after: signal.afterSetupId,
        upTo: fragment`(select max(id) from (select s.id ${nextMembers(signal, limit)}) member)`,
      })

/** Reads the next followers. */
export async function loadFollowers(
  tx: Transaction,
  signal: DueSignal,
  others: readonly LiveSignal[],
  limit: number,
): Promise<FollowerSlice> {
  const isStock = signal.securityType === 'CS'
  const isAlone = others.length === 0
  const texts = await tx.one<ColumnTexts>`
    select count(*)::int as count, ${listed('id', 'setupId')}, ${listed('account_id', 'accountId')},
      ${listed('broker_id', 'brokerId')}, ${listed('fence', 'fence')}, ${listed('stopped', 'stopped')},
      ${listed('scaling', 'scaling')}, ${listed('permissions', 'permissions')}, ${listed('block', 'block')},
      ${listed('minimum', 'minimum', isStock)}, ${listed('maximum', 'maximum', isStock)},
      ${listed('dollars', 'dollars', !isStock)}, ${listed('lot', 'lot', signal.securityType !== 'FOR')},
      ${listed('position', 'position')}, ${listed('executed', 'executed', isAlone)},
      ${listed('ahead', 'ahead', isAlone)}, ${listed('closing', 'closing', signal.positionEffect === 'O')},
      ${listed('entry', 'entry', signal.entryChain.length === 0)}
    from (
      select member.id, member.account_id, a.broker_id, member.fence, member.stopped::int as stopped, member.scaling,
        ${permissions} as permissions,
        member.minimum, member.maximum, member.dollars, member.lot, ${blockOf(signal)} as block,
        coalesce(trim_scale(p.quantity), 0) as position, coalesce(trim_scale(progress.executed), 0) as executed,
        coalesce(trim_scale(progress.ahead), 0) as ahead, coalesce(trim_scale(closing.leaves), 0) as closing,
        coalesce(trim_scale(entry.executed)::text, 'NaN') as entry
      from (
        select s.id, s.account_id, s.fence, s.stopped_at is not null as stopped, s.scaling_percentage as scaling,
          s.closing_orders_only as closing_only, ${settingsOf[signal.securityType]}
        ${nextMembers(signal, limit)}
      ) member
      join account a on a.id = member.account_id join broker b on b.id = a.broker_id
      left join account_position p on p.setup_id = member.id and p.instrument_id = ${signal.instrumentId}::bigint
      left join setup_exclusion excluded on excluded.setup_id = member.id
        and excluded.instrument_id = ${signal.instrumentId}::bigint and excluded.ended_at is null
      cross join lateral ${progressOf(others)} progress
      cross join lateral ${closingLeavesOf(signal)} closing
      cross join lateral ${entryExecutedOf(signal)} entry
      order by member.id
    ) follower`
  return sliceOf(texts)
}

function sliceOf(texts: ColumnTexts): FollowerSlice {
  const { count } = texts
  const wide = (text: string | null): Float64Array => readNumbers(text, new Float64Array(count))
  const whole = (text: string | null, usual = 0): Int32Array =>
    readNumbers(text, new Int32Array(count).fill(usual))
  return {
    setupIds: wide(texts.setupId),
    accountIds: wide(texts.accountId),
    brokerIds: whole(texts.brokerId),
    fences: wide(texts.fence),
    stopped: readNumbers(texts.stopped, new Uint8Array(count)),
    columns: {
      count,
      scalingPercentage: readNumbers(texts.scaling, new Uint16Array(count)),
      permissions: readNumbers(texts.permissions, new Uint8Array(count)),
      minimum: whole(texts.minimum, 0),
      maximum: whole(texts.maximum, noMaximum),
      maximumDollars: whole(texts.dollars, noMaximum),
      lot: whole(texts.lot, 1),
      block: readNumbers(texts.block, new Uint8Array(count)),
      position: wide(texts.position),
      executed: wide(texts.executed),
      filledAhead: wide(texts.ahead),
      closingLeaves: wide(texts.closing),
      entryExecuted: readNumbers(texts.entry, new Float64Array(count).fill(Number.NaN)),
    },
  }
}

const comma = 0x2c
const zero = 0x30
/** So many digits are exact in a double, however they are added up. */
const exactDigits = 15

/** Reads numbers with commas between them into a column; without a text the column stays as it is. */
function readNumbers<Column extends Record<number, number> & { readonly length: number }>(
  text: string | null,
  column: Column,
): Column {
  if (text === null) return column
  let at = 0
  for (let row = 0; row < column.length; row += 1) {
    const start = at
    let value = 0
    let isPlain = true
    // Most are whole and small: digit by digit takes a third of the time of a text for each.
    for (
      let letter = text.charCodeAt(at);
      at < text.length && letter !== comma;
      letter = text.charCodeAt(at)
    ) {
      if (letter < zero || letter > zero + 9) isPlain = false
      value = 10 * value + letter - zero
      at += 1
    }
    const isExact = isPlain && at - start <= exactDigits
    ;(column as Record<number, number>)[row] = isExact ? value : Number(text.slice(start, at))
    at += 1
  }
  return column
}
