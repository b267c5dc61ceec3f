/** Instruments: what is tradable, what its numbers mean and what it is called. Absent facts are null. */
import type { PutOrCall, SecurityType } from '../codes.ts'
import type { Decimal } from '../decimal.ts'
import type { CalendarName } from './calendar.ts'

export type Settlement = 'physical' | 'cash'

export type Instrument = {
  symbol: string
  securityType: SecurityType
  description: string
  currency: string
  /** ISO 10383 code of the market, or DEFAULT. */
  exchange: string
  calendar: CalendarName
  /** Quote currency per price point and unit. */
  pointValue: Decimal
  /** Smallest price step. */
  tick: Decimal
  /** Per contract in the instrument's currency; null where none is set. */
  initialMargin: Decimal | null
  maintenanceMargin: Decimal | null
  /** Symbol of an option's underlying instrument; root of a future. */
  underlying: string | null
  /** Ticker, root of a future or option, or pair as `EUR/USD`. */
  root: string
  /** FIX 200: YYYYMM of a future, YYYYMMDD of an option. */
  maturityMonthYear: string | null
  putOrCall: PutOrCall | null
  strike: Decimal | null
  /** YYYY-MM-DD of an option. */
  expiry: string | null
  settlement: Settlement | null
  indexOption: boolean
  /** YYYY-MM-DD; null where trading does not end. */
  lastTradingDay: string | null
}

/** What an instrument needs from whoever enters it; the rest follows from the symbol and the defaults. */
export type InstrumentInput = Pick<Instrument, 'symbol' | 'securityType'> & {
  [Member in keyof Instrument]?: Instrument[Member] | undefined
}

/** What an exchange symbol says beside the name; absent where it leaves that to the name. */
export interface ListingTerms {
  readonly currency?: string
  /** ISO 10383 code. */
  readonly exchange?: string
  /** YYYY-MM-DD of the last day of trading. */
  readonly lastDay?: string
}

/** Whether the instrument is listed as said. One of no stated market may be listed anywhere. */
export const isListedAs = (instrument: Instrument, { currency, exchange, lastDay }: ListingTerms): boolean =>
  (currency === undefined || currency === instrument.currency) &&
  (exchange === undefined || [exchange, 'DEFAULT'].includes(instrument.exchange)) &&
  (lastDay === undefined || lastDay === (instrument.lastTradingDay ?? lastDay))
