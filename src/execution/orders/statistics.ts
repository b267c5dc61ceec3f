/**
 * The figures of strategies, computed anew when a day was closed, a trade has finished or the index has a new close.
 * Reading a strategy never computes one.
 */
import type { SecurityType } from '../../domain/codes.ts'
import type { IndexSeries } from '../../domain/statistics/benchmark.ts'
import { summarizeEquity } from '../../domain/statistics/equity.ts'
import { equitySeries } from '../../domain/statistics/series.ts'
import { summarizeTrades, type TradeSummary } from '../../domain/statistics/trades.ts'
import type { Transaction } from '../../storage/database/sql.ts'
import {
  areStatisticsDue,
  claimOutdated,
  listOutdated,
  loadIndex,
  loadRecords,
  readTradeResults,
  type StoredRecord,
  type StrategyStatistics,
  saveStatistics,
} from '../../storage/strategies/strategy-statistics.ts'
import type { Among } from '../../storage/work/among.ts'
import type { Step, WorkContext } from '../context.ts'
import { isolated } from '../isolation.ts'

/** Strategies of one transaction: a trade of theirs that ends meanwhile waits for its end. */
const atOnce = 100
const patience = { statementTimeoutMs: 60_000 }

/** Computes what is out of date; answers how many strategies got new figures. */
export const updateStatistics = (ctx: WorkContext): Promise<number> =>
  isolated(ctx, {
    name: 'figures of a strategy',
    work: (strategies) => updateNext(ctx, strategies),
    list: (strategies, limit) => listOutdated(ctx.db.read, strategies, limit),
  })

const updateNext = (ctx: WorkContext, strategies: Among): Promise<number> =>
  ctx.db.transaction(async (tx) => {
    const ids = await claimOutdated(tx, strategies, atOnce)
    if (ids.length === 0) return 0
    const [index, records] = await Promise.all([loadIndex(tx), loadRecords(tx, ids)])
    const trades = await summed(tx, ids)
    const figures = records.map((record) => figuresOf(record, trades(record.strategyId), index))
    await saveStatistics(tx, figures, ctx.clock.now())
    return ids.length
  }, patience)

/** The trades of a strategy: all together, and how many there are of each class. */
interface TradesOf {
  readonly summary: TradeSummary
  readonly counts: Record<SecurityType, number>
}

const noTrades = (): TradesOf => ({ summary: summarizeTrades(), counts: { CS: 0, OPT: 0, FUT: 0, FOR: 0 } })

async function summed(tx: Transaction, ids: readonly number[]): Promise<(strategyId: number) => TradesOf> {
  const known = new Map<number, TradesOf>(ids.map((id) => [id, noTrades()]))
  const of = (strategyId: number): TradesOf => known.get(strategyId) ?? noTrades()
  for await (const results of readTradeResults(tx, ids))
    for (const result of results) {
      const { summary, counts } = of(result.strategyId)
      summary.add(result)
      counts[result.securityType] += 1
    }
  return of
}

function figuresOf(
  record: StoredRecord,
  { summary, counts }: TradesOf,
  index: IndexSeries,
): StrategyStatistics {
  const { strategyId, averageLeverage, highestLeverage, values } = record
  const series = equitySeries(record)
  return {
    strategyId,
    value: values.at(-1) ?? record.startingCash,
    equity: summarizeEquity(series, { riskFree: 0, ...(index.days.length > 0 && { index }) }),
    averageLeverage,
    highestLeverage,
    trades: summary.end(),
    tradesOf: counts,
  }
}

/** Strategies wait for new figures. */
export const statisticsStep: Step = {
  name: 'updateStatistics',
  due: () => areStatisticsDue,
  run: updateStatistics,
}
