/**
 * What accounts trade for the strategies that they feed. It is noted with the execution and booked as a signal
 * afterwards, under the strategy's lock, in the order in which it was reported.
 */
import type { Side } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { isTradeLeader, lockAccount } from '../accounts/accounts.ts'
import { type Fragment, fragment, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'

/** An execution that no order of ours explains. */
export interface OwnTrade {
  readonly accountId: number
  readonly execId: string
  readonly instrumentId: number | null
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
  readonly executedAt: Instant
  /** The execution that this one takes back or corrects; null where it does neither. */
  readonly mends: string | null
}

/**
 * Notes the trades of accounts that feed a strategy and are approved for it; each once. What was traded before is none
 * of the strategy's, and neither is what becomes of it.
 */
export async function insertTransmissions(tx: Transaction, trades: readonly OwnTrade[]): Promise<void> {
  if (trades.length === 0) return
  const column = <K extends keyof OwnTrade>(name: K): OwnTrade[K][] => trades.map((trade) => trade[name])
  await tx.run`
    insert into transmission (strategy_id, account_id, exec_id, instrument_id, side, quantity, px, executed_at)
    select s.id, a.id, t.exec_id, t.instrument_id, t.side, t.quantity, t.px, t.executed_at
    from unnest(${column('accountId')}::bigint[], ${column('execId')}::text[], ${column('instrumentId')}::bigint[],
        ${column('side')}::text[], ${column('quantity')}::numeric[], ${column('px')}::numeric[],
        ${trades.map(({ executedAt }) => instant(executedAt))}::timestamptz[], ${column('mends')}::text[])
        with ordinality t (account_id, exec_id, instrument_id, side, quantity, px, executed_at, mends, place)
      join account a on a.id = t.account_id join strategy s on s.transmit_account_id = a.id
    where t.instrument_id is not null and ${isTradeLeader} and (t.mends is null or exists (
      select from transmission told
      where told.account_id = a.id and told.exec_id = t.mends and told.strategy_id = s.id))
    order by t.place
    on conflict do nothing`
}

/** Condition: something is on its way. */
export const isTransmissionDue = (): Fragment =>
  fragment`exists (select from transmission where transmitted_at is null)`

/** Strategies to which something is on its way. */
export const listFedStrategies = (sql: Sql, strategies: Among, count: number): Promise<number[]> =>
  idsOf(sql.rows`
    select distinct strategy_id as id from transmission
    where transmitted_at is null and ${isAmong(fragment`strategy_id`, strategies)}
    order by strategy_id limit ${count}::int`)

export interface TransmissionRow {
  readonly id: number
  readonly strategyId: number
  readonly execId: string
  readonly instrumentId: number
  readonly side: Side
  readonly quantity: Decimal
  readonly px: Decimal
}

/** What is on its way to strategies, in the order in which it was reported. The caller has locked them. */
export async function listTransmissions(
  sql: Sql,
  strategyIds: readonly number[],
  count: number,
): Promise<TransmissionRow[]> {
  const rows = await sql.rows<Omit<TransmissionRow, 'quantity' | 'px'> & { quantity: string; px: string }>`
    select id, strategy_id as "strategyId", exec_id as "execId", instrument_id as "instrumentId", side, quantity, px
    from transmission where transmitted_at is null and strategy_id = any(${strategyIds}::bigint[])
    order by id limit ${count}::int`
  return rows.map((row) => ({ ...row, quantity: dec(row.quantity), px: dec(row.px) }))
}

/** Notes that the trades have become signals, and what kind these are. */
export async function saveTransmitted(
  tx: Transaction,
  ids: readonly number[],
  signalIds: readonly number[],
  now: Instant,
): Promise<void> {
  await tx.run`
    update transmission set transmitted_at = ${instant(now)}::timestamptz where id = any(${ids}::bigint[])`
  await tx.run`update signal set signal_type = 4 where id = any(${signalIds}::bigint[])`
}

/**
 * Whether an account may feed a strategy, and whether it feeds one already. The row is locked, by a statement of its
 * own: another would read what was so before it waited.
 */
export async function lockTransmitter(
  tx: Sql,
  accountId: number,
): Promise<{ isApproved: boolean; feedsStrategy: boolean }> {
  await lockAccount(tx, accountId)
  return tx.one`
    select ${isTradeLeader} as "isApproved", exists (
      select from strategy where transmit_account_id = a.id) as "feedsStrategy"
    from account a where a.id = ${accountId}::bigint`
}

/** Lets an account feed a strategy from now on. */
export async function saveTransmitter(tx: Sql, strategyId: number, accountId: number): Promise<void> {
  await tx.run`
    update strategy set transmit_account_id = ${accountId}::bigint where id = ${strategyId}::bigint`
}
