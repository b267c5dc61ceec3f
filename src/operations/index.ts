/** The code of every operation that is offered, by name. */
import {
  getAutotradeStats,
  getPendingAccounts,
  searchAccounts,
  searchAutotradedAccounts,
} from './autotrade/accounts.ts'
import { getAutotradeApprovalStatus } from './autotrade/approvals.ts'
import {
  approvedAutotradeAccount,
  approvedBrokerTransmitAccount,
  deleteApprovedAutotradeAccount,
  deleteApprovedBrokerTransmitAccount,
} from './autotrade/approved.ts'
import { getBrokers } from './autotrade/brokers.ts'
import { getDashBoard } from './autotrade/dashboard.ts'
import { cancelAutotradeOrder, newAutotradeOrder, replaceAutotradeOrder } from './autotrade/manual.ts'
import {
  getAutoTradeOpenPositions,
  getAutotradeActiveOrders,
  getAutotradeHistoricalOrders,
} from './autotrade/orders.ts'
import { resetPaperTrade } from './autotrade/paper.ts'
import { getAutotradePlans } from './autotrade/plans.ts'
import { getAutotradeSettings, setAutotradeSettings } from './autotrade/settings.ts'
import { getAutotradedStrategies, getAutotraders, startAutotrade, stopAutotrade } from './autotrade/setups.ts'
import { getSimResults, startSim, stopSim } from './autotrade/simulations.ts'
import { getAutotradeSyncStatusReport, syncPositionsToOpen } from './autotrade/sync.ts'
import { getWlInstrumentationExport } from './general/export.ts'
import { getAccessKey, hello } from './general/keys.ts'
import { addKycInfo, getKycInfo, getKycScore, updateKycScore } from './general/kyc.ts'
import { addProfile, getPhoneAlreadyExists, getProfile, searchProfiles } from './general/profiles.ts'
import { getGeoSites, getGeoSiteUsers, getWhiteLabelSiteUsers } from './general/sites.ts'
import {
  getInvestorPlanSubscriptions,
  getManagerPlanSubscriptions,
  getSubscribedStrategies,
} from './general/subscriptions.ts'
import type { Handlers } from './handler.ts'
import { addStrategy } from './strategies/adding.ts'
import { getSiteCatalog, updateSiteCatalog } from './strategies/catalog.ts'
import { setDesiredPositions } from './strategies/desired.ts'
import { getStrategyDetails } from './strategies/details.ts'
import { getStrategyHistoricalDailyEquity, getStrategyHistoricalEquity } from './strategies/equity.ts'
import { getStrategyMuxStatus } from './strategies/families.ts'
import { getSupportedSymbols } from './strategies/instruments.ts'
import {
  cancelStrategyOrder,
  getStrategyActiveOrders,
  getStrategyHistoricalOrders,
  newStrategyOrder,
  replaceStrategyOrder,
} from './strategies/orders.ts'
import { getStrategyOpenPositions } from './strategies/positions.ts'
import { getLeaderBoard, searchStrategies } from './strategies/search.ts'
import { getRule575Status } from './strategies/status.ts'
import { getSubscribers, getSubscriptionRevenue } from './strategies/subscribers.ts'
import { getStrategyHistoricalClosedTrades } from './strategies/trades.ts'
import { getWatchListMembers, getWatchLists, manageWatchList } from './strategies/watch-lists.ts'

export const handlers: Handlers = {
  Hello: hello,
  GetAccessKey: getAccessKey,
  AddProfile: addProfile,
  GetProfile: getProfile,
  SearchProfiles: searchProfiles,
  GetPhoneAlreadyExists: getPhoneAlreadyExists,
  GetWhiteLabelSiteUsers: getWhiteLabelSiteUsers,
  GetGeoSiteUsers: getGeoSiteUsers,
  GetGeoSites: getGeoSites,
  GetKYCScore: getKycScore,
  UpdateKYCScore: updateKycScore,
  GetKYCInfo: getKycInfo,
  AddKYCInfo: addKycInfo,
  GetWatchLists: getWatchLists,
  GetWatchListMembers: getWatchListMembers,
  ManageWatchList: manageWatchList,
  ManageWatchListByQuery: manageWatchList,
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
  SetAutotradeSettings: setAutotradeSettings,
  GetDashBoard: getDashBoard,
  SearchAccounts: searchAccounts,
  SearchAutotradedAccounts: searchAutotradedAccounts,
  GetAutotradeStats: getAutotradeStats,
  GetPendingAccounts: getPendingAccounts,
  ApprovedAutotradeAccount: approvedAutotradeAccount,
  DeleteApprovedAutotradeAccount: deleteApprovedAutotradeAccount,
  ApprovedBrokerTransmitAccount: approvedBrokerTransmitAccount,
  DeleteApprovedBrokerTransmitAccount: deleteApprovedBrokerTransmitAccount,
  NewAutotradeOrder: newAutotradeOrder,
  CancelAutotradeOrder: cancelAutotradeOrder,
  ReplaceAutotradeOrder: replaceAutotradeOrder,
  ResetPaperTrade: resetPaperTrade,
  StartSim: startSim,
  StopSim: stopSim,
  GetSimResults: getSimResults,
  GetAutotradeApprovalStatus: getAutotradeApprovalStatus,
  GetAutotradeActiveOrders: getAutotradeActiveOrders,
  GetAutotradeHistoricalOrders: getAutotradeHistoricalOrders,
  GetAutoTradeOpenPositions: getAutoTradeOpenPositions,
  SyncPositionsToOpen: syncPositionsToOpen,
  GetAutotradeSyncStatusReport: getAutotradeSyncStatusReport,
  GetInvestorPlanSubscriptions: getInvestorPlanSubscriptions,
  GetManagerPlanSubscriptions: getManagerPlanSubscriptions,
  GetSubscribedStrategies: getSubscribedStrategies,
  GetSubscribers: getSubscribers,
  GetSubscriptionRevenue: getSubscriptionRevenue,
  GetAutotradePlans: getAutotradePlans,
  GetSiteCatalog: getSiteCatalog,
  UpdateSiteCatalog: updateSiteCatalog,
  GetRule575Status: getRule575Status,
  GetStrategyMuxStatus: getStrategyMuxStatus,
  GetWlInstrumentationExport: getWlInstrumentationExport,
}
