/** The numbers of rows, where the database is older than what others have seen of it. */
import type { Instant } from '../../domain/time.ts'
import { ownTables } from '../database/own-tables.ts'
import type { Sql } from '../database/sql.ts'

/** More than are given between the making of a copy and its use. */
const leap = 100_000_000
/**
 * More than are given in a second, for every second since this moment: of two platforms that go on from one copy the
 * second is ahead of whatever the first has given.
 */
const leapPerSecond = 10_000
const leapsSince = Date.parse('2026-01-01T00:00:00Z')
/** The same for the messages of a FIX session, which engines may count in 32 bits. */
const messageLeap = 10_000_000

/**
 * Gives no number again that was given since a copy was made. They are known outside: a broker has orders under ids made of
 * them and would tell of an old one as of ours, and programs keep the ids of what is no more. The broker of a FIX session, too,
 * hangs up on a number that it has seen; one that is too high it takes for a gap, which is filled.
 */
export async function leapNumbers(sql: Sql, now: Instant): Promise<void> {
  const seconds = Math.max(0, Math.floor((now - leapsSince) / 1_000))
  const ahead = leap + leapPerSecond * seconds
  await sql.run`
    select setval(s.seqrelid, coalesce(pg_sequence_last_value(s.seqrelid), 0) + ${ahead}::bigint)
    from pg_sequence s
      join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = s.seqrelid
        and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')
      join pg_class c on c.oid = d.refobjid
    where c.relnamespace = current_schema()::regnamespace and c.relname = any(${ownTables}::text[])
      and s.seqtypid = 'bigint'::regtype`
  await sql.run`update fix_session set next_outbound = next_outbound + ${messageLeap}::bigint`
}
