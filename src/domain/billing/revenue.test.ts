import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { sharesOf, totalOf, unusedOf } from './revenue.ts'

const money = fc.bigInt({ min: 0n, max: 10n ** 12n })

describe('shares of a payment', () => {
  test.each([
    ['a plain price', { base: 9900n, markup: 0n }, 70, { owner: 6930n, site: 0n, platform: 2970n }],
    ['with a markup', { base: 9900n, markup: 2500n }, 70, { owner: 6930n, site: 2500n, platform: 2970n }],
    ['a cent that cannot be split', { base: 1n, markup: 0n }, 70, { owner: 0n, site: 0n, platform: 1n }],
    ['all to the owner', { base: 4999n, markup: 0n }, 100, { owner: 4999n, site: 0n, platform: 0n }],
    ['a markup alone', { base: 0n, markup: 500n }, 70, { owner: 0n, site: 500n, platform: 0n }],
  ])('%s', (_name, price, percent, shares) => {
    expect(sharesOf(price, percent)).toEqual(shares)
  })

  test('add up to what was paid and are never negative', () => {
    fc.assert(
      fc.property(money, money, fc.integer({ min: 0, max: 100 }), (base, markup, percent) => {
        const { owner, site, platform } = sharesOf({ base, markup }, percent)
        expect(owner + site + platform).toBe(totalOf({ base, markup }))
        expect([owner, site, platform].every((part) => part >= 0n)).toBe(true)
      }),
    )
  })
})

describe('what is left of a term', () => {
  const term = { from: 1_000, to: 31_000 }
  test.each([
    ['before it begins', 0, 3000n],
    ['when it begins', 1_000, 3000n],
    ['after a third', 11_000, 2000n],
    ['rounded down', 11_001, 1999n],
    ['a moment before its end', 30_999, 0n],
    ['at its end', 31_000, 0n],
    ['after it', 40_000, 0n],
  ])('%s', (_name, at, left) => {
    expect(unusedOf(3000n, term, at)).toBe(left)
  })

  test('never grows with time and never exceeds the price', () => {
    const moment = fc.integer({ min: 0, max: 40_000 })
    fc.assert(
      fc.property(money, moment, moment, (price, one, other) => {
        const [early, late] = one < other ? [one, other] : [other, one]
        const before = unusedOf(price, term, early)
        expect(unusedOf(price, term, late)).toBeLessThanOrEqual(before)
        expect(before).toBeLessThanOrEqual(price)
      }),
    )
  })
})
