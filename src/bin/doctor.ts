/** What can be wrong around the platform and is not seen from inside a request. */
import type { Database } from '../storage/database.ts'
import { sinceAnyWorker } from '../storage/leases.ts'

export interface Finding {
  name: string
  ok: boolean
  says: string
}

/** Clocks of program and database may differ by this much, in milliseconds. */
const skewMaxMs = 1_000
/** A signal that was not mirrored for this long means that no worker runs. */
const waitMaxMs = 30_000

/** Looks at server, clocks, workers and incidents; `now` is this machine's time in epoch milliseconds. */
export async function examine(db: Database, now: number): Promise<Finding[]> {
  const facts = await db.read.one<{
    version: string
    checksums: string
    clock: number
    waiting: number
    unsent: number
    incidents: number
  }>`
    select current_setting('server_version') as version, current_setting('data_checksums') as checksums,
      clock_timestamp() as clock,
      (select count(*)::int from signal where mirror_due and working_at < to_timestamp(${now - waitMaxMs}::float8 / 1000)) as waiting,
      (select count(*)::int from account_order where pending_action is not null
        and posted_at < to_timestamp(${now - waitMaxMs}::float8 / 1000)) as unsent,
      (select count(*)::int from incident) as incidents`
  const worker = await sinceAnyWorker(db.read)
  const skewMs = Math.abs(facts.clock - now)
  return [
    { name: 'database', ok: true, says: `PostgreSQL ${facts.version}` },
    // Our own server does not start without them; another one is its operator's choice.
    {
      name: 'checksums',
      ok: true,
      says: facts.checksums === 'on' ? 'on' : 'off: damaged pages are not noticed',
    },
    { name: 'clock', ok: skewMs <= skewMaxMs, says: `differs from the database's by ${skewMs} ms` },
    // A platform at rest, between a restore and its start, needs none.
    { name: 'worker', ok: worker === 0 || facts.waiting + facts.unsent === 0, says: lastSeen(worker) },
    {
      name: 'mirroring',
      ok: facts.waiting === 0,
      says: `${facts.waiting} signals wait for longer than 30 s`,
    },
    {
      name: 'sending',
      ok: facts.unsent === 0,
      says: `${facts.unsent} account orders wait for longer than 30 s`,
    },
    { name: 'incidents', ok: facts.incidents === 0, says: `${facts.incidents} to look at` },
  ]
}

function lastSeen(seconds: number | null): string {
  if (seconds === null) return 'there never was one'
  return seconds === 0 ? 'at work' : `the last was at work ${Math.ceil(seconds)} s ago`
}
