import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { SecurityType } from '../codes.ts'
import { dec } from '../decimal.ts'
import {
  type MirrorSettings,
  referencePriceOf,
  type Sizing,
  size,
  target,
  unlimited,
} from './mirror-target.ts'

const open: MirrorSettings = { ...unlimited, scalingPercentage: dec(100) }

type Given = {
  cls?: SecurityType
  q: number | string
  percent?: number
  held?: number
  ref?: number | null
  min?: number
  max?: number
  dollars?: number
  lot?: number
} & Partial<Pick<MirrorSettings, 'enabled' | 'long' | 'short' | 'closingOrdersOnly'>>

const sizingOf = ({
  cls = 'FUT',
  percent = 100,
  held = 0,
  ref = null,
  min = 0,
  max,
  dollars,
  lot = 1,
  ...flags
}: Given): Sizing => ({
  assetClass: cls,
  held: dec(held),
  referencePrice: ref === null ? null : dec(ref),
  settings: {
    ...open,
    scalingPercentage: dec(percent),
    minimum: dec(min),
    maximum: max === undefined ? null : dec(max),
    maximumDollars: dollars === undefined ? null : dec(dollars),
    lot: dec(lot),
    enabled: flags.enabled ?? true,
    long: flags.long ?? true,
    short: flags.short ?? true,
    closingOrdersOnly: flags.closingOrdersOnly ?? false,
  },
})

const targetOf = (given: Given) => {
  const found = target(dec(given.q), sizingOf(given))
  return [found.quantity.toNumber() + 0, found.reason]
}

// biome-ignore format: one case per line
const cases: readonly (readonly [string, Given, number, string | null])[] = [
  ['flat stays flat whatever the minimum', { q: 0, min: 5 }, 0, null],
  ['110 % of 10 is exactly 11', { q: 10, percent: 110 }, 11, null],
  ['29 % of 100 is 29, not 28', { q: 100, percent: 29 }, 29, null],
  ['rounded down: 150 % of 9 is 13', { q: 9, percent: 150 }, 13, null],
  ['shorts round toward zero too', { q: -9, percent: 150 }, -13, null],
  ['1000 %', { q: 7, percent: 1000 }, 70, null],
  ['a fraction of the strategy', { q: '0.5', percent: 300 }, 1, null],
  ['rounded to nothing', { q: 1, percent: 99 }, 0, 'RoundedToZero'],
  ['forex lot', { cls: 'FOR', q: 25, lot: 10 }, 20, null],
  ['forex below one lot', { cls: 'FOR', q: 9, lot: 10 }, 0, 'RoundedToZero'],
  ['a lot is for forex only', { cls: 'FUT', q: 25, lot: 10 }, 25, null],
  ['raised to the minimum', { q: 1, percent: 50, min: 2 }, 2, 'RaisedToMinimum'],
  ['raised from nothing', { q: -1, percent: 1, min: 2 }, -2, 'RaisedToMinimum'],
  ['exactly the minimum', { q: 2, min: 2 }, 2, null],
  ['the minimum rounds up to the lot', { cls: 'FOR', q: 1, min: 11, lot: 10 }, 20, 'RaisedToMinimum'],
  ['capped', { q: 6, percent: 50, max: 1 }, 1, 'CappedToMaximum'],
  ['exactly the maximum', { q: 6, max: 6 }, 6, null],
  ['a maximum of 0 is nothing', { q: 6, max: 0 }, 0, 'CappedToMaximum'],
  ['the maximum rounds down to the lot', { cls: 'FOR', q: 50, max: 39, lot: 10 }, 30, 'CappedToMaximum'],
  ['the maximum beats the minimum', { q: 1, min: 5, max: 3 }, 3, 'CappedToMaximum'],
  ['raised and capped back to nothing', { q: 1, percent: 1, min: 5, max: 0 }, 0, 'CappedToMaximum'],
  ['a cap of contracts sells what is above it', { q: 6, max: 2, held: 5 }, 2, 'CappedToMaximum'],
  ['dollars', { cls: 'CS', q: 100, dollars: 1000, ref: 30 }, 33, 'CappedToMaximum'],
  ['dollars that just suffice', { cls: 'CS', q: 100, dollars: 3000, ref: 30 }, 100, null],
  ['dollars at a broken price', { cls: 'CS', q: 100, dollars: 10, ref: 0.1 }, 100, null],
  ['0 dollars is nothing', { cls: 'CS', q: 100, dollars: 0, ref: 30 }, 0, 'CappedToMaximum'],
  ['a dollar cap never sells', { cls: 'CS', q: 100, dollars: 1000, ref: 50, held: 33 }, 33, 'CappedToMaximum'],
  ['nor holds more than scaled', { cls: 'CS', q: 10, dollars: 100, ref: 50, held: 33 }, 10, null],
  ['held on the other side does not count', { cls: 'CS', q: 100, dollars: 1000, ref: 50, held: -33 }, 20, 'CappedToMaximum'],
  ['no price under a dollar cap', { cls: 'CS', q: 100, dollars: 1000, held: 7 }, 7, 'NoReferencePrice'],
  ['no price, and all is held', { cls: 'CS', q: 5, dollars: 1000, held: 7 }, 5, null],
  ['no price without a dollar cap', { cls: 'CS', q: 100 }, 100, null],
  ['stocks know no minimum or contract cap', { cls: 'CS', q: 100, min: 500, max: 3 }, 100, null],
  ['futures know no dollar cap', { q: 100, dollars: 1 }, 100, null],
  ['class disabled', { q: 5, enabled: false }, 0, 'AssetClassDisabled'],
  ['class disabled keeps what is held', { q: 5, enabled: false, held: 3 }, 3, 'AssetClassDisabled'],
  ['class disabled still reduces', { q: 5, enabled: false, held: 8 }, 5, null],
  ['no longs', { q: 5, long: false, held: 1 }, 1, 'LongNotAllowed'],
  ['no longs, short strategy', { q: -5, long: false }, -5, null],
  ['no shorts', { q: -5, short: false, held: -1 }, -1, 'ShortNotAllowed'],
  ['closing only', { q: 5, closingOrdersOnly: true, held: 2 }, 2, 'ClosingOrdersOnly'],
  ['the first missing permission is named', { q: 5, enabled: false, long: false, closingOrdersOnly: true }, 0, 'AssetClassDisabled'],
  ['the direction before closing only', { q: 5, long: false, closingOrdersOnly: true }, 0, 'LongNotAllowed'],
  ['a permission after the cap', { q: 9, max: 4, enabled: false, held: 2 }, 2, 'AssetClassDisabled'],
  ['a permission that changes nothing leaves the cap', { q: 9, max: 4, enabled: false, held: 4 }, 4, 'CappedToMaximum'],
]

