/**
 * Fees on what setups have gained, settled when the terms of their subscriptions end: what each is decided from, and
 * what was settled, once for each setup and term.
 */

import {
  type ChainedSetup,
  type FeeSettlement,
  mayBeSettled,
  settleChain,
} from '../../domain/billing/performance-fee.ts'
import { type Collected, isCollected, textOfCents } from '../../domain/billing/revenue.ts'
import { cents, type Decimal, dec, one, zero } from '../../domain/decimal.ts'
import { groupBy } from '../../domain/group.ts'
import type { Instant } from '../../domain/time.ts'
import { type HeldRow, heldBySetup, worthOfSetups } from '../accounts/account-values.ts'
import { cashOfSetups, quantitiesKnown } from '../accounts/setup-entries.ts'
import { type Fragment, fragment, type Sql, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { loadRateTable } from '../market/quotes.ts'
import { insertIncidents, type NewIncident } from '../work/incidents.ts'
import { collectedBy } from './charges.ts'

/** What one statement reads: it has its time, and accounts have traded for years. */
const termsAtOnce = 100

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
  /** Of the moment of what it holds. */
  readonly cashChange: string
  readonly held: readonly HeldRow[] | null
  readonly last: LastSettlement | null
  /** To be settled; else it was, since it stopped and held no more. */
  readonly isDue: boolean
  /** Nothing that it holds or held is its holder's own. */
  readonly isClosed: boolean
}

type LastSettlement = Readonly<
  { settledAt: Instant } & Record<
    'capital' | 'gain' | 'carried' | 'units' | 'price' | 'mark' | 'fees',
    string
  >
>

/**
 * Whether a setup that has stopped held something when it was last settled, as far as was known then, which is to be
 * closed. One that was closed before it need not be looked through; what was told or taken back since says when it did,
 * for the others.
 */
const wasHeld: Fragment = fragment`not is_left_open and (closed_at is null or closed_at >= last.settled_at) and exists (
  select from (${quantitiesKnown(fragment`setup.account_id`, fragment`setup.id`)}) moved where moved.at <= last.settled_at
  group by moved.instrument_id having sum(moved.quantity) <> 0)`

/**
 * Whether something has ended what a setup held since it was last settled, without an order: its contract, or a split.
 * What is left open at a stop is its holder's, and how it ends is no gain or loss of the setup.
 */
const endedByItself: Fragment = fragment`(
  exists (select from execution x where x.account_id = setup.account_id and x.setup_id = setup.id
    and x.order_id is null and x.executed_at > last.settled_at)
  or exists (select from account_adjustment j join corporate_action c on c.id = j.action_id
    where j.account_id = setup.account_id and j.setup_id = setup.id and c.takes_effect_at > last.settled_at))`

/** What moved the cash of setups. Each account is read once: it may have had many, and its executions are in no order. */
const cashOfChained: Fragment = fragment`
  select entry.setup_id, sum(entry.cash_change) as total
  from (select distinct account_id as id from chained) a
  cross join lateral (${cashOfSetups(fragment`a.id`)}) entry
  group by entry.setup_id`

/**
 * Setups in live accounts of those who subscribe to somebody else's strategy and pay a fee now or in their next term;
 * one that has stopped is settled once more, or until what it then held is closed, and listed ever after for what is
 * taken back of it. A term whose first payment never came was none: its gains pass free.
 */
