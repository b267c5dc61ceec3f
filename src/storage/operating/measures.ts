/**
 * What only the rows know about how the platform is doing: whether work waits, whose outcome is unknown, what has been
 * given up. All of it is one statement of look-ups by index, of ages and counts alone: nothing in it names anybody.
 */
import { calendarNames, isOpen } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, join, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { isMirrorDue } from '../mirror/mirror-due.ts'
import { isUnconfirmed } from '../mirror/order-confirmations.ts'
import { dueSyncs } from '../mirror/sync-due.ts'
import { operatorsReason } from '../people/webhooks.ts'
import { sinceAnyWorkerSeconds } from '../work/leases.ts'
import { isArrival } from '../work/matching.ts'

export interface Measure {
  readonly name: string
  /** Of which kind; null where there is only one. */
  readonly kind: string | null
  /** Null where there is nothing to be measured yet. */
  readonly value: number | null
}

/** Takes all measures at the business time `now`. */
export const takeMeasures = (sql: Sql, now: Instant): Promise<Measure[]> =>
  sql.rows<Measure>`${join([...jobs(now), ...others(now), quoteAges(now)], ' union all ')}`

/**
 * Rows of a queue that are looked at, from its front, where what is stuck gathers; of every broker's own where each has
 * one. Behind so many that wait an older one may stand, whose age shows when it comes nearer.
 */
const lookedAt = 1_000

/**
 * Since when the longest waiting row of each kind of work has been due; a scalar query each, null where none waits. A
 * signal comes back to its queue all its life, so it waits since what last happened to it; a cancel of an account order
 * has no time of its own, and is left out. Orders to send are asked for by a range of one broker, which only the index of
 * those that wait has in this order: by another, all that do not wait would be read as well.
 */
const queues = (now: Instant): Record<string, Fragment> => {
  const at = fragment`${instant(now)}::timestamptz`
  const last = fragment`coalesce((select max(e.occurred_at) from signal_event e where e.signal_id = s.id), s.posted_at)`
  return {
    match: fragment`select min(since) from (select ${last} as since from signal s
      where s.id in (select id from signal where ${isArrival} order by id limit ${lookedAt}::int)) waiting`,
    mirror: fragment`select min(since) from (select ${last} as since from signal s
      where ${isMirrorDue(now)} order by s.id limit ${lookedAt}::int) waiting`,
    send: fragment`select min(since) from broker b
      cross join lateral (select greatest(o.posted_at, o.confirmed_at) as since from account_order o
        where o.broker_id between b.id and b.id and o.pending_action in ('new', 'replace') and not ${isUnconfirmed}
        order by o.broker_id, o.account_id, o.id limit ${lookedAt}::int) waiting
      where b.is_enabled`,
    // All that wait are read: an index by age would be paid for with every report.
    report: fragment`select min(occurred_at) from broker_report where applied_at is null`,
    confirm: fragment`select min(o.confirm_by) from account_order o where ${isUnconfirmed} and o.confirm_by <= ${at}`,
    chase: fragment`select min(chase_at) from account_order where chase_at <= ${at}`,
    closeStopped: fragment`select min(stopped_at) from setup
      where stopped_at is not null and not positions_left_open and closed_at is null`,
    sync: fragment`select d.due_at from ${dueSyncs(now)} order by d.due_at limit 1`,
    expire: fragment`select min(expires_at) from signal
      where expires_at <= ${at} and status in ${live}`,
    release: fragment`select min(parked_until) from signal where is_parked and parked_until <= ${at}`,
    corporateAction: fragment`select min(takes_effect_at) from corporate_action
      where booked_at is null and takes_effect_at <= ${at}`,
    contractEnd: fragment`select min(due_at) from instrument where due_at <= ${at}`,
    closeStrategyDay: fragment`select min(next_close_at) from strategy_record where next_close_at <= ${at}`,
    closeAccountDay: fragment`select min(next_close_at) from account_record where next_close_at <= ${at}`,
    turnTerm: fragment`select min(term_ends_at) from subscription where ended_at is null and term_ends_at <= ${at}`,
    charge: fragment`select min(next_try_at) from charge where status = 'due' and next_try_at <= ${at}`,
    paymentEvent: fragment`select min(occurred_at) from payment_event where applied_at is null`,
    expireApproval: fragment`select min(expires_at) from approval_request
      where status = 'PendingCustomer' and expires_at <= ${at}`,
    announce: fragment`select min(ended_at) from approval_request where ended_at is not null and announced_at is null`,
    webhook: fragment`select min(greatest(d.next_try_at, e.rests_until)) from webhook_delivery d
      join webhook_endpoint e on e.id = d.endpoint_id
      where d.next_try_at <= ${at} and (e.rests_until is null or e.rests_until <= ${at})`,
    mail: fragment`select min(next_try_at) from mail where next_try_at <= ${at}`,
    transmit: fragment`select min(executed_at) from transmission where transmitted_at is null`,
    paper: fragment`select least(
      (select min(accepted_at) from paper_order where needs_match and accepted_at <= ${at}),
      (select min(occurred_at) from (
        select occurred_at from paper_report where not is_delivered order by id limit ${lookedAt}::int) told))`,
  }
}

