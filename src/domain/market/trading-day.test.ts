import { describe, expect, test } from 'vitest'
import { formatDay, readDay } from '../time.ts'
import {
  beforeOpening,
  bookedDay,
  earlyClose,
  endedDays,
  endOfDay,
  firstDayOf,
  lastEnd,
  nextCloseAt,
  runningDay,
} from './trading-day.ts'

const at = (text: string): number => Date.parse(text)
const day = (text: string): number => readDay(text)!
const iso = (instant: number): string => new Date(instant).toISOString().slice(0, 16)

describe('a day ends at 17:00 in New York', () => {
  test.each([
    ['summer time', '2024-03-12', '2024-03-12T21:00'],
    ['winter time', '2024-01-16', '2024-01-16T22:00'],
  ])('%s', (_, date, end) => expect(iso(endOfDay(day(date)))).toBe(end))

  test.each([
    ['just before', '2024-03-12T20:59:59Z', '2024-03-12', '2024-03-12'],
    ['at the end', '2024-03-12T21:00:00Z', '2024-03-13', '2024-03-12'],
    ['a moment later', '2024-03-12T21:00:00.001Z', '2024-03-13', '2024-03-13'],
    ['in the morning', '2024-03-12T05:00:00Z', '2024-03-12', '2024-03-12'],
  ])('%s', (_, moment, running, booked) => {
    expect([formatDay(runningDay(at(moment))), formatDay(bookedDay(at(moment)))]).toEqual([running, booked])
  })
})

test.each([
  ['in a session', '2024-03-12T14:00:00Z', '2024-03-12'],
  ['before the open', '2024-03-12T11:00:00Z', '2024-03-12'],
  ['at the close', '2024-03-12T20:00:00Z', '2024-03-13'],
  ['on a Saturday', '2024-03-16T14:00:00Z', '2024-03-18'],
  ['on a holiday', '2024-03-29T14:00:00Z', '2024-04-01'],
  ['in the evening', '2024-03-12T23:00:00Z', '2024-03-13'],
])('a record that begins %s', (_, startedAt, first) => {
  expect(formatDay(firstDayOf(at(startedAt)))).toBe(first)
})

test.each<[string, string, string, boolean, string[], string]>([
  ['before the close', '2024-03-12', '2024-03-12T19:59:59Z', true, [], '2024-03-12T20:00'],
  ['at the close', '2024-03-12', '2024-03-12T20:00:00Z', true, ['2024-03-12'], '2024-03-12T21:00'],
  ['at the close, with futures', '2024-03-12', '2024-03-12T20:00:00Z', false, [], '2024-03-12T21:00'],
  ['at 17:00', '2024-03-12', '2024-03-12T21:00:00Z', false, ['2024-03-12'], '2024-03-12T21:00'],
  [
    'over a holiday and a weekend',
    '2024-03-28',
    '2024-04-01T20:30:00Z',
    true,
    ['2024-03-28', '2024-04-01'],
    '2024-03-28T21:00',
  ],
  [
    'over three days',
    '2024-03-11',
    '2024-03-13T21:00:00Z',
    false,
    ['2024-03-11', '2024-03-12', '2024-03-13'],
    '2024-03-11T21:00',
  ],
  ['an early close', '2024-07-03', '2024-07-03T17:00:00Z', true, ['2024-07-03'], '2024-07-03T21:00'],
])('%s', (_, from, now, closesEarly, days, next) => {
  expect(endedDays(day(from), at(now), closesEarly).map(formatDay)).toEqual(days)
  expect(iso(nextCloseAt(day(from), at(now)))).toBe(next)
})

test.each([
  ['in a session', '2024-03-12T14:00:00Z', '2024-03-11', null],
  ['at the close', '2024-03-12T20:00:00Z', '2024-03-11', '2024-03-12T20:00'],
  ['after it', '2024-03-12T20:30:00Z', '2024-03-11', '2024-03-12T20:00'],
  ['at 17:00', '2024-03-12T21:00:00Z', '2024-03-12', null],
  ['on a Sunday', '2024-03-17T14:00:00Z', '2024-03-15', null],
])('what is over %s', (_, now, last, early) => {
  const ended = lastEnd(at(now))
  expect([formatDay(ended.day), iso(ended.at)]).toEqual([last, `${last}T21:00`])
  const closed = earlyClose(at(now))
  expect(closed ? [formatDay(closed.day), iso(closed.at)] : null).toEqual(
    early ? [early.slice(0, 10), early] : null,
  )
})

test('before an opening the marks of the day before were known', () => {
  const opening = at('2024-03-12T13:30:00Z')
  expect(beforeOpening(opening)).toEqual({ at: opening, day: day('2024-03-11') })
})
