/**
 * Calendar ops of the kernel: plain JSON in, the product's calendars and parked release, plain JSON out.
 */
import {
  type CalendarName,
  dayOrderExpiry,
  isOpen,
  nextOpen,
  readCalendarName,
} from '../../../src/domain/market/calendar.ts'
import { formatInstant, type Instant, parkedRelease, readInstant } from '../../../src/domain/time.ts'
import type { KernelOp } from './types.ts'

type CalendarInput = { op: string; calendar: string; at: string }
type ParkedInput = { parkedUntilDate: string; now: string }

const readers: Record<string, (calendar: CalendarName, at: Instant) => unknown> = {
  isOpen: (calendar, at) => ({ open: isOpen(calendar, at) }),
  dayOrderExpiry: (calendar, at) => ({ expires: formatInstant(dayOrderExpiry(calendar, at)) }),
  nextOpen: (calendar, at) => ({ at: exactText(nextOpen(calendar, at)) }),
}

/** The answer may be the time that was given, which may have milliseconds. */
const exactText = (at: Instant): string => (at % 1000 === 0 ? formatInstant(at) : new Date(at).toISOString())

function instantOf(text: string): Instant {
  const at = readInstant(text)
  if (at === undefined) throw new Error(`no date-time: ${text}`)
  return at
}

function calendar(input: CalendarInput): unknown {
  const name = readCalendarName(input.calendar)
  const read = readers[input.op]
  if (!name || !read) throw new Error(`unknown calendar ${input.calendar} or op ${input.op}`)
  return read(name, instantOf(input.at))
}

function release(input: ParkedInput): unknown {
  const at = parkedRelease(input.parkedUntilDate, instantOf(input.now))
  if (at === undefined) throw new Error(`no date-time: ${input.parkedUntilDate}`)
  return { release: exactText(at) }
}

export const calendarOps: Record<string, KernelOp> = { calendar, 'calendar.parkedRelease': release }
