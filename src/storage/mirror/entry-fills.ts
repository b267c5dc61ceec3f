/** What entries have filled in the accounts of followers. */
import { type Decimal, dec } from '../../domain/decimal.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'

/** An entry of a strategy, for one of its setups. */
export interface EntryCopy {
  readonly setupId: number
  readonly signalId: number
}

/** The name of an entry among those of all setups. */
export const entryKey = (setupId: number, signalId: number): string => `${setupId} ${signalId}`

/** What a setup's copies of an entry have executed; null where it has none. Both are columns or values. */
export const executedOf = (entryId: Fragment, setupId: Fragment): Fragment => fragment`(
  select max(o.cum_qty) as executed from account_order o
  where o.source_id = ${entryId} and o.source = 'S' and o.setup_id = ${setupId})`

/** How much the copies of these entries have executed, by `entryKey`; those without a copy are left out. */
export async function loadEntryFills(
  tx: Transaction,
  entries: readonly EntryCopy[],
): Promise<ReadonlyMap<string, Decimal>> {
  const rows = await tx.rows<EntryCopy & { readonly filled: string | null }>`
    select setup_id as "setupId", signal_id as "signalId",
      ${executedOf(fragment`named.signal_id`, fragment`named.setup_id`)} as filled
    from unnest(${entries.map(({ setupId }) => setupId)}::bigint[],
      ${entries.map(({ signalId }) => signalId)}::bigint[]) named (setup_id, signal_id)`
  return new Map(
    rows.flatMap(({ setupId, signalId, filled }) =>
      filled === null ? [] : [[entryKey(setupId, signalId), dec(filled)] as const],
    ),
  )
}
