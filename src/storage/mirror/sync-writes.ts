/** What a cycle of AutoSync writes beside orders: permissions that are used up, what is no longer wanted. */

import { type SyncGroup, syncGroups } from '../../domain/mirror/sync-groups.ts'
import type { OrderSource } from '../../domain/orders/client-order-id.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, identifier, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { cancelOrders } from './account-orders.ts'
import { namedSymbols, type SetupSymbol } from './exclusions.ts'

/** A group's pass in a setup is complete. */
export interface CompletedPass {
  readonly setupId: number
  readonly group: SyncGroup
}

/** Takes the permissions to open back and notes when. */
export async function savePasses(
  tx: Transaction,
  passes: readonly CompletedPass[],
  now: Instant,
): Promise<void> {
  for (const group of syncGroups) {
    const ids = passes.filter((pass) => pass.group === group).map(({ setupId }) => setupId)
    if (ids.length === 0) continue
    await tx.run`
      update setup set ${identifier(`will_sync_${group}`)} = false,
        ${identifier(`last_sync_${group}`)} = ${instant(now)}::timestamptz
      where id = any(${ids}::bigint[])`
  }
}

/** Withdraws what would still close in symbols out of which a stop has taken an account; its own orders are none of it. */
export const cancelClosings = (
  tx: Transaction,
  symbols: readonly SetupSymbol[],
  at: Instant,
): Promise<void> =>
  cancelIn(tx, symbols, fragment`o.position_effect = 'C' and o.source <> 'L'`, { at, info: 'stopped out' })

/** Withdraws what would open in those of the symbols that are left alone. */
export const cancelExcluded = (
  tx: Transaction,
  symbols: readonly SetupSymbol[],
  at: Instant,
): Promise<void> => {
  const opens = fragment`o.position_effect = 'O' and exists (
    select from setup_exclusion x where x.setup_id = o.setup_id and x.instrument_id = o.instrument_id
      and x.ended_at is null)`
  return cancelIn(tx, symbols, opens, { at, info: 'symbol left alone' })
}

async function cancelIn(
  tx: Transaction,
  symbols: readonly SetupSymbol[],
  which: Fragment,
  end: Parameters<typeof cancelOrders>[2],
): Promise<void> {
  if (symbols.length === 0) return
  const named = fragment`select setup_id, instrument_id from ${namedSymbols(symbols)}`
  await cancelOrders(tx, fragment`(o.setup_id, o.instrument_id) in (${named}) and ${which}`, end)
}

/** What the orders of one kind and one setup have in common, revision after revision. */
export interface RevisedOrder {
  readonly setupId: number
  readonly sourceId: number
}

/** The revision that the next of these orders has; of any other the first. */
export type RevisionOf = (order: RevisedOrder) => number

/** Looks up the revisions of what follows these orders. */
export async function nextRevisions(
  tx: Transaction,
  source: OrderSource,
  orders: readonly RevisedOrder[],
): Promise<RevisionOf> {
  if (orders.length === 0) return () => 0
  const rows = await tx.rows<RevisedOrder & { next: number }>`
    select named.setup_id as "setupId", named.source_id as "sourceId", coalesce((
        select max(o.revision) + 1 from account_order o
        where o.source_id = named.source_id and o.setup_id = named.setup_id and o.source = ${source}
      ), 0) as next
    from unnest(${orders.map(({ setupId }) => setupId)}::bigint[],
      ${orders.map(({ sourceId }) => sourceId)}::bigint[]) named (setup_id, source_id)`
  const nameOf = ({ setupId, sourceId }: RevisedOrder): string => `${setupId} ${sourceId}`
  const revisions = new Map(rows.map((row) => [nameOf(row), row.next]))
  return (order) => revisions.get(nameOf(order)) ?? 0
}
