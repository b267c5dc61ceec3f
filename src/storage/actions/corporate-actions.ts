/**
 * Dividends, splits and settlement values as they were entered, and the notes of what each did to every book. An
 * action is named by instrument, kind and opening, so a second import finds the first; it is booked once.
 */

import type { SecurityType } from '../../domain/codes.ts'
import { type Decimal, decOrNull } from '../../domain/decimal.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { Instant } from '../../domain/time.ts'
import { countsFrom, executions } from '../accounts/setup-entries.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'

export type ActionKind = 'dividend' | 'settlement' | 'split'

export interface NewAction {
  readonly instrumentId: number
  readonly kind: ActionKind
  /** YYYY-MM-DD. */
  readonly day: string
  /** Of a dividend or a settlement value; null for a split. */
  readonly amount: Decimal | null
  readonly newUnits: Decimal | null
  readonly oldUnits: Decimal | null
  readonly takesEffectAt: Instant
}

type ActionName = Pick<NewAction, 'instrumentId' | 'kind' | 'day' | 'takesEffectAt'>

/**
 * An action by its name: there is one per instrument, kind and opening, so a day without a session is the next one. A
 * settlement value belongs to the options of its very day.
 */
export const actionName = ({ instrumentId, kind, day, takesEffectAt }: ActionName): string =>
  `${instrumentId} ${kind} ${kind === 'settlement' ? day : takesEffectAt}`

/** Its name among those of before there was one per opening: a day may have its own. */
export const dayName = (action: ActionName): string => `${actionName(action)} ${action.day}`

/** The numbers of an action: amount, or new and old units. */
export type ActionNumbers = Pick<NewAction, 'amount' | 'newUnits' | 'oldUnits'>

const enteringLock = 0x4c4f434b41435453n

/** Lets one list at a time be entered: two of them may name one opening by different days, which no key could tell. */
export async function lockEntering(tx: Transaction): Promise<void> {
  await tx.run`select pg_advisory_xact_lock(${enteringLock}::bigint)`
}

/** Known actions of these names; what is known of a day itself by that as well. */
export async function findActions(
  sql: Sql,
  names: readonly ActionName[],
): Promise<Map<string, ActionNumbers>> {
  const rows = await sql.rows<
    ActionName & { readonly isOfDay: boolean } & Record<keyof ActionNumbers, string | null>
  >`
    select n.instrument_id as "instrumentId", n.kind, n.day, n.takes_effect_at as "takesEffectAt",
      a.ex_date = n.day as "isOfDay", a.amount,
      a.new_units as "newUnits", a.old_units as "oldUnits"
    from unnest(${names.map(({ instrumentId }) => instrumentId)}::bigint[],
      ${names.map(({ kind }) => kind)}::text[], ${names.map(({ day }) => day)}::date[],
      ${names.map(({ takesEffectAt }) => instant(takesEffectAt))}::timestamptz[])
      n (instrument_id, kind, day, takes_effect_at)
    join corporate_action a on a.instrument_id = n.instrument_id and a.kind = n.kind
      and (a.ex_date = n.day or (a.kind <> 'settlement' and a.takes_effect_at = n.takes_effect_at))`
  return new Map(
    rows.flatMap((row) => {
      const numbers = {
        amount: decOrNull(row.amount),
        newUnits: decOrNull(row.newUnits),
        oldUnits: decOrNull(row.oldUnits),
      }
      const names = [actionName(row), ...(row.isOfDay ? [dayName(row)] : [])]
      return names.map((name) => [name, numbers] as const)
    }),
  )
}

/** Enters actions; one whose name is known stays as it is. Answers how many are new. */
export async function insertActions(
  tx: Transaction,
  actions: readonly NewAction[],
  now: Instant,
): Promise<number> {
  const column = <K extends keyof NewAction>(name: K): NewAction[K][] => actions.map((action) => action[name])
  return tx.run`
    insert into corporate_action (instrument_id, kind, ex_date, amount, new_units, old_units, takes_effect_at,
      imported_at, booked_at)
    select instrument_id, kind, ex_date, amount, new_units, old_units, takes_effect_at,
      ${instant(now)}::timestamptz, case kind when 'settlement' then ${instant(now)}::timestamptz end
    from unnest(${column('instrumentId')}::bigint[], ${column('kind')}::text[], ${column('day')}::date[],
      ${column('amount')}::numeric[], ${column('newUnits')}::numeric[], ${column('oldUnits')}::numeric[],
      ${actions.map(({ takesEffectAt }) => instant(takesEffectAt))}::timestamptz[])
      a (instrument_id, kind, ex_date, amount, new_units, old_units, takes_effect_at)
    order by 1, 2, 3
    on conflict (instrument_id, kind, ex_date) do nothing`
}

