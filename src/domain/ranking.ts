/**
 * How strategies are ranked, and what is suggested to those who consider one. The formulas are published in
 * docs/reference/ranking.md: nothing else decides the order. Statistics, so doubles; money stays decimal.
 */
import { ceilTo, type Decimal, dec, max } from './decimal.ts'

/** What a score is made of; null is a figure that is not defined. */
export interface RankingFigures {
  /** Annual return over the deepest drawdown. */
  readonly calmar: number | null
  readonly sharpe: number | null
  readonly ageInDays: number
  /** Finished trades. */
  readonly trades: number
  /** Other strategies of the same owner, ended ones included. */
  readonly siblings: number
}

/** Above this a ratio says more about luck or youth than about skill. */
const ratioMax = 3
/** Half of the weight is earned after a year, half after thirty trades. */
const ageHalf = 365
const tradesHalf = 30
/** Every other strategy of the owner costs: who starts ten and shows the best one was lucky once. */
const siblingCost = 0.1

/**
 * The score, 0 to 1000: 1000 * (Calmar + Sharpe, each from 0 to 3) / 6 * age/(age + 365) * trades/(trades + 30)
 * / (1 + siblings/10). A ratio that is not defined counts as 0.
 */
export function scoreOf({ calmar, sharpe, ageInDays, trades, siblings }: RankingFigures): number {
  const quality = (bounded(calmar) + bounded(sharpe)) / (2 * ratioMax)
  const evidence = (ageInDays / (ageInDays + ageHalf)) * (trades / (trades + tradesHalf))
  return Math.round((1000 * quality * evidence) / (1 + siblings * siblingCost))
}

const bounded = (ratio: number | null): number => Math.min(ratioMax, Math.max(0, ratio ?? 0))

interface Ranked extends RankingFigures {
  readonly id: number
  readonly startedAt: number
}

/** The ids of the best, at most `count`: the higher score first, of equals the older, then the lower id. */
export const ranked = (strategies: readonly Ranked[], count: number): number[] =>
  strategies
    .map((strategy) => ({ score: scoreOf(strategy), ...strategy }))
    .sort((a, b) => b.score - a.score || a.startedAt - b.startedAt || a.id - b.id)
    .slice(0, count)
    .map(({ id }) => id)

const thousand = dec(1000)
/** The largest whole amount that an answer can carry. */
const suggestionMax = 2_147_483_000

/**
 * Money for following at 100 percent: what the model account is worth and once more its deepest fall, at least
 * the starting capital, rounded up to thousands. `drawdown` in percent of the value.
 */
export function suggestedCapital(value: Decimal, startingCash: Decimal, drawdown: number): number {
  const reserved = value.times(dec(1).plus(dec(drawdown).div(100)))
  return Math.min(suggestionMax, ceilTo(max(reserved, startingCash), thousand).toNumber())
}

/** Assets under management: the value for every hundred percent at which live accounts autotrade it. */
export const managedAssets = (value: Decimal, followedPercent: number): Decimal =>
  max(value, dec(0)).times(followedPercent).div(100)
