/** What a white-label site is told about its strategies: fills of its customers that left their strategy's. */
import { groupBy } from '../../domain/group.ts'
import {
  type ExceptionFigures,
  type FillException,
  figuresOf,
  fillTolerance,
  tradingHoursAt,
} from '../../domain/market/fill-exception.ts'
import { dayLength } from '../../domain/time.ts'
import { type FillExceptionRow, listFillExceptions } from '../../storage/market/fill-exceptions.ts'
import { isRefused } from '../context.ts'
import type { Handler } from '../handler.ts'
import { whiteLabelSiteOf } from '../white-label.ts'
import { shownFigure, tenDigits } from './heads.ts'

/** Exceptions of one answer; of more the newest count. */
const exceptionsAtOnce = 10_000
/** Executions of one statement, whose time is limited: the worst of them is a site of many orders on a busy machine. */
const comparedAtOnce = 20_000

type Found = FillExceptionRow & FillException

const shownFigures = (figures: ExceptionFigures) => ({
  TotalExceptionFills: figures.total,
  FavorableFillCount: figures.favorable,
  UnfavorableFillCount: figures.unfavorable,
  RthFillCount: figures.rth,
  EthFillCount: figures.eth,
  AvgSlippageTicks: shownFigure(figures.averageSlippageTicks),
  MaxAbsSlippageTicks: shownFigure(figures.maximumSlippageTicks),
  AvgDelaySec: shownFigure(figures.averageDelaySeconds),
  P90DelaySec: shownFigure(figures.p90DelaySeconds),
})

const shownException = (found: Found) => ({
  StrategyId: found.strategyId,
  StrategyName: found.strategyName,
  Account: found.account,
  SignalId: found.signalId,
  Symbol: found.symbol,
  StrategyFillPrice: found.strategyPx,
  AccountFillPrice: found.accountPx,
  SlippageTicks: tenDigits(found.slippageTicks),
  DelaySec: tenDigits(found.delaySeconds),
  Session: found.session,
  FilledUtc: found.filledAt,
})

/** What is grouped, and the name it is shown under: two strategies of one name stay two groups. */
const groupings = {
  strategy: [(found: Found) => found.strategyId, (found: Found) => found.strategyName],
  manager: [(found: Found) => found.managerId, (found: Found) => found.manager],
  instrument: [(found: Found) => found.instrumentId, (found: Found) => found.symbol],
} as const

/** The largest group first. */
function grouped(found: readonly Found[], by: keyof typeof groupings) {
  const [idOf, nameOf] = groupings[by]
  return [...groupBy(found, idOf).values()]
    .sort((one, other) => other.length - one.length)
    .map((group) => ({ Group: nameOf(group[0]), ...shownFigures(figuresOf(group)) }))
}

/** Copies that were filled worse or later than their signal, beyond the tolerance, by trading session. */
export const getRule575Status: Handler<'GetRule575Status'> = async (ctx, params) => {
  const siteId = await whiteLabelSiteOf(ctx, params.WhiteLabelSiteId)
  if (isRefused(siteId)) return siteId
  const { Days, Session, GroupBy } = params
  const { now } = ctx
  const since = now - Days * dayLength
  const rows = await listFillExceptions(ctx.sql, {
    siteId,
    now,
    since,
    ...fillTolerance,
    comparedAtOnce,
    limit: exceptionsAtOnce,
    isWanted: (filledAt) => Session === 'all' || tradingHoursAt(filledAt) === Session,
  })
  const found = rows.map((row): Found => ({ session: tradingHoursAt(row.filledAt), ...row }))
  return {
    results: [
      {
        ExceptionSummary: shownFigures(figuresOf(found)),
        Exceptions: found.map(shownException),
        Rule575: grouped(found, GroupBy),
      },
    ],
  }
}
