/** Other commission plans over splits: trades finish where they did, and cost what the plan says. */
import { expect, test } from 'vitest'
import type { SecurityType, Side } from '../codes.ts'
import { dec, one } from '../decimal.ts'
import { commissionPlans } from '../positions/tables/commission-plans.ts'
import { type ChargedFill, inTheirSize, type PlanAdjustment, planTrades } from './plan-charges.ts'

const rates = commissionPlans[3]

/** `at signal side quantity price`. */
const fill = (line: string, securityType: SecurityType = 'CS', pointValue = 1): ChargedFill => {
  const [at, signalId, side, quantity = 0, price = 0] = line.split(' ')
  return {
    ...{ signalId: Number(signalId), instrumentId: 1, side: side as Side, securityType, at: Number(at) },
    ...{
      quantity: dec(quantity),
      price: dec(price),
      pointValue: dec(pointValue),
      fx: one,
      commission: dec(0),
      isInternal: false,
    },
  }
}

const split = (at: number, units: number, old: number, multiplies = true): PlanAdjustment => ({
  ...{ instrumentId: 1, at },
  split: { ratio: { new: dec(units), old: dec(old) }, multiplies },
})

const dividend: PlanAdjustment = { instrumentId: 1, at: 2, split: null }

test.each<[string, ChargedFill[], PlanAdjustment[], number[]]>([
  ['a split between', [fill('1 1 1 100 100'), fill('3 2 2 200 60')], [dividend, split(2, 2, 1)], [2000]],
  [
    'a fraction paid in cash',
    [fill('1 1 1 103 10'), fill('2 2 2 0.3 100'), fill('3 3 2 10 120')],
    [split(2, 1, 10)],
    [200],
  ],
  [
    'thirds that do not end',
    [fill('1 1 1 7 9'), fill('2 2 2 0.33333333 27'), fill('3 3 2 2 30')],
    [split(2, 1, 3)],
    [6],
  ],
  [
    'trades before and after',
    [fill('1 1 2 10 20'), fill('2 2 1 10 18'), fill('4 3 1 10 6'), fill('5 4 2 10 7')],
    [split(3, 3, 1)],
    [20, 10],
  ],
  [
    'contracts of another size',
    [fill('1 1 1 2 6', 'OPT', 150), fill('3 2 2 2 5', 'OPT', 150)],
    [split(2, 3, 2, false)],
    [300],
  ],
])('%s', (_, fills, adjustments, expected) => {
  const sized = inTheirSize(fills, adjustments)
  const trades = planTrades(sized, adjustments, rates).get(1) ?? []
  expect(
    trades.map(
      ({ profitLoss, commission }) => Math.round(profitLoss.plus(commission).toNumber() * 100) / 100,
    ),
  ).toEqual(expected)
  expect(trades.every(({ commission }) => commission.greaterThan(0))).toBe(true)
})
