/** Contracts whose trading ends: which one is next, what it is worth at its end, and what its end writes. */

import type { PutOrCall, SecurityType } from '../../domain/codes.ts'
import { type Decimal, dec } from '../../domain/decimal.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import type { Settlement } from '../../domain/market/instrument.ts'
import type { Instant } from '../../domain/time.ts'
import { lockHolders, lockHoldingAccounts, lockMarks } from '../accounts/holders.ts'
import { type LedgerKey, ledgerName } from '../accounts/ledgers.ts'
import { countsFrom, executions } from '../accounts/setup-entries.ts'
import { endPaperOrders } from '../brokers/paper.ts'
import { firstMoment, hasCome } from '../database/moments.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { cancelOrders } from '../mirror/account-orders.ts'

/** A contract that time has something to do with. Numbers are exact texts. */
export interface EndingRow {
  readonly id: number
  readonly securityType: SecurityType
  readonly calendar: CalendarName
  /** YYYY-MM-DD. */
  readonly lastTradingDay: string | null
  readonly expiry: string | null
  readonly root: string
  /** Of an option whose underlying is an instrument here. */
  readonly underlyingId: number | null
  /** YYYY-MM-DD: the last day of an underlying that has traded less long. */
  readonly underlyingEnd: string | null
  readonly putOrCall: PutOrCall | null
  readonly strike: string | null
  readonly pointValue: string
  readonly settlement: Settlement | null
  readonly dueAt: Instant
  /** When it was settled; null the first time. Again, what accounts are told of only now is settled. */
  readonly endedAt: Instant | null
}

/** True while a contract waits for its end. */
export const isEndDue = (now: Instant): Fragment => fragment`exists (
  select from instrument where ${hasCome(fragment`due_at`, now)})`

/** When time next ends something about a contract. */
export const findNextEnd = firstMoment`
  select due_at from instrument where due_at is not null order by due_at limit 1`

/**
 * The contract whose end comes first, and not later than at `by`, claimed. Its row is locked behind those of its holders:
 * who has one of theirs writes rows that name the contract, and would wait for its end while that waits for him. The lock
 * keeps such rows out, so that what is booked beside the end is seen by it or finds it ended.
 */
export async function claimEnding(tx: Transaction, by: Instant): Promise<EndingRow | undefined> {
  const next = await tx.maybe<{ id: number; underlyingId: number | null }>`
    select i.id, u.id as "underlyingId" ${endingTables}
    where ${hasCome(fragment`i.due_at`, by)} order by i.due_at, i.id limit 1`
  if (!next) return undefined
  await lockMarks(tx, [next.id, next.underlyingId ?? next.id])
  await lockHolders(tx, [next.id])
  await lockHoldingAccounts(tx, next.id)
  return tx.maybe<EndingRow>`
    select i.id, i.security_type as "securityType", i.calendar, i.last_trading_day as "lastTradingDay",
      i.expiry, i.root, u.id as "underlyingId",
      case when u.last_trading_day < i.last_trading_day then u.last_trading_day end as "underlyingEnd", i.put_or_call as "putOrCall", i.strike, i.point_value as "pointValue",
      i.settlement, i.due_at as "dueAt", i.ended_at as "endedAt" ${endingTables}
    where i.id = ${next.id}::bigint and i.due_at <= ${instant(by)}::timestamptz for update of i`
}

/** Whether another option on the underlying has ended by this moment and is still to be settled. */
export const hasOtherEnds = async (
  tx: Transaction,
  { id, underlyingId, at }: { id: number; underlyingId: number; at: Instant },
): Promise<boolean> =>
  (
    await tx.one<{ has: boolean }>`
      select exists (
        select ${endingTables}
        where u.id = ${underlyingId}::bigint and i.id <> ${id}::bigint and i.due_at <= ${instant(at)}::timestamptz
      ) as has`
  ).has

const endingTables = fragment`
  from instrument i left join instrument u on i.security_type = 'OPT' and u.symbol = i.underlying`

/** Settles contracts that have ended again: an account was told late of what it traded in them. */
export const settleAgain = (tx: Transaction, ids: readonly number[], now: Instant): Promise<number> =>
  tx.run`
    update instrument set due_at = ${instant(now)}::timestamptz
    where id = any(${uncounted(ids, 'bigint')}::bigint[]) and ended_at is not null`

/** Notes when time next ends something about the contract; null: its trading has ended for good, since the first time. */
export const postponeEnd = (
  tx: Transaction,
  id: number,
  next: Instant | null,
  now: Instant,
): Promise<number> =>
  tx.run`
    update instrument set due_at = ${instant(next)}::timestamptz,
      ended_at = case when ${instant(next)}::timestamptz is null
        then coalesce(ended_at, ${instant(now)}::timestamptz) end
    where id = ${id}::bigint`

