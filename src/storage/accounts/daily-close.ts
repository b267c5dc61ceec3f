/**
 * Records that wait for a day to be closed, what their books are, and what came of it. A claimed record is held:
 * whoever books a fill or an execution touches its record too and waits, so that all statements after the claim see
 * the same books.
 */
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { LedgerPosition } from '../../domain/positions/ledger-state.ts'
import { type Day, formatDay, type Instant, readDay } from '../../domain/time.ts'
import { hasCome } from '../database/moments.ts'
import { writeInParts } from '../database/parts.ts'
import { type Fragment, fragment, identifier, idsOf, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { lastFx } from '../orders/order-books.ts'
import { type Among, everybody, isAmong } from '../work/among.ts'

/** Whose record: a strategy's model account, or a brokerage account. */
export type BookKind = 'strategy' | 'account'

export interface DueRecord {
  readonly id: number
  readonly startedAt: Instant
  readonly startingCash: Decimal
  readonly cash: Decimal
  readonly currency: string
  readonly closedDay: Day | null
  readonly staleFrom: Day | null
  /** When cash or positions last moved. */
  readonly movedAt: Instant | null
}

type DueRow = Omit<DueRecord, 'startingCash' | 'cash' | 'closedDay' | 'staleFrom'> & {
  startingCash: string
  cash: string
  closedDay: string | null
  staleFrom: string | null
}

/** True while a record of the kind waits to be closed. */
export const isCloseDue = (kind: BookKind, now: Instant): Fragment =>
  fragment`exists (select from ${dueRecords(kind, now, everybody)})`

/** Records of the kind that wait to be closed, with the condition that names them. */
function dueRecords(kind: BookKind, now: Instant, books: Among): Fragment {
  const isDue = hasCome(fragment`next_close_at`, now)
  return kind === 'strategy'
    ? fragment`strategy_record where ${isDue} and ${isAmong(fragment`strategy_id`, books)}`
    : fragment`account_record where ${isDue} and ${isAmong(fragment`account_id`, books)}`
}

/** Ids of the books whose records wait to be closed. */
export const listDueRecords = (sql: Sql, kind: BookKind, now: Instant, books: Among, limit: number) => {
  const id = identifier(`${kind}_id`)
  return idsOf(sql.rows`
    select ${id} as id from ${dueRecords(kind, now, books)} order by ${id} limit ${limit}::int`)
}

/** Most that one transaction closes. */
export interface CloseLimits {
  readonly records: number
  readonly days: number
}

/** As many records as have no more days in all, if each has missed as many as the first. */
const claimLimit = (due: Fragment, now: Instant, { records, days }: CloseLimits): Fragment => fragment`(
  select greatest(1, least(${records}::int,
    ${days}::int / (1 + ${instant(now)}::date - min(least(next_close_at::date, stale_from)))))
  from ${due})`

/**
 * Claims records that are due; those that others hold are passed over. They are read by a statement of its own: while
 * records are claimed others book on those to come, whose cash would be that of before beside positions of after.
 */
export async function claimDueRecords(
  tx: Transaction,
  kind: BookKind,
  now: Instant,
  wanted: { readonly books: Among; readonly atOnce: CloseLimits; readonly currency: string },
): Promise<DueRecord[]> {
  const { currency } = wanted
  const ids = await claimIds(tx, kind, now, wanted)
  if (ids.length === 0) return []
  const rows =
    kind === 'strategy'
      ? await tx.rows<DueRow>`
          select s.id, s.started_at as "startedAt", s.starting_cash as "startingCash", s.cash, ${currency} as currency,
            r.closed_day as "closedDay", r.stale_from as "staleFrom", r.moved_at as "movedAt"
          from strategy_record r join strategy s on s.id = r.strategy_id
          where r.strategy_id = any(${ids}::bigint[]) order by s.id`
      : await tx.rows<DueRow>`
          select a.id, a.created_at as "startedAt", a.starting_cash as "startingCash", a.cash, a.currency,
            r.closed_day as "closedDay", r.stale_from as "staleFrom", r.moved_at as "movedAt"
          from account_record r join account a on a.id = r.account_id
          where r.account_id = any(${ids}::bigint[]) order by a.id`
  return rows.map((row) => ({
    ...row,
    startingCash: dec(row.startingCash),
    cash: dec(row.cash),
    closedDay: dayOrNull(row.closedDay),
    staleFrom: dayOrNull(row.staleFrom),
  }))
}

function claimIds(
  tx: Transaction,
  kind: BookKind,
  now: Instant,
  { books, atOnce }: { readonly books: Among; readonly atOnce: CloseLimits },
): Promise<number[]> {
  const due = dueRecords(kind, now, books)
  const id = identifier(`${kind}_id`)
  return idsOf(tx.rows`
    select ${id} as id from ${due} order by ${id} limit ${claimLimit(due, now, atOnce)}
    for no key update skip locked`)
}

const dayOrNull = (text: string | null): Day | null => (text === null ? null : (readDay(text) ?? null))

/** A position of a book now. */
export interface HeldRow extends Omit<LedgerPosition, 'fx'> {
  readonly bookId: number
  readonly calendar: string
  readonly currency: string
  /** Of the last fill where the instrument is in another currency; else 1. */
  readonly fx: Decimal
}

/** What books hold now. */
export async function loadHeld(sql: Sql, kind: BookKind, ids: readonly number[]): Promise<HeldRow[]> {
  type Row = {
    bookId: number
    instrumentId: number
    quantity: string
    avgPx: string
    calendar: string
    currency: string
    fx: string | null
  }
  const rows =
    kind === 'strategy'
      ? await sql.rows<Row>`
          select p.strategy_id as "bookId", p.instrument_id as "instrumentId", p.quantity, p.avg_px as "avgPx",
            i.calendar, i.currency, ${lastFx(fragment`p.strategy_id`)} as fx
          from position p join instrument i on i.id = p.instrument_id
          where p.strategy_id = any(${ids}::bigint[]) and p.quantity <> 0`
      : await sql.rows<Row>`
          select p.account_id as "bookId", p.instrument_id as "instrumentId", p.quantity, p.avg_px as "avgPx",
            i.calendar, i.currency, null as fx
          from account_position p join instrument i on i.id = p.instrument_id
          where p.account_id = any(${ids}::bigint[]) and p.quantity <> 0`
  return rows.map((row) => ({
    ...row,
    quantity: dec(row.quantity),
    avgPx: dec(row.avgPx),
    fx: dec(row.fx ?? 1),
  }))
}

/** A closed day as it is written. */
export interface NewDay {
  readonly bookId: number
  readonly day: Day
  readonly cash: Decimal
  readonly value: Decimal
  /** Of a strategy, at the close. */
  readonly leverage: Decimal | null
}

/** Writes closed days, new ones and those that are closed again. A day counts with its highest leverage. */
export const saveDays = (tx: Transaction, kind: BookKind, days: Iterable<NewDay>): Promise<void> =>
  writeInParts(days, (part) => (kind === 'account' ? saveAccountDays(tx, part) : saveStrategyDays(tx, part)))

const column = <K extends keyof NewDay>(rows: readonly NewDay[], name: K): NewDay[K][] =>
  rows.map((row) => row[name])

const dates = (rows: readonly NewDay[]): string[] => rows.map(({ day }) => formatDay(day))

const saveAccountDays = (tx: Transaction, rows: readonly NewDay[]): Promise<unknown> => tx.run`
  insert into account_day (account_id, day, cash, value)
  select * from unnest(${column(rows, 'bookId')}::bigint[], ${dates(rows)}::date[],
    ${column(rows, 'cash')}::numeric[], ${column(rows, 'value')}::numeric[])
  on conflict (account_id, day) do update set cash = excluded.cash, value = excluded.value
  where (account_day.cash, account_day.value) is distinct from (excluded.cash, excluded.value)`

/** What was seen since the day before, such as on a holiday on which futures trade, belongs to the day that follows. */
const saveStrategyDays = (tx: Transaction, rows: readonly NewDay[]): Promise<unknown> => tx.run`
  insert into strategy_day (strategy_id, day, cash, value, leverage)
  select n.id, n.day, n.cash, n.value, greatest(n.leverage, (
    select max(seen.leverage) from strategy_leverage seen
    where seen.strategy_id = n.id and seen.day <= n.day and seen.day > coalesce(n.new_before, (
      select max(before.day) from strategy_day before where before.strategy_id = n.id and before.day < n.day
    ), '-infinity')))
  from (select d.*, lag(d.day) over (partition by d.id order by d.day) as new_before
    from unnest(${column(rows, 'bookId')}::bigint[], ${dates(rows)}::date[], ${column(rows, 'cash')}::numeric[],
      ${column(rows, 'value')}::numeric[], ${column(rows, 'leverage')}::numeric[]) d (id, day, cash, value, leverage)) n
  on conflict (strategy_id, day) do update
    set cash = excluded.cash, value = excluded.value, leverage = excluded.leverage
  where (strategy_day.cash, strategy_day.value, strategy_day.leverage)
    is distinct from (excluded.cash, excluded.value, excluded.leverage)`

/** How far a record is closed after a pass. */
export interface RecordChange {
  readonly id: number
  readonly closedDay: Day | null
  readonly staleFrom: Day | null
  readonly nextCloseAt: Instant
  readonly isChanged: boolean
}

/** Notes how far records are closed; a strategy with a new day gets new figures. */
export async function saveRecords(
  tx: Transaction,
  kind: BookKind,
  changes: readonly RecordChange[],
): Promise<void> {
  const dates = (name: 'closedDay' | 'staleFrom'): (string | null)[] =>
    changes.map((change) => (change[name] === null ? null : formatDay(change[name])))
  const ids = changes.map(({ id }) => id)
  const nexts = changes.map(({ nextCloseAt }) => instant(nextCloseAt))
  if (kind === 'account') {
    await tx.run`
      update account_record r set closed_day = c.closed_day, stale_from = c.stale_from, next_close_at = c.next_close_at
      from unnest(${ids}::bigint[], ${dates('closedDay')}::date[], ${dates('staleFrom')}::date[], ${nexts}::timestamptz[])
        c (id, closed_day, stale_from, next_close_at)
      where r.account_id = c.id`
    return
  }
  await tx.run`
    update strategy_record r set closed_day = c.closed_day, stale_from = c.stale_from, next_close_at = c.next_close_at,
      statistics_due = r.statistics_due or c.is_changed
    from unnest(${ids}::bigint[], ${dates('closedDay')}::date[], ${dates('staleFrom')}::date[], ${nexts}::timestamptz[],
      ${changes.map(({ isChanged }) => isChanged)}::boolean[]) c (id, closed_day, stale_from, next_close_at, is_changed)
    where r.strategy_id = c.id`
}
