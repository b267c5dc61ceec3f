import { describe, expect, test } from 'vitest'
import { calendarOps } from './calendar.ts'

const run = (op: string, input: object): unknown => calendarOps[op]?.(input as never)

describe('calendar', () => {
  test.each([
    [{ op: 'isOpen', calendar: 'us_equity', at: '2024-03-12T13:30:00Z' }, { open: true }],
    [{ op: 'isOpen', calendar: 'US_EQUITY', at: '2024-03-12T20:00:00Z' }, { open: false }],
    [
      { op: 'dayOrderExpiry', calendar: 'FOREX', at: '2024-03-12T17:00:00-04:00' },
      { expires: '2024-03-13T21:00:00Z' },
    ],
    [
      { op: 'nextOpen', calendar: 'US_EQUITY', at: '2024-03-12T14:00:00.001Z' },
      { at: '2024-03-12T14:00:00.001Z' },
    ],
    [{ op: 'nextOpen', calendar: 'CME_GLOBEX', at: '2024-03-29T12:00:00Z' }, { at: '2024-03-31T22:00:00Z' }],
  ])('%j', (input, output) => {
    expect(run('calendar', input)).toEqual(output)
  })

  test.each([
    { op: 'isOpen', calendar: 'MOON', at: '2024-03-12T13:30:00Z' },
    { op: 'close', calendar: 'FOREX', at: '2024-03-12T13:30:00Z' },
    { op: 'isOpen', calendar: 'FOREX', at: 'now' },
  ])('throws on %j', (input) => {
    expect(() => run('calendar', input)).toThrow()
  })
})

test.each([
  ['2024-03-10T02:30:00', '2024-03-01T00:00:00Z', '2024-03-10T07:30:00Z'],
  ['2024-03-12T14:00:00Z', '2024-03-13T00:00:00Z', '2024-03-13T00:00:00Z'],
  ['2024-03-12T14:00:00Z', '2024-03-13T00:00:00.250Z', '2024-03-13T00:00:00.250Z'],
])('%s is released', (parkedUntilDate, now, release) => {
  expect(run('calendar.parkedRelease', { parkedUntilDate, now })).toEqual({ release })
})