/** A settlement value is what its options have waited for. */
export const wakeSettled = (tx: Transaction, now: Instant): Promise<number> =>
  tx.run`
    update instrument i set due_at = ${instant(now)}::timestamptz
    from corporate_action a join instrument u on u.id = a.instrument_id
    where a.kind = 'settlement' and i.security_type = 'OPT' and i.underlying = u.symbol and i.expiry = a.ex_date
      and i.due_at > ${instant(now)}::timestamptz and i.last_trading_day < i.expiry
      and a.imported_at = ${instant(now)}::timestamptz`

/** An instrument as far as an action on it, or the end of its trading, needs it. */
export interface ActionInstrument {
  readonly id: number
  readonly symbol: string
  readonly calendar: CalendarName
  readonly securityType: SecurityType
  /** YYYY-MM-DD; null where trading does not end. */
  readonly lastTradingDay: string | null
  readonly hasEnded: boolean
}

/** The instruments of symbols. */
export const findActionInstruments = (sql: Sql, symbols: readonly string[]): Promise<ActionInstrument[]> =>
  sql.rows<ActionInstrument>`
    select id, symbol, calendar, security_type as "securityType", last_trading_day as "lastTradingDay",
      ended_at is not null as "hasEnded"
    from instrument where symbol = any(${symbols}::text[])`

/** True while an action waits that has taken effect. */
export const isActionDue = (now: Instant): Fragment => fragment`exists (
  select from corporate_action where booked_at is null and ${hasCome(fragment`takes_effect_at`, now)})`

/** When the next action takes effect. */
export const findNextAction = firstMoment`
  select takes_effect_at from corporate_action where booked_at is null order by takes_effect_at limit 1`

export interface DueAction {
  readonly id: number
  readonly instrumentId: number
  readonly symbol: string
  readonly currency: string
  readonly kind: 'dividend' | 'split'
  readonly amount: string | null
  readonly newUnits: string | null
  readonly oldUnits: string | null
  readonly at: Instant
  /** It was entered when it had taken effect: what was traded since, at the opening too, is no part of it. */
  readonly isLate: boolean
}

/** The earliest action that took effect by then, claimed; at one moment dividends come before splits. */
export const claimAction = (tx: Transaction, by: Instant): Promise<DueAction | undefined> =>
  tx.maybe<DueAction>`
    select a.id, a.instrument_id as "instrumentId", i.symbol, i.currency, a.kind, a.amount,
      a.new_units as "newUnits", a.old_units as "oldUnits", a.takes_effect_at as at,
      a.imported_at >= a.takes_effect_at as "isLate"
    from corporate_action a join instrument i on i.id = a.instrument_id
    where a.booked_at is null and ${hasCome(fragment`a.takes_effect_at`, by)}
    order by a.takes_effect_at, a.kind, a.id limit 1 for update of a`

/** Notes that the action is booked, in the transaction that books it. */
export const settleAction = (tx: Transaction, id: number, now: Instant): Promise<number> =>
  tx.run`update corporate_action set booked_at = ${instant(now)}::timestamptz where id = ${id}::bigint`

/** What was traded of a position since the action took effect, adjustments of later actions included; signed. */
const tradedSince = ({ at, instrumentId, isLate }: DueAction): Fragment =>
  isLate
    ? fragment`(
      coalesce((select sum(case f.side when '1' then f.quantity else -f.quantity end) from fill f
        where f.strategy_id = p.strategy_id and f.instrument_id = ${instrumentId}::bigint
          and f.filled_at >= ${instant(at)}::timestamptz), 0)
      + coalesce((select sum(j.quantity_change) from position_adjustment j join corporate_action b on b.id = j.action_id
        where j.strategy_id = p.strategy_id and b.instrument_id = ${instrumentId}::bigint
          and b.takes_effect_at >= ${instant(at)}::timestamptz), 0))`
    : fragment`0`

/** When the account of a ledger `p` began anew: whatever happened before is none of what it holds. */
const lastReset = fragment`coalesce((
  select max(booked_at) from account_entry n where n.account_id = p.account_id and n.kind = 'reset'), '-infinity')`

