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
import { oneOf } from './codes.ts'
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

function instantOf(member: string, text: string): Instant {
  const at = readInstant(text)
  if (at === undefined) throw new Error(`${member} is "${text}"; a date-time is needed`)
  return at
}

function calendar(input: CalendarInput): unknown {
  const name = readCalendarName(input.calendar)
  if (!name) throw new Error(`calendar is "${input.calendar}"; there is none of that name`)
  const read = readers[oneOf('op', input.op, Object.keys(readers))]
  return read?.(name, instantOf('at', input.at))
}

function release(input: ParkedInput): unknown {
  const at = parkedRelease(input.parkedUntilDate, instantOf('now', input.now))
  if (at === undefined)
    throw new Error(`parkedUntilDate is "${input.parkedUntilDate}"; a date-time is needed`)
  return { release: exactText(at) }
}

export const calendarOps: Record<string, KernelOp> = { calendar, 'calendar.parkedRelease': release }
