/** Confirmed e-mail addresses: a link holds a token, its hash is here, and who has the link has the address. */
import { dayLength } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** How long a link is good after its message was written. */
export const confirmationLifeMs = 7 * dayLength

export interface NewConfirmation {
  personId: number
  email: string
  tokenHash: Uint8Array
  createdAt: number
}

/** Keeps the hash of a sent token. */
export const insertConfirmation = (sql: Sql, confirmation: NewConfirmation): Promise<number> =>
  sql.run`
    insert into email_confirmation (person_id, email, token_hash, created_at, expires_at)
    values (${confirmation.personId}::bigint, ${confirmation.email}, ${confirmation.tokenHash}::bytea,
      ${instant(confirmation.createdAt)}::timestamptz, ${instant(confirmation.createdAt + confirmationLifeMs)}::timestamptz)`

/** Whether a link is good: it has not run out, or was used, and its person's address is the one that it was sent to. */
export const isGoodLink = async (sql: Sql, tokenHash: Uint8Array, now: number): Promise<boolean> =>
  (await sql.maybe`
    select person.id from email_confirmation link join person on person.id = link.person_id and person.email = link.email
    where token_hash = ${tokenHash}::bytea
      and (expires_at > ${instant(now)}::timestamptz or confirmed_at is not null)`) !== undefined

/**
 * Takes a link at its word: its person's address counts as confirmed from the first use on. A link that has run
 * out, or was sent to an address that the person has given up, changes nothing; false says so. The person is locked
 * first, as by a removal, which takes the person's links away.
 */
export async function confirmEmail(sql: Sql, tokenHash: Uint8Array, now: number): Promise<boolean> {
  const at = instant(now)
  const confirmed = await sql.maybe`
    with holder as materialized (
      select id from person
      where id = (select person_id from email_confirmation where token_hash = ${tokenHash}::bytea)
      for no key update
    ), link as (
      update email_confirmation set confirmed_at = coalesce(confirmed_at, ${at}::timestamptz)
      from holder where person_id = holder.id and token_hash = ${tokenHash}::bytea
        and (expires_at > ${at}::timestamptz or confirmed_at is not null)
      returning person_id, email
    )
    update person set email_validated_at = coalesce(email_validated_at, ${at}::timestamptz)
    from link where person.id = link.person_id and person.email = link.email
    returning person.id`
  return confirmed !== undefined
}
