/**
 * The audit log's writing side. Changed rows become entries by triggers, in the transaction that changes them;
 * who acts is a setting of that transaction, or of all connections of a process. What is no change of such a row
 * (an order, a look at personal data) is entered here, by the same words.
 */
import { asked } from './asked.ts'
import type { Sql } from './sql.ts'
import { instant } from './wire.ts'

/** Who acts, and on whose chain. */
export interface Acting {
  readonly actor: 'person' | 'operator' | 'worker'
  /** The id of a person, the account of an operator on his machine, the name of a worker. */
  readonly who: string
  /** The site of a person; absent: the installation's own chain. */
  readonly chain?: number
  readonly keyId?: string
  readonly operation?: string
  readonly requestId?: string
  /** Business time in epoch milliseconds; absent: when it is entered. */
  readonly at?: number
}

/** The value of the setting `lockstep.acting`. */
export const actingText = ({ at, ...acting }: Acting): string =>
  JSON.stringify({ ...acting, ...(at !== undefined && { at: instant(at) }) })

/** Until the end of the transaction, rows are changed in this name. */
export const actAs = (tx: Sql, acting: Acting): Promise<number> =>
  tx.run`select set_config('lockstep.acting', ${actingText(acting)}, true)`

export interface AuditNote extends Acting {
  readonly operation: string
  /** What it was about, as the word of a table and an id. */
  readonly object: string
  /** Facts without secrets and without personal data. */
  readonly after?: unknown
}

/** Enters what no changed row tells. */
export async function insertAuditNotes(sql: Sql, notes: readonly AuditNote[]): Promise<void> {
  if (notes.length === 0) return
  const rows = notes.map(({ at, ...note }) => ({
    chain: 0,
    ...note,
    ...(at !== undefined && { at: instant(at) }),
  }))
  await sql.run`
    insert into audit_entry (chain, occurred_at, actor, who, key_id, operation, object, request_id, after)
    select chain, coalesce(at, clock_timestamp()), actor, who, "keyId", operation, object, "requestId", after
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) note (chain bigint, at timestamptz,
      actor text, who text, "keyId" text, operation text, object text, "requestId" text, after jsonb)`
}

export interface AuditEntry {
  readonly id: number
  readonly chain: number
  readonly seq: number | null
  readonly occurredAt: number
  readonly actor: string
  readonly who: string | null
  readonly keyId: string | null
  readonly operation: string
  readonly object: string
  readonly requestId: string | null
  readonly before: unknown
  readonly after: unknown
}

/** The latest entries, the newest first, of one object or of all. */
export const listAuditEntries = (
  sql: Sql,
  wanted: { readonly limit: number; readonly object?: string | undefined },
): Promise<AuditEntry[]> =>
  sql.rows<AuditEntry>`
    select id, chain, seq, occurred_at as "occurredAt", actor, who, key_id as "keyId", operation, object,
      request_id as "requestId", before, after
    from audit_entry where ${asked`object = ${wanted.object}::text`}
    order by id desc limit ${wanted.limit}::int`
