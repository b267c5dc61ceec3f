/**
 * Instants and civil time. An instant is a number of milliseconds since 1970-01-01T00:00Z, a day the number
 * of civil days since 1970-01-01, a minute the minute of a wall clock. Zone rules come from Temporal; the
 * clock itself is never read here.
 */
import { Temporal } from 'temporal-polyfill'

/** Milliseconds since 1970-01-01T00:00:00Z. */
export type Instant = number
/** Civil days since 1970-01-01: a date without a zone. */
export type Day = number
export const timeZones = [
  'UTC',
  'America/New_York',
  'America/Chicago',
  'Europe/Berlin',
  'Europe/London',
] as const
export type TimeZone = (typeof timeZones)[number]

export const newYork: TimeZone = 'America/New_York'
export const second = 1000
export const minute = 60 * second
export const hour = 60 * minute
export const dayLength = 24 * hour
const daysOf400Years = 146_097

const datePattern = /^(\d{4})-(\d{2})-(\d{2})$/
const dateTimePattern =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/

/** The day of a `YYYY-MM-DD` text; undefined when it is no date of the calendar. */
export function readDay(text: string): Day | undefined {
  const [, year, month, day] = datePattern.exec(text) ?? []
  return year === undefined ? undefined : dayOf(Number(year), Number(month), Number(day))
}

/** The day of a year, month (1..12) and day of the month; undefined when there is no such date. */
export function dayOf(year: number, month: number, dayOfMonth: number): Day | undefined {
  if (year < 1) return undefined
  // A cycle of the calendar later, because Date.UTC takes years below 100 for those of the last century.
  const at = new Date(Date.UTC(year + 400, month - 1, dayOfMonth))
  return at.getUTCMonth() === month - 1 && at.getUTCDate() === dayOfMonth
    ? at.getTime() / dayLength - daysOf400Years
    : undefined
}

const twoDigits = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'))

/** `YYYY-MM-DD` of a day in the years 0 to 9999; throws for any other. */
export function formatDay(day: Day): string {
  const { year, month, dayOfMonth } = partsOfDay(day)
  if (!(year >= 0 && year <= 9999)) throw new RangeError(`no day of four-digit years: ${day}`)
  const century = Math.floor(year / 100)
  return `${twoDigits[century]}${twoDigits[year - 100 * century]}-${twoDigits[month]}-${twoDigits[dayOfMonth]}`
}

/**
 * Year, month (1..12) and day of the month. In whole numbers, because every listing writes dates by the thousand.
 * Hinnant, chrono-Compatible Low-Level Date Algorithms (2013): years begin in March, eras are 400 of them.
 */
export function partsOfDay(day: Day): { year: number; month: number; dayOfMonth: number } {
  const shifted = day + 719_468
  const era = Math.floor(shifted / daysOf400Years)
  const dayOfEra = shifted - era * daysOf400Years
  const leaps = Math.floor(dayOfEra / 1460) - Math.floor(dayOfEra / 36_524) + Math.floor(dayOfEra / 146_096)
  const yearOfEra = Math.floor((dayOfEra - leaps) / 365)
  const dayOfYear = dayOfEra - 365 * yearOfEra - Math.floor(yearOfEra / 4) + Math.floor(yearOfEra / 100)
  const monthFromMarch = Math.floor((5 * dayOfYear + 2) / 153)
  const month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
  return {
    year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0),
    month,
    dayOfMonth: dayOfYear - Math.floor((153 * monthFromMarch + 2) / 5) + 1,
  }
}

/** 1 Monday .. 7 Sunday. */
export const weekdayOf = (day: Day): number => ((((day + 3) % 7) + 7) % 7) + 1

/** The civil day that a zone's calendar shows at an instant. */
export const dayIn = (at: Instant, zone: TimeZone): Day => Math.floor((at + offsetAt(at, zone)) / dayLength)

/**
 * The instant of a wall-clock minute on a day; minutes below 0 and from 1440 on belong to the days around
 * it. A time that daylight saving skips moves forward by the gap, a repeated one is its first occurrence.
 */
