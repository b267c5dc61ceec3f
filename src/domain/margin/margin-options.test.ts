import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { portfolio } from '../../../test/support/portfolio.ts'
import { dec, zero } from '../decimal.ts'
import { marginUsed } from './margin.ts'
import { matchOptions } from './margin-options.ts'
import type { MarginPosition } from './margin-position.ts'

const used = (text: string): number => marginUsed(portfolio(text)).toNumber()

describe('options on a stock at 100', () => {
  test.each<[string, string, number]>([
    ['a long option binds its value', '+2 C100@5', 1000],
    ['a short call at the money: 20 % of the underlying', '-1 C100@5', 2000],
    ['a short call in the money: no more', '-1 C80@21', 2000],
    ['a short call out of the money: less its distance', '-1 C105@2', 1500],
    ['a short call far out: 10 % of the underlying', '-1 C140@0.1', 1000],
    ['a short put out of the money: less its distance', '-1 P95@2', 1500],
    ['a short put far out: 10 % of the strike', '-1 P60@0.1', 600],
    ['a short put in the money: 20 % of the underlying', '-1 P120@21', 2000],
    ['contracts and their size multiply', '-3 C105@2x10', 450],

    ['stock covers a short call', '+100 S -1 C105@2', 5000],
    ['short stock covers a short put', '-100 S -1 P95@2', 5000],
    ['long stock covers no put', '+100 S -1 P95@2', 6500],
    ['short stock covers no call', '-100 S -1 C105@2', 6500],
    ['stock of another name covers nothing', '+100 B.S -1 C105@2', 6500],
    ['stock covers whole contracts only', '+199 S -2 C105@2', 9950 + 1500],
    ['a contract of 150 takes 150 shares', '+150 S -1 C105@2x150', 7500],
    ['three contracts of two thirds take 200 shares', '+200 S -3 C105@2x66.666666666667', 10_000],
    ['a contract of 150 is not covered by 100', '+100 S -1 C105@2x150', 5000 + 2250],
    ['stock covers the lower strike first', '+100 S -1 C110@2 -1 C100@5', 5000 + 1000],
    ['stock covers the earlier expiry first', '+100 S -1 C100@5/0717 -1 C110@2', 5000 + 2000],
    ['stock comes before a long option', '+100 S +1 C105@3 -1 C100@5', 5000 + 300],
    ['a long option where the stock ends', '+100 S +1 C105@3 -2 C100@5', 5000 + 300],

    ['a credit call spread: its width less the credit', '-1 C100@5 +1 C110@2', 700],
    ['a debit call spread: its cost', '+1 C100@5 -1 C110@2', 300],
    ['a credit put spread', '-1 P100@5 +1 P90@2', 700],
    ['a debit put spread', '+1 P100@5 -1 P90@2', 300],
    ['a spread quoted below nothing binds nothing', '-1 C100@5 +1 C90@4', 0],
    ['a wide spread binds no more than its legs', '-1 C100@1 +1 C200@0.01', 2001],
    ['a calendar spread', '-1 C100@5 +1 C100@7/0717', 200],
    ['a long leg that expires earlier bounds nothing', '-1 C100@5/0717 +1 C110@2', 2200],
    ['a put does not bound a call', '-1 C100@5 +1 P100@5', 2500],
    ['nor does a call on another stock', '-1 C100@5 +1 B.C110@2', 2200],
    ['nor a contract of another size', '-1 C100@5 +1 C110@2x10', 2020],

    ['the nearest strike first', '+1 C120@0.5 -1 C100@5 +1 C105@3', 300 + 50],
    ['also where a farther one would leave less between', '+1 C80@22 -1 C100@5 +1 C105@3', 300 + 2200],
    ['at equal distance the smaller width, calls', '+1 C105@3 -1 C100@5 +1 C95@8', 300 + 300],
    ['at equal distance the smaller width, puts', '+1 P95@3 -1 P100@5 +1 P105@8', 300 + 300],
    ['of equal strikes the earlier expiry', '-1 C100@5 +1 C110@3/0717 +1 C110@2 -1 C100@6/0717', 700 + 700],
    ['short legs by strike', '-1 C110@2 -1 C100@5 +1 C105@3', 300 + 1000],
    ['short legs by expiry before strike', '-1 C100@6/0717 -1 C110@2 +1 C105@4/0717', 200 + 2000],
    ['a long leg is used once', '-2 C100@5 +1 C110@2', 700 + 2000],
    ['the rest of a long leg binds its value', '-1 C100@5 +3 C110@2', 700 + 400],
    ['a short leg takes as many long legs as it needs', '-3 C100@5 +1 C105@3 +1 C110@2', 300 + 700 + 2000],
    ['both sides of an iron condor', '-1 C105@3 +1 C110@1 -1 P95@3 +1 P90@1', 300 + 300],
  ])('%s: %s', (_, text, expected) => {
    expect(used(text)).toBe(expected)
  })

  test('a broad index takes 15 %', () => {
    const index = (text: string) =>
      marginUsed(portfolio(text).map((position) => ({ ...position, indexOption: true }))).toNumber()
    expect(index('-1 C100@5')).toBe(1500)
    expect(index('-1 C103@3')).toBe(1200)
    expect(index('-1 P97@3')).toBe(1200)
    expect(index('-1 C110@2')).toBe(1000)
  })
})

