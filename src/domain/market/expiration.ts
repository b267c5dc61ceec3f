/**
 * Last trading days by the rules of the exchanges' contract specifications. Business days are the trade
 * dates of a reference calendar: exchanges settle on the days on which their country's stock market trades.
 */

import type { SecurityType } from '../codes.ts'
import { type Day, dayOf, hour, type Instant, readDay, weekdayOf } from '../time.ts'
import { type CalendarName, isOpen, isTradeDate, sessionOn, tradeDateAtOrBefore } from './calendar.ts'

/** New opening orders in a future end this long before its last session does. */
export const contractCutoff = 48 * hour

/** A contract month, and what its exchange counts as business days. */
interface ContractMonth {
  readonly year: number
  readonly month: number
  /** Its first day, and that of the month after it. */
  readonly first: Day
  readonly next: Day
  readonly business: CalendarName
  /** So many business days before a day. */
  back(from: Day, count: number): Day
}

/** The business day on or before which crude oil is counted back from: the 25th of the month before. */
const crudeDay = ({ year, month, business }: ContractMonth): Day =>
  tradeDateAtOrBefore(business, firstOf(year, month - 1) + 24)

/** How a future's last trading day follows from its contract month. */
const lastDays = {
  thirdFriday: ({ first, business }) => tradeDateAtOrBefore(business, thirdWeekday(first, 5)),
  lastFriday: ({ next, business }) => tradeDateAtOrBefore(business, lastWeekday(next, 5)),
  beforeSecondFriday: ({ first, back }) => back(thirdWeekday(first, 5) - 7, 1),
  thirdWednesday: ({ first, business }) => tradeDateAtOrBefore(business, thirdWeekday(first, 3)),
  // The one closest to the 15th.
  middleWednesday: ({ first, business }) => tradeDateAtOrBefore(business, thirdWeekday(first + 11, 3) - 14),
  // Two days before delivery, one where a currency is delivered on the next day.
  beforeThirdWednesday: ({ first, back }) => back(thirdWeekday(first, 3), 2),
  dayBeforeThirdWednesday: ({ first, back }) => back(thirdWeekday(first, 3), 1),
  beforeLastWednesday: ({ next, back }) => back(lastWeekday(next, 3), 1),
  // The month that names a quarter of interest is the one in which it begins; it trades until that quarter ends.
  endOfQuarter: ({ year, month, back }) => back(thirdWeekday(firstOf(year, month + 3), 3), 1),
  feederCattle,
  monthEnd: ({ next, back }) => back(next, 1),
  priorMonthEnd: ({ first, back }) => back(first, 1),
  // Not the last business day of a year.
  brent: ({ year, month, back }) => back(firstOf(year, month - 1), month === 2 ? 2 : 1),
  seventhBeforeMonthEnd: ({ next, back }) => back(next, 8),
  eighthBeforeMonthEnd: ({ next, back }) => back(next, 9),
  eleventhBeforeMonthEnd: ({ next, back }) => back(next, 12),
  fourteenthBeforeMonthEnd: ({ next, back }) => back(next, 15),
  seventeenthLast: ({ next, back }) => back(next, 17),
  thirdLast: ({ next, back }) => back(next, 3),
  priorThirdLast: ({ first, back }) => back(first, 3),
  priorFourthLast: ({ first, back }) => back(first, 4),
  twoBeforeFourteenth: ({ first, back }) => back(first + 13, 2),
  beforeFifteenth: ({ first, back }) => back(first + 14, 1),
  beforeSixteenth: ({ first, back }) => back(first + 15, 1),
  tenth: ({ first, business }) => nthTradeDate(business, first, 10),
  eleventh: ({ first, business }) => nthTradeDate(business, first, 11),
  crude: (contract) => contract.back(crudeDay(contract), 3),
  beforeCrude: (contract) => contract.back(crudeDay(contract), 4),
  tradeMonth: crudeDay,
  volatility: ({ next, business }) =>
    tradeDateAtOrBefore(business, tradeDateAtOrBefore(business, thirdWeekday(next, 5)) - 30),
} as const satisfies Readonly<Record<string, (contract: ContractMonth) => Day>>

export type LastTradingRule = keyof typeof lastDays

