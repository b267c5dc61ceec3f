/**
 * When markets are open. A session belongs to a trade date; it includes its opening instant and excludes its
 * close, so what arrives at the close belongs to the next session. Sessions are computed once per calendar
 * and trade date and remembered, which makes `isOpen` a comparison of numbers.
 */

import { type Day, dayLength, type Instant, instantAt, weekdayOf } from '../time.ts'
import type { CalendarTable } from './tables/calendar-table.ts'
import { calendarTables } from './tables/calendars.ts'

export type CalendarName = keyof typeof calendarTables

/** `parts` are the stretches without a pause, in order; `open` and `close` are their outer ends. */
export type Session = { tradeDate: Day; open: Instant; close: Instant; parts: readonly Stretch[] }
type Stretch = readonly [from: Instant, to: Instant]

/** No market of the tables rests longer; the search for a next session ends here. */
const longestRest = 30

export const calendarNames = Object.keys(calendarTables) as readonly CalendarName[]

/** Reads the name of a calendar in any letter case, with spaces or hyphens for the underscore. */
export function readCalendarName(text: string): CalendarName | undefined {
  const wanted = text.trim().toUpperCase().replace(/[ -]+/g, '_')
  return calendarNames.find((name) => name === wanted)
}

/** Whether the calendar trades at an instant. */
export function isOpen(calendar: CalendarName, at: Instant): boolean {
  const session = sessionAt(calendar, at)
  return session?.parts.some(([from, to]) => from <= at && at < to) ?? false
}

/** The session running at an instant; a pause belongs to its session. */
export function sessionAt(calendar: CalendarName, at: Instant): Session | undefined {
  const last = latest.get(calendar)
  if (last && last.open <= at && at < last.close) return last
  const day = Math.floor(at / dayLength)
  for (let tradeDate = day - 1; tradeDate <= day + 1; tradeDate++) {
    const session = sessionOn(calendar, tradeDate)
    if (!session || at < session.open || at >= session.close) continue
    latest.set(calendar, session)
    return session
  }
  return undefined
}

/** The first session that opens after an instant. */
export function nextSession(calendar: CalendarName, at: Instant): Session {
  const day = Math.floor(at / dayLength)
  for (let tradeDate = day - 1; tradeDate <= day + longestRest; tradeDate++) {
    const session = sessionOn(calendar, tradeDate)
    if (session && session.open > at) return session
  }
  throw new RangeError(`no session of ${calendar} after ${at}`)
}

/** The first instant at or after `at` at which the calendar is open: `at` itself when it is open. */
export function nextOpen(calendar: CalendarName, at: Instant): Instant {
  const running = sessionAt(calendar, at)
  for (const [from, to] of running?.parts ?? []) {
    if (at < to) return Math.max(from, at)
  }
  return nextSession(calendar, at).open
}

/** When a DAY order that starts to work at `at` expires: the end of the session that runs, otherwise of the next. */
export const dayOrderExpiry = (calendar: CalendarName, at: Instant): Instant =>
  (sessionAt(calendar, at) ?? nextSession(calendar, at)).close

/** The session of a trade date; undefined when the calendar does not trade for it. */
export function sessionOn(calendar: CalendarName, tradeDate: Day): Session | undefined {
  const known = sessions[calendar].get(tradeDate)
  if (known !== undefined) return known ?? undefined
  const session = computeSession(calendarTables[calendar], tradeDate)
  if (sessions[calendar].size > 20_000) sessions[calendar].clear()
  sessions[calendar].set(tradeDate, session ?? null)
  return session
}

/** Whether the calendar has a session for a trade date. */
export const isTradeDate = (calendar: CalendarName, day: Day): boolean =>
  sessionOn(calendar, day) !== undefined

/** The last trade date at or before a day. */
export function tradeDateAtOrBefore(calendar: CalendarName, day: Day): Day {
  let tradeDate = day
  while (!isTradeDate(calendar, tradeDate) && day - tradeDate < longestRest) tradeDate -= 1
  return tradeDate
}

/** The first trade date at or after a day. */
export function tradeDateAtOrAfter(calendar: CalendarName, day: Day): Day {
  let tradeDate = day
  while (!isTradeDate(calendar, tradeDate) && tradeDate - day < longestRest) tradeDate += 1
  return tradeDate
}

const sessions = Object.fromEntries(
  calendarNames.map((name) => [name, new Map<Day, Session | null>()]),
) as Record<CalendarName, Map<Day, Session | null>>
const latest = new Map<CalendarName, Session>()

type Minutes = readonly [from: number, to: number]

/** The session of a trade date by a table, computed anew. */
export function computeSession(table: CalendarTable, tradeDate: Day): Session | undefined {
  if (!table.weekends && weekdayOf(tradeDate) > 5) return undefined
  const parts = table.parts.flatMap((part) => partsOn(table, tradeDate, part))
  const [first] = parts
  const last = parts.at(-1)
  if (!first || !last) return undefined
  return { tradeDate, open: first[0], close: last[1], parts }
}

/**
 * One part of the weekly hours after the exceptions of its one or two civil days. What starts at midnight
 * exists only when the evening before ran to midnight.
 */
function partsOn(table: CalendarTable, tradeDate: Day, [from, to]: Minutes): Stretch[] {
  const place = (minutes: number): Instant => instantAt(tradeDate, minutes, table.zone)
  const stretch = ([start, end]: Minutes): Stretch => [place(start), place(end)]
  if (from >= 0) return afterExceptions(table, tradeDate, [from, to]).map(stretch)
  const evening = afterExceptions(table, tradeDate - 1, [from + 1440, 1440]).map(
    ([start, end]) => [start - 1440, end - 1440] as const,
  )
  const day = afterExceptions(table, tradeDate, [0, to])
  const eve = evening.at(-1)
  const [morning, ...rest] = day
  if (morning?.[0] !== 0) return [...evening, ...day].map(stretch)
  if (eve?.[1] !== 0) return [...evening, ...rest].map(stretch)
  return [...evening.slice(0, -1), [eve[0], morning[1]] as const, ...rest].map(stretch)
}

/** What a civil day's closure, early close and late open leave of a part. A late open after an early close resumes trading. */
function afterExceptions(table: CalendarTable, day: Day, [from, to]: Minutes): Minutes[] {
  if (table.closed.has(day)) return []
  const until = table.earlyCloses.get(day) ?? 1440
  const since = table.lateOpens.get(day) ?? 0
  const kept: Minutes[] =
    table.earlyCloses.has(day) && since >= until
      ? [
          [from, Math.min(to, until)],
          [Math.max(from, since), to],
        ]
      : [[Math.max(from, since), Math.min(to, until)]]
  return kept.filter(([start, end]) => start < end)
}
