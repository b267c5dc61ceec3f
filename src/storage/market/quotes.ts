/**
 * The last quote of each instrument: what an arriving order may fill at, and the mark of what is held. A
 * quote never moves back in time; outside the session only its validity goes, the mark stays. Where nobody can sell
 * the stored bid is the one before: it marks what is held, and fills nothing.
 */

import type { SecurityType } from '../../domain/codes.ts'
import { type Decimal, dec, decOrNull } from '../../domain/decimal.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import { exchangeRate, vehicleCurrency } from '../../domain/market/exchange-rate.ts'
import type { PastMoment } from '../../domain/market/trading-day.ts'
import { type Day, formatDay, type Instant } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { lastSplit } from './units-since-splits.ts'

/** What a market batch must know of an instrument. */
export interface QuotedInstrument {
  readonly id: number
  readonly symbol: string
  readonly securityType: SecurityType
  readonly calendar: CalendarName
  readonly tick: Decimal
  readonly pointValue: Decimal
  readonly currency: string
  /** YYYY-MM-DD; null where trading does not end. */
  readonly lastTradingDay: string | null
  /** From when on its prices are in the units of its last booked split; null where it has none. */
  readonly splitAt: Instant | null
  /** Orders of it wait to be held against its last quote. */
  readonly hasArrivals: boolean
}

export interface QuoteRow {
  readonly instrumentId: number
  readonly bid: Decimal
  readonly ask: Decimal
  readonly bidSize: Decimal | null
  readonly askSize: Decimal | null
  readonly at: Instant
}

/** The instruments that are named by symbol or by id; unknown names are missing. */
export async function loadQuotedInstruments(
  sql: Sql,
  symbols: readonly string[],
  ids: readonly number[],
): Promise<QuotedInstrument[]> {
  const rows = await sql.rows<
    Omit<QuotedInstrument, 'tick' | 'pointValue'> & { tick: string; pointValue: string }
  >`
    select id, symbol, security_type as "securityType", calendar, tick, point_value as "pointValue", currency,
      last_trading_day as "lastTradingDay", ${lastSplit} as "splitAt",
      exists (select from signal s where s.needs_match and s.instrument_id = i.id) as "hasArrivals"
    from instrument i where symbol = any(${uncounted(symbols, 'text')}::text[])
      or id = any(${uncounted(ids, 'bigint')}::bigint[])`
  return rows.map((row) => ({ ...row, tick: dec(row.tick), pointValue: dec(row.pointValue) }))
}

/** The instruments of these ids, by their ids. */
export const quotedInstruments = async (
  sql: Sql,
  ids: readonly number[],
): Promise<Map<number, QuotedInstrument>> =>
  new Map((await loadQuotedInstruments(sql, [], ids)).map((row) => [row.id, row]))

/** A quote with the day whose mark it is. */
export interface DatedQuote extends QuoteRow {
  readonly day: Day
  /** Whether somebody can sell on it. Otherwise its bid is one of before, or 0. */
  readonly hasBid: boolean
}

/**
 * Stores quotes, one per instrument; one that is older than the stored quote changes nothing. The first quote of a
 * day leaves the stored one as the mark of its own day. `now` is the business clock.
 */
export async function saveQuotes(
  tx: Transaction,
  quotes: readonly DatedQuote[],
  isValid: boolean,
  now: Instant,
): Promise<void> {
  await tx.run`
    with kept as (
      insert into daily_mark (instrument_id, day, bid, ask)
      select q.instrument_id, q.day, q.bid, q.ask
      from unnest(${quotes.map((quote) => quote.instrumentId)}::bigint[], ${quotes.map(({ day }) => formatDay(day))}::date[])
        next (instrument_id, day)
      join quote q on q.instrument_id = next.instrument_id and q.day < next.day
      on conflict (instrument_id, day) do update set bid = excluded.bid, ask = excluded.ask
    )
    insert into quote (instrument_id, bid, ask, bid_size, ask_size, quoted_at, day, has_bid, is_valid,
      booked_at, margin_due)
    select q.*, ${isValid}, ${instant(now)}::timestamptz, true from unnest(
      ${quotes.map((quote) => quote.instrumentId)}::bigint[], ${quotes.map((quote) => quote.bid)}::numeric[],
      ${quotes.map((quote) => quote.ask)}::numeric[], ${quotes.map((quote) => quote.bidSize)}::numeric[],
      ${quotes.map((quote) => quote.askSize)}::numeric[], ${quotes.map((quote) => instant(quote.at))}::timestamptz[],
      ${quotes.map(({ day }) => formatDay(day))}::date[], ${quotes.map(({ hasBid }) => hasBid)}::boolean[]
    ) q order by 1
    on conflict (instrument_id) do update set
      bid = case when excluded.has_bid or excluded.bid > 0 then excluded.bid else quote.bid end, ask = excluded.ask,
      has_bid = excluded.has_bid,
      bid_size = excluded.bid_size, ask_size = excluded.ask_size, quoted_at = excluded.quoted_at,
      day = excluded.day, is_valid = excluded.is_valid, booked_at = excluded.booked_at, margin_due = true
    where quote.quoted_at <= excluded.quoted_at`
}

/** Marks the last quotes of instruments out of session as unfit for fills. */
export async function voidQuotes(
  tx: Transaction,
  instrumentIds: readonly number[],
  ats: readonly Instant[],
): Promise<void> {
  await tx.run`
    update quote set is_valid = false
    from unnest(${instrumentIds}::bigint[], ${ats.map((at) => instant(at))}::timestamptz[]) seen (instrument_id, at)
    where quote.instrument_id = seen.instrument_id and quote.quoted_at <= seen.at and is_valid`
}

