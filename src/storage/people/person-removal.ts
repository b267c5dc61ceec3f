/**
 * The end of a person. The row stays, because books, logs and lists name it; what opens doors in its name and what was
 * entrusted for its eyes alone is gone. Nothing that runs is cut off on the way: it is named, to be ended first.
 */

import type { Sql, Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { keyChannel } from './keys.ts'

/** What still runs in the person's name, in words; undefined where no such person lives. */
type Standing = readonly string[] | undefined

/** Ends a living person of whom nothing runs any more; answers what does, and then changes nothing. */
export async function removePerson(tx: Transaction, personId: number, now: number): Promise<Standing> {
  const person = await tx.maybe`
    select id from person where id = ${personId}::bigint and is_alive for update`
  if (!person) return undefined
  const running = await whatRuns(tx, personId)
  if (running.length > 0) return running
  await closeDoors(tx, personId, now)
  await forgetSecrets(tx, personId)
  // What is owed for a term that has begun is still asked for; no other one begins.
  await tx.run`
    update subscription set is_cancel_pending = true, next_plan_id = null
    where person_id = ${personId}::bigint and ended_at is null and term_ends_at is not null`
  return []
}

async function whatRuns(sql: Sql, personId: number): Promise<string[]> {
  const rows = await sql.rows<{ says: string }>`
    select 'strategy ' || id || ' is alive' as says from strategy
      where owner_person_id = ${personId}::bigint and is_alive
    union all
    select 'account ' || account.account || ' follows strategy ' || setup.strategy_id
      from setup join account on account.id = setup.account_id
      where account.person_id = ${personId}::bigint
        and (setup.stopped_at is null or setup.closed_at is null and not setup.positions_left_open)
    union all
    select 'account ' || account.account || ' asks to follow strategy ' || request.strategy_id
      from approval_request request join account on account.id = request.account_id
      where account.person_id = ${personId}::bigint and request.ended_at is null
    union all
    select 'strategy ' || strategy_id || ' is simulated' from subscription
      where person_id = ${personId}::bigint and kind = 'simulated' and ended_at is null
    order by says`
  return rows.map(({ says }) => says)
}

/** Keys end in every process within a second; nobody comes in by a password, a session or a mail any more. */
async function closeDoors(sql: Sql, personId: number, now: number): Promise<void> {
  await sql.run`
    update person set is_alive = false, password_hash = null where id = ${personId}::bigint`
  await sql.run`
    with ended as (
      update access_key set deleted_at = ${instant(now)}
      where person_id = ${personId}::bigint and deleted_at is null returning key_id
    )
    select pg_notify(${keyChannel}, key_id) from ended`
  await sql.run`delete from dashboard_session where person_id = ${personId}::bigint`
  await sql.run`
    delete from email_confirmation where person_id = ${personId}::bigint and confirmed_at is null`
}

/** What was sealed goes with its key, in backups too. */
async function forgetSecrets(sql: Sql, personId: number): Promise<void> {
  await sql.run`delete from kyc_info where person_id = ${personId}::bigint`
  await sql.run`update kyc set token_hash = null where person_id = ${personId}::bigint`
  await sql.run`
    delete from account_credential
    where account_id in (select id from account where person_id = ${personId}::bigint)`
}
