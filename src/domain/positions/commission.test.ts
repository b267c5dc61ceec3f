import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec, zero } from '../decimal.ts'
import { addTurnover, fillCommission, noTurnover, orderCommission } from './commission.ts'
import { commissionPlans } from './tables/commission-plans.ts'

const decimals = (scale: number) => fc.integer({ min: 0, max: 1000 }).map((value) => dec(value).div(scale))

const rates = fc.record({
  perUnit: fc.option(decimals(10_000)),
  minPerOrder: fc.option(decimals(100)),
  pctOfNotional: fc.option(decimals(100_000)),
  maxPctOfNotional: fc.option(decimals(10_000)),
})
const fill = fc.record({
  quantity: fc.integer({ min: 1, max: 500 }).map(dec),
  price: fc.integer({ min: -5000, max: 50_000 }).map((value) => dec(value).div(100)),
  pointValue: fc.constantFrom(dec(1), dec(100), dec('0.5')),
})

test('parts of an order never cost less than nothing and sum to the whole', () => {
  fc.assert(
    fc.property(rates, fc.array(fill, { maxLength: 10 }), (plan, fills) => {
      let turnover = noTurnover
      let charged = zero
      for (const each of fills) {
        const after = addTurnover(turnover, each)
        const part = fillCommission(plan, turnover, after)
        expect(part.isNegative() && !part.isZero()).toBe(false)
        expect(part.decimalPlaces()).toBeLessThanOrEqual(2)
        charged = charged.plus(part)
        turnover = after
      }
      expect(charged.equals(orderCommission(plan, turnover))).toBe(true)
    }),
  )
})

describe('the plans of a new installation', () => {
  const turnover = (quantity: number, price: number) =>
    addTurnover(noTurnover, { quantity: dec(quantity), price: dec(price), pointValue: dec(1) })

  test('the default plan charges stocks a cent per share and side', () => {
    expect(orderCommission(commissionPlans[0].CS, turnover(178, 20)).toNumber()).toBe(1.78)
  })
  test('a fixed broker plan has a minimum and a cap', () => {
    const { CS } = commissionPlans[3]
    const charges = [turnover(100, 50), turnover(1000, 50), turnover(1000, 0.1)].map((order) =>
      orderCommission(CS, order).toNumber(),
    )
    expect(charges).toEqual([1, 5, 1])
  })
})
