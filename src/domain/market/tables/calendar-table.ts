/**
 * The form of the session tables. A table is written from the announcements of its exchange and reviewed
 * until `validUntil`; later days follow the weekly hours alone. Exceptions belong to civil days of the
 * table's zone.
 */
import { type Day, readDay, type TimeZone } from '../../time.ts'

export type CalendarTable = {
  readonly zone: TimeZone
  /**
   * The session of a trade date as parts [from, to) in minutes of its own day; negative minutes are the
   * evening before, and a gap between parts is a pause.
   */
  readonly parts: readonly (readonly [from: number, to: number])[]
  /** Trade dates are Monday to Friday, or all seven days. */
  readonly weekends: boolean
  /** Civil days without any trading. */
  readonly closed: ReadonlySet<Day>
  /** Civil day to the minute at which trading ends; the evening follows only after a late open. */
  readonly earlyCloses: ReadonlyMap<Day, number>
  /** Civil day to the minute at which trading starts. */
  readonly lateOpens: ReadonlyMap<Day, number>
  /** Last reviewed day. */
  readonly validUntil: Day
}

/** Minute of the day of an `HH:MM` text. */
export const clock = (text: string): number => Number(text.slice(0, 2)) * 60 + Number(text.slice(3))

/** The days of a text of dates, separated by white space. */
export const days = (text: string): ReadonlySet<Day> => new Set(text.trim().split(/\s+/).map(tableDay))

/** Days with a time: a text of `HH:MM` entries, each followed by its dates. */
export function times(text: string): ReadonlyMap<Day, number> {
  const found = new Map<Day, number>()
  let at = 0
  for (const word of text.trim().split(/\s+/)) {
    if (word.includes(':')) at = clock(word)
    else found.set(tableDay(word), at)
  }
  return found
}

/** The day of a date of a table; throws on a misprint. */
export function tableDay(text: string): Day {
  const day = readDay(text)
  if (day === undefined) throw new RangeError(`no date of the calendar: ${text}`)
  return day
}
