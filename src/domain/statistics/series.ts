/**
 * A record as statistics read it: what one unit of starting capital became, day by day. Deposits and
 * withdrawals are no performance; with them the path is the chained product of the daily returns.
 */
import { tradeDateAtOrBefore } from '../market/calendar.ts'
import type { Day } from '../time.ts'

export interface EquityRecord {
  readonly startDay: Day
  readonly startingCash: number
  /** Trading days in ascending order, and the account value at the end of each. */
  readonly days: Int32Array
  readonly values: Float64Array
  /** Money put in (positive) or taken out on each day; absent without any. */
  readonly flows?: Float64Array
}

export interface EquitySeries {
  readonly startDay: Day
  /** Position 0 is the starting cash, position t the t-th trading day. */
  readonly days: Int32Array
  /** Account values, or with external flows the starting cash times the chained returns. */
  readonly wealth: Float64Array
  /** Return of each trading day; position 0 is the first one. */
  readonly returns: Float64Array
  /** No day began with an account value at or below zero. Without it no ratio has a meaning. */
  readonly isSolvent: boolean
}

/** Below it a deviation, a drawdown or a gain is rounding noise of doubles. */
export const negligible = 1e-12

/** The value, with one zero for both, null when it is no finite number: too few values, an overflow. */
export const finite = (value: number): number | null => (Number.isFinite(value) ? value + 0 : null)

/** `to / from - 1`; 0 where nothing was left to earn a return on. */
export const returnBetween = (from: number, to: number): number => (from > 0 ? to / from - 1 : 0)

/** The daily series of a record: r_t = (V_t - F_t) / V_(t-1) - 1, with the starting cash as V_0. */
export function equitySeries(record: EquityRecord): EquitySeries {
  const { values, flows } = record
  const count = values.length
  const days = new Int32Array(count + 1)
  const wealth = new Float64Array(count + 1)
  const returns = new Float64Array(count)
  let before = record.startingCash
  let isSolvent = true
  days[0] = startOf(record)
  days.set(record.days, 1)
  wealth[0] = before
  for (let at = 0; at < count; at++) {
    const value = values[at]!
    const earned = flows ? value - flows[at]! : value
    const gain = returnBetween(before, earned)
    if (!(before > 0)) isSolvent = false
    returns[at] = gain
    wealth[at + 1] = flows ? wealth[at]! * (1 + gain) : value
    before = value
  }
  return { startDay: record.startDay, days, wealth, returns, isSolvent }
}

/** What one unit of starting capital became; null without starting capital. */
export function growthOf({ wealth }: EquitySeries): number | null {
  const first = wealth[0]!
  return first > 0 ? finite(wealth[wealth.length - 1]! / first) : null
}

/** The day of the starting cash: the day before when the first close is that of the start itself. */
const startOf = ({ startDay, days }: EquityRecord): Day =>
  days[0] === startDay ? tradeDateAtOrBefore('US_EQUITY', startDay - 1) : startDay
