/** Strategies: the card, the details with their statistics, equity history and closed trades. */
import {
  array,
  Bool,
  code,
  Dt,
  I64,
  i32,
  inCompat,
  LongStr,
  Money,
  maybe,
  Num,
  object,
  on,
  Price,
  Quantity,
  Str,
} from '../schema.ts'
import { symbols } from './order.ts'
import { SecurityTypesEnabled } from './symbol.ts'

export const StrategyBasicDetails = object({
  Id: I64,
  StrategyId: I64,
  IsAlive: Bool,
  IsPrivate: Bool,
  StrategyName: Str,
  StartDate: Dt,
  SecurityTypesEnabled,
  MonthlyCost: Money,
  StrategyOwnerId: I64,
  WhiteLabelSiteId: maybe(I64),
  IsTradeOwnSystem: on(['Geo', 'WL'], Bool),
  IsResellable: on(['Geo', 'WL'], Bool),
})

/** A statistic that cannot be computed is left out. Returns and percentages in percent, durations in days. */
export const StrategyDetails = object({
  StrategyId: I64,
  StrategyName: Str,
  IsAlive: Bool,
  StartDate: Dt,
  PrimarySecurityTypes: maybe(Str),
  SecurityTypesEnabled,
  MonthlyCost: Money,
  StrategyOwnerId: I64,
  StrategyOwnerName: maybe(Str),
  SuggestedCapital: maybe(i32()),
  LastModified: Dt,
  Score: maybe(i32()),
  IsTradeOwnSystem: Bool,
  WhiteLabelSiteId: maybe(I64),
  IsPrivate: Bool,
  AUM: maybe(Money),
  AUM_NumberOfAccounts: maybe(i32()),
  Return: maybe(Num),
  ReturnLabel: maybe(Str),
  Equity: Money,
  Cash: Money,
  StartingCash: Money,
  ProfitFactor: maybe(Num),
  CashDividends: Money,
  BuyingPower: Money,
  MarginUsed: Money,
  AgeInDays: i32(),
  ModelAccountValue: Money,
  NumTrades: i32(),
  NumWinners: i32(),
  NumLosers: i32(),
  PercentWinTrades: maybe(Num),
  SumDollarWinners: Money,
  SumDollarLosers: Money,
  NumMonths: i32(),
  WinMonthsInUI: i32(),
  WinMonths: maybe(Num),
  WinMonthsRatio: maybe(Num),
  MaxDrawdown: maybe(Num),
  MaxDrawdownDays: maybe(Num),
  MaxDrawdownStartDate: maybe(Str),
  MaxDrawdownEndDate: maybe(Str),
  AvgWinDollars: maybe(Money),
  AvgLossDollars: maybe(Money),
  AvgTradeDuration: maybe(Num),
  CorrelationSP500: maybe(Num),
  SP500Return: maybe(Num),
  ReturnVsSP500: maybe(Num),
  AvgLeverage: maybe(Num),
  MaxLeverage: maybe(Num),
  CorrelationToSP500: maybe(Num),
  Alpha: maybe(Num),
  Beta: maybe(Num),
  Treynor: maybe(Num),
  Sortino: maybe(Num),
  Sharpe: maybe(Num),
  Calmar: maybe(Num),
  ShortDescription: on(['Geo'], maybe(LongStr)),
  LongDescription: on(['Geo'], maybe(LongStr)),
  IsResellable: on(['Geo', 'WL'], Bool),
  TradeOwnSystemPercent: on(['Geo', 'WL'], maybe(Num)),
  NoSubsAllowed: on(['Geo', 'WL'], Bool),
  LatestTrade: on(['Geo', 'WL'], maybe(Dt)),
})

/** MaxDrawdown and its companions are absent when the trade never went under. */
export const HistoricalTrade = object({
  Id: I64,
  TradeId: I64,
  StrategyId: I64,
  OpenDate: Dt,
  CloseDate: Dt,
  AvgOpenFillPrice: Price,
  AvgCloseFillPrice: Price,
  OpenedQuantity: Quantity,
  ClosedQuantity: Quantity,
  OpenSide: code('1', '2'),
  CloseSide: code('1', '2'),
  ProfitLoss: Money,
  Commission: Money,
  MaxDrawdown: maybe(Money),
  MaxDrawdown_DateCalculated: maybe(Dt),
  MaxDrawdown_WorstPrice: maybe(Price),
  MaxDrawdown_WorstPriceDate: maybe(Dt),
  MaxDrawdown_StrategyEquity: maybe(Money),
  MaxDrawdown_EntryPrice: maybe(Price),
  MaxDrawdown_OpenQuantity: maybe(Quantity),
  ...symbols,
})

const equityHead = {
  StrategyId: I64,
  StrategyName: Str,
  StartDate: Dt,
  SecurityTypesEnabled,
  MonthlyCost: Money,
  StrategyOwnerId: I64,
}

/** Month 0 and IsAnnual true: the row of a whole year. Return in percent. */
export const StrategyMonthlyEquity = object({
  ...equityHead,
  MonthlyResults: array(object({ Month: i32(), MonthName: Str, Year: i32(), Return: Num, IsAnnual: Bool })),
})

/** EquityWithCosts: after commissions and the cost of the subscription. */
export const StrategyDailyEquity = object({
  ...equityHead,
  MonthlyResults: inCompat(
    'DailyEquity',
    array(object({ Date: Dt, Return: Num, Equity: Money, EquityWithCosts: Money })),
  ),
})

export const StrategyIdResult = object({ StrategyId: I64 })
