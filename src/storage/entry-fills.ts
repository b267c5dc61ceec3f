/** What entries have filled in the accounts of followers. */
import { type Decimal, dec } from '../domain/decimal.ts'
import type { Transaction } from './sql.ts'

/** An entry of a strategy, for one of its setups. */
export interface EntryCopy {
  readonly setupId: number
  readonly signalId: number
}

export const entryKey = (setupId: number, signalId: number): string => `${setupId} ${signalId}`

/** How much the copies of these entries have executed, by `entryKey`; those without a copy are left out. */
export async function loadEntryFills(
  tx: Transaction,
  entries: readonly EntryCopy[],
): Promise<ReadonlyMap<string, Decimal>> {
  const rows = await tx.rows<EntryCopy & { readonly filled: string }>`
    select o.setup_id as "setupId", o.source_id as "signalId", max(o.cum_qty) as filled
    from (select distinct * from unnest(${entries.map(({ setupId }) => setupId)}::bigint[],
      ${entries.map(({ signalId }) => signalId)}::bigint[]) named (setup_id, signal_id)) named
    join account_order o on o.source_id = named.signal_id and o.setup_id = named.setup_id and o.source = 'S'
    group by o.setup_id, o.source_id`
  return new Map(rows.map(({ setupId, signalId, filled }) => [entryKey(setupId, signalId), dec(filled)]))
}
