/** Opening, closing, reversing: each combination by name, and the laws that hold for all. */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { directionOf, type PositionEffect, type Side } from '../codes.ts'
import { dec } from '../decimal.ts'
import { actsAgainst, decideOpenClose, type OpenCloseDecision } from './open-close.ts'

const opens: OpenCloseDecision = { positionEffect: 'O' }
const closes: OpenCloseDecision = { positionEffect: 'C' }
const reversal = (close: number, open: number): OpenCloseDecision => ({
  reversal: { close: dec(close), open: dec(open) },
})
const opposite: OpenCloseDecision = { rejected: 'close the opposite position first' }
const nothing: OpenCloseDecision = { rejected: 'no position to close' }
const tooMuch: OpenCloseDecision = { rejected: 'quantity exceeds the position' }

const cases: [string, PositionEffect | undefined, Side, number, number, OpenCloseDecision][] = [
  ['open, flat', 'O', '1', 10, 0, opens],
  ['open, same direction', 'O', '1', 10, 5, opens],
  ['open short, same direction', 'O', '2', 10, -5, opens],
  ['open, opposite', 'O', '1', 10, -20, opposite],
  ['open short, opposite', 'O', '2', 10, 20, opposite],
  ['close less', 'C', '2', 10, 20, closes],
  ['close all', 'C', '2', 20, 20, closes],
  ['close a short', 'C', '1', 20, -20, closes],
  ['close more than held', 'C', '2', 21, 20, tooMuch],
  ['close, flat', 'C', '2', 10, 0, nothing],
  ['close, same direction', 'C', '1', 10, 20, nothing],
  ['omitted, flat', undefined, '2', 10, 0, opens],
  ['omitted, same direction', undefined, '2', 10, -3, opens],
  ['omitted, opposite and less', undefined, '2', 10, 20, closes],
  ['omitted, opposite and equal', undefined, '1', 20, -20, closes],
  ['omitted, opposite and more', undefined, '2', 25, 20, reversal(20, 5)],
  ['omitted, opposite and more than a short', undefined, '1', 1.5, -0.5, reversal(0.5, 1)],
]

const side = fc.constantFrom<Side>('1', '2')
const sent = fc.constantFrom<PositionEffect | undefined>('O', 'C', undefined)
const quantity = fc.integer({ min: 1, max: 300 }).map((units) => dec(units).div(10))
const position = fc.integer({ min: -300, max: 300 }).map((units) => dec(units).div(10))

describe('open or close', () => {
  test.each(cases)('%s', (_, effect, orderSide, size, held, decision) => {
    expect(decideOpenClose(effect, orderSide, dec(size), dec(held))).toEqual(decision)
  })

  test('a full fill ends where the decision says', () => {
    fc.assert(
      fc.property(sent, side, quantity, position, (effect, orderSide, size, held) => {
        const decision = decideOpenClose(effect, orderSide, size, held)
        const after = held.plus(size.times(directionOf(orderSide)))
        if ('rejected' in decision) expect(effect).toBeDefined()
        else if ('reversal' in decision) {
          expect(effect).toBeUndefined()
          expect(decision.reversal.close).toEqual(held.abs())
          expect(decision.reversal.close.plus(decision.reversal.open)).toEqual(size)
          expect(after.isNegative()).toBe(!held.isNegative())
        } else {
          const change = decision.positionEffect === 'C' ? size.negated() : size
          expect(after.abs()).toEqual(held.abs().plus(change))
          expect(effect ?? decision.positionEffect).toBe(decision.positionEffect)
        }
      }),
    )
  })

  test('an order acts against the position that its side reduces', () => {
    expect([actsAgainst('1', dec(-1)), actsAgainst('2', dec(1))]).toEqual([true, true])
    expect([actsAgainst('1', dec(1)), actsAgainst('2', dec(-1))]).toEqual([false, false])
    expect([actsAgainst('1', dec(0)), actsAgainst('2', dec(0))]).toEqual([false, false])
  })
})
