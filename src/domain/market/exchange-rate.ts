/** What currencies are worth in each other. */
import { type Decimal, one } from '../decimal.ts'

/** The currency that most others are quoted against. */
export const vehicleCurrency = 'USD'

/**
 * Account currency per unit of another one: by the pair of the two, otherwise through the dollar; undefined where that
 * cannot be told either. `direct` knows what the pairs say.
 */
export function exchangeRate(
  account: string,
  currency: string,
  direct: (account: string, currency: string) => Decimal | undefined,
): Decimal | undefined {
  if (account === currency) return one
  const own = direct(account, currency)
  if (own) return own
  const worth = direct(vehicleCurrency, currency)
  const price = direct(vehicleCurrency, account)
  return worth && price ? worth.div(price) : undefined
}
