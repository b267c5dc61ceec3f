/**
 * Last trading days by the rules of the exchanges' contract specifications. Business days are the trade
 * dates of a reference calendar: exchanges settle on the days on which their country's stock market trades.
 */

import type { SecurityType } from '../codes.ts'
import { type Day, dayOf, hour, type Instant, readDay, weekdayOf } from '../time.ts'
import { type CalendarName, isOpen, isTradeDate, sessionOn, tradeDateAtOrBefore } from './calendar.ts'

/** How a future's last trading day follows from its contract month. */
export type LastTradingRule =
  | 'thirdFriday'
  | 'lastFriday'
  | 'lastThursday'
  | 'beforeThirdWednesday'
  | 'monthEnd'
  | 'priorMonthEnd'
  | 'secondPriorMonthEnd'
  | 'seventhBeforeMonthEnd'
  | 'thirdLast'
  | 'beforeFifteenth'
  | 'tenth'
  | 'crude'
  | 'naturalGas'
  | 'volatility'

/** New opening orders in a future end this long before its last session does. */
export const contractCutoff = 48 * hour

/** The last trading day of a futures contract; `business` says which days count as business days. */
export function lastTradingDayOf(
  rule: LastTradingRule,
  year: number,
  month: number,
  business: CalendarName,
): Day {
  const first = firstOf(year, month)
  const next = firstOf(year, month + 1)
  const back = (from: Day, count: number): Day => businessDaysBefore(business, from, count)
  switch (rule) {
    case 'thirdFriday':
      return tradeDateAtOrBefore(business, thirdWeekday(first, 5))
    case 'lastFriday':
      return tradeDateAtOrBefore(business, lastWeekday(next, 5))
    case 'lastThursday':
      return tradeDateAtOrBefore(business, lastWeekday(next, 4))
    case 'beforeThirdWednesday':
      return back(thirdWeekday(first, 3), 2)
    case 'monthEnd':
      return back(next, 1)
    case 'priorMonthEnd':
      return back(first, 1)
    case 'secondPriorMonthEnd':
      return back(firstOf(year, month - 1), 1)
    case 'seventhBeforeMonthEnd':
      return back(next, 8)
    case 'thirdLast':
      return back(next, 3)
    case 'beforeFifteenth':
      return back(first + 14, 1)
    case 'tenth':
      return nthTradeDate(business, first, 10)
    case 'crude':
      return back(tradeDateAtOrBefore(business, firstOf(year, month - 1) + 24), 3)
    case 'naturalGas':
      return back(first, 3)
    case 'volatility':
      return tradeDateAtOrBefore(business, tradeDateAtOrBefore(business, thirdWeekday(next, 5)) - 30)
  }
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

/**
 * Whether the last session of an instrument is over at an instant; without a last trading day (YYYY-MM-DD) it
 * never ends.
 */
export function hasExpired(
  { calendar, lastTradingDay }: { calendar: CalendarName; lastTradingDay: string | null },
  at: Instant,
): boolean {
  const end = endOfTrading({ calendar, lastTradingDay })
  return end !== null && end <= at
}

/** Whether an instrument trades at an instant: its market is open, and its last session is not over. */
export const isTrading = (instrument: Omit<EndingContract, 'securityType'>, at: Instant): boolean =>
  isOpen(instrument.calendar, at) && !hasExpired(instrument, at)

/** What must be known of an instrument to know its end. */
export interface EndingContract {
  readonly securityType: SecurityType
  readonly calendar: CalendarName
  /** YYYY-MM-DD; null where trading does not end. */
  readonly lastTradingDay: string | null
}

/** The end of its last session; null where trading does not end. */
export function endOfTrading({
  calendar,
  lastTradingDay,
}: Omit<EndingContract, 'securityType'>): Instant | null {
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
