import { expect, test } from 'vitest'
import { type FillException, figuresOf, fillTolerance, tradingHoursAt } from './fill-exception.ts'

test.each([
  ['2024-03-12T13:29:59Z', 'ETH'],
  ['2024-03-12T13:30:00Z', 'RTH'],
  ['2024-03-12T19:59:59Z', 'RTH'],
  ['2024-03-12T20:00:00Z', 'ETH'],
  ['2024-03-16T15:00:00Z', 'ETH'],
  ['2024-07-03T17:30:00Z', 'ETH'],
] as const)('%s is %s', (at, hours) => {
  expect(tradingHoursAt(Date.parse(at))).toBe(hours)
})

test('beyond two ticks or thirty seconds, as its contract says, a fill is an exception', () => {
  expect(fillTolerance).toEqual({ ticks: 2, seconds: 30 })
})

const exception = (slippageTicks: number, delaySeconds: number, session: 'RTH' | 'ETH'): FillException => ({
  slippageTicks,
  delaySeconds,
  session,
})

test('nothing to count has no averages', () => {
  expect(figuresOf([])).toEqual({
    total: 0,
    favorable: 0,
    unfavorable: 0,
    rth: 0,
    eth: 0,
    averageSlippageTicks: null,
    maximumSlippageTicks: null,
    averageDelaySeconds: null,
    p90DelaySeconds: null,
  })
})

test('worse is positive, the largest is counted without its sign, and late at the right price is neither', () => {
  const found = [exception(4, 1, 'RTH'), exception(-10, 2, 'ETH'), exception(0, 60, 'RTH')]
  expect(figuresOf(found)).toEqual({
    total: 3,
    favorable: 1,
    unfavorable: 1,
    rth: 2,
    eth: 1,
    averageSlippageTicks: -2,
    maximumSlippageTicks: 10,
    averageDelaySeconds: 21,
    p90DelaySeconds: 60,
  })
})

test('one tick beside the price, and late, is better or worse all the same', () => {
  const found = [exception(1, 40, 'RTH'), exception(-1, 40, 'RTH')]
  expect(figuresOf(found)).toMatchObject({ total: 2, favorable: 1, unfavorable: 1, maximumSlippageTicks: 1 })
})

test.each([
  [1, 1],
  [9, 9],
  [10, 9],
  [11, 10],
  [20, 18],
])('of %d delays of 1, 2, 3, ... seconds the ninetieth in a hundred is %d', (count, p90) => {
  const found = Array.from({ length: count }, (_, place) => exception(0, count - place, 'RTH'))
  expect(figuresOf(found).p90DelaySeconds).toBe(p90)
})
