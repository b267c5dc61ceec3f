import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { dec } from './decimal.ts'
import { managedAssets, type RankingFigures, ranked, scoreOf, suggestedCapital } from './ranking.ts'

const proven: RankingFigures = { calmar: 1.5, sharpe: 1.5, ageInDays: 365, trades: 30, siblings: 0 }

describe('the score', () => {
  test.each<[string, Partial<RankingFigures>, number]>([
    ['a year and thirty trades earn half each', {}, 125],
    ['the best there is', { calmar: 9, sharpe: 9, ageInDays: 1e9, trades: 1e9 }, 1000],
    ['losses count as nothing', { calmar: -2, sharpe: -1 }, 0],
    ['an undefined ratio counts as nothing', { calmar: null }, 63],
    ['nothing defined', { calmar: null, sharpe: null }, 0],
    ['no day', { ageInDays: 0 }, 0],
    ['no trade', { trades: 0 }, 0],
    ['ten siblings halve it', { siblings: 10 }, 63],
  ])('%s', (_, more, score) => expect(scoreOf({ ...proven, ...more })).toBe(score))

  const figures = fc.record({
    calmar: fc.option(fc.double({ min: -10, max: 10, noNaN: true })),
    sharpe: fc.option(fc.double({ min: -10, max: 10, noNaN: true })),
    ageInDays: fc.nat(20_000),
    trades: fc.nat(100_000),
    siblings: fc.nat(50),
  })

  test('lies between 0 and 1000, never falls with evidence, never rises with siblings', () => {
    fc.assert(
      fc.property(figures, (one) => {
        const score = scoreOf(one)
        expect(Number.isInteger(score) && score >= 0 && score <= 1000).toBe(true)
        expect(scoreOf({ ...one, ageInDays: one.ageInDays + 1 })).toBeGreaterThanOrEqual(score)
        expect(scoreOf({ ...one, trades: one.trades + 1 })).toBeGreaterThanOrEqual(score)
        expect(scoreOf({ ...one, siblings: one.siblings + 1 })).toBeLessThanOrEqual(score)
      }),
    )
  })

  test('orders: the higher score, then the older, then the lower id', () => {
    const strategies = [
      { ...proven, id: 3, startedAt: 4 },
      { ...proven, id: 1, startedAt: 5 },
      { ...proven, id: 2, startedAt: 4 },
      { ...proven, id: 4, startedAt: 9, sharpe: 2 },
    ]
    expect(ranked(strategies, 10)).toEqual([4, 2, 3, 1])
    expect(ranked(strategies, 2)).toEqual([4, 2])
  })
})

test.each([
  ['no fall', '100000', '100000', 0, 100_000],
  ['a fall of a quarter is kept once more', '120000', '100000', 25, 150_000],
  ['a fall of a half', '1000000', '1', 50, 1_500_000],
  ['rounded up', '100001', '50000', 0, 101_000],
  ['at least the start', '40000', '100000', 60, 100_000],
  ['a lost account', '-5000', '100000', 110, 100_000],
  ['no more than can be said', '99999999999', '1', 0, 2_147_483_000],
])('suggested capital: %s', (_, value, start, drawdown, expected) => {
  expect(suggestedCapital(dec(value), dec(start), drawdown)).toBe(expected)
})

test.each([
  ['nobody', '100000', 0, '0'],
  ['one and a half times', '100000.5', 150, '150000.75'],
  ['a lost account is not managed', '-1', 100, '0'],
])('managed assets: %s', (_, value, percent, expected) => {
  expect(managedAssets(dec(value), percent).toFixed()).toBe(expected)
})
