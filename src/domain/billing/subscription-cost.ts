/** What a subscription has cost: a month is 30 days and is paid when it begins. */
import type { Decimal } from '../decimal.ts'
import { dayLength, type Instant } from '../time.ts'
import { strategyTermDays } from './subscription.ts'

/** The price of all months begun by `at`, for somebody who subscribed at `since`. */
export const subscriptionCost = (monthlyCost: Decimal, since: Instant, at: Instant): Decimal =>
  monthlyCost.times(at < since ? 0 : Math.floor((at - since) / (strategyTermDays * dayLength)) + 1)
