import { expect, test } from 'vitest'
import { dec } from '../../domain/decimal.ts'
import { foretold, inferred, replacedBy, type StandingFill } from './standing-fills.ts'

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

const fill = (execId: string, quantity: number, px: number, isInferred: boolean): StandingFill => ({
  orderId: 1,
  execId,
  side: '1',
  at: 0,
  inLast: undefined,
  known: null,
  quantity: dec(quantity),
  px: dec(px),
  isInferred,
})

test.each<[string, StandingFill[], number, number, [number, number] | null]>([
  ['what is missing has the price that makes the average', [fill('a', 40, 10, false)], 100, 11.2, [60, 12]],
  ['all of it where nothing was told', [], 3, 10, [3, 10]],
  ['no less than the total leaves', [fill('a', 40, 10, false), fill('i', 20, 12, true)], 100, 11.2, [60, 12]],
  ['nothing that was inferred already', [fill('a', 40, 10, false), fill('i', 60, 12, true)], 100, 11.2, null],
  ['nothing where all was told', [fill('a', 40, 10, false), fill('b', 60, 12, false)], 100, 11.2, null],
  ['a price has twelve decimals', [fill('a', 1, 10, false)], 4, 10.5, [3, 10.666666666667]],
])('inferred is %s', (_, fills, cumQty, avgPx, expected) => {
  const found = inferred(fills, dec(cumQty), dec(avgPx))
  expect(found && [found.quantity.toNumber(), found.price.toNumber()]).toEqual(expected)
})

test.each<[string, number, string[]]>([
  ['a part of the oldest', 10, ['a 20']],
  ['the oldest', 30, ['a 0']],
  ['the oldest, and a part of the next', 50, ['a 0', 'b 30']],
  ['more than there is', 90, ['a 0', 'b 0']],
  ['nothing', 0, []],
])('an execution replaces %s', (_, quantity, left) => {
  const fills = [fill('a', 30, 10, true), fill('b', 50, 10, true)]
  expect(replacedBy(fills, dec(quantity)).map((one) => `${one.fill.execId} ${one.rest}`)).toEqual(left)
})
