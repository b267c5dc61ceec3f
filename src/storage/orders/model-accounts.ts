/**
 * The money of strategies, many in one statement: cash, positions at their last quotes, and the instruments
 * that somebody is about to trade. Read under the strategies' locks it is exact until the commit.
 */

import { type Decimal, dec, decOrNull, one } from '../../domain/decimal.ts'
import { groupBy, oneOfEach } from '../../domain/group.ts'
import { baseCurrencyOf } from '../../domain/margin/margin-position.ts'
import type { Holding, ModelAccount } from '../../domain/margin/model-account.ts'
import type { CalendarName } from '../../domain/market/calendar.ts'
import { cutoffOf } from '../../domain/market/expiration.ts'
import type { PlanRates } from '../../domain/positions/commission.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Sql, type Transaction, uncounted } from '../database/sql.ts'
import {
  type MarginInstrumentRow,
  marginInstrumentColumns,
  marginInstrumentOf,
} from '../market/margin-instruments.ts'
import { loadRates } from '../market/quotes.ts'
import { type BookKey, bookKeys, bookName } from '../work/matching.ts'
import { bookCurrency, lastFx } from './order-books.ts'

/** What a strategy has of an instrument, perhaps nothing. Numbers are exact texts. */
export interface HoldingRow extends BookKey, MarginInstrumentRow {
  readonly quantity: string
  readonly avgPx: string | null
  readonly bid: string | null
  readonly ask: string | null
  readonly calendar: CalendarName
  readonly lastTradingDay: string | null
}

/**
 * The accounts of strategies with what they hold and nothing else. One that holds nothing is missing: its cash is
 * all there is.
 */
export const loadHeldAccounts = (
  sql: Sql,
  strategyIds: readonly number[],
): Promise<Map<number, ModelAccount>> =>
  // No instrument has the number 0: only what is held is found.
  loadModelAccounts(
    sql,
    strategyIds.map((strategyId) => ({ strategyId, instrumentId: 0 })),
    null,
  )

/** The accounts of the keys' strategies, with everything they hold and the keys' instruments; charged by `plan`. */
export async function loadModelAccounts(
  sql: Sql,
  keys: readonly BookKey[],
  plan: PlanRates | null,
): Promise<Map<number, ModelAccount>> {
  if (keys.length === 0) return new Map()
  const strategyIds = keys.map(({ strategyId }) => strategyId)
  const rows = await sql.rows<HoldingRow & { cash: string }>`
    select strategy.cash, ${holdingColumns}
    from (
      select * from unnest(${bookKeys(keys)}) wanted (strategy_id, instrument_id)
      union
      select strategy_id, instrument_id from position
      where strategy_id = any(${uncounted(strategyIds, 'bigint')}::bigint[]) and quantity <> 0
    ) held join strategy on strategy.id = held.strategy_id ${holdingTables}`
  return accountsOf(sql, rows, new Map(rows.map((row) => [row.strategyId, row])), plan)
}

/** Columns of a `HoldingRow`, from `holdingTables`. */
export const holdingColumns: Fragment = fragment`
  held.strategy_id as "strategyId", i.id as "instrumentId", coalesce(p.quantity, 0) as quantity,
  p.avg_px as "avgPx", q.bid, q.ask, ${marginInstrumentColumns}, i.calendar,
  i.last_trading_day as "lastTradingDay"`

/** What strategies hold of the instruments in `held (strategy_id, instrument_id)`, perhaps nothing. */
export const holdingTables: Fragment = fragment`
  join instrument i on i.id = held.instrument_id
  left join position p on p.strategy_id = held.strategy_id and p.instrument_id = i.id
  left join quote q on q.instrument_id = i.id`

/** The accounts that these holdings make up, some of which may be told twice; charged by `plan`. */
export async function accountsOf(
  sql: Sql,
  rows: readonly HoldingRow[],
  strategies: ReadonlyMap<number, { readonly cash: string }>,
  plan: PlanRates | null,
): Promise<Map<number, ModelAccount>> {
  const named = rows.flatMap((row) => [row.currency, baseCurrencyOf(row) ?? row.currency])
  const [rates, rare] = await Promise.all([loadRates(sql, bookCurrency, named), loadRareFacts(sql, rows)])
  const accounts = new Map<number, ModelAccount>()
  for (const [strategyId, own] of groupBy(rows, ({ strategyId }) => strategyId)) {
    const cash = strategies.get(strategyId)?.cash
    if (cash === undefined) continue
    const holdings = oneOfEach(own, ({ instrumentId }) => instrumentId)
      .sort((row, other) => row.instrumentId - other.instrumentId)
      .map((row) => holdingOf(row, rates, rare.get(bookName(row))))
    accounts.set(strategyId, { cash: dec(cash), holdings, rates: plan })
  }
  return accounts
}

