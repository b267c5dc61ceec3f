/**
 * Trades, written for many books at once. A book has at most one open trade; the fill that makes its position flat
 * closes it. The caller has locked the strategies.
 */
import type { Side } from '../../domain/codes.ts'
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type BookKey, bookKeys } from '../work/matching.ts'
import { outdateStatistics } from '../work/record-changes.ts'
import { otherValues } from './trade-marks.ts'

/** An open trade as it is stored. Numbers are exact texts. */
export interface OpenTradeRow extends BookKey {
  id: number
  signalId: number
  openSide: Side
  openedAt: Instant
  openedQty: string
  closedQty: string
  openTurnover: string
  closeTurnover: string
  commission: string
  realised: string
  avgPx: string
  avgCost: string
  worstResult: string | null
  worstPx: string | null
  worstAt: Instant | null
  worstEntryPx: string | null
  worstQty: string | null
  worstEquity: string | null
}

/** The open trades of these books, held unchanged until the transaction ends. */
export const lockOpenTrades = (tx: Transaction, keys: readonly BookKey[]): Promise<OpenTradeRow[]> =>
  tx.rows<OpenTradeRow>`
    select t.id, t.strategy_id as "strategyId", t.instrument_id as "instrumentId", t.signal_id as "signalId",
      t.open_side as "openSide", t.opened_at as "openedAt", t.opened_qty as "openedQty", t.closed_qty as "closedQty",
      t.open_turnover as "openTurnover", t.close_turnover as "closeTurnover", t.commission, t.realised,
      t.avg_px as "avgPx", t.avg_cost as "avgCost", t.worst_result as "worstResult", t.worst_px as "worstPx",
      t.worst_at as "worstAt", t.worst_entry_px as "worstEntryPx", t.worst_qty as "worstQty",
      t.worst_equity as "worstEquity"
    from unnest(${bookKeys(keys)}) book (strategy_id, instrument_id)
    join trade t on t.strategy_id = book.strategy_id and t.instrument_id = book.instrument_id and t.closed_at is null
    order by t.id for no key update of t`

/**
 * What each book's strategy is worth without what it holds in the book's instrument, by `strategy instrument`:
 * cash, and the other open trades at the last quotes.
 */
export async function loadOtherValues(
  sql: Sql,
  keys: readonly BookKey[],
  currency: string,
): Promise<Map<string, string>> {
  const rows = await sql.rows<BookKey & { value: string }>`
    select book.strategy_id as "strategyId", book.instrument_id as "instrumentId",
      ${otherValues('book', currency)} as value
    from unnest(${bookKeys(keys)}) book (strategy_id, instrument_id)`
  return new Map(rows.map(({ strategyId, instrumentId, value }) => [`${strategyId} ${instrumentId}`, value]))
}

/** Ids for new trades. */
export const nextTradeIds = (sql: Sql, count: number): Promise<number[]> =>
  idsOf(sql.rows`select nextval('trade_id_seq') as id from generate_series(1, (select ${count}::int))`)

/** A trade as its last fill left it. */
export interface TradeState extends BookKey {
  readonly id: number
  readonly signalId: number
  readonly openSide: Side
  readonly openedAt: Instant
  readonly changedAt: Instant
  /** Null while it is open. */
  readonly closedAt: Instant | null
  readonly openedQty: Decimal
  readonly closedQty: Decimal
  readonly openTurnover: Decimal
  readonly closeTurnover: Decimal
  readonly commission: Decimal
  readonly realised: Decimal
  readonly fx: Decimal
  /** Average price and cost of what is held, and the price to watch; null once it is closed. */
  readonly avgPx: Decimal | null
  readonly avgCost: Decimal | null
  readonly watchPx: Decimal | null
  /** In cents; null while it is open. */
  readonly profitLoss: Decimal | null
  readonly worstResult: Decimal | null
  readonly worstPx: Decimal | null
  readonly worstAt: Instant | null
  readonly worstEntryPx: Decimal | null
  readonly worstQty: Decimal | null
  readonly worstEquity: Decimal | null
}

/** Writes trades, new ones and known ones alike. */
export async function saveTrades(tx: Transaction, trades: readonly TradeState[]): Promise<void> {
  const column = <K extends keyof TradeState>(name: K): TradeState[K][] => trades.map((trade) => trade[name])
  const times = (name: 'openedAt' | 'changedAt' | 'closedAt' | 'worstAt'): (string | null)[] =>
    trades.map((trade) => instant(trade[name]))
  await tx.run`
    insert into trade (id, strategy_id, instrument_id, signal_id, open_side, opened_at, changed_at, closed_at,
      opened_qty, closed_qty, open_turnover, close_turnover, commission, realised, fx, avg_px, avg_cost, watch_px,
      profit_loss, worst_result, worst_px, worst_at, worst_entry_px, worst_qty, worst_equity)
    overriding system value
    select * from unnest(${column('id')}::bigint[], ${column('strategyId')}::bigint[],
      ${column('instrumentId')}::bigint[], ${column('signalId')}::bigint[], ${column('openSide')}::text[],
      ${times('openedAt')}::timestamptz[], ${times('changedAt')}::timestamptz[], ${times('closedAt')}::timestamptz[],
      ${column('openedQty')}::numeric[], ${column('closedQty')}::numeric[], ${column('openTurnover')}::numeric[],
      ${column('closeTurnover')}::numeric[], ${column('commission')}::numeric[], ${column('realised')}::numeric[],
      ${column('fx')}::numeric[], ${column('avgPx')}::numeric[], ${column('avgCost')}::numeric[],
      ${column('watchPx')}::numeric[], ${column('profitLoss')}::numeric[], ${column('worstResult')}::numeric[],
      ${column('worstPx')}::numeric[], ${times('worstAt')}::timestamptz[], ${column('worstEntryPx')}::numeric[],
      ${column('worstQty')}::numeric[], ${column('worstEquity')}::numeric[])
    on conflict (id) do update set opened_at = least(trade.opened_at, excluded.opened_at),
      changed_at = greatest(trade.changed_at, excluded.changed_at),
      closed_at = case when excluded.closed_at is not null then greatest(trade.changed_at, excluded.changed_at) end,
      opened_qty = excluded.opened_qty, closed_qty = excluded.closed_qty, open_turnover = excluded.open_turnover,
      close_turnover = excluded.close_turnover, commission = excluded.commission, realised = excluded.realised,
      fx = excluded.fx, avg_px = excluded.avg_px, avg_cost = excluded.avg_cost, watch_px = excluded.watch_px,
      profit_loss = excluded.profit_loss, worst_result = excluded.worst_result, worst_px = excluded.worst_px,
      worst_at = excluded.worst_at, worst_entry_px = excluded.worst_entry_px, worst_qty = excluded.worst_qty,
      worst_equity = excluded.worst_equity`
  const finished = trades.filter(({ closedAt }) => closedAt !== null)
  await outdateStatistics(tx, [...new Set(finished.map(({ strategyId }) => strategyId))])
}
