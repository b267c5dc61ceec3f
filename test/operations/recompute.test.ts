/**
 * Anybody can compute every figure of a strategy again from its closed trades and its daily equity, and follow its
 * equity: cash and positions at their marks, changed by results, less commissions.
 */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resultsOf } from '../support/http.ts'
import { plainEquity } from '../support/plain-statistics.ts'
import { buildTown } from './support/town.ts'

const town = await buildTown()
const { door, ask } = town
const dates = ['12', '13', '14', '15', '18', '19', '20', '21'].map((day) => `2024-03-${day}`)

interface Trade {
  OpenDate: string
  CloseDate: string
  ProfitLoss: number
  Commission: number
}
type Details = Record<string, number | undefined>

/** What is traded on a day: prices in cents, signed quantities. */
const dayPlan = fc.record({
  price: fc.integer({ min: 2_000, max: 9_000 }),
  change: fc.integer({ min: -300, max: 300 }),
  index: fc.integer({ min: 4_000, max: 6_000 }),
})

const close = (found: number | undefined, expected: number | null, name: string): void => {
  if (expected === null) expect(found, name).toBeUndefined()
  else
    expect(Math.abs((found ?? Number.NaN) - expected), name).toBeLessThanOrEqual(
      1e-6 * Math.max(1, Math.abs(expected)),
    )
}

test('every figure follows from the listings, and equity from its parts', async () => {
  let run = 0
  await fc.assert(
    fc.asyncProperty(
      fc.array(dayPlan, { minLength: dates.length, maxLength: dates.length }),
      async (plans) => {
        run += 1
        await door('/reset', { now: '2024-03-12T14:00:00Z', commissions: 'default' })
        const [owner] = await door<{ personId: number; key: string }[]>('/people', [
          { firstName: 'O', lastName: 'O', email: `o${run}@example.org`, role: 'user' },
        ])
        const key = owner?.key ?? ''
        await door('/instruments', [{ symbol: 'X', securityType: 'CS' }])
        const added = await ask('AddStrategy', { StrategyName: 'R', StartingCapital: 100_000 }, { key })
        const strategyId = resultsOf<{ StrategyId: number }>(added)[0]?.StrategyId ?? 0
        const benchmark = [{ date: '2024-03-11', close: 5_000 }]
        let held = 0
        let cash = 10_000_000
        const expected: number[] = []
        for (const [place, { price, change, index }] of plans.entries()) {
          const date = dates[place] ?? ''
          if (place > 0) await door('/clock', { now: `${date}T14:00:00Z` })
          await door('/quotes', [{ symbol: 'X', bid: price / 100, ask: price / 100 }])
          if (change !== 0) {
            const Order = {
              StrategyId: strategyId,
              OrderType: '1',
              Side: change > 0 ? '1' : '2',
              TIF: '1',
              OrderQuantity: Math.abs(change),
              PlatformSymbol: { FullSymbol: 'X', SymbolType: 'stock' },
            }
            expect((await ask('NewStrategyOrder', { Order }, { key })).status).toBe(200)
            held += change
            cash -= change * price + Math.abs(change)
          }
          benchmark.push({ date, close: index })
          await door('/benchmark', [...benchmark.slice(-2)])
          await door('/clock', { now: `${date}T21:00:00Z` })
          expected.push((cash + held * price) / 100)
        }
        const [details = {}] = resultsOf<Details>(
          await ask('GetStrategyDetails', { StrategyId: strategyId }, { key }),
        )
        const [daily] = resultsOf<{ MonthlyResults: { Date: string; Equity: number }[] }>(
          await ask('GetStrategyHistoricalDailyEquity', { StrategyId: strategyId }, { key }),
        )
        const equity = (daily?.MonthlyResults ?? []).map(({ Date: date, Equity }) => ({
          date: date.slice(0, 10),
          value: Equity,
        }))
        expect(equity.map(({ value }) => value)).toEqual(expected)
        expect(details.Cash).toBe(cash / 100)
        expect(details.ModelAccountValue).toBe(expected.at(-1))
        const figures = plainEquity({
          startDate: '2024-03-12',
          startingCash: 100_000,
          equity,
          riskFreeAnnual: 0,
          benchmark: benchmark.map(({ date, close: value }) => ({ date, value })),
        })
        for (const name of [
          'Return',
          'AgeInDays',
          'Sharpe',
          'Sortino',
          'Calmar',
          'MaxDrawdown',
          'MaxDrawdownDays',
          'Beta',
          'Alpha',
          'CorrelationSP500',
          'Treynor',
          'SP500Return',
          'ReturnVsSP500',
          'NumMonths',
          'WinMonths',
          'WinMonthsInUI',
          'WinMonthsRatio',
        ] as const)
          close(details[name], figures[name], name)
        const trades = resultsOf<Trade>(
          await ask('GetStrategyHistoricalClosedTrades', { StrategyId: strategyId }, { key }),
        )
        const won = trades.filter(({ ProfitLoss }) => ProfitLoss > 0).map(({ ProfitLoss }) => ProfitLoss)
        const lost = trades.filter(({ ProfitLoss }) => ProfitLoss < 0).map(({ ProfitLoss }) => -ProfitLoss)
        const sum = (values: number[]): number => values.reduce((total, value) => total + value, 0)
        const per = (value: number, count: number): number | null => (count === 0 ? null : value / count)
        expect([details.NumTrades, details.NumWinners, details.NumLosers]).toEqual([
          trades.length,
          won.length,
          lost.length,
        ])
        close(details.SumDollarWinners, sum(won), 'SumDollarWinners')
        close(details.SumDollarLosers, sum(lost), 'SumDollarLosers')
        close(details.ProfitFactor, per(sum(won), sum(lost)), 'ProfitFactor')
        close(details.PercentWinTrades, per(100 * won.length, trades.length), 'PercentWinTrades')
        const days = trades.map(
          ({ OpenDate, CloseDate }) => (Date.parse(CloseDate) - Date.parse(OpenDate)) / 86_400_000,
        )
        close(details.AvgTradeDuration, per(sum(days), trades.length), 'AvgTradeDuration')
      },
    ),
    { numRuns: 6 },
  )
}, 240_000)
