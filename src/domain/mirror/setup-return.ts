/**
 * What a setup has earned, in percent: in all of what the account was worth when it began, today of what that and the
 * result since then came to at the last close. Its result is the cash that its executions, dividends and splits moved
 * and the worth of what it holds.
 */
import { type Decimal, zero } from '../decimal.ts'

export interface SetupMoney {
  /** Of the account when the setup began. */
  readonly startedEquity: Decimal
  /** Moved by the setup's entries, in all and since the last close. */
  readonly cashChange: Decimal
  readonly recentCashChange: Decimal
  /** Of what is held now. */
  readonly worth: Decimal
  /** Of what was held at the last close. */
  readonly worthBefore: Decimal
}

export interface SetupReturns {
  readonly total: Decimal | null
  readonly today: Decimal | null
}

/** Both returns in percent; null where they cannot be known. */
export function setupReturns(money: SetupMoney): SetupReturns {
  const { startedEquity, cashChange, recentCashChange, worth, worthBefore } = money
  if (!startedEquity.greaterThan(zero)) return { total: null, today: null }
  const before = cashChange.minus(recentCashChange).plus(worthBefore)
  const result = cashChange.plus(worth)
  return {
    total: percentOf(result, startedEquity),
    today: percentOf(result.minus(before), startedEquity.plus(before)),
  }
}

const percentOf = (result: Decimal, base: Decimal): Decimal | null =>
  base.greaterThan(zero) ? result.div(base).times(100) : null
