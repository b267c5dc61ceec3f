/** Instruments: what can be traded, by id and by symbol. Rows are added and never change their meaning. */
import type { PutOrCall, SecurityType } from '../../domain/codes.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import { firstEndOf } from '../../domain/market/expiration.ts'
import type { Instrument, ListingTerms } from '../../domain/market/instrument.ts'
import { keyedById, type PageRequest, page } from '../database/page.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

/** What a listing shows of the instrument beside each order, position or trade. */
export interface InstrumentColumns {
  instrumentId: number
  symbol: string
  securityType: SecurityType
  description: string
  underlying: string | null
  root: string
  maturityMonthYear: string | null
  putOrCall: PutOrCall | null
  strike: string | null
  securityExchange: string
  currency: string
}

/** The columns of `InstrumentColumns`; the statement joins instrument as `i`. */
export const instrumentColumns: Fragment = fragment`
  i.id as "instrumentId", i.symbol, i.security_type as "securityType", i.description, i.underlying, i.root,
  i.maturity_month_year as "maturityMonthYear", i.put_or_call as "putOrCall", i.strike,
  i.security_exchange as "securityExchange", i.currency`

/**
 * Adds instruments; one whose symbol is known stays as it is. Answers how many are new. In the order of their
 * symbols, so that transactions which add the same ones wait for each other instead of crossing.
 */
export const insertInstruments = (sql: Sql, instruments: readonly Instrument[]): Promise<number> =>
  sql.run`${newInstruments(instruments)} order by 1 on conflict (symbol) do nothing`

/** An instrument with what its numbers mean. Margins per contract in its currency, null where none is set. */
export interface InstrumentRow extends InstrumentColumns {
  pointValue: string
  tick: string
  initialMargin: string | null
  maintenanceMargin: string | null
}

/** Instruments that trade on a day (YYYY-MM-DD) or later, by id. */
export const pageInstruments = (sql: Sql, today: string, request: PageRequest) =>
  page<InstrumentRow>(sql, request, {
    select: fragment`${instrumentColumns}, i.point_value as "pointValue", i.tick,
        i.initial_margin as "initialMargin", i.maintenance_margin as "maintenanceMargin"`,
    from: fragment`instrument i`,
    where: fragment`i.is_tradable and (i.last_trading_day is null or i.last_trading_day >= ${today}::date)`,
    ...keyedById(fragment`instrument`, fragment`i`),
  })

/** Which of these symbols are stocks, or indexes entered like stocks, that options in a currency may be written on. */
export async function findUnderlyings(
  sql: Sql,
  symbols: readonly string[],
  currency: string,
): Promise<Set<string>> {
  const rows = await sql.rows<{ symbol: string }>`
    select symbol from instrument
    where symbol = any(${symbols}::text[]) and security_type = 'CS' and currency = ${currency}`
  return new Set(rows.map(({ symbol }) => symbol))
}

/** Adds instruments; the facts of one whose symbol is known are replaced. Only a test platform does that. */
export const replaceInstruments = (sql: Sql, instruments: readonly Instrument[]): Promise<number> =>
  sql.run`
    ${newInstruments(instruments)}
    on conflict (symbol) do update set security_type = excluded.security_type, description = excluded.description,
      underlying = excluded.underlying, root = excluded.root, maturity_month_year = excluded.maturity_month_year,
      put_or_call = excluded.put_or_call, strike = excluded.strike, security_exchange = excluded.security_exchange,
      currency = excluded.currency, point_value = excluded.point_value, tick = excluded.tick,
      calendar = excluded.calendar, initial_margin = excluded.initial_margin,
      maintenance_margin = excluded.maintenance_margin, settlement = excluded.settlement,
      is_index_option = excluded.is_index_option, expiry = excluded.expiry,
      last_trading_day = excluded.last_trading_day, due_at = excluded.due_at,
      ended_at = null`

function newInstruments(instruments: readonly Instrument[]): Fragment {
  const column = <K extends keyof Instrument>(name: K): Instrument[K][] =>
    instruments.map((instrument) => instrument[name])
  return fragment`
    insert into instrument (symbol, security_type, description, underlying, root, maturity_month_year, put_or_call,
      strike, security_exchange, currency, point_value, tick, calendar, initial_margin, maintenance_margin,
      settlement, is_index_option, expiry, last_trading_day, due_at)
    select * from unnest(${column('symbol')}::text[], ${column('securityType')}::text[],
      ${column('description')}::text[], ${column('underlying')}::text[], ${column('root')}::text[],
      ${column('maturityMonthYear')}::text[], ${column('putOrCall')}::text[], ${column('strike')}::numeric[],
      ${column('exchange')}::text[], ${column('currency')}::text[], ${column('pointValue')}::numeric[],
      ${column('tick')}::numeric[], ${column('calendar')}::text[], ${column('initialMargin')}::numeric[],
      ${column('maintenanceMargin')}::numeric[], ${column('settlement')}::text[],
      ${column('indexOption')}::boolean[], ${column('expiry')}::date[], ${column('lastTradingDay')}::date[],
      ${instruments.map((instrument) => instant(firstEndOf(instrument)))}::timestamptz[])`
}

/** What names an instrument. */
export interface InstrumentQuestion extends ListingTerms {
  readonly securityType: SecurityType
  /** Every spelling under which it may be stored. */
  readonly spellings: readonly string[]
}

/** `isListedAs` of instrument `i` for the terms `asked`. */
export const listedAsAsked = fragment`
  i.currency = coalesce(asked.currency, i.currency)
  and (i.security_exchange = 'DEFAULT' or i.security_exchange = coalesce(asked.exchange, i.security_exchange))
  and coalesce(i.last_trading_day = asked.last_day, true)`

/** The instrument that is meant, with its tick. */
export const findTickedInstrument = (
  sql: Sql,
  { securityType, spellings, currency, exchange, lastDay }: InstrumentQuestion,
): Promise<{ id: number; tick: string; calendar: CalendarName; lastTradingDay: string | null } | undefined> =>
  sql.maybe`
    select i.id, i.tick, i.calendar, i.last_trading_day as "lastTradingDay"
    from instrument i, (values (${currency}::text, ${exchange}::text, ${lastDay}::date)) asked (currency, exchange, last_day)
    where i.security_type = ${securityType} and i.symbol = any(${spellings}::text[]) and ${listedAsAsked}
    order by i.id limit 1`

/** A future as far as the rule of its last day needs it. */
export type TradedFuture = Pick<Instrument, 'symbol' | 'root' | 'maturityMonthYear' | 'lastTradingDay'>

/** The futures whose trading has not ended, by their symbols. */
export const listTradedFutures = (sql: Sql): Promise<TradedFuture[]> =>
  sql.rows<TradedFuture>`
    select symbol, root, maturity_month_year as "maturityMonthYear", last_trading_day as "lastTradingDay" from instrument
    where security_type = 'FUT' and ended_at is null and is_tradable order by symbol`
