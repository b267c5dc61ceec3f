/**
 * What a setup has earned, in percent of what the account was worth when it began. Its result is the cash that
 * its executions moved and the worth of what it holds.
 */
import { type Decimal, zero } from './decimal.ts'

export interface SetupMoney {
  /** Of the account when the setup began. */
  readonly startedEquity: Decimal
  /** Moved by executions, in all and since the last close. */
  readonly cashChange: Decimal
  readonly recentCashChange: Decimal
  /** Of what is held now. */
  readonly worth: Decimal
  /** It held something at the last close. */
  readonly hasHeldBefore: boolean
}

export interface SetupReturns {
  readonly total: Decimal | null
  /** Null where something was held at the last close: its worth then is not kept. */
  readonly today: Decimal | null
}

/** Both returns in percent; null where they cannot be known. */
export function setupReturns(money: SetupMoney): SetupReturns {
  const { startedEquity, worth } = money
  if (!startedEquity.greaterThan(zero)) return { total: null, today: null }
  const percent = (result: Decimal): Decimal => result.div(startedEquity).times(100)
  return {
    total: percent(money.cashChange.plus(worth)),
    today: money.hasHeldBefore ? null : percent(money.recentCashChange.plus(worth)),
  }
}
