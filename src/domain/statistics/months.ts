/**
 * Returns of calendar months and years. A month runs from the last value before it to its own last value; the
 * first from the starting cash, the current one to now. A year compounds its months.
 */
import { firstFrom } from '../ascending.ts'
import { dayOf, partsOfDay } from '../time.ts'
import { type EquitySeries, negligible, returnBetween } from './series.ts'

export interface PeriodReturn {
  readonly year: number
  /** 1 to 12; 0 for a whole year. */
  readonly month: number
  readonly percent: number
}

export interface MonthSummary {
  readonly count: number
  readonly wins: number
  /** Months whose return, rounded to one decimal as it is shown, is above zero. */
  readonly winsShown: number
  /** Null without a month. */
  readonly winRatio: number | null
}

/** Half of the last decimal shown: from here on a percentage rounds to 0.1. */
const leastShown = 0.05

/** Every month that has a value, ascending. */
export function monthlyReturns({ days, wealth }: EquitySeries): PeriodReturn[] {
  const found: PeriodReturn[] = []
  if (days.length === 1) return found
  let { year, month } = partsOfDay(days[1]!)
  let nextMonth = dayOf(year, month, 1)! + lengthOf(year, month)
  let before = wealth[0]!
  for (let at = 1; at < days.length; ) {
    for (; days[at]! >= nextMonth; nextMonth += lengthOf(year, month)) {
      year += month === 12 ? 1 : 0
      month = month === 12 ? 1 : month + 1
    }
    // No month has more positions than days.
    at = firstFrom(days, nextMonth, at, Math.min(at + nextMonth - days[at]!, days.length))
    found.push({ year, month, percent: 100 * returnBetween(before, wealth[at - 1]!) })
    before = wealth[at - 1]!
  }
  return found
}

/** One row per year of ascending months, compounded. */
export function annualReturns(months: readonly PeriodReturn[]): PeriodReturn[] {
  const found: PeriodReturn[] = []
  let growth = 1
  for (let at = 0; at < months.length; at++) {
    const { year, percent } = months[at]!
    growth *= 1 + percent / 100
    if (months[at + 1]?.year === year) continue
    found.push({ year, month: 0, percent: 100 * (growth - 1) })
    growth = 1
  }
  return found
}

/** How many months won, exactly and as they are shown. */
export function summarizeMonths(months: readonly PeriodReturn[]): MonthSummary {
  const count = months.length
  let wins = 0
  let winsShown = 0
  for (const { percent } of months) {
    if (percent > negligible) wins += 1
    if (percent >= leastShown - negligible) winsShown += 1
  }
  return { count, wins, winsShown, winRatio: count === 0 ? null : wins / count }
}

const monthLengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const lengthOf = (year: number, month: number): number =>
  month === 2 && isLeapYear(year) ? 29 : monthLengths[month - 1]!

const isLeapYear = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
