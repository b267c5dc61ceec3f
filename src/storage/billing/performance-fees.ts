/**
 * Fees on what setups have gained, settled when the terms of their subscriptions end: what each is decided from, and
 * what was settled, once for each setup and term.
 */

import type { FeeUnits } from '../../domain/billing/high-water-mark.ts'
import {
  type FeeSettlement,
  type SettledSetup,
  settleFee,
  shortfallOf,
} from '../../domain/billing/performance-fee.ts'
import { cents, type Decimal, dec, max, one, zero } from '../../domain/decimal.ts'
import type { Instant } from '../../domain/time.ts'
import { loadAccountValues } from '../accounts/account-values.ts'
import { cashOfSetup } from '../accounts/setup-entries.ts'
import type { Sql, Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { loadRateTable } from '../market/quotes.ts'
import { insertIncidents, type NewIncident } from '../work/incidents.ts'

/** In minor units: what the ledger can add up many times. More is no gain but a broken price. */
const largestCharge = dec('1e15')

/** A term that ends. */
export interface FeeTerm {
  readonly id: number
  readonly endsAt: Instant
  /** Of the term that follows it; absent: what the strategy's owner takes now. */
  readonly nextPercent?: number
}

interface SetupRow {
  readonly setupId: number
  readonly subscriptionId: number
  readonly accountId: number
  readonly strategyId: number
  readonly currency: string
  readonly chargedCurrency: string
  readonly percent: number
  readonly startedEquity: string
  readonly cashChange: string
  readonly capital: string | null
  readonly units: string | null
  readonly price: string | null
  readonly mark: string | null
  readonly fees: string | null
  /** The account's last settled setup for the strategy before this one; null where there is none. */
  readonly earlier: Readonly<Record<'units' | 'price' | 'mark', string>> | null
  /** What has moved the books of that one since: a trade that was taken back after its last settlement. */
  readonly earlierSince: string | null
}

/**
 * Setups in live accounts of those who subscribe to somebody else's strategy and pay a fee now or in their next term;
 * one that has stopped is settled once more. A term whose first payment never came was none: its gains pass free.
 */
const listSetups = (sql: Sql, terms: readonly FeeTerm[]): Promise<SetupRow[]> =>
  sql.rows<SetupRow>`
    select setup.id as "setupId", s.id as "subscriptionId", a.id as "accountId", a.currency,
      s.currency as "chargedCurrency",
      case s.status when 'pending' then 0 else s.performance_fee_percent end as percent,
      setup.strategy_id as "strategyId", coalesce(setup.started_equity, a.starting_cash) as "startedEquity",
      coalesce(moved.total, 0) as "cashChange", last.capital, last.units, last.price, last.mark, last.fees,
      earlier.holding as earlier, earlier.since as "earlierSince"
    from unnest(${terms.map(({ id }) => id)}::bigint[], ${terms.map(({ nextPercent }) => nextPercent ?? null)}::int[])
      ending (id, next_percent)
    join subscription s on s.id = ending.id
    join strategy on strategy.id = s.strategy_id and strategy.owner_person_id <> s.person_id
    join setup on setup.strategy_id = s.strategy_id
    join account a on a.id = setup.account_id and a.person_id = s.person_id and a.kind = 0
    left join lateral (
      select * from fee_settlement f where f.setup_id = setup.id order by f.settled_at desc limit 1) last on true
    left join lateral (
      select jsonb_build_object('units', f.units::text, 'price', f.price::text, 'mark', f.mark::text) as holding,
        -- What is left open at a stop is its holder's, and no gain or loss of the setup, nor is how its contract ends.
        case when not exists (select from account_position p where p.setup_id = e.id and p.quantity <> 0)
          and not (e.positions_left_open and exists (
            select from execution x where x.account_id = a.id and x.setup_id = e.id and x.order_id is null
              and x.executed_at > f.settled_at)) then (
          select coalesce(sum(cash_change), 0) - f.gain
          from (select e.id) setup cross join lateral (${cashOfSetup}) entry) end as since
      from fee_settlement f join setup e on e.id = f.setup_id
      where e.account_id = a.id and e.strategy_id = s.strategy_id and e.id < setup.id
      order by f.settled_at desc, e.id desc limit 1) earlier on true
    left join lateral (
      select sum(cash_change) as total from (${cashOfSetup}) entry) moved on true
    where s.kind = 'paid'
      and (s.performance_fee_percent > 0 or coalesce(ending.next_percent, strategy.performance_fee_percent) > 0)
      and (setup.stopped_at is null or last.settled_at is null or setup.stopped_at >= last.settled_at)
    order by setup.id`

const holdingOf = ({
  units,
  price,
  mark,
}: Readonly<Record<'units' | 'price' | 'mark', string>>): FeeUnits => ({
  units: dec(units),
  price: dec(price),
  mark: dec(mark),
})

function stateOf(row: SetupRow): SettledSetup | null {
  const { capital, units, price, mark, fees } = row
  if (capital === null || units === null || price === null || mark === null) return null
  return { holding: holdingOf({ units, price, mark }), capital: dec(capital), fees: dec(fees ?? 0) }
}

/** What the account was short of the height that was settled before, with what was taken back since. */
const earlierShortfall = ({ earlier, earlierSince }: SetupRow): Decimal =>
  earlier === null ? zero : max(zero, shortfallOf(holdingOf(earlier)).minus(earlierSince ?? 0))

interface Settled {
  readonly row: SetupRow
  readonly gain: Decimal
  readonly settlement: FeeSettlement
  /** In minor units of the subscription's currency. */
  readonly charged: bigint
}

/** Settles the fees of ending terms and answers what is to be charged for each subscription, in minor units. */
export const settleFees = async (tx: Transaction, terms: readonly FeeTerm[]): Promise<Map<number, bigint>> =>
  settle(tx, terms, await listSetups(tx, terms))

/**
 * Lets pass free what setups have gained while nobody subscribed, or before there was a fee: a subscription that begins
 * now charges for what is gained from now on.
 */
export async function passGains(sql: Sql, subscriptionId: number, at: Instant): Promise<void> {
  const terms = [{ id: subscriptionId, endsAt: at }]
  const rows = await listSetups(sql, terms)
  await settle(
    sql,
    terms,
    rows.map((row) => ({ ...row, percent: 0 })),
  )
}

async function settle(
  sql: Sql,
  terms: readonly FeeTerm[],
  rows: readonly SetupRow[],
): Promise<Map<number, bigint>> {
  if (rows.length === 0) return new Map()
  const values = await loadAccountValues(sql, [...new Set(rows.map(({ accountId }) => accountId))])
  const rates = await loadRateTable(
    sql,
    rows.map(({ chargedCurrency }) => chargedCurrency),
    rows.map(({ currency }) => currency),
  )
  const settled: Settled[] = []
  const surplus: SetupRow[] = []
  // By account and strategy, what the setup that was settled last here was short of its mark.
  const shortfalls = new Map<string, Decimal>()
  for (const row of rows) {
    const isAsIs = row.currency === row.chargedCurrency || row.percent === 0
    const fx = isAsIs ? one : rates.get(row.chargedCurrency)?.get(row.currency)
    // Without a rate nobody can say what it is; the next term asks for it, also of what has stopped.
    if (!fx) continue
    const worth = values.get(row.accountId)?.bySetup.get(row.setupId) ?? zero
    const gain = dec(row.cashChange).plus(worth)
    const followed = `${row.accountId} ${row.strategyId}`
    const shortfall = shortfalls.get(followed) ?? earlierShortfall(row)
    const facts = { startedEquity: dec(row.startedEquity), gain, shortfall }
    const settlement = settleFee(stateOf(row), facts, dec(row.percent).div(100))
    shortfalls.set(followed, shortfallOf(settlement.holding))
    const charged = cents(settlement.fee.times(fx)).times(100)
    // Left unsettled it is asked for by the next term, when the price that made it may be another.
    if (charged.greaterThan(largestCharge)) surplus.push(row)
    else settled.push({ row, gain, settlement, charged: BigInt(charged.toFixed(0)) })
  }
  await insertSettlements(sql, terms, settled)
  await insertIncidents(sql, surplus.map(surplusOf(terms)))
  const totals = new Map<number, bigint>()
  for (const { row, charged } of settled)
    totals.set(row.subscriptionId, (totals.get(row.subscriptionId) ?? 0n) + charged)
  return totals
}

const surplusOf =
  (terms: readonly FeeTerm[]) =>
  ({ setupId, subscriptionId }: SetupRow): NewIncident => {
    const occurredAt = terms.find(({ id }) => id === subscriptionId)?.endsAt ?? 0
    const key = `fee too large of setup ${setupId} at ${occurredAt}`
    return { key, kind: 'feeTooLarge', detail: { setupId, subscriptionId }, occurredAt }
  }

async function insertSettlements(
  sql: Sql,
  terms: readonly FeeTerm[],
  settled: readonly Settled[],
): Promise<void> {
  const ends = new Map(terms.map(({ id, endsAt }) => [id, endsAt]))
  const own = <T>(pick: (one: Settled) => T): T[] => settled.map(pick)
  await sql.run`
    insert into fee_settlement (setup_id, settled_at, subscription_id, percent, capital, gain, fee, charged, units,
      price, mark, fees)
    select * from unnest(${own(({ row }) => row.setupId)}::bigint[],
      ${own(({ row }) => instant(ends.get(row.subscriptionId) ?? 0))}::timestamptz[],
      ${own(({ row }) => row.subscriptionId)}::bigint[], ${own(({ row }) => row.percent)}::int[],
      ${own(({ settlement }) => settlement.capital)}::numeric[], ${own(({ gain }) => gain)}::numeric[],
      ${own(({ settlement }) => settlement.fee)}::numeric[], ${own(({ charged }) => charged)}::bigint[],
      ${own(({ settlement }) => settlement.holding.units)}::numeric[],
      ${own(({ settlement }) => settlement.holding.price)}::numeric[],
      ${own(({ settlement }) => settlement.holding.mark)}::numeric[],
      ${own(({ settlement }) => settlement.fees)}::numeric[])
    on conflict (setup_id, settled_at) do nothing`
}
