import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from '../decimal.ts'
import { autoStopLoss } from './auto-stop-loss.ts'

type Given = { q: number; avg?: number; dollars?: number | null; pv?: number; fx?: number; tick?: number }

const stopOf = ({ q, avg = 100, dollars = 500, pv = 1, fx = 1, tick = 0.01 }: Given) =>
  autoStopLoss({
    quantity: dec(q),
    averagePrice: dec(avg),
    dollars: dollars === null ? null : dec(dollars),
    pointValue: dec(pv),
    exchangeRate: dec(fx),
    tick: dec(tick),
  })

describe('auto stop loss', () => {
  test.each([
    ['long', { q: 50 }, 90, '2', 50],
    ['short', { q: -50 }, 110, '1', 50],
    ['long at a price below one', { q: 100, avg: 2, dollars: 150 }, 0.5, '2', 100],
    ['a future', { q: 2, avg: 5000, dollars: 1000, pv: 50, tick: 0.25 }, 4990, '2', 2],
    [
      'rounded up to the tick for long',
      { q: 3, avg: 5000, dollars: 1000, pv: 50, tick: 0.25 },
      4993.5,
      '2',
      3,
    ],
    [
      'rounded down to the tick for short',
      { q: -3, avg: 5000, dollars: 1000, pv: 50, tick: 0.25 },
      5006.5,
      '1',
      3,
    ],
    ['a short at a price below 0', { q: -2, avg: -37.63, dollars: 1000, pv: 1000 }, -37.13, '1', 2],
    ['in another currency', { q: 10, dollars: 110, fx: 1.1 }, 90, '2', 10],
  ] as [string, Given, number, string, number][])('%s', (_name, given, stop, side, quantity) => {
    const found = stopOf(given)
    expect([found?.stop.toNumber(), found?.side, found?.quantity.toNumber()]).toEqual([stop, side, quantity])
  })

  test.each([
    ['flat', { q: 0 }],
    ['no amount', { q: 1, dollars: null }],
    ['an amount of 0', { q: 1, dollars: 0 }],
    ['a long stop at 0', { q: 5, avg: 100, dollars: 500 }],
    ['a long stop below 0', { q: 1, avg: 100, dollars: 500 }],
  ] as [string, Given][])('none: %s', (_name, given) => {
    expect(stopOf(given)).toBeNull()
  })

  test('the planned loss never exceeds the setting and is within one tick of it', () => {
    const given = fc.record({
      q: fc.integer({ min: -50, max: 50 }).filter((q) => q !== 0),
      avg: fc.integer({ min: 1, max: 100_000 }).map((ticks) => ticks / 7),
      dollars: fc.integer({ min: 1, max: 5000 }),
      pv: fc.constantFrom(1, 20, 50, 1000),
      fx: fc.constantFrom(1, 0.93, 1.27),
      tick: fc.constantFrom(0.01, 0.25, 0.03125),
    })
    fc.assert(
      fc.property(given, (read) => {
        const found = stopOf(read)
        if (!found) return
        const perPoint = dec(read.q).times(read.pv).times(read.fx)
        const loss = dec(read.avg).minus(found.stop).times(perPoint)
        expect(loss.lessThanOrEqualTo(read.dollars)).toBe(true)
        expect(loss.plus(perPoint.abs().times(read.tick)).greaterThan(read.dollars)).toBe(true)
        expect(found.stop.mod(read.tick).isZero()).toBe(true)
      }),
    )
  })
})