export function instantAt(day: Day, minutes: number, zone: TimeZone): Instant {
  return wallClock(day * dayLength + minutes * minute, zone)
}

/**
 * Reads an ISO 8601 date-time, or a date as its midnight. With `Z` or an offset it is that instant, without
 * one the wall clock of `zone`, skipped and repeated times as in `instantAt`. Undefined for anything else.
 */
export function readInstant(text: string, zone: TimeZone = 'UTC'): Instant | undefined {
  const [, date, hours = '0', minutes = '0', seconds = '0', fraction = '', offset] =
    dateTimePattern.exec(text) ?? []
  const day = date === undefined ? undefined : readDay(date)
  if (day === undefined || Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59)
    return undefined
  const milliseconds = Number(fraction.padEnd(3, '0').slice(0, 3))
  const local =
    day * dayLength +
    Number(hours) * hour +
    Number(minutes) * minute +
    Number(seconds) * second +
    milliseconds
  if (offset === undefined) return wallClock(local, zone)
  const shift = offsetOf(offset)
  return shift === undefined ? undefined : local - shift
}

/** `YYYY-MM-DDTHH:MM:SSZ`, whole seconds, in the years 0 to 9999. */
export function formatInstant(at: Instant): string {
  const day = Math.floor(at / dayLength)
  const seconds = Math.floor((at - day * dayLength) / second)
  const minutes = Math.floor(seconds / 60)
  const hours = Math.floor(minutes / 60)
  return `${formatDay(day)}T${twoDigits[hours]}:${twoDigits[minutes - 60 * hours]}:${twoDigits[seconds - 60 * minutes]}Z`
}

/** For a reader, to the minute: `YYYY-MM-DD HH:MM UTC`. */
export const readableInstant = (at: Instant): string =>
  `${formatInstant(at).slice(0, 16).replace('T', ' ')} UTC`

/**
 * When a parked order is released: at `parkedUntil` (as `readInstant` reads it in `zone`), or now when that
 * is not later than now. Undefined when `parkedUntil` is no date-time.
 */
export function parkedRelease(
  parkedUntil: string,
  now: Instant,
  zone: TimeZone = newYork,
): Instant | undefined {
  const until = readInstant(parkedUntil, zone)
  return until === undefined ? undefined : Math.max(until, now)
}

function offsetOf(text: string): number | undefined {
  if (text === 'Z' || text === 'z') return 0
  const hours = Number(text.slice(1, 3))
  const minutes = Number(text.slice(3).replace(':', '') || '0')
  if (hours > 23 || minutes > 59) return undefined
  return (text.startsWith('-') ? -1 : 1) * (hours * hour + minutes * minute)
}

/** The instant of a local time; only the days around a change of the clock need the rules of the zone. */
function wallClock(local: number, zone: TimeZone): Instant {
  const day = Math.floor(local / dayLength)
  const before = offsetAtMidnight(day - 1, zone)
  if (before === offsetAtMidnight(day + 2, zone)) return local - before
  const civil = Temporal.Instant.fromEpochMilliseconds(local).toZonedDateTimeISO('UTC').toPlainDateTime()
  return civil.toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds
}

function offsetAt(at: Instant, zone: TimeZone): number {
  const day = Math.floor(at / dayLength)
  const before = offsetAtMidnight(day, zone)
  return before === offsetAtMidnight(day + 1, zone) ? before : computeOffset(at, zone)
}

const offsets = new Map<TimeZone, Map<Day, number>>()

/** The offset of a zone at 00:00 UTC of a day, remembered. */
function offsetAtMidnight(day: Day, zone: TimeZone): number {
  const ofZone = offsets.get(zone) ?? new Map<Day, number>()
  offsets.set(zone, ofZone)
  const known = ofZone.get(day)
  if (known !== undefined) return known
  if (ofZone.size > 20_000) ofZone.clear()
  const offset = computeOffset(day * dayLength, zone)
  ofZone.set(day, offset)
  return offset
}

const computeOffset = (at: Instant, zone: TimeZone): number =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone).offsetNanoseconds / 1e6
