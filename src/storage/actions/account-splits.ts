/**
 * Splits on the accounts' side: sub-ledgers and what owners hold, account orders, the paper broker's book, each in one
 * statement for all. Brokers adjust what they work and hold by themselves; this is the same arithmetic on our record of it.
 */
import type { Decimal } from '../../domain/decimal.ts'
import { beforeOpening } from '../../domain/market/trading-day.ts'
import type { SplitRatio } from '../../domain/positions/split.ts'
import type { Instant } from '../../domain/time.ts'
import { lockHoldingAccounts } from '../accounts/holders.ts'
import { workingPaper } from '../brokers/paper.ts'
import { live } from '../database/order-statuses.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type CurrencyPair, tellUnrated, unratedIn } from '../market/missing-rates.ts'
import { loadRateTable } from '../market/quotes.ts'
import { cancelOrders } from '../mirror/account-orders.ts'
import { executedSince } from './corporate-actions.ts'
import { type LateAverage, loadLateAverages } from './late-averages.ts'

export interface AccountSplit {
  readonly actionId: number
  readonly instrumentId: number
  readonly ratio: SplitRatio
  readonly tick: Decimal
  /** Units multiply; otherwise an option's contract has changed its size and only prices are divided. */
  readonly multiplies: boolean
  /** In old units; null where nobody has ever quoted it. */
  readonly previousClose: Decimal | null
  readonly at: Instant
  /** It was entered when it had taken effect. */
  readonly isLate: boolean
}

/** Restates everything that accounts have in the instrument. The caller has locked its quote. */
export async function splitAccounts(tx: Transaction, split: AccountSplit): Promise<void> {
  await lockHoldingAccounts(tx, split.instrumentId, split.isLate)
  await splitLedgers(tx, split)
  await splitAccountOrders(tx, split)
  await splitPaperOrders(tx, split)
  await splitAccepted(tx, split)
}

const units = ({ ratio, multiplies }: AccountSplit, column: string): Fragment =>
  multiplies
    ? fragment`(${named(column)} * ${ratio.new}::numeric / ${ratio.old}::numeric)`
    : fragment`(${named(column)})`

const divided = ({ ratio }: AccountSplit, column: string): Fragment =>
  fragment`(${named(column)} * ${ratio.old}::numeric / ${ratio.new}::numeric)`

const onTick = (split: AccountSplit, column: string): Fragment =>
  fragment`(round(${divided(split, column)} / ${split.tick}::numeric) * ${split.tick}::numeric)`

/** What is more than whole units, counted in parts of one, as many as `old`: a seventh is paid for exactly. */
const remainder = ({ ratio, multiplies }: AccountSplit): Fragment =>
  multiplies
    ? fragment`mod(h.before * ${ratio.new}::numeric, ${ratio.old}::numeric)`
    : fragment`mod(h.before, 1) * ${ratio.new}::numeric`

/** An expression of this file's own words. */
const named = (text: string): Fragment => ({ strings: [text], values: [] })

/**
 * Whole units stay, the fraction is paid at the previous close to the cent: longs receive, shorts pay. What was traded
 * since a split that is entered late is in new units already; who has traded since has an average of his executions.
 */
async function splitLedgers(tx: Transaction, split: AccountSplit): Promise<void> {
  const { rates, unrated } = await holdersRates(tx, split)
  const late = split.isLate ? await loadLateAverages(tx, split) : []
  const column = <K extends keyof LateAverage>(name: K) => late.map((row) => row[name])
  const after = fragment`(p.quantity + held.after - held.before)`
  await tx.run`
    with held as (
      select p.setup_id, p.account_id, h.before, trunc(${units(split, 'h.before')}) as after,
        ${remainder(split)} as remainder,
        coalesce(${split.previousClose}::numeric, p.avg_px,
          late.avg_px * ${split.ratio.new}::numeric / ${split.ratio.old}::numeric)
          * i.point_value * coalesce(fx.rate, 1) as worth, late.avg_px, late.opened_at
      from account_position p join account a on a.id = p.account_id join instrument i on i.id = p.instrument_id
      cross join lateral (select p.quantity - ${executedSince(split)} as before) h
      left join unnest(${rates.map(({ currency }) => currency)}::text[], ${rates.map(({ rate }) => rate)}::numeric[])
        fx (currency, rate) on fx.currency = a.currency
      left join unnest(${column('accountId')}::bigint[], ${column('setupId')}::bigint[], ${column('avgPx')}::numeric[],
        ${late.map(({ openedAt }) => instant(openedAt))}::timestamptz[])
        late (account_id, setup_id, avg_px, opened_at)
        on late.account_id = p.account_id and late.setup_id is not distinct from p.setup_id
      where p.instrument_id = ${split.instrumentId}::bigint and h.before <> 0
        and (p.quantity <> 0 or late.avg_px is not null)
    ), noted as (
      insert into account_adjustment (action_id, setup_id, account_id, quantity_before, quantity_change, cash_change)
      select ${split.actionId}::bigint, setup_id, account_id, before, after - before,
        round(remainder * worth / ${split.ratio.new}::numeric, 2)
      from held order by setup_id
      returning setup_id, account_id, cash_change
    ), paid as (
      update account set cash = cash + n.total
      from (select account_id, sum(cash_change) as total from noted group by account_id) n
      where account.id = n.account_id
    )
    update account_position p set quantity = ${after},
      avg_px = case when ${after} <> 0 then coalesce(held.avg_px, ${divided(split, 'p.avg_px')}) end,
      opened_at = case when ${after} <> 0 then coalesce(held.opened_at, p.opened_at) end
    from held where p.account_id = held.account_id and coalesce(p.setup_id, 0) = coalesce(held.setup_id, 0)
      and p.instrument_id = ${split.instrumentId}::bigint`
  if (unrated.length > 0) await tellFractions(tx, split, unrated)
}

