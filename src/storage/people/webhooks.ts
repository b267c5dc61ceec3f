/**
 * Where sites want to be told, and the secrets that sign what they are told. An endpoint has at most two: the one
 * before stays good until the next rotation, so that a receiver has time to change.
 */
import { randomBytes, randomUUID } from 'node:crypto'
import type { WebhookEvent } from '../../domain/people/webhook.ts'
import type { Instant } from '../../domain/time.ts'
import type { Sql, Transaction } from '../database/sql.ts'
import { type KeyRing, rewrapIfOpen, type Sealed, seal, unseal } from '../database/vault.ts'
import { instant } from '../database/wire.ts'

export interface NewWebhook {
  readonly siteId: number
  readonly url: string
  readonly events: readonly WebhookEvent[]
}

export interface WebhookRow extends NewWebhook {
  readonly id: number
  readonly disabledReason: string | null
}

const placeOf = (secretId: string): string => `webhook_secret ${secretId} sealed`
const secretBytes = 32

/** The endpoint by which a site is told at this address; until the transaction ends nobody else adds one to the site. */
export async function findLivingWebhook(
  tx: Transaction,
  { siteId, url }: Pick<NewWebhook, 'siteId' | 'url'>,
): Promise<number | undefined> {
  await tx.run`select from site where id = ${siteId}::bigint for update`
  const row = await tx.maybe<{ id: number }>`
    select id from webhook_endpoint
    where site_id = ${siteId}::bigint and url = ${url} and disabled_at is null order by id limit 1`
  return row?.id
}

/** Adds an endpoint; answers its id and its secret, which is not shown again. */
export async function insertWebhook(
  tx: Transaction,
  ring: KeyRing,
  { siteId, url, events }: NewWebhook,
  now: Instant,
): Promise<{ id: number; secret: string }> {
  const { id } = await tx.one<{ id: number }>`
    insert into webhook_endpoint (site_id, url, event_types, created_at)
    values (${siteId}::bigint, ${url}, ${events}::text[], ${instant(now)}::timestamptz) returning id`
  return { id, secret: await insertSecret(tx, ring, id, now) }
}

async function insertSecret(
  tx: Transaction,
  ring: KeyRing,
  endpointId: number,
  now: Instant,
): Promise<string> {
  const secret = `whsec_${randomBytes(secretBytes).toString('base64')}`
  const secretId = randomUUID()
  const { keyId, wrappedKey, sealed } = seal(ring, secret, placeOf(secretId))
  await tx.run`
    insert into webhook_secret (id, endpoint_id, key_id, wrapped_key, sealed, created_at)
    values (${secretId}::uuid, ${endpointId}::bigint, ${keyId}, ${wrappedKey}, ${sealed},
      ${instant(now)}::timestamptz)`
  return secret
}

/** Gives an endpoint a new secret beside its present one; undefined when there is no such endpoint. */
export async function rotateWebhook(
  tx: Transaction,
  ring: KeyRing,
  id: number,
  now: Instant,
): Promise<string | undefined> {
  if ((await tx.run`select from webhook_endpoint where id = ${id}::bigint for update`) === 0) return undefined
  await tx.run`
    delete from webhook_secret where endpoint_id = ${id}::bigint and id <> (
      select id from webhook_secret where endpoint_id = ${id}::bigint order by created_at desc, id limit 1)`
  return insertSecret(tx, ring, id, now)
}

interface SecretRow extends Sealed {
  readonly id: string
}

/** The living secrets of an endpoint, the newest first. */
export async function openWebhookSecrets(sql: Sql, ring: KeyRing, endpointId: number): Promise<string[]> {
  const rows = await sql.rows<SecretRow>`
    select id, key_id as "keyId", wrapped_key as "wrappedKey", sealed from webhook_secret
    where endpoint_id = ${endpointId}::bigint order by created_at desc, id`
  return rows.map((row) => unseal(ring, row, placeOf(row.id)).toString())
}

/** Wraps every secret that opens by the ring's current key; answers how many moved. */
export async function rewrapWebhookSecrets(tx: Transaction, ring: KeyRing): Promise<number> {
  const rows = await tx.rows<SecretRow>`
    select id, key_id as "keyId", wrapped_key as "wrappedKey", sealed from webhook_secret
    where key_id <> ${ring.current} order by id for update`
  let moved = 0
  for (const row of rows) {
    const next = rewrapIfOpen(ring, row, placeOf(row.id))
    if (!next) continue
    moved += await tx.run`
      update webhook_secret set key_id = ${next.keyId}, wrapped_key = ${next.wrappedKey} where id = ${row.id}::uuid`
  }
  return moved
}

/** All endpoints by id. */
export const listWebhooks = (sql: Sql): Promise<WebhookRow[]> =>
  sql.rows<WebhookRow>`
    select id, site_id as "siteId", url, event_types as events, disabled_reason as "disabledReason"
    from webhook_endpoint order by id`

/** Why an endpoint is disabled whose operator wants it so. */
export const operatorsReason = 'the operator has disabled it'

/** Ends an endpoint for a reason: nothing is sent any more. False when there is none that lives. */
export async function disableWebhook(sql: Sql, id: number, reason: string, now: Instant): Promise<boolean> {
  const disabled = await sql.run`
    update webhook_endpoint set disabled_at = ${instant(now)}::timestamptz, disabled_reason = ${reason}
    where id = ${id}::bigint and disabled_at is null`
  await sql.run`
    update webhook_delivery set next_try_at = null
    where endpoint_id = ${id}::bigint and next_try_at is not null
      and exists (select from webhook_endpoint e where e.id = ${id}::bigint and e.disabled_at is not null)`
  return disabled > 0
}

/** Lets an endpoint live again and sends what it has missed. False when there is no disabled one. */
export async function enableWebhook(tx: Transaction, id: number, now: Instant): Promise<boolean> {
  const enabled = await tx.run`
    update webhook_endpoint set disabled_at = null, disabled_reason = null, failures = 0, rests_until = null
    where id = ${id}::bigint and disabled_at is not null`
  if (enabled === 0) return false
  await tx.run`
    update webhook_delivery set attempts = 0, next_try_at = ${instant(now)}::timestamptz
    where endpoint_id = ${id}::bigint and delivered_at is null`
  return true
}
