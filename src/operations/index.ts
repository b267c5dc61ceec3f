/** Operations that have code, by name. What is missing here answers that it is not offered yet. */
import { getBrokers } from './autotrade/brokers.ts'
import {
  getAutoTradeOpenPositions,
  getAutotradeActiveOrders,
  getAutotradeHistoricalOrders,
} from './autotrade/orders.ts'
import { getAutotradeSettings } from './autotrade/settings.ts'
import { getAutotradedStrategies, getAutotraders, startAutotrade, stopAutotrade } from './autotrade/setups.ts'
import { getAccessKey, hello } from './general/keys.ts'
import type { Handlers } from './handler.ts'
import { setDesiredPositions } from './strategies/desired.ts'
import { getStrategyDetails } from './strategies/details.ts'
import { getStrategyHistoricalDailyEquity, getStrategyHistoricalEquity } from './strategies/equity.ts'
import {
  addStrategy,
  cancelStrategyOrder,
  getStrategyActiveOrders,
  getStrategyHistoricalOrders,
  getStrategyOpenPositions,
  newStrategyOrder,
  replaceStrategyOrder,
} from './strategies/index.ts'
import { getSupportedSymbols } from './strategies/instruments.ts'
import { getLeaderBoard, searchStrategies } from './strategies/search.ts'
import { getStrategyHistoricalClosedTrades } from './strategies/trades.ts'

export const handlers: Handlers = {
  Hello: hello,
  GetAccessKey: getAccessKey,
  AddStrategy: addStrategy,
  NewStrategyOrder: newStrategyOrder,
  CancelStrategyOrder: cancelStrategyOrder,
  ReplaceStrategyOrder: replaceStrategyOrder,
  GetStrategyActiveOrders: getStrategyActiveOrders,
  GetStrategyOpenPositions: getStrategyOpenPositions,
  GetStrategyHistoricalOrders: getStrategyHistoricalOrders,
  GetStrategyDetails: getStrategyDetails,
  GetStrategyHistoricalEquity: getStrategyHistoricalEquity,
  GetStrategyHistoricalDailyEquity: getStrategyHistoricalDailyEquity,
  GetStrategyHistoricalClosedTrades: getStrategyHistoricalClosedTrades,
  SearchStrategies: searchStrategies,
  GetLeaderBoard: getLeaderBoard,
  SetDesiredPositions: setDesiredPositions,
  GetSupportedSymbols: getSupportedSymbols,
  GetBrokers: getBrokers,
  StartAutotrade: startAutotrade,
  StopAutotrade: stopAutotrade,
  GetAutotradedStrategies: getAutotradedStrategies,
  GetAutotraders: getAutotraders,
  GetAutotradeSettings: getAutotradeSettings,
  GetAutotradeActiveOrders: getAutotradeActiveOrders,
  GetAutotradeHistoricalOrders: getAutotradeHistoricalOrders,
  GetAutoTradeOpenPositions: getAutoTradeOpenPositions,
}
