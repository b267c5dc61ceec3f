import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import {
  differsSince,
  expectedQuantity,
  type FamilyFill,
  type FamilySplit,
  type VariantTerms,
} from './variant.ts'

const half: VariantTerms = { scalingPercentage: dec(50), securityTypes: ['CS', 'FUT'] }

describe('what a variant should hold', () => {
  test.each([
    ['half', half, 'CS', 10, 5],
    ['rounded down', half, 'CS', 5, 2],
    ['of a short, towards zero', half, 'FUT', -5, -2],
    ['nothing of one', half, 'CS', 1, 0],
    ['nothing of another class', half, 'OPT', 10, 0],
    ['nothing of nothing', half, 'CS', 0, 0],
    ['more than its parent', { ...half, scalingPercentage: dec(110) }, 'CS', 10, 11],
  ] as const)('%s', (_, terms, assetClass, parent, expected) => {
    expect(expectedQuantity(terms, assetClass, dec(parent)).toNumber()).toBe(expected)
  })
})

describe('since when the two differ', () => {
  const fill = (isParent: boolean, quantity: number, at: number): FamilyFill => ({
    isParent,
    quantity: dec(quantity),
    at,
  })
  const split = (parentChange: number, variantChange: number, at: number): FamilySplit => ({
    parentChange: dec(parentChange),
    variantChange: dec(variantChange),
    at,
  })
  const since = (parent: number, variant: number, past: readonly (FamilyFill | FamilySplit)[]): number =>
    differsSince(half, 'CS', { parent: dec(parent), variant: dec(variant) }, past, 1)

  test.each([
    ['the parent has traded and the variant has not', 14, 5, [fill(true, 4, 30), fill(false, 5, 20)], 30],
    ['it went further apart', 20, 5, [fill(true, 6, 40), fill(true, 4, 30), fill(false, 5, 20)], 30],
    ['a fill that changes nothing comes between', 15, 5, [fill(true, 1, 50), fill(true, 4, 30)], 30],
    ['the variant has traded on its own', 10, 4, [fill(false, -1, 60)], 60],
    ['they never agreed', 10, 0, [], 1],
    ['a split made them differ', 15, 6, [split(10, 4, 40), fill(false, 2, 20), fill(true, 5, 20)], 40],
    ['a split came between', 30, 0, [split(20, 0, 40), fill(true, 10, 20)], 20],
    ['a split of both at once came between', 40, 10, [split(20, 5, 40), fill(true, 10, 20)], 20],
  ] as const)('%s', (_, parent, variant, past, expected) => {
    expect(since(parent, variant, past)).toBe(expected)
  })

  test('is a moment of a fill after which they never agreed again', () => {
    const trades = fc.array(
      fc.record({ isParent: fc.boolean(), quantity: fc.integer({ min: -4, max: 4 }) }),
      {
        maxLength: 12,
      },
    )
    fc.assert(
      fc.property(trades, (given) => {
        const agree = (parent: number, variant: number): boolean =>
          expectedQuantity(half, 'CS', dec(parent)).toNumber() === variant
        const states: [number, number][] = [[0, 0]]
        for (const { isParent, quantity } of given) {
          const [parent, variant] = states.at(-1) as [number, number]
          states.push([parent + (isParent ? quantity : 0), variant + (isParent ? 0 : quantity)])
        }
        const [parent, variant] = states.at(-1) as [number, number]
        fc.pre(!agree(parent, variant))
        const lastAgreed = states.findLastIndex(([one, other]) => agree(one, other))
        const fills = given.map(({ isParent, quantity }, place) => fill(isParent, quantity, 100 + place))
        expect(since(parent, variant, fills.toReversed())).toBe(100 + lastAgreed)
      }),
    )
  })
})
