/**
 * The figures of strategies, computed anew when a day was closed, a trade has finished or the index has a new close.
 * Reading a strategy never computes one.
 */
import type { SecurityType } from '../../domain/codes.ts'
import { groupBy } from '../../domain/group.ts'
import type { IndexSeries } from '../../domain/statistics/benchmark.ts'
import { summarizeEquity } from '../../domain/statistics/equity.ts'
import { equitySeries } from '../../domain/statistics/series.ts'
import { summarizeTrades } from '../../domain/statistics/trades.ts'
import {
  areStatisticsDue,
  claimOutdated,
  listOutdated,
  loadIndex,
  loadRecords,
  loadTradeResults,
  type StoredRecord,
  type StrategyStatistics,
  saveStatistics,
  type TradeResultRow,
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
    const [index, records, results] = await Promise.all([
      loadIndex(tx),
      loadRecords(tx, ids),
      loadTradeResults(tx, ids),
    ])
    const trades = groupBy(results, ({ strategyId }) => strategyId)
    const figures = records.map((record) => figuresOf(record, trades.get(record.strategyId) ?? [], index))
    await saveStatistics(tx, figures, ctx.clock.now())
    return ids.length
  }, patience)

function figuresOf(
  record: StoredRecord,
  trades: readonly TradeResultRow[],
  index: IndexSeries,
): StrategyStatistics {
  const { strategyId, averageLeverage, highestLeverage, values } = record
  const series = equitySeries(record)
  const countOf = (securityType: SecurityType): number =>
    trades.filter((trade) => trade.securityType === securityType).length
  return {
    strategyId,
    value: values.at(-1) ?? record.startingCash,
    equity: summarizeEquity(series, { riskFree: 0, ...(index.days.length > 0 && { index }) }),
    averageLeverage,
    highestLeverage,
    trades: summarizeTrades(trades),
    tradesOf: { CS: countOf('CS'), OPT: countOf('OPT'), FUT: countOf('FUT'), FOR: countOf('FOR') },
  }
}

/** Strategies wait for new figures. */
export const statisticsStep: Step = {
  name: 'updateStatistics',
  due: () => areStatisticsDue,
  run: updateStatistics,
}
