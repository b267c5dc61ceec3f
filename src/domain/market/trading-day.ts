/**
 * The days of a track record. A day ends at 17:00 in New York and exists when US stocks trade; whoever holds only
 * what trades with them knows his value when they close. What happens between two days belongs to the later one.
 */

import { type Day, dayIn, type Instant, instantAt, newYork } from '../time.ts'
import { type CalendarName, sessionOn, tradeDateAtOrAfter, tradeDateAtOrBefore } from './calendar.ts'

const calendar = 'US_EQUITY'
const endMinute = 17 * 60

/** The end of a day: 17:00 in New York. */
export const endOfDay = (day: Day): Instant => instantAt(day, endMinute, newYork)

/** The day that runs at an instant; its end belongs to the next one. */
export function runningDay(at: Instant): Day {
  const day = dayIn(at, newYork)
  return at < endOfDay(day) ? day : day + 1
}

/** The day into whose value what was done at an instant counts: one with its end included. */
export const bookedDay = (at: Instant): Day => runningDay(at - 1)

/** A moment that is past, with the last day whose marks count then. */
export interface PastMoment {
  readonly at: Instant
  readonly day: Day
}

/** An opening, where the marks of the day before are the last that were known. */
export const beforeOpening = (at: Instant): PastMoment => ({ at, day: bookedDay(at) - 1 })

/** When US stocks close on a trading day. */
const stocksCloseOf = (day: Day): Instant => sessionOn(calendar, day)?.close ?? endOfDay(day)

/** From when on a day may be closed for who holds what trades by this calendar. */
export const closableFrom = (traded: CalendarName, day: Day): Instant =>
  traded === calendar ? stocksCloseOf(day) : endOfDay(day)

/** The first trading day of a record: the first whose stock session ends after its start. */
export function firstDayOf(startedAt: Instant): Day {
  const day = tradeDateAtOrAfter(calendar, dayIn(startedAt, newYork))
  return stocksCloseOf(day) > startedAt ? day : tradeDateAtOrAfter(calendar, day + 1)
}

/**
 * The trading days from `from` on that have ended by `now`. `closesEarly`: nothing is held that trades after the
 * stocks.
 */
export function endedDays(from: Day, now: Instant, closesEarly: boolean): Day[] {
  const days: Day[] = []
  for (let day = tradeDateAtOrAfter(calendar, from); ; day = tradeDateAtOrAfter(calendar, day + 1)) {
    if ((closesEarly ? stocksCloseOf(day) : endOfDay(day)) > now) return days
    days.push(day)
  }
}

/** A trading day and the moment at which it ended. */
export interface EndedDay {
  readonly day: Day
  readonly at: Instant
}

/** The last trading day that is over for everybody. */
export function lastEnd(now: Instant): EndedDay {
  const day = tradeDateAtOrBefore(calendar, runningDay(now) - 1)
  return { day, at: endOfDay(day) }
}

/** The trading day that still runs but is over for those who hold only stocks; null at all other hours. */
export function earlyClose(now: Instant): EndedDay | null {
  const day = runningDay(now)
  const at = sessionOn(calendar, day)?.close
  return at !== undefined && at <= now ? { day, at } : null
}

/** When the first trading day from `from` on can be closed next: with the stocks, or at its end. */
export function nextCloseAt(from: Day, now: Instant): Instant {
  const day = tradeDateAtOrAfter(calendar, from)
  const early = stocksCloseOf(day)
  return early > now ? early : endOfDay(day)
}
