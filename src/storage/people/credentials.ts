/** Passwords for brokers: written by whoever starts Autotrade, opened by nobody but what talks to the broker. */
import type { Instant } from '../../domain/time.ts'
import type { Database } from '../database/database.ts'
import type { Sql } from '../database/sql.ts'
import { type KeyRing, rewrapIfOpen, type Sealed, seal, unseal } from '../database/vault.ts'
import { instant } from '../database/wire.ts'

const placeOf = (accountId: number): string => `account_credential ${accountId} password`

/** What a broker must be told to sign in; an absent member stays what it was. */
export interface Credentials {
  readonly userName: string | undefined
  readonly password: string | undefined
}

/** Keeps an account's credentials. */
export async function saveCredentials(
  sql: Sql,
  ring: KeyRing,
  accountId: number,
  { userName, password }: Credentials,
  changedAt: Instant,
): Promise<void> {
  if (userName !== undefined)
    await sql.run`update account set broker_user_id = ${userName} where id = ${accountId}::bigint`
  if (password === undefined) return
  const { keyId, wrappedKey, sealed } = seal(ring, password, placeOf(accountId))
  await sql.run`
    insert into account_credential (account_id, key_id, wrapped_key, sealed, changed_at)
    values (${accountId}::bigint, ${keyId}, ${wrappedKey}, ${sealed}, ${instant(changedAt)}::timestamptz)
    on conflict (account_id) do update set key_id = excluded.key_id, wrapped_key = excluded.wrapped_key,
      sealed = excluded.sealed, changed_at = excluded.changed_at`
}

/** Which credentials an account still lacks for its broker. */
export async function missingCredentials(
  sql: Sql,
  accountId: number,
  given: Credentials,
): Promise<keyof Credentials | undefined> {
  const { needed, hasName, hasPassword } = await sql.one<
    Record<'needed' | 'hasName' | 'hasPassword', boolean>
  >`
    select b.needs_credentials as needed, a.broker_user_id is not null as "hasName", exists (
      select from account_credential c where c.account_id = a.id) as "hasPassword"
    from account a join broker b on b.id = a.broker_id where a.id = ${accountId}::bigint`
  if (!needed) return undefined
  if (given.userName === undefined && !hasName) return 'userName'
  return given.password === undefined && !hasPassword ? 'password' : undefined
}

interface CredentialRow extends Sealed {
  readonly accountId: number
}

/** An account and what its owner signs in with at its broker. */
export interface EntrustedAccount {
  readonly id: number
  readonly brokerId: number
  /** The broker's own number of the account. */
  readonly account: string
  readonly userName: string
  /** Differs after every change of the password. */
  readonly version: string
  /** The password. Throws when it was sealed for another row or by a key that the ring does not hold. */
  open(ring: KeyRing): string
}

/** Those of the accounts whose owners have entrusted both a user name and a password. */
export async function loadEntrusted(sql: Sql, accountIds: readonly number[]): Promise<EntrustedAccount[]> {
  const rows = await sql.rows<Omit<EntrustedAccount, 'open'> & Sealed>`
    select a.id, a.broker_id as "brokerId", a.account, a.broker_user_id as "userName", c.changed_at::text as version,
      c.key_id as "keyId", c.wrapped_key as "wrappedKey", c.sealed
    from account a join account_credential c on c.account_id = a.id
    where a.id = any(${accountIds}::bigint[]) and a.broker_user_id is not null
    order by a.id`
  return rows.map(({ keyId, wrappedKey, sealed, ...account }) => ({
    open: (ring) => {
      const plain = unseal(ring, { keyId, wrappedKey, sealed }, placeOf(account.id))
      const password = plain.toString()
      plain.fill(0)
      return password
    },
    ...account,
  }))
}

/**
 * Wraps every credential that opens by the ring's current key; may be broken off and run again. Answers how many moved.
 */
export async function rotateCredentials(db: Database, ring: KeyRing): Promise<number> {
  let moved = 0
  let after = 0
  for (;;) {
    const rows = await db.transaction(async (tx) => {
      const batch = await tx.rows<CredentialRow>`
        select account_id as "accountId", key_id as "keyId", wrapped_key as "wrappedKey", sealed
        from account_credential where key_id <> ${ring.current} and account_id > ${after}::bigint
        order by account_id limit 100 for update`
      const wrapped = batch.map((row) => ({ row, next: rewrapIfOpen(ring, row, placeOf(row.accountId)) }))
      for (const { row, next } of wrapped) {
        if (!next) continue
        await tx.run`
          update account_credential set key_id = ${next.keyId}, wrapped_key = ${next.wrappedKey}
          where account_id = ${row.accountId}::bigint`
      }
      return wrapped
    })
    const last = rows.at(-1)
    if (!last) return moved
    after = last.row.accountId
    moved += rows.filter(({ next }) => next).length
  }
}

/** How many are still wrapped by another key than the ring's current one, secrets of webhooks among them. */
export async function countOtherwiseWrapped(sql: Sql, ring: KeyRing): Promise<number> {
  const { count } = await sql.one<{ count: number }>`
    select (select count(*) from account_credential where key_id <> ${ring.current})
      + (select count(*) from webhook_secret where key_id <> ${ring.current}) as count`
  return count
}
