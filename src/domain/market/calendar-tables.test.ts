/** The tables against the rules of the exchanges, computed here and nowhere else. */
import { describe, expect, test } from 'vitest'
import { type Day, dayOf, formatDay, instantAt, newYork, weekdayOf } from '../time.ts'
import { type CalendarName, sessionOn } from './calendar.ts'

const years = Array.from({ length: 29 }, (_, index) => 2000 + index)
const on = (year: number, month: number, day: number): Day => dayOf(year, month, day) ?? Number.NaN
const first = (year: number, month: number, weekday: number): Day => {
  const start = on(year, month, 1)
  return start + ((weekday - weekdayOf(start) + 7) % 7)
}
const lastMonday = (year: number, month: number): Day => first(year, month + 1, 1) - 7
/** A Saturday's holiday is kept on Friday, a Sunday's on Monday. */
const observed = (day: Day): Day => day + ({ 6: -1, 7: 1 }[weekdayOf(day)] ?? 0)

/** Gauss's computation of Easter, in the form of Meeus. */
function goodFriday(year: number): Day {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const g = Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3)
  const h = (19 * a + b - Math.floor(b / 4) - g + 15) % 30
  const l = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - h - (c % 4)) % 7
  const n = h + l - 7 * Math.floor((a + 11 * h + 22 * l) / 451) + 114
  return on(year, Math.floor(n / 31), (n % 31) + 1) - 2
}

const newYear = (year: number): Day[] => {
  const day = on(year, 1, 1)
  return weekdayOf(day) === 6 ? [] : [observed(day)]
}
const thanksgiving = (year: number): Day => first(year, 11, 4) + 21
const christmas = (year: number): Day => observed(on(year, 12, 25))
const shortHolidays = (year: number): Day[] => [
  first(year, 1, 1) + 14,
  first(year, 2, 1) + 14,
  lastMonday(year, 5),
  ...(year >= 2022 ? [observed(on(year, 6, 19))] : []),
  observed(on(year, 7, 4)),
  first(year, 9, 1),
  thanksgiving(year),
]
/** Half days of the stock exchanges: before Independence Day, after Thanksgiving, Christmas Eve. */
const halfDays = (year: number): Day[] => {
  const eve = [on(year, 7, 3), on(year, 12, 24)].filter((day) => weekdayOf(day) <= 4)
  const moved = year === 2002 ? [on(2002, 7, 5)] : []
  const extra = year === 2003 ? [on(2003, 12, 26)] : []
  return [...eve.filter((day) => day !== on(2002, 7, 3)), ...moved, ...extra, thanksgiving(year) + 1]
}
const dates = (text: string): Day[] =>
  text.split(' ').map((date) => on(Number(date.slice(0, 4)), Number(date.slice(5, 7)), Number(date.slice(8))))

type Expected = { from: number; to: number } | undefined
type Rule = {
  calendar: CalendarName
  from: number
  to: number
  expected: (day: Day, year: number) => Expected
}

const clock = (hours: number, minutes = 0): number => hours * 60 + minutes
const evening = clock(18) - 1440

const stockClosures = new Set([
  ...years.flatMap((year) => [...newYear(year), ...shortHolidays(year), goodFriday(year), christmas(year)]),
  ...dates(
    '2001-09-11 2001-09-12 2001-09-13 2001-09-14 2004-06-11 2007-01-02 2012-10-29 2012-10-30 2018-12-05 2025-01-09',
  ),
])
const stockHalfDays = new Set(years.flatMap(halfDays))
/** Good Fridays with an employment report: futures trade in the morning. */
const reportFridays = new Map(
  dates('2010-04-02 2012-04-06 2015-04-03 2021-04-02 2023-04-07 2026-04-03').map((day) => [day, true]),
)
const globexClosures = new Set([
  ...years.flatMap((year) => [...newYear(year), goodFriday(year), christmas(year)]),
  ...dates('2001-09-12 2001-09-13 2001-09-14 2004-06-11'),
])
const globexShort = new Map([
  ...years.flatMap(halfDays).map((day) => [day, clock(13, 15)] as const),
  ...years
    .flatMap(shortHolidays)
    .map((day) => [day, day < on(2014, 5, 1) ? clock(11, 30) : clock(13)] as const),
  ...dates('2007-01-02 2012-10-29 2012-10-30').map((day) => [day, clock(9, 15)] as const),
  ...dates('2018-12-05 2025-01-09').map((day) => [day, clock(9, 30)] as const),
  [on(2001, 9, 11), clock(10, 15)] as const,
])

