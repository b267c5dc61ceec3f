/**
 * What was held, claimed or put off by a clock that has been set back since would stay so for as long as the clock went
 * back, whoever held it. Here each is cut to what its kind takes at most, never to less: a holder that lives renews
 * as ever, and a call that is under way is not begun by another.
 */
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { sendClaimSeconds } from '../mirror/sending.ts'
import { mailClaimSeconds } from '../people/mail.ts'
import { webhookClaimSeconds } from '../people/webhook-deliveries.ts'
import { askingLeaseMs, usualLeaseMs } from '../work/leases.ts'

/**
 * True when a lease runs longer than any is given for, which only the clock can have done. Whoever sends, publishes or
 * asks brokers leaves a lease at least once a minute.
 */
export const isClockSetBack = (): Fragment =>
  fragment`exists (select from lease where expires_at > clock_timestamp() + ${askingLeaseMs} * interval '1 millisecond')`

/** What waits by the business clock: times that a copy, a cycle or a first try is put off by at most. */
interface Waits {
  readonly chaseMs: number
  readonly reconciliationMs: number
}

/** Cuts everything to its longest time from now; answers how many rows moved. */
export async function cutToLongest(tx: Transaction, now: Instant, waits: Waits): Promise<number> {
  const at = fragment`${instant(now)}::timestamptz`
  const chaseAt = fragment`${instant(now + waits.chaseMs)}::timestamptz`
  const askAt = fragment`${instant(now + waits.reconciliationMs)}::timestamptz`
  const moved = await Promise.all([
    // No later one would count until its time is reached, and orders would fill at this one meanwhile.
    tx.run`update quote set quoted_at = ${at}
      from (select instrument_id as id from quote where quoted_at > ${at} order by 1 for no key update) ahead
      where quote.instrument_id = ahead.id`,
    tx.run`update lease set expires_at = clock_timestamp()
        + case when name like 'reconcile:%' then ${askingLeaseMs}::int else ${usualLeaseMs}::int end
          * interval '1 millisecond'
      where expires_at > clock_timestamp() + ${askingLeaseMs} * interval '1 millisecond'`,
    tx.run`update account_order set claimed_until = clock_timestamp() + ${sendClaimSeconds} * interval '1 second'
      where pending_action is not null and claimed_until > clock_timestamp() + interval '30 seconds'`,
    tx.run`update mail set claimed_until = clock_timestamp() + ${mailClaimSeconds} * interval '1 second'
      where claimed_until > clock_timestamp() + ${mailClaimSeconds} * interval '1 second'`,
    tx.run`update webhook_delivery set claimed_until = clock_timestamp() + ${webhookClaimSeconds} * interval '1 second'
      where next_try_at is not null
        and claimed_until > clock_timestamp() + ${webhookClaimSeconds} * interval '1 second'`,
    tx.run`update charge set claimed_until = clock_timestamp() + interval '1 hour'
      where status = 'due' and claimed_until > clock_timestamp() + interval '1 hour'`,
    tx.run`update account_order set chase_at = ${chaseAt} where chase_at > ${chaseAt}`,
    tx.run`update reconciliation set due_at = ${askAt} where due_at > ${askAt}`,
    tx.run`update reconciliation set answered_at = ${at} where answered_at > ${at}`,
    // Begun anew by the clock that ran ahead, it would be left out of the daily start that the broker keeps.
    tx.run`update fix_session set started_at = ${at} where started_at > ${at}`,
    // Looking once too often does no harm.
    tx.run`update sync_due set due_at = ${at} where due_at > ${at}`,
    tx.run`update variant set look_at = ${at} where look_at > ${at}`,
    tx.run`update mail set next_try_at = ${at} where attempts = 0 and next_try_at > ${at}`,
    tx.run`update webhook_delivery set next_try_at = ${at} where attempts = 0 and next_try_at > ${at}`,
  ])
  return moved.reduce((total, count) => total + count, 0)
}
