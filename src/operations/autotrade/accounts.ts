/** Accounts as they are searched for, and as the admins of sites see them. */

import { endOfDay, lastEnd } from '../../domain/market/trading-day.ts'
import { ownRowsOrSite, rowsOfSite } from '../../domain/people/scope.ts'
import type { Instant } from '../../domain/time.ts'
import {
  type AccountCounts,
  type AutotradedRow,
  type FoundAccount,
  listAccountCounts,
  pageAccounts,
  pageAutotraded,
} from '../../storage/accounts/account-listings.ts'
import { loadAccountValues, loadClosedValues } from '../../storage/accounts/account-values.ts'
import { listPendingAccounts, type PendingRow } from '../../storage/accounts/approved-accounts.ts'
import type { Context } from '../context.ts'
import type { Handler } from '../handler.ts'
import { paged } from '../paging.ts'
import { inTurns } from '../turns.ts'

const shownFound = (row: FoundAccount) => ({
  Id: row.id,
  PersonId: row.personId,
  Account: row.account,
  BrokerName: row.brokerName,
  BrokerId: row.brokerId,
  FirstName: row.firstName,
  LastName: row.lastName,
  Email: row.email,
  Language: row.language,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  GeoSite: row.geoSite,
  CountryCode: row.countryCode,
  DivisionCode: row.divisionCode,
  AuthenticatedDate: row.authenticatedAt,
})

/** A holder finds own accounts, a white-label admin those of the site. */
export const searchAccounts: Handler<'SearchAccounts'> = (ctx, params) => {
  const scope = ownRowsOrSite(ctx.caller, ['whitelabel_admin'])
  const search = {
    account: params.Account,
    personId: params.PersonId,
    brokerId: params.BrokerId,
    firstName: params.FirstName,
    lastName: params.LastName,
    email: params.Email,
    siteId: params.WhiteLabelSiteId,
    countryCode: params.CountryCode,
    ipAddress: params.IPAddress,
    phone: params.Phone,
  }
  return paged(ctx, 'SearchAccounts', params, shownFound, (request) =>
    pageAccounts(ctx.sql, search, scope, request),
  )
}

const shownAutotraded = (row: AutotradedRow) => ({
  Id: row.id,
  PersonId: row.personId,
  Account: row.account,
  BrokerId: row.brokerId,
  FirstName: row.firstName,
  LastName: row.lastName,
  Email: row.email,
  StrategyId: row.strategyId,
  StrategyName: row.strategyName,
  IsSyncEnabled: row.isSyncEnabled,
  IsAutotrading: row.isAutotrading,
  IsAutotradeDisabled: row.isAutotradeDisabled,
  IsAutotradeDisabledReason: row.autotradeDisabledReason,
  SyncDisabledReason: row.syncDisabledReason,
  SettingsLastUpdateUTC: row.settingsChangedAt,
})

/** Accounts that follow, of the caller's sites. */
export const searchAutotradedAccounts: Handler<'SearchAutotradedAccounts'> = (ctx, params) => {
  const filter = {
    strategyId: params.StrategyId,
    brokerId: params.BrokerId,
    isSyncEnabled: params.AutoSyncEnabled,
    isAutotradeEnabled: params.AutoTradeEnabled,
    isAutotrading: params.AutoTradingNow,
    from: params.StartDate,
    until: params.EndDate,
  }
  return paged(ctx, 'SearchAutotradedAccounts', params, shownAutotraded, (request) =>
    pageAutotraded(ctx.sql, filter, rowsOfSite(ctx.caller), request),
  )
}

const idsOf = (rows: readonly { readonly id: number }[]): number[] => rows.map(({ id }) => id)

/** Counts what ran at any time between the two dates; without them, what runs now. */
export const getAutotradeStats: Handler<'GetAutotradeStats'> = async (ctx, params) => {
  const until = Math.min(params.EndDate ?? ctx.now, ctx.now)
  const rows = await listAccountCounts(ctx.sql, {
    scope: rowsOfSite(ctx.caller),
    siteId: params.WhiteLabelSiteId,
    geoSite: params.GeoSite,
    brokerId: params.BrokerId,
    securityType: params.SecurityType,
    isDisabled: params.Disabled,
    isSyncEnabled: params.AutoSync,
    needsConfirmation: params.ManualConfirmation,
    isBrokerEnabled: params.BrokerEnabled,
    from: params.StartDate ?? until,
    until,
  })
  const results = await inTurns(rows, async (some) => {
    const worthOf = await worthAt(ctx, idsOf(some), until)
    return some.map((row) => ({ DateUtc: until, ...worthOf(row.id), ...shownCounts(row) }))
  })
  return { results }
}

