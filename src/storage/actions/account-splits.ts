/**
 * Splits on the accounts' side: sub-ledgers and what owners hold, each in one statement for all, and their orders.
 * Brokers adjust what they work and hold by themselves; this is the same arithmetic on our record of it.
 */
import type { Decimal } from '../../domain/decimal.ts'
import { beforeOpening } from '../../domain/market/trading-day.ts'
import { lockHoldingAccounts } from '../accounts/holders.ts'
import { type Fragment, fragment, type Transaction } from '../database/sql.ts'
import { instant } from '../database/wire.ts'
import { type CurrencyPair, tellUnrated, unratedIn } from '../market/missing-rates.ts'
import { loadRateTable } from '../market/quotes.ts'
import { executedSince } from './corporate-actions.ts'
import { type LateAverage, loadLateAverages } from './late-averages.ts'
import { splitAccountOrders, splitPaperOrders } from './order-splits.ts'
import { type AccountSplit, divided, units } from './split-terms.ts'
import { dateBack } from './taken-back.ts'

/** Restates everything that accounts have in the instrument. The caller has locked its quote. */
export async function splitAccounts(tx: Transaction, split: AccountSplit): Promise<void> {
  await lockHoldingAccounts(tx, split.instrumentId, split.isLate)
  if (split.isLate) await dateBack(tx, split)
  await splitLedgers(tx, split)
  await splitAccountOrders(tx, split)
  await splitPaperOrders(tx, split)
  await splitAccepted(tx, split)
}

/** What is more than whole units, counted in parts of one, as many as `old`: a seventh is paid for exactly. */
const remainder = ({ ratio, multiplies }: AccountSplit): Fragment =>
  multiplies
    ? fragment`mod(h.before * ${ratio.new}::numeric, ${ratio.old}::numeric)`
    : fragment`mod(h.before, 1) * ${ratio.new}::numeric`

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

/** What brokers held beyond our books when AutoSync was switched on again, and what they hold beyond that. */
const splitAccepted = (tx: Transaction, split: AccountSplit): Promise<number> =>
  tx.run`
    update position_gap g set accepted = trunc(${units(split, 'g.accepted')}),
      difference = trunc(${units(split, 'g.difference')})
    from instrument i where i.id = ${split.instrumentId}::bigint and g.symbol = i.symbol`
