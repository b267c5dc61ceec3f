/** What ends AutoSync, or Autotrade, in an account without its holder's wish. */
import type { ExternalReason } from '../../domain/positions/external-activity.ts'
import type { Instant } from '../../domain/time.ts'
import { fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { insertSyncMail } from '../people/mail.ts'
import { cancelOrders } from './account-orders.ts'

/** Switches AutoSync off in accounts where somebody else has traded, and tells their holders. */
export async function disableSync(
  tx: Transaction,
  accountIds: readonly number[],
  reason: ExternalReason,
  now: Instant,
): Promise<void> {
  if (accountIds.length === 0) return
  await tx.run`
    update account set is_sync_enabled = false, sync_disabled_reason = ${reason},
      settings_changed_at = ${instant(now)}::timestamptz
    where id = any(${accountIds}::bigint[])`
  await insertSyncMail(tx, accountIds, reason, now)
}

/**
 * Ends Autotrade in accounts, with the reason; one that has ended before keeps its own. What their brokers have not seen
 * ends, what would open is withdrawn.
 */
export async function disableAutotrade(
  tx: Transaction,
  reasons: ReadonlyMap<number, string>,
  now: Instant,
): Promise<void> {
  if (reasons.size === 0) return
  const ids = [...reasons.keys()]
  await tx.run`
    update account a set is_autotrade_disabled = true, autotrade_disabled_reason = r.reason,
      settings_changed_at = ${instant(now)}::timestamptz
    from unnest(${ids}::bigint[], ${[...reasons.values()]}::text[]) r (id, reason)
    where a.id = r.id and not a.is_autotrade_disabled`
  const which = fragment`o.account_id = any(${ids}::bigint[]) and (o.attempts = 0 or o.position_effect = 'O')`
  await cancelOrders(tx, which, { at: now, info: 'autotrade disabled' })
}
