/** Cash dividends: at the opening of the ex-date, for what was held over the close before; shorts pay. */
import { type Decimal, one } from '../domain/decimal.ts'
import {
  type DueAction,
  listHolderCurrencies,
  payAccounts,
  payStrategies,
} from '../storage/corporate-actions.ts'
import { bookCurrency } from '../storage/order-books.ts'
import { loadRates } from '../storage/quotes.ts'
import type { Transaction } from '../storage/sql.ts'

/** Books a dividend on every book that held the instrument; answers how many were paid. */
export async function payDividend(tx: Transaction, action: DueAction): Promise<number> {
  const strategies = await payStrategies(tx, action, await rateTo(tx, bookCurrency, action.currency))
  const rates = new Map<string, Decimal>()
  for (const currency of await listHolderCurrencies(tx, action.instrumentId)) {
    rates.set(currency, await rateTo(tx, currency, action.currency))
  }
  return strategies + (await payAccounts(tx, action, rates))
}

/** Units of one currency per unit of another, by the last quotes; 1 where no pair is quoted. */
const rateTo = async (tx: Transaction, currency: string, from: string): Promise<Decimal> =>
  from === currency ? one : ((await loadRates(tx, currency, [from])).get(from) ?? one)
