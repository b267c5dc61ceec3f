/**
 * Access keys. A key is found by its keyed hash alone; the role and the site are its person's at the moment of
 * asking. Every change of a key is announced on the channel `keys`, so that processes forget what they cached.
 */
import type { Role, SiteKind } from '../../domain/people/access.ts'
import type { Sql, Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export const keyChannel = 'keys'

/** The person behind a key, with the times between which the key lives (epoch milliseconds). */
export interface KeyHolder {
  accessKeyId: number
  keyId: string
  personId: number
  role: Role
  siteId: number
  siteKind: SiteKind
  permissions: string[] | null
  limits: Record<string, number> | null
  expiresAt: number
}

/** The holder of the key with this hash; none when the key was revoked or its person is not alive. */
export const findKeyHolder = (sql: Sql, hash: Uint8Array): Promise<KeyHolder | undefined> =>
  sql.maybe<KeyHolder>`
    select k.id as "accessKeyId", k.key_id as "keyId", p.id as "personId", p.role, p.site_id as "siteId",
      s.kind as "siteKind", p.permissions, k.limits, k.expires_at as "expiresAt"
    from access_key k join person p on p.id = k.person_id join site s on s.id = p.site_id
    where k.secret_hash = ${hash} and k.deleted_at is null and p.is_alive`

/** Locks a living person and counts the keys that live at `now`; nothing when there is no such person. */
export async function lockHolder(
  tx: Transaction,
  personId: number,
  now: number,
): Promise<{ liveKeys: number } | undefined> {
  const person = await tx.maybe`select id from person where id = ${personId} and is_alive for update`
  if (person === undefined) return undefined
  return tx.one<{ liveKeys: number }>`
    select count(*)::int as "liveKeys" from access_key
    where person_id = ${personId} and deleted_at is null and expires_at > ${instant(now)}`
}

/** A living key as the operator sees it. */
export interface LivingKey {
  readonly keyId: string
  readonly comment: string
  readonly createdAt: number
  readonly expiresAt: number
}

/** The person's keys that live at `now`, oldest first. */
export const listLivingKeys = (sql: Sql, personId: number, now: number): Promise<LivingKey[]> =>
  sql.rows<LivingKey>`
    select key_id as "keyId", comment, created_at as "createdAt", expires_at as "expiresAt" from access_key
    where person_id = ${personId} and deleted_at is null and expires_at > ${instant(now)} order by id`

export interface NewKey {
  personId: number
  keyId: string
  hash: Uint8Array
  masked: string
  comment: string
  limits: Record<string, number> | undefined
  createdAt: number
  expiresAt: number
}

/** Answers the id of the row; the announcement comes with the commit. */
export async function insertKey(tx: Transaction, key: NewKey): Promise<number> {
  const { id } = await tx.one<{ id: number }>`
    insert into access_key (person_id, key_id, secret_hash, masked, comment, limits, created_at, expires_at)
    values (${key.personId}, ${key.keyId}, ${key.hash}, ${key.masked}, ${key.comment},
      ${key.limits === undefined ? null : JSON.stringify(key.limits)}::jsonb,
      ${instant(key.createdAt)}, ${instant(key.expiresAt)})
    returning id`
  await announce(tx, key.keyId)
  return id
}

/** Ends a key at `now`; false when there is none or it had ended before. */
export async function deleteKey(sql: Sql, keyId: string, now: number): Promise<boolean> {
  const changed = await sql.run`
    with ended as (
      update access_key set deleted_at = ${instant(now)} where key_id = ${keyId} and deleted_at is null returning key_id
    )
    select pg_notify(${keyChannel}, key_id) from ended`
  return changed > 0
}

const announce = (sql: Sql, keyId: string): Promise<number> =>
  sql.run`select pg_notify(${keyChannel}, ${keyId})`

/** A key as its holder sees it. */
export interface KeyRecord {
  id: number
  masked: string
  personId: number
  firstName: string
  lastName: string
  email: string
  role: string
  siteId: number
  siteKind: SiteKind
  siteCode: string
  /** Code of the region above a white-label site. */
  parentCode: string | null
  comment: string
  createdAt: number
  deletedAt: number | null
  expiresAt: number
}

/** A key with its person and sites; the key itself is not kept. */
export const findKeyRecord = (sql: Sql, accessKeyId: number): Promise<KeyRecord | undefined> =>
  sql.maybe<KeyRecord>`
    select k.id, k.masked, p.id as "personId", p.first_name as "firstName", p.last_name as "lastName", p.email,
      p.role, p.site_id as "siteId", s.kind as "siteKind", s.code as "siteCode", parent.code as "parentCode",
      k.comment, k.created_at as "createdAt", k.deleted_at as "deletedAt", k.expires_at as "expiresAt"
    from access_key k join person p on p.id = k.person_id join site s on s.id = p.site_id
    left join site parent on parent.id = s.parent_site_id
    where k.id = ${accessKeyId}::bigint`
