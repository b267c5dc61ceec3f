import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dayLength,
  formatDay,
  formatInstant,
  hour,
  type Instant,
  minute,
  newYork,
  readDay,
  readInstant,
} from '../time.ts'
import {
  type CalendarName,
  calendarNames,
  computeSession,
  dayOrderExpiry,
  isOpen,
  nextOpen,
  nextSession,
  readCalendarName,
  sessionAt,
  sessionOn,
  tradeDateAtOrAfter,
  tradeDateAtOrBefore,
} from './calendar.ts'
import { type CalendarTable, clock, days, tableDay, times } from './tables/calendar-table.ts'
import { calendarTables } from './tables/calendars.ts'

/** A New York wall clock, `2024-11-28 13:00`. */
function ny(text: string): Instant {
  const at = readInstant(text, newYork)
  if (at === undefined) throw new Error(`no date-time: ${text}`)
  return at
}

/** The New York wall clock of an instant, so that a failure reads like the table. */
const wall = (at: Instant): string => {
  const offset = [4, 5].find((hours) => ny(formatInstant(at - hours * hour).slice(0, 19)) === at) ?? 4
  return formatInstant(at - offset * hour)
    .slice(0, 16)
    .replace('T', ' ')
}

describe('sessions', () => {
  test.each<[CalendarName, string, boolean]>([
    ['US_EQUITY', '2024-03-12 09:29', false],
    ['US_EQUITY', '2024-03-12 09:30', true],
    ['US_EQUITY', '2024-03-12 15:59', true],
    ['US_EQUITY', '2024-03-12 16:00', false],
    ['US_EQUITY', '2024-03-16 12:00', false],
    ['US_EQUITY', '2024-07-03 12:59', true],
    ['US_EQUITY', '2024-07-03 13:00', false],
    ['US_EQUITY', '2024-11-29 13:00', false],
    ['US_EQUITY', '2025-01-09 12:00', false],
    ['US_EQUITY', '2001-09-14 12:00', false],
    ['US_EQUITY', '2001-09-17 12:00', true],
    ['US_EQUITY', '2012-10-30 12:00', false],
    ['US_EQUITY', '2018-12-05 12:00', false],
    ['US_EQUITY', '2021-06-18 12:00', true],
    ['US_EQUITY', '2022-06-20 12:00', false],
    ['US_INDEX_OPTION', '2024-03-12 16:14', true],
    ['US_INDEX_OPTION', '2024-07-03 13:14', true],
    ['US_INDEX_OPTION', '2024-07-03 13:15', false],
    ['CME_GLOBEX', '2024-03-12 16:59', true],
    ['CME_GLOBEX', '2024-03-12 17:00', false],
    ['CME_GLOBEX', '2024-03-12 17:59', false],
    ['CME_GLOBEX', '2024-03-12 18:00', true],
    ['CME_GLOBEX', '2024-03-15 17:00', false],
    ['CME_GLOBEX', '2024-03-15 18:30', false],
    ['CME_GLOBEX', '2024-03-17 17:59', false],
    ['CME_GLOBEX', '2024-03-17 18:00', true],
    ['CME_GLOBEX', '2024-03-28 16:59', true],
    ['CME_GLOBEX', '2024-03-28 20:00', false],
    ['CME_GLOBEX', '2024-03-29 08:00', false],
    ['CME_GLOBEX', '2023-04-07 09:14', true],
    ['CME_GLOBEX', '2023-04-07 09:15', false],
    ['CME_GLOBEX', '2024-11-28 12:59', true],
    ['CME_GLOBEX', '2024-11-28 13:00', false],
    ['CME_GLOBEX', '2024-11-28 18:00', true],
    ['CME_GLOBEX', '2024-11-29 13:14', true],
    ['CME_GLOBEX', '2024-11-29 13:15', false],
    ['CME_GLOBEX', '2024-12-24 18:30', false],
    ['CME_GLOBEX', '2024-12-25 10:00', false],
    ['CME_GLOBEX', '2024-12-25 18:00', true],
    ['CME_GLOBEX', '2023-12-24 19:00', false],
    ['CME_GLOBEX', '2024-07-03 18:00', true],
    ['CME_GLOBEX', '2024-07-04 10:00', true],
    ['CME_GLOBEX', '2025-01-09 09:29', true],
    ['CME_GLOBEX', '2025-01-09 09:30', false],
    ['CME_GLOBEX', '2025-01-09 18:00', true],
    ['CBOT_RATES', '2018-12-05 08:00', false],
    ['CBOT_RATES', '2024-07-03 14:00', true],
    ['CBOT_GRAINS', '2024-03-12 08:44', true],
    ['CBOT_GRAINS', '2024-03-12 09:00', false],
    ['CBOT_GRAINS', '2024-03-12 09:30', true],
    ['CBOT_GRAINS', '2024-03-12 14:20', false],
    ['CBOT_GRAINS', '2024-03-12 20:00', true],
    ['CBOT_GRAINS', '2024-02-18 20:00', false],
    ['CBOT_GRAINS', '2024-02-19 20:00', true],
    ['CBOT_GRAINS', '2024-11-29 08:00', false],
    ['CBOT_GRAINS', '2024-11-29 09:30', true],
    ['CME_FX', '2024-11-28 16:59', true],
    ['CME_ENERGY_METALS', '2024-11-28 14:30', false],
    ['CME_LIVESTOCK', '2024-03-12 14:04', true],
    ['CME_LIVESTOCK', '2024-11-28 12:00', false],
    ['CFE', '2024-11-28 10:00', false],
    ['FOREX', '2024-03-10 16:59', false],
    ['FOREX', '2024-03-10 17:00', true],
    ['FOREX', '2024-03-12 17:00', true],
    ['FOREX', '2024-03-15 16:59', true],
    ['FOREX', '2024-03-15 17:00', false],
    ['FOREX', '2024-12-24 17:30', false],
    ['FOREX', '2024-12-25 17:05', true],
    ['FOREX', '2024-01-01 12:00', false],
    // The evening before was open, the day was not.
    ['CME_FX', '2001-09-10 23:59', true],
    ['CME_FX', '2001-09-11 00:00', false],
    // What starts at midnight falls away with its evening.
    ['FOREX', '2005-12-26 12:00', false],
    ['CME_FX', '2001-09-13 12:00', false],
    ['CONTINUOUS', '2024-12-25 03:00', true],
    ['CONTINUOUS', '2024-03-16 17:00', true],
  ])('%s at %s: open %s', (calendar, at, open) => {
    expect(isOpen(calendar, ny(at))).toBe(open)
  })

  test('Eurex follows the clock of Berlin', () => {
    const open = (text: string): boolean => isOpen('EUREX', Date.parse(text))
    expect(open('2024-03-12T00:09:59Z')).toBe(false)
    expect(open('2024-03-12T00:10:00Z')).toBe(true)
    expect(open('2024-03-12T20:59:59Z')).toBe(true)
    expect(open('2024-03-12T21:00:00Z')).toBe(false)
    expect(open('2024-07-11T20:00:00Z')).toBe(false)
    expect(open('2024-05-01T10:00:00Z')).toBe(false)
  })
})

