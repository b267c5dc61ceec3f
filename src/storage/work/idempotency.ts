/**
 * Remembered answers. A request with an idempotency key claims its row before it acts and stores its answer in
 * the same transaction, so a twin either waits for the commit and reads the answer, or acts itself because
 * nothing was committed. Rows are claimed in the order of their key, so batches cannot block each other.
 */
import { dayLength } from '../../domain/time.ts'
import { hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** How long an answer is remembered, in business time. */
const rememberedMs = dayLength

export interface Claim {
  accessKeyId: number
  idempotencyKey: string
  operation: string
  fingerprint: Uint8Array
}

export interface StoredAnswer {
  accessKeyId: number
  idempotencyKey: string
  status: number
  answer: string
  headers: Record<string, string> | null
}

/** A row that somebody else claimed before; without a status it was left without an answer. */
export interface KnownAnswer {
  accessKeyId: number
  idempotencyKey: string
  operation: string
  fingerprint: Uint8Array
  status: number | null
  answer: string | null
  headers: Record<string, string> | null
}

type RowKey = Pick<Claim, 'accessKeyId' | 'idempotencyKey'>

/**
 * Claims rows at a business time; what is older than a day counts as forgotten. Waits for transactions that
 * hold one of them. Gives the claimed ones; the others are known.
 */
export const claimKeys = (tx: Transaction, claims: readonly Claim[], now: number): Promise<RowKey[]> =>
  tx.rows<RowKey>`
    insert into idempotency as i (access_key_id, idempotency_key, operation, fingerprint, created_at)
    select access_key_id, idempotency_key, operation, fingerprint, ${instant(now)}
    from unnest(${claims.map((claim) => claim.accessKeyId)}::bigint[],
      ${claims.map((claim) => claim.idempotencyKey)}::text[], ${claims.map((claim) => claim.operation)}::text[],
      ${claims.map((claim) => claim.fingerprint)}::bytea[])
      as c (access_key_id, idempotency_key, operation, fingerprint)
    order by access_key_id, idempotency_key collate "C"
    on conflict (access_key_id, idempotency_key) do update set operation = excluded.operation,
      fingerprint = excluded.fingerprint, created_at = excluded.created_at, status = null, answer = null,
      headers = null
      where i.created_at <= ${instant(now - rememberedMs)}
    returning access_key_id as "accessKeyId", idempotency_key as "idempotencyKey"`

/** What is remembered under these keys. */
export const listAnswers = (tx: Transaction, keys: readonly RowKey[]): Promise<KnownAnswer[]> =>
  tx.rows<KnownAnswer>`
    select access_key_id as "accessKeyId", idempotency_key as "idempotencyKey", operation, fingerprint, status,
      answer, headers
    from idempotency
    where (access_key_id, idempotency_key) in (
      select * from unnest(${keys.map((key) => key.accessKeyId)}::bigint[],
        ${keys.map((key) => key.idempotencyKey)}::text[]))`

/** Stores the answers of rows that this transaction has claimed. */
export const storeAnswers = (tx: Transaction, answers: readonly StoredAnswer[]): Promise<number> =>
  tx.run`
    update idempotency i set status = a.status, answer = a.answer, headers = a.headers::jsonb
    from unnest(${answers.map((one) => one.accessKeyId)}::bigint[],
      ${answers.map((one) => one.idempotencyKey)}::text[], ${answers.map((one) => one.status)}::smallint[],
      ${answers.map((one) => one.answer)}::text[],
      ${answers.map((one) => (one.headers === null ? null : JSON.stringify(one.headers)))}::text[])
      as a (access_key_id, idempotency_key, status, answer, headers)
    where i.access_key_id = a.access_key_id and i.idempotency_key = a.idempotency_key`

/** Gives claimed rows back: their request is to be tried anew. */
export const releaseKeys = (tx: Transaction, keys: readonly RowKey[]): Promise<number> =>
  tx.run`
    delete from idempotency where (access_key_id, idempotency_key) in (
      select * from unnest(${keys.map((key) => key.accessKeyId)}::bigint[],
        ${keys.map((key) => key.idempotencyKey)}::text[]))`

/** Deletes what is forgotten at a business time, at most so many; one that is being claimed anew stays. */
export const purgeAnswers = (sql: Sql, now: number, count: number): Promise<number> =>
  sql.run`
    delete from idempotency where ctid = any(array(
      select ctid from idempotency where ${hasCome(fragment`created_at`, now - rememberedMs)}
      limit ${count}::int for update skip locked))`

/** True while there are answers to delete at `now`; a condition for a larger statement. */
export const areAnswersOld = (now: number): Fragment =>
  fragment`exists (select from idempotency where ${hasCome(fragment`created_at`, now - rememberedMs)})`
