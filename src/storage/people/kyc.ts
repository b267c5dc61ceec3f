/** KYC: where a person stands, what is sealed about the person, and who has looked. */
import type { SiteKind, Tenancy } from '../../domain/people/access.ts'
import { asked } from '../database/asked.ts'
import { fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** Where a person stands; times are epoch milliseconds. */
export interface KycRow {
  id: number
  personId: number
  redirectedTimes: number
  createdAt: number
  startedAt: number | null
  finishedAt: number | null
  approvedAt: number | null
  score: number | bigint | null
}

const columns = fragment`
  id, person_id as "personId", redirected_times as "redirectedTimes", created_at as "createdAt",
  started_at as "startedAt", finished_at as "finishedAt", approved_at as "approvedAt", score`

/** Whom a call means: by the hash of a user token, by id, or by both. */
export interface KycSubject {
  tokenHash?: Uint8Array | undefined
  personId?: number | bigint | undefined
}

/** The person whom everything given names; nothing where token and id name two. */
export const findKyc = (sql: Sql, { tokenHash, personId }: KycSubject): Promise<KycRow | undefined> =>
  sql.maybe<KycRow>`
    select ${columns} from kyc
    where ${asked`token_hash = ${tokenHash}::bytea`}
      and ${asked`person_id = ${personId}::bigint`}
      and (${tokenHash}::bytea is not null or ${personId}::bigint is not null)`

/** As `findKyc`, locked for a change. Behind the person, whom a removal locks first; it ends the token. */
export async function lockKyc(sql: Sql, tokenHash: Uint8Array): Promise<KycRow | undefined> {
  await sql.run`
    select from person where id = (select person_id from kyc where token_hash = ${tokenHash}::bytea) for key share`
  return sql.maybe<KycRow>`select ${columns} from kyc where token_hash = ${tokenHash}::bytea for update`
}

/** Sends a person to KYC with a new token; the one before opens nothing any more. False where no such person lives. */
export const replaceToken = async (
  sql: Sql,
  { personId, tokenHash, now }: { personId: number; tokenHash: Uint8Array; now: number },
): Promise<boolean> =>
  (await sql.run`
    insert into kyc (person_id, token_hash, redirected_times, created_at)
    select id, ${tokenHash}::bytea, 1, ${instant(now)}::timestamptz from person
    where id = ${personId}::bigint and is_alive for key share
    on conflict (person_id) do update
      set token_hash = excluded.token_hash, redirected_times = kyc.redirected_times + 1`) > 0

export type KycStanding = Pick<KycRow, 'startedAt' | 'finishedAt' | 'approvedAt' | 'score'>

/** Writes how far the check of a person has come. */
export const updateKyc = (sql: Sql, id: number, standing: KycStanding): Promise<KycRow> =>
  sql.one<KycRow>`
    update kyc set started_at = ${instant(standing.startedAt)}::timestamptz,
      finished_at = ${instant(standing.finishedAt)}::timestamptz,
      approved_at = ${instant(standing.approvedAt)}::timestamptz, score = ${standing.score}::bigint
    where id = ${id}::bigint returning ${columns}`

export interface SealedInfo {
  sealedKey: Buffer
  fields: Buffer
  photo1: Buffer | null
  photo2: Buffer | null
}

/** Puts sealed data in the place of what was there, whose key is gone with it. */
export async function replaceInfo(sql: Sql, personId: number, info: SealedInfo, now: number): Promise<void> {
  await sql.run`delete from kyc_info where person_id = ${personId}::bigint`
  await sql.run`
    insert into kyc_info (person_id, sealed_key, fields, photo_1, photo_2, created_at)
    values (${personId}::bigint, ${info.sealedKey}::bytea, ${info.fields}::bytea, ${info.photo1}::bytea,
      ${info.photo2}::bytea, ${instant(now)}::timestamptz)`
}

export interface InfoRow extends SealedInfo {
  id: number
  siteKind: SiteKind
  siteId: number
  geoSite: string | null
  siteUrl: string | null
}

/** The sealed data of a person and the person's site. */
export const findInfo = (sql: Sql, personId: number): Promise<InfoRow | undefined> =>
  sql.maybe<InfoRow>`
    select i.id, i.sealed_key as "sealedKey", i.fields, i.photo_1 as "photo1", i.photo_2 as "photo2",
      site.kind as "siteKind", site.id as "siteId",
      case site.kind when 'geo' then site.code else region.code end as "geoSite",
      coalesce(site.support_site_url, 'https://' || site.domain) as "siteUrl"
    from kyc_info i join person p on p.id = i.person_id join site on site.id = p.site_id
    left join site region on region.id = site.parent_site_id
    where i.person_id = ${personId}::bigint`

/** A verified number becomes the person's own. */
export const verifyPhone = (sql: Sql, personId: number, phone: string): Promise<number> =>
  sql.run`
    update person set phone = ${phone}, is_phone_verified = true where id = ${personId}::bigint`

/** The tenancy of the person behind each user token, by the token's hash in hexadecimal. */
export async function findTokenTenancies(
  sql: Sql,
  hashes: readonly Uint8Array[],
): Promise<Map<string, Tenancy>> {
  const rows = await sql.rows<Tenancy & { hash: string }>`
    select encode(kyc.token_hash, 'hex') as hash, p.site_id as "siteId", site.parent_site_id as "parentSiteId"
    from kyc join person p on p.id = kyc.person_id join site on site.id = p.site_id
    where kyc.token_hash = any(${hashes}::bytea[])`
  return new Map(rows.map((row) => [row.hash, row]))
}
