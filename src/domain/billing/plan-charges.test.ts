/** Other commission plans over splits: trades finish where they did, and cost what the plan says. */
import { expect, test, vi } from 'vitest'
import type { SecurityType, Side } from '../codes.ts'
import { Decimal, dec, one } from '../decimal.ts'
import type { PlanRates } from '../positions/commission.ts'
import { inOrder } from '../positions/ledger-state.ts'
import { commissionPlans } from '../positions/tables/commission-plans.ts'
import {
  type ChargedFill,
  extraCharges,
  inTheirSize,
  type PlanAdjustment,
  planBooks,
  planPricer,
  runningTotal,
} from './plan-charges.ts'

const rates = commissionPlans[3]

/** `at signal side quantity price`. */
const fill = (line: string, securityType: SecurityType = 'CS', pointValue = 1): ChargedFill => {
  const [at, signalId, side, quantity = 0, price = 0] = line.split(' ')
  return {
    signalId: Number(signalId),
    instrumentId: 1,
    side: side as Side,
    securityType,
    at: Number(at),
    quantity: dec(quantity),
    price: dec(price),
    pointValue: dec(pointValue),
    fx: one,
    commission: dec(0),
    isInternal: false,
  }
}

const split = (at: number, units: number, old: number, multiplies = true): PlanAdjustment => ({
  instrumentId: 1,
  at,
  split: { ratio: { new: dec(units), old: dec(old) }, multiplies },
})

const charges = (fills: readonly ChargedFill[], by: PlanRates) =>
  fills.map(planPricer(by)).map(({ commission }) => commission)

const trades = (fills: readonly ChargedFill[], adjustments: readonly PlanAdjustment[]) =>
  inOrder<ChargedFill, PlanAdjustment>(fills.map(planPricer(rates)), adjustments).flatMap(planBooks())

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
  const finished = trades(sized, adjustments)
  expect(
    finished.map(
      ({ profitLoss, commission }) => Math.round(profitLoss.plus(commission).toNumber() * 100) / 100,
    ),
  ).toEqual(expected)
  expect(finished.every(({ commission }) => commission.greaterThan(0))).toBe(true)
})

/** A dollar for each order, and a cent for each share beyond a hundred. */
const dollar = { perUnit: dec('0.01'), minPerOrder: one, pctOfNotional: null, maxPctOfNotional: null }
const dollars = { CS: dollar, FUT: dollar, OPT: dollar, FOR: dollar }
const booked = [
  { ...fill('3 1 1 60 10'), commission: dec('0.5') },
  fill('1 2 1 10 10'),
  { ...fill('3 1 1 60 10'), commission: dec('0.25') },
  { ...fill('4 3 2 5 10'), commission: dec(2), isInternal: true },
]

test('the fills of an order share its charge, and what the books made costs what it was booked at', () => {
  expect(charges(booked, dollars).map(Number)).toEqual([1, 1, 0.2, 2])
})

test('a part of the price is charged in the money of the account', () => {
  const percent = { perUnit: null, minPerOrder: null, pctOfNotional: dec('0.01'), maxPctOfNotional: null }
  const rates = { CS: percent, FUT: percent, OPT: percent, FOR: percent }
  expect(charges([{ ...fill('1 1 1 10 20', 'OPT', 100), fx: dec(2) }], rates).map(Number)).toEqual([400])
})

test('what a plan charges more is counted up to each moment', () => {
  const extras = extraCharges([0, 1, 2, 3, 9])
  for (const priced of [...booked, fill('10 4 1 10 10')].map(planPricer(dollars))) extras.add(priced)
  expect(extras.between.map(runningTotal()).map(Number)).toEqual([0, 1, 1, 1.45, 1.45])
})

test('a contract had another size before it was changed, and only that one', () => {
  const others = { ...fill('1 2 1 1 6', 'OPT', 150), instrumentId: 2 }
  const fills = [fill('1 1 1 1 6', 'OPT', 150), fill('2 1 1 1 6', 'OPT', 150), others]
  const sizes = inTheirSize(fills, [split(2, 3, 2, false), split(3, 2, 1)]).map(
    ({ pointValue }) => pointValue,
  )
  expect(sizes.map(Number)).toEqual([100, 150, 150])
})

test('what a trade costs does not grow with what else is traded', () => {
  const sums = vi.spyOn(Decimal.prototype, 'times')
  const steps = (instruments: number): number => {
    sums.mockClear()
    const fills = Array.from({ length: 400 }, (_, n) => ({
      ...fill(`${n} ${n} ${n < 200 ? 1 : 2} 10 100`),
      instrumentId: n % instruments,
    }))
    trades(fills, [])
    return sums.mock.calls.length
  }
  expect(steps(100)).toBeLessThan(2 * steps(1))
  sums.mockRestore()
})
