/**
 * A strategy with its statistics. Money is valued at the present marks; statistics are those of the last close and
 * the last finished trade. What is not defined is left out.
 */
import { type Decimal, dec, roundTo, zero } from '../../domain/decimal.ts'
import { marginUsed } from '../../domain/margin/margin.ts'
import { accountValue, type ModelAccount, marginPositions } from '../../domain/margin/model-account.ts'
import { isPaidInFull } from '../../domain/positions/position.ts'
import { managedAssets, scoreOf, suggestedCapital } from '../../domain/ranking.ts'
import { loadHeldAccounts } from '../../storage/orders/model-accounts.ts'
import { findStrategyDetails, type StrategyDetailsRow } from '../../storage/strategies/strategy-details.ts'
import { type Following, findFollowing } from '../../storage/strategies/strategy-listings.ts'
import { refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { conditional } from '../modified.ts'
import { primaryClass, shownClasses, shownFigure } from './heads.ts'

/** Conditional: unchanged since If-Modified-Since, it is not sent again. */
export const getStrategyDetails: Handler<'GetStrategyDetails'> = async (ctx, { StrategyId }) => {
  const row = await findStrategyDetails(ctx.sql, StrategyId)
  if (!row) return refuse('NotFound', 'StrategyId')
  const [following, accounts] = await Promise.all([
    findFollowing(ctx.sql, row.id),
    loadHeldAccounts(ctx.sql, [row.id]),
  ])
  const account = accounts.get(row.id) ?? { cash: dec(row.cash), holdings: [], rates: null }
  const figures = [row.lastFillAt, row.notedAt, row.lastAdjustedAt, row.lastMarkAt, row.computedAt]
  const moments = [...figures, row.termsChangedAt, following.changedAt, following.siblingAt]
  const modifiedAt = Math.max(row.startedAt, ...moments.map((moment) => moment ?? 0))
  return conditional(ctx, modifiedAt, [
    {
      LastModified: modifiedAt,
      ...shownStrategy(row),
      ...shownMoney(account),
      ...shownStatistics(row),
      ...shownStanding(row, following),
    },
  ])
}

const shownStrategy = (row: StrategyDetailsRow) => ({
  StrategyId: row.id,
  StrategyName: row.name,
  IsAlive: row.isAlive,
  StartDate: row.startedAt,
  PrimarySecurityTypes: primaryClass(shownClasses(row), {
    Stocks: row.stockTrades ?? 0,
    Options: row.optionTrades ?? 0,
    Futures: row.futureTrades ?? 0,
    Forex: row.forexTrades ?? 0,
  }),
  SecurityTypesEnabled: shownClasses(row),
  MonthlyCost: row.monthlyCost,
  StrategyOwnerId: row.ownerPersonId,
  StrategyOwnerName: row.ownerAlias,
  IsTradeOwnSystem: row.ownScaling !== null,
  TradeOwnSystemPercent: row.ownScaling,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  IsPrivate: row.isPrivate,
  StartingCash: row.startingCash,
  CashDividends: row.cashDividends,
  ShortDescription: row.shortDescription,
  LongDescription: row.longDescription,
  IsResellable: row.isResellable,
  NoSubsAllowed: row.noSubsAllowed,
  LatestTrade: row.lastFillAt,
})

/**
 * What averages of twelve decimals leave behind these places would pull an amount on half a cent away from it; no
 * amount of ticks and whole units has that many.
 */
const moneyPlaces = 6

/** Equity is the unrealised result alone: the account value less cash and less what stocks and options have cost. */
function shownMoney(account: ModelAccount) {
  const value = accountValue(account)
  const cost = account.holdings.reduce((sum: Decimal, { instrument, quantity, avgPx, fx }) => {
    if (!isPaidInFull(instrument.securityType)) return sum
    return sum.plus((avgPx ?? zero).times(quantity).times(instrument.pointValue).times(fx))
  }, zero)
  const bound = marginUsed(marginPositions(account))
  return {
    Cash: account.cash,
    Equity: roundTo(value.minus(account.cash).minus(cost), moneyPlaces),
    ModelAccountValue: roundTo(value, moneyPlaces),
    MarginUsed: bound,
    BuyingPower: roundTo(value.minus(bound), moneyPlaces),
  }
}

const shownStatistics = (row: StrategyDetailsRow) => ({
  AgeInDays: row.ageInDays ?? 0,
  Return: shownFigure(row.computedAt === null ? 0 : row.returnPercent),
  ReturnLabel: row.isAnnual ? 'Annual Return (Compounded)' : 'Cumul. Return',
  NumMonths: row.months ?? 0,
  WinMonths: row.winMonths ?? 0,
  WinMonthsInUI: row.winMonthsShown ?? 0,
  WinMonthsRatio: shownFigure(row.winMonthsRatio),
  MaxDrawdown: shownFigure(row.maxDrawdown ?? 0),
  MaxDrawdownDays: row.maxDrawdownDays ?? 0,
  MaxDrawdownStartDate: row.maxDrawdownStart,
  MaxDrawdownEndDate: row.maxDrawdownEnd,
  CorrelationSP500: shownFigure(row.correlation),
  CorrelationToSP500: shownFigure(row.correlation),
  SP500Return: shownFigure(row.indexPercent),
  ReturnVsSP500: shownFigure(row.percentAboveIndex),
  AvgLeverage: shownFigure(row.averageLeverage),
  MaxLeverage: shownFigure(row.highestLeverage),
  Alpha: shownFigure(row.alpha),
  Beta: shownFigure(row.beta),
  Treynor: shownFigure(row.treynor),
  Sortino: shownFigure(row.sortino),
  Sharpe: shownFigure(row.sharpe),
  Calmar: shownFigure(row.calmar),
  ...shownTrades(row),
})

/** Without figures there is nothing to score. */
function shownStanding(row: StrategyDetailsRow, { siblings, value, accounts, percent }: Following) {
  const { calmar, sharpe, ageInDays, trades } = row
  const isScored = ageInDays !== null && trades !== null
  return {
    Score: isScored ? scoreOf({ calmar, sharpe, ageInDays, trades, siblings }) : null,
    SuggestedCapital: suggestedCapital(dec(value), dec(row.startingCash), row.maxDrawdown ?? 0),
    AUM: managedAssets(dec(value), percent),
    AUM_NumberOfAccounts: accounts,
  }
}

const shownTrades = (row: StrategyDetailsRow) => ({
  NumTrades: row.trades ?? 0,
  NumWinners: row.winners ?? 0,
  NumLosers: row.losers ?? 0,
  PercentWinTrades: shownFigure(row.winPercent),
  SumDollarWinners: row.wonAmount ?? 0,
  SumDollarLosers: row.lostAmount ?? 0,
  AvgWinDollars: row.averageWin,
  AvgLossDollars: row.averageLoss,
  ProfitFactor: shownFigure(row.profitFactor),
  AvgTradeDuration: shownFigure(row.averageTradeDays),
})