/**
 * The settlement value that was entered for a stock that is delisted on a day (YYYY-MM-DD), or for options on it which
 * expire on it; one that came when these had been settled without it changes nothing: not later than `endedAt`.
 */
export async function findSettlementValue(
  sql: Sql,
  instrumentId: number,
  day: string,
  endedAt: Instant | null,
): Promise<{ readonly amount: Decimal; readonly enteredAt: Instant } | undefined> {
  const row = await sql.maybe<{ amount: string; enteredAt: Instant }>`
    select amount, imported_at as "enteredAt" from corporate_action
    where instrument_id = ${instrumentId}::bigint and kind = 'settlement' and ex_date = ${day}::date
      and imported_at <= coalesce(${instant(endedAt)}::timestamptz, imported_at)`
  return row && { ...row, amount: dec(row.amount) }
}

/** What a setup, or the owner himself, holds of a contract that ends. */
export interface EndingLedger {
  /** Both null for what is the owner's own. */
  readonly setupId: number | null
  readonly strategyId: number | null
  readonly accountId: number
  readonly brokerId: number
  readonly currency: string
  readonly quantity: string
  readonly avgPx: string | null
  readonly openedAt: Instant | null
}

/** The ledgers that hold the instrument; their accounts are locked. */
export async function lockEndingLedgers(tx: Transaction, instrumentId: number): Promise<EndingLedger[]> {
  // Some may have come before the contract was locked.
  await lockHoldingAccounts(tx, instrumentId)
  return tx.rows<EndingLedger>`
    select p.setup_id as "setupId", p.account_id as "accountId", a.broker_id as "brokerId",
      p.strategy_id as "strategyId", a.currency, p.quantity, p.avg_px as "avgPx", p.opened_at as "openedAt"
    from account_position p join account a on a.id = p.account_id
    where p.instrument_id = ${instrumentId}::bigint and p.quantity <> 0 order by p.account_id, p.setup_id`
}

/** When the last of what moved ledgers of a contract since its end was settled in them took effect. */
export async function loadLastMoves(
  tx: Transaction,
  contractId: number,
  accountIds: readonly number[],
): Promise<Map<string, Instant>> {
  // Settled once for all: asked of each execution it looks so dear that what is taken back is looked for in all there are.
  const rows = await tx.rows<LedgerKey & { at: Instant }>`
    with settled as (
      select s.account_id, s.setup_id, max(s.id) as id from execution s
      where s.account_id = any(${accountIds}::bigint[]) and s.instrument_id = ${contractId}::bigint
        and ${isEndOf(contractId, 's')}
      group by 1, 2
    )
    select e.account_id as "accountId", e.setup_id as "setupId", e.instrument_id as "instrumentId",
      max(${countsFrom}) as at
    from ${executions}
    left join settled s on s.account_id = e.account_id and s.setup_id is not distinct from e.setup_id
    where e.account_id = any(${accountIds}::bigint[]) and e.instrument_id = ${contractId}::bigint
      and e.id > coalesce(s.id, 0)
    group by 1, 2, 3`
  return new Map(rows.map(({ at, ...key }) => [ledgerName(key), at]))
}

/** A condition in SQL on an execution: it settled the contract, the first time or again. */
const isEndOf = (contractId: number, row: 'e' | 's'): Fragment => {
  const name = row === 'e' ? fragment`e.exec_id` : fragment`s.exec_id`
  return fragment`(${name} like ${`END-${contractId}-%`} or ${name} like ${`END-${contractId}.%`})`
}

/**
 * At which rates accounts were paid for the end of a contract, and for what it delivered, by account and instrument:
 * account currency per unit of quote currency.
 */
export async function loadEndRates(
  tx: Transaction,
  contractId: number,
  accountIds: readonly number[],
): Promise<Map<string, Decimal>> {
  const rows = await tx.rows<{ accountId: number; instrumentId: number; fx: string }>`
    select distinct on (e.account_id, e.instrument_id) e.account_id as "accountId", e.instrument_id as "instrumentId", e.fx
    from execution e where e.account_id = any(${accountIds}::bigint[]) and ${isEndOf(contractId, 'e')}
    order by e.account_id, e.instrument_id, e.id`
  return new Map(rows.map(({ accountId, instrumentId, fx }) => [`${accountId} ${instrumentId}`, dec(fx)]))
}

/** Ends what accounts have at work in an instrument: the broker's orders expire, what it has not seen is withdrawn. */
export async function expireAccountOrders(
  tx: Transaction,
  instrumentId: number,
  end: { readonly at: Instant; readonly info: string },
): Promise<void> {
  const inIt = fragment`o.instrument_id = ${instrumentId}::bigint`
  await cancelOrders(tx, fragment`${inIt} and o.status = 'A' and o.attempts = 0`, end)
  await endPaperOrders(tx, 'C', inIt, fragment`${instant(end.at)}::timestamptz`)
}
