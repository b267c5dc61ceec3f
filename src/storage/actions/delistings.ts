/** Stocks and futures whose trading ends on a day that was entered. */

import type { Instant } from '../../domain/time.ts'
import { type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { ActionInstrument } from './corporate-actions.ts'

export interface Delisting {
  readonly instrumentId: number
  /** YYYY-MM-DD: the last day on which it trades. */
  readonly day: string
  /** When time first ends something about it. */
  readonly dueAt: Instant
}

/** The instruments of symbols, locked against the end of their trading. */
export const lockListed = (tx: Transaction, symbols: readonly string[]): Promise<ActionInstrument[]> =>
  tx.rows<ActionInstrument>`
    select id, symbol, security_type as "securityType", calendar, last_trading_day as "lastTradingDay",
      ended_at is not null as "hasEnded"
    from instrument where symbol = any(${uncounted(symbols, 'text')}::text[]) order by id for no key update`

/** Sets last days of trading; one that is over already ends the trading now. Answers how many are new. */
export const insertDelistings = (
  tx: Transaction,
  delistings: readonly Delisting[],
  now: Instant,
): Promise<number> =>
  tx.run`
    update instrument i set last_trading_day = d.day,
      due_at = greatest(d.due_at, ${instant(now)}::timestamptz)
    from unnest(${delistings.map(({ instrumentId }) => instrumentId)}::bigint[],
      ${delistings.map(({ day }) => day)}::date[],
      ${delistings.map(({ dueAt }) => instant(dueAt))}::timestamptz[]) d (id, day, due_at)
    where i.id = d.id and i.last_trading_day is distinct from d.day`

/** Dividends and splits that were announced for days after the last one come to nothing; what is booked stays. */
export const dropAnnounced = (tx: Transaction, delistings: readonly Delisting[]): Promise<number> =>
  tx.run`
    delete from corporate_action a
    using unnest(${delistings.map(({ instrumentId }) => instrumentId)}::bigint[],
      ${delistings.map(({ day }) => day)}::date[]) d (id, day)
    where a.instrument_id = d.id and a.kind in ('dividend', 'split') and a.ex_date > d.day and a.booked_at is null`

/** What is paid for a delisted stock may be known when its trading has long ended. */
export const wakeDelisted = (tx: Transaction, now: Instant): Promise<number> =>
  tx.run`
    update instrument i set due_at = ${instant(now)}::timestamptz
    from corporate_action a
    where a.kind = 'settlement' and a.imported_at = ${instant(now)}::timestamptz and i.id = a.instrument_id
      and i.last_trading_day = a.ex_date and i.ended_at is not null`

/** A stock that is held and trades no more, with its last day (YYYY-MM-DD): nobody has entered what is paid for it. */
export interface UnpaidStock {
  readonly symbol: string
  readonly lastTradingDay: string
}

/** The unpaid stocks that strategies or accounts hold, by their last days. */
export const listUnpaidStocks = (sql: Sql): Promise<UnpaidStock[]> =>
  sql.rows<UnpaidStock>`
    select i.symbol, i.last_trading_day as "lastTradingDay" from instrument i
    where i.security_type = 'CS' and i.ended_at is not null and i.id in (
      select instrument_id from position where quantity <> 0
      union all select instrument_id from account_position where quantity <> 0)
    order by i.last_trading_day, i.symbol`