const rules: Rule[] = [
  {
    calendar: 'US_EQUITY',
    from: clock(9, 30),
    to: clock(16),
    expected: (day) => {
      if (stockClosures.has(day)) return undefined
      const late = day === on(2002, 9, 11)
      return { from: late ? clock(12) : clock(9, 30), to: stockHalfDays.has(day) ? clock(13) : clock(16) }
    },
  },
  {
    calendar: 'CME_GLOBEX',
    from: evening,
    to: clock(17),
    expected: (day) => {
      if (reportFridays.has(day)) return { from: evening, to: clock(9, 15) }
      if (globexClosures.has(day)) return undefined
      return { from: evening, to: globexShort.get(day) ?? clock(17) }
    },
  },
  {
    calendar: 'CFE',
    from: evening,
    to: clock(17),
    expected: (day) =>
      stockClosures.has(day)
        ? undefined
        : { from: evening, to: stockHalfDays.has(day) ? clock(13, 15) : clock(17) },
  },
]

const shown = (value: Expected): string => (value ? `${value.from}-${value.to}` : 'closed')

describe('every trade date from 2000 to 2028', () => {
  test.each(rules)('$calendar keeps the rules', ({ calendar, expected }) => {
    const wrong: string[] = []
    for (let day = on(2000, 1, 3); day <= on(2028, 12, 31); day++) {
      const session = sessionOn(calendar, day)
      const wanted = weekdayOf(day) > 5 ? undefined : expected(day, 0)
      const open = wanted && instantAt(day, wanted.from, newYork)
      const close = wanted && instantAt(day, wanted.to, newYork)
      if (session?.open !== open || session?.close !== close)
        wrong.push(`${formatDay(day)} is not ${shown(wanted)}`)
    }
    expect(wrong).toEqual([])
  })

  test.each<[CalendarName, (year: number) => Day[]]>([
    ['CME_FX', (year) => [...newYear(year), christmas(year)]],
    ['CBOT_RATES', (year) => [...newYear(year), christmas(year)]],
    ['CME_ENERGY_METALS', (year) => [...newYear(year), goodFriday(year), christmas(year)]],
    ['CBOT_GRAINS', (year) => [...newYear(year), ...shortHolidays(year), goodFriday(year), christmas(year)]],
    [
      'CME_LIVESTOCK',
      (year) => [...newYear(year), ...shortHolidays(year), goodFriday(year), christmas(year)],
    ],
    ['FOREX', (year) => [on(year, 1, 1), on(year, 12, 25)]],
    ['EUREX', (year) => [on(year, 1, 1), goodFriday(year), goodFriday(year) + 3, on(year, 12, 25)]],
  ])('%s rests on its holidays and on few other days', (calendar, holidays) => {
    const closed = new Set(years.flatMap(holidays))
    for (const day of closed) {
      if (weekdayOf(day) <= 5) expect(sessionOn(calendar, day), formatDay(day)).toBeUndefined()
    }
    for (const year of years) {
      const others: string[] = []
      for (let day = on(year, 1, 3); day <= on(year, 12, 30); day++) {
        if (weekdayOf(day) <= 5 && !closed.has(day) && !sessionOn(calendar, day)) others.push(formatDay(day))
      }
      expect(others.length, others.join(' ')).toBeLessThanOrEqual(4)
    }
  })
})