/** Fractions that were paid without a rate. */
async function tellFractions(
  tx: Transaction,
  { actionId, at }: AccountSplit,
  unrated: readonly CurrencyPair[],
): Promise<void> {
  const paid = await tx.rows<{ currency: string }>`
    select distinct a.currency from account_adjustment d join account a on a.id = d.account_id
    where d.action_id = ${actionId}::bigint and d.cash_change <> 0`
  const pairs = unrated.filter(({ account }) => paid.some(({ currency }) => currency === account))
  await tellUnrated(tx, pairs, at)
}

interface HoldersRates {
  readonly rates: readonly { readonly currency: string; readonly rate: Decimal }[]
  readonly unrated: readonly CurrencyPair[]
}

/** What the instrument's currency was worth at the opening in those of the accounts that hold it. */
async function holdersRates(
  tx: Transaction,
  { instrumentId, isLate, at }: AccountSplit,
): Promise<HoldersRates> {
  const pairs = await tx.rows<CurrencyPair>`
    select distinct a.currency as account, i.currency
    from account_position p join account a on a.id = p.account_id join instrument i on i.id = p.instrument_id
    where p.instrument_id = ${instrumentId}::bigint and (p.quantity <> 0 or ${isLate}::boolean)
      and a.currency <> i.currency`
  const table = await loadRateTable(
    tx,
    pairs.map(({ account }) => account),
    pairs.map(({ currency }) => currency),
    beforeOpening(at),
  )
  return {
    rates: [...table].flatMap(([currency, rates]) => [...rates.values()].map((rate) => ({ currency, rate }))),
    unrated: unratedIn(table, pairs),
  }
}

/**
 * Totals, executed quantities and prices in new units. One of which nothing whole is left is withdrawn, by its broker
 * where that has it; what it has executed, or may have executed before we are told, is in new units all the same.
 */
async function splitAccountOrders(tx: Transaction, split: AccountSplit): Promise<void> {
  const concerned = fragment`o.instrument_id = ${split.instrumentId}::bigint and o.status in ${live}
    and o.posted_at < ${instant(split.at)}::timestamptz`
  const left = fragment`trunc(${units(split, '(o.order_qty - o.cum_qty)')})`
  await cancelOrders(
    tx,
    fragment`${concerned} and o.status = 'A' and o.attempts = 0
      and ${left} = 0`,
    { at: split.at, info: 'split' },
  )
  await tx.run`
    insert into account_adjustment (action_id, setup_id, account_id, quantity_before, quantity_change, cash_change)
    select distinct ${split.actionId}::bigint, o.setup_id, o.account_id, 0, 0, 0 from account_order o where ${concerned}
    on conflict (action_id, setup_id, account_id) do nothing`
  await tx.run`
    update account_order o set
      order_qty = case when ${left} > 0 then ${units(split, 'o.cum_qty')} + ${left}
        else ${units(split, 'o.order_qty')} end,
      cum_qty = ${units(split, 'o.cum_qty')}, avg_px = ${divided(split, 'o.avg_px')},
      filled_value = case when ${split.multiplies}::boolean then o.filled_value else ${divided(split, 'o.filled_value')} end,
      carried_value = case when ${split.multiplies}::boolean then o.carried_value
        else ${divided(split, 'o.carried_value')} end,
      signal_filled_before = ${units(split, 'o.signal_filled_before')}, carried_qty = ${units(split, 'o.carried_qty')},
      limit_px = ${onTick(split, 'o.limit_px')}, stop_px = ${onTick(split, 'o.stop_px')},
      reference_px = ${divided(split, 'o.reference_px')}
    where ${concerned} and (${left} > 0 or o.cum_qty > 0 or o.attempts > 0)`
}

/** The broker's own book: what it executed stays as it told it, what is left is in new units. */
async function splitPaperOrders(tx: Transaction, split: AccountSplit): Promise<void> {
  const left = units(split, '(o.order_qty - o.cum_qty)')
  const carried = fragment`${units(split, '(o.carried_qty + o.cum_qty)')} - o.cum_qty`
  const concerned = workingPaper(fragment`
    o.instrument_id = ${split.instrumentId}::bigint and o.accepted_at < ${instant(split.at)}::timestamptz`)
  await tx.run`
    with ended as (
      update paper_order o set status = '4', needs_match = false, carried_qty = ${carried}
      where o.id = ${concerned} and trunc(${left}) = 0
      returning o.broker_id, o.account_id, o.client_order_id
    )
    insert into paper_report (broker_id, report_key, account_id, client_order_id, kind, symbol, occurred_at)
    select broker_id, 'A' || nextval('paper_report_id_seq'), account_id, client_order_id,
      'cancel', i.symbol, ${instant(split.at)}::timestamptz
    from ended join instrument i on i.id = ${split.instrumentId}::bigint`
  await tx.run`
    update paper_order o set order_qty = o.cum_qty + trunc(${left}),
      carried_qty = ${carried},
      limit_px = ${onTick(split, 'o.limit_px')}, stop_px = ${onTick(split, 'o.stop_px')}
    where o.id = ${concerned}`
}

/** What brokers held beyond our books when AutoSync was switched on again, and what they hold beyond that. */
const splitAccepted = (tx: Transaction, split: AccountSplit): Promise<number> =>
  tx.run`
    update position_gap g set accepted = trunc(${units(split, 'g.accepted')}),
      difference = trunc(${units(split, 'g.difference')})
    from instrument i where i.id = ${split.instrumentId}::bigint and g.symbol = i.symbol`
