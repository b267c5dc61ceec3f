/** Setups whose older exits left a closing signal no room for its copy, or too little. */
import { directionOf } from '../../domain/codes.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, idsOf, type Transaction } from '../database/sql.ts'
import type { DueSignal } from './followers.ts'

/** What a copy says that closes all for which no older exit works. */
export const exitsCloseTheRest = 'other exits close the rest'

/** Skipped, or with a copy cut to the room that was left, unless its broker or its holder has ended that. */
const namedBy = ({ id, side, predecessors }: DueSignal): Fragment => fragment`
  select k.setup_id from account_skip k
  where k.signal_id = ${id}::bigint and k.code = 'NothingHeld' and sign(k.held_qty) = ${-directionOf(side)}::int
  union all
  select o.setup_id from account_order o
  where o.source_id = any(${[...predecessors, id]}::bigint[]) and o.source = 'S' and o.info = ${exitsCloseTheRest}
    and (o.status in ('2', '5') or o.status in ${live})`

/**
 * Those that still hold what the signal was to close, and where nobody else closes it in time: where AutoSync is off, and
 * where an order of the signal's own opens the other side now. From those who are named to what is asked of each, in this
 * order: of these the planner takes many for one, and would compare them with all who follow.
 */
const crowdedOutBy = (signal: DueSignal): Fragment => {
  const { id, strategyId, instrumentId, side, cumQty } = signal
  return fragment`
    from (select distinct setup_id from (${namedBy(signal)}) kept) named
    cross join lateral (select * from setup where id = named.setup_id offset 0) setup
    join account a on a.id = setup.account_id
    join account_position p on p.setup_id = setup.id and p.instrument_id = ${instrumentId}::bigint
    where setup.strategy_id = ${strategyId}::bigint and setup.stopped_at is null
      and sign(p.quantity) = ${-directionOf(side)}::int and not a.is_autotrade_disabled
      and (not a.is_sync_enabled or exists (
        select from signal c where c.parent_signal_id = ${id}::bigint and c.instrument_id = ${instrumentId}::bigint
          and c.position_effect = 'O' and c.working_at is not null))
      and not exists (
        select from account_order o where o.source = 'S' and o.source_id = ${id}::bigint and o.setup_id = setup.id
          and o.signal_filled_before >= ${cumQty}::numeric offset 0)`
}

/** Whether it closes, and has closed all that it was for. */
const hasClosed = ({ positionEffect, status }: DueSignal): boolean => positionEffect === 'C' && status === '2'

/** Whether the signal, planned for everybody, has closed what it is still to close in some setup. */
export const hasCrowdedOut = async (tx: Transaction, signal: DueSignal): Promise<boolean> =>
  hasClosed(signal) &&
  (await tx.one<{ found: boolean }>`select exists (select ${crowdedOutBy(signal)}) as found`).found

/** Locks the accounts of such setups and answers these. Who is at work there is waited for: no order is locked yet. */
export const lockCrowdedOut = async (tx: Transaction, signal: DueSignal): Promise<number[]> =>
  hasClosed(signal) && signal.mirroredAt !== null
    ? idsOf(tx.rows`select setup.id ${crowdedOutBy(signal)} order by a.id for no key update of a`)
    : []
