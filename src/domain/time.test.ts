import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  dayIn,
  dayLength,
  dayOf,
  formatDay,
  formatInstant,
  instantAt,
  minute,
  newYork,
  parkedRelease,
  partsOfDay,
  readDay,
  readInstant,
  weekdayOf,
} from './time.ts'

const utc = (text: string): number => Date.parse(text)

describe('readInstant', () => {
  test.each([
    ['2026-02-26T15:15:15Z', '2026-02-26T15:15:15Z'],
    ['2026-02-26T15:15:15.250Z', '2026-02-26T15:15:15.250Z'],
    ['2026-02-26T15:15:15.123456789Z', '2026-02-26T15:15:15.123Z'],
    ['2026-02-26T15:15Z', '2026-02-26T15:15:00Z'],
    ['2026-02-26 15:15:15+01:00', '2026-02-26T14:15:15Z'],
    ['2026-02-26T15:15:15-0530', '2026-02-26T20:45:15Z'],
    ['2026-02-26T15:15:15-05', '2026-02-26T20:15:15Z'],
    ['2026-02-26T15:15:15+23:59', '2026-02-25T15:16:15Z'],
    ['2026-02-26T15:15:15', '2026-02-26T15:15:15Z'],
    ['2026-02-26', '2026-02-26T00:00:00Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00Z'],
  ])('%s is %s', (text, instant) => {
    expect(readInstant(text)).toBe(utc(instant))
  })

  test.each([
    '',
    'tomorrow',
    '2026-02-30T10:00:00Z',
    '2025-02-29',
    '2026-13-01',
    '2026-00-10',
    '2026-1-5',
    '2026-02-26T24:00:00Z',
    '2026-02-26T10:60:00Z',
    '2026-02-26T10:00:60Z',
    '2026-02-26T10:00:00+25:00',
    '2026-02-26T10:00:00+01:75',
    '2026-02-26Z',
    '2026-02-26T10Z',
    '0000-01-01',
    ' 2026-02-26',
  ])('%j is no instant', (text) => {
    expect(readInstant(text)).toBeUndefined()
  })

  test('reads back what formatInstant writes', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4_102_444_800 }), (seconds) => {
        expect(readInstant(formatInstant(seconds * 1000))).toBe(seconds * 1000)
      }),
    )
  })
})

describe('parkedRelease', () => {
  const now = '2024-03-01T00:00:00Z'
  test.each([
    ['an instant', '2024-03-12T14:00:00Z', now, '2024-03-12T14:00:00Z'],
    ['an offset', '2024-03-12T14:00:00+02:00', now, '2024-03-12T12:00:00Z'],
    ['New York in winter', '2024-03-08T09:30:00', now, '2024-03-08T14:30:00Z'],
    ['New York in summer', '2024-03-12T09:30:00', now, '2024-03-12T13:30:00Z'],
    ['a skipped time moves forward by the gap', '2024-03-10T02:30:00', now, '2024-03-10T07:30:00Z'],
    ['the first skipped time', '2024-03-10T02:00:00', now, '2024-03-10T07:00:00Z'],
    ['the last time before the gap', '2024-03-10T01:59:59', now, '2024-03-10T06:59:59Z'],
    ['a repeated time is its first occurrence', '2024-11-03T01:30:00', now, '2024-11-03T05:30:00Z'],
    ['after the repeated hour', '2024-11-03T02:00:00', now, '2024-11-03T07:00:00Z'],
    ['the past releases at once', '2024-02-01T10:00:00Z', now, now],
    ['now releases at once', now, now, now],
    ['a past wall clock', '2024-02-29T18:59:00', now, now],
  ])('%s', (_, parkedUntil, at, expected) => {
    const release = parkedRelease(parkedUntil, utc(at))
    expect(release === undefined ? undefined : formatInstant(release)).toBe(expected)
  })

  test('reads UTC where asked to', () => {
    expect(parkedRelease('2024-03-12T14:00:00', utc(now), 'UTC')).toBe(utc('2024-03-12T14:00:00Z'))
  })

  test('refuses what is no date-time', () => {
    expect(parkedRelease('soon', utc(now))).toBeUndefined()
  })
})

describe('days', () => {
  test.each([
    ['1970-01-01', 0, 4],
    ['2024-02-29', 19782, 4],
    ['2024-03-10', 19792, 7],
    ['2026-11-23', 20780, 1],
    ['0001-01-01', -719_162, 1],
    ['0099-12-31', -683_004, 4],
    ['9999-12-31', 2_932_896, 5],
  ])('%s is day %i, weekday %i', (text, day, weekday) => {
    expect(readDay(text)).toBe(day)
    expect(formatDay(day)).toBe(text)
    expect(weekdayOf(day)).toBe(weekday)
  })

  test('a day is its own parts', () => {
    fc.assert(
      fc.property(fc.integer({ min: -719_162, max: 2_932_896 }), (day) => {
        const { year, month, dayOfMonth } = partsOfDay(day)
        expect(dayOf(year, month, dayOfMonth)).toBe(day)
        expect(weekdayOf(day + 7)).toBe(weekdayOf(day))
      }),
    )
  })

  test('every instant of four-digit years is written as JavaScript does', () => {
    const [min, max] = [Date.parse('0000-01-01T00:00:00Z'), Date.parse('9999-12-31T23:59:59Z')]
    fc.assert(
      fc.property(fc.integer({ min, max }), (at) => {
        const text = new Date(at).toISOString()
        expect(formatInstant(at)).toBe(`${text.slice(0, 19)}Z`)
        expect(formatDay(Math.floor(at / dayLength))).toBe(text.slice(0, 10))
      }),
    )
  })

  test.each([Number.NaN, Number.POSITIVE_INFINITY, 2_932_897, -719_529])('no day: %d', (day) => {
    expect(() => formatDay(day)).toThrow('four-digit years')
  })

  test('a wall-clock minute stays on its New York day', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 10_000, max: 22_000 }),
        fc.integer({ min: 0, max: 1439 }),
        (day, minutes) => {
          const at = instantAt(day, minutes, newYork)
          expect(dayIn(at, newYork)).toBe(day)
          expect((at / minute) % 1).toBe(0)
        },
      ),
    )
  })
})
