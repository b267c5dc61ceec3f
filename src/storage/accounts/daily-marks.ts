/** Marks of past days as they are stored, the present quotes among them, and what marks mean in money. */

import { dec } from '../../domain/decimal.ts'
import type { ClosedInstrument, CloseFacts } from '../../domain/margin/daily-close.ts'
import { baseCurrencyOf } from '../../domain/margin/margin-position.ts'
import { vehicleCurrency } from '../../domain/market/exchange-rate.ts'
import { bookedDay } from '../../domain/market/trading-day.ts'
import {
  type CurrencyPair,
  type DailyMark,
  dayMarks,
  type MarkSplit,
} from '../../domain/positions/day-marks.ts'
import { type Day, formatDay, type Instant, readDay } from '../../domain/time.ts'
import type { Sql } from '../database/sql.ts'
import {
  type MarginInstrumentRow,
  marginInstrumentColumns,
  marginInstrumentOf,
} from '../market/margin-instruments.ts'

/** The marks of these days, and of each instrument the last one before them; by instrument and day. */
export async function loadDailyMarks(
  sql: Sql,
  instrumentIds: readonly number[],
  from: Day,
  until: Day,
): Promise<DailyMark[]> {
  const rows = await sql.rows<{ instrumentId: number; day: string; bid: string; ask: string }>`
    with wanted as (select unnest(${instrumentIds}::bigint[]) as id), mark as (
      select m.instrument_id, m.day, m.bid, m.ask from wanted
      join daily_mark m on m.instrument_id = wanted.id and m.day between ${formatDay(from)}::date and ${formatDay(until)}::date
      union all
      select wanted.id, m.day, m.bid, m.ask from wanted cross join lateral (
        select day, bid, ask from daily_mark where instrument_id = wanted.id and day < ${formatDay(from)}::date
        order by day desc limit 1) m
      union all
      select q.instrument_id, q.day, q.bid, q.ask from wanted join quote q on q.instrument_id = wanted.id
      where q.day <= ${formatDay(until)}::date
    )
    select instrument_id as "instrumentId", day, bid, ask from mark order by instrument_id, day`
  return rows.map((row) => ({ ...row, day: readDay(row.day) ?? 0, bid: dec(row.bid), ask: dec(row.ask) }))
}

/** The splits of instruments that are booked, with the days of their openings. */
async function loadMarkSplits(sql: Sql, instrumentIds: readonly number[]): Promise<MarkSplit[]> {
  const rows = await sql.rows<{
    instrumentId: number
    at: Instant
    newUnits: string
    oldUnits: string
    resizes: boolean
  }>`
    select instrument_id as "instrumentId", takes_effect_at as at, new_units as "newUnits", old_units as "oldUnits",
      resizes
    from corporate_action
    where instrument_id = any(${instrumentIds}::bigint[]) and kind = 'split' and booked_at is not null
    order by takes_effect_at, id`
  return rows.map(({ instrumentId, at, newUnits, oldUnits, resizes }) => ({
    ratio: { new: dec(newUnits), old: dec(oldUnits) },
    instrumentId,
    day: bookedDay(at),
    multiplies: !resizes,
  }))
}

/** Enters marks of days before those of the present quotes; one that is there is replaced. */
export async function saveDailyMarks(sql: Sql, marks: readonly DailyMark[]): Promise<number> {
  return sql.run`
    insert into daily_mark (instrument_id, day, bid, ask)
    select * from unnest(${marks.map(({ instrumentId }) => instrumentId)}::bigint[],
      ${marks.map(({ day }) => formatDay(day))}::date[], ${marks.map(({ bid }) => bid)}::numeric[],
      ${marks.map(({ ask }) => ask)}::numeric[])
    on conflict (instrument_id, day) do update set bid = excluded.bid, ask = excluded.ask`
}

interface InstrumentRow extends MarginInstrumentRow {
  readonly id: number
  readonly underlyingId: number | null
}

/** What the close must know of instruments. */
async function loadClosedInstruments(
  sql: Sql,
  ids: readonly number[],
): Promise<Map<number, ClosedInstrument>> {
  const rows = await sql.rows<InstrumentRow>`
    select i.id, ${marginInstrumentColumns}, u.id as "underlyingId"
    from instrument i left join instrument u on i.security_type = 'OPT' and u.symbol = i.underlying
    where i.id = any(${ids}::bigint[])`
  return new Map(
    rows.map((row) => {
      const { id, currency, underlyingId } = row
      return [id, { currency, underlyingId, ...marginInstrumentOf(row) }]
    }),
  )
}

/** The pairs by which currencies are turned into `accountCurrency`, or both into dollars; direct ones first. */
const listCurrencyPairs = (
  sql: Sql,
  accountCurrency: string,
  currencies: readonly string[],
): Promise<CurrencyPair[]> =>
  sql.rows<CurrencyPair>`
    select a.currency as account, c.currency, i.id as "instrumentId",
      i.symbol <> c.currency || a.currency as "isInverse"
    from unnest(${[...new Set([accountCurrency, vehicleCurrency])]}::text[]) a (currency)
    cross join unnest(${[...currencies, accountCurrency]}::text[]) c (currency)
    join instrument i on i.security_type = 'FOR'
      and i.symbol in (c.currency || a.currency, a.currency || c.currency)
    order by a.currency, c.currency, "isInverse"`

/** What a close on one of the days must know of instruments that are held, for accounts in each of the currencies. */
export async function loadCloseFacts(
  sql: Sql,
  currencies: readonly string[],
  held: readonly number[],
  days: readonly Day[],
): Promise<Map<string, CloseFacts>> {
  const instruments = await loadClosedInstruments(sql, held)
  const quoted = new Set(
    [...instruments.values()].flatMap((each) => [each.currency, baseCurrencyOf(each) ?? each.currency]),
  )
  const facts = new Map<string, CloseFacts>()
  for (const currency of new Set(currencies)) {
    const foreign = [...quoted].filter((other) => other !== currency)
    const pairs = foreign.length > 0 ? await listCurrencyPairs(sql, currency, foreign) : []
    const underlyings = [...instruments.values()].flatMap(({ underlyingId }) => underlyingId ?? [])
    const ids = new Set([...held, ...underlyings, ...pairs.map(({ instrumentId }) => instrumentId)])
    const [first, last] = [Math.min(...days), Math.max(...days)]
    const isMarked = ids.size > 0 && days.length > 0
    const marks = isMarked ? await loadDailyMarks(sql, [...ids], first, last) : []
    const splits = isMarked ? await loadMarkSplits(sql, [...ids]) : []
    facts.set(currency, { instruments, marks: dayMarks(currency, marks, pairs, splits), currency })
  }
  return facts
}