const option = fc
  .record({
    quantity: fc.integer({ min: -5, max: 5 }).filter((quantity) => quantity !== 0),
    kind: fc.constantFrom('C', 'P'),
    strike: fc.integer({ min: 16, max: 24 }),
    price: fc.integer({ min: 0, max: 60 }),
    day: fc.constantFrom('0619', '0717'),
    size: fc.constantFrom(100, 100, 100, 150),
  })
  .map(({ quantity, kind, strike, price, day, size }) => ({
    name: `${kind}${strike * 5}/${day}x${size}`,
    text: `${quantity < 0 ? '' : '+'}${quantity} ${kind}${strike * 5}@${price / 2}/${day}x${size}`,
  }))
const portfolios = fc
  .record({
    stock: fc.integer({ min: -500, max: 500 }),
    options: fc.uniqueArray(option, { maxLength: 8, selector: ({ name }) => name }),
  })
  .map(({ stock, options }) => [`${stock < 0 ? '' : '+'}${stock} S`, ...options.map(({ text }) => text)])

const positionsOf = (lines: readonly string[]): MarginPosition[] => portfolio(lines.join(' '))

describe('laws', () => {
  test('no portfolio binds less than nothing, or more than its positions one by one', () => {
    fc.assert(
      fc.property(portfolios.map(positionsOf), (positions) => {
        const together = marginUsed(positions)
        const apart = positions.reduce((sum, position) => sum.plus(marginUsed([position])), zero)
        expect(together.isNegative()).toBe(false)
        expect(together.lessThanOrEqualTo(apart)).toBe(true)
      }),
    )
  })

  test('every contract is matched once, and stock covers no more than there is', () => {
    fc.assert(
      fc.property(portfolios.map(positionsOf), (positions) => {
        const matches = matchOptions(positions)
        for (const position of positions) {
          const counted = matches.reduce((sum, match) => {
            if (match.kind === 'covered' && match.stock === position)
              return sum.plus(match.contracts.times(match.short.pointValue))
            const legs: MarginPosition[] =
              match.kind === 'single'
                ? [match.option]
                : match.kind === 'pair'
                  ? [match.short, match.long]
                  : [match.short]
            return legs.includes(position) ? sum.plus(match.contracts) : sum
          }, zero)
          const held = position.quantity.abs()
          expect(
            position.securityType === 'OPT' ? counted.equals(held) : counted.lessThanOrEqualTo(held),
          ).toBe(true)
        }
      }),
    )
  })

  test('the order in which positions are listed does not matter', () => {
    const shuffled = portfolios.chain((lines) =>
      fc.tuple(fc.constant(lines), fc.shuffledSubarray(lines, { minLength: lines.length })),
    )
    fc.assert(
      fc.property(shuffled, ([lines, mixed]) => {
        expect(marginUsed(positionsOf(mixed))).toEqual(marginUsed(positionsOf(lines)))
      }),
    )
  })

  test.each<[string, string, number]>([
    ['short legs of one expiry and strike', '+150 S -1 C105@2x100 -1 C105@2x150', 7500 + 2250],
    ['the same the other way round', '+150 S -1 C105@2x150 -1 C105@2x100', 7500 + 2250],
  ])('nor among equals: %s', (_, text, expected) => {
    expect(used(text)).toBe(expected)
  })

  test('nor among long legs that differ in their price alone', () => {
    const [short, cheap, dear] = portfolio('-1 C100@5 +1 C110@2 +1 C110@3')
    const named = [short!, { ...cheap!, symbol: 'a' }, { ...dear!, symbol: 'b' }]
    for (const positions of [named, named.toReversed()]) {
      const pairs = matchOptions(positions).filter(({ kind }) => kind === 'pair')
      expect(pairs).toMatchObject([{ long: { symbol: 'a' } }])
    }
  })

  test('the rate of the currency multiplies every line', () => {
    fc.assert(
      fc.property(portfolios.map(positionsOf), fc.integer({ min: 1, max: 300 }), (positions, hundredths) => {
        const fx = dec(hundredths).div(100)
        const converted = positions.map((position) => ({ ...position, fx }))
        expect(marginUsed(converted)).toEqual(marginUsed(positions).times(fx))
      }),
    )
  })
})