/** The last trading day of a futures contract; `business` says which days count as business days. */
export const lastTradingDayOf = (
  rule: LastTradingRule,
  year: number,
  month: number,
  business: CalendarName,
): Day =>
  lastDays[rule]({
    year,
    month,
    first: firstOf(year, month),
    next: firstOf(year, month + 1),
    business,
    back: (from, count) => businessDaysBefore(business, from, count),
  })

/**
 * The last Thursday, in November the one before Thanksgiving; a week earlier as long as it, or one of the four weekdays
 * before it, is a holiday.
 */
function feederCattle({ first, next, month, business }: ContractMonth): Day {
  let thursday = month === 11 ? thirdWeekday(first, 4) : lastWeekday(next, 4)
  while ([0, 1, 2, 3, 6].some((before) => !isTradeDate(business, thursday - before))) thursday -= 7
  return thursday
}

/**
 * The last trading day of an option: the last trade date at or before its expiry (standard expiries were
 * Saturdays until 2015), for morning-settled index options the trade date before that.
 */
export function optionLastTradingDay(calendar: CalendarName, expiry: Day, morningSettled: boolean): Day {
  const last = tradeDateAtOrBefore(calendar, expiry)
  return morningSettled ? tradeDateAtOrBefore(calendar, last - 1) : last
}

/** The close of an instrument's last session; a day without a session ends with the session before it. */
export function lastSessionEnd(calendar: CalendarName, lastTradingDay: Day): Instant | undefined {
  return sessionOn(calendar, tradeDateAtOrBefore(calendar, lastTradingDay))?.close
}

/** Whether the last session of an instrument is over at an instant. */
export function hasExpired(contract: TradingTimes, at: Instant): boolean {
  const end = endOfTrading(contract)
  return end !== null && end <= at
}

/** Whether an instrument trades at an instant: its market is open, and its last session is not over. */
export const isTrading = (instrument: TradingTimes, at: Instant): boolean =>
  isOpen(instrument.calendar, at) && !hasExpired(instrument, at)

interface TradingTimes {
  readonly calendar: CalendarName
  /** YYYY-MM-DD; null where trading does not end. */
  readonly lastTradingDay: string | null
}

/** What must be known of an instrument to know its end. */
export interface EndingContract extends TradingTimes {
  readonly securityType: SecurityType
}

/** The end of its last session; null where trading does not end. */
export function endOfTrading({ calendar, lastTradingDay }: TradingTimes): Instant | null {
  const day = lastTradingDay === null ? undefined : readDay(lastTradingDay)
  return day === undefined ? null : (lastSessionEnd(calendar, day) ?? null)
}

/** From when on a future may only be closed; null for what is no future or has no last session. */
export function cutoffOf(contract: EndingContract): Instant | null {
  const end = contract.securityType === 'FUT' ? endOfTrading(contract) : null
  return end === null ? null : end - contractCutoff
}

/** When time first ends something about the contract; null where it never does. */
export const firstEndOf = (contract: EndingContract): Instant | null =>
  cutoffOf(contract) ?? endOfTrading(contract)

/** The third weekday (1 Monday .. 7 Sunday) at or after a day. */
const thirdWeekday = (from: Day, weekday: number): Day => from + ((weekday - weekdayOf(from) + 7) % 7) + 14

function firstOf(year: number, month: number): Day {
  const first = dayOf(year + Math.floor((month - 1) / 12), ((((month - 1) % 12) + 12) % 12) + 1, 1)
  if (first === undefined) throw new RangeError(`no month ${year}-${month}`)
  return first
}

/** The last such weekday before a day. */
const lastWeekday = (before: Day, weekday: number): Day =>
  before - 1 - ((weekdayOf(before - 1) - weekday + 7) % 7)

function businessDaysBefore(calendar: CalendarName, from: Day, count: number): Day {
  let day = from
  for (let found = 0; found < count; found++) day = tradeDateAtOrBefore(calendar, day - 1)
  return day
}

function nthTradeDate(calendar: CalendarName, from: Day, n: number): Day {
  let day = from
  for (let found = 0; ; day++) {
    if (isTradeDate(calendar, day)) found += 1
    if (found === n) return day
  }
}
