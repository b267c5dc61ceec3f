/**
 * Leases: jobs that only one process may do. Time is the database's own, so clocks of machines do not matter.
 * The fence rises with every change of holder; a write that checks it in its own transaction cannot be made
 * by a process that lost the lease without noticing.
 */
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'

export interface Lease {
  readonly name: string
  readonly holder: string
  readonly fence: number
}

/** How long one is given for, in milliseconds, where nothing says otherwise. */
export const usualLeaseMs = 10_000
/** The same for whoever asks a broker, of whom nothing may be heard for as long as the broker takes. */
export const askingLeaseMs = 30_000

/** The lease was lost: whoever holds it now does the work. */
export class LeaseLost extends Error {
  override name = 'LeaseLost'
}

/** Takes a lease that nobody holds for `milliseconds`; undefined while it is held, by this holder too. */
export async function claimLease(
  sql: Sql,
  name: string,
  holder: string,
  milliseconds: number,
): Promise<Lease | undefined> {
  const taken = await sql.maybe<{ fence: number }>`
    insert into lease (name, holder, fence, expires_at)
    values (${name}, ${holder}, 1, clock_timestamp() + ${milliseconds} * interval '1 millisecond')
    on conflict (name) do update
      set holder = excluded.holder, fence = lease.fence + 1, expires_at = excluded.expires_at
      where lease.expires_at <= clock_timestamp()
    returning fence`
  return taken && { name, holder, fence: taken.fence }
}

/** Holds a lease for `milliseconds` from now; false when it expired or went to another. */
export async function renewLease(sql: Sql, lease: Lease, milliseconds: number): Promise<boolean> {
  const renewed = await sql.run`
    update lease set expires_at = clock_timestamp() + ${milliseconds} * interval '1 millisecond'
    where name = ${lease.name} and fence = ${lease.fence} and expires_at > clock_timestamp()`
  return renewed === 1
}

/** Gives a lease back at once; without effect when it is lost already. */
export async function releaseLease(sql: Sql, lease: Lease): Promise<void> {
  await sql.run`
    update lease set expires_at = clock_timestamp() where name = ${lease.name} and fence = ${lease.fence}`
}

/** Ends the leases of all holders whose names begin so: they are known to be dead. Answers how many. */
export const endLeasesOf = (sql: Sql, beginning: string): Promise<number> => sql.run`
  update lease set expires_at = clock_timestamp()
  where starts_with(holder, ${beginning}) and expires_at > clock_timestamp()`

/**
 * Seconds since a worker was last at work, 0 while one is; null when none ever was. Every worker wants the lease of
 * each feed and the one that has it renews it every few seconds, so it is the heartbeat of all of them together. One
 * that lies further ahead than a lease lasts was given before the clock was set back, and says nothing.
 */
export const sinceAnyWorkerSeconds: Fragment = fragment`(
  select case when count(*) > 0 then greatest(0, extract(epoch from clock_timestamp() - max(expires_at))) end::float8
  from lease where name like 'feed:%' and expires_at <= clock_timestamp() + ${askingLeaseMs} * interval '1 millisecond')`

/** The same, asked for by itself. */
export const sinceAnyWorker = async (sql: Sql): Promise<number | null> =>
  (await sql.one<{ seconds: number | null }>`select ${sinceAnyWorkerSeconds} as seconds`).seconds

/** Keeps a lease from changing hands until the transaction ends. Throws `LeaseLost` when it is not held. */
export async function guardLease(tx: Transaction, lease: Lease): Promise<void> {
  const held = await tx.maybe`
    select from lease
    where name = ${lease.name} and fence = ${lease.fence} and expires_at > clock_timestamp() for share`
  if (!held) throw new LeaseLost(`lease ${lease.name} is lost`)
}