/** What few holdings need beside. */
interface RareFacts extends BookKey {
  /** Of an option. */
  readonly underlyingPrice: string | null
  /** The rate at which the strategy traded last in an instrument that is not in the account's own currency. */
  readonly lastFx: string | null
}

const isRare = ({ securityType, currency }: HoldingRow): boolean =>
  securityType === 'OPT' || currency !== bookCurrency

/** By strategy and instrument; nothing is asked for where there is none that needs it. */
async function loadRareFacts(sql: Sql, rows: readonly HoldingRow[]): Promise<Map<string, RareFacts>> {
  const rare = rows.filter(isRare)
  if (rare.length === 0) return new Map()
  const facts = await sql.rows<RareFacts>`
    select held.strategy_id as "strategyId", i.id as "instrumentId", (u.bid + u.ask) / 2 as "underlyingPrice",
      ${lastFx(fragment`held.strategy_id`)} as "lastFx"
    from unnest(${bookKeys(rare)}) held (strategy_id, instrument_id)
    join instrument i on i.id = held.instrument_id
    left join instrument ui on i.security_type = 'OPT' and ui.symbol = i.underlying
    left join quote u on u.instrument_id = ui.id`
  return new Map(facts.map((row) => [bookName(row), row]))
}

const rateOf = (currency: string | null, rates: ReadonlyMap<string, Decimal>): Decimal | null =>
  currency === bookCurrency ? one : (rates.get(currency ?? '') ?? null)

const holdingOf = (
  row: HoldingRow,
  rates: ReadonlyMap<string, Decimal>,
  rare: RareFacts | undefined,
): Holding => ({
  instrumentId: row.instrumentId,
  quantity: dec(row.quantity),
  avgPx: decOrNull(row.avgPx),
  bid: decOrNull(row.bid),
  ask: decOrNull(row.ask),
  fx: rateOf(row.currency, rates) ?? decOrNull(rare?.lastFx ?? null) ?? one,
  baseRate: rateOf(baseCurrencyOf(row), rates),
  underlyingPrice: decOrNull(rare?.underlyingPrice ?? null),
  cutoffAt: cutoffOf(row),
  instrument: marginInstrumentOf(row),
})

const hasCall = (strategy: Fragment, info: string): Fragment => fragment`exists (
  select from signal s where s.strategy_id = ${strategy} and s.info = ${info}
    and s.status in ${live})`

/** Which of the strategies work on a margin call already. The caller has locked them. */
export async function listCalled(
  tx: Transaction,
  strategyIds: readonly number[],
  info: string,
): Promise<Set<number>> {
  const rows = await tx.rows<{ id: number }>`
    select id from unnest(${strategyIds}::bigint[]) asked (id) where ${hasCall(fragment`asked.id`, info)}`
  return new Set(rows.map(({ id }) => id))
}

/** True while the mark of an instrument has moved. */
export const isMarginDue: Fragment = fragment`exists (select from quote where margin_due)`

/**
 * Takes up to `limit` instruments whose mark has moved and answers whose margin that moves: who holds one of them, an
 * option on it, or what is quoted in the currency of a pair. Strategies that work on a margin call already are left
 * out.
 */
export async function claimMarked(tx: Transaction, info: string, limit: number): Promise<BookKey[]> {
  return tx.rows<BookKey>`
    with marked as materialized (
      update quote set margin_due = false where instrument_id = any(array(
        select instrument_id from quote where margin_due order by instrument_id limit ${limit} for update skip locked))
      returning instrument_id
    ), moved as (
      select instrument_id from marked
      union
      select o.id from marked join instrument u on u.id = marked.instrument_id
      join instrument o on o.security_type = 'OPT' and o.underlying = u.symbol
      union
      select i.id from marked join instrument pair on pair.id = marked.instrument_id and pair.security_type = 'FOR'
      join instrument i on i.currency = case ${bookCurrency}
        when right(pair.symbol, 3) then left(pair.symbol, 3) when left(pair.symbol, 3) then right(pair.symbol, 3) end
    )
    select p.strategy_id as "strategyId", min(p.instrument_id) as "instrumentId"
    from moved join position p on p.instrument_id = moved.instrument_id and p.quantity <> 0
    where not ${hasCall(fragment`p.strategy_id`, info)}
    group by p.strategy_id order by p.strategy_id`
}
