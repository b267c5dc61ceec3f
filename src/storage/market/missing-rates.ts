/**
 * Pairs of currencies that nobody quotes. What has happened in one is booked all the same, one to one, so that nothing
 * is lost; an operator hears of it, and of the quote that is missing.
 */
import type { Decimal } from '../../domain/decimal.ts'
import { dayLength, formatDay, type Instant } from '../../domain/time.ts'
import type { Sql, Transaction } from '../database/sql.ts'
import { insertIncidents, type NewIncident } from '../work/incidents.ts'
import { loadRateTable } from './quotes.ts'

export interface CurrencyPair {
  /** Of the account, or of the books of strategies. */
  readonly account: string
  /** Of what is traded there. */
  readonly currency: string
}

/** The forex symbol that says what the one is worth in the other. */
export const symbolOf = ({ account, currency }: CurrencyPair): string => currency + account

/** Those of which the table has no rate. */
export const unratedIn = (
  table: ReadonlyMap<string, ReadonlyMap<string, Decimal>>,
  pairs: readonly CurrencyPair[],
): CurrencyPair[] =>
  pairs.filter(({ account, currency }) => account !== currency && !table.get(account)?.has(currency))

/** What transactions tell when they commit, by key. */
const untold = new WeakMap<Transaction, Map<string, NewIncident>>()

/**
 * Tells, once a day of each pair, that something was booked one to one. It goes with the commit, all of a transaction at
 * once and in one order: whoever tells the same at the same time waits for nothing but that.
 */
export async function tellUnrated(
  tx: Transaction,
  pairs: readonly CurrencyPair[],
  at: Instant,
): Promise<void> {
  if (pairs.length === 0) return
  const before = untold.get(tx)
  const incidents = before ?? new Map<string, NewIncident>()
  const day = formatDay(Math.floor(at / dayLength))
  for (const pair of pairs) {
    const missingQuote = symbolOf(pair)
    const key = `NoExchangeRate:${missingQuote}:${day}`
    const detail = { accountCurrency: pair.account, currency: pair.currency, missingQuote }
    incidents.set(key, { key, kind: 'NoExchangeRate', detail, occurredAt: at })
  }
  if (before) return
  untold.set(tx, incidents)
  await tx.withCommit(() =>
    insertIncidents(
      tx,
      [...incidents.keys()].sort().flatMap((key) => incidents.get(key) ?? []),
    ),
  )
}

/** The pairs without a rate in which strategies, whose books are in `bookCurrency`, or accounts hold something now. */
export async function listUnratedHoldings(sql: Sql, bookCurrency: string): Promise<CurrencyPair[]> {
  const pairs = await sql.rows<CurrencyPair>`
    select distinct ${bookCurrency}::text as account, i.currency
    from position p join instrument i on i.id = p.instrument_id
    where p.quantity <> 0 and i.currency <> ${bookCurrency}
    union
    select distinct a.currency, i.currency
    from account_position p join account a on a.id = p.account_id join instrument i on i.id = p.instrument_id
    where p.quantity <> 0 and i.currency <> a.currency
    order by 1, 2`
  const table = await loadRateTable(
    sql,
    pairs.map(({ account }) => account),
    pairs.map(({ currency }) => currency),
  )
  return unratedIn(table, pairs)
}
