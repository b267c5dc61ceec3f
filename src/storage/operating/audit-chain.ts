/**
 * The audit log's chains. The hash of an entry covers all it says and the hash of the one before it in its chain,
 * so a changed, removed or moved entry is found by computing again; that the end is still there only a head kept
 * elsewhere can tell. Entries are chained after their commit, by one process at a time, in a transaction that
 * locks nothing that others need.
 */
import { createHash } from 'node:crypto'
import type { Database } from '../database/database.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'

/** Where a chain ends: the number and the hash of its last entry. */
export interface ChainHead {
  readonly chain: number
  readonly seq: number
  /** Hexadecimal. */
  readonly hash: string
}

/** An entry with everything as text, as it is hashed. */
interface EntryText {
  readonly id: number
  readonly chain: number
  readonly facts: string
}

const sealingLock = 0x4c4f434b41554449n
const sealedAtOnce = 5_000
const verifiedAtOnce = 5_000
const beforeAll = '00'.repeat(32)

/**
 * A JSON list of what an entry says, in the order of the columns: texts as they are, times in UTC to the
 * microsecond, before and after as the database writes jsonb, which sorts members and keeps numbers exact.
 */
const facts = fragment`jsonb_build_array(id, chain,
  to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
  to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'),
  actor, who, key_id, operation, object, request_id, before, after)::text as facts`

const linked = (previous: string, seq: number, { facts: text }: EntryText): string =>
  createHash('sha256').update(previous).update(`\n${seq}\n`).update(text).digest('hex')

/** Whether an entry has waited half a second for its place: those of a moment are chained together. */
export const areEntriesUnsealed = (): Fragment => fragment`
  exists (select from (select recorded_at from audit_entry where hash is null order by id limit 1) oldest
    where oldest.recorded_at < clock_timestamp() - interval '500 milliseconds')`

/** Chains what has been committed, the oldest first; answers how many entries, 0 also while another does it. */
export function sealEntries(db: Database): Promise<number> {
  return db.transaction(async (tx) => {
    const { mine } = await tx.one<{ mine: boolean }>`
      select pg_try_advisory_xact_lock(${sealingLock}::bigint) as mine`
    if (!mine) return 0
    const entries = await tx.rows<EntryText>`
      select id, chain, ${facts} from audit_entry where hash is null order by id limit ${sealedAtOnce}`
    if (entries.length > 0) await seal(tx, entries)
    return entries.length
  })
}

async function seal(tx: Transaction, entries: readonly EntryText[]): Promise<void> {
  const heads = new Map((await listChainHeads(tx)).map((head) => [head.chain, head]))
  const links = entries.map((entry) => {
    const { chain, id } = entry
    const last = heads.get(chain) ?? { chain, seq: 0, hash: beforeAll }
    const seq = last.seq + 1
    const head = { chain, seq, hash: linked(last.hash, seq, entry) }
    heads.set(chain, head)
    return { id, ...head }
  })
  const moved = [...new Set(links.map(({ chain }) => chain))].map((chain) => heads.get(chain) as ChainHead)
  await tx.run`
    update audit_entry e set seq = link.seq, hash = decode(link.hash, 'hex')
    from unnest(${links.map(({ id }) => id)}::bigint[], ${links.map(({ seq }) => seq)}::bigint[],
      ${links.map(({ hash }) => hash)}::text[]) link (id, seq, hash) where e.id = link.id`
  await tx.run`
    insert into audit_chain (chain, seq, hash)
    select chain, seq, decode(hash, 'hex') from unnest(${moved.map(({ chain }) => chain)}::bigint[],
      ${moved.map(({ seq }) => seq)}::bigint[], ${moved.map(({ hash }) => hash)}::text[]) head (chain, seq, hash)
    on conflict (chain) do update set seq = excluded.seq, hash = excluded.hash`
}

/** Where every chain ends now. */
export const listChainHeads = (sql: Sql): Promise<ChainHead[]> =>
  sql.rows<ChainHead>`select chain, seq, encode(hash, 'hex') as hash from audit_chain order by chain`

/** Those of some heads that their chains do not lead through any more: the log was cut off or written anew. */
export const lostHeads = (sql: Sql, heads: readonly ChainHead[]): Promise<ChainHead[]> =>
  sql.rows<ChainHead>`
    select chain, seq, hash from unnest(${heads.map(({ chain }) => chain)}::bigint[],
      ${heads.map(({ seq }) => seq)}::bigint[], ${heads.map(({ hash }) => hash)}::text[]) head (chain, seq, hash)
    where not exists (select from audit_entry e
      where e.chain = head.chain and e.seq = head.seq and e.hash = decode(head.hash, 'hex'))`

export interface ChainFinding {
  readonly chain: number
  readonly seq: number
  readonly kind: 'removed' | 'altered' | 'cutOff'
  readonly says: string
}

export interface ChainReport {
  /** Entries whose place was computed again. */
  readonly verified: number
  /** Entries that wait for their place. */
  readonly unsealed: number
  readonly findings: readonly ChainFinding[]
}

/**
 * Computes every chain again and holds it against where the database and the given heads say that it ends. Finds
 * each place where an entry is gone or is not what was chained there, and each end that is missing.
 */
export async function verifyChains(sql: Sql, heads: readonly ChainHead[]): Promise<ChainReport> {
  const findings: ChainFinding[] = []
  const chains = await sql.rows<{ chain: number }>`
    select chain from audit_entry where hash is not null union select chain from audit_chain order by 1`
  let verified = 0
  for (const { chain } of chains) verified += await verifyChain(sql, chain, findings)
  const ends = [...(await listChainHeads(sql)), ...heads]
  const lost = new Map((await lostHeads(sql, ends)).map((head) => [`${head.chain} ${head.seq}`, head]))
  for (const { chain, seq } of lost.values())
    findings.push({
      chain,
      seq,
      kind: 'cutOff',
      says: `chain ${chain} does not lead to entry ${seq} any more`,
    })
  const { unsealed } = await sql.one<{ unsealed: number }>`
    select count(*)::int as unsealed from audit_entry where hash is null`
  return { verified, unsealed, findings }
}

async function verifyChain(sql: Sql, chain: number, findings: ChainFinding[]): Promise<number> {
  let [seq, previous] = [0, beforeAll]
  for (let verified = 0; ; ) {
    const page = await sql.rows<EntryText & { seq: number; hash: string }>`
      select id, chain, seq, encode(hash, 'hex') as hash, ${facts} from audit_entry
      where chain = ${chain}::bigint and seq > ${seq}::bigint order by seq limit ${verifiedAtOnce}`
    for (const entry of page) {
      const isNext = entry.seq === seq + 1
      if (!isNext)
        findings.push({
          chain,
          seq: seq + 1,
          kind: 'removed',
          says: goneWords(chain, seq + 1, entry.seq - 1),
        })
      // What follows a gap is held against what stands there, so each fault is told once.
      else if (linked(previous, entry.seq, entry) !== entry.hash)
        findings.push({
          chain,
          seq: entry.seq,
          kind: 'altered',
          says: `entry ${entry.seq} of chain ${chain} (id ${entry.id}) is not what was chained there`,
        })
      seq = entry.seq
      previous = entry.hash
    }
    verified += page.length
    if (page.length < verifiedAtOnce) return verified
  }
}

const goneWords = (chain: number, from: number, to: number): string =>
  from === to
    ? `entry ${from} of chain ${chain} is gone`
    : `entries ${from} to ${to} of chain ${chain} are gone`
