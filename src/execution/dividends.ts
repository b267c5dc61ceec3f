/** Cash dividends: at the opening of the ex-date, for what was held over the close before; shorts pay. */
import { type Decimal, one } from '../domain/decimal.ts'
import {
  type DueAction,
  listHolderCurrencies,
  payAccounts,
  payStrategies,
} from '../storage/corporate-actions.ts'
import { bookCurrency } from '../storage/order-books.ts'
import { loadRateTable } from '../storage/quotes.ts'
import { touchAdjusted } from '../storage/record-changes.ts'
import type { Transaction } from '../storage/sql.ts'

/** Books a dividend on every book that held the instrument; answers how many were paid. */
export async function payDividend(tx: Transaction, action: DueAction): Promise<number> {
  const holders = await listHolderCurrencies(tx, action.instrumentId)
  const table = await loadRateTable(tx, [bookCurrency, ...holders], [action.currency])
  // 1 in the same currency, and where no pair is quoted.
  const rateTo = (currency: string): Decimal => table.get(currency)?.get(action.currency) ?? one
  const strategies = await payStrategies(tx, action, rateTo(bookCurrency))
  const rates = new Map(holders.map((currency) => [currency, rateTo(currency)]))
  const accounts = await payAccounts(tx, action, rates)
  await touchAdjusted(tx, [action.id], action.at)
  return strategies + accounts
}
