import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Side } from '../codes.ts'
import { dec } from '../decimal.ts'
import { executionGap, type GapTrade } from './execution-gap.ts'

const trade = (quantity: number, open: number, close: number, commission = 0): GapTrade => ({
  quantity: dec(quantity),
  open: dec(open),
  close: dec(close),
  commission: dec(commission),
})

const gapOf = (side: Side, leader: GapTrade, follower: GapTrade, percent: number, perPoint = 1) =>
  Object.fromEntries(
    Object.entries(executionGap(side, leader, follower, dec(percent), dec(perPoint))).map(([name, value]) => [
      name,
      value.toNumber() + 0,
    ]),
  )

describe('execution gap', () => {
  test('a long trade at half size, one unit short, filled late', () => {
    expect(gapOf('1', trade(10, 100, 110, 5), trade(4, 101, 109, 2), 50, 50)).toEqual({
      ideal: 2500, // 5 units, 10 points, 50 each
      quantity: -500, // 1 unit, 10 points
      entry: -200, // 4 units, 1 point dearer
      exit: -200, // 4 units, 1 point cheaper
      fees: -2,
      total: -902,
      actual: 1598, // 4 units, 8 points, 50 each, less 2
    })
  })

  test('a short trade filled better', () => {
    expect(gapOf('2', trade(2, 50, 40), trade(2, 51, 39), 100)).toEqual({
      ideal: 20,
      quantity: 0,
      entry: 2,
      exit: 2,
      fees: 0,
      total: 4,
      actual: 24,
    })
  })

  test('a missed trade is all quantity', () => {
    expect(gapOf('1', trade(2, 50, 40), trade(0, 0, 0), 100)).toMatchObject({
      ideal: -20,
      quantity: 20,
      entry: 0,
      exit: 0,
      total: 20,
      actual: 0,
    })
  })

  test('the parts give the follower’s net result exactly', () => {
    const price = fc.integer({ min: 1, max: 10_000_000 }).map((ticks) => ticks / 1000)
    const size = fc.integer({ min: 1, max: 1000 })
    const side = fc.constantFrom<Side>('1', '2')
    fc.assert(
      fc.property(
        side,
        size,
        price,
        price,
        size,
        price,
        price,
        size,
        size,
        (code, lead, a, b, own, c, d, percent, fee) => {
          const follower = trade(own, c, d, fee / 100)
          const gap = executionGap(code, trade(lead, a, b), follower, dec(percent), dec('1.25'))
          const move = follower.close.minus(follower.open).times(code === '1' ? 1 : -1)
          const net = move.times(own).times('1.25').minus(follower.commission)
          expect(gap.actual.equals(net)).toBe(true)
          expect(gap.ideal.plus(gap.quantity).plus(gap.entry).plus(gap.exit).plus(gap.fees).equals(net)).toBe(
            true,
          )
        },
      ),
    )
  })
})