/** What was executed for a ledger `p` since the action took effect, adjustments of later actions included; signed. */
export const executedSince = ({
  at,
  instrumentId,
  isLate,
}: Pick<DueAction, 'at' | 'instrumentId' | 'isLate'>): Fragment =>
  isLate
    ? fragment`(
      coalesce((select sum(case e.side when '1' then e.quantity else -e.quantity end) from ${executions}
        where e.account_id = p.account_id and e.setup_id is not distinct from p.setup_id
          and e.instrument_id = ${instrumentId}::bigint
          and ${countsFrom} >= ${instant(at)}::timestamptz and ${countsFrom} > ${lastReset}), 0)
      + coalesce((select sum(j.quantity_change) from account_adjustment j join corporate_action b on b.id = j.action_id
        where j.account_id = p.account_id and j.setup_id is not distinct from p.setup_id
          and b.instrument_id = ${instrumentId}::bigint
          and b.takes_effect_at >= ${instant(at)}::timestamptz and b.takes_effect_at > ${lastReset}), 0))`
    : fragment`0`

/** Pays a dividend to what strategies held at its moment, at the rate `fx`; answers how many were paid. */
export async function payStrategies(tx: Transaction, action: DueAction, fx: Decimal): Promise<number> {
  await tx.run`
    select id from strategy where id in (
      select strategy_id from position where instrument_id = ${action.instrumentId}::bigint
        and (quantity <> 0 or ${action.isLate}::boolean))
    order by id for no key update`
  return tx.run`
    with held as (
      select p.strategy_id, p.quantity - ${tradedSince(action)} as quantity
      from position p where p.instrument_id = ${action.instrumentId}::bigint
        and (p.quantity <> 0 or ${action.isLate}::boolean)
    ), paid as (
      insert into position_adjustment (action_id, strategy_id, quantity_before, quantity_change, cash_change)
      select ${action.id}::bigint, strategy_id, quantity, 0,
        round(quantity * ${action.amount}::numeric * ${fx}::numeric, 12)
      from held where quantity <> 0 order by strategy_id
      returning strategy_id, cash_change
    )
    update strategy set cash = cash + paid.cash_change from paid where strategy.id = paid.strategy_id`
}

/**
 * Pays a dividend to what setups and owners held at its moment, in the currency of their accounts, whose rates are
 * `rates`; answers how many accounts were paid. The accounts are locked.
 */
export const payAccounts = (
  tx: Transaction,
  action: DueAction,
  rates: ReadonlyMap<string, Decimal>,
): Promise<number> =>
  tx.run`
    with held as (
      select p.setup_id, p.account_id, p.quantity - ${executedSince(action)} as quantity
      from account_position p
      where p.instrument_id = ${action.instrumentId}::bigint and (p.quantity <> 0 or ${action.isLate}::boolean)
    ), paid as (
      insert into account_adjustment (action_id, setup_id, account_id, quantity_before, quantity_change, cash_change)
      select ${action.id}::bigint, held.setup_id, a.id, held.quantity, 0,
        round(held.quantity * ${action.amount}::numeric * coalesce(r.fx, 1), 12)
      from held join account a on a.id = held.account_id
      left join unnest(${[...rates.keys()]}::text[], ${[...rates.values()]}::numeric[]) r (currency, fx)
        on r.currency = a.currency
      where held.quantity <> 0 order by held.setup_id
      returning account_id, cash_change
    )
    update account set cash = cash + paid.total
    from (select account_id, sum(cash_change) as total from paid group by account_id) paid
    where account.id = paid.account_id`

/** The currencies of the accounts that hold an instrument, or held it. */
export async function listHolderCurrencies(sql: Sql, instrumentId: number): Promise<string[]> {
  const rows = await sql.rows<{ currency: string }>`
    select distinct a.currency from account_position p join account a on a.id = p.account_id
    where p.instrument_id = ${instrumentId}::bigint`
  return rows.map(({ currency }) => currency)
}

/**
 * Notes what a split did to options on the stock: an action of their own, booked with it. Answers the actions by
 * instrument, the split's own included. `multiplies`: the contracts multiply, their size stays.
 */
export async function insertAdjusted(
  tx: Transaction,
  action: DueAction,
  optionIds: readonly number[],
  multiplies: boolean,
): Promise<Map<number, number>> {
  const rows = await tx.rows<{ id: number; instrumentId: number }>`
    insert into corporate_action (instrument_id, kind, ex_date, new_units, old_units, resizes, takes_effect_at,
      imported_at, booked_at)
    select option_id, kind, ex_date, new_units, old_units, ${!multiplies}::boolean, takes_effect_at, imported_at,
      takes_effect_at
    from corporate_action, unnest(${optionIds}::bigint[]) o (option_id) where id = ${action.id}::bigint
    returning id, instrument_id as "instrumentId"`
  return new Map([
    ...rows.map((row) => [row.instrumentId, row.id] as const),
    [action.instrumentId, action.id],
  ])
}