/** A table of a market that trades from 18:00 of the evening before to 17:00, with exceptions of its own. */
const nightly: CalendarTable = {
  zone: newYork,
  parts: [[clock('18:00') - 1440, clock('17:00')]],
  weekends: false,
  closed: new Set(),
  earlyCloses: new Map(),
  lateOpens: new Map(),
  validUntil: tableDay('2024-12-31'),
}

describe('Tuesday 12 March by a table', () => {
  const halt = { earlyCloses: times('10:00 2024-03-12'), lateOpens: times('12:00 2024-03-12') }
  const haltAtNight = { earlyCloses: times('20:00 2024-03-11'), lateOpens: times('22:00 2024-03-11') }
  const eveningOff = { earlyCloses: times('13:00 2024-03-11') }
  test.each<[string, Partial<CalendarTable>, string[]]>([
    ['as always', {}, ['11 18:00-12 17:00']],
    ['the day closed', { closed: days('2024-03-12') }, ['11 18:00-12 00:00']],
    ['the evening closed', { closed: days('2024-03-11') }, []],
    ['an early close takes its evening, and the morning after it, along', eveningOff, []],
    ['a halt is a pause', halt, ['11 18:00-12 10:00', '12 12:00-12 17:00']],
    ['also in the evening', haltAtNight, ['11 18:00-11 20:00', '11 22:00-12 17:00']],
    [
      'after a halt it trades without its evening',
      { ...halt, closed: days('2024-03-11') },
      ['12 12:00-12 17:00'],
    ],
  ])('%s', (_, exceptions, expected) => {
    const session = computeSession({ ...nightly, ...exceptions }, tableDay('2024-03-12'))
    const parts = session?.parts ?? []
    expect(parts.map((part) => part.map((at) => wall(at).slice(8)).join('-'))).toEqual(expected)
    expect([session?.open, session?.close]).toEqual([parts[0]?.[0], parts.at(-1)?.[1]])
  })
})

