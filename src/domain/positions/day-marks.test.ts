import fc from 'fast-check'
import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { type DailyMark, dayMarks, type MarkSplit } from './day-marks.ts'

const day = fc.integer({ min: 0, max: 30 })
const mark = fc
  .record({ instrumentId: fc.integer({ min: 1, max: 3 }), day, price: fc.integer({ min: 1, max: 99 }) })
  .map(({ instrumentId, day, price }): DailyMark => ({ instrumentId, day, bid: dec(price), ask: dec(price) }))
const split = fc
  .record({ instrumentId: fc.integer({ min: 1, max: 3 }), day, multiplies: fc.boolean() })
  .map((one): MarkSplit => ({ ...one, ratio: { new: dec(2), old: dec(1) } }))
const pair = { account: 'USD', currency: 'EUR', instrumentId: 3, isInverse: false }

test('after the last change of marks and units every day is like the one before', () => {
  fc.assert(
    fc.property(fc.array(mark), fc.array(split), day, (marks, splits, later) => {
      const sorted = marks.toSorted((one, other) => one.day - other.day)
      const known = dayMarks('USD', sorted, [pair], splits)
      const seen = (on: number) =>
        JSON.stringify([
          ...[1, 2, 3].flatMap((id) => [known.at(id, on) ?? null, known.resized(id, on)]),
          known.rate('EUR', on) ?? null,
        ])
      const from = Math.max(known.lastChange, 0)
      expect(seen(from + later)).toBe(seen(from))
    }),
  )
})

test('the last change is that of a mark or of a split, and none where nothing is known', () => {
  const marks = [4, 9].map((on) => ({ instrumentId: 1, day: on, bid: dec(1), ask: dec(1) }))
  const ratio = { new: dec(2), old: dec(1) }
  expect(dayMarks('USD', marks, []).lastChange).toBe(9)
  expect(dayMarks('USD', marks, [], [{ instrumentId: 1, day: 11, multiplies: true, ratio }]).lastChange).toBe(
    11,
  )
  expect(dayMarks('USD', [], []).lastChange).toBe(Number.NEGATIVE_INFINITY)
})