const listSetups = (sql: Sql, terms: readonly FeeTerm[]): Promise<SetupRow[]> =>
  sql.rows<SetupRow>`
    with chained as materialized (
      select setup.id, setup.account_id, setup.strategy_id, setup.stopped_at, setup.closed_at, a.currency,
        coalesce(setup.positions_left_open, false) as is_left_open,
        coalesce(setup.started_equity, a.starting_cash) as started_equity,
        s.id as subscription_id, s.currency as charged_currency,
        case s.status when 'pending' then 0 else s.performance_fee_percent end as percent
      from unnest(${terms.map(({ id }) => id)}::bigint[], ${terms.map(({ nextPercent }) => nextPercent ?? null)}::int[])
        ending (id, next_percent)
      join subscription s on s.id = ending.id
      join strategy on strategy.id = s.strategy_id and strategy.owner_person_id <> s.person_id
      join setup on setup.strategy_id = s.strategy_id
      join account a on a.id = setup.account_id and a.person_id = s.person_id and a.kind = 0
      where s.kind = 'paid'
        and (s.performance_fee_percent > 0 or coalesce(ending.next_percent, strategy.performance_fee_percent) > 0))
    select setup.id as "setupId", setup.subscription_id as "subscriptionId", account_id as "accountId", currency,
      charged_currency as "chargedCurrency", setup.percent, strategy_id as "strategyId",
      started_equity as "startedEquity", coalesce(moved.total, 0) as "cashChange", holding.held,
      case when last.settled_at is not null then jsonb_build_object(
        'settledAt', extract(epoch from last.settled_at) * 1000, 'capital', last.capital::text, 'gain', last.gain::text,
        'carried', last.carried::text, 'units', last.units::text, 'price', last.price::text,
        'mark', last.mark::text, 'fees', last.fees::text) end as last,
      stopped_at is null or last.settled_at is null or stopped_at >= last.settled_at or ${wasHeld} as "isDue",
      holding.held is null and not (is_left_open and ${endedByItself}) as "isClosed"
    from chained setup
    left join lateral (
      select * from fee_settlement f where f.setup_id = setup.id and not f.is_void
      order by f.settled_at desc limit 1) last on true
    left join lateral (${heldBySetup(fragment`setup.id`)}) holding (held) on true
    left join (${cashOfChained}) moved on moved.setup_id = setup.id
    order by setup.id`

const stateOf = ({ settledAt, units, price, mark, ...sums }: LastSettlement) => ({
  settledAt,
  holding: { units: dec(units), price: dec(price), mark: dec(mark) },
  capital: dec(sums.capital),
  gain: dec(sums.gain),
  carried: dec(sums.carried),
  fees: dec(sums.fees),
})

const chainOf = ({ accountId, strategyId }: SetupRow): string => `${accountId} ${strategyId}`

/** Setups by account and strategy: these are settled one after the other. */
const chainsOf = (rows: readonly SetupRow[]): (readonly SetupRow[])[] => [...groupBy(rows, chainOf).values()]

/** Of the subscription, the same for each of its setups. */
const rateOf = (chain: readonly SetupRow[]): Decimal => dec(chain[0]?.percent ?? 0).div(100)

const endsOf = (terms: readonly FeeTerm[]): ReadonlyMap<number, Instant> =>
  new Map(terms.map(({ id, endsAt }) => [id, endsAt]))

/**
 * What was settled since the term's end, before that was noticed, as who followed on paper began to follow with money:
 * what was gained after it is of the next term, which would find it above the same height once more.
 */
const isSettled = ({ last, subscriptionId }: SetupRow, ends: ReadonlyMap<number, Instant>): boolean =>
  last !== null && last.settledAt >= (ends.get(subscriptionId) ?? 0)

const dueChains = (rows: readonly SetupRow[], ends: ReadonlyMap<number, Instant>) =>
  chainsOf(rows).filter(
    (chain) => mayBeSettled(chain, rateOf(chain)) && !chain.some((row) => isSettled(row, ends)),
  )

interface ChainedRow extends ChainedSetup {
  readonly row: SetupRow
}

interface Settled {
  readonly row: SetupRow
  /** Taken of the gain; 0 where another setup carries it. */
  readonly percent: number
  readonly settlement: FeeSettlement
  /** In minor units of the subscription's currency. */
  readonly charged: Decimal
}

