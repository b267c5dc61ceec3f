/** Symbols that setups leave alone while their strategies hold them, and how that ends. */

import { directionOf, type Side } from '../../domain/codes.ts'
import type { Instant } from '../../domain/time.ts'
import { asked } from '../database/asked.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { DueSignal } from './followers.ts'

/** A symbol of a setup, by its instrument. */
export interface SetupSymbol {
  readonly setupId: number
  readonly instrumentId: number
}

/** The symbols as rows `named` of a setup and an instrument. */
export const namedSymbols = (symbols: readonly SetupSymbol[]): Fragment => fragment`
  unnest(${symbols.map(({ setupId }) => setupId)}::bigint[],
    ${symbols.map(({ instrumentId }) => instrumentId)}::bigint[]) named (setup_id, instrument_id)`

/** Leaves alone what the strategy holds now, symbol by symbol, because the follower chose not to join. */
export async function excludeHeldSymbols(sql: Sql, setupId: number, excludedAt: string): Promise<void> {
  await sql.run`
    insert into setup_exclusion (setup_id, instrument_id, sign, reason, excluded_at)
    select setup.id, position.instrument_id, sign(position.quantity), 'NotJoined', ${excludedAt}::timestamptz
    from setup join position on position.strategy_id = setup.strategy_id
    where setup.id = ${setupId}::bigint and position.quantity <> 0`
}

/** Whose exit it was: of the stop of the owner's, or of an order of his own. */
type ExclusionReason = 'AutoStopLoss' | 'Manual'

/** Symbols that are followed again; with a reason only those that were left alone for that one. */
export async function endExclusionsIn(
  tx: Transaction,
  symbols: readonly SetupSymbol[],
  now: Instant,
  reason: ExclusionReason | null = null,
): Promise<void> {
  if (symbols.length === 0) return
  await tx.run`
    update setup_exclusion x set ended_at = ${instant(now)}::timestamptz from ${namedSymbols(symbols)}
    where x.setup_id = named.setup_id and x.instrument_id = named.instrument_id and x.ended_at is null
      and ${asked`x.reason = ${reason}::text`}`
}

/** A symbol in which an exit has traded on this side. */
export interface ExitedSymbol extends SetupSymbol {
  readonly side: Side
}

/**
 * Leaves symbols alone while the strategy holds them on the side that the exit has left; where it is flat or has gone
 * over to the other side meanwhile there is nothing to leave.
 */
export async function insertExclusions(
  tx: Transaction,
  symbols: readonly ExitedSymbol[],
  reason: ExclusionReason,
  now: Instant,
): Promise<void> {
  if (symbols.length === 0) return
  await tx.run`
    insert into setup_exclusion (setup_id, instrument_id, sign, reason, excluded_at)
    select distinct named.setup_id, named.instrument_id, sign(p.quantity)::smallint, ${reason},
      ${instant(now)}::timestamptz
    from unnest(${symbols.map(({ setupId }) => setupId)}::bigint[],
      ${symbols.map(({ instrumentId }) => instrumentId)}::bigint[],
      ${symbols.map(({ side }) => -directionOf(side))}::int[]) named (setup_id, instrument_id, sign)
    join setup on setup.id = named.setup_id
    join position p on p.strategy_id = setup.strategy_id and p.instrument_id = named.instrument_id
      and sign(p.quantity) = named.sign
    where setup.stopped_at is null
    on conflict (setup_id, instrument_id) do update
      set sign = excluded.sign, reason = excluded.reason, excluded_at = excluded.excluded_at, ended_at = null
      where setup_exclusion.ended_at is not null`
}

/**
 * Symbols are followed again when the strategy is flat in them or on the other side, at each of the `positions`, or when
 * it was flat before this signal opened what it holds: other fills of the same moment may have hidden that. At the very
 * moment of an exclusion the signal's own followers alone had left the symbol alone before. Answers whose.
 */
export const endExclusions = (
  tx: Transaction,
  signal: DueSignal,
  positions: readonly string[],
  now: Instant,
): Promise<number[]> =>
  idsOf(tx.rows`
    update setup_exclusion x set ended_at = ${instant(now)}::timestamptz from setup
    where x.ended_at is null and setup.id = x.setup_id and setup.strategy_id = ${signal.strategyId}::bigint
      and x.instrument_id = ${signal.instrumentId}::bigint
      and (x.sign <> all(select sign(p) from unnest(${positions}::numeric[]) p)
        or exists (
          select from trade t where t.strategy_id = ${signal.strategyId}::bigint
            and t.instrument_id = ${signal.instrumentId}::bigint and t.closed_at is null
            and t.signal_id = ${signal.id}::bigint and (t.opened_at > x.excluded_at
              or t.opened_at = x.excluded_at and setup.joined_version <= ${signal.horizon}::bigint)))
    returning setup.id`)

/**
 * Locks the accounts whose exclusion of the signal's symbol ends with what the strategy now holds, while they hold the
 * other side of it; answers their setups. Who is at work there is waited for: no order is locked yet, nor an exclusion.
 */
export const lockOpposed = (
  tx: Transaction,
  { strategyId, instrumentId, position }: DueSignal,
): Promise<number[]> =>
  idsOf(tx.rows`
    select setup.id from setup_exclusion x join setup on setup.id = x.setup_id
    join account a on a.id = setup.account_id
    join account_position p on p.setup_id = setup.id and p.instrument_id = x.instrument_id
    where x.ended_at is null and setup.strategy_id = ${strategyId}::bigint and setup.stopped_at is null
      and x.instrument_id = ${instrumentId}::bigint and x.sign <> sign(${position}::numeric)
      and p.quantity <> 0 and sign(p.quantity) <> sign(${position}::numeric)
    order by a.id for no key update of a`)