describe('nextOpen', () => {
  test.each<[CalendarName, string, string]>([
    ['US_EQUITY', '2024-03-12 10:00', '2024-03-12 10:00'],
    ['US_EQUITY', '2024-03-12 09:30', '2024-03-12 09:30'],
    ['US_EQUITY', '2024-03-12 16:00', '2024-03-13 09:30'],
    ['US_EQUITY', '2024-03-28 16:00', '2024-04-01 09:30'],
    ['US_EQUITY', '2001-09-10 16:00', '2001-09-17 09:30'],
    ['US_EQUITY', '2002-09-11 09:30', '2002-09-11 12:00'],
    ['CME_GLOBEX', '2024-03-28 17:00', '2024-03-31 18:00'],
    ['CME_GLOBEX', '2024-11-28 13:00', '2024-11-28 18:00'],
    ['CME_GLOBEX', '2024-12-24 13:15', '2024-12-25 18:00'],
    ['CME_GLOBEX', '2024-12-31 17:00', '2025-01-01 18:00'],
    ['CME_GLOBEX', '2026-12-24 13:15', '2026-12-27 18:00'],
    ['CBOT_GRAINS', '2024-03-12 08:45', '2024-03-12 09:30'],
    ['CBOT_GRAINS', '2024-11-27 14:20', '2024-11-29 09:30'],
    ['FOREX', '2024-03-15 17:00', '2024-03-17 17:00'],
    ['FOREX', '2026-12-31 17:00', '2027-01-03 17:00'],
  ])('%s after %s: %s', (calendar, at, expected) => {
    expect(wall(nextOpen(calendar, ny(at)))).toBe(expected)
  })
})

describe('dayOrderExpiry', () => {
  test.each<[CalendarName, string, string]>([
    ['US_EQUITY', '2024-03-12 10:00', '2024-03-12 16:00'],
    ['US_EQUITY', '2024-03-12 08:00', '2024-03-12 16:00'],
    ['US_EQUITY', '2024-03-12 15:59', '2024-03-12 16:00'],
    ['US_EQUITY', '2024-03-12 16:00', '2024-03-13 16:00'],
    ['US_EQUITY', '2024-07-03 10:00', '2024-07-03 13:00'],
    ['US_EQUITY', '2024-07-03 13:00', '2024-07-05 16:00'],
    ['US_EQUITY', '2024-03-08 17:00', '2024-03-11 16:00'],
    ['CME_GLOBEX', '2024-03-12 17:00', '2024-03-13 17:00'],
    ['CME_GLOBEX', '2024-03-12 18:00', '2024-03-13 17:00'],
    ['CME_GLOBEX', '2024-03-12 16:59', '2024-03-12 17:00'],
    ['CME_GLOBEX', '2024-03-15 17:00', '2024-03-18 17:00'],
    ['CME_GLOBEX', '2024-11-27 20:00', '2024-11-28 13:00'],
    ['CME_GLOBEX', '2024-11-28 15:00', '2024-11-29 13:15'],
    ['CME_FX', '2001-09-10 20:00', '2001-09-11 00:00'],
    ['CBOT_GRAINS', '2024-03-11 21:00', '2024-03-12 14:20'],
    ['CBOT_GRAINS', '2024-03-12 09:00', '2024-03-12 14:20'],
    ['FOREX', '2024-03-12 16:59', '2024-03-12 17:00'],
    ['FOREX', '2024-03-12 17:00', '2024-03-13 17:00'],
    ['FOREX', '2024-03-16 12:00', '2024-03-18 17:00'],
    ['CONTINUOUS', '2024-03-16 12:00', '2024-03-16 17:00'],
  ])('%s at %s: %s', (calendar, at, expected) => {
    expect(wall(dayOrderExpiry(calendar, ny(at)))).toBe(expected)
  })
})

