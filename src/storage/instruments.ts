/** Instruments: what can be traded, by id and by symbol. Rows are added and never change their meaning. */
import type { PutOrCall, SecurityType } from '../domain/codes.ts'
import type { Instrument } from '../domain/instrument.ts'
import { type Fragment, fragment, type Sql } from './sql.ts'

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

/** Adds instruments; one whose symbol is known stays as it is. Answers how many are new. */
export function insertInstruments(sql: Sql, instruments: readonly Instrument[]): Promise<number> {
  const column = <K extends keyof Instrument>(name: K): Instrument[K][] =>
    instruments.map((instrument) => instrument[name])
  return sql.run`
    insert into instrument (symbol, security_type, description, underlying, root, maturity_month_year, put_or_call,
      strike, security_exchange, currency, point_value, tick, calendar, initial_margin, maintenance_margin,
      settlement, is_index_option, expiry, last_trading_day)
    select * from unnest(${column('symbol')}::text[], ${column('securityType')}::text[],
      ${column('description')}::text[], ${column('underlying')}::text[], ${column('root')}::text[],
      ${column('maturityMonthYear')}::text[], ${column('putOrCall')}::text[], ${column('strike')}::numeric[],
      ${column('exchange')}::text[], ${column('currency')}::text[], ${column('pointValue')}::numeric[],
      ${column('tick')}::numeric[], ${column('calendar')}::text[], ${column('initialMargin')}::numeric[],
      ${column('maintenanceMargin')}::numeric[], ${column('settlement')}::text[],
      ${column('indexOption')}::boolean[], ${column('expiry')}::date[], ${column('lastTradingDay')}::date[])
    on conflict (symbol) do nothing`
}
