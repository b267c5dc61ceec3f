/**
 * Open trades and the market: what they are worth at the last quotes, and how deep they were under water. A quote
 * costs one look into an index of the prices beyond which a trade would stand lower than ever.
 */
import type { Decimal } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { type Fragment, fragment, identifier, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type Among, isAmong } from '../work/among.ts'
import { type BookKey, bookKeys } from '../work/matching.ts'

/** Signed quantity of the open trade `t`. */
const held = fragment`case t.open_side when '1' then t.opened_qty - t.closed_qty else t.closed_qty - t.opened_qty end`

/** Long at the bid, short at the ask, options in the middle; null where that side has no positive price. */
const markOf = (bid: Fragment, ask: Fragment): Fragment => fragment`
  case when i.security_type = 'OPT' then (${bid} + ${ask}) / 2
    when t.open_side = '1' then case when ${bid} > 0 then ${bid} end
    else case when ${ask} > 0 then ${ask} end end`

/** Account currency per unit of the currency of `i`: by the last quote of the pair, else as `t` was last booked. */
const rate = (currency: string): Fragment => fragment`
  case when i.currency = ${currency} then 1 else coalesce((
    select case when pair.symbol = i.currency || ${currency} then (seen.bid + seen.ask) / 2
      else 2 / (seen.bid + seen.ask) end
    from instrument pair join quote seen on seen.instrument_id = pair.id and seen.bid + seen.ask > 0
    where pair.security_type = 'FOR'
      and pair.symbol in (i.currency || ${currency}, ${currency} || i.currency)
    order by pair.symbol = i.currency || ${currency} desc limit 1), t.fx) end`

/**
 * What the strategy of the row `book` is worth without its position in the row's instrument. What is paid in full
 * counts with its value, everything else with what it would realise. Without a quote a position counts at its cost.
 */
export const otherValues = (book: string, currency: string): Fragment => fragment`
  (select s.cash + coalesce((
    select sum(${held} * (coalesce(${markOf(fragment`q.bid`, fragment`q.ask`)}, t.avg_px)
      - case when i.security_type in ('CS', 'OPT') then 0 else t.avg_px end) * i.point_value * ${rate(currency)})
    from trade t join instrument i on i.id = t.instrument_id left join quote q on q.instrument_id = i.id
    where t.strategy_id = s.id and t.closed_at is null and t.instrument_id <> ${identifier(book)}.instrument_id
  ), 0) from strategy s where s.id = ${identifier(book)}.strategy_id)`

/** Prices at which positions are marked. */
export interface PriceMark {
  readonly bid: Decimal
  readonly ask: Decimal
  readonly at: Instant
}

/**
 * Notes the lowest moment of each open trade among these marks, in the order in which they were made, if it stands
 * lower than ever; of equal ones the first. Books in `except` have seen the marks between their fills. The last
 * quotes of the instruments are stored and locked by this transaction, so no other one marks the same trades.
 */
export async function markTrades(
  tx: Transaction,
  marks: readonly (PriceMark & { readonly instrumentId: number })[],
  except: readonly BookKey[],
  currency: string,
  strategies: Among,
): Promise<number> {
  return tx.run`
    with mark as materialized (
      select * from unnest(${marks.map((mark) => mark.instrumentId)}::bigint[], ${marks.map(({ bid }) => bid)}::numeric[],
        ${marks.map(({ ask }) => ask)}::numeric[], ${marks.map(({ at }) => instant(at))}::timestamptz[])
        with ordinality m (instrument_id, bid, ask, at, place)
    ), reached as (
      select t.id, m.bid, m.ask, m.at, m.place from mark m
      join trade t on t.instrument_id = m.instrument_id and t.open_side = '1' and t.watch_px > m.bid
      where t.closed_at is null and t.changed_at <= m.at
      union all
      select t.id, m.bid, m.ask, m.at, m.place from mark m
      join trade t on t.instrument_id = m.instrument_id and t.open_side = '2' and t.watch_px < m.ask
      where t.closed_at is null and t.changed_at <= m.at
    ), valued as (
      select t.id, t.strategy_id, t.instrument_id, t.avg_px, r.at, r.place, x.px, ${held} as qty, i.point_value,
        i.security_type, i.currency, y.fx, round((x.px - t.avg_px) * ${held} * i.point_value * y.fx, 12) as result
      from reached r join trade t on t.id = r.id join instrument i on i.id = t.instrument_id
      cross join lateral (select ${markOf(fragment`r.bid`, fragment`r.ask`)} as px) x
      cross join lateral (select ${rate(currency)} as fx) y
      where x.px is not null and ${isAmong(fragment`t.strategy_id`, strategies)} and not exists (
        select from unnest(${bookKeys(except)})
          book (strategy_id, instrument_id)
        where book.strategy_id = t.strategy_id and book.instrument_id = t.instrument_id)
    ), worst as (
      select distinct on (id) * from valued order by id, result, place
    )
    update trade set worst_result = w.result, worst_px = w.px, worst_at = w.at, worst_entry_px = w.avg_px,
      worst_qty = abs(w.qty), worst_equity = ${otherValues('w', currency)} + w.qty * (
        w.px - case when w.security_type in ('CS', 'OPT') then 0 else w.avg_px end) * w.point_value * w.fx,
      watch_px = case when w.currency = ${currency} then w.px else trade.watch_px end
    from worst w
    where trade.id = w.id and trade.closed_at is null and w.result < coalesce(trade.worst_result, 0)`
}