/**
 * Settles the fees of ending terms and answers what is to be charged for each subscription, in minor units. What comes to
 * less than is `collected` is left for the next term, or passes free where that has another percentage. What comes to
 * more is owed all the same, and told to the operator, who sees to its payment. What is more than any ledger adds up is left
 * in any case and told: nothing is let go at what must be a broken price.
 */
export async function settleFees(
  tx: Transaction,
  terms: readonly FeeTerm[],
  collected = collectedBy.simulated,
): Promise<Map<number, bigint>> {
  const totals = new Map<number, bigint>()
  const limits = { least: collected.least, most: collectedBy.simulated.most }
  for (let from = 0; from < terms.length; from += termsAtOnce) {
    const some = terms.slice(from, from + termsAtOnce)
    const rows = await listSetups(tx, some)
    const settled = await settle(tx, some, rows, limits)
    for (const [id, total] of settled.totals) totals.set(id, total)
    const large = [...settled.totals].filter(([, total]) => total > collected.most)
    const owed = large.map(([subscriptionId, charged]) => ({ row: { subscriptionId }, charged }))
    await tellOf(tx, 'feeNotCollected', owed, endsOf(some))
    const next = new Map(some.map(({ id, nextPercent }) => [id, nextPercent]))
    const passing = rows.filter(
      (row) => settled.left.has(chainOf(row)) && next.get(row.subscriptionId) !== row.percent,
    )
    await settle(tx, some, passing.map(free), limits)
  }
  return totals
}

/**
 * Lets pass free what setups have gained while nobody subscribed, or before there was a fee: a subscription that begins
 * now charges for what is gained from now on.
 */
export async function passGains(sql: Sql, subscriptionId: number, at: Instant): Promise<void> {
  const terms = [{ id: subscriptionId, endsAt: at }]
  const rows = await listSetups(sql, terms)
  await settle(sql, terms, rows.map(free), collectedBy.simulated)
}

const free = (row: SetupRow): SetupRow => ({ ...row, percent: 0 })

interface Settlements {
  /** What is to be charged for each subscription. */
  readonly totals: ReadonlyMap<number, bigint>
  /** The chains whose fees are too small to be collected. */
  readonly left: ReadonlySet<string>
}

async function settle(
  sql: Sql,
  terms: readonly FeeTerm[],
  rows: readonly SetupRow[],
  limits: Collected,
): Promise<Settlements> {
  const ends = endsOf(terms)
  const chains = dueChains(rows, ends)
  if (chains.length === 0) return { totals: new Map(), left: new Set() }
  const worths = await worthOfSetups(sql, chains.flat())
  const rates = await loadRateTable(
    sql,
    rows.map(({ chargedCurrency }) => chargedCurrency),
    rows.map(({ currency }) => currency),
  )
  const chainedOf = (row: SetupRow): ChainedRow => ({
    row,
    isDue: row.isDue,
    isClosed: row.isClosed,
    before: row.last && stateOf(row.last),
    gain: dec(row.cashChange).plus(worths.get(row.setupId) ?? zero),
    startedEquity: dec(row.startedEquity),
  })
  const settled: Settled[] = []
  const surplus: Settled[] = []
  for (const chain of chains) {
    const [{ currency, chargedCurrency, percent }] = chain as [SetupRow]
    const fx = currency === chargedCurrency || percent === 0 ? one : rates.get(chargedCurrency)?.get(currency)
    // Without a rate nobody can say what it is; the next term asks for it, also of what has stopped.
    if (!fx) continue
    const ofChain = settleChain(chain.map(chainedOf), rateOf(chain)).map(
      ({ setup: { row }, settlement, carries }) => ({
        row,
        settlement,
        percent: carries ? percent : 0,
        charged: cents(settlement.fee.times(fx)).times(100),
      }),
    )
    // Left unsettled it is asked for by the next term, when the price that made it may be another.
    const tooLarge = ofChain.filter(({ charged }) => charged.greaterThan(String(limits.most)))
    surplus.push(...tooLarge)
    if (tooLarge.length === 0) settled.push(...ofChain)
  }
  const { collected, small, large } = byTotal(settled, limits)
  surplus.push(...large.filter(({ charged }) => !charged.isZero()))
  await insertSettlements(sql, terms, collected)
  await tellOf(sql, 'feeTooLarge', surplus, ends)
  return { totals: totalsOf(collected), left: new Set(small.map(({ row }) => chainOf(row))) }
}