describe('names', () => {
  test.each([
    ['US_EQUITY', 'US_EQUITY'],
    ['us_equity', 'US_EQUITY'],
    ['us-equity', 'US_EQUITY'],
    ['CME Globex', 'CME_GLOBEX'],
    ['Forex', 'FOREX'],
    ['NASDAQ', undefined],
    ['', undefined],
  ])('%j is %s', (text, name) => {
    expect(readCalendarName(text)).toBe(name)
  })

  test('every calendar says how far it was reviewed', () => {
    const reviewed = readDay('2028-12-31')
    for (const name of calendarNames)
      expect(calendarTables[name].validUntil).toBeGreaterThanOrEqual(reviewed!)
  })
})

test('trade dates around a long weekend', () => {
  const [saturday, friday, tuesday] = ['2024-01-13', '2024-01-12', '2024-01-16'].map(
    (text) => readDay(text) ?? 0,
  )
  expect(tradeDateAtOrBefore('US_EQUITY', saturday ?? 0)).toBe(friday)
  expect(tradeDateAtOrAfter('US_EQUITY', saturday ?? 0)).toBe(tuesday)
  expect(tradeDateAtOrAfter('US_EQUITY', tuesday ?? 0)).toBe(tuesday)
})

describe('laws of every calendar', () => {
  const anyCalendar = fc.constantFrom(...calendarNames)
  const anyInstant = fc.integer({ min: Date.UTC(2000, 0, 3), max: Date.UTC(2030, 0, 1) })
  const runs = { numRuns: 1000 }
  const closesBetween = (calendar: CalendarName, after: Instant, until: Instant): Instant[] => {
    const [first, last] = [after, until].map((at) => Math.floor(at / dayLength))
    const tradeDates = Array.from({ length: last! - first! + 3 }, (_, place) => first! - 1 + place)
    return tradeDates
      .flatMap((tradeDate) => sessionOn(calendar, tradeDate)?.close ?? [])
      .filter((close) => close > after && close <= until)
  }

  test('nextOpen is open, not before, and nothing opens earlier', () => {
    fc.assert(
      fc.property(
        anyCalendar,
        anyInstant,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (calendar, at, share) => {
          const next = nextOpen(calendar, at)
          expect(next).toBeGreaterThanOrEqual(at)
          expect(isOpen(calendar, next)).toBe(true)
          expect(next === at).toBe(isOpen(calendar, at))
          if (next > at) {
            expect(isOpen(calendar, next - 1)).toBe(false)
            expect(isOpen(calendar, Math.floor(at + share * (next - 1 - at)))).toBe(false)
          }
        },
      ),
      runs,
    )
  })

  test('a DAY order expires at the end of the session it trades in', () => {
    fc.assert(
      fc.property(anyCalendar, anyInstant, (calendar, at) => {
        const expiry = dayOrderExpiry(calendar, at)
        expect(expiry).toBeGreaterThan(nextOpen(calendar, at))
        expect(isOpen(calendar, expiry - 1)).toBe(true)
        expect(closesBetween(calendar, at, expiry)).toEqual([expiry])
        expect(dayOrderExpiry(calendar, expiry)).toBeGreaterThan(expiry)
      }),
      runs,
    )
  })

  test('sessions follow one another without overlap', () => {
    const wrong: string[] = []
    for (const calendar of calendarNames) {
      let last = nextSession(calendar, Date.UTC(2000, 0, 3))
      while (last.close < Date.UTC(2029, 0, 1)) {
        const next = nextSession(calendar, last.open)
        const rest = next.open - last.close
        const ordered = rest >= 0 && rest < 8 * dayLength && next.tradeDate > last.tradeDate
        const long = next.parts.every(([from, to]) => to - from >= 30 * minute)
        const found = sessionAt(calendar, next.open) === next && sessionOn(calendar, next.tradeDate) === next
        if (!ordered || !long || !found) wrong.push(`${calendar} ${formatDay(next.tradeDate)}`)
        last = next
      }
    }
    expect(wrong).toEqual([])
  })
})
