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

test('a mark is that of the day or of the last one before, in the units of the day', () => {
  const of = (instrumentId: number, on: number, bid: number, ask: number): DailyMark => ({
    instrumentId,
    day: on,
    bid: dec(bid),
    ask: dec(ask),
  })
  const marks = [of(1, 4, 60, 62), of(1, 9, 31, 33), of(2, 4, 9, 9)]
  const ratio = { new: dec(3), old: dec(2) }
  const splits = [
    { instrumentId: 1, day: 6, multiplies: true, ratio: { new: dec(2), old: dec(1) } },
    // The mark of its own day is in its units.
    { instrumentId: 1, day: 9, multiplies: true, ratio },
    { instrumentId: 2, day: 6, multiplies: false, ratio },
  ]
  const known = dayMarks('USD', marks, [], splits)
  const bids = (id: number) => [3, 4, 5, 6, 8, 9, 10].map((on) => known.at(id, on)?.bid.toNumber() ?? null)
  expect(bids(1)).toEqual([null, 60, 60, 30, 30, 31, 31])
  expect(known.at(1, 6)?.ask.toNumber()).toBe(31)
  expect(bids(2)).toEqual([null, 9, 9, 6, 6, 6, 6])
  expect(known.at(3, 9)).toBeUndefined()
  expect([5, 6].map((on) => [known.resized(1, on), known.resized(2, on)].map(Number))).toEqual([
    [1, 2 / 3],
    [1, 1],
  ])
})

test('a rate is the middle of its own pair, direct or inverse, that has a price', () => {
  const pairs = [
    // Another account's.
    { account: 'JPY', currency: 'EUR', instrumentId: 1, isInverse: false },
    { account: 'USD', currency: 'JPY', instrumentId: 1, isInverse: true },
    { account: 'USD', currency: 'EUR', instrumentId: 2, isInverse: false },
    { account: 'USD', currency: 'EUR', instrumentId: 3, isInverse: true },
  ]
  const marks = [
    { instrumentId: 1, day: 4, bid: dec(120), ask: dec(130) },
    { instrumentId: 2, day: 6, bid: dec('1.1'), ask: dec('1.3') },
    { instrumentId: 3, day: 4, bid: dec('0.7'), ask: dec('0.9') },
    { instrumentId: 2, day: 9, bid: dec(0), ask: dec(0) },
  ].toSorted((one, other) => one.day - other.day)
  const { rate } = dayMarks('USD', marks, pairs)
  expect([4, 6, 9].map((on) => rate('EUR', on)?.toNumber())).toEqual([1.25, 1.2, 1.25])
  expect(rate('JPY', 4)?.toNumber()).toBe(0.008)
  expect(rate('CHF', 4)).toBeUndefined()
})
