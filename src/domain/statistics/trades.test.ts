import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { summarizeTrades, type TradeResult } from './trades.ts'

const summaryOf = (results: readonly TradeResult[]) => {
  const summary = summarizeTrades()
  for (const result of results) summary.add(result)
  return summary.end()
}

const day = 86_400_000
const closed = (profitLoss: number, days = 1) => ({
  openedAt: 5 * day,
  closedAt: (5 + days) * day,
  profitLoss,
})

describe('figures of finished trades', () => {
  test('a published page: 9 winners of 957.89 and 10 losers of 1,548 make 0.56 to 1', () => {
    const page = [...Array(9).fill(closed(957.89)), ...Array(10).fill(closed(-1548))]
    const found = summaryOf(page)
    expect(found.profitFactor?.toFixed(2)).toBe('0.56')
    expect(found).toMatchObject({ trades: 19, winners: 9, losers: 10, averageLoss: 1548 })
    expect(found.averageWin).toBeCloseTo(957.89, 10)
    expect(found.winPercent).toBeCloseTo(900 / 19, 12)
  })

  test('without a trade there are counts and sums only', () => {
    expect(summaryOf([])).toEqual({
      trades: 0,
      winners: 0,
      losers: 0,
      winPercent: null,
      wonAmount: 0,
      lostAmount: 0,
      averageWin: null,
      averageLoss: null,
      profitFactor: null,
      averageDays: null,
    })
  })

  test('nothing won and nothing lost is a trade all the same', () => {
    const found = summaryOf([closed(0, 1), closed(-0, 0.25)])
    expect(found).toMatchObject({ trades: 2, winners: 0, losers: 0, winPercent: 0, averageDays: 0.625 })
    expect(found).toMatchObject({ averageWin: null, averageLoss: null, profitFactor: null })
  })

  test('only losers', () => {
    const found = summaryOf([closed(-10), closed(-30)])
    expect(found).toMatchObject({ wonAmount: 0, lostAmount: 40, averageWin: null, averageLoss: 20 })
    expect(found).toMatchObject({ profitFactor: 0, winPercent: 0 })
  })

  test('only winners have no profit factor', () => {
    expect(summaryOf([closed(10), closed(30)])).toMatchObject({
      wonAmount: 40,
      lostAmount: 0,
      averageWin: 20,
      averageLoss: null,
      profitFactor: null,
      winPercent: 100,
    })
  })

  test('an average on half a cent has no noise of doubles below it, which would be shown a cent less', () => {
    const results = [48.28, 74.85, 14.38, 26.07]
    expect(summaryOf(results.map((won) => closed(won))).averageWin).toBe(40.895)
    expect(summaryOf(results.map((lost) => closed(-lost))).averageLoss).toBe(40.895)
  })

  test('equal a plain second computation', () => {
    const trade = fc.record({ cents: fc.integer({ min: -9999, max: 9999 }), hours: fc.nat(5000) })
    fc.assert(
      fc.property(fc.array(trade, { minLength: 1, maxLength: 40 }), (rows) => {
        const found = summaryOf(rows.map(({ cents, hours }) => closed(cents / 100, hours / 24)))
        const won = rows.map(({ cents }) => cents).filter((cents) => cents > 0)
        const lost = rows.map(({ cents }) => -cents).filter((cents) => cents > 0)
        const sum = (values: number[]) => values.reduce((total, value) => total + value, 0)
        expect(found.trades - won.length - lost.length).toBe(rows.filter(({ cents }) => cents === 0).length)
        expect(found.winners).toBe(won.length)
        expect(found.wonAmount).toBeCloseTo(sum(won) / 100, 8)
        expect(found.lostAmount).toBeCloseTo(sum(lost) / 100, 8)
        expect(found.averageDays).toBeCloseTo(sum(rows.map(({ hours }) => hours)) / 24 / rows.length, 8)
        if (lost.length > 0) expect(found.profitFactor).toBeCloseTo(sum(won) / sum(lost), 10)
        if (won.length > 0) expect(found.averageWin).toBeCloseTo(sum(won) / won.length / 100, 8)
      }),
    )
  })
})
