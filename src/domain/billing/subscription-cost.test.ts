import { expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { dayLength } from '../time.ts'
import { subscriptionCost } from './subscription-cost.ts'

test.each([
  ['before it begins', -1, 0],
  ['long before it begins', -40 * dayLength, 0],
  ['as it begins', 0, 99],
  ['on the last day of the first month', 30 * dayLength - 1, 99],
  ['as the second month begins', 30 * dayLength, 198],
  ['a year on', 365 * dayLength, 13 * 99],
])('a subscription has cost %s', (_, age, cost) => {
  const since = Date.parse('2024-01-15T12:00:00Z')
  expect(subscriptionCost(dec(99), since, since + age).toNumber()).toBe(cost)
})
