/**
 * The statistics of ten years of days: equity, ratios, drawdown, months and the comparison with the index. The peer
 * computes the same figures as one reads their definitions, over rows of objects with map and reduce; both must
 * agree before they are timed.
 */

import { isDeepStrictEqual } from 'node:util'
import { isTradeDate } from '../src/domain/market/calendar.ts'
import { type EquityStatistics, summarizeEquity } from '../src/domain/statistics/equity.ts'
import { equitySeries } from '../src/domain/statistics/series.ts'
import { formatDay, readDay } from '../src/domain/time.ts'
import { plainStatistics, type Row } from './support/plain-statistics.ts'
import { type Bench, interleaved, type Method, ratioOf } from './support/report.ts'

const dayCount = 2_520
const strategies = 40
const rounds = 9
const startingCash = 100_000

/** A walk with its own seed; the same in every run. */
function walk(days: readonly number[], seed: number, start: number): Float64Array {
  let state = seed
  let value = start
  return Float64Array.from(days, () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    value *= 1 + (state / 2_147_483_648 - 0.499) * 0.03
    return value
  })
}

function tradingDays(): number[] {
  const days: number[] = []
  for (let day = readDay('2010-01-05') ?? 0; days.length < dayCount; day++) {
    if (isTradeDate('US_EQUITY', day)) days.push(day)
  }
  return days
}

const rowsOf = (days: readonly number[], values: Float64Array): Row[] =>
  days.map((day, at) => ({ date: formatDay(day), value: values[at] ?? 0 }))

/** Ten significant digits of every number: how far two forms of the same arithmetic agree. */
const rounded = (figures: EquityStatistics): unknown =>
  JSON.parse(JSON.stringify(figures), (_, value) =>
    typeof value === 'number' ? Number(value.toPrecision(10)) : value,
  )

async function run() {
  const days = tradingDays()
  const startDay = (days[0] ?? 0) - 1
  const closes = walk([startDay, ...days], 7, 1_000)
  const index = { days: Int32Array.of(startDay, ...days), closes }
  const indexRows = rowsOf([startDay, ...days], closes)
  const records = Array.from({ length: strategies }, (_, seed) => ({
    startDay,
    startingCash,
    days: Int32Array.from(days),
    values: walk(days, seed + 11, startingCash),
  }))
  const tables = records.map(({ values }) => [
    { date: formatDay(startDay), value: startingCash },
    ...rowsOf(days, values),
  ])
  const product = (at: number) => summarizeEquity(equitySeries(records[at]!), { riskFree: 0, index })
  const peer = (at: number) => plainStatistics(tables[at]!, indexRows)
  for (const at of records.keys()) {
    if (!isDeepStrictEqual(rounded(product(at)), rounded(peer(at)))) throw new Error(`record ${at} differs`)
  }
  let kept = 0
  /** Per second of computing: what else the machine does is not counted. */
  const method = (name: string, times: number, figuresOf: (at: number) => EquityStatistics): Method => ({
    name,
    unit: 'strategies/s',
    measure: async () => {
      const before = process.cpuUsage()
      for (let count = 0; count < times * strategies; count++)
        kept += figuresOf(count % strategies).sharpe ?? 0
      const { user, system } = process.cpuUsage(before)
      return (times * strategies * 1e6) / (user + system)
    },
  })
  const figures = await interleaved(
    [method('product', 20, product), method('objects, map and reduce', 1, peer)],
    rounds,
  )
  if (!Number.isFinite(kept)) throw new Error('the figures are no numbers')
  return { figures, ratios: [ratioOf(figures, 'product', 'objects, map and reduce', { atLeast: 15 })] }
}

export const bench: Bench = { name: 'statistics', run }
