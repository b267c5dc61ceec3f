/** Cash dividends: at the opening of the ex-date, for what was held over the close before; shorts pay. */
import { type Decimal, one } from '../../domain/decimal.ts'
import { beforeOpening } from '../../domain/market/trading-day.ts'
import type { Instant } from '../../domain/time.ts'
import { lockHoldingAccounts } from '../../storage/accounts/holders.ts'
import {
  type DueAction,
  listHolderCurrencies,
  payAccounts,
  payStrategies,
} from '../../storage/actions/corporate-actions.ts'
import { dateBack } from '../../storage/actions/taken-back.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import { type CurrencyPair, tellUnrated, unratedIn } from '../../storage/market/missing-rates.ts'
import { loadRateTable } from '../../storage/market/quotes.ts'
import { bookCurrency } from '../../storage/orders/order-books.ts'
import { touchAdjusted } from '../../storage/work/record-changes.ts'

/** Books a dividend on every book that held the instrument; answers how many were paid. */
export async function payDividend(tx: Transaction, action: DueAction, now: Instant): Promise<number> {
  const books = await ratesInto(tx, [bookCurrency], action)
  const strategies = await payStrategies(tx, action, books.rates.get(bookCurrency) ?? one)
  await lockHoldingAccounts(tx, action.instrumentId, action.isLate)
  if (action.isLate) await dateBack(tx, { instrumentId: action.instrumentId, at: action.at })
  const holders = await listHolderCurrencies(tx, action.instrumentId)
  const own = await ratesInto(tx, holders, action)
  const accounts = await payAccounts(tx, action, own.rates)
  const told = [...(strategies > 0 ? books.unrated : []), ...(accounts > 0 ? own.unrated : [])]
  await tellUnrated(tx, told, action.at)
  await touchAdjusted(tx, [action.id], action.at, now)
  return strategies + accounts
}

/** What the dividend's currency was worth in these at its opening; 1 in the same one, and where no pair is quoted. */
async function ratesInto(
  tx: Transaction,
  currencies: readonly string[],
  { currency, at }: DueAction,
): Promise<{ readonly rates: Map<string, Decimal>; readonly unrated: readonly CurrencyPair[] }> {
  const table = await loadRateTable(tx, currencies, [currency], beforeOpening(at))
  return {
    rates: new Map(currencies.map((into) => [into, table.get(into)?.get(currency) ?? one])),
    unrated: unratedIn(
      table,
      currencies.map((account) => ({ account, currency })),
    ),
  }
}
