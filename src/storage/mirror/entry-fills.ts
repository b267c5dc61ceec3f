/** Entries of strategies as their exits need them: their chains, what the exits leave of them, what followers filled. */
import { type Decimal, dec } from '../../domain/decimal.ts'
import { type Fragment, fragment, identifier, type Transaction } from '../database/sql.ts'
import { sinceSplits } from '../market/units-since-splits.ts'
import { executedToday, sinceEnd } from './ended-orders.ts'

/** What a signal says of its entry, if it is an exit. */
export interface EntryColumns {
  /** The entry and the orders that it replaced, the newest first; empty for any other signal. */
  readonly entryChain: readonly number[]
  /** What the exits leave of it, in the units of today: their owner made them smaller, or others have closed it. */
  readonly entryKept: string
}

/** A signal, a column or a value, and those that it replaced, the newest first; nothing for none. */
export const chainOf = (signalId: Fragment): Fragment => fragment`array(
  with recursive chain (id, replaces) as (
    select x.id, x.replaces_signal_id from signal x where x.id = ${signalId}
    union all select x.id, x.replaces_signal_id from chain join signal x on x.id = chain.replaces
  ) select id from chain)`

const since = (ended: 'e' | 'm'): Fragment =>
  sinceSplits(fragment`s.instrument_id`, fragment`${identifier(ended)}.ended_at`, fragment`true`)

/**
 * Of a group of exits that work for the same lots, the executions of all count; of orders that replaced each other the
 * last shows those of the chain. They are found by their entry: an index names that, none the group. Nobody keeps the
 * fraction that a split has made; what logarithms leave is none.
 */
const kept: Fragment = fragment`(
  select trunc(round(greatest(0, e.cum_qty * since.units - s.order_qty - coalesce((
      select sum(m.cum_qty * since.units) from signal m ${since('m')}
      where m.parent_signal_id = s.parent_signal_id and m.oca_group_id = s.oca_group_id and m.id <> s.id
        and m.status <> '5'), 0)), 8),
    case since.units when 1 then 8 else 0 end)
  from signal e ${since('e')} where e.id = s.parent_signal_id)`

/** The `EntryColumns` of a signal `s`. */
export const entryColumns: Fragment = fragment`
  case when s.exit_role is null then '{}' else ${chainOf(fragment`s.parent_signal_id`)} end as "entryChain",
  case when s.exit_role is null then 0 else ${kept} end as "entryKept"`

/** An entry of a strategy, for one of its setups. */
export interface EntryCopy {
  readonly setupId: number
  readonly signalId: number
}

/** The name of an entry among those of all setups. */
export const entryKey = (setupId: number, signalId: number): string => `${setupId} ${signalId}`

/**
 * What a setup's copies of an entry have executed, in the units of today; null where it has none. Chain and setup are
 * columns or values. Copies show what those before them executed.
 */
export const copiesExecuted = (entryChain: Fragment, setupId: Fragment): Fragment => fragment`(
  select max(${executedToday}) as executed from account_order o ${sinceEnd}
  where o.source_id = any(${entryChain}) and o.source = 'S' and o.setup_id = ${setupId})`

/** How much the copies of these entries have executed, by `entryKey`; those without a copy are left out. */
export async function loadEntryFills(
  tx: Transaction,
  entries: readonly EntryCopy[],
): Promise<ReadonlyMap<string, Decimal>> {
  const rows = await tx.rows<EntryCopy & { readonly filled: string | null }>`
    select setup_id as "setupId", signal_id as "signalId",
      ${copiesExecuted(chainOf(fragment`named.signal_id`), fragment`named.setup_id`)} as filled
    from unnest(${entries.map(({ setupId }) => setupId)}::bigint[],
      ${entries.map(({ signalId }) => signalId)}::bigint[]) named (setup_id, signal_id)`
  return new Map(
    rows.flatMap(({ setupId, signalId, filled }) =>
      filled === null ? [] : [[entryKey(setupId, signalId), dec(filled)] as const],
    ),
  )
}
