import { expect, test } from 'vitest'
import { dec } from '../../domain/decimal.ts'
import { foretold } from './standing-fills.ts'

test.each([
  ['one of those that were inferred', 30, 60, 30, 30],
  ['the last of those that were inferred', 60, 60, 60, 60],
  ['new beyond them', 30, 60, 90, 0],
  ['new, while others are still missing', 10, 60, 100, 0],
  ['partly new', 50, 60, 80, 30],
  ['of a broker that does not count', 30, 60, null, 30],
  ['of a broker that counts each order of a chain alone', 30, 60, 30, 30],
])('an execution %s', (_, quantity, booked, cumQty, expected) => {
  expect(foretold(dec(quantity), dec(booked), cumQty === null ? null : dec(cumQty)).toNumber()).toBe(expected)
})
