import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatDay, readDay } from '../time.ts'
import { type EquityRecord, equitySeries, growthOf } from './series.ts'

const record = (startDate: string, rows: [date: string, value: number, flow?: number][], cash = 100) => {
  const found: EquityRecord = {
    startDay: readDay(startDate)!,
    startingCash: cash,
    days: Int32Array.from(rows, ([date]) => readDay(date)!),
    values: Float64Array.from(rows, ([, value]) => value),
  }
  const hasFlows = rows.some(([, , flow]) => flow !== undefined)
  return hasFlows ? { ...found, flows: Float64Array.from(rows, ([, , flow]) => flow ?? 0) } : found
}
const rounded = (values: Float64Array) => [...values].map((value) => Number(value.toFixed(12)))

describe('the day of the starting cash', () => {
  test.each<[string, string, string, string]>([
    ['the start itself', '2024-03-04', '2024-03-05', '2024-03-04'],
    ['the day before, when the start has a close', '2024-03-05', '2024-03-05', '2024-03-04'],
    ['the trading day before a weekend', '2024-03-04', '2024-03-04', '2024-03-01'],
    ['the trading day before a holiday', '2024-07-05', '2024-07-05', '2024-07-03'],
    ['across a year', '2024-01-02', '2024-01-02', '2023-12-29'],
    ['a start without trading stays', '2024-03-02', '2024-03-04', '2024-03-02'],
  ])('%s', (_, startDate, firstClose, expected) => {
    const { days, startDay } = equitySeries(record(startDate, [[firstClose, 100]]))
    expect(formatDay(days[0]!)).toBe(expected)
    expect(formatDay(startDay)).toBe(startDate)
  })

  test('a record without a day has its start', () => {
    const { days, wealth, returns } = equitySeries(record('2024-03-02', []))
    expect([[...days].map(formatDay), [...wealth], [...returns]]).toEqual([['2024-03-02'], [100], []])
  })
})

describe('returns of the days', () => {
  // biome-ignore format: a table
  test.each<[string, [string, number, number?][], number[], number[], boolean, number]>([
    ['values', [['2024-03-05', 110], ['2024-03-06', 99]], [0.1, -0.1], [100, 110, 99], true, 0.99],
    ['a deposit is no gain', [['2024-03-05', 160, 50], ['2024-03-06', 176]], [0.1, 0.1], [100, 110, 121], true, 1.21],
    ['a withdrawal is no loss', [['2024-03-05', 60, -50], ['2024-03-06', 54]], [0.1, -0.1], [100, 110, 99], true, 0.99],
    ['nothing left at the end', [['2024-03-05', 110], ['2024-03-06', 0]], [0.1, -1], [100, 110, 0], true, 0],
    ['nothing left before the end', [['2024-03-05', 0], ['2024-03-06', 50]], [-1, 0], [100, 0, 50], false, 0.5],
    ['less than nothing', [['2024-03-05', -50], ['2024-03-06', 80]], [-1.5, 0], [100, -50, 80], false, 0.8],
    ['everything withdrawn', [['2024-03-05', 0, -110], ['2024-03-06', 50, 50]], [0.1, 0], [100, 110, 110], false, 1.1],
  ])('%s', (_, rows, returns, wealth, isSolvent, growth) => {
    const series = equitySeries(record('2024-03-04', rows))
    expect(rounded(series.returns)).toEqual(returns)
    expect(rounded(series.wealth)).toEqual(wealth)
    expect(series.isSolvent).toBe(isSolvent)
    expect(growthOf(series)).toBeCloseTo(growth, 12)
  })

  test('without starting capital there is no growth', () => {
    const series = equitySeries(record('2024-03-04', [['2024-03-05', 110]], 0))
    expect([growthOf(series), series.isSolvent, [...series.returns]]).toEqual([null, false, [0]])
  })

  test('deposits and withdrawals leave the returns as they were', () => {
    const day = fc.record({
      gain: fc.integer({ min: -50, max: 50 }),
      flow: fc.integer({ min: -20, max: 90 }),
    })
    fc.assert(
      fc.property(fc.array(day, { minLength: 1, maxLength: 30 }), (moves) => {
        let value = 1000
        const rows = moves.map(({ gain, flow }, at): [string, number, number] => {
          const moved = (value * flow) / 100
          value = value * (1 + gain / 100) + moved
          return [formatDay(20_000 + at), value, moved]
        })
        const series = equitySeries(record(formatDay(19_999), rows, 1000))
        moves.forEach(({ gain }, at) => {
          expect(series.returns[at]).toBeCloseTo(gain / 100, 9)
        })
        const grown = moves.reduce((product, { gain }) => product * (1 + gain / 100), 1)
        expect(growthOf(series)! / grown).toBeCloseTo(1, 9)
      }),
    )
  })
})