/** What accounts are worth now, or were at the last close before a moment that is past. */
async function worthAt({ sql, now }: Context, ids: number[], until: Instant) {
  if (until < now) {
    const closed = await loadClosedValues(sql, ids, lastEnd(until))
    return (id: number) => {
      const last = closed.get(id)
      return {
        NetLiquidationValue: last?.value ?? null,
        LastBrokerNetLiquidationUpdateUtc: last ? endOfDay(last.day) : null,
      }
    }
  }
  const values = await loadAccountValues(sql, ids)
  return (id: number) => ({
    NetLiquidationValue: values.get(id) ?? null,
    LastBrokerNetLiquidationUpdateUtc: now,
  })
}

function shownCounts(row: AccountCounts) {
  const { autotraded, brokerTransmit, platformTransmit } = row
  return {
    Id: row.id,
    Account: row.account,
    PersonId: row.personId,
    BrokerId: row.brokerId,
    IB: row.introducingBrokerId,
    SalesRep: row.salesRepId,
    WhiteLabelSiteId: row.whiteLabelSiteId,
    GeoSiteId: row.geoSite,
    FirstBrokerActivationDateUTC: row.authenticatedAt,
    ...countsOf('Autotraded', autotraded),
    ...countsOf('Brokertransmit', brokerTransmit),
    ...countsOf('Platformtransmit', platformTransmit),
    IsSyncEnabled: row.isSyncEnabled,
    IsManualConfirmationEnabled: row.needsConfirmation,
    IsDisabled: row.isAutotradeDisabled,
    Currency: row.currency,
    Email: row.email,
    FirstName: row.firstName,
    LastName: row.lastName,
    IsBrokerEnabled: row.isBrokerEnabled,
  }
}

type Feed = 'Autotraded' | 'Brokertransmit' | 'Platformtransmit'
type CountNames<F extends Feed> =
  | `${F}${'Stocks' | 'Futures' | 'Options' | 'Forex' | 'Crypto'}Strategies`
  | `Unique${F}Strategies`

/** No class of the platform is called Crypto. */
const countsOf = <F extends Feed>(feed: F, count: AccountCounts['autotraded']) =>
  ({
    [`${feed}StocksStrategies`]: count.stocks,
    [`${feed}FuturesStrategies`]: count.futures,
    [`${feed}OptionsStrategies`]: count.options,
    [`${feed}ForexStrategies`]: count.forex,
    [`${feed}CryptoStrategies`]: 0,
    [`Unique${feed}Strategies`]: count.all,
  }) as Record<CountNames<F>, number>

const shownPending = (row: PendingRow) => ({
  Id: row.id,
  Status: row.status,
  DeclinedUTC: row.declinedAt,
  UtcDate: row.askedAt,
  Account: row.account,
  PersonId: row.personId,
  BrokerName: row.brokerName,
  BrokerId: row.brokerId,
  FirstName: row.firstName,
  LastName: row.lastName,
  Email: row.email,
  Country: row.countryCode,
  State: row.divisionCode,
  Language: row.language,
  WhiteLabelSiteId: row.whiteLabelSiteId,
  GeoSiteId: row.geoSite,
  SiteDomain: row.siteDomain,
  Connection: row.connectionName,
  IntroducingBrokerId: row.introducingBrokerId,
  IntroducingBroker: row.introducingBroker,
  StrategyId: row.strategyId,
  StrategyName: row.strategyName,
  SalesRepId: row.salesRepId,
  SalesRep: row.salesRep,
  IsTradeLeader: row.isTradeLeader,
  FirstBrokerActivationDate: row.authenticatedAt,
  EnabledFutures: row.futures,
  EnabledForex: row.forex,
  EnabledStocks: row.stocks,
  EnabledOptions: row.options,
})

/** Accounts that wait to be approved, with what they are worth now where that is known. */
export const getPendingAccounts: Handler<'GetPendingAccounts'> = async (ctx, params) => {
  const {
    BrokerId: brokerId,
    SecurityType: securityType,
    WhiteLabelSiteId: siteId,
    GeoSite: geoSite,
  } = params
  const sites = { scope: rowsOfSite(ctx.caller), siteId, geoSite }
  const rows = await listPendingAccounts(ctx.sql, sites, { brokerId, securityType }, ctx.now)
  const results = await inTurns(rows, async (some) => {
    const values = await loadAccountValues(ctx.sql, idsOf(some))
    return some.map((row) => ({
      NetLiquidationValue: values.get(row.id) ?? null,
      NetLiquidationValueDate: ctx.now,
      ...shownPending(row),
    }))
  })
  return { results }
}
