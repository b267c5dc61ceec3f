/**
 * All that ever moved the cash and the positions of books, in the order in which it was booked: fills, executions and
 * those that were taken back, dividends, splits and entries of cash.
 */
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { BookedAdjustment, BookedFill } from '../../domain/positions/ledger-state.ts'
import type { Instant } from '../../domain/time.ts'
import { inParts, readInParts } from '../database/parts.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import type { BookKind } from './daily-close.ts'
import { countsFrom, executions, quantitiesOf } from './setup-entries.ts'

/** A fill with the book it belongs to. */
export interface BookFillRow extends BookedFill {
  readonly bookId: number
  readonly commission: Decimal
  /** Of a strategy. */
  readonly signalId: number | null
}

export interface BookAdjustmentRow extends BookedAdjustment {
  readonly bookId: number
  /** Null for an entry of cash. */
  readonly actionId: number | null
}

type Texts = 'quantity' | 'price' | 'pointValue' | 'fx' | 'cashChange' | 'commission'

type FillRow = Omit<BookFillRow, Texts | 'ledger'> & Record<Texts, string> & { ledger: number | null }

const strategyFills = fragment`
  select f.strategy_id as "bookId", f.instrument_id as "instrumentId", null::bigint as ledger, f.side,
    f.quantity, f.px as price, i.security_type as "securityType", i.point_value as "pointValue", f.fx,
    f.cash_change as "cashChange", f.filled_at as at, f.commission, f.signal_id as "signalId",
    null as name, null as "takesBack", f.id
  from fill f join instrument i on i.id = f.instrument_id`

const accountFills = fragment`
  select e.account_id as "bookId", e.instrument_id as "instrumentId", e.setup_id as ledger, e.side,
    e.quantity, e.px as price, i.security_type as "securityType", i.point_value as "pointValue", e.fx,
    e.cash_change as "cashChange", ${countsFrom} as at, e.commission,
    null::bigint as "signalId", e.exec_id as name, e.busts as "takesBack"
  from ${executions} join instrument i on i.id = e.instrument_id`

/** Executions of one statement, unless one account has more: they are held until they have been gone through. */
const executionsAtOnce = 20_000

/**
 * All fills of books (ascending) in the order in which they were booked, book after book and part by part. Its row is
 * locked for each fill of a strategy, so none comes with an id of before.
 */
export async function* readBookFills(
  sql: Sql,
  kind: BookKind,
  ids: readonly number[],
): AsyncGenerator<BookFillRow[]> {
  if (kind === 'strategy') for await (const rows of readStrategyFills(sql, ids)) yield rows.map(fillOf)
  else
    for (const accounts of await someAtOnce(sql, ids)) yield* readAccountFills(sql, accounts, fragment`true`)
}

/** The same of accounts, of some instruments alone: of those that are few. */
export const readFillsOf = (
  sql: Sql,
  accountIds: readonly number[],
  instrumentIds: readonly number[],
): AsyncGenerator<BookFillRow[]> =>
  readAccountFills(sql, accountIds, fragment`e.instrument_id = any(${instrumentIds}::bigint[])`)

/**
 * Of one among several, and beyond an id that it does not know, the planner takes the index on both columns: else it might
 * take that of all fills, however many others come before, or sort all that is left for every part.
 */
function readStrategyFills(sql: Sql, ids: readonly number[]): AsyncGenerator<(FillRow & { id: number })[]> {
  return readInParts((limit, last) => {
    const beyond = (strategies: readonly number[], id: number): Fragment => fragment`(
      ${strategyFills} where f.strategy_id = any(${strategies}::bigint[]) and f.id > (select ${id}::bigint)
      order by f.strategy_id, f.id limit ${limit}::int)`
    const begun = last ? [last.bookId] : []
    const others = ids.filter((id) => id > (last?.bookId ?? 0))
    return sql.rows`
      ${beyond(begun, last?.id ?? 0)} union all ${beyond(others, 0)} order by "bookId", id limit ${limit}::int`
  })
}

/** What one statement reads, in parts: their order is no index’s. */
async function* readAccountFills(
  sql: Sql,
  ids: readonly number[],
  isAsked: Fragment,
): AsyncGenerator<BookFillRow[]> {
  const rows = await sql.rows<FillRow>`
    ${accountFills} where e.account_id = any(${ids}::bigint[]) and ${isAsked} order by e.account_id, e.id`
  for await (const part of inParts(rows)) yield part.map(fillOf)
}

