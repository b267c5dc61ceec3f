import { describe, expect, test } from 'vitest'
import { dec, zero } from '../decimal.ts'
import { isLag, type NearEffects } from './broker-lag.ts'

const split = (units: [number, number], isBooked: boolean): NearEffects => ({
  added: zero,
  taken: zero,
  isListedAnew: false,
  splits: [{ new: dec(units[0]), old: dec(units[1]), isBooked }],
})
const ended = (added: number, taken: number): NearEffects => ({
  added: dec(added),
  taken: dec(taken),
  isListedAnew: false,
  splits: [],
})
const twoSplits = [...split([4, 1], false).splits, ...split([2, 1], false).splits]

describe('what differs from the broker', () => {
  const cases: [string, number, number, NearEffects, boolean][] = [
    ['is explained by nothing', 100, 1, ended(0, 0), false],
    ['are shares that were delivered here alone', 100, -100, ended(100, 0), true],
    ['are more than were delivered', 100, -101, ended(100, 0), false],
    ['is on the other side of what was delivered', 100, 100, ended(100, 0), false],
    ['are options that have ended here alone', 0, 2, ended(0, 2), true],
    ['are sold ones that have ended here alone', 0, -2, ended(2, 0), true],
    ['are one of two deliveries', 0, -100, ended(100, 100), true],
    ['is a split that the broker does first', 100, 300, split([4, 1], false), true],
    ['is more than the split that the broker does first', 100, 301, split([4, 1], false), false],
    ['has the other sign than the split to come', 100, -1, split([4, 1], false), false],
    ['is a split of a short position that the broker does first', -100, -300, split([4, 1], false), true],
    ['is a reverse split that the broker does first', 105, -95, split([1, 10], false), true],
    ['is a split that the broker does later', 400, -300, split([4, 1], true), true],
    ['is more than the split that the broker does later', 400, -302, split([4, 1], true), false],
    ['is a reverse split that the broker does later', 10, 95, split([1, 10], true), true],
    ['is a reverse split of which nothing was left', 0, 7, split([1, 10], true), true],
    ['is more than a reverse split leaves', 0, 11, split([1, 10], true), false],
    [
      'is a reverse split of a short position that the broker does later',
      -10,
      -100,
      split([1, 10], true),
      true,
    ],
    ['is more than the reverse split of a short position', -10, -101, split([1, 10], true), false],
    ['is the larger of two splits', 100, 300, { ...ended(0, 0), splits: twoSplits }, true],
    [
      'is the larger of two splits of a short position',
      -100,
      -300,
      { ...ended(0, 0), splits: twoSplits },
      true,
    ],
    ['is an option under its new symbol', 0, 24, { ...ended(0, 0), isListedAnew: true }, true],
  ]
  test.each(cases)('%s', (_, total, difference, effects, expected) => {
    expect(isLag(dec(total), dec(difference), effects)).toBe(expected)
  })
})