const jobs = (now: Instant): Fragment[] =>
  Object.entries(queues(now)).map(([job, since]) => row('job_age_seconds', age(now, since), job))

const others = (now: Instant): Fragment[] => [
  row('unknown_outcomes', fragment`select count(*) from account_order where unknown_at is not null`),
  row(
    'unknown_outcome_age_seconds',
    age(now, fragment`select min(unknown_at) from account_order where unknown_at is not null`),
  ),
  row(
    'webhook_age_seconds',
    age(now, fragment`select min(created_at) from webhook_delivery where next_try_at is not null`),
  ),
  row(
    'webhooks_given_up',
    fragment`select count(*) from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
      where d.delivered_at is null and d.next_try_at is null
        and e.disabled_reason is distinct from ${operatorsReason}`,
  ),
  row('mail_age_seconds', age(now, fragment`select created_at from mail order by id limit 1`)),
  row(
    'broker_differences',
    fragment`select count(*) from order_gap where confirmed_at is not null`,
    'orders',
  ),
  row(
    'broker_differences',
    fragment`select count(*) from position_gap where confirmed_at is not null and difference <> 0`,
    'positions',
  ),
  // None is ever taken away, so the number of the last one rises whenever there is one more.
  row('incidents_total', fragment`select coalesce(max(id), 0) from incident`),
  // Chained by the database's clock, which wrote the time of the entry as well.
  row(
    'audit_unchained_age_seconds',
    fragment`select coalesce(extract(epoch from clock_timestamp()
      - (select recorded_at from audit_entry where hash is null order by id limit 1)), 0)`,
  ),
  row(
    'clock_skew_seconds',
    fragment`select extract(epoch from clock_timestamp() - ${instant(now)}::timestamptz)`,
  ),
  row('worker_silence_seconds', fragment`select ${sinceAnyWorkerSeconds}`),
  ...['maintenance', 'noOpeningOrders'].map((name) =>
    row(
      'switch_on',
      fragment`select (exists (select from platform_switch where name = ${name} and value = 'true'))::int`,
      name,
    ),
  ),
]

/** What was quoted within it is of a feed that runs: longer than any market rests but over holidays. */
const feedDays = 4

/**
 * Since when nothing of an open market was quoted any more; an opening counts once its first quote is late. A contract
 * that has ended is quoted never again, and its feed has not stopped.
 */
const quoteAges = (now: Instant): Fragment => fragment`
  select 'quote_age_seconds', i.calendar, greatest(0, extract(epoch from ${instant(now)}::timestamptz - max(q.quoted_at)))::float8
  from quote q join instrument i on i.id = q.instrument_id
  where i.calendar = any(${calendarNames.filter((name) => isOpen(name, now))}::text[]) and i.ended_at is null
    and q.quoted_at > ${instant(now)}::timestamptz - ${feedDays} * interval '1 day'
  group by i.calendar`

const row = (name: string, value: Fragment, kind: string | null = null): Fragment =>
  fragment`select ${name}::text as name, ${kind}::text as kind, (${value})::float8 as value`

/** Whole and parts of seconds since then; 0 where nothing waits. */
const age = (now: Instant, since: Fragment): Fragment =>
  fragment`select coalesce(greatest(0, extract(epoch from ${instant(now)}::timestamptz - (${since}))), 0)`
