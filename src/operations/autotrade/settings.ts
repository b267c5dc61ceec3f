/** The settings of account and setup, one row for each strategy in each account. */
import type { Decimal } from '../../domain/decimal.ts'
import { loadAccountValues } from '../../storage/accounts/account-values.ts'
import { listAccounts, lockAndReadAccounts, switchAccounts } from '../../storage/accounts/accounts.ts'
import { instant } from '../../storage/database/wire.ts'
import { listSettings, type SettingsRow } from '../../storage/mirror/setup-listings.ts'
import { wakeWorkers } from '../../storage/orders/signals.ts'
import { type Context, refuse } from '../context.ts'
import type { Handler } from '../handler.ts'
import { conditional } from '../modified.ts'
import { personMeant } from './find-account.ts'

type Columns = Record<string, boolean | number | string | null>

const flag = (columns: Columns, name: string): boolean => columns[name] === true
const count = (columns: Columns, name: string): number | null => {
  const value = columns[name]
  return typeof value === 'number' ? value : null
}
/** Times inside the setup's row are PostgreSQL's text. */
const moment = (columns: Columns, name: string): number | null => {
  const value = columns[name]
  return typeof value === 'string' ? Date.parse(value) : null
}

const sync = (setup: Columns) => ({
  WillSyncToOpenStocksUSA: flag(setup, 'will_sync_stocks_usa'),
  WillSyncToOpenStocksEurope: flag(setup, 'will_sync_stocks_europe'),
  WillSyncToOpenOptionsUSA: flag(setup, 'will_sync_options_usa'),
  WillSyncToOpenOptionsEurope: flag(setup, 'will_sync_options_europe'),
  WillSyncToOpenFuturesUSA: flag(setup, 'will_sync_futures_usa'),
  WillSyncToOpenFuturesEurope: flag(setup, 'will_sync_futures_europe'),
  WillSyncToOpenFuturesAsia: flag(setup, 'will_sync_futures_asia'),
  WillSyncToOpenForex: flag(setup, 'will_sync_forex'),
  LastSyncStocksUSA: moment(setup, 'last_sync_stocks_usa'),
  LastSyncStocksEurope: moment(setup, 'last_sync_stocks_europe'),
  LastSyncOptionsUSA: moment(setup, 'last_sync_options_usa'),
  LastSyncOptionsEurope: moment(setup, 'last_sync_options_europe'),
  LastSyncFuturesUSA: moment(setup, 'last_sync_futures_usa'),
  LastSyncFuturesEurope: moment(setup, 'last_sync_futures_europe'),
  LastSyncFuturesAsia: moment(setup, 'last_sync_futures_asia'),
  LastSyncForex: moment(setup, 'last_sync_forex'),
})

const classes = (setup: Columns) => ({
  EnabledFutures: flag(setup, 'futures_enabled'),
  FuturesLong: flag(setup, 'futures_long'),
  FuturesShort: flag(setup, 'futures_short'),
  MinFutures: count(setup, 'min_futures'),
  MaxFutures: count(setup, 'max_futures'),
  EnabledForex: flag(setup, 'forex_enabled'),
  ForexEnabledLong: flag(setup, 'forex_long'),
  ForexEnabledShort: flag(setup, 'forex_short'),
  ForexLotSize: count(setup, 'forex_lot_size'),
  MinForex: count(setup, 'min_forex'),
  MaxForex: count(setup, 'max_forex'),
  EnabledStocks: flag(setup, 'stocks_enabled'),
  StocksLong: flag(setup, 'stocks_long'),
  StocksShort: flag(setup, 'stocks_short'),
  MaxStocksDollars: count(setup, 'max_stocks_dollars'),
  TradeStocksAsCFD: flag(setup, 'trade_stocks_as_cfd'),
  EnabledOptions: flag(setup, 'options_enabled'),
  OptionsLong: flag(setup, 'options_long'),
  OptionsShort: flag(setup, 'options_short'),
  MinOptions: count(setup, 'min_options'),
  MaxOptions: count(setup, 'max_options'),
})

