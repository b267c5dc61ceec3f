import fc from 'fast-check'
import { expect, test } from 'vitest'
import { types } from './wire.ts'

const read = types.getTypeParser(1184) as (text: string) => number

test.each<[number, string, unknown[]]>([
  [1016, '{}', []],
  [1016, '{1,-2,9007199254740993}', [1, -2, 9007199254740993n]],
  [1016, '{1,NULL}', [1, null]],
  [
    1016,
    '{{1,2},{3,4}}',
    [
      [1, 2],
      [3, 4],
    ],
  ],
  [1182, '{2024-02-29,infinity}', ['2024-02-29', 'infinity']],
  [1185, '{"2024-03-12 14:00:00+00"}', [Date.UTC(2024, 2, 12, 14)]],
  [1231, '{1.50,NaN}', ['1.50', 'NaN']],
])('the list of type %i: %s', (oid, text, values) => {
  expect((types.getTypeParser(oid) as (text: string) => unknown)(text)).toEqual(values)
})

test.each([
  ['2024-03-12 14:00:00+00', '2024-03-12T14:00:00.000Z'],
  ['2024-03-12 14:00:00.5+00', '2024-03-12T14:00:00.500Z'],
  ['2024-03-12 14:00:00.12+00', '2024-03-12T14:00:00.120Z'],
  ['2024-03-12 14:00:00.123999+00', '2024-03-12T14:00:00.123Z'],
  ['2024-02-29 23:59:59.999999+00', '2024-02-29T23:59:59.999Z'],
  ['1969-12-31 23:59:59.9+00', '1969-12-31T23:59:59.900Z'],
])('the time %s', (text, instant) => {
  expect(new Date(read(text)).toISOString()).toBe(instant)
})

test('every time that the database writes', () => {
  fc.assert(
    fc.property(fc.integer({ min: Date.UTC(1000, 0), max: Date.UTC(9999, 11, 31) }), (at) => {
      const text = new Date(at).toISOString().replace('T', ' ').replace('Z', '')
      expect(read(`${text}+00`)).toBe(at)
    }),
  )
})

test.each(['', '0044-03-15 12:00:00+00 BC', '12024-03-12 14:00:00+00', '2024-03-12 14:00:00+01'])(
  'no time of ours: %s',
  (text) => {
    expect(() => read(text)).toThrow('unreadable time')
  },
)

test('the ends of time', () => {
  expect([read('-infinity'), read('infinity')]).toEqual([Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY])
})