/** What comes to nothing for its subscription, or to what is collected; to less than that; to more. */
function byTotal(settled: readonly Settled[], limits: Collected) {
  const totals = totalsOf(settled)
  const totalOf = ({ row }: Settled): bigint => totals.get(row.subscriptionId) ?? 0n
  const isPlain = (one: Settled): boolean => totalOf(one) === 0n || isCollected(totalOf(one), limits)
  return {
    collected: settled.filter(isPlain),
    small: settled.filter((one) => !isPlain(one) && totalOf(one) < limits.least),
    large: settled.filter((one) => totalOf(one) > limits.most),
  }
}

/** By subscription. */
function totalsOf(settled: readonly Settled[]): Map<number, bigint> {
  const totals = new Map<number, bigint>()
  for (const { row, charged } of settled)
    totals.set(row.subscriptionId, (totals.get(row.subscriptionId) ?? 0n) + BigInt(charged.toFixed(0)))
  return totals
}

/** Of fees that are more than is collected in one payment, or than any ledger adds up: such a one is of a setup. */
const tellOf = (
  sql: Sql,
  kind: 'feeNotCollected' | 'feeTooLarge',
  fees: readonly {
    readonly row: Pick<SetupRow, 'subscriptionId'> & Partial<Pick<SetupRow, 'setupId'>>
    readonly charged: bigint | Decimal
  }[],
  ends: ReadonlyMap<number, Instant>,
): Promise<void> => {
  const told = fees.map(({ row: { subscriptionId, setupId }, charged }): NewIncident => {
    const occurredAt = ends.get(subscriptionId) ?? 0
    const whose = setupId === undefined ? `subscription ${subscriptionId}` : `setup ${setupId}`
    const detail = { ...(setupId !== undefined && { setupId }), subscriptionId, amount: textOfCents(charged) }
    return { key: `${kind} of ${whose} at ${occurredAt}`, kind, detail, occurredAt }
  })
  return insertIncidents(sql, told)
}

async function insertSettlements(
  sql: Sql,
  terms: readonly FeeTerm[],
  settled: readonly Settled[],
): Promise<void> {
  const ends = endsOf(terms)
  const own = <T>(pick: (one: Settled) => T): T[] => settled.map(pick)
  await sql.run`
    insert into fee_settlement (setup_id, settled_at, subscription_id, percent, capital, gain, carried, fee,
      charged, units, price, mark, fees)
    select * from unnest(${own(({ row }) => row.setupId)}::bigint[],
      ${own(({ row }) => instant(ends.get(row.subscriptionId) ?? 0))}::timestamptz[],
      ${own(({ row }) => row.subscriptionId)}::bigint[], ${own((one) => one.percent)}::int[],
      ${own(({ settlement }) => settlement.capital)}::numeric[], ${own(({ settlement }) => settlement.gain)}::numeric[],
      ${own(({ settlement }) => settlement.carried)}::numeric[],
      ${own(({ settlement }) => settlement.fee)}::numeric[], ${own(({ charged }) => charged)}::bigint[],
      ${own(({ settlement }) => settlement.holding.units)}::numeric[],
      ${own(({ settlement }) => settlement.holding.price)}::numeric[],
      ${own(({ settlement }) => settlement.holding.mark)}::numeric[],
      ${own(({ settlement }) => settlement.fees)}::numeric[])
    on conflict (setup_id, settled_at) do nothing`
}