/** The settings of a setup and its account, as answers show them. */
export const shownSettings = (row: SettingsRow, { now }: Pick<Context, 'now'>, value: Decimal | undefined) =>
  ({
    Id: row.id,
    PersonId: row.personId,
    FirstName: row.firstName,
    LastName: row.lastName,
    Email: row.email,
    Country: row.countryCode,
    State: row.divisionCode,
    Language: row.language,
    SiteDomain: row.siteDomain,
    BrokerId: row.brokerId,
    Connection: row.connectionName,
    StrategyId: row.strategyId,
    StrategyName: row.strategyName,
    Account: row.account,
    AccountType: row.kind,
    BrokerUserID: row.brokerUserId,
    Currency: row.currency,
    IntroducingBrokerId: row.introducingBrokerId,
    IntroducingBroker: row.introducingBroker,
    SalesRepId: row.salesRepId,
    SalesRep: row.salesRep,
    IsTradeLeader: row.isTradeLeader,
    IsManualDiscardedPosition: row.hasExclusions,
    IgnoreManualOrders: row.ignoreManualOrders,
    IsConfirmationNeeded: flag(row.setup, 'is_confirmation_needed'),
    IsSyncEnabled: row.isSyncEnabled,
    ...sync(row.setup),
    IsBrokerEnabled: row.isBrokerEnabled,
    IsAutotradeDisabled: row.isAutotradeDisabled,
    IsAutotradeDisabledReason: row.autotradeDisabledReason,
    SyncDisabledReason: row.syncDisabledReason,
    FirstBrokerActivationDate: row.authenticatedAt,
    NetLiquidationValue: value ?? null,
    NetLiquidationValueDate: value ? now : null,
    VirtualLimitOrdersEnabled: flag(row.setup, 'virtual_limit_orders_enabled'),
    ScalingPercentage: count(row.setup, 'scaling_percentage') ?? 100,
    SettingsLastUpdateUTC: row.settingsChangedAt,
    Approved: row.isApproved,
    BrokerAuthorizationStatus: row.brokerAuthorization,
    ClosingOrdersOnly: flag(row.setup, 'closing_orders_only'),
    ...classes(row.setup),
  }) as const

/** One row is conditional: unchanged since If-Modified-Since, it is not sent again. */
export const getAutotradeSettings: Handler<'GetAutotradeSettings'> = async (ctx, params) => {
  const rows = await listSettings(ctx.sql, params.PersonId, params.Account)
  const accountIds = [...new Set(rows.map(({ accountId }) => accountId))]
  const values = await loadAccountValues(ctx.sql, accountIds)
  const [only] = rows
  const results = rows.map((row) => shownSettings(row, ctx, values.get(row.accountId)))
  return only && rows.length === 1 ? conditional(ctx, only.settingsChangedAt, results) : { results }
}

/** Switches one account, or without a number all of the person's; answers true for each of them. */
export const setAutotradeSettings: Handler<'SetAutotradeSettings'> = async (ctx, params) => {
  const { Account: account, BrokerId: brokerId } = params
  // Without a number the accounts of one person are meant, never everybody's.
  const personId = account === undefined ? (params.PersonId ?? ctx.caller.personId) : personMeant(ctx, params)
  const found = await listAccounts(ctx.sql, { account, brokerId, personId })
  if (found.length === 0) return refuse('NotFound', brokerId === undefined ? 'Account' : 'BrokerId')
  if (account !== undefined && found.length > 1)
    return refuse('BadCombination', 'BrokerId', 'Several brokers have an account of this number')
  const ids = found.map(({ id }) => id)
  const locked = await lockAndReadAccounts(ctx.sql, ids)
  if (params.IsAutoSyncEnabled === true && locked.some(({ isTradeLeader }) => isTradeLeader))
    return refuse(
      'StateConflict',
      'IsAutoSyncEnabled',
      'An account that feeds a strategy is not kept in step',
    )
  const switches = { isAutotradeEnabled: params.IsAutotradeEnabled, isSyncEnabled: params.IsAutoSyncEnabled }
  await switchAccounts(ctx.sql, ids, switches, { reason: 'DisabledByHolder', changedAt: instant(ctx.now) })
  await wakeWorkers(ctx.sql)
  return { results: found.map(() => true) }
}