interface StoredQuote {
  instrumentId: number
  bid: string
  ask: string
  bidSize: string | null
  askSize: string | null
  at: Instant
}

/**
 * The valid last quotes of instruments. Every last quote is held unchanged until the transaction ends, one that
 * is not valid too: a batch that is about to replace it is waited for and read.
 */
export async function lockLastQuotes(
  tx: Transaction,
  instrumentIds: readonly number[],
): Promise<Map<number, QuoteRow>> {
  const rows = await tx.rows<StoredQuote & { isValid: boolean }>`
    select instrument_id as "instrumentId", case when has_bid then bid else 0 end as bid, ask, bid_size as "bidSize", ask_size as "askSize", quoted_at as at,
      is_valid as "isValid"
    from quote where instrument_id = any(${uncounted(instrumentIds, 'bigint')}::bigint[])
    order by instrument_id for share`
  return new Map(rows.filter((row) => row.isValid).map((row) => [row.instrumentId, readQuote(row)]))
}

/** The middle of each instrument's last quote, with what a next quote of it must fit; without a quote missing. */
export async function loadMarks(
  sql: Sql,
  symbols: readonly string[],
): Promise<Map<string, { calendar: CalendarName; tick: Decimal; mid: Decimal }>> {
  const rows = await sql.rows<{ symbol: string; calendar: CalendarName; tick: string; mid: string }>`
    select i.symbol, i.calendar, i.tick, (q.bid + q.ask) / 2 as mid
    from instrument i join quote q on q.instrument_id = i.id where i.symbol = any(${symbols}::text[])`
  return new Map(
    rows.map(({ symbol, calendar, tick, mid }) => [symbol, { calendar, tick: dec(tick), mid: dec(mid) }]),
  )
}

const readQuote = ({ instrumentId, bid, ask, bidSize, askSize, at }: StoredQuote): QuoteRow => ({
  instrumentId,
  bid: dec(bid),
  ask: dec(ask),
  bidSize: decOrNull(bidSize),
  askSize: decOrNull(askSize),
  at,
})

/**
 * Account currency per unit of each currency, by the last forex quotes, turned around where the pair is quoted the
 * other way, through the dollar where the two have no pair. A currency of which that cannot be told is missing.
 */
export async function loadRates(
  sql: Sql,
  accountCurrency: string,
  currencies: readonly string[],
): Promise<Map<string, Decimal>> {
  return (await loadRateTable(sql, [accountCurrency], currencies)).get(accountCurrency) ?? new Map()
}

/**
 * The same for accounts in several currencies, by the currency of the account. Of a single one nothing is asked. `past`:
 * as they were then, as far as that is known.
 */
export async function loadRateTable(
  sql: Sql,
  accountCurrencies: readonly string[],
  currencies: readonly string[],
  past?: PastMoment,
): Promise<Map<string, Map<string, Decimal>>> {
  const accounts = [...new Set(accountCurrencies)]
  const others = [...new Set(currencies)]
  const all = [...new Set([...accounts, ...others])]
  if (all.length <= 1) return new Map()
  const quoted = await loadQuotedRates(sql, [...new Set([...accounts, vehicleCurrency])], all, past)
  const direct = (account: string, currency: string) => quoted.get(account)?.get(currency)
  return new Map(
    accounts.map((account) => {
      const rates = others.flatMap((currency): [string, Decimal][] => {
        const rate = currency === account ? undefined : exchangeRate(account, currency, direct)
        return rate ? [[currency, rate]] : []
      })
      return [account, new Map(rates)]
    }),
  )
}

/** Quotes `q` of a past moment: the last one while none came since, otherwise the last mark until its day. */
const quotesOf = ({ at, day }: PastMoment): Fragment => {
  const until = fragment`${formatDay(day)}::date`
  return fragment`(
    select l.instrument_id, coalesce(m.bid, l.bid) as bid, coalesce(m.ask, l.ask) as ask
    from quote l left join lateral (
      select bid, ask from daily_mark m where m.instrument_id = l.instrument_id and m.day <= ${until}
        and l.quoted_at > ${instant(at)}::timestamptz and l.day > ${until}
      order by m.day desc limit 1) m on true) q`
}

/** What the pairs of the currencies themselves say. */
async function loadQuotedRates(
  sql: Sql,
  accountCurrencies: readonly string[],
  currencies: readonly string[],
  past: PastMoment | undefined,
): Promise<Map<string, Map<string, Decimal>>> {
  const rows = await sql.rows<{ account: string; currency: string; mid: string; isInverse: boolean }>`
    select distinct on (a.currency, c.currency) a.currency as account, c.currency, (q.bid + q.ask) / 2 as mid,
      i.symbol <> c.currency || a.currency as "isInverse"
    from unnest(${accountCurrencies}::text[]) a (currency) cross join unnest(${currencies}::text[]) c (currency)
    join instrument i on i.security_type = 'FOR'
      and i.symbol in (c.currency || a.currency, a.currency || c.currency)
    join ${past ? quotesOf(past) : fragment`quote q`} on q.instrument_id = i.id and q.bid + q.ask > 0
    order by a.currency, c.currency, "isInverse"`
  const table = new Map<string, Map<string, Decimal>>(accountCurrencies.map((name) => [name, new Map()]))
  for (const { account, currency, mid, isInverse } of rows)
    table.get(account)?.set(currency, isInverse ? dec(1).div(mid) : dec(mid))
  return table
}
