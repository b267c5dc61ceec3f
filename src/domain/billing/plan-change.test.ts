import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dayLength } from '../time.ts'
import { decidePlanChange, type PaidTerm } from './plan-change.ts'

const month: PaidTerm = { price: 3_000n, from: 0, to: 30 * dayLength, days: 30 }
const year: PaidTerm = { price: 36_500n, from: 0, to: 365 * dayLength, days: 365 }

describe('a change of plans', () => {
  test.each([
    ['to a dearer one at once', month, { price: 9_000n, days: 30 }, 0, { cost: 6_000n, to: 30 * dayLength }],
    [
      'in the middle for half',
      month,
      { price: 9_000n, days: 30 },
      15 * dayLength,
      { cost: 3_000n, to: 30 * dayLength },
    ],
    [
      'to a year, less what is left',
      month,
      { price: 20_000n, days: 365 },
      10 * dayLength,
      { cost: 18_000n, to: 375 * dayLength },
    ],
    [
      'from the end of a year to a dear month',
      year,
      { price: 5_000n, days: 30 },
      360 * dayLength,
      { cost: 4_500n, to: 390 * dayLength },
    ],
    ['to a cheaper one later', month, { price: 2_000n, days: 30 }, 0, null],
    ['to one of the same price later', month, { price: 3_000n, days: 30 }, 0, null],
    ['from a year to a month later', year, { price: 5_000n, days: 30 }, 100 * dayLength, null],
    ['when nothing of the term is left', month, { price: 9_000n, days: 30 }, 30 * dayLength, null],
  ] as const)('%s', (_, present, next, at, expected) => {
    expect(decidePlanChange(present, next, at)).toEqual(
      expected === null ? { act: 'later' } : { act: 'now', ...expected },
    )
  })

  test('for less than is collected later', () => {
    const next = { price: 9_000n, days: 30 }
    expect(decidePlanChange(month, next, 15 * dayLength, 3_000n)).toMatchObject({ act: 'now' })
    expect(decidePlanChange(month, next, 15 * dayLength, 3_001n)).toEqual({ act: 'later' })
  })

  test('what is left and what it costs are never less than the new rest is worth, nor a unit more', () => {
    const price = fc.bigInt({ min: 0n, max: 10n ** 9n })
    const moment = fc.integer({ min: 0, max: month.to })
    fc.assert(
      fc.property(price, price, moment, (from, to, at) => {
        const change = decidePlanChange({ ...month, price: from }, { price: to, days: 30 }, at)
        if (change.act === 'later') return
        expect(to).toBeGreaterThan(from)
        const share = (Number(to - from) * (month.to - at)) / month.to
        expect(Math.abs(Number(change.cost) - share)).toBeLessThan(1.000_1)
      }),
    )
  })

  test('in steps is never dearer than at once by more than a unit per step', () => {
    const steps = fc.array(fc.bigInt({ min: 1n, max: 10n ** 6n }), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(steps, fc.integer({ min: 0, max: month.to - 1 }), (raises, at) => {
        let price = 0n
        let paid = 0n
        for (const raise of raises) {
          const change = decidePlanChange({ ...month, price }, { price: price + raise, days: 30 }, at)
          if (change.act === 'now') paid += change.cost
          price += raise
        }
        const whole = decidePlanChange({ ...month, price: 0n }, { price, days: 30 }, at)
        expect(paid).toBe(whole.act === 'now' ? whole.cost : 0n)
      }),
    )
  })
})
