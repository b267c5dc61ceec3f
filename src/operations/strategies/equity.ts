/**
 * The daily and the monthly record of a strategy, under any commission plan. Returns follow from the equity as it is
 * listed, in cents, so that a reader can compute them again.
 */

import { extraCharges, runningTotal } from '../../domain/billing/plan-charges.ts'
import { subscriptionCost } from '../../domain/billing/subscription-cost.ts'
import { cents, type Decimal, dec } from '../../domain/decimal.ts'
import { endOfDay } from '../../domain/market/trading-day.ts'
import { annualReturns, monthlyReturns, type PeriodReturn } from '../../domain/statistics/months.ts'
import { equitySeries } from '../../domain/statistics/series.ts'
import { type Day, dayIn, newYork, readDay } from '../../domain/time.ts'
import type { Sql } from '../../storage/database/sql.ts'
import {
  type EquityHead,
  findEquityHead,
  listStrategyDays,
} from '../../storage/strategies/strategy-details.ts'
import { refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { equityHead, shownFigure } from './heads.ts'
import { type Plan, readPricedFills } from './priced-fills.ts'

interface Track {
  readonly head: EquityHead
  readonly days: readonly Day[]
  /** At the end of each day under the plan, in cents. */
  readonly values: readonly Decimal[]
}

async function loadTrack(sql: Sql, strategyId: number | bigint, plan: Plan): Promise<Track | undefined> {
  const head = await findEquityHead(sql, strategyId)
  if (!head) return undefined
  const rows = await listStrategyDays(sql, head.id)
  const days = rows.map(({ day }) => readDay(day) ?? 0)
  const extras = extraCharges(days.map(endOfDay))
  for await (const fills of readPricedFills(sql, head.id, plan)) for (const fill of fills) extras.add(fill)
  const extra = extras.between.map(runningTotal())
  const values = rows.map(({ value }, place) => cents(dec(value).minus(extra[place] ?? 0)))
  return { head, days, values }
}

const seriesOf = ({ head, days, values }: Track) =>
  equitySeries({
    startDay: dayIn(head.startedAt, newYork),
    startingCash: Number(head.startingCash),
    days: Int32Array.from(days),
    values: Float64Array.from(values, (value) => value.toNumber()),
  })

/** All months ascending, then all years. */
export const getStrategyHistoricalEquity: Handler<'GetStrategyHistoricalEquity'> = async (
  { sql },
  { StrategyId, CommissionPlan },
) => {
  const track = await loadTrack(sql, StrategyId, CommissionPlan)
  if (!track) return refuse('NotFound', 'StrategyId')
  const months = monthlyReturns(seriesOf(track))
  const periods = [...months, ...annualReturns(months)]
  return { results: [{ MonthlyResults: periods.map(shownPeriod), ...equityHead(track.head) }] }
}

const monthNames =
  'Year January February March April May June July August September October November December'.split(' ')

const shownPeriod = ({ year, month, percent }: PeriodReturn) => ({
  Month: month,
  MonthName: monthNames[month] ?? '',
  Year: year,
  Return: shownFigure(percent) ?? 0,
  IsAnnual: month === 0,
})

/** A row for every closed day, ascending, dated with the end of the day. */
export const getStrategyHistoricalDailyEquity: Handler<'GetStrategyHistoricalDailyEquity'> = async (
  { sql },
  { StrategyId, CommissionPlan },
) => {
  const track = await loadTrack(sql, StrategyId, CommissionPlan)
  if (!track) return refuse('NotFound', 'StrategyId')
  const { head, days, values } = track
  const { returns } = seriesOf(track)
  const rows = days.map((day, place) => {
    const Equity = values[place] ?? dec(0)
    return {
      Date: endOfDay(day),
      Return: shownFigure(100 * (returns[place] ?? 0)) ?? 0,
      Equity,
      EquityWithCosts: Equity.minus(subscriptionCost(dec(head.monthlyCost), head.startedAt, endOfDay(day))),
    }
  })
  return { results: [{ MonthlyResults: rows, ...equityHead(head) }] }
}
