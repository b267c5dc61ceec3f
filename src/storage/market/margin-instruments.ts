/** What margin must know of an instrument, as every statement selects it from `instrument i` and reads it. */
import type { PutOrCall, SecurityType } from '../../domain/codes.ts'
import { dec, decOrNull } from '../../domain/decimal.ts'
import type { MarginInstrument } from '../../domain/margin/margin-position.ts'
import { fragment } from '../database/sql.ts'

/** Numbers are exact texts. */
export interface MarginInstrumentRow {
  readonly symbol: string
  readonly securityType: SecurityType
  readonly root: string
  readonly currency: string
  readonly pointValue: string
  readonly initialMargin: string | null
  readonly underlying: string | null
  readonly putOrCall: PutOrCall | null
  readonly strike: string | null
  readonly expiry: string | null
  readonly indexOption: boolean
}

export const marginInstrumentColumns = fragment`
  i.symbol, i.security_type as "securityType", i.root, i.currency, i.point_value as "pointValue",
  i.initial_margin as "initialMargin", i.underlying, i.put_or_call as "putOrCall", i.strike, i.expiry,
  i.is_index_option as "indexOption"`

/** The instrument of a row. */
export const marginInstrumentOf = (row: MarginInstrumentRow): MarginInstrument => ({
  symbol: row.symbol,
  securityType: row.securityType,
  root: row.root,
  pointValue: dec(row.pointValue),
  initialMargin: decOrNull(row.initialMargin),
  underlying: row.underlying,
  putOrCall: row.putOrCall,
  strike: decOrNull(row.strike),
  expiry: row.expiry,
  indexOption: row.indexOption,
})
