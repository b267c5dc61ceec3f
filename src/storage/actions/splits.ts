/** What splits write beside the books: prices of orders, quotes, options' listings, and the note of each change. */
import { type Decimal, dec } from '../../domain/decimal.ts'
import { bookedDay } from '../../domain/market/trading-day.ts'
import type { ExitRole } from '../../domain/orders/order-book.ts'
import type { SplitRatio } from '../../domain/positions/split.ts'
import { formatDay, type Instant } from '../../domain/time.ts'
import { fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { WorkedBook } from '../orders/order-books.ts'

/** A listed option. */
export interface OptionRow {
  readonly id: number
  readonly symbol: string
  readonly root: string
  readonly strike: Decimal
  readonly pointValue: Decimal
}

/** The options on an underlying that have not expired. */
export async function listOptionsOn(sql: Sql, underlying: string): Promise<OptionRow[]> {
  const rows = await sql.rows<{
    id: number
    symbol: string
    root: string
    strike: string
    pointValue: string
  }>`
    select id, symbol, root, strike, point_value as "pointValue" from instrument
    where security_type = 'OPT' and underlying = ${underlying} and ended_at is null and strike is not null
    order by id`
  return rows.map((row) => ({ ...row, strike: dec(row.strike), pointValue: dec(row.pointValue) }))
}

/** Which of the symbols belong to instruments that keep theirs. */
export async function listTakenSymbols(
  sql: Sql,
  symbols: readonly string[],
  leaving: readonly number[],
): Promise<Set<string>> {
  const rows = await sql.rows<{ symbol: string }>`
    select symbol from instrument where symbol = any(${symbols}::text[]) and id <> all(${leaving}::bigint[])`
  return new Set(rows.map(({ symbol }) => symbol))
}

/**
 * Lists options anew under their new strikes. One may take the symbol that another one leaves, so all leave theirs
 * first. What waits to be booked of them goes along: its old symbol would be nobody's. Not what brokers have told of a time
 * when the new ones held, from `until` on; what they tell later of before is known by the symbols that are noted here.
 */
export async function adjustOptions(
  tx: Transaction,
  options: readonly OptionRow[],
  before: readonly string[],
  until: Instant,
): Promise<void> {
  if (options.length === 0) return
  const column = <K extends keyof OptionRow>(name: K): OptionRow[K][] => options.map((option) => option[name])
  await tx.run`
    update instrument set symbol = '~' || id where id = any(array(
      select id from instrument where id = any(${column('id')}::bigint[]) order by id for update))`
  await tx.run`
    update instrument i set strike = o.strike, point_value = o.point_value, root = o.root,
      symbol = o.symbol, description = o.symbol
    from unnest(${column('id')}::bigint[], ${column('symbol')}::text[], ${column('root')}::text[],
      ${column('strike')}::numeric[], ${column('pointValue')}::numeric[]) o (id, symbol, root, strike, point_value)
    where i.id = o.id`
  const listed = fragment`
    from instrument i join unnest(${column('id')}::bigint[], ${before}::text[]) o (id, symbol) on o.id = i.id`
  await tx.run`update paper_report r set symbol = i.symbol ${listed} where r.symbol = o.symbol`
  await tx.run`
    update broker_report r set symbol = i.symbol ${listed} where r.symbol = o.symbol and r.applied_at is null
      and not (r.is_told and r.occurred_at >= ${instant(until)}::timestamptz)`
  // Of two splits at one moment the first says what the symbol was until then, and so does one that was booked before an
  // earlier one was entered: what this one leaves was never the broker's.
  await tx.run`
    insert into former_symbol (symbol, until, instrument_id)
    select o.symbol, ${instant(until)}::timestamptz, o.id ${listed} where i.symbol <> o.symbol and not exists (
      select from former_symbol f where f.instrument_id = o.id and f.until > ${instant(until)}::timestamptz)
    on conflict do nothing`
}

/** The last quotes in new units: marks of what is held from the day of the split on, and unfit for fills. */
export const restateQuotes = (
  tx: Transaction,
  instrumentIds: readonly number[],
  { new: units, old }: SplitRatio,
  at: Instant,
): Promise<number> =>
  tx.run`
    with kept as (
      insert into daily_mark (instrument_id, day, bid, ask)
      select instrument_id, day, bid, ask from quote
      where instrument_id = any(${instrumentIds}::bigint[]) and quoted_at < ${instant(at)}::timestamptz
        and day < ${formatDay(bookedDay(at))}::date
      on conflict (instrument_id, day) do update set bid = excluded.bid, ask = excluded.ask
    )
    update quote set bid = bid * ${old}::numeric / ${units}::numeric, ask = ask * ${old}::numeric / ${units}::numeric,
      day = greatest(day, ${formatDay(bookedDay(at))}::date), is_valid = false
    where instrument_id = any(${instrumentIds}::bigint[]) and quoted_at < ${instant(at)}::timestamptz`

/** Notes what an action did to positions. */
export async function adjustPositions(
  tx: Transaction,
  actionId: number,
  changes: readonly { readonly strategyId: number; readonly before: Decimal; readonly after: Decimal }[],
): Promise<void> {
  if (changes.length === 0) return
  await tx.run`
    insert into position_adjustment (action_id, strategy_id, quantity_before, quantity_change, cash_change)
    select ${actionId}::bigint, strategy_id, before, after - before, 0
    from unnest(${changes.map(({ strategyId }) => strategyId)}::bigint[],
      ${changes.map(({ before }) => before)}::numeric[], ${changes.map(({ after }) => after)}::numeric[])
      c (strategy_id, before, after)`
}

/** Writes the prices of live orders as their books have them, and those that entries show of their exits. */
export async function restateTerms(tx: Transaction, books: readonly WorkedBook[]): Promise<void> {
  const orders = books.flatMap(({ before, book }) =>
    [...book.orders.values()].filter((order) => before.orders.get(order.id) !== order),
  )
  if (orders.length === 0) return
  const prices = (role: ExitRole, of: 'limit' | 'stop') =>
    orders.map(({ id }) => orders.find((exit) => exit.exit === role && exit.parent === id)?.[of] ?? null)
  await tx.run`
    update signal s set limit_px = o.limit_px, stop_px = o.stop_px, covers_from = o.covers_from,
      profit_target = coalesce(o.target, s.profit_target), stop_loss = coalesce(o.loss, s.stop_loss),
      reference_px = coalesce(o.limit_px, o.stop_px, s.reference_px)
    from unnest(${orders.map(({ id }) => id)}::bigint[], ${orders.map(({ limit }) => limit)}::numeric[],
      ${orders.map(({ stop }) => stop)}::numeric[], ${orders.map(({ coversFrom }) => coversFrom)}::numeric[],
      ${prices('profitTarget', 'limit')}::numeric[], ${prices('stopLoss', 'stop')}::numeric[])
      o (id, limit_px, stop_px, covers_from, target, loss)
    where s.id = o.id`
}
