/**
 * What accounts are worth and what their setups have earned, in the accounts' own currencies: cash, and what is
 * held at the last marks. What belongs to no setup counts for the account alone.
 */

import type { SecurityType } from '../../domain/codes.ts'
import { type Decimal, dec, decOrNull, one, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import { accountValue, type Holding } from '../../domain/margin/model-account.ts'
import type { EndedDay } from '../../domain/market/trading-day.ts'
import { type Day, formatDay, readDay } from '../../domain/time.ts'
import { type Fragment, fragment, type Sql } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { loadRateTable } from '../market/quotes.ts'
import { cashOfSetup } from './setup-entries.ts'

interface ValueRow extends Omit<HeldRow, 'instrumentId'> {
  readonly accountId: number
  readonly currency: string
  readonly cash: string
  /** Null where the account holds nothing. */
  readonly instrumentId: number | null
}

/** What is held of an instrument, and what its worth follows from. */
export interface HeldRow {
  readonly instrumentId: number
  readonly quantity: string
  readonly avgPx: string
  readonly instrumentCurrency: string
  readonly securityType: SecurityType
  readonly pointValue: string
  readonly bid: string | null
  readonly ask: string | null
}

/** What accounts are worth now; of those that exist. */
export async function loadAccountValues(
  sql: Sql,
  accountIds: readonly number[],
): Promise<Map<number, Decimal>> {
  if (accountIds.length === 0) return new Map()
  const rows = await loadValueRows(sql, accountIds)
  const rates = await loadRateTable(
    sql,
    rows.map(({ currency }) => currency),
    rows.flatMap((row) => (row.instrumentId === null ? [] : [row.instrumentCurrency])),
  )
  return new Map(
    [...groupBy(rows, ({ accountId }) => accountId)].map(([accountId, held]) => {
      const holdings = held.flatMap((row) => {
        if (row.instrumentId === null) return []
        return [holdingOf(row, row.instrumentId, rates.get(row.currency)?.get(row.instrumentCurrency) ?? one)]
      })
      return [accountId, accountValue({ cash: dec(held[0].cash), holdings })]
    }),
  )
}

/**
 * What a setup holds, by its id, as one member of a row: it is of the moment of what else is read with it. Null where it
 * holds nothing.
 */
export const heldBySetup = (setupId: Fragment): Fragment => fragment`
  select jsonb_agg(jsonb_build_object('instrumentId', i.id, 'quantity', p.quantity::text, 'avgPx', p.avg_px::text,
    'instrumentCurrency', i.currency, 'securityType', i.security_type, 'pointValue', i.point_value::text,
    'bid', q.bid::text, 'ask', q.ask::text))
  from account_position p join instrument i on i.id = p.instrument_id left join quote q on q.instrument_id = i.id
  where p.setup_id = ${setupId} and p.quantity <> 0`

/** A setup with what it holds, as `heldBySetup` reads it. */
interface HoldingSetup {
  readonly setupId: number
  /** Of its account. */
  readonly currency: string
  readonly held: readonly HeldRow[] | null
}

/** Worth of what setups hold, in the currencies of their accounts; of those that hold something. */
export async function worthOfSetups(
  sql: Sql,
  setups: readonly HoldingSetup[],
): Promise<Map<number, Decimal>> {
  const holding = setups.flatMap(({ held, ...setup }) => (held ? [{ ...setup, held }] : []))
  if (holding.length === 0) return new Map()
  const rates = await loadRateTable(
    sql,
    holding.map(({ currency }) => currency),
    holding.flatMap(({ held }) => held.map(({ instrumentCurrency }) => instrumentCurrency)),
  )
  return new Map(
    holding.map(({ setupId, currency, held }) => {
      const holdings = held.map((row) => {
        return holdingOf(row, row.instrumentId, rates.get(currency)?.get(row.instrumentCurrency) ?? one)
      })
      return [setupId, accountValue({ cash: zero, holdings })]
    }),
  )
}

/** What accounts were worth at the end of a day, or of the last one before that was closed; of those that then were. */
export async function loadClosedValues(
  sql: Sql,
  accountIds: readonly number[],
  { day }: EndedDay,
): Promise<Map<number, { readonly value: Decimal; readonly day: Day }>> {
  const rows = await sql.rows<{ accountId: number; day: string; value: string }>`
    select asked.id as "accountId", last.day::text as day, last.value
    from unnest(${accountIds}::bigint[]) asked (id)
    cross join lateral (
      select d.day, d.value from account_day d
      where d.account_id = asked.id and d.day <= ${formatDay(day)}::date order by d.day desc limit 1) last`
  return new Map(
    rows.map((row) => [row.accountId, { value: dec(row.value), day: readDay(row.day) ?? day }] as const),
  )
}

const loadValueRows = (sql: Sql, accountIds: readonly number[]): Promise<ValueRow[]> =>
  sql.rows<ValueRow>`
    select a.id as "accountId", a.currency, a.cash, i.id as "instrumentId",
      held.quantity, held.avg_px as "avgPx", i.currency as "instrumentCurrency",
      i.security_type as "securityType", i.point_value as "pointValue", q.bid, q.ask
    from account a left join account_position held on held.account_id = a.id and held.quantity <> 0
    left join instrument i on i.id = held.instrument_id left join quote q on q.instrument_id = i.id
    where a.id = any(${accountIds}::bigint[]) order by a.id`

/** Worth asks nothing of an instrument but its class and what a point of it is worth. */
const unasked = {
  symbol: '',
  root: '',
  initialMargin: null,
  underlying: null,
  putOrCall: null,
  strike: null,
  expiry: null,
  indexOption: false,
} as const

const holdingOf = (row: Omit<HeldRow, 'instrumentId'>, instrumentId: number, fx: Decimal): Holding => ({
  instrumentId,
  instrument: { securityType: row.securityType, pointValue: dec(row.pointValue), ...unasked },
  quantity: dec(row.quantity),
  avgPx: dec(row.avgPx),
  bid: decOrNull(row.bid),
  ask: decOrNull(row.ask),
  fx,
  underlyingPrice: null,
  baseRate: null,
  cutoffAt: null,
})

/** A live setup as the dashboard measures it. Money in the account's currency. */
export interface SetupResult {
  readonly setupId: number
  readonly accountId: number
  readonly personId: number
  readonly brokerName: string
  readonly account: string
  readonly strategyId: number
  readonly strategyName: string
  readonly startedAt: number
  /** What the account was worth when the setup began. */
  readonly startedEquity: string
  readonly currency: string
  /** What it has done to the cash, in all and since the last close of the account. */
  readonly cashChange: string
  readonly recentCashChange: string
  /** Of the moment of the cash: a trade between the one and the other would be a gain or a loss of all that it traded. */
  readonly held: readonly HeldRow[] | null
  /** Whether the last close of the account was the early one. */
  readonly closedEarly: boolean
  /** Whether it may have held something then. */
  readonly isOlder: boolean
}

/**
 * The live setups of a person's accounts of this number, by id. `early`: the close at which some days have ended. What
 * was before a paper account began anew is no part of what it has earned.
 */
export const listSetupResults = (
  sql: Sql,
  personId: number | bigint,
  account: string,
  { last, early }: { readonly last: EndedDay; readonly early: EndedDay | null },
): Promise<SetupResult[]> =>
  sql.rows<SetupResult>`
    select setup.id as "setupId", a.id as "accountId", a.person_id as "personId", b.name as "brokerName",
      a.account, a.currency, setup.strategy_id as "strategyId", strategy.name as "strategyName",
      setup.started_at as "startedAt", coalesce(setup.started_equity, a.starting_cash) as "startedEquity",
      coalesce(moved.total, 0) as "cashChange",
      coalesce(case when anew.since then moved.total else moved.recent end, 0) as "recentCashChange", holding.held,
      closed.early as "closedEarly", coalesce(moved.first <= closed.at, false) and not anew.since as "isOlder"
    from setup join account a on a.id = setup.account_id join broker b on b.id = a.broker_id
    join strategy on strategy.id = setup.strategy_id
    left join account_record record on record.account_id = a.id
    cross join lateral (
      select early, case when early then ${early && instant(early.at)}::timestamptz
        else ${instant(last.at)}::timestamptz end as at
      from (select coalesce(record.closed_day = ${early && formatDay(early.day)}::date, false) as early) day
    ) closed
    cross join lateral (
      select exists (select from account_entry n where n.account_id = a.id and n.setup_id = setup.id
        and n.booked_at > closed.at) as since
    ) anew
    left join lateral (
      select sum(cash_change) as total, sum(cash_change) filter (where entry.at > closed.at) as recent,
        min(entry.at) as first
      from (${cashOfSetup}) entry
    ) moved on true
    left join lateral (${heldBySetup(fragment`setup.id`)}) holding (held) on true
    where setup.stopped_at is null and a.person_id = ${personId}::bigint and a.account = ${account}
    order by setup.id`

/** Notes what the account was worth when the setup began. */
export async function noteStartedEquity(sql: Sql, setupId: number, equity: Decimal): Promise<void> {
  await sql.run`update setup set started_equity = ${equity}::numeric where id = ${setupId}::bigint`
}