/** Accounts, so many at a time as have no more executions together than are held at once. */
async function someAtOnce(sql: Sql, ids: readonly number[]): Promise<number[][]> {
  const counts = await sql.rows<{ id: number; count: number }>`
    select account_id as id, count(*)::int as count from execution where account_id = any(${ids}::bigint[])
    group by account_id order by account_id`
  const groups: number[][] = []
  let held = executionsAtOnce
  for (const { id, count } of counts) {
    if (held + count > executionsAtOnce) {
      groups.push([])
      held = 0
    }
    groups.at(-1)?.push(id)
    held += count
  }
  return groups
}

const fillOf = ({ ledger, ...row }: FillRow): BookFillRow => ({
  ...row,
  ...(ledger !== null && { ledger }),
  quantity: dec(row.quantity),
  price: dec(row.price),
  pointValue: dec(row.pointValue),
  fx: dec(row.fx),
  cashChange: dec(row.cashChange),
  commission: dec(row.commission),
})

interface AdjustmentRow {
  readonly bookId: number
  readonly actionId: number | null
  readonly instrumentId: number | null
  readonly ledger: number | null
  readonly at: Instant
  readonly quantityChange: string
  readonly cashChange: string
  readonly newUnits: string | null
  readonly oldUnits: string | null
  readonly resizes: boolean | null
}

/** What dividends, splits and entries of cash did to books, in the order in which they took effect. */
export async function loadBookAdjustments(
  sql: Sql,
  kind: BookKind,
  ids: readonly number[],
): Promise<BookAdjustmentRow[]> {
  const rows =
    kind === 'strategy'
      ? await sql.rows<AdjustmentRow>`
          select j.strategy_id as "bookId", a.id as "actionId", a.instrument_id as "instrumentId", null::bigint as ledger,
            a.takes_effect_at as at, j.quantity_change as "quantityChange", j.cash_change as "cashChange",
            a.new_units as "newUnits", a.old_units as "oldUnits", a.resizes
          from position_adjustment j join corporate_action a on a.id = j.action_id
          where j.strategy_id = any(${ids}::bigint[]) order by j.strategy_id, a.takes_effect_at, a.kind, a.id`
      : await sql.rows<AdjustmentRow>`
          select j.account_id as "bookId", a.id as "actionId", a.instrument_id as "instrumentId", j.setup_id as ledger,
            a.takes_effect_at as at, j.quantity_change as "quantityChange", j.cash_change as "cashChange",
            a.new_units as "newUnits", a.old_units as "oldUnits", a.resizes
          from account_adjustment j join corporate_action a on a.id = j.action_id
          where j.account_id = any(${ids}::bigint[])
          union all
          select account_id, null, null, setup_id, booked_at, 0, cash_change, null, null, null from account_entry
          where account_id = any(${ids}::bigint[])
          order by "bookId", at`
  return rows.map(({ ledger, newUnits, oldUnits, resizes, ...row }) => ({
    split:
      newUnits === null || oldUnits === null
        ? null
        : { ratio: { new: dec(newUnits), old: dec(oldUnits) }, multiplies: !resizes },
    ...row,
    ...(ledger !== null && { ledger }),
    quantityChange: dec(row.quantityChange),
    cashChange: dec(row.cashChange),
  }))
}

/**
 * What changed the size of the contracts that a strategy has traded, in the order in which it took effect, also where
 * it held none of them then: a contract has its new size in every book.
 */
export async function listResizes(sql: Sql, strategyId: number) {
  const rows = await sql.rows<{ instrumentId: number; at: Instant; newUnits: string; oldUnits: string }>`
    select instrument_id as "instrumentId", takes_effect_at as at, new_units as "newUnits", old_units as "oldUnits"
    from corporate_action where resizes and booked_at is not null
      and instrument_id in (select instrument_id from fill where strategy_id = ${strategyId}::bigint)
    order by takes_effect_at, id`
  return rows.map(({ newUnits, oldUnits, ...row }) => ({
    ...row,
    split: { ratio: { new: dec(newUnits), old: dec(oldUnits) }, multiplies: false },
  }))
}

/** The instruments of which one of the setups held something at its moment. */
export const listHeldInstruments = async (
  sql: Sql,
  moments: readonly { readonly setupId: number; readonly accountId: number; readonly at: Instant }[],
): Promise<number[]> => {
  const rows = await sql.rows<{ id: number }>`
    select distinct moved.instrument_id as id
    from unnest(${moments.map(({ accountId }) => accountId)}::bigint[],
      ${moments.map(({ setupId }) => setupId)}::bigint[], ${moments.map(({ at }) => instant(at))}::timestamptz[])
      asked (account_id, setup_id, at)
    cross join lateral (${quantitiesOf(fragment`asked.account_id`, fragment`asked.setup_id`)}) moved
    where moved.at <= asked.at
    group by asked.setup_id, moved.instrument_id having sum(moved.quantity) <> 0`
  return rows.map(({ id }) => id)
}
