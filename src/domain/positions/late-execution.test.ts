import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec, zero } from '../decimal.ts'
import { type Adjustment, type PassedAction, passAction } from './late-execution.ts'
import type { SplitRatio } from './split.ts'

const nothing: Adjustment = { before: zero, change: zero, cash: zero }
const splitOf = (units: number, old: number, close: number) =>
  ({
    kind: 'split',
    ratio: { new: dec(units), old: dec(old) } satisfies SplitRatio,
    multiplies: true,
    close: dec(close),
  }) as const

const late = (quantity: number, price: number, action: PassedAction, adjusted = nothing) => {
  const passed = passAction({ quantity: dec(quantity), price: dec(price) }, action, adjusted)
  const { before, change, cash } = passed.adjusted
  return {
    quantity: passed.traded.quantity.toNumber(),
    price: passed.traded.price.toNumber(),
    adjusted: [before, change, cash].map((number) => number.toNumber()),
  }
}

describe('a late execution', () => {
  test('gets the dividend of what it bought, and owes that of what it sold', () => {
    const dividend = { kind: 'dividend', amount: dec('0.5') } as const
    expect(late(100, 10, dividend)).toEqual({ quantity: 100, price: 10, adjusted: [100, 0, 50] })
    const paid = { before: dec(100), change: zero, cash: dec(50) }
    expect(late(-100, 10, dividend, paid).adjusted).toEqual([0, 0, 0])
  })

  test('counts in new units after a split', () => {
    expect(late(100, 170, splitOf(2, 1, 170))).toEqual({ quantity: 200, price: 85, adjusted: [100, 100, 0] })
  })

  test('is paid for the part of a share that it leaves, or pays for it', () => {
    expect(late(105, 10, splitOf(1, 10, 10))).toEqual({ quantity: 10, price: 100, adjusted: [105, -95, 50] })
    expect(late(-105, 10, splitOf(1, 10, 10)).adjusted).toEqual([-105, 95, -50])
    expect(late(3, 10, splitOf(3, 2, 10)).adjusted).toEqual([3, 1, 3.33])
  })

  test('keeps its units and divides its price where a contract has changed its size', () => {
    const action = { ...splitOf(3, 2, 9), multiplies: false }
    expect(late(2, 9, action)).toEqual({ quantity: 2, price: 6, adjusted: [2, 0, 0] })
  })

  test('makes up a whole share with the fraction that was paid', () => {
    const paid = { before: dec(105), change: dec(-95), cash: dec(50) }
    expect(late(105, 10, splitOf(1, 10, 10), paid)).toEqual({
      quantity: 11,
      price: 100,
      adjusted: [210, -189, 0],
    })
  })

  test('leaves what it would have left had it been told in time', () => {
    const size = fc.integer({ min: -500, max: 500 })
    fc.assert(
      fc.property(
        size,
        size,
        fc.integer({ min: 1, max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (a, b, n, o) => {
          const action = splitOf(n, o, 63)
          const inTime = passAction({ quantity: dec(a + b), price: dec(10) }, action, nothing)
          const early = passAction({ quantity: dec(a), price: dec(10) }, action, nothing)
          const told = passAction({ quantity: dec(b), price: dec(10) }, action, early.adjusted)
          expect(told.adjusted).toEqual(inTime.adjusted)
          // What a short position leaves of less than a unit is -0, the number that 0 is.
          const sum = early.traded.quantity.plus(told.traded.quantity)
          expect(sum.minus(inTime.traded.quantity).isZero()).toBe(true)
        },
      ),
      { examples: [[0, -1, 1, 2]] },
    )
  })
})