describe('target', () => {
  test.each(cases)('%s', (_name, given, quantity, reason) => {
    expect(targetOf(given)).toEqual([quantity, reason])
  })

  test('size is target before permissions', () => {
    const given: Given = { q: -9, max: 4, enabled: false, short: false, closingOrdersOnly: true }
    const found = size(dec(-9), sizingOf(given))
    expect([found.quantity.toNumber(), found.reason]).toEqual([-4, 'CappedToMaximum'])
  })
})

const given = fc.record({
  cls: fc.constantFrom<SecurityType>('CS', 'FUT', 'OPT', 'FOR'),
  percent: fc.integer({ min: 1, max: 1000 }),
  held: fc.integer({ min: -200, max: 200 }),
  ref: fc.option(fc.integer({ min: 1, max: 500 }).map((ticks) => ticks / 4)),
  min: fc.integer({ min: 0, max: 5 }),
  max: fc.integer({ min: 0, max: 100 }),
  dollars: fc.integer({ min: 0, max: 5000 }),
  lot: fc.constantFrom(1, 5, 10),
  enabled: fc.boolean(),
  long: fc.boolean(),
  closingOrdersOnly: fc.boolean(),
})
const quantity = fc.integer({ min: -1000, max: 1000 })

describe('laws of the target', () => {
  test('never falls as the strategy holds more', () => {
    fc.assert(
      fc.property(given, quantity, fc.nat(50), (settings, q, more) => {
        const sizing = sizingOf({ ...settings, short: settings.long, q })
        const larger = q < 0 ? q - more : q + more
        const smaller = target(dec(q), sizing).quantity.abs()
        return q === 0 || !target(dec(larger), sizing).quantity.abs().lessThan(smaller)
      }),
      { numRuns: 500 },
    )
  })

  test('is odd where the permissions are the same on both sides', () => {
    fc.assert(
      fc.property(given, quantity, (settings, q) => {
        const sides = { ...settings, short: settings.long }
        const one = target(dec(q), sizingOf({ ...sides, q }))
        const other = target(dec(-q), sizingOf({ ...sides, q, held: -settings.held }))
        expect(other.quantity.negated().equals(one.quantity)).toBe(true)
        expect(other.reason?.replace('Short', 'Long')).toBe(one.reason?.replace('Short', 'Long'))
      }),
      { numRuns: 500 },
    )
  })

  test('a missing permission never sells and never buys', () => {
    fc.assert(
      fc.property(given, quantity, (settings, q) => {
        const sizing = sizingOf({ ...settings, q, closingOrdersOnly: true })
        const free = size(dec(q), sizing).quantity.abs()
        const held = dec(settings.held * Math.sign(q))
        const found = target(dec(q), sizing).quantity.abs()
        return (
          found.lessThanOrEqualTo(free) &&
          (found.equals(free) || found.equals(held) || (found.isZero() && held.lessThan(0)))
        )
      }),
      { numRuns: 500 },
    )
  })
})

describe('reference price', () => {
  const order = { limit: dec(10), stop: dec(12) }
  test.each([
    ['market: the current price', '1', 11],
    ['limit: its own', '2', 10],
    ['stop: its own', '3', 12],
  ] as const)('%s', (_name, type, price) => {
    expect(referencePriceOf({ ...order, type }, dec(11))?.toNumber()).toBe(price)
  })

  test('none', () => {
    expect(referencePriceOf({ type: '1', limit: null, stop: null }, null)).toBeNull()
  })
})
